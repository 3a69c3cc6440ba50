"""Programs over rows: the body of a loop over rows, each with as many passes as its reductions need.

A softmax goes over a row three times: for the largest element, for the sum of exponentials, for the quotients. Reductions
and what is computed of them are held in all lanes of a vector. The rest of a row that fills no vector is read and written
under a mask. An expensive term that two passes need (the exponentials) waits in the memory of a result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..trace.graph import EACH, ONE, REDUCTIONS, ROW, Program, Term, Untraceable
from . import rounding
from .lower import COSTS, Steps, load, memory_type, store
from .mathematics import Mathematics
from .text import Function, Variable, literal, module, with_lanes

_NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
_EXPENSIVE = 10
_WAYS = 4  # cheap reductions at a time: none waits for the one before


def _levels(program: Program) -> dict[Term, int]:
    """The pass that a term can be computed in: after the reductions that it needs."""
    levels: dict[Term, int] = {}
    for term in program.terms:
        below = max([levels[operand] for operand in term.operands], default=0)
        levels[term] = below + 1 if term.operation in REDUCTIONS else below
    return levels


class _Rows:
    """Writes the body."""

    def __init__(self, program: Program, lanes: int, stored: Sequence[Any]) -> None:
        self.program, self.lanes = program, lanes
        self.stored = stored or [None] * (len(program.inputs) + len(program.results))
        self.levels = _levels(program)
        self.f = Function("body", "void", "i64 rows", "i64 length", "ptr places", "ptr steps")
        self.operands = [*program.inputs, *program.results]
        self.row_values: dict[Term, str] = {}
        self.now: list[str] = []
        self.waiting = self._choose_waiting()
        self.rooms: dict[int, str] = {}  # where the memory of a result cannot hold what waits: it is in half precision

    def _choose_waiting(self) -> dict[Term, int]:
        """Expensive terms that an early pass and the last one need, and the result whose memory they wait in."""
        last = max(self.levels.values())
        needed = self._of_last_pass(last)
        free = [
            len(self.program.inputs) + k
            for k, term in enumerate(self.program.results)
            if term.space == EACH and self.levels[term] == last
        ]
        chosen: dict[Term, int] = {}
        for term in self.program.terms:
            if term.operation in REDUCTIONS:
                operand = term.operands[0]
                fits = [k for k in free if self.operands[k].dtype == operand.dtype]
                if operand in needed and self._expensive(operand) and fits and operand not in chosen:
                    chosen[operand] = fits[0]
                    free.remove(fits[0])
        return chosen

    def _of_last_pass(self, last: int) -> set[Term]:
        """Terms that vary along the row and are needed for the results."""
        found: set[Term] = set()
        stack = [term for term in self.program.results if term.space == EACH]
        while stack:
            term = stack.pop()
            if term not in found and term.space == EACH:
                found.add(term)
                stack += term.operands
        return {term for term in found if self.levels[term] < last}

    def _expensive(self, term: Term) -> bool:
        seen, stack, total = set(), [term], 0
        while stack:
            one = stack.pop()
            if one not in seen and one.space == EACH:
                seen.add(one)
                total += COSTS.get(one.operation, 1)
                stack += one.operands
        return total >= _EXPENSIVE

    # Reading -------------------------------------------------------------------------------------------

    def _of_row(self, term: Term) -> str:
        """A value that is the same along the row, in all lanes."""
        found = self.row_values.get(term)
        if found is None:
            raise Untraceable("a value per row is needed before it is there")
        return found

    def _read(self, term: Term, offset: str, mask: str | None) -> str:
        if term.space != EACH:
            return self._of_row(term)
        return self._element(self.program.inputs.index(term), term, offset, mask)

    def _place(self, operand: int, term: Term, offset: str) -> tuple[str, Any]:
        """Where a vector of an operand stands, and in which half precision, if any."""
        f, half = self.f, self.stored[operand]
        if half is not None and term in self.waiting:
            return f.element(self.rooms[operand], offset, "float"), None
        size = term.dtype.itemsize if half is None else 2
        return f.offset(self.now[operand], f.op("mul", "i64", offset, str(size))), half

    def _element(self, operand: int, term: Term, offset: str, mask: str | None) -> str:
        f, dtype = self.f, term.dtype
        place, half = self._place(operand, term, offset)
        if half is not None:
            return rounding.load(f, self.lanes, half, place, mask)
        if mask is None:
            return load(f, self.lanes, dtype, place)
        scalar = memory_type(dtype)
        type_ = with_lanes(self.lanes, scalar)
        short = {"float": "f32", "double": "f64"}.get(scalar, scalar)
        value = f.call(
            f"llvm.masked.load.v{self.lanes}{short}.p0", type_,
            f"ptr {place}", f"i32 {dtype.itemsize}", f"<{self.lanes} x i1> {mask}", f"{type_} zeroinitializer",
        )  # fmt: skip
        return f.op("icmp ne", type_, value, literal(type_, 0)) if dtype.kind == "b" else value

    def _write(self, operand: int, term: Term, value: str, offset: str, mask: str | None) -> None:
        f, dtype = self.f, term.dtype
        place, half = self._place(operand, term, offset)
        if half is not None:
            rounding.store(f, self.lanes, half, value, place, mask)
            return
        if mask is None:
            store(f, self.lanes, dtype, value, place)
            return
        scalar = memory_type(dtype)
        type_ = with_lanes(self.lanes, scalar)
        short = {"float": "f32", "double": "f64"}.get(scalar, scalar)
        if dtype.kind == "b":
            value = f.cast("zext", with_lanes(self.lanes, "i1"), value, type_)
        f.call(
            f"llvm.masked.store.v{self.lanes}{short}.p0", "void",
            f"{type_} {value}", f"ptr {place}", f"i32 {dtype.itemsize}", f"<{self.lanes} x i1> {mask}",
        )  # fmt: skip

    # Passes --------------------------------------------------------------------------------------------

    def _pass(self, level: int, last: bool) -> None:
        f, lanes = self.f, self.lanes
        reductions = [t for t in self.program.terms if t.operation in REDUCTIONS and self.levels[t] == level + 1]
        results = [
            (len(self.program.inputs) + k, term)
            for k, term in enumerate(self.program.results)
            if term.space != ROW and last
        ]
        if not reductions and not results:
            return
        cheap = not results and not any(self._expensive(t.operands[0]) for t in reductions)
        several = [
            [f.variable(self._type(t), literal(self._type(t), _NEUTRAL[t.operation])) for t in reductions]
            for _ in range(_WAYS if cheap else 1)
        ]
        totals, done = several[0], "0"
        if cheap:
            done = f.op("sub", "i64", "%length", f.op("srem", "i64", "%length", str(_WAYS * lanes)))
            with f.counted("0", done, str(_WAYS * lanes)) as i:
                for k, some in enumerate(several):
                    self._vector(f.op("add", "i64", i, str(k * lanes)), None, level, reductions, some, [])
        whole = f.op("sub", "i64", "%length", f.op("srem", "i64", "%length", str(lanes)))
        with f.counted(done, whole, str(lanes)) as i:
            self._vector(i, None, level, reductions, totals, results)
        rest = f.op("sub", "i64", "%length", whole)
        with f.when(f.op("icmp sgt", "i64", rest, "0")):
            numbers = with_lanes(lanes, "i64")
            count = f.spread(numbers, rest)
            places = "<" + ", ".join(f"i64 {k}" for k in range(lanes)) + ">"
            mask = f.op("icmp slt", numbers, places, count)
            self._vector(whole, mask, level, reductions, totals, results)
        for term, *parts in zip(reductions, *several, strict=True):
            total = parts[0].get()
            for part in parts[1:]:
                total = self._joined(term, total, part.get())
            self.row_values[term] = self._across(term, total)

    def _type(self, term: Term) -> str:
        return with_lanes(self.lanes, "double" if term.dtype.itemsize == 8 else "float")

    def _vector(
        self, offset: str, mask: str | None, level: int, reductions: list[Term], totals: list[Variable],
        results: list[tuple[int, Term]],
    ) -> None:  # fmt: skip
        f = self.f
        work = Steps(f, self.lanes, lambda term: self._read(term, offset, mask))
        work.known.update(self.row_values)
        for term, operand in self.waiting.items():
            if self.levels[term] < level:
                work.known[term] = self._element(operand, term, offset, mask)
        for term, total in zip(reductions, totals, strict=True):
            value = work.value(term.operands[0])
            if mask is not None:
                neutral = literal(self._type(term), _NEUTRAL[term.operation])
                value = f.select(self._type(term), mask, value, neutral)
            total.set(self._joined(term, total.get(), value))
            if term.operands[0] in self.waiting and self.levels[term.operands[0]] == level:
                self._write(
                    self.waiting[term.operands[0]], term.operands[0], work.value(term.operands[0]), offset, mask
                )
        values = [work.value(term) for _, term in results]
        for (operand, term), value in zip(results, values, strict=True):
            self._write(operand, term, value, offset, mask)

    def _joined(self, term: Term, a: str, b: str) -> str:
        m = Mathematics(self.f, self._type(term))
        if term.operation == "sum":
            return m.add(a, b)
        if term.operation == "prod":
            return m.mul(a, b)
        return m.extreme("ogt" if term.operation == "max" else "olt", a, b)

    def _across(self, term: Term, total: str) -> str:
        """The reduction of all lanes, in all lanes: turned by half, a quarter, … and joined each time."""
        turn, type_ = self.lanes // 2, self._type(term)
        while turn:
            order = ", ".join(f"i32 {(k + turn) % self.lanes}" for k in range(self.lanes))
            turned = self.f.let(f"shufflevector {type_} {total}, {type_} poison, <{self.lanes} x i32> <{order}>")
            total = self._joined(term, total, turned)
            turn //= 2
        return total

    def _row_terms(self, level: int) -> None:
        """What is the same along a row and can be computed now."""
        work = Steps(self.f, self.lanes, self._of_row)
        work.known = self.row_values
        for term in self.program.terms:
            if term.space != EACH and self.levels[term] == level and term.operation != "input":
                work.value(term)

    def _picked(self, term: Term) -> str:
        """The element of an input whose number stands in another, per row."""
        source, number = (self.program.inputs.index(operand) for operand in term.operands)
        index, scalar = self.f.load("i64", self.now[number], 8), memory_type(term.dtype)
        value = self.f.load(scalar, self.f.element(self.now[source], index, scalar), term.dtype.itemsize)
        return self.f.spread(with_lanes(self.lanes, scalar), value)

    def text(self) -> str:
        """The module."""
        f, program = self.f, self.program
        starts = [f.load("ptr", f.element("%places", str(k), "ptr")) for k, _ in enumerate(self.operands)]
        steps = [f.load("i64", f.element("%steps", str(k), "i64")) for k, _ in enumerate(self.operands)]
        for term in program.terms:
            if term.operation == "length":
                scalar = "double" if term.dtype.itemsize == 8 else "float"
                self.row_values[term] = f.spread(self._type(term), f.cast("sitofp", "i64", "%length", scalar))
        for operand in self.waiting.values():
            if self.stored[operand] is not None:
                bytes_ = f.op("and", "i64", f.op("add", "i64", f.op("mul", "i64", "%length", "4"), "127"), "-64")
                self.rooms[operand] = f.call("aligned_alloc", "ptr", "i64 64", f"i64 {bytes_}")
        with f.counted("0", "%rows") as row:
            self.now = [
                f.offset(start, f.op("mul", "i64", row, step)) for start, step in zip(starts, steps, strict=True)
            ]
            for k, term in enumerate(program.inputs):
                if term.space == ROW:
                    scalar = memory_type(term.dtype)
                    value = f.load(scalar, self.now[k], term.dtype.itemsize)
                    self.row_values[term] = f.spread(with_lanes(self.lanes, scalar), value)
            for term in program.terms:
                if term.operation == "pick":
                    self.row_values[term] = self._picked(term)
            last = max(self.levels.values())
            for level in range(last + 1):
                self._row_terms(level)
                self._pass(level, level == last)
            for k, term in enumerate(program.results):
                if term.space == ROW:
                    place, half = self.now[len(program.inputs) + k], self.stored[len(program.inputs) + k]
                    if half is not None:
                        scalar = rounding.SCALARS[half]
                        some = rounding.narrowed(f, self.row_values[term], self.lanes, half)
                        first = f.let(f"extractelement {with_lanes(self.lanes, scalar)} {some}, i64 0")
                        f.store(scalar, first, place, 2)
                        continue
                    type_ = with_lanes(self.lanes, memory_type(term.dtype))
                    value = f.let(f"extractelement {type_} {self.row_values[term]}, i64 0")
                    f.store(memory_type(term.dtype), value, place, term.dtype.itemsize)
        for room in self.rooms.values():
            f.call("free", "void", f"ptr {room}")
        f.end()
        return module([f])


def rows_body(program: Program, lanes: int, stored: Sequence[Any] = ()) -> str:
    """The module with the body of a loop over rows. `stored` as in lower.py; one value per row is read in float32."""
    if any(term.space == ONE for term in program.results):
        raise Untraceable("a result that is one number")
    if any(term.dtype.kind == "b" for term in (*program.inputs, *program.results) if term.space == ROW):
        raise Untraceable("a boolean per row")
    return _Rows(program, lanes, stored).text()
