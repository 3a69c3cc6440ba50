"""Names: of nodes (`add_1`), and of functions as PyTorch's programs write them (`torch.nn.functional.relu`)."""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import keyword
import math
import re
import sys
import types
from collections import defaultdict
from typing import Any, NamedTuple

from ..core.devices import device
from ..core.tensor import Tensor
from ..ops.faces.api import FUNCTIONS, METHODS, NN_FUNCTIONAL


class Builtin(NamedTuple):
    """A name that generated code may use without importing it, how it is imported, and what it is."""

    import_str: str
    obj: Any


@functools.cache
def custom_builtins() -> dict[str, Builtin]:
    """What every generated function sees."""
    torch = importlib.import_module("clarion")
    return {
        "inf": Builtin("from math import inf", math.inf),
        "nan": Builtin("from math import nan", math.nan),
        "NoneType": Builtin("NoneType = type(None)", type(None)),
        "torch": Builtin("import torch", torch),
        "device": Builtin("from torch import device", device),
        "fx_pytree": Builtin("import torch.fx._pytree as fx_pytree", importlib.import_module("clarion.fx._pytree")),
        "pytree": Builtin("import torch.utils._pytree as pytree", importlib.import_module("clarion.utils._pytree")),
    }


# Names of nodes ----------------------------------------------------------------------------------------

_ILLEGAL = re.compile("[^0-9a-zA-Z_]+")
_COUNTED = re.compile(r"(.*)_(\d+)$")
_BEFORE_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def snake_case(name: str) -> str:
    """`layerNorm` as `layer_norm`."""
    return _BEFORE_CAPITALS.sub("_", name).lower()


class Namespace:
    """Gives out each name once: `add`, `add_1`, `add_2`."""

    def __init__(self) -> None:
        self._of_object: dict[Any, str] = {}
        self._used: set[str] = set()
        self._count: dict[str, int] = defaultdict(int)

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name that is free, like the candidate; an object keeps the name it got."""
        if obj is not None and obj in self._of_object:
            return self._of_object[obj]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        counted = _COUNTED.match(candidate)
        base, number = (counted[1], int(counted[2])) if counted else (candidate, None)
        if not number:
            number = self._count[base] if candidate in self._used or self._illegal(candidate, obj) else 0
        while candidate in self._used or self._illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._count[base] = number
        if obj is not None:
            self._of_object[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """This object is called so from now on."""
        self._of_object.setdefault(obj, name)

    def _illegal(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if name in builtins.__dict__:
            return obj is not builtins.__dict__[name]
        known = custom_builtins().get(name)
        return known is not None and obj is not known.obj


# Names of functions ------------------------------------------------------------------------------------

# Functions of torch.nn.functional that PyTorch has compiled: they are called as they are, and belong to another module.
COMPILED_LAYERS = frozenset(
    [
        "avg_pool2d",
        "avg_pool3d",
        "elu_",
        "gelu",
        "hardtanh_",
        "leaky_relu_",
        "linear",
        "logsigmoid",
        "one_hot",
        "scaled_dot_product_attention",
        "softplus",
        "softshrink",
    ]
)
COMPILED_SHARED = frozenset(
    [
        "adaptive_avg_pool1d",
        "avg_pool1d",
        "bilinear",
        "celu_",
        "channel_shuffle",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "cosine_similarity",
        "hardshrink",
        "native_channel_shuffle",
        "pairwise_distance",
        "pdist",
        "pixel_shuffle",
        "pixel_unshuffle",
        "prelu",
        "relu_",
        "rrelu_",
        "selu_",
        "threshold_",
    ]
)
# Functions of torch.nn.functional that call the method of the same name.
METHODS_THERE = ("sigmoid", "tanh")
# Functions of torch that are Python there.
PYTHON = frozenset(
    [
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "block_diag",
        "broadcast_shapes",
        "broadcast_tensors",
        "cartesian_prod",
        "cdist",
        "chain_matmul",
        "einsum",
        "lu",
        "meshgrid",
        "norm",
        "split",
        "stft",
        "tensordot",
        "unique",
        "unique_consecutive",
        "unravel_index",
    ]
)


class Spelled(NamedTuple):
    """A public function: where PyTorch has it, its name there, and whether it is written in Python there."""

    module: str
    name: str
    python: bool


@functools.cache
def _spelled() -> dict[Any, Spelled]:
    """Public functions, by themselves. One that is there twice has the name that programs use more."""
    found: dict[Any, Spelled] = {}
    for name, function in {**NN_FUNCTIONAL, **vars(importlib.import_module("clarion.nn.functional"))}.items():
        if not isinstance(function, types.FunctionType) or name.startswith("_") or name in found:
            continue
        if name in COMPILED_LAYERS:
            _keep(found, function, Spelled("torch._C._nn", name, False))
        elif name in COMPILED_SHARED:
            _keep(found, function, Spelled("torch", name, False))
        elif name not in METHODS_THERE:
            _keep(found, function, Spelled("torch.nn.functional", name, True))
    _from_module(found, "linalg")
    _from_module(found, "fft")
    for name, function in FUNCTIONS.items():
        if name in PYTHON:
            _keep(found, function, Spelled("torch.functional", name, True))
        elif not name.startswith("special_"):
            _keep(found, function, Spelled("torch", name, False))
    _from_module(found, "special")
    return found


def _from_module(found: dict[Any, Spelled], module: str) -> None:
    for name, function in vars(importlib.import_module(f"clarion.{module}")).items():
        public = isinstance(function, types.FunctionType) and not name.startswith("_")
        if public and FUNCTIONS.get(name) is not function:
            _keep(found, function, Spelled(f"torch._C._{module}", f"{module}_{name}", False))


def _keep(found: dict[Any, Spelled], function: Any, spelled: Spelled) -> None:
    """A name of the function; its own is better than an alias."""
    before = found.get(function)
    if before is None or (
        before.name != function.__name__ and spelled.name == function.__name__ and before.module == spelled.module
    ):
        found[function] = spelled


def spelled(function: Any) -> Spelled | None:
    """Where PyTorch has a public function of clarion's; None for all others."""
    return _spelled().get(function) if isinstance(function, types.FunctionType) else None


def is_method(function: Any) -> bool:
    """Is it a method of Tensor and no function?"""
    if not isinstance(function, types.FunctionType) or function in _spelled():
        return False
    return METHODS.get(function.__name__) is function or vars(Tensor).get(function.__name__) is function


def title(function: Any) -> str:
    """What a function is called."""
    known = spelled(function)
    return known.name if known else function.__name__


def as_torch(module: str) -> str:
    """The name of a module of clarion's in PyTorch's place."""
    return "torch" + module.removeprefix("clarion") if module.partition(".")[0] == "clarion" else module


def qualified_name(function: Any) -> str:
    """The full name of a function, as code that is generated calls it."""
    known = spelled(function)
    if known:
        return f"{known.module}.{known.name}"
    name = getattr(function, "__name__", None)
    if name and getattr(builtins, name, None) is function:
        return name
    if is_method(function) or (name and isinstance(function, types.MethodDescriptorType)):
        return f"torch.Tensor.{name}"
    if name and name.startswith("<lambda"):
        name = "<lambda>"
    from .._ops import OpOverload, OpOverloadPacket

    if isinstance(function, OpOverload | OpOverloadPacket):
        return f"torch.ops.{function}"
    if name and isinstance(name, str) and getattr(sys.modules["clarion"], name, None) is function:
        return f"torch.{name}"
    module = as_torch(_module_of(function))
    return f"{module}.{name}" if name else f"{module}.{type(function).__name__}"


def _module_of(function: Any) -> str:
    module = getattr(function, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    return str(module)


def is_from_torch(obj: Any) -> bool:
    """Does generated code reach it through `torch`?"""
    if obj is device:
        return False
    if spelled(obj) is not None:
        return True
    module = getattr(obj, "__module__", None) or ""
    if not isinstance(module, str) or module.partition(".")[0] not in ("clarion", "torch"):
        return False
    return _reachable(qualified_name(obj), obj)


def _reachable(path: str, obj: Any) -> bool:
    at: Any = sys.modules["clarion"]
    for part in path.split(".")[1:]:
        if "<" in part:
            return False
        at = getattr(at, part, None)
    return at is obj or at == obj


def type_repr(kind: Any) -> str:
    """The name of a type in an annotation."""
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        module = as_torch(kind.__module__)
        if module != "builtins" and getattr(sys.modules["clarion"], kind.__qualname__, None) is kind:
            return f"torch.{kind.__qualname__}"
        return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    if isinstance(kind, types.FunctionType):
        return kind.__name__
    return repr(kind).replace("clarion.", "torch.")


_WITH_OUT = {"norm": "input p dim keepdim out dtype", "tensordot": "a b dims out"}


def python_signature(function: Any) -> inspect.Signature:
    """The parameters of a public function, as PyTorch has them."""
    from ..amp.standins import originals
    from ..core.overriding import own_form

    plain = inspect.unwrap(function)
    shown = inspect.signature(originals.get(plain) or own_form(plain))
    parameters = {name: each for name, each in shown.parameters.items() if name != "run"}
    known = spelled(function)
    if known is not None and known.name in _WITH_OUT:
        parameters["out"] = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
        parameters = {name: parameters[name] for name in _WITH_OUT[known.name].split()}
    named = [each.replace(kind=each.KEYWORD_ONLY) if each.name == "dtype" else each for each in parameters.values()]
    return shown.replace(
        parameters=named if known is not None and known.name in _WITH_OUT else list(parameters.values())
    )
