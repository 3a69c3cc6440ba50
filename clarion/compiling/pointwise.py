"""`@clarion.pointwise`: a user's own function of numbers as an operation on tensors, one fused kernel with its derivatives.

    @clarion.pointwise
    def swoosh(x, a):
        return x / (1 + math.exp(-a * x)) if x > -3 else 0.1 * x

The function is called once with symbols instead of numbers. What it computes is an expression (`Expression`): a condition takes both
ways in turn, and the results meet in a `where`. The expression is differentiated as one writes it on paper; a derivative is an
operation of the same kind, so higher derivatives come from its own expression. The kernel is portable, and so it is traced and compiled
for the processor or the GPU like any other.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..core import provenance
from ..core.op import Op
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError
from ..kernels import registry
from .expressions import FUNCTIONS, Expression, Inlined, PointwiseError, constant, is_number, made, retargeted, traced

_number = itertools.count()


# Derivatives ------------------------------------------------------------------------------------------------

_E2 = 2 / math.sqrt(math.pi)

# The derivative of a function of one number: x and the function's own value.
_SLOPES: dict[str, Callable[[Expression, Expression], Any]] = {
    "neg": lambda x, y: constant(-1.0),
    "exp": lambda x, y: y,
    "expm1": lambda x, y: y + 1,
    "log": lambda x, y: 1 / x,
    "log1p": lambda x, y: 1 / (1 + x),
    "sqrt": lambda x, y: 0.5 / y,
    "sin": lambda x, y: made("cos", x),
    "cos": lambda x, y: -made("sin", x),
    "tanh": lambda x, y: 1 - y * y,
    "erf": lambda x, y: _E2 * made("exp", -(x * x)),
    "abs": lambda x, y: FUNCTIONS["sign"](x),
    "floor": lambda x, y: constant(0.0),
    "ceil": lambda x, y: constant(0.0),
    "trunc": lambda x, y: constant(0.0),
    "rint": lambda x, y: constant(0.0),
    "arctan": lambda x, y: 1 / (1 + x * x),
    "arcsin": lambda x, y: 1 / made("sqrt", 1 - x * x),
    "arccos": lambda x, y: -1 / made("sqrt", 1 - x * x),
    "arcsinh": lambda x, y: 1 / made("sqrt", x * x + 1),
    "arccosh": lambda x, y: 1 / made("sqrt", x * x - 1),
    "arctanh": lambda x, y: 1 / (1 - x * x),
}


def derivative(x: Expression, number: int, known: dict[int, Expression] | None = None) -> Expression:
    """The derivative by one of the inputs."""
    known = {} if known is None else known
    found = known.get(id(x))
    if found is None:
        found = known[id(x)] = _derived(x, number, known)
    return found


def _derived(x: Expression, number: int, known: dict[int, Expression]) -> Expression:
    if x.word == "input":
        return constant(1.0 if x.value == number else 0.0)
    if x.word == "constant" or x.is_condition:
        return constant(0.0)
    if x.word == "where":
        condition, yes, no = x.operands
        first, second = derivative(yes, number, known), derivative(no, number, known)
        return (
            first
            if is_number(first) and is_number(second) and first.value == second.value
            else made("where", condition, first, second)
        )
    slopes = [derivative(each, number, known) for each in x.operands]
    if x.word in _SLOPES:
        (a,), (da,) = x.operands, slopes
        return constant(0.0) if is_number(da, 0) else da * _SLOPES[x.word](a, x)
    (a, b), (da, db) = x.operands, slopes
    if x.word in ("add", "sub"):
        return made(x.word, da, db)
    if x.word == "mul":
        return da * b + a * db
    if x.word == "div":
        return made("div", da, b) - made("mul", db, x / b)
    if x.word == "pow":
        of_base = constant(0.0) if is_number(da, 0) else da * b * made("pow", a, b - 1)
        of_exponent = constant(0.0) if is_number(db, 0) else db * x * made("log", a)
        return of_base + of_exponent
    if x.word in ("minimum", "maximum"):
        first = made("lt" if x.word == "minimum" else "gt", a, b)
        half = made("where", made("eq", a, b), 0.5, made("where", first, 1.0, 0.0))
        return da * half + db * (1 - half)
    if x.word == "arctan2":
        return made("div", da * b - a * db, a * a + b * b)
    if x.word == "floor_divide":
        return constant(0.0)
    if x.word in ("remainder", "fmod"):
        return da - db * made("floor" if x.word == "remainder" else "trunc", a / b)
    if x.word == "copysign":
        return da * made("copysign", 1.0, a) * made("copysign", 1.0, b)
    raise PointwiseError(f"{x.word} has no derivative here")


# Kernels ----------------------------------------------------------------------------------------------------

_NAMES = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute", "pow": "power",
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    "and": "logical_and", "or": "logical_or", "not": "logical_not",
}  # fmt: skip


def computed(x: Expression, xp: Any, arrays: tuple[Any, ...]) -> Any:
    """The value of an expression, over any array library."""
    kind = arrays[0].dtype
    known: dict[int, Any] = {}

    def value(each: Expression) -> Any:
        if id(each) not in known:
            known[id(each)] = step(each)
        return known[id(each)]

    def step(each: Expression) -> Any:
        if each.word == "input":
            return arrays[each.value]
        if each.word == "constant":
            return kind.type(each.value) if not isinstance(each.value, bool) else each.value
        operands = [value(one) for one in each.operands]
        if each.word == "erf":
            return registry.portable("erf", xp)(*operands)
        return getattr(xp, _NAMES.get(each.word, each.word))(*operands)

    return value(x)


class Pointwise(Inlined):
    """A pointwise function: called with tensors and numbers."""

    def __init__(self, function: Any) -> None:
        if not isinstance(function, types.FunctionType):
            raise ArgumentTypeError(f"pointwise expects a Python function, not {type(function).__name__}")
        parameters = list(inspect.signature(function).parameters.values())
        if not parameters or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
            raise ArgumentTypeError(
                f"{function.__qualname__}: a pointwise function takes numbers by position, one at least"
            )
        self.function, self.names = function, [p.name for p in parameters]
        self.signature = inspect.signature(function)
        functools.update_wrapper(self, function)
        self._op: Any = None
        self._numbers: list[
            tuple[Any, Any, Any]
        ] = []  # where, name, value: the numbers from outside that are part of the kernel

    @property
    def expression(self) -> Expression:
        """What it computes."""
        listener = (
            sys.getprofile()
        )  # of `compile`, which knows pointwise functions, and not the stand-ins they are traced with
        sys.setprofile(None)
        try:
            return traced(self.function, len(self.names))
        finally:
            sys.setprofile(listener)

    def inline(self, *args: Any) -> Any:
        """Called by another pointwise function, while that is traced."""
        return retargeted(self.function)(*args)

    def current(self) -> bool:
        """Are the numbers that it reads from outside what they were when the kernel was made?"""
        return all(_now(where, name) is value for where, name, value in self._numbers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._op is None or not self.current():
            self._numbers = list(_numbers(self.function, set()))
            self._op = operation(self.expression, len(self.names), self.function.__name__)
        if kwargs or len(args) != len(self.names):
            try:
                bound = self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentTypeError(
                    f"{self.function.__name__}() {error}: it takes {', '.join(self.names)}"
                ) from None
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        try:
            return self._op.call(*args)
        except (ArgumentTypeError, AttributeError):
            self._refuse(args)
            raise

    def _refuse(self, args: Any) -> None:
        for name, value in zip(self.names, args, strict=True):
            if not isinstance(value, (Tensor, bool, int, float)):
                raise ArgumentTypeError(
                    f"{self.function.__name__}() takes tensors and numbers, and {name} is a {type(value).__name__}"
                ) from None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def _now(where: Any, name: Any) -> Any:
    return where.get(name) if name is not None else where.cell_contents


def _numbers(function: Any, seen: set[int]) -> Iterator[tuple[Any, Any, Any]]:
    """The numbers and functions that a function reads from outside, and those that they read."""
    if id(function) in seen:
        return
    seen.add(id(function))
    outside = [
        (function.__globals__, name, function.__globals__[name])
        for name in function.__code__.co_names
        if name in function.__globals__
    ]
    outside += [(cell, None, cell.cell_contents) for cell in function.__closure__ or ()]
    for where, name, value in outside:
        if isinstance(value, types.ModuleType):
            continue
        yield where, name, value
        inner = value.function if isinstance(value, Pointwise) else value
        if isinstance(inner, types.FunctionType) and not provenance.is_inside(inner.__code__.co_filename):
            yield from _numbers(inner, seen)


def operation(x: Expression, count: int, title: str) -> Op:
    """The operation that computes an expression, with the rules for its gradients."""
    name = f"pointwise_{title}_{next(_number)}"
    inputs = [f"x{i}" for i in range(count)]

    def kernel(xp: Any, *arrays: Any) -> Any:
        found = computed(x, xp, arrays)
        shape = functools.reduce(lambda a, b: a + b, [a * 0 for a in arrays]) if x.word == "constant" else None
        return found if shape is None else xp.where(shape == shape, found, found)

    # (Kernels are asked for the number of their arguments.)
    text = f"def call(xp, {', '.join(inputs)}):\n    return kernel(xp, {', '.join(inputs)})\n"
    scope: dict[str, Any] = {"kernel": kernel}
    exec(text, scope)
    registry.kernel(name)(scope["call"])
    few = count <= 2
    op = Op(
        name,
        " ".join(inputs),
        elementwise=few,
        broadcast=not few,
        promote="float",
        node=f"{title.capitalize()}Backward0",
    )
    _compiled(name)
    rules = {f"x{i}": _rule(x, i, count, title) for i in range(count)}
    op.vjp(**rules)
    return op


def _compiled(name: str) -> None:
    """Large arrays are computed in one pass, where there is a compiler."""
    from ..kernels.llvm import offers

    if offers._missing() is None:
        registry.offer(name, "llvm", offers.Compiled(name, offers._traced(name)), least=offers.FEW)


def _rule(x: Expression, number: int, count: int, title: str) -> Any:
    """The gradient by one input: the derivative is an operation of its own, made when it is first needed."""
    slope = derivative(x, number)
    inputs = ", ".join(f"x{i}" for i in range(count))
    if is_number(slope):
        return eval(f"lambda g: g * {float(slope.value)!r}")

    @functools.cache
    def name() -> str:
        return operation(slope, count, f"{title}_{number}").name

    return eval(f"lambda g, {inputs}, ops: g * getattr(ops, name())({inputs})", {"name": name, "getattr": getattr})


def pointwise(function: Any) -> Pointwise:
    """A function of numbers as an operation on tensors."""
    return Pointwise(function)
