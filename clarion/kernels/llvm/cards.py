"""Builtin functions around compiled kernels, from Python's side: see NOTE [Direct calls] in direct.py."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import held, mt19937
from . import (
    columns,
    direct,
    holding,
    joins,
    layouts,
    normals,
    small_draws,
    small_extremes,
    small_frames,
    small_lines,
    small_lists,
    small_moves,
    small_pairs,
    small_products,
    small_sorts,
    small_totals,
    small_windows,
    taking,
    views,
    writes,
)
from .addresses import addresses
from .plan import MOST, SIZES
from .runtime import runtime

_SMALL = range(-5, 257)  # whole numbers that Python has once
VERSIONS = 12  # of one kernel, at most
_FASTCALL_WITH_KEYWORDS = 0x82


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("call", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


@functools.cache
def available() -> bool:
    """Can kernels be called directly here? Tells the compiled side all that it needs to know."""
    made = runtime()
    if not made.x86 or not addresses():
        return False
    made.set_api(addresses())
    held.Held.changed, held.Held.around = _tell_holders, _around
    _tell_holders()
    return True


def _tell_holders() -> None:
    """What builtin functions know of objects that hold arrays (NOTE [Held arrays])."""
    prototype = held.Held.prototype
    if prototype is not None:
        addresses = {
            "holder": id(type(prototype)),
            "other_holder": id(held.Held.other or type(prototype)),
            "prototype": id(prototype),
            "holder_words": type(prototype).__basicsize__ // 8,
            "holder_array": _offset(prototype, held.Held.array),
            "holder_plain": _offset(prototype, held.Held.plain[0]),
            "holder_plain_too": _offset(prototype, held.Held.plain[1]),
        }
        runtime().set_api(addresses)
        if held.Views.counter is not None and held.Views.quick is None:
            held.Views.card = View()
            held.Views.quick = held.Views.card.function
            for tell in held.Views.followers:
                tell(held.Views.quick)


def _offset(thing: Any, attribute: str) -> int:
    """Where in an object an attribute stands, in bytes."""
    before, mark = getattr(thing, attribute, _offset), object()
    setattr(thing, attribute, mark)
    words = ctypes.cast(id(thing), ctypes.POINTER(ctypes.c_int64))
    found = [k for k in range(2, type(thing).__basicsize__ // 8) if words[k] == id(mark)]
    if before is _offset:
        delattr(thing, attribute)
    else:
        setattr(thing, attribute, before)
    return 8 * found[0]


@functools.cache
def _maker() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p]
    return make


def builtin(name: str, place: int, card: Any) -> tuple[Callable[..., Any], Any]:
    """A builtin function whose `self` is a card, and what must live as long as the function does."""
    method = _Method(name.encode(), place, _FASTCALL_WITH_KEYWORDS, b"")
    return _maker()(ctypes.byref(method), card, None), method


class Form:
    """How a version runs: over what, what its results are (type, shape), from how many elements on without Python's lock."""

    __slots__ = ("largest", "least", "long", "per_row", "results", "way")

    def __init__(self, way: int, results: list[tuple[Any, int]], long: int) -> None:
        self.way, self.results, self.long = way, results, long
        self.per_row: tuple[int, ...] = ()  # which arguments have one value per row
        self.least, self.largest = 1, sys.maxsize  # how many elements it is called for


class _Builtin:
    """A builtin function with a card."""

    def __init__(self, name: str, place: int, words: int) -> None:
        self.words = np.zeros(words, np.int64)
        self.method = _Method(name.encode(), place, _FASTCALL_WITH_KEYWORDS, b"")
        self.kept: list[Any] = []  # what the card points to
        self.function: Callable[..., Any] = _maker()(ctypes.byref(self.method), self.words, None)
        _cards.append(self)  # compiled code and Python's function point here

    def called(self, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The function. What it is not for goes to `otherwise`."""
        self.kept.append(otherwise)
        self.words[direct.OTHERWISE] = id(otherwise)
        return self.function


class Product(_Builtin):
    """Products of small matrices: small_products.py."""

    def __init__(self, name: str, form: str) -> None:
        super().__init__(name, runtime().direct_product, small_products.WORDS)
        self.kept += [np.dtype(np.float32), np.dtype(np.float64)]
        batches = name in ("matmul", "matmul_nt", "matmul_tn", "bmm")
        self.words[1:] = small_products.FORMS.index(form), *map(id, self.kept), id(None), name == "linear", batches
        if form == "linear":
            self.for_holders = _Method(name.encode(), runtime().direct_held_product, _FASTCALL_WITH_KEYWORDS, b"")
            held.note(self.function, [_maker()(ctypes.byref(self.for_holders), self.words, None), None])


class Around(_Builtin):
    """Any kernel, called with objects that hold arrays: `_held_any` in holding.py."""

    def __init__(self, kernel: Callable[..., Any], inputs: int, asked: int) -> None:
        super().__init__("held", runtime().direct_held_any, holding.ANY_CARD)
        self.kept += [kernel, np.dtype(np.bool_), np.dtype(np.int64)]
        self.words[:] = id(kernel), inputs, asked, *map(id, self.kept[1:])


def _around(kernel: Callable[..., Any], inputs: int, asked: int) -> Callable[..., Any]:
    return Around(kernel, inputs, asked).function


class Plain(_Builtin):
    """Sums of few rows, lists of small arrays: columns.py, small_lists.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().lines[(columns.KERNELS | small_lists.KERNELS)[name]], 1)


class Take(_Builtin):
    """Rows of a small table: taking.py."""

    def __init__(self, name: str) -> None:
        types = [np.dtype(kind) for kind in (np.float32, np.float64, np.int64)]
        super().__init__(name, runtime().direct_take, taking.FIRST + 2 * len(types))
        self.kept += types
        sizes = [word for kind in types for word in (id(kind), kind.itemsize)]
        self.words[1:] = id(types[-1]), len(types), *sizes


class Lines(_Builtin):
    """Elements of small arrays by their numbers, running sums: small_lines.py."""

    def __init__(self, name: str) -> None:
        entry, what, alike = small_lines.KERNELS[name]
        super().__init__(name, runtime().lines[entry], small_lines.WORDS)
        self.kept.append(np.dtype(np.int64))
        self.words[1:] = what, alike, id(self.kept[0])
        if name in writes.KERNELS:
            Writes(name, self).note(self.function)


class Pairs(_Builtin):
    """Elements of small arrays by pairs of numbers, rows put elsewhere, windows: small_pairs.py, small_frames.py, small_windows.py."""

    def __init__(self, name: str) -> None:
        entries = small_pairs.KERNELS | small_frames.KERNELS | small_windows.KERNELS
        super().__init__(name, runtime().lines[entries[name]], small_pairs.WORDS)
        self.kept.append(np.dtype(np.int64))
        self.words[small_pairs.INT64] = id(self.kept[0])


class Extremes(_Builtin):
    """The largest and smallest along a dimension: small_extremes.py."""

    def __init__(self, name: str) -> None:
        entry, smallest = small_extremes.KERNELS[name]
        super().__init__(name, runtime().lines[entry], small_extremes.WORDS)
        self.kept.append(np.dtype(np.int64))
        self.words[1:] = smallest, id(self.kept[0])


class Totals(_Builtin):
    """Totals over dimensions of small arrays: small_totals.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().lines["direct_totals"], small_totals.WORDS)
        self.kept += [np.dtype(np.int64), np.dtype(np.bool_)]
        self.words[1:] = small_totals.KERNELS[name], *map(id, self.kept), runtime().lines[small_totals.LOOP]


class Moves(_Builtin):
    """Small arrays joined, or filled by a mask: small_moves.py."""

    def __init__(self, name: str) -> None:
        entry, stacks = small_moves.KERNELS[name]
        types = [np.dtype(kind) for kind in (np.bool_, np.float32, np.float64, np.int64)]
        super().__init__(name, runtime().lines[entry], small_moves.FIRST + 2 * len(types))
        self.kept += types
        self.words[1:] = stacks, len(types), *[word for kind in types for word in (id(kind), kind.itemsize)]
        if name in writes.KERNELS:
            Writes(name).note(self.function)
        else:
            Joins(name, self)


class Sorts(_Builtin):
    """Short rows sorted: small_sorts.py."""

    def __init__(self, name: str) -> None:
        middle = name == small_sorts.MIDDLE
        super().__init__(name, runtime().lines["direct_middle" if middle else "direct_sort"], small_sorts.WORDS)
        self.kept.append(np.dtype(np.int64))
        sorts, stable = (0, 0) if middle else small_sorts.KERNELS[name]
        self.words[1:] = sorts, id(self.kept[0]), stable


class View(_Builtin):
    """Objects that share memory: NOTE [Held views] in kernels/held.py."""

    def __init__(self) -> None:
        super().__init__("view", runtime().direct_view, holding.VIEW_CARD)
        known, holder, nothing = held.Views, held.Held.prototype, ()
        assert known.otherwise is not None
        self.kept += [known.of_base, known.counter, known.never, nothing]
        places = [_offset(known.of_base, name) for name in known.names]
        self.words[holding.VIEW : holding.COUNTER] = id(known.of_base), type(known.of_base).__basicsize__ // 8, *places
        self.words[holding.COUNTER : holding.HELD_COUNTER] = (
            id(known.counter), type(known.counter).__basicsize__ // 8, _offset(known.counter, known.number), id(known.never),
        )  # fmt: skip
        where = [_offset(holder, name) for name in (known.held_counter, known.held_view)]
        self.words[holding.HELD_COUNTER :] = *where, id(nothing)
        self.called(known.otherwise)


def _note_history(card: _Builtin, name: str) -> bool:
    """Fill in what views.py knows of histories, if anything is known."""
    known, holder = held.Histories, held.Held.prototype
    if known.described is None or held.Views.quick is None:
        return False
    step, node, shapes = known.described(name)
    card.kept += [step, node, known.sequence, known.mark, known.frame, known.hub, held.Views.card]
    own = [_offset(node, each) for each in known.names]
    theirs = [_offset(holder, each) for each in known.held]
    card.words[views.STEP : views.USER] = (
        id(step), id(node), type(node).__basicsize__ // 8, shapes, held.Views.card.words.ctypes.data, *own, *theirs, id(known.sequence), id(known.mark),
        id(known.frame), id(1), id(2), id(known.hub), _offset(known.hub, known.listener),
    )  # fmt: skip
    return True


class Joins(_Builtin):
    """Objects joined: joins.py. `moves` is the card of the kernel itself."""

    def __init__(self, name: str, moves: Any) -> None:
        super().__init__(name, runtime().direct_joined, joins.WORDS)
        self.kept.append(moves)
        self.words[joins.MOVES] = moves.words.ctypes.data
        if _note_history(self, name):
            held.note(moves.function, [self.function])


class Seen(_Builtin):
    """Arrays that are seen otherwise, and the objects that hold them: layouts.py, views.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().lines["direct_seen"], views.WORDS)
        lay, numbers = layouts.KERNELS[name]
        self.words[layouts.LAY :][:2] = runtime().lines[lay], -1 if numbers is None else numbers
        if not _note_history(self, name):
            return
        self.quietly = self.words.copy()
        self.quietly[views.QUIETLY] = id(held.Histories.quietly)
        if name == "slice":
            others = [Seen(each) for each in ("select", "unsqueeze", "alias")]
            self.kept += others
            self.words[views.ONE_OF : views.WORDS] = [each.words.ctypes.data for each in others]
            self.quietly[views.ONE_OF : views.WORDS] = [each.quietly.ctypes.data for each in others]
        self.for_holders = _Method(name.encode(), runtime().direct_shown, _FASTCALL_WITH_KEYWORDS, b"")
        recorded, quiet = (
            _maker()(ctypes.byref(self.for_holders), words, None) for words in (self.words, self.quietly)
        )
        held.note(self.function, [recorded, None, None, None, quiet])


class Parts(_Builtin):
    """Arrays in parts: layouts.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().lines["direct_parts"], layouts.WORDS)
        lay, numbers = layouts.KERNELS["slice"]
        self.words[layouts.LAY :] = runtime().lines[lay], numbers


class Writes(_Builtin):
    """Writes to what objects hold, counted: writes.py. The kernel itself is elsewhere."""

    def __init__(self, name: str, other: _Builtin | None = None) -> None:
        super().__init__(name, runtime().lines["direct_elsewhere"], writes.WORDS)
        known, numbers, holder = held.Histories, held.Views.counter, held.Held.prototype
        self.forms: list[Callable[..., Any]] = []
        if known.described is None or held.Views.quick is None:
            return
        loop, also, taken = writes.KERNELS[name]
        source, types = mt19937.default_generator, [np.dtype(kind) for kind in (np.bool_, np.int64)]
        methods = [type(source._lock).acquire, type(source._lock).release, type(source)._advance]
        self.kept += [held.Views.card, known.hub, known.frame, known.here, 1, *types, *methods, other]
        places = [_offset(numbers, each) for each in known.counted]
        listeners = [_offset(known.hub, each) for each in known.of_writes]
        of_source = [_offset(source, each) for each in ("_block", "_at", "_lock")]
        self.words[writes.LOOP : writes.USER] = (
            runtime().lines[loop], normals.loop(also) if also else 0 if other is None else other.words.ctypes.data, held.Views.card.words.ctypes.data, _offset(holder, known.held[2]), *places,
            id(known.hub), *listeners, id(known.frame), id(1), id(known.here),
        )  # fmt: skip
        self.words[writes.SOURCE :] = (
            id(type(source)),
            *of_source,
            *map(id, methods),
            *map(id, types),
            also == "normals",
            taken,
        )
        self.draws = bool(also) or loop == "write_nothing"
        self.for_holders = _Method(name.encode(), runtime().direct_written, _FASTCALL_WITH_KEYWORDS, b"")
        place = runtime().direct_drawn if also else runtime().direct_drawn_whole
        self.drawing = _Method(name.encode(), place, _FASTCALL_WITH_KEYWORDS, b"")
        self.forms = [_maker()(ctypes.byref(each), self.words, None) for each in (self.for_holders, self.drawing)]
        self.note(self.function)

    def note(self, kernel: Callable[..., Any]) -> None:
        """This is how the kernel writes to objects."""
        if self.forms:
            held.note(kernel, [None, None, self.forms[0], self.forms[1] if self.draws else None])


class Draw(_Builtin):
    """Numbers of small draws: small_draws.py."""

    def __init__(self, name: str, loop: str, together: int) -> None:
        super().__init__(name, runtime().direct_draw, small_draws.WORDS)
        self.words[1:] = normals.loop(loop), together


class OfWords(_Builtin):
    """Few numbers made of words: small_draws.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().lines[small_draws.KERNELS[name]], small_draws.WORD_CARD)
        self.kept += [np.dtype(np.uint32), np.dtype(np.int64)]
        self.words[1:] = list(map(id, self.kept))


class Card(_Builtin):
    """A kernel. Versions are added as they are compiled."""

    def __init__(self, name: str) -> None:
        super().__init__(name, runtime().direct, direct.FIRST + VERSIONS * direct.VERSION)
        self.known: set[tuple[Any, ...]] = set()
        self.for_holders = [
            _Method(name.encode(), place, _FASTCALL_WITH_KEYWORDS, b"") for place in runtime().direct_held
        ]
        forms = [_maker()(ctypes.byref(each), self.words, None) for each in self.for_holders]
        if name in writes.KERNELS:
            forms += Writes(name).forms[:1]
        held.note(self.function, forms)

    def add(self, plan: Any, args: Sequence[Any], form: Form) -> None:
        """Another version: for arguments like these."""
        count = int(self.words[direct.COUNT])
        expected = [_expected(value, i in form.per_row, form.way) for i, value in enumerate(args)]
        if count == VERSIONS or len(args) > MOST or tuple(expected) in self.known:
            return
        self.known.add(tuple(expected))
        start = direct.FIRST + count * direct.VERSION
        words = self.words[start : start + direct.VERSION]
        words[: SIZES + MOST] = plan
        words[direct.ARGUMENTS], words[direct.FORM] = len(args), form.way
        words[direct.RESULTS], words[direct.LONG] = len(form.results), form.long
        words[direct.LEAST], words[direct.LARGEST] = form.least, form.largest
        words[direct.EXPECTED : direct.EXPECTED + 3 * len(args)] = np.array(expected).reshape(-1)
        results = [(id(dtype), shape) for dtype, shape in form.results]
        words[direct.MADE : direct.MADE + 2 * len(results)] = np.array(results).reshape(-1)
        self.kept += [plan, form, *[value.dtype if isinstance(value, np.ndarray) else value for value in args]]
        self.words[direct.COUNT] = count + 1


def _expected(value: Any, per_row: bool, way: int) -> tuple[int, int, int]:
    """What an argument must be: the words on the card."""
    if type(value) is np.ndarray:
        ndim = value.ndim if way == direct.BY_ROWS else -1
        return direct.PER_ROW if per_row else direct.AN_ARRAY, id(value.dtype), ndim
    if type(value) is float:
        return direct.THE_NUMBER, int(np.float64(value).view(np.int64)), 0
    if type(value) is tuple and len(value) == 1 and value[0] in _SMALL:  # made anew for each call
        return direct.A_TUPLE_OF, id(value[0]), 0
    return direct.THE_OBJECT, id(value), 0


_cards: list[_Builtin] = []
