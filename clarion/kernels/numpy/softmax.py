"""Softmax and what is made of it: sums by products with ones, and no search for the largest element where none is needed."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..blocks import SMALL, largest, ones, smallest
from ..portable.activations.softmax import logsumexp
from ..portable.losses.pointwise import class_loss, softmax_blocks
from ..quiet import quietly
from ..registry import offer

# Below this no sum of exponentials overflows, and a row whose sum is above ENOUGH loses nothing to
# underflow: the largest element of each row need not be found, which is the slow half of a softmax.
SAFE, ENOUGH = 60.0, 1e-5


def _sum(e: Any, dim: int) -> Any:
    """Sums along a dimension, kept. Rows by a dot product with ones: three times faster than NumPy's sum.

    Not by a large matrix product: BLAS would start threads for it, and wait for them on a busy machine.
    """
    if dim == e.ndim - 1 and e.flags.c_contiguous:
        row = ones(e.shape[-1], e.dtype.char)
        # (A product so small is done before BLAS thinks of threads.)
        return (e.dot(row) if e.size <= SMALL else numpy.vecdot(e, row))[..., None]
    before, n, after = e.shape[:dim], e.shape[dim], e.shape[dim + 1 :]
    if n * math.prod(after) <= SMALL and e.flags.c_contiguous and e.dtype.char in "fd":
        rows = e.reshape(math.prod(before), n, math.prod(after))
        return numpy.matmul(ones(n, e.dtype.char)[None], rows).reshape(*before, 1, *after)
    return numpy.add.reduce(e, axis=dim, keepdims=True)


def exponentials(x: Any, dim: int) -> tuple[Any, Any, Any]:
    """exp(x - shift), its sums, and the shift (None where none was needed)."""
    e = numpy.empty(x.shape, x.dtype)
    if largest(x) <= SAFE:
        numpy.exp(x, e)
        s = _sum(e, dim)
        if smallest(s) > ENOUGH:
            return e, s, None
    top = numpy.maximum.reduce(x, axis=dim, keepdims=True)
    numpy.subtract(x, top, out=e)
    numpy.exp(e, out=e)
    return e, _sum(e, dim), top


@offer("softmax", "numpy")
@quietly
def _softmax(x: Any, dim: int) -> Any:
    if x.size == 0 or x.ndim == 0:
        return numpy.ones_like(x) if x.ndim else numpy.exp(x - x)
    e, s, _ = exponentials(x, dim)
    e /= s
    return e


@offer("logsumexp", "numpy")
@quietly
def _logsumexp(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if len(dim) == 1 and x.size and x.ndim and x.dtype.char in "fd" and largest(x) <= SAFE:
        s = _sum(numpy.exp(x), dim[0])
        if smallest(s) > ENOUGH:
            out = numpy.log(s, s)
            return out if keepdim else out.squeeze(dim)
    return logsumexp(numpy, x, dim, keepdim)


@offer("softmax_backward", "numpy")
def _softmax_backward(g: Any, out: Any, dim: int) -> Any:
    if g.ndim == 0:
        return (g - g * out) * out
    if dim == g.ndim - 1:
        s = numpy.vecdot(g, out)[..., None]
    else:
        s = _sum(g * out, dim)
    r = numpy.subtract(g, s, out=numpy.empty(g.shape, g.dtype))
    r *= out
    return r


@offer("log_softmax", "numpy")
@quietly
def _log_softmax(x: Any, dim: int) -> Any:
    if x.size == 0 or x.ndim == 0:
        return x - x
    e, s, top = exponentials(x, dim)
    s = numpy.log(s)
    if top is not None:
        numpy.subtract(x, top, out=e)
        e -= s
        return e
    return numpy.subtract(x, s, out=e)


@offer("log_softmax_backward", "numpy")
def _log_softmax_backward(g: Any, out: Any, dim: int) -> Any:
    if g.ndim == 0:
        return g - g
    r = numpy.exp(out, out=numpy.empty(out.shape, out.dtype))
    r *= _sum(g, dim)
    return numpy.subtract(g, r, out=r)


def _softmax_and_log(xp: Any, x: Any, dim: int) -> Any:
    """The softmax of the scores, and the logarithm of what it was divided by."""
    if x.size > SMALL:
        return softmax_blocks(xp, x, dim)
    e, s, top = exponentials(x, dim)
    e /= s
    numpy.log(s, s)
    if top is not None:
        s += top
    return e, s.squeeze(dim)


@offer("cross_entropy", "numpy")
@offer("cross_entropy2d", "numpy")
@quietly
def _cross_entropy(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return class_loss(numpy, _softmax_and_log, x, target, weight, reduction, ignore_index)
