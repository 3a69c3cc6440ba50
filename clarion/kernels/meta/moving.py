"""Functions that move elements: other shapes, parts, copies."""

from __future__ import annotations

from typing import Any

import numpy

from ...errors import NoDataError
from .array import MetaArray, fresh
from .namespace import rule, shape_of, xp


def _viewing(name: str) -> Any:
    """A function of NumPy's that returns a view: its looks are those of the header's."""
    ours = getattr(numpy, name)

    def function(x: Any, *args: Any, **options: Any) -> Any:
        x = xp.asarray(x)
        return x._view(ours(x._header, *args, **options))

    function.__name__ = name
    return function


for _name in (
    "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "broadcast_to", "flip", "fliplr", "flipud", "rot90",
    "diagonal", "matrix_transpose", "rollaxis",
):  # fmt: skip
    rule(_viewing(_name), _name)


@rule
def reshape(x: Any, shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    """Another shape of as many elements."""
    return x.reshape(shape, order=order)


@rule
def ravel(x: Any, order: str = "C") -> Any:
    """One dimension."""
    return x.reshape(-1, order=order)


@rule
def broadcast_arrays(*xs: Any) -> tuple[Any, ...]:
    """All in their common shape."""
    shape = numpy.broadcast_shapes(*map(shape_of, xs))
    return tuple([xp.broadcast_to(x, shape) for x in xs])


@rule
def ndim(x: Any) -> int:
    """Number of dimensions."""
    return len(shape_of(x))


@rule
def shape(x: Any) -> tuple[int, ...]:
    """The shape."""
    return shape_of(x)


@rule
def size(x: Any, axis: int | None = None) -> int:
    """Number of elements."""
    return int(numpy.prod(shape_of(x))) if axis is None else shape_of(x)[axis]


def _joined_kind(xs: list[Any], dtype: Any) -> Any:
    return numpy.result_type(*[x.dtype for x in xs]) if dtype is None else dtype


@rule
def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, dtype: Any = None, **_: Any) -> Any:
    """One after the other along a dimension."""
    xs = [xp.asarray(x) for x in arrays]
    if axis is None:
        xs, axis = [x.reshape(-1) for x in xs], 0
    first, axis = xs[0].shape, axis % xs[0].ndim
    for x in xs:
        if x.ndim != len(first) or any(
            a != b for i, (a, b) in enumerate(zip(x.shape, first, strict=True)) if i != axis
        ):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    made = (*first[:axis], sum(x.shape[axis] for x in xs), *first[axis + 1 :])
    return fresh(made, _joined_kind(xs, dtype)) if out is None else out


@rule
def stack(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None, **_: Any) -> Any:
    """One after the other along a new dimension."""
    xs = [xp.asarray(x) for x in arrays]
    if any(x.shape != xs[0].shape for x in xs):
        raise ValueError("all input arrays must have the same shape")
    made = list(xs[0].shape)
    made.insert(axis % (len(made) + 1), len(xs))
    return fresh(made, _joined_kind(xs, dtype)) if out is None else out


@rule
def split(x: Any, parts: Any, axis: int = 0) -> list[Any]:
    """Parts along a dimension."""
    return [x._view(part) for part in numpy.split(x._header, parts, axis)]


rule(split, "array_split")


@rule
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if isinstance(repeats, MetaArray):
        raise NoDataError("cannot repeat_interleave a meta tensor without output_size")
    counts = numpy.broadcast_to(repeats, (x.shape[axis],))
    made = list(x.shape)
    made[axis] = int(counts.sum()) if numpy.ndim(repeats) else int(repeats) * made[axis]
    return fresh(made, x.dtype)


@rule
def tile(x: Any, reps: Any) -> Any:
    """The whole several times."""
    counts = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(len(counts), x.ndim)
    shape, counts = (1,) * (ndim - x.ndim) + x.shape, (1,) * (ndim - len(counts)) + counts
    return fresh([n * c for n, c in zip(shape, counts, strict=True)], x.dtype)


@rule
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved round."""
    return fresh(x.shape, x.dtype)


@rule
def pad(x: Any, widths: Any, mode: str = "constant", **_: Any) -> Any:
    """More at the ends."""
    pairs = numpy.broadcast_to(numpy.asarray(widths), (x.ndim, 2))
    return fresh([n + int(a) + int(b) for n, (a, b) in zip(x.shape, pairs, strict=True)], x.dtype)


@rule
def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle."""
    return fresh(x.shape, x.dtype)


rule(tril, "triu")


@rule
def diag(x: Any, k: int = 0) -> Any:
    """The diagonal, or the matrix of one."""
    if x.ndim == 2:
        return x.diagonal(k)
    n = x.shape[0] + abs(k)
    return fresh((n, n), x.dtype)


@rule
def take(x: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements along a dimension by their places."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis %= x.ndim
    made = fresh((*x.shape[:axis], *shape_of(indices), *x.shape[axis + 1 :]), x.dtype)
    return made if out is None else out


@rule
def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Any:
    """Elements along a dimension by the places in an array of as many dimensions."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis %= x.ndim
    rest = [n if i != axis else 1 for i, n in enumerate(x.shape)]
    own = [n if i != axis else 1 for i, n in enumerate(shape_of(indices))]
    made = list(numpy.broadcast_shapes(tuple(rest), tuple(own)))
    made[axis] = shape_of(indices)[axis]
    return fresh(made, x.dtype)


@rule
def delete(x: Any, index: int, axis: int) -> Any:
    """Without one place of a dimension."""
    return fresh([n - (i == axis % x.ndim) for i, n in enumerate(x.shape)], x.dtype)
