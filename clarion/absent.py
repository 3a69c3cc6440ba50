"""Parts of PyTorch that clarion does not have: they can be imported, and refuse by name when they are used.

`assets/pytorch_names.txt` lists PyTorch's public names by module. A module that is listed there, that clarion has no file
for, and that stands below one of the paths of `WHY` is made from the list: its classes can be subclassed and asked for
with `isinstance`, its functions named, and whoever makes an object or calls a function is told why it is not there.
"""

from __future__ import annotations

import abc
import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .errors import NotSupportedError

_NUMBERS = "nothing is compiled, so sizes are numbers"
_QUANTIZED = "there are no quantized tensors"
_OF_QUANTIZED = (
    "quantize_per_tensor quantize_per_tensor_dynamic quantize_per_channel dequantize int_repr q_scale q_zero_point "
    "q_per_channel_scales q_per_channel_zero_points q_per_channel_axis fake_quantize_per_tensor_affine "
    "fake_quantize_per_channel_affine fused_moving_avg_obs_fake_quant"
)
_ALONE = (
    "training runs in one process; ask torch.distributed.is_initialized() first, or start one process and leave it out"
)
_ONE_DEVICE = "clarion does not compute on this device"

# The longest path that fits says why.
WHY = {
    "functorch": "modules are called with other parameters by torch.func.functional_call",
    "torch._C": "PyTorch's compiled insides; clarion is Python",
    "torch.SymBool": _NUMBERS,
    "torch.SymFloat": _NUMBERS,
    "torch.SymInt": _NUMBERS,
    "torch._subclasses": "nothing is compiled, so no tensor stands for another",
    "torch.ao": _QUANTIZED,
    **dict.fromkeys([f"torch.{name}" for name in _OF_QUANTIZED.split()], _QUANTIZED),
    "torch.quantization": _QUANTIZED,
    "torch.nn.intrinsic": _QUANTIZED,
    "torch.nn.qat": _QUANTIZED,
    "torch.nn.quantizable": _QUANTIZED,
    "torch.nn.quantized": _QUANTIZED,
    "torch.nn.attention": "there is one way to compute attention here; use torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.parallel": "there is one device and one process",
    "torch.backends": _ONE_DEVICE,
    "torch.cuda": "this part needs a CUDA device; ask torch.cuda.is_available() first",
    "torch.distributed": _ALONE,
    "torch.export": "programs are not exported; save a state_dict",
    "torch.fx": "programs are traced by symbolic_trace, with numbers for sizes; this part of torch.fx is not there",
    "torch.hub": "nothing is downloaded; load a state_dict from a file",
    "torch.jit": "programs are not compiled to TorchScript; run the Python function, or save a state_dict",
    "torch.library": "operations that programs declare are Python functions here, below which there is no dispatcher",
    "torch.masked": "it belongs to how PyTorch builds its masked functions; torch.masked has those, and MaskedTensor",
    "torch.monitor": "nothing is monitored; torch.profiler measures",
    "torch.mtia": _ONE_DEVICE,
    "torch.nativert": "programs are not exported; save a state_dict",
    "torch.nested": "there are no nested tensors; pad them: torch.nn.utils.rnn.pad_sequence",
    "torch.numa": "processes are not bound to parts of the machine",
    "torch.onnx": "models are not exported to ONNX; save a state_dict or safetensors",
    "torch.ops": "clarion has no operation of this name; its own are functions and methods",
    "torch.package": "models are not packaged with their code; save a state_dict",
    "torch.sparse": "clarion has no semi-structured sparse tensors",
    "torch.utils": "it is built on parts of PyTorch that clarion does not have",
    "torch.utils.data.datapipes.dataframe": "pipes of data frames are not there; map a function over rows",
    "torch.xpu": _ONE_DEVICE,
}

# Questions about what is never there have an answer: nothing is traced, no size is a symbol, no such device is there.
ANSWERS = {
    "torch.cuda.tunable.is_enabled": False,
    "torch.distributed.autograd.is_available": False,
    "torch.export.pt2_archive.is_pt2_package": False,
    "torch.fx.experimental.proxy_tensor.get_innermost_proxy_mode": None,
    "torch.fx.experimental.proxy_tensor.get_proxy_mode": None,
    "torch.fx.experimental.symbolic_shapes.has_free_symbols": False,
    "torch.fx.experimental.symbolic_shapes.has_free_unbacked_symbols": False,
    "torch.fx.experimental.symbolic_shapes.has_symbolic_sizes_strides": False,
    "torch.fx.experimental.symbolic_shapes.is_nested_int": False,
    "torch.fx.traceback.has_preserved_node_meta": False,
    "torch.utils._triton.has_triton": False,
    "torch.mtia.is_available": False,
    "torch.mtia.is_bf16_supported": False,
    "torch.mtia.is_initialized": False,
    "torch.package.is_from_package": False,
    "torch.xpu.graphs.is_current_stream_capturing": False,
}


@functools.cache
def pytorch_names() -> dict[str, dict[str, str]]:
    """PyTorch's public names by module, each with what it is: `class`, `function` or `value`."""
    found: dict[str, dict[str, str]] = {}
    text = (Path(__file__).parent / "assets" / "pytorch_names.txt").read_text()
    for line in text.splitlines():
        if not line.startswith(" "):
            names = found[line] = {}
        else:
            kind, *each = line.split()
            names.update(dict.fromkeys(each, kind))
    return found


def why(path: str) -> str | None:
    """Why something of PyTorch is not there; None if nobody has said so."""
    while path and path not in WHY:
        path = path.rpartition(".")[0]
    return WHY.get(path)


def knows(module: str) -> bool:
    """Is it a module of PyTorch of which we know why it is not there?"""
    return why(module) is not None and module in pytorch_names()


def _say(path: str) -> NotSupportedError:
    return NotSupportedError(f"clarion does not have {path}: {why(path)}")


def _named(function: Callable[..., Any], path: str, doc: str) -> Callable[..., Any]:
    function.__module__, _, function.__name__ = path.rpartition(".")
    function.__qualname__, function.__doc__ = function.__name__, doc
    return function


def answer(path: str) -> Callable[..., Any]:
    """A function of PyTorch's name whose answer is always the same here."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return ANSWERS[path]

    return _named(function, path, f"{ANSWERS[path]}: {why(path)}.")


def refusal(path: str) -> Callable[..., Any]:
    """A function of PyTorch's name that says that it is not there, and what to do instead."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise _say(path)

    _named(function, path, f"Not there: {why(path)}.")
    function.is_absent = True  # type: ignore[attr-defined]
    return function


class _Nameable(abc.ABCMeta):
    """What a class that is not there has, as members of an enumeration, can be named, too."""

    def __getitem__(cls, parameters: Any) -> Any:
        return types.GenericAlias(cls, parameters)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return refusal(f"{cls.__module__}.{cls.__name__}.{name}")


def refusing_class(path: str) -> type:
    """A class of PyTorch's name of which there are no objects."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise _say(path)

    module, _, name = path.rpartition(".")
    return _Nameable(
        name, (), {"__new__": __new__, "__module__": module, "is_absent": True, "__doc__": f"Not there: {why(path)}."}
    )


def is_absent(thing: Any) -> bool:
    """Is it one of the things that refuse to be used?"""
    return getattr(thing, "__dict__", {}).get("is_absent", False) is True


def rest(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: what PyTorch's has beyond it is there to be named, and refuses."""
    path = "torch" + module.removeprefix("clarion")

    def __getattr__(name: str) -> Any:
        known = pytorch_names()
        kind = known.get(path, {}).get(name)
        if f"{path}.{name}" in ANSWERS:
            found: Any = answer(f"{path}.{name}")
        elif kind == "class":
            found = refusing_class(f"{path}.{name}")
        elif kind == "function":
            found = refusal(f"{path}.{name}")
        elif f"{path}.{name}" in known:
            found = importlib.import_module(f"{module}.{name}")
        elif name == "torch":  # PyTorch's modules import it, and programs write `torch.sparse.torch.eye(10)`
            found = sys.modules["clarion"]
        elif name == "__all__" and vars(sys.modules[module]).get("is_absent"):
            found = sorted([each for each, what in known.get(path, {}).items() if what in ("class", "function")])
        elif name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        else:
            raise AttributeError(f"clarion does not have {path}.{name}: {why(path)}")
        setattr(sys.modules[module], name, found)
        return found

    return __getattr__


class AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are not there. It is asked last, when there is no file."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of `clarion.x`, if PyTorch has `torch.x` and we know why there is no file of this name."""
        theirs = "torch" + name.removeprefix("clarion")
        if not name.startswith("clarion.") or not knows(theirs):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: types.ModuleType) -> None:
        """Fill it with refusals: each is made when it is first named."""
        theirs = "torch" + module.__name__.removeprefix("clarion")
        module.__doc__ = f"`{theirs}` is not there: {why(theirs)}."
        module.is_absent = True  # type: ignore[attr-defined]
        module.__getattr__ = rest(module.__name__)  # type: ignore[method-assign]


class _Classes(types.ModuleType):
    """`torch.classes`: classes of compiled libraries, of which none can be loaded."""

    __path__: list[str] = []
    loaded_libraries: frozenset[str] = frozenset()

    def load_library(self, path: Any) -> None:
        """Refused: such a library is compiled against PyTorch's own."""
        raise OSError(f"Could not load this library: {path}: it is compiled against PyTorch's own library")


classes = _Classes("torch.classes")
