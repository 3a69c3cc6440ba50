"""Reductions and operators of batched arrays."""

from __future__ import annotations

from typing import Any

import numpy

from .array import Batched, broadcast, one_by_one, over, wrapped


def _reduction(name: str, single: bool = False) -> Any:
    def reduce(
        self: Batched, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        if dtype is not None:
            more["dtype"] = dtype
        function = getattr(self.data, name)
        if not self.varies:
            return wrapped(function(axis=axis, keepdims=keepdims, **more), self.level, False)
        if not self.ndim:
            return (
                self.like(function(axis=(), keepdims=keepdims, **more))
                if not single
                else one_by_one(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims, **more), (self,))
            )
        if axis is None and single:
            found = getattr(self.data.reshape(self.level.size, -1), name)(axis=1)
            return self.like(found.reshape((self.level.size,) + (1,) * self.ndim) if keepdims else found)
        axes = range(self.ndim) if axis is None else (axis,) if isinstance(axis, (int, numpy.integer)) else axis
        places = tuple([d % self.ndim + 1 for d in axes])
        return self.like(function(axis=places[0] if single else places, keepdims=keepdims, **more))

    return reduce


for _name in ("sum", "mean", "max", "min", "prod", "any", "all"):
    setattr(Batched, _name, _reduction(_name))
for _name in ("argmax", "argmin"):
    setattr(Batched, _name, _reduction(_name, True))


def _operator(ufunc: Any) -> tuple[Any, Any, Any]:
    """`a + b`, `b + a` and `a += b`."""

    def inplace(self: Batched, other: Any) -> Batched:
        over(self, broadcast(ufunc, (self, other)))
        return self

    return (
        lambda self, other: broadcast(ufunc, (self, other)),
        lambda self, other: broadcast(ufunc, (other, self)),
        inplace,
    )


for _name, _ufunc in {
    "add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "truediv": numpy.true_divide,
    "floordiv": numpy.floor_divide, "mod": numpy.remainder, "pow": numpy.power, "and": numpy.bitwise_and,
    "or": numpy.bitwise_or, "xor": numpy.bitwise_xor, "lshift": numpy.left_shift, "rshift": numpy.right_shift,
}.items():  # fmt: skip
    for _form, _function in zip(("", "r", "i"), _operator(_ufunc), strict=True):
        setattr(Batched, f"__{_form}{_name}__", _function)
for _name, _ufunc in {
    "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal, "eq": numpy.equal,
    "ne": numpy.not_equal,
}.items():  # fmt: skip
    setattr(Batched, f"__{_name}__", _operator(_ufunc)[0])
for _name, _ufunc in {
    "neg": numpy.negative, "pos": numpy.positive, "abs": numpy.absolute, "invert": numpy.invert,
}.items():  # fmt: skip
    setattr(Batched, f"__{_name}__", lambda self, ufunc=_ufunc: self.like(ufunc(self.data)))
