"""A few loops over and over, without Python in between: matrix products and compiled passes, whose arrays move on from turn to turn.

    turns = Sequence(rows, length, False, [x, weight, buffer, c])
    turns.product(operand(x, 16), weight, operand(buffer))  # x goes on by 16 rows after every turn
    turns.elementwise(plan, size, [*parts(operand(buffer), size, 4), operand(c)])
    turns.run([x, weight, buffer, c])

A step of a recurrent network is some microseconds; calling two NumPy functions and cutting their operands out takes longer, and so does it
for threads to meet after each. All operands have the same rows, and what happens to one row happens to no other: so where rows are
enough each thread takes some of them through all turns by itself. Otherwise the threads share every command.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from typing import Any

import numpy as np

from .. import threads
from . import build, machine
from .places import address
from .plan import GRAIN, LANES, MOST, SIZES
from .pool import all_chunks, clear_flags
from .products.blocks import FIELDS, PLACE, SLACK
from .products.calls import products
from .products.packed import DEEPEST
from .text import Function, module

# What a pass over rows needs: the plan of its loop, the loop (null: the kernel's body itself), the pool, the sizes; then, per operand, its place, and in bytes how far it
# is from row to row and from element to element.
_PLAN, _RANGE, _PARALLEL, _THREADS, _ROWS, _SIZE, _PER = range(7)
_PLACES, _ROW_STEPS, _STEPS = 8, 8 + MOST, 8 + 2 * MOST
_LENGTH = 8 + 3 * MOST

# A command: its function, its context and how long that is, where in it the number of rows and that of threads stand; how many of its words
# go on, by how many bytes after every turn, and from row to row; and the one turn in which a word is another; then how to bring the matrix
# of a product into panels: the function (null: it lies as it is needed), where in a part's room, and the function's arguments.
_FUNCTION, _CONTEXT, _WORDS, _ROWS_AT, _THREADS_AT, _GOING, _MOVES, _BY_ROW = range(8)
_TURN, _WORD, _OTHER, _OTHER_BY_ROW, _PACK, _IN_ROOM, _MATRIX = range(8, 15)
_COMMAND = 19
_COMMANDS = 4  # at most
# What the threads share: the commands, turns, rows, how many rows a part has, room for panels, and how much of that each part has.
_ALL, _COUNT, _TURNS, _ALL_ROWS, _EACH, _ROOM, _ROOM_OF_EACH = range(7)
FEWEST = 4  # rows that a thread takes through all turns by itself
LARGEST = 2 << 20  # bytes of matrices that each thread has in panels of its own
_LINE = 64  # bytes of a line of the cache
_A, _C, _START, _M, _THREADS_OF_PRODUCT = (PLACE[name] for name in ("a", "c", "start", "m", "threads"))


# A matrix with a row for each of the sequence's: the array, and in bytes how far after its beginning the matrix is in the first turn, how far it is
# from row to row, from element to element, from turn to turn; the turn in which another array takes its place (-1: none), that array, and
# how far from row to row there.
Operand = tuple[Any, int, int, int, int, int, Any, int]


def operand(x: Any, pace: int = 0, first: int = 0) -> Operand:
    """The rows of a matrix from the first one on, which go on by so many after every turn."""
    row, element = x.strides
    return x, first * row, row, element, pace * row, -1, None, 0


def one_turn_before(x: Operand, back: int, other: Any, turn: int) -> Operand:
    """So many rows before `x`; in one turn another matrix."""
    array_, offset, row, element, move, *_ = x
    return array_, offset - back * row, row, element, move, turn, other, other.strides[0]


def parts(x: Operand, size: int, count: int) -> list[Operand]:
    """Columns of a matrix: so many, so often."""
    array_, offset, row, element, move, *_ = x
    return [(array_, offset + k * size * element, row, element, move, -1, None, 0) for k in range(count)]


Operands = list[tuple[int, Operand]]


def _at(f: Function, base: str, place: int | str, type_: str = "i64") -> str:
    return f.load(type_, f.element(base, str(place), "i64"))


def _move(f: Function, word: str, by: str) -> None:
    """A word is so much more."""
    f.store("i64", f.op("add", "i64", f.load("i64", word), by), word)


def _pass_chunk() -> Function:
    """Some rows of a pass."""
    f = Function("pass_chunk", "void", "ptr context", "i64 number", linkage="internal")
    plan, loop = _at(f, "%context", _PLAN, "ptr"), _at(f, "%context", _RANGE, "ptr")
    size, per = _at(f, "%context", _SIZE), _at(f, "%context", _PER)
    steps, vectors = f.element("%context", str(_STEPS), "i64"), f.op("sdiv", "i64", size, _at(f, plan, LANES))
    first = f.op("mul", "i64", "%number", per)
    after = f.op("add", "i64", first, per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {_at(f, '%context', _ROWS)}")
    places = f.reserve("ptr", MOST)
    with f.counted(first, end) as row:
        for k in range(MOST):
            step = f.op("mul", "i64", row, _at(f, "%context", _ROW_STEPS + k))
            f.store("ptr", f.offset(_at(f, "%context", _PLACES + k, "ptr"), step), f.element(places, str(k), "ptr"))
        with f.when(f.op("icmp eq", "ptr", loop, "null")):
            f.line(f"call void {f.load('ptr', plan)}(i64 {vectors}, ptr {places}, ptr {steps})")
        with f.when(f.op("icmp ne", "ptr", loop, "null")):
            f.line(f"call void {loop}(ptr {plan}, ptr {places}, ptr {steps}, i64 0, i64 {size})")
    f.end()
    return f


def _pass() -> Function:
    """A pass over all rows, by several threads where that is worth it."""
    f = Function("pass", "void", "ptr context")
    rows, size = _at(f, "%context", _ROWS), _at(f, "%context", _SIZE)
    threads = f.let(f"load atomic i64, ptr {_at(f, '%context', _THREADS, 'ptr')} monotonic, align 8")
    # (The threads are awake: a fourth of what is worth waking them is enough.)
    grain = f.op("sdiv", "i64", _at(f, _at(f, "%context", _PLAN, "ptr"), GRAIN), "4")
    shared = f.op("icmp sgt", "i64", f.op("mul", "i64", rows, size), grain)
    parts = f.let(f"select i1 {shared}, i64 {threads}, i64 1")
    up = f.op("add", "i64", rows, f.op("sub", "i64", parts, "1"))
    f.store("i64", f.op("sdiv", "i64", up, parts), f.element("%context", str(_PER), "i64"))
    with f.when(f.op("icmp sgt", "i64", parts, "1")):
        f.line(f"call void {_at(f, '%context', _PARALLEL, 'ptr')}(ptr @pass_chunk, ptr %context, i64 {parts})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line("call void @pass_chunk(ptr %context, i64 0)")
    f.end()
    return f


def _some_rows(x86: bool) -> Function:
    """All turns of some rows, with contexts of their own."""
    f = Function("some_rows", "void", "ptr shared", "i64 number")
    own = f.reserve("i64", _COMMANDS * _LENGTH)
    commands, room = (_at(f, "%shared", k, "ptr") for k in (_ALL, _ROOM))
    count, rows, each, of_each = (_at(f, "%shared", k) for k in (_COUNT, _ALL_ROWS, _EACH, _ROOM_OF_EACH))
    room = f.offset(room, f.op("mul", "i64", "%number", of_each))
    first = f.op("mul", "i64", "%number", each)
    left = f.op("sub", "i64", rows, first)
    mine = f.call("llvm.smin.i64", "i64", f"i64 {left}", f"i64 {each}")
    alone = f.op("icmp slt", "i64", each, rows)

    def command(number: str) -> tuple[str, str]:
        """A command and its own context."""
        context = f.element(own, f.op("mul", "i64", number, str(_LENGTH)), "i64")
        return f.element(commands, f.op("mul", "i64", number, str(_COMMAND)), "i64"), context

    with f.counted("0", count) as number:
        given, context = command(number)
        source, by_row = _at(f, given, _CONTEXT, "ptr"), _at(f, given, _BY_ROW, "ptr")
        with f.counted("0", _at(f, given, _WORDS)) as k:
            f.store("i64", _at(f, source, k), f.element(context, k, "i64"))
        with f.counted("0", _at(f, given, _GOING)) as k:
            _move(f, f.element(context, k, "i64"), f.op("mul", "i64", first, _at(f, by_row, k)))
        f.store("i64", mine, f.element(context, _at(f, given, _ROWS_AT), "i64"))
        with f.when(alone):
            f.store("ptr", "@one", f.element(context, _at(f, given, _THREADS_AT), "i64"))
        pack = _at(f, given, _PACK, "ptr")
        with f.when(f.op("icmp ne", "ptr", pack, "null")):
            panels = f.offset(room, _at(f, given, _IN_ROOM))
            matrix = ", ".join(f"i64 {_at(f, given, _MATRIX + k)}" for k in range(1, 5))
            f.line(f"call void {pack}(ptr {panels}, ptr {_at(f, given, _MATRIX, 'ptr')}, {matrix})")
            f.store("ptr", panels, f.element(context, str(PLACE["b"]), "i64"))
    with f.counted("0", _at(f, "%shared", _TURNS)) as turn, f.counted("0", count) as number:
        given, context = command(number)
        place = f.element(context, _at(f, given, _WORD), "i64")
        usual = f.load("i64", place)
        with f.when(f.op("icmp eq", "i64", turn, _at(f, given, _TURN))):
            further = f.op("mul", "i64", first, _at(f, given, _OTHER_BY_ROW))
            f.store("i64", f.op("add", "i64", _at(f, given, _OTHER), further), place)
        f.line(f"call void {_at(f, given, _FUNCTION, 'ptr')}(ptr {context})")
        f.store("i64", usual, place)
        moves = _at(f, given, _MOVES, "ptr")
        with f.counted("0", _at(f, given, _GOING)) as k:
            _move(f, f.element(context, k, "i64"), _at(f, moves, k))
    clear_flags(f, x86)
    f.end()
    return f


def _run(x86: bool) -> Function:
    """All turns of all rows."""
    f = Function("run", "void", "ptr shared", "ptr parallel")
    rows, each = _at(f, "%shared", _ALL_ROWS), _at(f, "%shared", _EACH)
    parts = f.op("sdiv", "i64", f.op("add", "i64", rows, f.op("sub", "i64", each, "1")), each)
    all_chunks(f, "some_rows", "%shared", parts, "%parallel", x86)
    f.end()
    return f


class _Engine:
    """The compiled functions."""

    def __init__(self) -> None:
        x86, pointer = machine.x86(), ctypes.c_void_p
        parts = [_pass_chunk(), _pass(), _some_rows(x86), _run(x86)]
        engine = machine.compiled(module(parts, "@one = internal constant i64 1, align 8\n"))
        self.place = machine.address(engine, "pass")
        self.run = machine.callable_at(machine.address(engine, "run"), None, pointer, pointer)


@functools.cache
def _engine() -> _Engine:
    return _Engine()


def apart(rows: int, *matrices: Any) -> bool:
    """Are rows enough for each thread to take some of them through all turns, and these matrices small enough for that?"""
    if sum([matrix.nbytes for matrix in matrices]) > LARGEST or max([matrix.shape[0] for matrix in matrices]) > DEEPEST:
        return False
    return rows >= FEWEST * threads.number()


class Sequence:
    """Commands that are run in turn, so many times, on operands with so many rows; by each thread on some rows, where they are `apart`.

    It is written once for arrays of some shapes and strides, and run with `arrays`: these, or others like them.
    """

    def __init__(self, rows: int, turns: int, apart: bool, arrays: list[Any]) -> None:
        self.rows, self.turns, self.apart = rows, turns, apart
        self.numbers = {id(x): number for number, x in enumerate(arrays)}
        self.words: list[int] = []  # of the commands
        self.more: list[int] = []  # their contexts and tables
        self.inside: list[int] = []  # which words of the commands are places in `more`
        self.places: list[
            tuple[int, int, int]
        ] = []  # which words are places in an array: in `more`, or in a command (below zero)
        self.room = 0  # bytes of the panels of a part
        self.kept: list[Any] = []  # what contexts point to
        self.idle: list[Any] = []  # memory of runs that are over

    def _point(self, word: int, x: Any, offset: int = 0) -> None:
        self.places.append((word, self.numbers[id(x)], offset))

    def _add(
        self, function: int, context: list[int], rows_at: int, threads_at: int, operands: Operands, *pack: int
    ) -> int:
        """A command. `operands`: those in its context, with their places there. (At most one has a turn that differs.) Gives where its context is."""
        going, start, command = operands[-1][0] + 1, len(self.more), len(self.words)
        moves, by_row = [0] * going, [0] * going
        turn, word, other_by_row = -1, 0, 0
        for at, (x, offset, row, _, move, another, other, other_row) in operands:
            self._point(start + at, x, offset)
            moves[at], by_row[at] = move, row
            if another >= 0:
                turn, word, other_by_row = another, at, other_row
                self._point(~(command + _OTHER), other)
        self.more += context + moves + by_row
        table = start + len(context)
        self.inside += [command + _CONTEXT, command + _MOVES, command + _BY_ROW]
        self.words += [function, start, len(context), rows_at, threads_at, going, table, table + going]
        self.words += [turn, word, 0, other_by_row, *(pack or (0,) * (_COMMAND - _PACK))]
        return start

    def product(self, x: Operand, y: Any, out: Operand, adds: bool = False, bias: Any = None) -> None:
        """out = x @ y, with the same matrix y in every turn; plus what is there, or a row."""
        made, running, (k, n), command = products(y.dtype), build.running(), y.shape, len(self.words)
        assert made is not None
        values = {
            "a_m": x[2], "a_k": x[3], "b_k": y.strides[0], "b_n": y.strides[1], "c_m": out[2], "m": self.rows, "k": k,
            "n": n, "count": 1, "inner": 1, "parallel": running.parallel, "threads": running.threads,
        }  # fmt: skip
        context = [values.get(name, 0) for name in FIELDS]
        operands: Operands = [(_A, x), (_C, out), (_START, out)] if adds else [(_A, x), (_C, out)]
        if k > DEEPEST:
            start = self._add(made.place, context, _M, _THREADS_OF_PRODUCT, operands)
        else:
            pack = made.pack, self.room, 0, *y.strides, k, n
            start = self._add(made.packed, context, _M, _THREADS_OF_PRODUCT, operands, *pack)
            self._point(~(command + _MATRIX), y)
            columns = -(-n // made.columns) * made.columns
            self.room += -(-(columns * k * y.itemsize + SLACK) // _LINE) * _LINE
        self._point(start + PLACE["b"], y)
        if bias is not None:
            self._point(start + _START, bias)

    def elementwise(self, plan: Any, size: int, operands: list[Operand]) -> None:
        """A compiled kernel (its plan) on matrices with so many columns, inputs and then results."""
        running, lanes = build.running(), plan[LANES]
        context = [0] * _LENGTH
        context[:6] = [ctypes.addressof(plan), running.range, running.parallel, running.threads, self.rows, size]
        self.kept.append(plan)
        whole = size % lanes == 0
        for k, (_, _, row, element, *_) in enumerate(operands):
            whole = whole and element == plan[SIZES + k]
            context[_ROW_STEPS + k], context[_STEPS + k] = row, element
        if whole:  # vectors that lie side by side are what the kernel's own body takes
            context[_RANGE] = 0
            for k in range(len(operands)):
                context[_STEPS + k] *= lanes
        self._add(_engine().place, context, _ROWS, _THREADS, list(enumerate(operands, _PLACES)))

    def _memory(self) -> Any:
        """What the compiled function reads: what the threads share, the commands, and everything else."""
        parts = threads.number() if self.apart else 1
        head = [0, len(self.words) // _COMMAND, self.turns, self.rows, -(-self.rows // parts), 0, self.room]
        first, more = len(head), len(head) + len(self.words)
        memory = array("q", head + self.words + self.more)
        start = memory.buffer_info()[0]
        memory[_ALL] = start + 8 * first
        for word in self.inside:
            memory[first + word] = start + 8 * (more + self.words[word])
        where = [(more + word if word >= 0 else first + ~word, number, offset) for word, number, offset in self.places]
        return memory, start, parts, where

    def run(self, arrays: list[Any]) -> None:
        """Run all commands in every turn. (Another thread may do so at the same time, in memory of its own.)"""
        try:
            found = self.idle.pop()
        except IndexError:
            found = self._memory()
        memory, start, parts, where = found
        places = [address(x) for x in arrays]
        for word, number, offset in where:
            memory[word] = places[number] + offset
        room = np.empty(parts * self.room + _LINE, np.uint8)
        memory[_ROOM] = -(-address(room) // _LINE) * _LINE
        _engine().run(start, build.running().parallel)
        self.idle.append(found)
