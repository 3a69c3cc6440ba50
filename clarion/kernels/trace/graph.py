"""Expressions: a `Term` is one step of a computation, a `Program` what a kernel computes.

A term varies in one of three ways (its `space`):

    EACH    from element to element
    ROW     from row to row: what a reduction over the last dimension leaves
    ONE     not at all: constants and what is computed of them

Terms are made once: equal steps are the same object, so common subexpressions fall together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

EACH, ROW, ONE = 2, 1, 0

# What a term can be, with the number of its operands.
ARITHMETIC = frozenset(["add", "sub", "mul", "div", "pow", "minimum", "maximum", "copysign"])
FUNCTIONS = frozenset(
    ["neg", "abs", "sqrt", "floor", "ceil", "trunc", "rint", "exp", "expm1", "exp2", "log", "log1p", "tanh", "erf",
     "ndtr", "sigmoid", "sin", "cos"]
)  # fmt: skip
COMPARISONS = frozenset(["lt", "le", "gt", "ge", "eq", "ne"])
LOGIC = frozenset(["and", "or", "xor", "not"])
REDUCTIONS = frozenset(["sum", "prod", "max", "min"])


class Untraceable(Exception):
    """The function does something that is no expression of its arrays' elements."""


@dataclass(frozen=True, eq=False)
class Term:
    """One step: `operation(*operands)`, of a type, varying in a space. Inputs and constants carry a `value`."""

    operation: str
    operands: tuple[Term, ...]
    dtype: np.dtype[Any]
    space: int
    value: Any = None


@dataclass
class Program:
    """What a kernel computes: `results` in terms of inputs, numbered as the arguments that are arrays."""

    inputs: list[Term]
    results: list[Term]
    by_rows: bool
    kept: list[bool] = field(default_factory=list)  # of results per row: do they have the last dimension, with size 1?
    terms: list[Term] = field(default_factory=list)

    def __post_init__(self) -> None:
        seen: set[Term] = set()
        stack: list[tuple[Term, bool]] = [(term, False) for term in reversed(self.results)]
        while stack:
            term, ready = stack.pop()
            if ready:
                self.terms.append(term)
            elif term not in seen:
                seen.add(term)
                stack.append((term, True))
                stack += [(operand, False) for operand in reversed(term.operands)]


class Book:
    """Where terms are made, each once."""

    def __init__(self) -> None:
        self._known: dict[Any, Term] = {}

    def term(self, operation: str, *operands: Term, dtype: Any, space: int | None = None, value: Any = None) -> Term:
        """The term for a step."""
        dtype = np.dtype(dtype)
        if space is None:
            space = max([operand.space for operand in operands], default=ONE)
        key = (operation, tuple(map(id, operands)), dtype, space, _key(value))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Term(operation, operands, dtype, space, value)
        return found

    def input(self, number: int, dtype: Any, space: int = EACH) -> Term:
        """An array that is given."""
        return self.term("input", dtype=dtype, space=space, value=number)

    def constant(self, value: Any, dtype: Any) -> Term:
        """A number, rounded to a type."""
        return self.term("constant", dtype=dtype, value=np.dtype(dtype).type(value).item())

    def cast(self, term: Term, dtype: Any) -> Term:
        """A term in another type."""
        dtype = np.dtype(dtype)
        if term.dtype == dtype:
            return term
        if term.operation == "constant":
            return self.constant(term.value, dtype)
        return self.term("cast", term, dtype=dtype)


def _key(value: Any) -> Any:
    """Distinguishes 0.0 from -0.0, and one NaN is as good as another."""
    return (value.hex(), "float") if isinstance(value, float) else (value, type(value))
