"""`torch.nn.functional`: everything the operations register for it, and the functions that live in both namespaces."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from .. import ops as _ops  # noqa: F401
from ..ops.faces.api import FUNCTIONS as _FUNCTIONS
from ..ops.faces.api import NN_FUNCTIONAL as _NN_FUNCTIONAL

# Functions of the main namespace that PyTorch offers here too, where no special form is registered.
_SHARED = (
    "relu", "relu_", "sigmoid", "tanh", "softmax", "log_softmax", "one_hot", "celu", "celu_", "selu", "selu_", "prelu",
    "rrelu", "rrelu_", "hardshrink", "logsigmoid", "bilinear", "pairwise_distance", "cosine_similarity", "threshold", "pdist",
)  # fmt: skip

globals().update({name: _FUNCTIONS[name] for name in _SHARED if name in _FUNCTIONS})
globals().update(_NN_FUNCTIONAL)
if TYPE_CHECKING:
    from ..ops.faces.functionals import *  # noqa: F403  (a stub: the same, for who only reads)


# What else PyTorch's file holds, and libraries take from there.
_PRIVATE = {
    ".projections": (
        "_in_projection",
        "_in_projection_packed",
        "_canonical_mask",
        "_none_or_dtype",
        "_verify_batch_size",
    ),
    ".modules.utils": ("_single", "_pair", "_triple", "_list_with_default"),
    "..overrides": (
        "has_torch_function",
        "has_torch_function_unary",
        "has_torch_function_variadic",
        "handle_torch_function",
    ),
    ".._jit_internal": ("boolean_dispatch", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3"),
    "..core.tensor": ("Tensor",),
}


def __getattr__(name: str) -> Any:
    if name == "grad":  # `torch.nn.grad`, which PyTorch has here, too
        return _importlib.import_module(".grad", __package__)
    for place, names in _PRIVATE.items():
        if name in names:
            return getattr(_importlib.import_module(place, __package__), name)
    raise AttributeError(f"clarion.nn.functional has no attribute {name!r}")
