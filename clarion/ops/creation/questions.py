"""Questions about tensors and types: is_tensor, numel, finfo, iinfo, …; and switches of the whole library."""

from __future__ import annotations

from typing import Any, ClassVar

from ...core import devices, modes
from ...core.devices import device
from ...core.dtypes import ALL, FLOAT8, FROM_NUMPY, bf16, default_float, dtype, meant, set_default_dtype
from ...core.dtypes import finfo as numpy_finfo
from ...core.dtypes import iinfo as numpy_iinfo
from ...core.listed_dtypes import ListedDtype
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError
from ...kernels import precision as float32
from ...kernels import threads
from ..faces.api import FUNCTIONS, public
from ..faces.determinism import asked
from ..faces.options import tensor_argument, warn_user
from .memory import UntypedStorage
from .typed_storage import LEGACY, TypedStorage
from .uninitialised import filling

# Questions -------------------------------------------------------------------------------------------


@public(method=False)
def is_tensor(obj: Any) -> bool:
    """Is it a Tensor?"""
    return isinstance(obj, Tensor)


@public(method=False)
def is_storage(obj: Any) -> bool:
    """Is it the memory of a tensor?"""
    return isinstance(obj, (TypedStorage, UntypedStorage))


@public(method=False)
def typename(obj: Any) -> str:
    """The name of an object's type: 'torch.FloatTensor' for a tensor."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") else type(obj)  # of classes and functions their own name
    module = getattr(named, "__module__", None)
    return named.__qualname__ if module in ("builtins", None) else f"{module}.{named.__qualname__}"


@public(method=False)
def numel(input: Any) -> int:
    """Number of elements."""
    return tensor_argument("numel", input).numel()


def _asks(name: str) -> Any:
    def ask(input: Any) -> Any:
        return getattr(tensor_argument(name, input), name)()

    ask.__name__ = name
    ask.__doc__ = f"`input.{name}()`."
    return ask


for _name in ("is_floating_point", "is_complex", "is_signed", "is_inference", "get_device"):
    FUNCTIONS.setdefault(_name, _asks(_name))


@public()
def is_same_size(input: Any, other: Any) -> bool:
    """Have two tensors the same shape?"""
    return bool(input._array.shape == other._array.shape)


# Types -----------------------------------------------------------------------------------------------


# eps, largest number, smallest normal number
_EIGHT_BITS = {
    "float8_e4m3fn": (0.125, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (0.125, 240.0, 2.0**-7),
    "float8_e5m2": (0.25, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, 57344.0, 2.0**-15),
}


class finfo:
    """The limits of a floating type."""

    _known: ClassVar[dict[Any, finfo]] = {}  # nobody writes to them

    def __new__(cls, type: Any = None) -> finfo:
        found = cls._known.get(type) if isinstance(type, dtype) else None
        if found is None:
            found = object.__new__(cls)
            found._fill(type)
            if isinstance(type, dtype):
                cls._known[type] = found
        return found

    def __init__(self, type: Any = None) -> None:
        """All is known already."""

    def _fill(self, type: Any) -> None:
        if isinstance(type, ListedDtype) or type in FLOAT8:
            self._of_eight_bits(type)
            return
        kind = default_float() if type is None else _dtype("finfo", type)
        if kind.kind in "cW":
            kind = FROM_NUMPY[kind].to_real().numpy
        if not FROM_NUMPY[kind].is_floating_point:
            raise ArgumentTypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        digits = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[kind.name]
        self.dtype: str = kind.name
        self.bits: int = kind.itemsize * 8
        self.eps = 2.0**-digits
        self.max = (2.0 - 2.0**-7) * 2.0**127 if kind is bf16 else float(numpy_finfo(kind).max)
        self.min = -self.max
        least = {"float64": -1022, "float16": -14}.get(kind.name, -126)
        self.tiny = self.smallest_normal = 2.0**least
        self.resolution = {"float64": 1e-15, "float32": 1e-06, "float16": 1e-3, "bfloat16": 1e-2}[kind.name]

    def _of_eight_bits(self, type: dtype) -> None:
        """The limits of types of eight bits, which NumPy does not know."""
        if type.name not in _EIGHT_BITS:
            raise ArgumentTypeError("torch.finfo() requires a floating point input type.")
        self.eps, self.max, self.tiny = _EIGHT_BITS[type.name]
        self.dtype, self.bits, self.min, self.smallest_normal, self.resolution = type.name, 8, -self.max, self.tiny, 1.0

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("finfo", self.dtype))


class iinfo:
    """The limits of an integer type."""

    def __init__(self, type: Any) -> None:
        kind = _dtype("iinfo", type)
        if kind.kind == "b":
            raise ArgumentTypeError("torch.bool is not supported by torch.iinfo")
        if kind.kind not in "iu":
            raise ArgumentTypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        limits = numpy_iinfo(kind)
        self.dtype: str = kind.name
        self.bits: int = kind.itemsize * 8
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("iinfo", self.dtype))


def _dtype(name: str, value: Any) -> Any:
    value = meant(value)
    if not isinstance(value, dtype):
        kind = value.__class__.__name__
        raise ArgumentTypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {kind}")
    return value.numpy


FUNCTIONS.update(
    finfo=finfo, iinfo=iinfo, TypedStorage=TypedStorage, UntypedStorage=UntypedStorage, StorageBase=UntypedStorage,
    **LEGACY,
)  # fmt: skip


# Switches of the whole library -----------------------------------------------------------------------


@public(method=False)
def set_default_tensor_type(t: Any) -> None:
    """Set the default floating type by its old name ('torch.DoubleTensor')."""
    warn_user(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    name = t if isinstance(t, str) else f"{getattr(t, '__module__', 'torch')}.{getattr(t, '__name__', t)}"
    if name.startswith("torch.cuda.") and not devices.is_available("cuda"):
        raise ArgumentTypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    name = f"torch.{name.rpartition('.')[2]}"
    for kind in ALL:
        if name == f"torch.{kind.old}Tensor":
            set_default_dtype(kind)
            return
    raise ArgumentTypeError(f"invalid type object: {t!r} is no tensor type")


@public(method=False)
def get_default_device() -> device:
    """Where new tensors are made."""
    return devices.home().device()


@public(method=False)
def set_default_device(device: Any) -> None:
    """Make new tensors on a device unless they name another; None: on the CPU."""
    devices.set_default_device(device)


_switches: dict[str, Any] = {
    "precision": "highest",
    "interop": None,
}


@public(method=False)
def get_float32_matmul_precision() -> str:
    """What was set. On the CPU products of float32 are always computed in full precision."""
    return str(_switches["precision"])


@public(method=False)
def set_float32_matmul_precision(precision: str) -> None:
    """How exactly products of float32 are computed on a GPU: in full ('highest'), or by tensor cores, in TF32 ('high', 'medium')."""
    if precision not in ("highest", "high", "medium"):
        raise ArgumentValueError(f"precision must be 'highest', 'high' or 'medium', not {precision!r}")
    _switches["precision"] = precision
    float32.products = precision != "highest"


@public(method=False)
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Memory that nobody initialised is filled, and what PyTorch refuses then is refused."""
    for position, (name, value) in enumerate((("mode", mode), ("warn_only", warn_only))):
        if not isinstance(value, bool):
            where = f" (position {position + 1})" if name == "mode" else ""
            raise ArgumentTypeError(
                f"_set_deterministic_algorithms(): argument '{name}'{where} must be bool, not {type(value).__name__}"
            )
    asked.on, asked.warn_only, filling.on = mode, warn_only, mode


@public(method=False)
def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms() set."""
    return asked.on


@public(method=False)
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms() set."""
    return asked.warn_only


@public(method=False)
def get_num_threads() -> int:
    """What set_num_threads() set, or OMP_NUM_THREADS, or the number of processors."""
    return threads.number()


@public(method=False)
def set_num_threads(num: int) -> None:
    """How many threads one operation may use."""
    if num <= 0:
        raise EngineError("set_num_threads expects a positive integer")
    if num >= 1 << 31:
        raise ArgumentValueError("Overflow when unpacking long")
    threads.limit(int(num))


_DEBUG_MODES = ("default", "warn", "error")


@public(method=False)
def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """use_deterministic_algorithms() by another name: "default" or 0, "warn" or 1, "error" or 2."""
    if not isinstance(debug_mode, (int, str)):
        raise ArgumentTypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise EngineError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise EngineError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


@public(method=False)
def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: what set_deterministic_debug_mode() set."""
    return 0 if not asked.on else 1 if asked.warn_only else 2


@public(method=False)
def get_num_interop_threads() -> int:
    """What set_num_interop_threads() set, or the number of processors."""
    import os

    return int(_switches["interop"] or os.cpu_count() or 1)


@public(method=False)
def set_num_interop_threads(num: int) -> None:
    """Remembered only: operations run one after the other. As in PyTorch, it can be said once."""
    if num <= 0:
        raise EngineError("set_num_interop_threads expects a positive integer")
    if num >= 1 << 31:
        raise ArgumentValueError("Overflow when unpacking long")
    if _switches["interop"] is not None:
        raise EngineError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called"
        )
    _switches["interop"] = int(num)


@public(method=False)
def set_warn_always(b: bool) -> None:
    """Are warnings that come once per process given every time? (Python's filters still say which are shown.)"""
    if not isinstance(b, bool):
        raise EngineError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    modes.warn_always = b


@public(method=False)
def is_warn_always_enabled() -> bool:
    """What set_warn_always() set."""
    return modes.warn_always


@public(method=False)
def set_flush_denormal(mode: bool) -> bool:
    """False: tiny numbers are kept as they are; the processor's mode cannot be set from Python."""
    return False
