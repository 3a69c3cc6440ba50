"""PyTorch's names of what is in a file, and what they stand for in clarion."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .. import nn
from ..absent import pytorch_names
from ..core.devices import device
from ..core.dtypes import Size, dtype, memory_format
from ..core.tensor import Tensor
from ..errors import NotSupportedError
from ..ops.faces.api import FUNCTIONS
from ..ops.random.generator import Generator
from . import rebuild
from .storages import BY_NAME as STORAGES

Name = tuple[str, str]

REBUILD: dict[str, Any] = {
    "torch._utils._rebuild_tensor": rebuild.rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild.rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild.rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": rebuild.rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild.rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": rebuild.rebuild_from_type_v2,
    "torch.tensor._rebuild_from_type_v2": rebuild.rebuild_from_type_v2,
    "torch.serialization._get_layout": rebuild.get_layout,
    "torch._utils._rebuild_sparse_tensor": rebuild.rebuild_sparse_tensor,
    "torch._utils._rebuild_qtensor": rebuild.refuse("a quantized tensor"),
    "torch._utils._rebuild_nested_tensor": rebuild.refuse("a nested tensor"),
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild.rebuild_meta_tensor,
    "torch._utils._rebuild_wrapper_subclass": rebuild.rebuild_wrapper_subclass,
    "torch._utils._rebuild_device_tensor_from_numpy": rebuild.refuse("a tensor of another device"),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": rebuild.refuse("a tensor of another device"),
}

_PLAIN: dict[Any, Name] = {
    Tensor: ("torch", "Tensor"),
    nn.Parameter: ("torch.nn.parameter", "Parameter"),
    Size: ("torch", "Size"),
    device: ("torch", "device"),
    dtype: ("torch", "dtype"),
    Generator: ("torch._C", "Generator"),
}
for _full, _function in reversed(REBUILD.items()):
    _module, _, _name = _full.rpartition(".")
    _PLAIN[_function] = (_module, _name)


def torch_name(value: Any) -> Name | None:
    """PyTorch's module and name for a class or function of clarion; None for one that PyTorch does not have."""
    if isinstance(value, (dtype, memory_format)):
        return "torch", value.name
    if str(getattr(value, "__module__", "")).partition(".")[0] != "clarion":
        return None
    if value in _PLAIN:
        return _PLAIN[value]
    module, name = "torch" + value.__module__.removeprefix("clarion"), value.__qualname__
    # A file names classes as PyTorch does, so that PyTorch finds its own.
    return (module, name) if name in pytorch_names().get(module, ()) else _functions().get(value)


@functools.cache
def _functions() -> dict[Any, Name]:
    """Functions by the name they are public under, which need not be the one they were defined with."""
    found: dict[Any, Name] = {}
    for home, names in (("torch", FUNCTIONS), ("torch.nn.functional", vars(nn.functional))):
        found |= {each: (home, name) for name, each in names.items() if callable(each) and not name.startswith("_")}
    return found


def clarion_value(module: str, name: str) -> Any:
    """What a name of PyTorch's stands for in clarion, for files that are trusted."""
    full = f"{module}.{name}"
    for table in (REBUILD, STORAGES):
        if full in table:
            return table[full]
    if full in ("torch._C.Generator", "torch.Generator"):
        return rebuild.PendingGenerator
    clarion = importlib.import_module("clarion")
    if name == "NonDynamicallyQuantizableLinear":  # inside PyTorch's attention; the same layer
        return nn.Linear
    if full == "torch._C._VariableFunctionsClass":  # functions of torch are attributes of it
        return clarion
    for home in _homes(module):
        try:
            owner: Any = importlib.import_module(home)
        except ModuleNotFoundError:
            continue
        try:
            for part in name.split("."):
                owner = getattr(owner, part)
            return owner
        except AttributeError:
            continue
    raise NotSupportedError(f"the file needs {full}, which clarion does not have")


def _homes(module: str) -> list[str]:
    homes = ["clarion" + module.removeprefix("torch")]
    if module == "torch._C._nn":
        homes.append("clarion.nn.functional")
    elif module.startswith("torch.nn."):
        homes.append("clarion.nn")
    elif module.startswith("torch.optim."):
        homes.append("clarion.optim")
    elif module in ("torch._C", "torch._tensor", "torch.tensor"):
        homes.append("clarion")
    return homes
