"""What a function of numbers computes, as an expression: the function is called with symbols, and a condition takes both ways."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

from ..core import provenance
from ..errors import EngineError

PATHS = 64  # ways through the conditions of one function


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

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __complex__ = _refuse
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
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "mod": "remainder", "floordiv": "floor_divide",
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
Expression.__round__ = lambda self, digits=0: _rounded(self, digits)  # type: ignore[attr-defined]
Expression.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore[attr-defined,operator]


def _one(word: str) -> Callable[..., Any]:
    return lambda x: made(word, x)


def _rounded(x: Any, digits: int | None = 0) -> Expression:
    scale = 10.0 ** (digits or 0)
    return made("rint", x) if scale == 1.0 else made("div", made("rint", made("mul", x, scale)), scale)


def _gelu(x: Any, approximate: str = "none") -> Expression:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return constant(0.5 * x * (1 + made("tanh", inner)))
    return constant(0.5 * x * (1 + made("erf", x * math.sqrt(0.5))))


def _where(condition: Any, yes: Any, no: Any) -> Expression:
    return made("where", condition, yes, no)


# The functions that may be called, by the names that math, torch and NumPy give them.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _one(name) for name in ("exp", "expm1", "log1p", "sqrt", "sin", "cos", "tanh", "erf", "floor", "ceil", "trunc", "abs")},
    **{name: _one(f"arc{name[1:]}") for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    **{name: _one(name) for name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh")},
    "log": lambda x, base=None: made("log", x) if base is None else made("div", made("log", x), FUNCTIONS["log"](constant(base))),
    "atan2": lambda x, y: made("arctan2", x, y),
    "arctan2": lambda x, y: made("arctan2", x, y),
    "fmod": lambda x, y: made("fmod", x, y),
    "remainder": lambda x, y: made("remainder", x, y),
    "floor_divide": lambda x, y: made("floor_divide", x, y),
    "round": _rounded,
    "rint": _rounded,
    "degrees": lambda x: made("mul", x, 180 / math.pi),
    "radians": lambda x: made("mul", x, math.pi / 180),
    "silu": lambda x: made("mul", x, FUNCTIONS["sigmoid"](x)),
    "gelu": _gelu,
    "leaky_relu": lambda x, negative_slope=0.01: _where(made("gt", x, 0), x, made("mul", x, negative_slope)),
    "elu": lambda x, alpha=1.0: _where(made("gt", x, 0), x, made("mul", alpha, made("expm1", made("minimum", x, 0.0)))),
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "isinf": lambda x: made("eq", made("abs", x), math.inf),
    "isfinite": lambda x: made("lt", made("abs", x), math.inf),
    "fabs": _one("abs"),
    "absolute": _one("abs"),
    "neg": _one("neg"),
    "square": lambda x: made("mul", x, x),
    "rsqrt": lambda x: made("div", 1.0, made("sqrt", x)),
    "reciprocal": lambda x: made("div", 1.0, x),
    "tan": lambda x: made("div", made("sin", x), made("cos", x)),
    "sinh": lambda x: made("mul", 0.5, made("sub", made("expm1", x), made("expm1", made("neg", x)))),
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


class Inlined:
    """A function of numbers that takes part in the expression of another when that calls it."""

    def inline(self, *args: Any) -> Any:
        """What it computes, of symbols."""
        raise NotImplementedError


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
    if isinstance(value, Inlined):
        return value.inline
    if isinstance(value, types.FunctionType) and not provenance.is_inside(value.__code__.co_filename):
        return retargeted(value)
    return value


def retargeted(function: types.FunctionType) -> types.FunctionType:
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


def _number(value: Any, function: Any) -> Expression:
    """What a function gives, which has to be one number."""
    if isinstance(value, (Expression, bool, int, float)):
        return constant(value)
    more = ". Does it return a number on every way through its conditions?" if value is None else ""
    kind = "nothing" if value is None else f"a {type(value).__name__}"
    raise PointwiseError(
        f"{function.__qualname__} gives {kind}, where a pointwise function gives one number{more}\n"
        f"At {provenance.text((function.__code__, 0))}."
    )


def traced(function: Any, count: int) -> Expression:
    """What a function of `count` numbers computes."""
    inputs = [Expression("input", value=i) for i in range(count)]
    run = retargeted(function)
    outer, seen = _Paths.now, 0

    def follow(taken: list[bool]) -> Expression:
        nonlocal seen
        seen += 1
        if seen > PATHS:
            raise PointwiseError(f"{function.__qualname__} has more than {PATHS} ways through its conditions")
        paths = _Paths.now = _Paths()
        paths.taken = list(taken)
        result = _number(run(*inputs), function)
        new = len(taken)
        if len(paths.met) == new:
            return result
        yes = result if len(paths.met) == new + 1 else follow([*taken, True])
        return made("where", paths.met[new], yes, follow([*taken, False]))

    try:
        return follow([])
    finally:
        _Paths.now = outer
