"""A few loops over and over, without Python in between: matrix products and compiled passes, whose arrays move on from turn to turn.

    turns = Sequence()
    turns.product(h, weight, buffer)
    turns.elementwise(plan, [(gates, 4096), (buffer, 0), (c, 0)])  # the gates go on by 4096 bytes after every turn
    turns.run(35)

A step of a recurrent network is some microseconds; calling two NumPy functions and cutting their operands out takes longer.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from . import build, machine
from .plan import GRAIN, LANES, MOST
from .pool import clear_flags
from .products.blocks import FIELDS
from .products.calls import products
from .text import Function, module

# What a pass over rows needs: the plan of its loop, the loop (null: the kernel's body itself), the pool, the sizes; then, per operand, its place, and in bytes how far it
# is from row to row and from element to element.
_PLAN, _RANGE, _PARALLEL, _THREADS, _ROWS, _SIZE, _PER = range(7)
_PLACES, _ROW_STEPS, _STEPS = 8, 8 + MOST, 8 + 2 * MOST
_LENGTH = 8 + 3 * MOST

# A command: its function, its context, how many places of that move, and by how many bytes.
_COMMAND = 4


def _at(f: Function, base: str, place: int | str, type_: str = "i64") -> str:
    return f.load(type_, f.element(base, str(place), "i64"))


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


def _run(x86: bool) -> Function:
    """All commands, so many times."""
    f = Function("run", "void", "ptr commands", "i64 count", "i64 turns")
    with f.counted("0", "%turns"), f.counted("0", "%count") as number:
        command = f.element("%commands", f.op("mul", "i64", number, str(_COMMAND)), "i64")
        function, context = _at(f, command, 0, "ptr"), _at(f, command, 1, "ptr")
        f.line(f"call void {function}(ptr {context})")
        moves = _at(f, command, 3, "ptr")
        with f.counted("0", _at(f, command, 2)) as k:
            place = f.element(context, k, "i64")
            f.store("i64", f.op("add", "i64", f.load("i64", place), _at(f, moves, k)), place)
    clear_flags(f, x86)
    f.end()
    return f


class _Engine:
    """The compiled functions."""

    def __init__(self) -> None:
        x86 = machine.x86()
        engine = machine.compiled(module([_pass_chunk(), _pass(), _run(x86)]))
        self.place = machine.address(engine, "pass")
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self.run = machine.callable_at(machine.address(engine, "run"), None, pointer, number, number)


@functools.cache
def _engine() -> _Engine:
    return _Engine()


def address(x: Any) -> int:
    """Where an array lies."""
    place: int = x.__array_interface__["data"][0]
    return place


class Command:
    """A command of a sequence: its function, and the memory that says what it works on."""

    def __init__(self, function: int, values: list[int], first: int, moves: list[int]) -> None:
        """`first`: where in `values` the places of the operands begin. `moves`: how far each goes on after every turn."""
        self.first = first
        self.context = (ctypes.c_int64 * len(values))(*values)
        self.moves = (ctypes.c_int64 * (first + len(moves)))(*[0] * first, *moves)
        self.words = [function, ctypes.addressof(self.context), first + len(moves), ctypes.addressof(self.moves)]

    def put(self, operand: int, array: Any) -> None:
        """Another array, of the same shape and strides, in the place of an operand."""
        self.context[self.first + operand] = address(array)


class Sequence:
    """Commands that are run in turn, over and over."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.arrays: list[Any] = []  # they live as long as this

    def product(self, x: Any, y: Any, out: Any, move: int = 0, adds: bool = False) -> Command:
        """out = x @ y of matrices (or added to what is there); after every turn x goes on by so many bytes."""
        made, running = products(x.dtype), build.running()
        assert made is not None
        assert out.strides[1] == out.itemsize
        self.arrays += [x, y, out]
        values = {
            "a": address(x), "b": address(y), "c": address(out), "start": address(out) if adds else 0,
            "a_m": x.strides[0], "a_k": x.strides[1], "b_k": y.strides[0], "b_n": y.strides[1], "c_m": out.strides[0],
            "m": x.shape[0], "k": x.shape[1], "n": y.shape[1], "count": 1, "inner": 1,
            "parallel": running.parallel, "threads": running.threads,
        }  # fmt: skip
        self.commands.append(Command(made.place, [values.get(name, 0) for name in FIELDS], 0, [move]))
        return self.commands[-1]

    def elementwise(self, plan: Any, operands: list[tuple[Any, int]]) -> Command:
        """A compiled kernel (its plan) on matrices of one shape, inputs and then results; each goes on by so many bytes."""
        running = build.running()
        self.arrays += operands
        values = [0] * _LENGTH
        values[:6] = [ctypes.addressof(plan), running.range, running.parallel, running.threads, *operands[0][0].shape]
        lanes = plan[LANES]
        whole = operands[0][0].shape[1] % lanes == 0 and all(a.strides[1] == a.itemsize for a, _ in operands)
        if whole:  # vectors that lie side by side are what the kernel's own body takes
            values[_RANGE] = 0
        for k, (array, _) in enumerate(operands):
            values[_PLACES + k], values[_ROW_STEPS + k], step = address(array), *array.strides
            values[_STEPS + k] = step * lanes if whole else step
        self.commands.append(Command(_engine().place, values, _PLACES, [move for _, move in operands]))
        return self.commands[-1]

    def run(self, turns: int) -> None:
        """Run all commands so many times."""
        words = [word for command in self.commands for word in command.words]
        _engine().run((ctypes.c_int64 * len(words))(*words), len(self.commands), turns)
