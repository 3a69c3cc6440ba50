"""The array library of batched arrays: NumPy's functions on one sample, run for all of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .array import Batched, aligned, broadcast, deepest, one_by_one, over, spread, varying, wrapped
from .levels import open_levels, refuse_dynamic, refuse_rule


class Namespace:
    """`xp`: what makes arrays of nothing makes one for each sample of the innermost open level."""

    ndarray = Batched
    any_device = True  # arrays of the host are the same for all samples

    def __getattr__(self, name: str) -> Any:
        found = getattr(numpy, name)
        if isinstance(found, numpy.ufunc):
            made: Any = _Ufunc(found)
        elif isinstance(found, type) or not callable(found):
            return found
        else:
            made = functools.partial(_any, found)
        setattr(self, name, made)
        return made

    # What makes arrays --------------------------------------------------------------------------------

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        """Zeros for each sample."""
        return _made(numpy.zeros, shape, dtype)

    def ones(self, shape: Any, dtype: Any = float) -> Any:
        """Ones for each sample."""
        return _made(numpy.ones, shape, dtype)

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        """Room for each sample."""
        return _made(numpy.empty, shape, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        """One value everywhere, for each sample."""
        return _made(lambda whole, kind: numpy.full(whole, value, kind), shape, dtype)

    def zeros_like(self, x: Any, dtype: Any = None) -> Any:
        """Zeros in the shape of an array."""
        return _like(x, dtype, 0)

    def ones_like(self, x: Any, dtype: Any = None) -> Any:
        """Ones in the shape of an array."""
        return _like(x, dtype, 1)

    def empty_like(self, x: Any, dtype: Any = None, **_: Any) -> Any:
        """Room in the shape of an array."""
        return _like(x, dtype, 0)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Any:
        """One value in the shape of an array."""
        return _like(x, dtype, value)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """An array as it is, or as another type."""
        if not isinstance(x, Batched):
            return numpy.asarray(x, dtype)
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)

    def array(self, x: Any, dtype: Any = None, order: str = "K", copy: bool = True, **_: Any) -> Any:
        """A copy."""
        if not isinstance(x, Batched):
            return numpy.array(x, dtype, order=order, copy=copy)  # type: ignore[call-overload]
        return x.like(numpy_of(x.data).array(x.data, dtype or x.dtype, order=order, copy=copy))

    def ascontiguousarray(self, x: Any, dtype: Any = None) -> Any:
        """In rows."""
        x = self.asarray(x, dtype)
        return x if x.flags.c_contiguous else x.copy("C")

    # What moves them --------------------------------------------------------------------------------------

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        """The same values in a larger shape."""
        if not isinstance(x, Batched):
            return numpy.broadcast_to(x, shape)
        if not x.varies:
            return x.like(numpy_of(x.data).broadcast_to(x.data, shape))
        data = aligned(x, x.level, len(shape))
        return x.like(numpy_of(data).broadcast_to(data, (x.level.size, *shape)))

    def broadcast_arrays(self, *arrays: Any) -> Any:
        """All in their common shape."""
        shape = numpy.broadcast_shapes(*[x.shape for x in arrays])
        return tuple([self.broadcast_to(x, shape) for x in arrays])

    def reshape(self, x: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
        """Another shape."""
        return x.reshape(shape, order=order, copy=copy)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        """Dimensions in another order."""
        return x.transpose() if axes is None else x.transpose(axes)

    def swapaxes(self, x: Any, a: int, b: int) -> Any:
        """Two dimensions exchanged."""
        return x.swapaxes(a, b)

    def moveaxis(self, x: Any, source: Any, place: Any) -> Any:
        """Dimensions elsewhere."""
        if not isinstance(x, Batched):
            return numpy.moveaxis(x, source, place)
        if not x.varies:
            return x.like(numpy_of(x.data).moveaxis(x.data, source, place))
        one = isinstance(source, int)
        source, place = ((source,), (place,)) if one else (source, place)
        rest = [d for d in range(x.ndim) if d not in [s % x.ndim for s in source]]
        for d, s in sorted(zip([p % x.ndim for p in place], source, strict=True)):
            rest.insert(d, s % x.ndim)
        return x.transpose(rest)

    def expand_dims(self, x: Any, axis: int) -> Any:
        """A dimension of size 1 more."""
        place = axis % (x.ndim + 1)
        return x.reshape((*x.shape[:place], 1, *x.shape[place:]))

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        """Without dimensions of size 1."""
        return x.squeeze(axis)

    def concatenate(self, arrays: Any, axis: int = 0) -> Any:
        """One after the other."""
        return _side_by_side("concatenate", list(arrays), axis, 0)

    def stack(self, arrays: Any, axis: int = 0) -> Any:
        """Side by side along a new dimension."""
        return _side_by_side("stack", list(arrays), axis, 1)

    def copyto(self, target: Any, value: Any, casting: str = "same_kind", where: Any = True) -> None:
        """Write values."""
        if where is not True:
            value = self.where(where, value, target)
        over(target, value)

    def where(self, condition: Any, *both: Any) -> Any:
        """Of two, by a condition."""
        return broadcast(numpy.where, (condition, *both)) if both else one_by_one(numpy.where, (condition,))

    def matmul(self, x: Any, y: Any, out: Any = None) -> Any:
        """Products of matrices."""
        from .products import product_of_batches

        if not isinstance(x, Batched) and not isinstance(y, Batched):
            return numpy.matmul(x, y)
        return product_of_batches(x, y)

    def nonzero(self, x: Any) -> Any:
        """Where a shape would depend on values."""
        if any(varying(x, level) for level in open_levels.levels):
            refuse_dynamic("aten::where")
        return one_by_one(numpy.nonzero, (x,))

    def array_equal(self, x: Any, y: Any) -> bool:
        """Where one answer would have to do for all samples."""
        refuse_rule("equal")
        return False

    def may_share_memory(self, x: Any, y: Any) -> bool:
        """Could they lie in the same memory?"""
        x, y = (each.data if isinstance(each, Batched) else each for each in (x, y))
        if isinstance(x, Batched) or isinstance(y, Batched):
            return self.may_share_memory(x, y)
        return bool(numpy.may_share_memory(x, y))

    shares_memory = may_share_memory


def _reducing(name: str) -> Any:
    def reduce(self: Namespace, x: Any, axis: Any = None, **options: Any) -> Any:
        return getattr(x, name)(axis=axis, **options)

    return reduce


for _name in ("sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin"):
    setattr(Namespace, _name, _reducing(_name))


class _Ufunc:
    """A function of elements: `xp.add(a, b)`, `xp.add.reduce(x, axis)`."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Any:
        if not any(isinstance(each, Batched) for each in args):
            return self.own(*args, **options) if out is None else over(out, self.own(*args, **options))
        result = broadcast(self.own, args, options)
        if out is None:
            return result
        over(out, result)
        return out

    def reduce(
        self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        """Along dimensions."""
        name = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}.get(self.own.__name__)
        if name is None or not isinstance(x, Batched) or more:
            return one_by_one(self.own.reduce, (x, axis), {"dtype": dtype, "keepdims": keepdims, **more})
        return getattr(x, name)(axis=axis, keepdims=keepdims, **({} if dtype is None else {"dtype": dtype}))

    def __getattr__(self, name: str) -> Any:
        return functools.partial(_any, getattr(self.own, name))


def _any(function: Any, *args: Any, **options: Any) -> Any:
    try:
        deepest((*args, *options.values()))
    except AssertionError:
        return function(*args, **options)
    return one_by_one(function, args, options)


def numpy_of(data: Any) -> Any:
    """The library that data is of."""
    return xp if isinstance(data, Batched) else numpy


def _made(make: Any, shape: Any, dtype: Any) -> Any:
    shape = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
    levels = open_levels.levels
    data = make((*[level.size for level in levels], *shape), numpy.dtype(dtype) if dtype is not None else None)
    for level in levels:
        data = Batched(data, level, True)
    return data


def _like(x: Any, dtype: Any, value: Any) -> Any:
    if isinstance(x, Batched):
        return x.like(_like(x.data, dtype, value))
    return numpy.full_like(x, value, dtype)


def _side_by_side(name: str, arrays: list[Any], axis: int, more: int) -> Any:
    if not any(isinstance(each, Batched) for each in arrays):
        return getattr(numpy, name)(arrays, axis=axis)
    level = deepest(arrays)
    axis %= arrays[0].ndim + more
    if not any(varying(each, level) for each in arrays):
        data = [each.data if isinstance(each, Batched) and each.level is level else each for each in arrays]
        return wrapped(getattr(xp, name)(data, axis), level, False)
    return Batched(getattr(xp, name)([spread(each, level) for each in arrays], axis + 1), level, True)


xp = Namespace()
