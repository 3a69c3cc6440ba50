"""Matrix products. Transposes are views handed to BLAS, never copies.

`fold_*` treat all leading dimensions of `x` as rows of one matrix: one BLAS call whatever the number of dimensions.
`matmul*` broadcast their batches. The three of each kind are each other's gradients.
"""

from __future__ import annotations

from typing import Any

from ...layout import as_laid_out, rows
from ...registry import kernel
from ..reductions.sums import add_up


def _rows(x: Any) -> Any:
    return x if x.ndim == 2 else x.reshape(-1, x.shape[-1]) if x.size else x.reshape(_count(x), x.shape[-1])


def _count(x: Any) -> int:
    n = 1
    for size in x.shape[:-1]:
        n *= size
    return n


@kernel("fold_mm")
def fold_mm(xp: Any, x: Any, y: Any) -> Any:
    """(…, k) and (k, n) → (…, n)."""
    return x.dot(y) if x.ndim == 2 else _rows(x).dot(y).reshape(*x.shape[:-1], y.shape[1])


@kernel("fold_nt")
def fold_nt(xp: Any, x: Any, y: Any) -> Any:
    """(…, k) and (n, k) → (…, n)."""
    return x.dot(y.T) if x.ndim == 2 else _rows(x).dot(y.T).reshape(*x.shape[:-1], y.shape[0])


@kernel("fold_tn")
def fold_tn(xp: Any, x: Any, y: Any) -> Any:
    """(…, k) and (…, n) → (k, n), summed over all leading dimensions."""
    return x.T.dot(y) if x.ndim == 2 else _rows(x).T.dot(_rows(y))


@kernel("linear")
def linear(xp: Any, x: Any, w: Any, b: Any) -> Any:
    out = x.dot(w.T) if x.ndim == 2 else _rows(x).dot(w.T)
    if b is not None:
        out += b
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], w.shape[0])


@kernel("sum_rows")
def sum_rows(xp: Any, x: Any) -> Any:
    """The sum over all dimensions but the last."""
    return add_up(xp, _rows(x), (0,), False)


@kernel("linear_gradients")
def linear_gradients(xp: Any, g: Any, x: Any, w: Any, needs: tuple[bool, ...], wide: tuple[bool, ...]) -> Any:
    """Of `linear`: those of input, weight and bias that are needed. `wide`: keep that of weight or bias in float32."""
    gw, gb = fold_tn(xp, g, x) if needs[1] else None, sum_rows(xp, g) if needs[2] else None
    return (
        fold_mm(xp, g, w) if needs[0] else None,
        gw.astype(xp.float32) if wide[0] else gw,
        gb.astype(xp.float32) if wide[1] else gb,
    )


def blas_ready(xp: Any, x: Any) -> Any:
    """numpy.matmul leaves BLAS for arrays whose matrices are not contiguous one way or the other."""
    step, size = x.strides[-2:], x.itemsize
    if (step[1] == size and step[0] >= size) or (step[0] == size and step[1] >= size):
        return x
    return xp.ascontiguousarray(x)


def _matmul(xp: Any, x: Any, y: Any) -> Any:
    out = xp.matmul(blas_ready(xp, x), blas_ready(xp, y))
    return out if out.ndim < 4 else rows(out)  # NumPy lets several batch dimensions lie as those of its inputs do


@kernel("matmul")
def matmul(xp: Any, x: Any, y: Any) -> Any:
    return _matmul(xp, x, y)


@kernel("matmul_into")
def matmul_into(xp: Any, x: Any, y: Any, out: Any) -> Any:
    """The same into memory that is there."""
    return xp.matmul(x, y, out)


@kernel("matmul_nt")
def matmul_nt(xp: Any, x: Any, y: Any) -> Any:
    return _matmul(xp, x, y.swapaxes(-1, -2))


@kernel("matmul_tn")
def matmul_tn(xp: Any, x: Any, y: Any) -> Any:
    return _matmul(xp, x.swapaxes(-1, -2), y)


@kernel("mv")
def mv(xp: Any, x: Any, y: Any) -> Any:
    return x.dot(y)


@kernel("dot")
def dot(xp: Any, x: Any, y: Any) -> Any:
    return x.dot(y)


@kernel("vdot")
def vdot(xp: Any, x: Any, y: Any) -> Any:
    return xp.vdot(x, y)


@kernel("outer")
def outer(xp: Any, x: Any, y: Any) -> Any:
    return x[:, None] * y


# Sums of a matrix and a product --------------------------------------------------------------------


def _weighted(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * product, the latter's memory reused; a beta of 0 ignores even NaN."""
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (x if beta == 1 else x * beta)


@kernel("addmm")
def addmm(xp: Any, x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return _weighted(x, mat1.dot(mat2), beta, alpha)


@kernel("addmv")
def addmv(xp: Any, x: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    return _weighted(x, mat.dot(vec), beta, alpha)


@kernel("addr")
@as_laid_out
def addr(xp: Any, x: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    return _weighted(x, vec1[:, None] * vec2, beta, alpha)


@kernel("baddbmm")
def baddbmm(xp: Any, x: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _weighted(x, matmul(xp, batch1, batch2), beta, alpha)


@kernel("addbmm")
def addbmm(xp: Any, x: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    b, n, k = batch1.shape
    joined = batch1.transpose(1, 0, 2).reshape(n, b * k)  # the sum over batches is one product
    return _weighted(x, joined.dot(batch2.reshape(b * k, batch2.shape[2])), beta, alpha)


# The same computations under the names PyTorch records ------------------------------------------------

kernel("mm")(fold_mm)
kernel("mm_nt")(fold_nt)
kernel("linear_rows")(linear)
kernel("bmm")(matmul)


@kernel("vecmat")
def vecmat(xp: Any, x: Any, y: Any) -> Any:
    return x.dot(y)
