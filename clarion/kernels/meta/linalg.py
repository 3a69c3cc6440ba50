"""Products of matrices, decompositions, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy

from .array import alike, fresh
from .namespace import Namespace, given, rule, sample, shape_of, xp


def _common(*xs: Any) -> Any:
    return numpy.result_type(*[x.dtype if hasattr(x, "dtype") else x for x in xs])


@rule
def matmul(a: Any, b: Any, out: Any = None, dtype: Any = None, **_: Any) -> Any:
    """Products of matrices, over broadcast batches."""
    left, right = shape_of(a), shape_of(b)
    if not left or not right:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    one, two = len(left) == 1, len(right) == 1
    left, right = (1, *left) if one else left, (*right, 1) if two else right
    if left[-1] != right[-2]:
        raise ValueError(
            f"matmul: Input operand 1 has a mismatch in its core dimension 0 (size {right[-2]} is different from {left[-1]})"
        )
    ends = (() if one else (left[-2],)) + (() if two else (right[-1],))
    made = (*numpy.broadcast_shapes(left[:-2], right[:-2]), *ends)
    kind = numpy.matmul(sample(a), sample(b)).dtype if dtype is None else dtype
    return fresh(made, kind) if out is None else given(out, made)


@rule
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Products over the last dimension of one and the second last of the other."""
    left, right = shape_of(a), shape_of(b)
    if not left or not right:
        return xp.multiply(a, b)
    if left[-1] != right[-2 if len(right) > 1 else 0]:
        raise ValueError(f"shapes {left} and {right} not aligned")
    made = (*left[:-1], *right[:-2], *right[-1:]) if len(right) > 1 else left[:-1]
    return fresh(made, _common(a, b)) if out is None else given(out, made)


@rule
def vecdot(a: Any, b: Any, axis: int = -1, **_: Any) -> Any:
    """Products of vectors, over broadcast batches."""
    made = list(numpy.broadcast_shapes(shape_of(a), shape_of(b)))
    del made[axis]
    return fresh(made, _common(a, b))


@rule
def vdot(a: Any, b: Any) -> Any:
    """The product of two vectors."""
    return fresh((), _common(a, b))


@rule
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """The products of all pairs."""
    return fresh((a.size, b.size), _common(a, b))


@rule
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Products over several dimensions."""
    if isinstance(axes, int):
        axes = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    ours, theirs = ([each] if isinstance(each, int) else each for each in axes)
    ours, theirs = {i % a.ndim for i in ours}, {i % b.ndim for i in theirs}
    left = [n for i, n in enumerate(a.shape) if i not in ours]
    return fresh(left + [n for i, n in enumerate(b.shape) if i not in theirs], _common(a, b))


@rule
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **_: Any) -> Any:
    """Products and sums by labels."""
    if isinstance(operands[0], str):
        text, *arrays = operands
        inputs, arrow, output = text.replace(" ", "").partition("->")
        labels: list[Any] = inputs.split(",")
        wanted = list(output) if arrow else sorted(c for c in set(inputs) if c.isalpha() and inputs.count(c) == 1)
    else:
        arrays, labels = list(operands[0:-1:2]), list(operands[1::2])
        wanted = list(operands[-1]) if len(operands) % 2 else []
    sizes: dict[Any, int] = {}
    batches: list[tuple[int, ...]] = []
    for x, own in zip(arrays, labels, strict=False):
        names = _spelled(own, x.ndim)
        batches.append(tuple(x.shape[i] for i, name in enumerate(names) if name is Ellipsis))
        for name, n in zip(names, x.shape, strict=True):
            if name is not Ellipsis:
                sizes[name] = max(sizes.get(name, 1), n)
    batch = numpy.broadcast_shapes(*batches)
    made: list[int] = []
    for name in _spelled(wanted, len(batch) + sum(1 for c in wanted if c not in (".", Ellipsis))):
        made += () if name is Ellipsis else (sizes[name],)
    if any(c in (".", Ellipsis) for c in wanted):
        place = next(i for i, c in enumerate(wanted) if c in (".", Ellipsis))
        made[place:place] = batch
    return fresh(made, _common(*arrays)) if out is None else given(out, tuple(made))


def _spelled(labels: Any, ndim: int) -> list[Any]:
    """One label per dimension; those of the dots are `...`."""
    parts = [Ellipsis if c == "." else c for c in labels]
    named = [c for c in parts if c is not Ellipsis]
    if len(named) == len(parts):
        return named
    place = parts.index(Ellipsis)
    return [*named[:place], *[Ellipsis] * (ndim - len(named)), *named[place:]]


# numpy.linalg ----------------------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    """The type in which LAPACK computes."""
    return x.dtype if x.dtype.kind in "fc" else numpy.dtype(numpy.float64)


def _real(x: Any) -> Any:
    return numpy.empty(0, _wide(x)).real.dtype


def _linalg(function: Any) -> Any:
    return rule(function, None, xp.linalg)


@_linalg
def inv(x: Any) -> Any:
    """The inverse."""
    return fresh(x.shape, _wide(x))


@_linalg
def cholesky(x: Any, **_: Any) -> Any:
    """The triangular root."""
    return fresh(x.shape, _wide(x))


@_linalg
def pinv(x: Any, *_: Any, **__: Any) -> Any:
    """The pseudo-inverse."""
    return fresh((*x.shape[:-2], x.shape[-1], x.shape[-2]), _wide(x))


@_linalg
def solve(a: Any, b: Any) -> Any:
    """The solution of a system."""
    if len(shape_of(b)) == 1:
        return fresh((*a.shape[:-2], a.shape[-1]), _common(a, b))
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return fresh((*batch, a.shape[-1], b.shape[-1]), _common(a, b))


@_linalg
def det(x: Any) -> Any:
    """The determinant."""
    return fresh(x.shape[:-2], _wide(x))


@_linalg
def slogdet(x: Any) -> Any:
    """Sign and logarithm of the determinant."""
    return fresh(x.shape[:-2], _wide(x)), fresh(x.shape[:-2], _real(x))


@_linalg
def eigh(x: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return fresh(x.shape[:-1], _real(x)), fresh(x.shape, _wide(x))


@_linalg
def eigvalsh(x: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of a symmetric matrix."""
    return fresh(x.shape[:-1], _real(x))


@_linalg
def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True, **_: Any) -> Any:
    """Singular values and vectors."""
    *batch, m, n = x.shape
    k = min(m, n)
    values = fresh((*batch, k), _real(x))
    if not compute_uv:
        return values
    rows, columns = (m, n) if full_matrices else (k, k)
    return fresh((*batch, m, rows), _wide(x)), values, fresh((*batch, columns, n), _wide(x))


@_linalg
def qr(x: Any, mode: str = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    *batch, m, n = x.shape
    k = m if mode == "complete" else min(m, n)
    if mode == "r":
        return fresh((*batch, k, n), _wide(x))
    return fresh((*batch, m, k), _wide(x)), fresh((*batch, k, n), _wide(x))


@_linalg
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The size of vectors or matrices."""
    return xp.max(xp.abs(x), axis=axis, keepdims=keepdims, initial=0).astype(_real(x))


@_linalg
def matrix_power(x: Any, n: int) -> Any:
    """A matrix times itself."""
    return fresh(x.shape, x.dtype)


# numpy.fft -------------------------------------------------------------------------------------------


def _transformed(x: Any, axes: Any, kind: Any, sizes: dict[int, int]) -> Any:
    made = [sizes.get(i, n) for i, n in enumerate(x.shape)]
    return alike(tuple(made), kind, [x])


def _complex(x: Any) -> Any:
    return numpy.result_type(x.dtype, numpy.complex64)


def _fft(name: str) -> Any:
    def function(x: Any, s: Any = None, axes: Any = None, norm: Any = None, **_: Any) -> Any:
        dims = [d % x.ndim for d in (range(x.ndim) if axes is None else axes)]
        sizes = dict(zip(dims, s, strict=True)) if s is not None else {}
        kind = _complex(x)
        if name == "rfftn":
            last = dims[-1]
            sizes[last] = sizes.get(last, x.shape[last]) // 2 + 1
        elif name == "irfftn":
            last = dims[-1]
            sizes[last] = sizes.get(last, 2 * (x.shape[last] - 1))
            kind = numpy.empty(0, kind).real.dtype
        return _transformed(x, dims, kind, sizes)

    function.__name__ = name
    return function


for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    rule(_fft(_name), _name, xp.fft)
xp.lib = Namespace("xp.lib")
xp.lib.stride_tricks = Namespace("xp.lib.stride_tricks")
rule(lambda x, shape, strides: x.restrided(tuple(shape), tuple(strides)), "as_strided", xp.lib.stride_tricks)
