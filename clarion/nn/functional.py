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


def __getattr__(name: str) -> Any:
    if name == "grad":  # `torch.nn.grad`, which PyTorch has here, too
        return _importlib.import_module(".grad", __package__)
    raise AttributeError(f"clarion.nn.functional has no attribute {name!r}")
