"""Programs as vector instructions: the body of a loop over elements.

A body works on whole vectors of adjacent elements: `body(count, places, steps)` starts at `places[k]` for each operand and goes
`steps[k]` bytes further after each vector (0 for a number, whose vector holds it in all lanes). What is not adjacent, and
the rest that fills no vector, the loops of `runtime.py` bring into that form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..trace.graph import REDUCTIONS, Program, Term, Untraceable
from . import rounding
from .mathematics import Mathematics
from .text import Function, Variable, element_type, literal, module, with_lanes

SCALARS = {"float32": "float", "float64": "double", "bool": "i1", "int64": "i64", "int32": "i32", "uint8": "i8"}
_COMPARED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INTEGER_COMPARED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint"}
_OPERATORS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}

# What a step costs beside an addition, for the choice of how many elements are worth a thread.
COSTS = {"exp": 12, "expm1": 16, "exp2": 12, "log": 20, "log1p": 24, "tanh": 20, "erf": 28, "ndtr": 24, "sigmoid": 18, "sin": 24, "cos": 24, "pow": 60,
         "div": 5, "sqrt": 6}  # fmt: skip


def cost(program: Program) -> float:
    """About how many nanoseconds an element takes, in the cache."""
    steps = sum(COSTS.get(term.operation, 1) for term in program.terms if term.operands)
    widest = max(term.dtype.itemsize for term in program.terms)
    return (0.02 * steps + 0.03 * (len(program.inputs) + len(program.results))) * (2 if widest == 8 else 1)


def lanes_of(program: Program, width: int) -> int:
    """Elements per vector: as many of the widest type as a register of `width` bytes holds."""
    return width // max([term.dtype.itemsize for term in program.terms if term.dtype.kind == "f"], default=4)


def memory_type(dtype: np.dtype[Any]) -> str:
    """How an element stands in memory."""
    return "i8" if dtype == np.bool_ else _scalar(dtype)


def _scalar(dtype: np.dtype[Any]) -> str:
    found = SCALARS.get(dtype.name)
    if found is None:
        raise Untraceable(f"no compiled arithmetic for {dtype}")
    return found


class Steps:
    """The terms of a program as values in a function, each computed once where it is first needed."""

    def __init__(self, f: Function, lanes: int, read: Callable[[Term], str]) -> None:
        self.f, self.lanes, self.read = f, lanes, read
        self.known: dict[Term, str] = {}

    def type_of(self, term: Term) -> str:
        return with_lanes(self.lanes, _scalar(term.dtype))

    def value(self, term: Term) -> str:
        """The name of a term's value."""
        found = self.known.get(term)
        if found is None:
            found = self.known[term] = self._made(term)
        return found

    def _made(self, term: Term) -> str:
        word = term.operation
        if word == "constant":
            return literal(self.type_of(term), term.value)
        if word in ("input", "length", *REDUCTIONS):
            return self.read(term)
        operands = [self.value(operand) for operand in term.operands]
        if word == "cast":
            return self._cast(term, operands[0])
        first = term.operands[0].dtype
        type_ = self.type_of(term)
        if word in _COMPARED and first.kind != "f":
            # (Booleans are compared as numbers: as signed bits, true would be below false.)
            how = (
                _INTEGER_COMPARED[word]
                if first.kind != "b" or word in ("eq", "ne")
                else f"u{_INTEGER_COMPARED[word][1:]}"
            )
            return self.f.op(f"icmp {how}", self.type_of(term.operands[0]), *operands)
        m = Mathematics(self.f, self.type_of(term.operands[0]))
        if word in _COMPARED:
            return m.compared(_COMPARED[word], *operands)
        if word in _OPERATORS:
            return self.f.op(_OPERATORS[word], type_, *operands)
        if word == "where":
            return self.f.select(type_, *operands)
        if word == "not":
            return self.f.op("xor", type_, operands[0], literal(type_, 1))
        if word in ("and", "or", "xor"):
            return self.f.op(word, type_, *operands)
        if word in ("minimum", "maximum"):
            return m.extreme("olt" if word == "minimum" else "ogt", *operands)
        if word in _ROUNDING:
            return self.f.intrinsic(_ROUNDING[word], type_, *operands)
        if word == "sqrt":
            return self.f.intrinsic("sqrt", type_, *operands)
        if word == "exp" and term.operands[0].operation == "input":
            # Itself asked for, no step of a softmax: its last digit is looked at.
            return m.exp(operands[0], rounded=True)
        if not hasattr(m, word):
            raise Untraceable(f"no compiled {word}")
        return str(getattr(m, word)(*operands))

    def _cast(self, term: Term, value: str) -> str:
        before, after = self.type_of(term.operands[0]), self.type_of(term)
        old, new = term.operands[0].dtype.kind, term.dtype.kind
        if old == "f" and new == "f":
            word = "fpext" if term.dtype.itemsize > term.operands[0].dtype.itemsize else "fptrunc"
            return self.f.cast(word, before, value, after)
        if new == "b":
            word = "fcmp une" if old == "f" else "icmp ne"
            return self.f.op(word, before, value, literal(before, 0))
        if new == "f":
            return self.f.cast("uitofp" if old == "b" else "sitofp", before, value, after)
        raise Untraceable(f"a cast from {term.operands[0].dtype} to {term.dtype}")


def load(f: Function, lanes: int, dtype: np.dtype[Any], place: str) -> str:
    """A vector of elements as they are computed with."""
    stored = with_lanes(lanes, memory_type(dtype))
    value = f.load(stored, place, 1 if dtype == np.bool_ else dtype.itemsize)
    return f.op("icmp ne", stored, value, literal(stored, 0)) if dtype == np.bool_ else value


def store(f: Function, lanes: int, dtype: np.dtype[Any], value: str, place: str) -> None:
    """A vector of elements as they stand in memory."""
    stored = with_lanes(lanes, memory_type(dtype))
    if dtype == np.bool_:
        value = f.cast("zext", with_lanes(lanes, "i1"), value, stored)
    f.store(stored, value, place, 1 if dtype == np.bool_ else dtype.itemsize)


def elements_body(program: Program, lanes: int, stored: Sequence[Any] = ()) -> str:
    """The module with the body of a loop over elements. `stored`: for each operand the half precision that it is kept in, or None."""
    f = Function("body", "void", "i64 count", "ptr places", "ptr steps")
    operands = [*program.inputs, *program.results]
    places: list[Variable] = []
    steps: list[str] = []
    for k, _ in enumerate(operands):
        places.append(f.variable("ptr", f.load("ptr", f.element("%places", str(k), "ptr"))))
        steps.append(f.load("i64", f.element("%steps", str(k), "i64")))
    with f.counted("0", "%count"):
        now = [place.get() for place in places]
        number = {term: k for k, term in enumerate(program.inputs)}
        halves = stored or [None] * len(operands)

        def read(term: Term) -> str:
            k = number[term]
            half = halves[k]
            return load(f, lanes, term.dtype, now[k]) if half is None else rounding.load(f, lanes, half, now[k])

        work = Steps(f, lanes, read)
        values = [work.value(term) for term in program.results]
        first = len(program.inputs)
        for k, (term, value) in enumerate(zip(program.results, values, strict=True)):
            half = halves[first + k]
            if half is None:
                store(f, lanes, term.dtype, value, now[first + k])
            else:
                rounding.store(f, lanes, half, value, now[first + k])
        for k, place in enumerate(places):
            place.set(f.offset(now[k], steps[k]))
    f.end()
    return module([f])


__all__ = ["Steps", "cost", "element_type", "elements_body", "lanes_of", "load", "memory_type", "store"]
