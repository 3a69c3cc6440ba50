"""Products as PyTorch shows them to classes: of two matrices, or of two batches of matrices. Here one operation often does more."""

from __future__ import annotations

from typing import Any

from ..ops.faces.api import FUNCTIONS, METHODS


def _turned(x: Any) -> Any:
    return METHODS["t"](x) if x.ndim == 2 else METHODS["transpose"](x, -1, -2)


def _rows(x: Any) -> Any:
    return x if x.ndim == 2 else METHODS["reshape"](x, (-1, x.shape[-1]))


def _unfolded(out: Any, x: Any) -> Any:
    return out if x.ndim == 2 else METHODS["view"](out, (*x.shape[:-1], out.shape[-1]))


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """The weight turned, and one product."""
    rows, turned = _rows(x), _turned(weight)
    return _unfolded(FUNCTIONS["mm"](rows, turned) if bias is None else FUNCTIONS["addmm"](bias, rows, turned), x)


def fold_mm(x: Any, y: Any) -> Any:
    """(…, k) and (k, n)."""
    return NotImplemented if x.ndim == 2 else _unfolded(FUNCTIONS["mm"](_rows(x), y), x)


def fold_nt(x: Any, y: Any) -> Any:
    """(…, k) and (n, k)."""
    return _unfolded(FUNCTIONS["mm"](_rows(x), _turned(y)), x)


def fold_tn(x: Any, y: Any) -> Any:
    """(…, k) and (…, n), summed over all leading dimensions."""
    return FUNCTIONS["mm"](_turned(_rows(x)), _rows(y))


def matmul(x: Any, y: Any) -> Any:
    """Batches that are stretched to each other."""
    if x.ndim == y.ndim == 3 and x.shape[0] == y.shape[0]:
        return NotImplemented
    batch = tuple(FUNCTIONS["broadcast_shapes"](x.shape[:-2], y.shape[:-2]))
    if not batch:
        return NotImplemented
    flat = [
        METHODS["reshape"](METHODS["expand"](each, (*batch, *each.shape[-2:])), (-1, *each.shape[-2:]))
        for each in (x, y)
    ]
    return METHODS["view"](FUNCTIONS["bmm"](*flat), (*batch, x.shape[-2], y.shape[-1]))


PIECES = {
    "linear": linear,
    "linear_rows": linear,
    "fold_mm": fold_mm,
    "fold_nt": fold_nt,
    "mm_nt": fold_nt,
    "fold_tn": fold_tn,
    "matmul": matmul,
    "matmul_nt": lambda x, y: FUNCTIONS["matmul"](x, _turned(y)),
    "matmul_tn": lambda x, y: FUNCTIONS["matmul"](_turned(x), y),
}
