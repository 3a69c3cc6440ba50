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
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..core import provenance
from ..core.op import Op
from ..errors import ArgumentTypeError, EngineError
from ..kernels import registry

PATHS = 64  # ways through the conditions of one function
_number = itertools.count()


class PointwiseError(EngineError):
    """A function that `@clarion.pointwise` cannot make a kernel of: says what it does, and at which line."""


class Expression:
    """A number that is not known yet: `word(*operands)`; inputs and constants have a `value`."""

    __slots__ = ("operands", "value", "word")

    def __init__(self, word: str, operands: tuple[Expression, ...] = (), value: Any = None) -> None:
        self.word, self.operands, self.value = word, operands, value

    @property
    def is_condition(self) -> bool:
        """Is it true or false?"""
        return self.word in _CONDITIONS

    def __bool__(self) -> bool:
        return _Paths.decide(self)

    def _refuse(self, *_: Any) -> Any:
        raise PointwiseError(
            "a number of a pointwise function is not known while it is traced: it cannot be an index, a length or a Python number\n"
            f"At {provenance.text(provenance.here())}. Write it with arithmetic, math or torch functions, and if-expressions."
        )

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __complex__ = __round__ = _refuse
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return functools.partial(FUNCTIONS[name], self)
        raise (
            AttributeError(name)
            if name.startswith("__")
            else PointwiseError(
                f"a number of a pointwise function has no {name!r}\nAt {provenance.text(provenance.here())}."
            )
        )


_CONDITIONS = frozenset(["lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"])


def constant(value: Any) -> Expression:
    """A number of Python's as an expression."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, (bool, int, float)):
        return Expression("constant", value=value)
    raise PointwiseError(
        f"a pointwise function computes with a {type(value).__name__}, which is no number\nAt {provenance.text(provenance.here())}."
    )


def is_number(x: Expression, value: float | None = None) -> bool:
    """Is it a constant (of this value)?"""
    return x.word == "constant" and (value is None or x.value == value)


def made(word: str, *operands: Any) -> Expression:
    """An expression; sums and products with 0 and 1 are what is left of them."""
    values = tuple(constant(each) for each in operands)
    if word in _ARITHMETIC and all(is_number(v) for v in values):
        try:
            return constant(_ARITHMETIC[word](*[v.value for v in values]))
        except (ZeroDivisionError, OverflowError, ValueError):
            return Expression(word, values)
    a = values[0]
    b = values[-1]
    if word == "add" and (is_number(a, 0) or is_number(b, 0)):
        return b if is_number(a, 0) else a
    if word == "sub" and is_number(b, 0):
        return a
    if word == "mul" and (is_number(a, 0) or is_number(b, 0)):
        return constant(0.0)
    if word == "mul" and (is_number(a, 1) or is_number(b, 1)):
        return b if is_number(a, 1) else a
    if word == "div" and is_number(b, 1):
        return a
    if word == "div" and is_number(a, 0):
        return constant(0.0)
    if word == "pow" and is_number(b, 1):
        return a
    return Expression(word, values)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
}

_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow",
}  # fmt: skip
for _name, _word in _OPERATORS.items():
    setattr(Expression, f"__{_name}__", lambda self, other, w=_word: made(w, self, other))
    setattr(Expression, f"__r{_name}__", lambda self, other, w=_word: made(w, other, self))
for _word in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Expression, f"__{_word}__", lambda self, other, w=_word: made(w, self, other))
for _name, _word in {"and": "and", "or": "or"}.items():
    setattr(Expression, f"__{_name}__", lambda self, other, w=_word: made(w, self, other))
Expression.__neg__ = lambda self: made("neg", self)  # type: ignore[attr-defined]
Expression.__pos__ = lambda self: self  # type: ignore[attr-defined]
Expression.__abs__ = lambda self: made("abs", self)  # type: ignore[attr-defined]
Expression.__invert__ = lambda self: made("not", self)  # type: ignore[attr-defined]


def _one(word: str) -> Callable[..., Any]:
    return lambda x: made(word, x)


def _where(condition: Any, yes: Any, no: Any) -> Expression:
    return made("where", condition, yes, no)


# The functions that may be called, by the names that math, torch and NumPy give them.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _one(name) for name in ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "erf", "floor", "ceil", "trunc", "abs")},
    "fabs": _one("abs"),
    "absolute": _one("abs"),
    "neg": _one("neg"),
    "square": lambda x: made("mul", x, x),
    "rsqrt": lambda x: made("div", 1.0, made("sqrt", x)),
    "reciprocal": lambda x: made("div", 1.0, x),
    "tan": lambda x: made("div", made("sin", x), made("cos", x)),
    "sinh": lambda x: made("mul", 0.5, made("sub", made("exp", x), made("exp", made("neg", x)))),
    "cosh": lambda x: made("mul", 0.5, made("add", made("exp", x), made("exp", made("neg", x)))),
    "sigmoid": lambda x: made("add", 0.5, made("mul", 0.5, made("tanh", made("mul", 0.5, x)))),
    "log2": lambda x: made("div", made("log", x), math.log(2)),
    "log10": lambda x: made("div", made("log", x), math.log(10)),
    "exp2": lambda x: made("exp", made("mul", x, math.log(2))),
    "relu": lambda x: made("maximum", x, 0.0),
    "softplus": lambda x: made("add", made("maximum", x, 0.0), made("log1p", made("exp", made("neg", made("abs", x))))),
    "pow": lambda x, y: made("pow", x, y),
    "hypot": lambda x, y: made("sqrt", made("add", made("mul", x, x), made("mul", y, y))),
    "minimum": lambda x, y: made("minimum", x, y),
    "maximum": lambda x, y: made("maximum", x, y),
    "where": _where,
    "clamp": lambda x, min=None, max=None: _clamped(x, min, max),
    "clip": lambda x, min=None, max=None: _clamped(x, min, max),
    "copysign": lambda x, y: made("copysign", x, y),
    "sign": lambda x: _where(made("gt", x, 0), 1.0, _where(made("lt", x, 0), -1.0, 0.0)),
    "logical_and": lambda x, y: made("and", x, y),
    "logical_or": lambda x, y: made("or", x, y),
    "logical_not": lambda x: made("not", x),
    "isnan": lambda x: made("ne", x, x),
}  # fmt: skip


def _clamped(x: Any, low: Any, high: Any) -> Expression:
    x = x if low is None else made("maximum", x, low)
    return constant(x if high is None else made("minimum", x, high))


# Tracing --------------------------------------------------------------------------------------------------


class _Paths:
    """The ways through the conditions of a function that is being traced."""

    now: Any = None

    def __init__(self) -> None:
        self.taken: list[bool] = []
        self.met: list[Expression] = []

    @classmethod
    def decide(cls, condition: Expression) -> bool:
        """Which way now?"""
        paths = cls.now
        if paths is None:
            condition._refuse()
        place = len(paths.met)
        if place > 40:
            raise PointwiseError(
                f"a pointwise function goes round too often\nAt {provenance.text(provenance.here())}. Loops must not depend on its numbers."
            )
        paths.met.append(condition)
        if place == len(paths.taken):
            paths.taken.append(True)
        return bool(paths.taken[place])


class _Functions:
    """Stands for `math`, `torch` or NumPy while a function is traced."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = FUNCTIONS.get(name)
        if found is not None:
            return lambda *args, **options: (
                found(*args, **options)
                if any(isinstance(a, Expression) for a in args)
                else getattr(self._module, name)(*args, **options)
            )
        inside = getattr(self._module, name)
        if isinstance(inside, types.ModuleType):
            return _Functions(inside)
        if callable(inside) and not isinstance(inside, type):
            return functools.partial(_unknown, name, inside)
        return inside


def _unknown(name: str, function: Any, *args: Any, **options: Any) -> Any:
    if any(isinstance(each, Expression) for each in args):
        raise PointwiseError(
            f"a pointwise function calls {name}(), which has no derivative here\nAt {provenance.text(provenance.here())}."
        )
    return function(*args, **options)


def _stand_in(value: Any) -> Any:
    """What a name of the function stands for while it is traced."""
    if isinstance(value, types.ModuleType):
        return _Functions(value)
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math" and value.__name__ in FUNCTIONS:
        return FUNCTIONS[value.__name__]
    if isinstance(value, Pointwise):
        return value.inline
    if isinstance(value, types.FunctionType) and not provenance.is_inside(value.__code__.co_filename):
        return _retargeted(value)
    return value


def _retargeted(function: types.FunctionType) -> types.FunctionType:
    """The function, with stand-ins for the modules and functions that it names."""
    code = function.__code__
    names = {
        name: _stand_in(value)
        for name, value in function.__globals__.items()
        if name in code.co_names and value is not function
    }
    space = {**function.__globals__, **names}
    cells = tuple(types.CellType(_stand_in(cell.cell_contents)) for cell in function.__closure__ or ())
    made_ = types.FunctionType(code, space, function.__name__, function.__defaults__, cells)
    made_.__kwdefaults__ = function.__kwdefaults__
    return made_


def traced(function: Any, count: int) -> Expression:
    """What a function of `count` numbers computes."""
    inputs = [Expression("input", value=i) for i in range(count)]
    run = _retargeted(function)
    outer, seen = _Paths.now, 0

    def follow(taken: list[bool]) -> Expression:
        nonlocal seen
        seen += 1
        if seen > PATHS:
            raise PointwiseError(f"{function.__qualname__} has more than {PATHS} ways through its conditions")
        paths = _Paths.now = _Paths()
        paths.taken = list(taken)
        result = constant(run(*inputs))
        new = len(taken)
        if len(paths.met) == new:
            return result
        yes = result if len(paths.met) == new + 1 else follow([*taken, True])
        return made("where", paths.met[new], yes, follow([*taken, False]))

    try:
        return follow([])
    finally:
        _Paths.now = outer


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


class Pointwise:
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
        return traced(self.function, len(self.names))

    def inline(self, *args: Any) -> Any:
        """Called by another pointwise function, while that is traced."""
        return _retargeted(self.function)(*args)

    def current(self) -> bool:
        """Are the numbers that it reads from outside what they were when the kernel was made?"""
        return all(_now(where, name) is value for where, name, value in self._numbers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._op is None or not self.current():
            self._numbers = list(_numbers(self.function, set()))
            self._op = operation(self.expression, len(self.names), self.function.__name__)
        if kwargs or len(args) < len(self.names):
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        return self._op.call(*args)

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
