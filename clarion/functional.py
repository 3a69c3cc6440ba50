"""`torch.functional`: functions that PyTorch writes in Python; all of them are in `torch`, too."""

from __future__ import annotations

from .ops.faces.api import FUNCTIONS as _FUNCTIONS

_NAMES = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "align_tensors",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "istft",
    "lu",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "stft",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]

__all__ = [name for name in _NAMES if name in _FUNCTIONS]

globals().update({name: _FUNCTIONS[name] for name in __all__})
