"""`torch.sparse`: products, sums and softmax of sparse tensors. tensor.py says how one is made (NOTE [Sparse])."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ..absent import rest
from ..errors import EngineError


def _room(name: str) -> Any:
    """The parts are loaded when they are first used: they change how public functions look at their arguments."""
    for each in ("making", "shapes", "operations", "products", "questions"):
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


_told: bool | None = None  # whether places shall be checked, if anybody has said so


def checking(asked: bool | None) -> bool | None:
    """Shall places be checked? None: nobody has said so. Then they are, but for what is a matter of memory alone."""
    return _told if asked is None else asked


class check_sparse_tensor_invariants:
    """Whether places and sizes are checked when a sparse tensor is made. Without a word they are, which PyTorch leaves out."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self._before: list[bool | None] = []

    @staticmethod
    def is_enabled() -> bool:
        """Has it been asked for?"""
        return bool(_told)

    @staticmethod
    def enable() -> None:
        """From now on, all of it."""
        global _told
        _told = True

    @staticmethod
    def disable() -> None:
        """From now on, none of it."""
        global _told
        _told = False

    def __enter__(self) -> None:
        global _told
        if self._before:
            raise EngineError(
                "This context manager instance is already activated. Use a different context manager instance for context nesting"
            )
        self._before.append(_told)
        _told = self.state

    def __exit__(self, *_: object) -> None:
        global _told
        _told = self._before.pop()

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return run


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """`gradcheck` for functions of sparse tensors: of their entries, or (without `masked`) of all elements."""
    return _room("gradients").as_sparse_gradcheck(gradcheck)


_rest = rest(__name__)


def __getattr__(name: str) -> Any:
    """The old types (`torch.sparse.FloatTensor`) are made when they are asked for."""
    if name.endswith("Tensor"):
        types = _room("old_types").OLD_TYPES
        if name in types:
            return types[name]
    return _rest(name)
