"""Functions that go element by element, and writes."""

from __future__ import annotations

from typing import Any

import numpy

from .array import alike, fresh
from .namespace import given, reduced, rule, sample, shape_of, with_dimensions


class Ufunc:
    """A function of NumPy's that goes element by element, and its reductions."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc
        self.nin, self.nout, self.__name__ = ufunc.nin, ufunc.nout, ufunc.__name__

    def _kinds(self, args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
        with numpy.errstate(all="ignore"):
            found = self._ufunc(*map(sample, args), **({} if dtype is None else {"dtype": dtype}))
        return tuple(each.dtype for each in (found if self.nout > 1 else (found,)))

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, **_: Any) -> Any:
        if len(args) > self.nin:
            args, out = args[: self.nin], args[self.nin]
        shape = numpy.broadcast_shapes(*map(shape_of, args))
        if out is not None:
            return given(out, shape)
        made = tuple([alike(shape, kind, with_dimensions(args)) for kind in self._kinds(args, dtype)])
        return made if self.nout > 1 else made[0]

    def reduce(
        self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
    ) -> Any:
        """Over dimensions, the first if none is named."""
        kind = self._ufunc.reduce(sample(x), dtype=dtype).dtype
        named = self._ufunc.__name__ if self._ufunc.identity is None and "initial" not in options else None
        found = reduced(x, axis, keepdims, kind, named)
        return found if out is None else given(out, found.shape)

    def accumulate(self, x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Along one dimension."""
        made = alike(x.shape, self._ufunc.accumulate(sample(x), dtype=dtype).dtype, [x])
        return made if out is None else given(out, made.shape)

    def reduceat(self, x: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Over runs of one dimension."""
        shape = list(x.shape)
        shape[axis] = shape_of(indices)[0]
        return fresh(shape, self._ufunc.reduce(sample(x), dtype=dtype).dtype)

    def outer(self, x: Any, y: Any, **_: Any) -> Any:
        """Of all pairs."""
        return fresh((*shape_of(x), *shape_of(y)), self._kinds((x, y), None)[0])

    def at(self, x: Any, indices: Any, *_: Any) -> None:
        """Nothing: there is nothing to write to."""


for _name in dir(numpy):
    if isinstance(getattr(numpy, _name), numpy.ufunc) and getattr(numpy, _name).signature is None:
        rule(Ufunc(getattr(numpy, _name)), _name)


def _elementwise(name: str) -> Any:
    """A function of NumPy's that goes element by element and is no ufunc."""
    ours = getattr(numpy, name)

    def function(*args: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        shape = numpy.broadcast_shapes(*map(shape_of, args))
        if out is not None:
            return given(out, shape)
        with numpy.errstate(all="ignore"):
            kind = numpy.asarray(ours(*map(sample, args), **options)).dtype
        return alike(shape, kind, with_dimensions(args))

    function.__name__ = name
    return function


for _name in ("where", "clip", "nan_to_num", "angle", "round", "around", "real", "imag", "i0", "sinc", "isclose"):
    rule(_elementwise(_name), _name)


@rule
def isin(x: Any, values: Any, **_: Any) -> Any:
    """Which elements are among the values."""
    return alike(x.shape, numpy.dtype(bool), [x])


@rule
def copyto(target: Any, values: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Nothing is written; the shapes must fit."""
    if numpy.broadcast_shapes(target.shape, shape_of(values)) != target.shape:
        raise ValueError(f"could not broadcast input array from shape {shape_of(values)} into shape {target.shape}")


@rule
def putmask(target: Any, mask: Any, values: Any) -> None:
    """Nothing: there is nothing to write to."""


@rule
def put_along_axis(target: Any, indices: Any, values: Any, axis: Any = None) -> None:
    """Nothing: there is nothing to write to."""
