"""Matrix products on the GPU: the operations that cuBLASLt computes. Transposes are flags, a bias rides in the product."""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from .. import precision
from ..choosing import always
from ..registry import offer, raw
from .arrays import new
from .cublaslt import knows, layout, plan_for, product


def _rows(x: Any) -> Any:
    return x if x.ndim == 2 else x.reshape(-1, x.shape[-1])


small_product: Any = None  # launches small products, where there is a compiler for that (triton/small_products.py)


class _Fold:
    """A product in which all leading dimensions are rows, or are summed over, prepared for operands of known shapes and strides.

    `matrices(x, y)` gives the two matrices; as long as they are views, a call needs no more than the operands' places.
    """

    def __init__(self, x: Any, y: Any, matrices: Any, shape: tuple[int, ...], epilogue: str) -> None:
        self.matrices, self.shape, self.dtype, self.epilogue = matrices, shape, x.dtype, epilogue
        a, b = matrices(x, y)
        self.plan: Any = None
        self.launch: Any = None  # of a small product
        if a.data.ptr == x.data.ptr and b.data.ptr == y.data.ptr and layout(a) and layout(b):
            if small_product is not None:
                self.plan = small_product(a, b, epilogue == "bias")
                self.launch = None if self.plan is None else self.plan.launch
            if self.plan is None:
                self.plan = plan_for(a, b, new((a.shape[0], b.shape[1]), x.dtype), epilogue)

    def __call__(self, x: Any, y: Any, vector: Any = None) -> Any:
        out = new(self.shape, self.dtype)
        if self.plan is not None:
            self.plan.run(x, y, out, vector)
        else:
            a, b = self.matrices(x, y)
            product(a, b, out=out.reshape(a.shape[0], b.shape[1]), epilogue=self.epilogue, vector=vector)
        return out


_folds: dict[Any, _Fold] = {}


def _fold(name: str, x: Any, y: Any, matrices: Any, shape: Any, vector: Any = None) -> Any:
    """Run the product `name`; NotImplemented for what the library does not multiply. `shape(x, y)`: that of the result."""
    try:
        key = (
            name, x.shape, x._c_contiguous or x.strides, y.shape, y._c_contiguous or y.strides, x.dtype, y.dtype,
            None if vector is None else (vector.dtype, vector._c_contiguous), precision.products,
        )  # fmt: skip
    except AttributeError:  # an array of the host, or none
        return NotImplemented
    found = _folds.get(key)
    if found is None:
        if type(x) is type(y) and x.dtype != y.dtype and knows(x.dtype) and knows(y.dtype):
            return _fold(name, raw.cast(x, y.dtype), y, matrices, shape, vector)  # a gradient in another type
        if not _accepts(x, y) or (vector is not None and not (vector.dtype == x.dtype and vector._c_contiguous)):
            return NotImplemented
        if len(_folds) > 4096:
            _folds.clear()
        found = _folds[key] = _Fold(x, y, matrices, shape(x, y), "" if vector is None else "bias")
    if found.launch is not None:
        out = new(found.shape, found.dtype)
        found.launch.run(x, y, x if vector is None else vector, out)
        return out
    return found(x, y, vector)


def _vectors(x: Any, y: Any) -> bool:
    return type(x) is type(y) and knows(x.dtype) and x.dtype == y.dtype and x.size > 0 and y.size > 0


def _accepts(x: Any, y: Any, *_: Any) -> bool:
    """Two matrices, or more dimensions, of a floating type that the library multiplies, and none of them empty."""
    return _vectors(x, y) and x.ndim > 1 and y.ndim > 1


def _of_rows(x: Any, y: Any) -> tuple[int, ...]:
    return (*x.shape[:-1], y.shape[1])


def _of_transposed(x: Any, y: Any) -> tuple[int, ...]:
    return (*x.shape[:-1], y.shape[0])


@offer("fold_mm", "cublaslt", accepts=always)
def fold_mm(x: Any, y: Any) -> Any:
    """(…, k) and (k, n) → (…, n)."""
    return _fold("mm", x, y, lambda x, y: (_rows(x), y), _of_rows)


@offer("fold_nt", "cublaslt", accepts=always)
def fold_nt(x: Any, y: Any) -> Any:
    """(…, k) and (n, k) → (…, n)."""
    return _fold("nt", x, y, lambda x, y: (_rows(x), y.T), _of_transposed)


@offer("fold_tn", "cublaslt", accepts=always)
def fold_tn(x: Any, y: Any) -> Any:
    """(…, k) and (…, n) → (k, n), summed over all leading dimensions."""
    return _fold("tn", x, y, lambda x, y: (_rows(x).T, _rows(y)), lambda x, y: (x.shape[-1], y.shape[-1]))


@offer("linear", "cublaslt", accepts=always)
def linear(x: Any, w: Any, b: Any) -> Any:
    """x @ wᵀ + b."""
    return _fold("nt", x, w, lambda x, w: (_rows(x), w.T), _of_transposed, b)


offer("mm", "cublaslt", fold_mm, accepts=always)
offer("mm_nt", "cublaslt", fold_nt, accepts=always)
offer("linear_rows", "cublaslt", linear, accepts=always)


@offer("sum_rows", "cublaslt", accepts=lambda x: knows(x.dtype) and x.ndim > 1 and x.size > 0)
def sum_rows(x: Any) -> Any:
    """The sum over all dimensions but the last: a product with ones, which sums in float32 whatever the type."""
    n = x.shape[-1]
    rows = x.size // n
    return _fold("sum", _ones(rows, x.dtype), x, lambda ones, x: (ones[:, :rows], _rows(x)), lambda ones, x: (n,))


@offer("sum_of_rows", "cublaslt", accepts=lambda x, ndim: knows(x.dtype) and x.ndim > ndim and x.size > 0)
def sum_of_rows(x: Any, ndim: int) -> Any:
    """The sum over all but the last `ndim` dimensions."""
    shape = x.shape[x.ndim - ndim :]
    return sum_rows(x.reshape(-1, math.prod(shape))).reshape(shape)


_all_ones: dict[Any, Any] = {}


def _ones(n: int, dtype: Any) -> Any:
    """At least so many of them, as a row."""
    found = _all_ones.get(dtype)
    if found is None or found.size < n:
        found = _all_ones[dtype] = cupy.ones((1, n), dtype)
    return found


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
