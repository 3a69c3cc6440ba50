"""Matrix products on the GPU: the operations that cuBLASLt computes. Transposes are flags, a bias rides in the product."""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from ..registry import offer
from .cublaslt import knows, product


def _rows(x: Any) -> Any:
    return x if x.ndim == 2 else x.reshape(-1, x.shape[-1])


def _vectors(x: Any, y: Any) -> bool:
    return type(x) is type(y) and knows(x.dtype) and x.dtype == y.dtype and x.size > 0 and y.size > 0


def _accepts(x: Any, y: Any, *_: Any) -> bool:
    """Two matrices, or more dimensions, of a floating type that the library multiplies, and none of them empty."""
    return _vectors(x, y) and x.ndim > 1 and y.ndim > 1


def _accepts_linear(x: Any, w: Any, b: Any) -> bool:
    return _accepts(x, w) and (b is None or (b.dtype == x.dtype and b.flags.c_contiguous))


@offer("fold_mm", "cublaslt", accepts=_accepts)
def fold_mm(x: Any, y: Any) -> Any:
    """(…, k) and (k, n) → (…, n)."""
    out = product(_rows(x), y)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], y.shape[1])


@offer("fold_nt", "cublaslt", accepts=_accepts)
def fold_nt(x: Any, y: Any) -> Any:
    """(…, k) and (n, k) → (…, n)."""
    out = product(_rows(x), y.T)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], y.shape[0])


@offer("fold_tn", "cublaslt", accepts=_accepts)
def fold_tn(x: Any, y: Any) -> Any:
    """(…, k) and (…, n) → (k, n), summed over all leading dimensions."""
    return product(_rows(x).T, _rows(y))


@offer("linear", "cublaslt", accepts=_accepts_linear)
def linear(x: Any, w: Any, b: Any) -> Any:
    """x @ wᵀ + b."""
    out = product(_rows(x), w.T) if b is None else product(_rows(x), w.T, epilogue="bias", vector=b)
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], w.shape[0])


offer("mm", "cublaslt", fold_mm, accepts=_accepts)
offer("mm_nt", "cublaslt", fold_nt, accepts=_accepts)
offer("linear_rows", "cublaslt", linear, accepts=_accepts_linear)


@offer("sum_rows", "cublaslt", accepts=lambda x: knows(x.dtype) and x.ndim > 1 and x.size > 0)
def sum_rows(x: Any) -> Any:
    """The sum over all dimensions but the last: a product with ones, which sums in float32 whatever the type."""
    rows = _rows(x)
    out = cupy.ndarray((rows.shape[1],), rows.dtype)  # it owns its memory: a gradient is taken over as it is
    product(_ones(rows.shape[0], rows.dtype), rows, out=out[None])
    return out


@offer("sum_of_rows", "cublaslt", accepts=lambda x, ndim: knows(x.dtype) and x.ndim > ndim and x.size > 0)
def sum_of_rows(x: Any, ndim: int) -> Any:
    """The sum over all but the last `ndim` dimensions."""
    shape = x.shape[x.ndim - ndim :]
    return sum_rows(x.reshape(-1, math.prod(shape))).reshape(shape)


_all_ones: dict[Any, Any] = {}


def _ones(n: int, dtype: Any) -> Any:
    found = _all_ones.get(dtype)
    if found is None or found.shape[1] < n:
        found = _all_ones[dtype] = cupy.ones((1, n), dtype)
    return found[:, :n]


def _batched(x: Any, y: Any) -> Any:
    """Products of matrices, whose leading dimensions broadcast."""
    if x.ndim == 2 and y.ndim == 2:
        return product(x, y)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    count = math.prod(lead)
    flat = [cupy.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(count, *a.shape[-2:]) if a.ndim > 2 else
            cupy.broadcast_to(a, (count, *a.shape)) for a in (x, y)]  # fmt: skip
    return product(*flat).reshape(*lead, x.shape[-2], y.shape[-1])


offer("matmul", "cublaslt", _batched, accepts=_accepts)
offer("bmm", "cublaslt", _batched, accepts=_accepts)
offer("matmul_nt", "cublaslt", lambda x, y: _batched(x, y.swapaxes(-1, -2)), accepts=_accepts)
offer("matmul_tn", "cublaslt", lambda x, y: _batched(x.swapaxes(-1, -2), y), accepts=_accepts)


def _weighted(x: Any, out: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * out; a beta of 0 ignores even NaN."""
    if alpha != 1:
        out *= out.dtype.type(alpha)
    if beta == 0:
        return out
    return out + (x if beta == 1 else x * x.dtype.type(beta))


def _accepts_addmm(x: Any, a: Any, b: Any, *_: Any) -> bool:
    return _accepts(a, b) and x.dtype == a.dtype


@offer("addmm", "cublaslt", accepts=_accepts_addmm)
def addmm(x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * mat1 @ mat2."""
    if beta == 1 and alpha == 1 and x.shape == (mat2.shape[1],) and x.flags.c_contiguous:
        return product(mat1, mat2, epilogue="bias", vector=x)
    return _weighted(x, product(mat1, mat2), beta, alpha)


@offer("baddbmm", "cublaslt", accepts=_accepts_addmm)
def baddbmm(x: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * batch1 @ batch2."""
    return _weighted(x, product(batch1, batch2), beta, alpha)


offer("mv", "cublaslt", lambda x, y: product(x, y[:, None])[:, 0], accepts=_vectors)
offer("vecmat", "cublaslt", lambda x, y: product(x[None], y)[0], accepts=_vectors)
offer("dot", "cublaslt", lambda x, y: product(x[None], y[:, None])[0, 0], accepts=_vectors)
