"""The old tensor types (`torch.FloatTensor`), and questions about shared and pinned memory."""

from __future__ import annotations

from typing import Any

from ...core.devices import accelerator, device, is_available, kind_named, kind_of
from ...core.dtypes import ALL, FROM_NUMPY, NumpyNumber, Size, dtype, get_default_dtype, strided
from ...core.tensor import Tensor, created
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, NotSupportedError
from ...kernels import shared
from ..faces.api import FUNCTIONS, method
from ..faces.options import place, size_of
from .from_data import array_of
from .memory import UntypedStorage
from .typed_storage import TypedStorage


@method("share_memory_")
def share_memory_(self: Tensor) -> Tensor:
    """Move the data into memory that other processes see: forked ones, and those it is sent to."""
    if shared.find(self._array) is not None:
        return self
    if self._view is None:
        self._array = shared.share(self._array)
        return self
    base = self._view.base
    both = shared.share_both(base, self)
    if both is None:
        raise NotSupportedError(
            "share_memory_() of a view would leave other views of its base behind: share the base before taking views of it, "
            "or share a clone()"
        )
    base._array, self._array = both
    return self


@method()
def is_shared(self: Tensor) -> bool:
    """Is the memory shared with other processes?"""
    return shared.find(self._array) is not None


@method()
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor in page-locked memory, from which an accelerator reads without a copy; refused where there is none."""
    if not self.is_cpu:
        raise EngineError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    return accelerator().pinned(self)


@method()
def record_stream(self: Tensor, stream: Any) -> None:
    """Another stream works with this memory: when the tensor is gone, nobody gets it until that stream is done."""
    kind_of(self._array).used_on(self._array, stream)


@method()
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Is the memory page-locked?"""
    return self.is_cpu and is_available("cuda") and kind_named("cuda").is_pinned(self._array)


# The old types: torch.FloatTensor and the like ------------------------------------------------------------


class _TypeMeta(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype; calling one makes a tensor of it."""

    numpy: Any
    place: str

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        if bases:
            raise ArgumentTypeError(f"type 'torch.{bases[0].__name__}' is not an acceptable base type")
        super().__init__(name, bases, body)

    def __instancecheck__(cls, value: Any) -> bool:
        fits = isinstance(value, Tensor) and value._array.dtype == cls.numpy and value.layout is strided
        return fits and value.device.type == cls.place

    def __call__(cls, *args: Any, **options: Any) -> Tensor:
        return legacy(cls.numpy, args, options, home=cls.place)

    def __repr__(cls) -> str:
        return f"<class 'torch.{'' if cls.place == 'cpu' else cls.place + '.'}{cls.__name__}'>"


def legacy(kind: Any, args: tuple[Any, ...], options: dict[str, Any], like: Any = None, home: str = "cpu") -> Tensor:
    """`FloatTensor()`, `FloatTensor(2, 3)`, `FloatTensor([1, 2])`, `FloatTensor(tensor)`, and `x.new(...)`."""
    home = home if like is None else kind_of(like).device(like).type
    asked = options.pop("device", None)
    if asked is not None and (given := device(asked).type) != home:
        raise EngineError(f"legacy constructor expects device type: {home} but device type: {given} was passed")
    if asked is not None and args and isinstance(args[0], Tensor):
        raise EngineError(
            "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported. "
            "Use torch.as_tensor(tensor, device=device) or tensor.to(device) instead"
        )
    where = place("new", home if like is None else None, None, like)
    xp = where.xp
    if "size" in options:
        args = (Size(options.pop("size")),)
    if options:
        raise ArgumentTypeError(f"new() received an unexpected keyword argument {next(iter(options))!r}")
    if not args:
        return created(xp.empty(0, kind))
    if len(args) == 1 and not isinstance(args[0], (int, NumpyNumber, Size)):
        value = args[0]
        if isinstance(value, Tensor):
            if value._array.dtype != kind:
                raise ArgumentTypeError(
                    f"expected {FROM_NUMPY[kind].old}Tensor (got {FROM_NUMPY[value._array.dtype].old}Tensor)"
                )
            return value.detach()
        if isinstance(value, (UntypedStorage, TypedStorage)):
            return created(value._storage_elements(kind))
        return created(array_of(value, kind, where))
    return created(xp.empty(size_of("new", args), kind))


@method("new")
def new(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """The old constructor, in this tensor's type: sizes, a sequence, or nothing."""
    return legacy(self._array.dtype, args, options, self._array)


_OLD_TYPES: dict[str, dtype] = {}
for _kind in ALL:
    if not _kind.old.startswith(("UInt", "Complex")):
        _title = f"{_kind.old}Tensor"
        _OLD_TYPES[f"torch.{_title}"] = _kind
        FUNCTIONS[_title] = _TypeMeta(
            _title, (), {"numpy": _kind.numpy, "dtype": _kind, "place": "cpu", "is_cuda": False}
        )


def on_device(title: str, kind: str) -> Any:
    """The old type of this name on another kind of device: `torch.cuda.FloatTensor`."""
    dtype = _OLD_TYPES[f"torch.{title}"]
    return _TypeMeta(title, (), {"numpy": dtype.numpy, "dtype": dtype, "place": kind, "is_cuda": kind == "cuda"})


@method("type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **_: Any) -> Any:
    """The old name of the type ('torch.FloatTensor'), or the tensor converted to another type."""
    if dtype is None:
        where = "" if self.is_cpu else f"{self.device.type}."
        return f"torch.{where}{self.dtype.old}Tensor"
    if dtype is Tensor or dtype == "torch.Tensor":
        dtype = get_default_dtype()
    elif isinstance(dtype, str):
        elsewhere = dtype.startswith("torch.cuda.")
        if dtype.replace("torch.cuda.", "torch.") not in _OLD_TYPES:
            raise ArgumentValueError(f"invalid type: '{dtype}'")
        dtype = _OLD_TYPES[dtype.replace("torch.cuda.", "torch.")]
        return self.to("cuda" if elsewhere else "cpu", dtype)
    elif isinstance(dtype, _TypeMeta):
        return self.to(dtype.place, dtype.dtype)  # type: ignore[attr-defined]
    elif type(dtype) is type:
        raise ArgumentValueError(f"invalid type: '{dtype.__name__}'")
    return self.to(dtype)
