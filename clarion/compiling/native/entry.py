"""A native program as a builtin function of Python's: it looks whether it may run, runs, and makes the objects that come of it.

`entry(*args)` gives a tuple of what the caller asked for (tensors, arrays, numbers), or None where it must not run: a word of memory that the
conditions of the replay depend on has changed (compiling/words.py), or an argument is not like the recorded ones. Then nothing has happened.
Its card (see NOTE [Direct calls] in kernels/llvm/direct.py) holds addresses; what never changes is written into the code.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.llvm import machine
from ...kernels.llvm.api import DATA, DESCR, DIMS, ITEM, NDIM, STRIDES, TYPE, of, same
from ...kernels.llvm.cards import addresses, builtin
from ...kernels.llvm.text import Function, module
from .lowering import Bounds
from .memory import View

TABLE, COUNT, WORDS, SPANS, SPAN_COUNT, FIRST = range(6)  # of a card: then addresses, by their number in `Entry.names`
_HEAD = 2  # words of an object that are Python's own


class Prototypes(NamedTuple):
    """What new tensors are copies of; where their array and their counter stand, and what else arguments must have."""

    tensor: Any
    counter: Any  # makes a counter that has counted so many writes
    slots: dict[str, int]  # of a tensor, by name
    never: Any  # a counter that no argument may have


class Made(NamedTuple):
    """One object of the result: an "array", a "tensor" (written to so many times), or a "number"."""

    kind: str
    view: View  # where its values stand after the program has run
    fresh: int | None = None  # the program writes into its memory, whose address stands here in the table
    writes: int = 0


class Argument(NamedTuple):
    """What an argument must be: a tensor that looks like one (`place`: of its memory in the table), or an object."""

    like: Any
    is_tensor: bool
    place: int | None = None


def _unchanged() -> Function:
    """Do all words stand where they stood? They come in pairs: an address, and what was there."""
    f = Function("unchanged", "i1", "ptr words", "i64 count", linkage="internal")
    with f.counted("0", "%count") as k:
        pair = f.element("%words", f.op("mul", "i64", k, "2"), "i64")
        now = f.load("i64", f.load("ptr", pair))
        with f.when(f.op("icmp ne", "i64", now, f.load("i64", f.element(pair, "1", "i64"))), rarely=True):
            f.line("ret i1 false")
            f.begin(*f.labels("unreachable"))
    f.end("i1 true")
    return f


class Card:
    """Memory that compiled code reads: addresses by their names, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.names: dict[Any, int] = {}
        self.kept: list[Any] = []  # what it points to

    def address(self, f: Function, name: Any, place: int | None = None, keep: Any = None) -> str:
        """An address as compiled code reads it: one of `addresses()`, or that of an object."""
        if name not in self.names:
            self.names[name] = FIRST + len(self.names)
            self.kept.append((name, addresses()[name] if place is None else place, keep))
        return f.load("ptr", f.element("%card", str(self.names[name]), "ptr"))

    def thing(self, f: Function, thing: Any) -> str:
        """The address of an object."""
        return self.address(f, id(thing), id(thing), thing)

    def filled(self) -> Any:
        """The memory."""
        memory = np.zeros(FIRST + len(self.names), np.int64)
        for name, place, _ in self.kept:
            memory[self.names[name]] = place
        return memory


class Entry:
    """Writes the functions around `program(table)`."""

    def __init__(
        self,
        program: int,
        made: list[Made],
        given: list[Argument],
        prototypes: Prototypes,
        long: bool,
        bounds: list[tuple[Bounds, int]],
    ) -> None:
        self.program, self.made, self.given, self.prototypes, self.long = program, made, given, prototypes, long
        self.card = Card()
        f = self.run = Function("run", "ptr", "ptr card", "ptr args", linkage="internal")
        self.table = f.load("ptr", f.element("%card", str(TABLE), "i64"))
        self.card.thing(f, None)
        self.card.address(f, "incref")
        self._arguments()
        for each, place in bounds:
            self._in_bounds(each, place)
        results = [self._fresh(each) if each.fresh is not None else "" for each in made]
        self._program()
        results = [new or self._result(each) for new, each in zip(results, made, strict=True)]
        results = [
            self._around(new, each) if each.kind == "tensor" else new for new, each in zip(results, made, strict=True)
        ]
        tuple_ = self._made_of(f"call ptr {self.card.address(f, 'new_tuple')}(i64 {len(made)})")
        for k, new in enumerate(results):
            f.store("ptr", new, f.offset(tuple_, str(ITEM + 8 * k)))
        f.end(f"ptr {tuple_}")

    # Whether it may run -----------------------------------------------------------------------------------

    def _refuse(self, condition: str) -> None:
        """Give null where a condition does not hold: the answer is None then."""
        f = self.run
        with f.when(f.op("xor", "i1", condition, "true"), rarely=True):
            f.line("ret ptr null")
            f.begin(*f.labels("unreachable"))

    def _arguments(self) -> None:
        f, slots, known = self.run, self.prototypes.slots, []
        none = self.card.thing(f, None)
        for k, each in enumerate(self.given):
            argument = f.load("ptr", f.element("%args", str(k), "ptr"))
            if not each.is_tensor:
                self._refuse(same(f, argument, self.card.thing(f, each.like)))
                continue
            self._refuse(same(f, of(f, argument, TYPE), self.card.thing(f, type(each.like))))
            self._refuse(same(f, of(f, argument, slots["_edge"]), none))
            self._refuse(same(f, of(f, argument, slots["_rg"]), self.card.thing(f, each.like._rg)))
            counter = of(f, argument, slots["_vc"])
            self._refuse(f.op("icmp ne", "ptr", counter, self.card.thing(f, self.prototypes.never)))
            for other, others in known:  # no two are the same tensor, or share memory as views do
                self._refuse(f.op("icmp ne", "ptr", argument, other))
                shared = f.op("and", "i1", same(f, counter, others), f.op("icmp ne", "ptr", counter, none))
                self._refuse(f.op("xor", "i1", shared, "true"))
            known.append((argument, counter))
            self._array(of(f, argument, slots["_array"]), each.like._array, each.place)

    def _array(self, array: str, like: Any, place: int | None) -> None:
        """Its form must be the recorded one, and its memory nothing that the program writes to."""
        f = self.run
        self._refuse(same(f, of(f, array, TYPE), self.card.address(f, "array_type")))
        self._refuse(same(f, of(f, array, DESCR), self.card.thing(f, like.dtype)))
        self._refuse(same(f, of(f, array, NDIM, "i32"), str(like.ndim), "i32"))
        for where, numbers in ((DIMS, like.shape), (STRIDES, like.strides)):
            words = of(f, array, where) if numbers else ""
            for k, number in enumerate(numbers):
                self._refuse(same(f, f.load("i64", f.element(words, str(k), "i64")), str(number), "i64"))
        if place is None:
            return
        data = of(f, array, DATA)
        f.store("ptr", data, f.element(self.table, str(place), "ptr"))
        before = sum((n - 1) * s for n, s in zip(like.shape, like.strides, strict=True) if s < 0)
        after = sum((n - 1) * s for n, s in zip(like.shape, like.strides, strict=True) if s > 0) + like.itemsize
        first, last = (f.offset(data, str(each)) for each in (before, after))
        spans = f.load("ptr", f.element("%card", str(SPANS), "i64"))
        with f.counted("0", f.load("i64", f.element("%card", str(SPAN_COUNT), "i64"))) as k:
            span = f.element(spans, f.op("mul", "i64", k, "2"), "i64")
            begin, end = f.load("ptr", span), f.load("ptr", f.element(span, "1", "i64"))
            apart = f.op("or", "i1", f.op("icmp ule", "ptr", last, begin), f.op("icmp ule", "ptr", end, first))
            self._refuse(apart)

    def _in_bounds(self, bounds: Bounds, place: int) -> None:
        """Whole numbers: below the limit, or the one that may be anything."""
        f, (view, limit, but) = self.run, bounds
        start = f.offset(f.load("ptr", f.element(self.table, str(place), "ptr")), str(view.offset))
        with f.counted("0", str(view.shape[0])) as k:
            number = f.load("i64", f.offset(start, f.op("mul", "i64", k, str(view.strides[0]))))
            right = f.op("icmp ult", "i64", number, str(limit))
            self._refuse(right if but is None else f.op("or", "i1", right, same(f, number, str(but), "i64")))

    # What comes of it --------------------------------------------------------------------------------------

    def _program(self) -> None:
        f = self.run
        program = self.card.address(f, "program", self.program)
        if not self.long:
            f.line(f"call void {program}(ptr {self.table})")
            return
        thread = f.let(f"call ptr {self.card.address(f, 'save_thread')}()")
        f.line(f"call void {program}(ptr {self.table})")
        f.line(f"call void {self.card.address(f, 'restore_thread')}(ptr {thread})")

    def _made_of(self, call: str) -> str:
        """A new object; where there is no memory for it the exception is set."""
        f = self.run
        new = f.let(call)
        with f.when(same(f, new, "null"), rarely=True):
            f.line("ret ptr inttoptr (i64 1 to ptr)")
            f.begin(*f.labels("unreachable"))
        return new

    def _new_array(self, view: View) -> str:
        f = self.run
        numbers = f.reserve("i64", max(2 * len(view.shape), 1))
        for k, number in enumerate((*view.shape, *view.strides)):
            f.store("i64", str(number), f.element(numbers, str(k), "i64"))
        strides = f.element(numbers, str(len(view.shape)), "i64")
        kind, type_ = self.card.address(f, "array_type"), self.card.thing(f, view.dtype)
        f.line(f"call void {self.card.address(f, 'incref')}(ptr {type_})")
        return self._made_of(
            f"call ptr {self.card.address(f, 'new_array')}(ptr {kind}, ptr {type_}, i32 {len(view.shape)}, ptr {numbers}, "
            f"ptr {strides}, ptr null, i32 0, ptr null)"
        )

    def _fresh(self, made: Made) -> str:
        """An array that the program writes into."""
        f = self.run
        new = self._new_array(made.view)
        f.store("ptr", of(f, new, DATA), f.element(self.table, str(made.fresh), "ptr"))
        return new

    def _result(self, made: Made) -> str:
        """A number, or an array, of what stands in the program's memory."""
        f, view = self.run, made.view
        source = f.offset(f.load("ptr", self.table), str(view.buffer.offset + view.offset))
        if made.kind == "number":
            value = f.load("float" if view.dtype.itemsize == 4 else "double", source, view.dtype.itemsize)
            wide = f.cast("fpext", "float", value, "double") if view.dtype.itemsize == 4 else value
            return self._made_of(f"call ptr {self.card.address(f, 'from_double')}(double {wide})")
        new = self._new_array(view)
        size = math.prod(view.shape) * view.dtype.itemsize
        f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {of(f, new, DATA)}", f"ptr {source}", f"i64 {size}", "i1 false")
        return new

    def _copy_of(self, prototype: Any) -> str:
        """An object with slots alone: a copy of one that has all that it begins with."""
        f = self.run
        new = self._made_of(
            f"call ptr {self.card.address(f, 'allocate')}(ptr {self.card.thing(f, type(prototype))}, i64 0)"
        )
        source, incref = self.card.thing(f, prototype), self.card.address(f, "incref")
        with f.counted(str(_HEAD), str(type(prototype).__basicsize__ // 8)) as k:
            word = f.load("ptr", f.element(source, k, "ptr"))
            with f.when(f.op("icmp ne", "ptr", word, "null")):
                f.line(f"call void {incref}(ptr {word})")
                f.store("ptr", word, f.element(new, k, "ptr"))
        return new

    def _around(self, array: str, made: Made) -> str:
        """A tensor around an array, which it takes over."""
        f, slots = self.run, self.prototypes.slots
        new = self._copy_of(self.prototypes.tensor)
        f.store("ptr", array, f.offset(new, str(slots["_array"])))
        if made.writes:
            old = of(f, new, slots["_vc"])
            f.store("ptr", self._copy_of(self.prototypes.counter(made.writes)), f.offset(new, str(slots["_vc"])))
            f.line(f"call void {self.card.address(f, 'decref')}(ptr {old})")
        return new

    def _called(self) -> Function:
        """What CPython calls."""
        f = Function("entry", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
        card = f.load("ptr", f.offset("%self", str(DATA)))
        result = f.variable("ptr", "null")
        words, count = (f.load(t, f.element(card, str(k), "i64")) for t, k in (("ptr", WORDS), ("i64", COUNT)))
        right = f.op("and", "i1", same(f, "%count", str(len(self.given)), "i64"), same(f, "%names", "null"))
        with f.when(right), f.when(f.let(f"call i1 @unchanged(ptr {words}, i64 {count})")):
            result.set(f.let(f"call ptr @run(ptr {card}, ptr %args)"))
        with f.when(same(f, result.get(), "null"), rarely=True):
            none = f.load("ptr", f.element(card, str(self.card.names[id(None)]), "ptr"))
            f.line(f"call void {f.load('ptr', f.element(card, str(self.card.names['incref']), 'ptr'))}(ptr {none})")
            f.line(f"ret ptr {none}")
            f.begin(*f.labels("unreachable"))
        with f.when(same(f, result.get(), "inttoptr (i64 1 to ptr)"), rarely=True):
            f.line("ret ptr null")
            f.begin(*f.labels("unreachable"))
        f.end(f"ptr {result.get()}")
        return f

    def text(self) -> str:
        """The whole module."""
        return module([_unchanged(), self.run, self._called()])


class Program:
    """A program as a builtin function, `call`; `words` are what it looks at first."""

    def __init__(self, entry: Entry, table: int) -> None:
        place = machine.address(machine.compiled(entry.text()), "entry")
        self.card = entry.card.filled()
        self.kept = entry.card.kept
        self.card[TABLE] = table
        self.call, self._method = builtin("replay", place, self.card)
        self.words = np.zeros(0, np.int64)

    def look_at(self, words: dict[int, int], written: list[tuple[int, int]]) -> None:
        """From now on it runs only while this stands in these places; `written`: memory that no argument may share."""
        self.words = np.array(list(words.items()), np.int64).reshape(-1)
        self.spans = np.array(written, np.int64).reshape(-1)
        self.card[COUNT], self.card[WORDS] = len(words), self.words.ctypes.data
        self.card[SPAN_COUNT], self.card[SPANS] = len(written), self.spans.ctypes.data
