"""From steps to a native program: lowered, joined, planned, written, compiled."""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...forks import fork_safe
from ...kernels import layout, registry
from ...kernels.layout import blank, strided
from ...kernels.llvm import machine
from ...kernels.llvm.build import running
from ...kernels.llvm.products.calls import products
from ...kernels.quiet import quietly
from ...kernels.trace.graph import Program as Terms
from ...kernels.trace.graph import Untraceable
from ..recording import Ref, Step, draws
from ..replay import Unfit
from .groups import Conflict, Group, grouped
from .lowering import Builder, Call, Copy, Lowered, Match, Product
from .memory import Buffer, View, dense_strides, plan
from .program import Writer
from .space import Space, lower

COPIED = (
    4096  # bytes of a result that is copied out of the program's own memory; larger ones are written where they stay
)
MOST = 4000  # operations: more would take long to compile


@functools.cache
def library() -> dict[str, int]:
    """The addresses of matrix products, by the type of elements; empty where there are none."""
    found = {"float": products(np.dtype(np.float32)), "double": products(np.dtype(np.float64))}
    return {kind: each.place for kind, each in found.items() if each is not None} if all(found.values()) else {}


class Unbuildable(Exception):
    """A native program is not worth it, or cannot be made."""


class Native:
    """A native program: called with the arrays of its inputs, gives those of its results."""

    def __init__(
        self, steps: list[Step], inputs: list[int], results: list[int], recording: Any, fixed: Any = ()
    ) -> None:
        if machine.binding() is None or not library():
            raise Unbuildable("llvmlite is not installed")
        self.results, self.lock = results, fork_safe(threading.Lock())
        self.values, self.slots_in, self.fixed = recording.arrays, inputs, frozenset(fixed)
        self.steps, self.scalars = steps, recording.scalars
        self.refuses = False  # numbers out of bounds: shall somebody else say so, before anything is done?
        builder = Builder()
        env: dict[int, Lowered] = {}
        for number, slot in enumerate(inputs):
            env[slot] = builder.of(recording.arrays[slot], ("input", number))
        self._lower(builder, env, steps, recording)
        if not builder.operations or len(builder.operations) > MOST:
            raise Unbuildable("nothing to do, or too much")
        self.bounds = builder.bounds
        self.calls = sum(isinstance(each, Call) for each in builder.operations)
        # (Steps of dimensions of size 1 are of no use here, but a caller can see them.)
        self.views = {slot: env[slot].view()._replace(strides=self.values[slot].strides) for slot in results}
        self.items = _alive(grouped(builder.operations), [view.buffer for view in self.views.values()])
        self._place()
        self._guard_memory(inputs)
        self._compile()

    def _guard_memory(self, inputs: list[int]) -> None:
        """Inputs that are written must share memory with no other input: neither when it is recorded nor later."""
        written = {view.buffer for item in self.items for view in _results(item)}
        if any(each.x.buffer in written for each in self.bounds):
            raise Unbuildable("whole numbers are written before they are used")
        self.writes = {b.source[1] for b in written if b.source is not None and b.source[0] == "input"}
        self.spans: dict[int, tuple[int, int]] = {}  # where the inputs lie
        arrays = [self.values[slot] for slot in inputs]
        if not self.apart(arrays, [number for number, _, _ in self.inputs]):
            raise Unbuildable("inputs share memory")

    def apart(self, arrays: list[Any], changed: Any) -> bool:
        """Do inputs that have changed share no memory with others that are written?"""
        if not self.writes:
            return True
        spans = self.spans  # (those that have not changed lie where they lay)
        for i in changed:
            spans[i] = byte_bounds(arrays[i])
        for i in changed:
            first, last = spans[i]
            for j in spans if i in self.writes else self.writes:
                if i != j and spans[j][0] < last and first < spans[j][1]:
                    return False
        return True

    # Lowering -----------------------------------------------------------------------------------------------

    def _lower(self, builder: Builder, env: dict[int, Lowered], steps: list[Step], recording: Any) -> None:
        space = Space(builder)
        portable = registry.portable.__wrapped__  # not kept: the space lives no longer than this

        def kernel(name: str) -> Any:
            return lambda *args, **options: portable(name, space)(*args, **options)

        registry.know("lowered", Lowered, space, otherwise=kernel)
        layout.ARRAYS[Lowered] = Lowered.seen_anew
        try:
            for step in steps:
                builder.place = step.place
                if not _lowered(builder, space, env, step, recording.arrays):
                    self._called(builder, env, step, recording.arrays)
        finally:
            del layout.ARRAYS[Lowered]
            registry.forget("lowered")

    def _called(self, builder: Builder, env: dict[int, Lowered], step: Step, values: Any) -> None:
        """A step that Python does: its results are given to what follows."""
        from ..recording import reads, slots_in

        read = {slot: env[slot].view() for slot in reads(step)}
        outs = slots_in(step.outs)
        for slot in outs:
            if any(np.may_share_memory(values[slot], values[other]) for other in read):
                raise Unbuildable("a view that is not known here")
        builder.operations.append(Call(step, (read, outs)))
        for slot in outs:
            env[slot] = builder.of(values[slot], ("slot", slot))

    # Memory -------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Which buffers are in memory, from when to when; the large ones among the results are the caller's."""
        spans: dict[Buffer, list[int]] = {}
        for at, item in enumerate(self.items):
            for buffer in _touched(item):
                spans.setdefault(buffer, [at, at])[1] = at
        self.fresh: list[tuple[int, View]] = []
        self.copied: dict[int, View] = {}
        for slot, view in self.views.items():
            buffer = view.buffer
            if buffer.source is not None:
                continue
            if (
                buffer.size > COPIED
                and _in_rows(view)
                and view.offset == 0
                and view.size * view.dtype.itemsize == buffer.size
            ):
                buffer.source = ("fresh", slot)
                self.fresh.append((slot, view))
            else:
                spans[buffer][1] = len(self.items)
                self.copied[slot] = view
        own = [(buffer, first, last) for buffer, (first, last) in spans.items() if buffer.source is None]
        self.memory = np.zeros(plan(own) + 128, np.uint8)
        start = self.memory.__array_interface__["data"][0]
        self.begin = -start % 64
        numbered: dict[Any, int] = {"float": 1, "double": 2, "parallel": 3, "threads": 4}
        for buffer in spans:
            if buffer.source is not None:
                numbered[buffer] = len(numbered) + 1
        self.numbered = numbered
        self.table = (ctypes.c_void_p * (len(numbered) + 1))()
        self.table[0] = start + self.begin
        for kind, address in library().items():
            self.table[numbered[kind]] = address
        self.table[3], self.table[4] = running().parallel, running().threads
        self.inputs: list[tuple[int, int, Any]] = []  # number of the argument, place in the table, how it was recorded
        self.slots: dict[int, int] = {}
        for buffer, place in numbered.items():
            if isinstance(buffer, Buffer):
                kind, what = buffer.source
                if kind == "constant":
                    self.table[place] = _address(what)
                elif kind == "input":
                    self.inputs.append((what, place, self.values[self.slots_in[what]]))
                else:
                    self.slots[what] = place
        self.known: list[Any] = [None] * len(self.inputs)
        self.constants = [
            buffer.source[1] for buffer in numbered if isinstance(buffer, Buffer) and buffer.source[0] == "constant"
        ]

    def seen(self, view: View) -> Any:
        """A view of the program's own memory as an array."""
        return np.ndarray(
            view.shape, view.dtype, self.memory, self.begin + view.buffer.offset + view.offset, view.strides
        )

    # Code ---------------------------------------------------------------------------------------------------

    def _compile(self) -> None:
        self.parts: list[Any] = []
        self.work, self.program = 0.0, 0  # nanoseconds, roughly; the address of its last native part
        pending: list[Any] = []
        for item in [*self.items, None]:
            if item is not None and not isinstance(item, Call):
                pending.append(item)
                continue
            if pending:
                self.parts.append(self._segment(pending))
                pending = []
            if item is not None:
                self.parts.append(_Python(self, item))
        self.outputs = [
            (slot, self.seen(view), None if _in_rows(view) else self.values[slot]) for slot, view in self.copied.items()
        ]

    def _segment(self, items: list[Any]) -> Any:
        writer = Writer(self.numbered)
        for number, item in enumerate(items):
            if isinstance(item, Group):
                writer.group(item, number)
            elif isinstance(item, Copy):
                writer.copy(item.x, item.out)
            elif isinstance(item, Match):
                writer.match(item.x, item.number, item.out)
            else:
                writer.product(item)
        engine = machine.compiled(writer.text())
        self.work += writer.work
        self.program = machine.address(engine, "program")
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.program)

    def __call__(self, *given: Any) -> list[Any]:
        arrays = list(given)
        with self.lock:
            table, known, changed = self.table, self.known, []
            for i, (number, place, expected) in enumerate(self.inputs):
                array = arrays[number]
                if array is not known[i]:
                    changed.append(number)
                    if array.strides != expected.strides:  # an expanded gradient
                        array = arrays[number] = _as_recorded(array, expected)
                    elif number in self.fixed:
                        known[i] = array
                    table[place] = _address(array)
            if changed and not self.apart(arrays, changed):
                return self.slow(*arrays)  # type: ignore[no-any-return]
            if self.bounds and not self._in_bounds(arrays):
                if self.refuses:
                    raise Unfit
                return self.slow(*arrays)  # type: ignore[no-any-return]
            found: dict[int, Any] = {}
            for slot, view in self.fresh:
                made = found[slot] = np.empty(view.shape, view.dtype)
                table[self.slots[slot]] = _address(made)
            for part in self.parts:
                if type(part) is _Python:
                    part(found, arrays)
                else:
                    part(table)
            for slot, view, expected in self.outputs:
                found[slot] = view.copy() if expected is None else _as_recorded(view, expected)
            return [
                found[slot] if slot in found else self.array(self.views[slot], found, arrays) for slot in self.results
            ]

    def _in_bounds(self, arrays: Any) -> bool:
        """Are all whole numbers where they must be? (Where not, Python says so.)"""
        for view, limit, but in self.bounds:
            numbers = self.array(view, {}, arrays)
            right = numbers.view(np.uint64) < limit  # (those below 0 are very large)
            if not (right.all() or (but is not None and (right | (numbers == but)).all())):
                return False
        return True

    def whole(self) -> bool:
        """Is each result an array of its own, whose elements stand side by side in some order?"""
        fresh = {slot for slot, _ in self.fresh}
        return all(slot in fresh or (slot in self.copied and _side_by_side(self.views[slot])) for slot in self.results)

    def slow(self, *arrays: Any) -> Any:
        """The same steps as a function of Python's, which is right for inputs that share memory, too."""
        from ..replay import written

        self.known = [None] * len(self.inputs)
        return quietly(written(self.steps, self.slots_in, self.results, self.scalars))(*arrays)

    def array(self, view: View, found: dict[int, Any], arrays: Any) -> Any:
        """A view of memory that is not the program's own."""
        kind, what = view.buffer.source
        base = arrays[what] if kind == "input" else what if kind == "constant" else found[what]
        if base.shape == view.shape and base.strides == view.strides and not view.offset:
            return base
        return strided(base, view.shape, view.strides, view.offset)


class _Python:
    """A step that Python does between native ones."""

    def __init__(self, native: Native, call: Call) -> None:
        step, (read, self.outs) = call.step, call.place
        self.native = native
        self.function = registry.bind(step.function) if isinstance(step.function, str) else step.function
        self.step = step
        self.read = read
        self.own = {slot: native.seen(view) for slot, view in read.items() if view.buffer.source is None}

    def __call__(self, found: dict[int, Any], arrays: Any) -> None:
        options = {name: self._value(each, found, arrays) for name, each in self.step.options.items()}
        result = self.function(*self._value(self.step.args, found, arrays), **options)
        outs = self.step.outs
        if isinstance(outs, Ref):
            self._take(outs.slot, result, found)
        else:
            for ref, one in zip(outs, result if outs else (), strict=True):
                if ref is not None:
                    self._take(ref.slot, one, found)

    def _value(self, each: Any, found: dict[int, Any], arrays: Any) -> Any:
        """An argument. (No function inside of `__call__` that calls itself: the circle would hold all results.)"""
        if isinstance(each, Ref):
            return self._array(each.slot, found, arrays)
        if type(each) in (list, tuple):
            return type(each)([self._value(one, found, arrays) for one in each])
        return each

    def _array(self, slot: int, found: dict[int, Any], arrays: Any) -> Any:
        if slot in self.own:
            return self.own[slot]
        return self.native.array(self.read[slot], found, arrays)

    def _take(self, slot: int, result: Any, found: dict[int, Any]) -> None:
        array = found[slot] = np.asarray(result)
        place = self.native.slots.get(slot)
        if place is not None:
            expected = self.native.values[slot]
            if array.strides != expected.strides or array.shape != expected.shape or array.dtype != expected.dtype:
                array = found[slot] = _as_recorded(array, expected)
            self.native.table[place] = _address(array)


def _as_recorded(array: Any, expected: Any) -> Any:
    """An array laid out as the one that was recorded."""
    made = blank((expected.shape, expected.strides, expected.dtype))
    made[...] = array
    return made


def _address(array: Any) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def _lowered(builder: Builder, space: Space, env: dict[int, Lowered], step: Step, values: Any) -> bool:
    """Lower a step; False, with nothing changed, where that cannot be done."""

    def value(each: Any) -> Any:
        if isinstance(each, Ref):
            return env[each.slot]
        if type(each) in (list, tuple):
            return type(each)([value(one) for one in each])
        return each

    before, bounds, builder.undo = len(builder.operations), len(builder.bounds), []
    found: dict[int, Lowered] = {}
    if draws(step):
        return False  # to try it would draw random numbers
    try:
        result = lower(
            builder, space, step, value(step.args), {name: value(each) for name, each in step.options.items()}
        )
        outs = step.outs
        pairs = [(outs, result)] if isinstance(outs, Ref) else zip(outs, result if outs else (), strict=True)
        for ref, one in pairs:
            if ref is None:
                continue
            expected = values[ref.slot]
            if not isinstance(one, Lowered) or one.shape != expected.shape or one.dtype != expected.dtype:
                raise Untraceable("another result than was recorded")
            if not _same_layout(one, expected):
                raise Untraceable("another layout than was recorded")
            found[ref.slot] = one
    except (Untraceable, Conflict, AttributeError, TypeError, ValueError, KeyError, IndexError):
        del builder.operations[before:], builder.bounds[bounds:]
        for storage, old in reversed(builder.undo):
            storage.buffer = old
        return False
    env.update(found)
    return True


def _in_rows(view: View) -> bool:
    """Does it lie as a copy of it would?"""
    return view.strides == dense_strides(view.shape, view.dtype.itemsize)


def _side_by_side(view: View) -> bool:
    step = view.dtype.itemsize
    for stride, n in sorted(zip(view.strides, view.shape, strict=True)):
        if n != 1 and stride != step:
            return False
        step *= n
    return view.size > 0


def _same_layout(one: Lowered, expected: Any) -> bool:
    return all(n == 1 or a == b for n, a, b in zip(one.shape, one.strides, expected.strides, strict=True))


# What is alive ----------------------------------------------------------------------------------------------


def _results(item: Any) -> list[View]:
    """The views that an item writes to."""
    if isinstance(item, (Product, Copy, Match)):
        return [item.out]
    if isinstance(item, Call):
        read, outs = item.place
        return [] if outs else list(read.values())
    return [view for view, _ in item.outputs.values()]


def _touched(item: Any) -> list[Buffer]:
    """The buffers that an item reads from memory or writes to."""
    if isinstance(item, Product):
        return [item.x.buffer, item.y.buffer, item.out.buffer]
    if isinstance(item, (Copy, Match)):
        return [item.x.buffer, item.out.buffer]
    if isinstance(item, Call):
        read, _ = item.place
        return [view.buffer for view in read.values()]
    return [*[v.buffer for v in item.used], *[view.buffer for view, _ in item.outputs.values() if view.buffer.stored]]


def _alive(items: list[Any], results: list[Buffer]) -> list[Any]:
    """The items that something comes of, from the last to the first; marks the buffers that must be in memory."""
    needed = set(results)
    kept = []
    for buffer in results:
        buffer.stored = True
    for item in reversed(items):
        if isinstance(item, Call):
            read, _ = item.place
            needed.update(view.buffer for view in read.values())
        elif isinstance(item, (Product, Copy, Match)):
            if item.out.buffer not in needed and item.out.buffer.source is None:
                continue
            needed.update(_touched(item))
        else:
            for view, _ in item.outputs.values():
                if view.buffer in needed:
                    view.buffer.stored = True
            terms = set(Terms([], [t for view, t in item.outputs.values() if view.buffer.stored], True).terms)
            if not terms:
                continue
            item.used = [view for view, term, _ in item.inputs if term in terms]
            needed.update(view.buffer for view in item.used)
        for buffer in _touched(item):
            buffer.stored = True
        kept.append(item)
    return kept[::-1]
