"""The array library of arrays without memory: NumPy's names, whose results have shape, strides and type only.

What kernels ask of `xp` is registered here by `rule`, in this folder's files. A name that is missing is refused by name,
so that no kernel falls back on NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from .array import MetaArray, alike

# What is the same for all arrays: types, constants, questions about shapes and types.
_SHARED = frozenset(
    """
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 longdouble intp
    inf nan pi e newaxis dtype iinfo finfo result_type promote_types broadcast_shapes errstate generic integer floating
    number complexfloating isscalar issubdtype can_cast inexact
    """.split()  # noqa: SIM905
)


class Namespace:
    """Functions by NumPy's names."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name in _SHARED and not name.startswith("_"):
            return getattr(numpy, name)
        raise AttributeError(
            f"arrays without memory have no rule for {self.__name__}.{name} yet (clarion/kernels/meta/namespace.py)"
        )


xp = Namespace("xp")
xp.linalg, xp.fft = Namespace("xp.linalg"), Namespace("xp.fft")
xp.ndarray = MetaArray
xp.all_at = True  # every function has `at`


def rule(function: Callable[..., Any], name: str | None = None, space: Any = xp) -> Callable[..., Any]:
    """Register a function by NumPy's name for it, which is its own unless another is given."""
    setattr(space, name or function.__name__, function)
    return function


# What rules have in common ---------------------------------------------------------------------------


def sample(value: Any) -> Any:
    """One element that stands for an array of its type; numbers stand for themselves."""
    return numpy.ones(1, value.dtype) if isinstance(value, (MetaArray, numpy.ndarray)) else value


def with_dimensions(values: Iterable[Any]) -> list[Any]:
    """The arrays among the values that have dimensions."""
    return [v for v in values if isinstance(v, (MetaArray, numpy.ndarray)) and v.ndim]


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array, a sequence or a number."""
    return value.shape if isinstance(value, MetaArray) else numpy.shape(value)  # type: ignore[no-any-return]


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions counted from the front; None means all."""
    if axis is None:
        return tuple(range(ndim))
    if not ndim and axis in (0, -1):  # NumPy, too, takes a number for a vector of one here
        return ()
    given = (axis,) if not isinstance(axis, (tuple, list)) else axis
    for each in given:
        if not -ndim <= each < ndim:
            raise numpy.exceptions.AxisError(each, ndim)
    return tuple(sorted({operator.index(each) % ndim for each in given}))


def reduced(x: Any, axis: Any, keepdims: bool, dtype: Any, empty: str | None = None) -> MetaArray:
    """The result of a reduction: laid out as its input without the dimensions that are gone."""
    axes = axes_of(axis, x.ndim)
    kept = [n for i, n in enumerate(x.shape) if i not in axes]
    if empty is not None and 0 not in kept and 0 in x.shape:
        raise ValueError(f"zero-size array to reduction operation {empty} which has no identity")
    whole = alike(tuple([1 if i in axes else n for i, n in enumerate(x.shape)]), dtype, [x])
    return whole if keepdims else MetaArray(whole._header.reshape(kept))


def given(out: Any, shape: tuple[int, ...]) -> Any:
    """`out`, which must have the shape of the result."""
    out = out[0] if isinstance(out, tuple) else out
    if numpy.broadcast_shapes(out.shape, shape) != out.shape:
        raise ValueError(f"operands could not be broadcast together: a result of shape {shape} into {out.shape}")
    return out
