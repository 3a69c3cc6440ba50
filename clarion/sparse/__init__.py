"""`torch.sparse`: products, sums and softmax of sparse tensors. tensor.py says how one is made (NOTE [Sparse])."""

from __future__ import annotations

import importlib
from typing import Any

from ..absent import rest


def _room(name: str) -> Any:
    """The parts are loaded when they are first used: they change how public functions look at their arguments."""
    for each in ("making", "operations", "products"):
        importlib.import_module(f"{__name__}.{each}")
    return importlib.import_module(f"{__name__}.{name}")


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of a sparse matrix with a dense or sparse one; `reduce` says how else products are combined."""
    return _room("products").mm(mat1, mat2, reduce)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * mat + alpha * (mat1 @ mat2), where mat1 is sparse."""
    return _room("products").addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2), at the places of the sparse `input` only."""
    return _room("products").sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements, or along dimensions."""
    return _room("operations").sum_(input, dim, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Softmax along a dimension, over the entries that are there."""
    return _room("products").softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return _room("products").log_softmax(input, dim, dtype=dtype)


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix with the rows of `diagonals` on its diagonals."""
    return _room("products").spdiags(diagonals, offsets, shape, layout)


class check_sparse_tensor_invariants:
    """PyTorch's switch for checking places and sizes. Here they are always checked, so that it changes nothing."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """Always."""
        return True

    enable = disable = staticmethod(lambda: None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


_rest = rest(__name__)


def __getattr__(name: str) -> Any:
    """The old types (`torch.sparse.FloatTensor`) are made when they are asked for."""
    if name.endswith("Tensor"):
        types = _room("old_types").OLD_TYPES
        if name in types:
            return types[name]
    return _rest(name)
