"""`xp` for lowered arrays, and how a recorded step runs on them."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels import registry
from ...kernels.trace.graph import FUNCTIONS, Untraceable
from ...kernels.updates import RULES
from ..arrays import counted, norm_as_array, updated
from ..recording import Step
from .classes import class_loss, into_targets, scores_gradient
from .lowering import BOOL, F32, F64, Builder, Lowered


class Space:
    """`xp` for lowered arrays."""

    ndarray = Lowered
    float32, float64, bool_, bool = np.float32, np.float64, np.bool_, np.bool_
    inf, nan, pi, newaxis = math.inf, math.nan, math.pi, None
    result_type, dtype, finfo = staticmethod(np.result_type), np.dtype, np.finfo

    def __init__(self, builder: Builder) -> None:
        self._b = builder

    def __getattr__(self, name: str) -> Any:
        word = _NAMES.get(name)
        if word is None:
            raise Untraceable(f"the array library's {name}")
        return Function(self._b, word)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        arrays = [v for v in (yes, no) if isinstance(v, (Lowered, np.generic, np.ndarray))]
        if not isinstance(condition, Lowered) or condition.dtype != BOOL or not arrays:
            raise Untraceable("a condition that is no mask")
        common = np.result_type(*[v.dtype for v in arrays])
        if common not in (F32, F64):
            raise Untraceable(f"where of {common}")
        return self._b.each("where", (condition, yes, no), common, common)

    def matmul(self, x: Any, y: Any) -> Any:
        return self._b.product(x, y)

    def dot(self, x: Any, y: Any) -> Any:
        return self._b.dot(x, y)

    def vecdot(self, x: Any, y: Any) -> Any:
        return self._b.reduce("sum", x * y, -1)

    def einsum(self, text: str, x: Any, y: Any) -> Any:
        if text != "...ij,...ij->...i":
            raise Untraceable("an einsum")
        return self._b.reduce("sum", x * y, -1)

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._b.reduce("sum", x, axis, keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._b.reduce("max", x, axis, keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._b.reduce("min", x, axis, keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return x.mean(axis, keepdims=keepdims)

    def clip(self, x: Any, low: Any = None, high: Any = None, out: Any = None) -> Any:
        found = x.clip(low, high)
        return found if out is None else out.assign(found)

    def square(self, x: Any, out: Any = None) -> Any:
        return self._b.arithmetic("mul", x, x, out=out)

    def reciprocal(self, x: Any) -> Any:
        return 1 / x

    def power(self, x: Any, y: Any) -> Any:
        return self._b.power(x, y)

    def sign(self, x: Any) -> Any:
        one = self._b.arithmetic("copysign", x.dtype.type(1), x)
        return self.where(x == 0, x.dtype.type(0), self.where(x != x, x, one))

    def isnan(self, x: Any) -> Any:
        return x != x

    def isinf(self, x: Any) -> Any:
        return abs(x) == math.inf

    def isfinite(self, x: Any) -> Any:
        return abs(x) < math.inf

    def copy(self, x: Any) -> Any:
        return x.copy()

    def ascontiguousarray(self, x: Any) -> Any:
        return x if x.view().dense else x.copy()

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if not isinstance(x, Lowered):
            raise Untraceable("an array made of something else")
        return x if dtype is None else x.astype(dtype, copy=False)

    array = asarray

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        spread = x.view().spread(tuple(shape))
        return x._seen(spread.shape, spread.strides)

    def swapaxes(self, x: Any, a: int, b: int) -> Any:
        return x.swapaxes(a, b)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return x.transpose(axes)

    def reshape(self, x: Any, shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        found = x.reshape(shape, order=order)
        if copy is False and found.storage is not x.storage:
            raise Untraceable("a view that is none")
        return found

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return x.squeeze(axis)

    def copyto(self, target: Any, values: Any, casting: Any = None) -> None:
        target.assign(values)

    def full(self, shape: Any, value: Any, dtype: Any = F64) -> Any:
        made = self._b.new((shape,) if isinstance(shape, int) else tuple(shape), dtype)
        return made.assign(value)

    def zeros(self, shape: Any, dtype: Any = F64) -> Any:
        return self.full(shape, 0.0, dtype)

    def ones(self, shape: Any, dtype: Any = F64) -> Any:
        return self.full(shape, 1.0, dtype)

    def zeros_like(self, x: Any, dtype: Any = None) -> Any:
        return self.full(x.shape, 0.0, dtype or x.dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> Any:
        return self.full(x.shape, 1.0, dtype or x.dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Any:
        return self.full(x.shape, value, dtype or x.dtype)

    def empty(self, shape: Any, dtype: Any = F64) -> Any:
        return self._b.new((shape,) if isinstance(shape, int) else tuple(shape), dtype)

    def empty_like(self, x: Any, dtype: Any = None, shape: Any = None) -> Any:
        return self._b.new(x.shape if shape is None else shape, dtype or x.dtype)


_NAMES = {
    **{name: name for name in FUNCTIONS},
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg",
    "absolute": "abs", "fabs": "abs", "minimum": "minimum", "maximum": "maximum", "copysign": "copysign", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "and",
    "logical_or": "or", "logical_xor": "xor", "logical_not": "not", "bitwise_and": "and", "bitwise_or": "or",
}  # fmt: skip


class Function:
    """One of NumPy's elementwise functions, with its reduction."""

    def __init__(self, builder: Builder, word: str) -> None:
        self.builder, self.word = builder, word

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Any:
        wanted = 1 if self.word in FUNCTIONS or self.word == "not" else 2
        if len(args) > wanted:
            args, out = args[:wanted], args[wanted]
        if options:
            raise Untraceable(f"options of {self.word}")
        return self.builder.arithmetic(self.word, *args, out=out)

    def reduce(self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        words = {"add": "sum", "maximum": "max", "minimum": "min"}
        if self.word not in words or dtype is not None or out is not None:
            raise Untraceable(f"a reduction by {self.word}")
        return self.builder.reduce(words[self.word], x, axis, keepdims)


# Steps ------------------------------------------------------------------------------------------------------


def _norm(space: Space, arrays: Any, order: float) -> Any:
    """The norm of many arrays: squares are added up in double precision, where they do not overflow."""
    if order != 2.0:
        raise Untraceable("a norm of another order")
    total: Any = None
    for array in arrays:
        wide = array.astype(F64).reshape(-1)
        part = space._b.reduce("sum", wide * wide, None)
        total = part if total is None else total + part
    return space._b.arithmetic("sqrt", total)


def _updated(space: Space, params: Any, grads: Any, kept: Any, rule: str, place: Any, how: Any) -> None:
    """An optimizer's step: its numbers lie in `place`, in double precision."""
    builder = space._b
    numbers = builder.constant(place)
    for p, g, *state in zip(params, grads, *kept, strict=True):
        given = tuple(numbers[i].astype(p.dtype) for i in range(len(place)))
        new = RULES[rule](space, p, g, tuple(state), given, how)
        for old, value in zip((p, *state), new, strict=True):
            old[...] = value


SPECIAL: dict[Any, Callable[..., Any]] = {
    norm_as_array: _norm, updated: _updated, counted: class_loss, "cross_entropy_backward": scores_gradient,
    "into_targets": into_targets,
}  # fmt: skip


def lower(builder: Builder, space: Space, step: Step, args: Any, options: Any) -> Any:
    """Run one step on lowered arrays."""
    function = step.function
    if isinstance(function, (str, types.FunctionType)) and function in SPECIAL:
        return SPECIAL[function](space, *args)
    if isinstance(function, str):
        return registry.bind(function)(*args, **options)
    if isinstance(function, np.ufunc):
        return getattr(space, function.__name__)(*args, **options)
    if function is operator.getitem or function is operator.setitem:
        return function(*args)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return getattr(getattr(space, owner.__name__), function.__name__)(*args, **options)
    if getattr(function, "__objclass__", None) is np.ndarray:
        return getattr(args[0], function.__name__)(*args[1:], **options)
    if getattr(np, getattr(function, "__name__", ""), None) is function:
        return getattr(space, function.__name__)(*args, **options)
    raise Untraceable(f"{function} is Python's")
