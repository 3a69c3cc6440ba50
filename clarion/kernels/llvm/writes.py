"""Writes in place to what an object holds, counted: zeros, a number, another array, numbers between limits, where a mask holds, random ones.

The form of these kernels for objects (NOTE [Held views] in kernels/held.py) is for what everybody can see to be harmless: adjacent floats of an object
that is no view and has no history. It writes, counts that, and notes whose line it was. Everything else, and what somebody wants to
hear of, goes elsewhere: then nothing has been changed.
"""

from __future__ import annotations

from functools import partial

from .api import (
    DATA,
    DECLINED,
    DESCR,
    ITEM,
    NDIM,
    SIZE,
    TYPE,
    WRITEABLE,
    adjacent,
    api,
    entry,
    every,
    of,
    same,
    when_not,
)
from .holding import COUNTER, COUNTER_WORDS, HELD_COUNTER, HELD_VIEW, NEVER, NUMBER, copied, put
from .text import Function, literal
from .views import Card, array_of, own, tuple_of, unchanged

# A card: where else to go; the loop; another one that it calls; the card of `direct_view`; does an object have a history? in the counter: the place of
# the last write, whose shadow it is; who listens, where (before, after); who tells the place, in two ways; the owner of the place that was met last;
# of random numbers: their source's type, where in it stand the words, how many are used, and its lock; two methods of that, and one that goes on to the next words; types of masks and whole numbers; are random numbers normal?; to what is written.
(
    OTHERWISE, LOOP, ALSO, VIEWS, HELD_FLAG, PLACE, SHADOW, HUB, BEFORE, AFTER, FRAME, ONE, HERE, USER, SOURCE, BLOCK, USED, LOCK, ACQUIRE, RELEASE, ADVANCE,
    MASKS, WHOLE, NORMAL, TAKEN, WORDS,
) = range(26)  # fmt: skip
FLOATS, WHOLE_NUMBERS, ALL = range(3)  # what a kernel writes to
_ARGUMENTS = ("ptr card", "ptr array", "i64 elements", "i1 single", "ptr args", "i64 count")
_NO = "i64 0"


class Loop:
    """A loop that writes: it gives 0 where it is not for these arguments, and has written nothing."""

    def __init__(self, name: str, count: int) -> None:
        self.f = f = Function(f"write_{name}", "i64", *_ARGUMENTS)
        self.need(same(f, "%count", str(count), "i64"))

    def need(self, condition: str) -> None:
        when_not(self.f, condition, _NO)

    def argument(self, k: int) -> str:
        return self.f.load("ptr", self.f.element("%args", str(k), "ptr"))

    def number(self, thing: str) -> str:
        """A number of Python's that float32 can hold, as a double."""
        f, value = self.f, self.f.variable("double", literal("double", 0))
        whole, beyond = same(f, of(f, thing, TYPE), api(f, "int_type")), f.reserve("i32")
        with f.when(whole):
            given = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})")
            self.need(f.op("icmp ult", "i64", f.op("add", "i64", given, str(1 << 53)), str(1 << 54)))
            self.need(same(f, f.load("i32", beyond), "0", "i32"))
            value.set(f.cast("sitofp", "i64", given, "double"))
        with f.when(f.op("xor", "i1", whole, "true")):
            self.need(same(f, of(f, thing, TYPE), api(f, "float_type")))
            value.set(of(f, thing, SIZE, "double"))
        size = f.intrinsic("fabs", "double", value.get())
        large = f.op("fcmp ogt", "double", size, literal("double", 3e38))
        finite = f.op("fcmp one", "double", size, literal("double", float("inf")))
        self.need(f.op("xor", "i1", every(f, large, finite), "true"))
        return value.get()

    def finite(self, thing: str) -> str:
        """A number of Python's that is neither infinite nor NaN."""
        value = self.number(thing)
        self.need(self.f.op("fcmp olt", "double", self.f.intrinsic("fabs", "double", value), literal("double", 1e38)))
        return value

    def other(self, thing: str) -> str:
        """The array of an object without a history, adjacent and of the same shape."""
        f, card = self.f, Card(self.f)
        views = Card(f, card.thing(VIEWS))
        array = array_of(f, thing, _NO)
        self.need(f.op("icmp ne", "ptr", card.in_(thing, HELD_FLAG), api(f, "true")))
        unchanged(f, views, thing, "false", card[HELD_FLAG], _NO)
        self.need(adjacent(f, array))
        self.need(f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {array}, ptr %array)"), "0"))
        return array

    def end(self) -> Function:
        self.f.end("i64 1")
        return self.f

    def by_type(self) -> list[tuple[str, str, int]]:
        """The condition, the type, its bytes."""
        return [("%single", "float", 4), (self.f.op("xor", "i1", "%single", "true"), "double", 8)]

    def narrowed(self, value: str, scalar: str) -> str:
        return value if scalar == "double" else self.f.cast("fptrunc", "double", value, "float")


def _zero() -> Function:
    loop = Loop("zero", 0)
    f = loop.f
    bytes_ = f.op("mul", "i64", "%elements", f.select("i64", "%single", "4", "8"))
    f.call("llvm.memset.p0.i64", "void", f"ptr {of(f, '%array', DATA)}", "i8 0", f"i64 {bytes_}", "i1 false")
    return loop.end()


def _fill() -> Function:
    loop = Loop("fill", 1)
    f, value = loop.f, loop.number(loop.argument(0))
    place = of(f, "%array", DATA)
    for condition, scalar, size in loop.by_type():
        with f.when(condition):
            narrow = loop.narrowed(value, scalar)
            with f.counted("0", "%elements") as i:
                f.store(scalar, narrow, f.element(place, i, scalar), size)
    return loop.end()


def _copy() -> Function:
    """Of an array of the same type, of a mask or of whole numbers."""
    loop = Loop("copy", 1)
    f, card = loop.f, Card(loop.f)
    source = loop.other(loop.argument(0))
    place, far, kind = of(f, "%array", DATA), of(f, source, DATA), of(f, source, DESCR)
    alike = same(f, kind, of(f, "%array", DESCR))
    mask, whole = same(f, kind, card.thing(MASKS)), same(f, kind, card.thing(WHOLE))
    loop.need(f.op("or", "i1", alike, f.op("or", "i1", mask, whole)))
    with f.when(alike):
        bytes_ = f.op("mul", "i64", "%elements", f.select("i64", "%single", "4", "8"))
        f.call("llvm.memmove.p0.p0.i64", "void", f"ptr {place}", f"ptr {far}", f"i64 {bytes_}", "i1 false")
        f.line("ret i64 1")
        f.begin(*f.labels("unreachable"))
    for condition, scalar, size in loop.by_type():
        for given, type_, word in ((mask, "i8", "uitofp"), (whole, "i64", "sitofp")):
            with f.when(every(f, condition, given)), f.counted("0", "%elements") as i:
                value = f.cast(word, type_, f.load(type_, f.element(far, i, type_)), scalar)
                f.store(scalar, value, f.element(place, i, scalar), size)
    return loop.end()


def _masked() -> Function:
    """A number where a mask holds."""
    loop = Loop("masked", 2)
    f, card = loop.f, Card(loop.f)
    mask, value = loop.other(loop.argument(0)), loop.number(loop.argument(1))
    loop.need(same(f, of(f, mask, DESCR), card.thing(MASKS)))
    place, holds = of(f, "%array", DATA), of(f, mask, DATA)
    for condition, scalar, size in loop.by_type():
        with f.when(condition):
            narrow = loop.narrowed(value, scalar)
            with f.counted("0", "%elements") as i:
                here = f.op("icmp ne", "i8", f.load("i8", f.element(holds, i, "i8")), "0")
                target = f.element(place, i, scalar)
                f.store(scalar, f.select(scalar, here, narrow, f.load(scalar, target, size)), target, size)
    return loop.end()


def _clamp() -> Function:
    """Numbers between two limits, or on one side of one: what is NaN stays that."""
    loop = Loop("clamp", 2)
    f, limits = loop.f, []
    alike = same(f, loop.argument(0), loop.argument(1))
    loop.need(f.op("xor", "i1", every(f, alike, same(f, loop.argument(0), api(f, "none"))), "true"))
    for k, infinite in enumerate((float("-inf"), float("inf"))):
        thing, limit = loop.argument(k), loop.f.variable("double", literal("double", infinite))
        with f.when(f.op("icmp ne", "ptr", thing, api(f, "none"))):
            limit.set(loop.number(thing))
        limits.append(limit.get())
        loop.need(f.op("fcmp ord", "double", limits[-1], limits[-1]))
    place = of(f, "%array", DATA)
    for condition, scalar, size in loop.by_type():
        with f.when(condition):
            low, high = (loop.narrowed(limit, scalar) for limit in limits)
            with f.counted("0", "%elements") as i:
                target = f.element(place, i, scalar)
                value = f.load(scalar, target, size)
                value = f.select(scalar, f.op("fcmp olt", scalar, value, low), low, value)
                f.store(scalar, f.select(scalar, f.op("fcmp ogt", scalar, value, high), high, value), target, size)
    return loop.end()


def _added() -> Function:
    """A whole number to whole numbers, as counters count."""
    loop = Loop("added", 1)
    f, thing, beyond = loop.f, loop.argument(0), loop.f.reserve("i32")
    loop.need(same(f, of(f, thing, TYPE), api(f, "int_type")))
    number = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})")
    loop.need(f.op("icmp ult", "i64", f.op("add", "i64", number, str(1 << 53)), str(1 << 54)))
    loop.need(same(f, f.load("i32", beyond), "0", "i32"))
    place = of(f, "%array", DATA)
    with f.counted("0", "%elements") as i:
        target = f.element(place, i, "i64")
        f.store("i64", f.op("add", "i64", f.load("i64", target, 8), number), target, 8)
    return loop.end()


def _lined() -> Function:
    """Elements put or added where numbers say: the numbers, the elements, a dimension. ALSO is the card of small_lines.py."""
    loop = Loop("lined", 3)
    f, card = loop.f, Card(loop.f)
    views, given = Card(f, card.thing(VIEWS)), []
    first = f.cast("ptrtoint", "ptr", of(f, "%array", DATA), "i64")
    end = f.op("add", "i64", first, f.op("mul", "i64", "%elements", "8"))  # (of four bytes they end before)
    for k in range(2):
        thing = loop.argument(k)
        array = array_of(f, thing, _NO)
        loop.need(f.op("icmp ne", "ptr", card.in_(thing, HELD_FLAG), api(f, "true")))
        unchanged(f, views, thing, "false", card[HELD_FLAG], _NO)
        loop.need(adjacent(f, array))
        start = f.cast("ptrtoint", "ptr", of(f, array, DATA), "i64")
        after = f.op("add", "i64", start, f.op("mul", "i64", f.let(f"call i64 @size_of(ptr {array})"), "8"))
        loop.need(f.op("or", "i1", f.op("icmp uge", "i64", start, end), f.op("icmp ule", "i64", after, first)))
        given.append(array)
    number, beyond = loop.argument(2), f.reserve("i32")
    loop.need(same(f, of(f, number, TYPE), api(f, "int_type")))
    dim = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {number}, ptr {beyond})")
    loop.need(same(f, f.load("i32", beyond), "0", "i32"))
    ndim = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")
    dim = f.select("i64", f.op("icmp slt", "i64", dim, "0"), f.op("add", "i64", dim, ndim), dim)
    arguments = f"ptr {card.thing(ALSO)}, ptr %array, ptr {given[0]}, ptr {given[1]}, i64 {dim}, ptr %array"
    written = f.let(f"call ptr @lined({arguments})")
    loop.need(f.op("icmp ne", "ptr", written, DECLINED))
    f.line(f"call void {api(f, 'decref')}(ptr {written})")
    return loop.end()


def _counted() -> Function:
    """The counter of an object, made at the first write; null where others have to look at it."""
    f = Function("counter_for_a_write", "ptr", "ptr card", "ptr x", linkage="internal")
    card, none = Card(f), api(f, "none")
    views = Card(f, card.thing(VIEWS))
    counter = f.variable("ptr", views.in_("%x", HELD_COUNTER))
    with f.when(same(f, counter.get(), none)):
        counter.set(copied(f, views.thing(COUNTER), views[COUNTER_WORDS]))
        when_not(f, f.op("icmp ne", "ptr", counter.get(), "null"), "ptr null")
        put(f, "%x", views[HELD_COUNTER], counter.get(), True)
    when_not(f, same(f, of(f, counter.get(), TYPE), of(f, views.thing(COUNTER), TYPE)), "ptr null")
    when_not(f, f.op("icmp ne", "ptr", counter.get(), views.thing(NEVER)), "ptr null")
    when_not(f, same(f, card.in_(counter.get(), SHADOW), none), "ptr null")
    f.end(f"ptr {counter.get()}")
    return f


def _noted() -> Function:
    """One write more, and whose line it was: mostly that of the code which was met last, two frames above."""
    f = Function("write_noted", "void", "ptr card", "ptr counter", linkage="internal")
    card, given, beyond, place = Card(f), f.reserve("ptr"), f.reserve("i32"), f.variable("ptr", "null")
    views = Card(f, card.thing(VIEWS))
    before = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {views.in_('%counter', NUMBER)}, ptr {beyond})")
    after = f.let(f"call ptr {api(f, 'from_int64')}(i64 {f.op('add', 'i64', before, '1')})")
    put(f, "%counter", views[NUMBER], after, True)
    f.store("ptr", card.thing(ONE), given)
    frame = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(FRAME)}, ptr {given}, i64 1, ptr null)")
    with f.when(f.op("icmp ne", "ptr", frame, "null")):
        code = f.let(f"call ptr {api(f, 'frame_code')}(ptr {frame})")
        with f.when(same(f, code, card.thing(USER))):
            last = f.cast("sext", "i32", f.let(f"call i32 {api(f, 'frame_place')}(ptr {frame})"), "i64")
            number = f.let(f"call ptr {api(f, 'from_int64')}(i64 {last})")
            place.set(tuple_of(f, own(f, code), number, or_else="void"))
        for thing in (code, frame):
            f.line(f"call void {api(f, 'decref')}(ptr {thing})")
    with f.when(same(f, place.get(), "null")):
        with f.when(same(f, frame, "null")):
            f.line(f"call void {api(f, 'clear_error')}()")
        place.set(f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(HERE)}, ptr null, i64 0, ptr null)"))
        with f.when(same(f, place.get(), "null"), rarely=True):
            f.line(f"call void {api(f, 'clear_error')}()")
            f.line("ret void")
            f.begin(*f.labels("unreachable"))
        with f.when(same(f, of(f, place.get(), TYPE), api(f, "tuple_type"))):
            met = f.element("%card", str(USER), "i64")
            old = f.load("ptr", met)
            f.store("ptr", own(f, of(f, place.get(), ITEM)), met)
            with f.when(f.op("icmp ne", "ptr", old, "null")):
                f.line(f"call void {api(f, 'decref')}(ptr {old})")
    put(f, "%counter", card[PLACE], place.get(), True)
    f.end()
    return f


def give_none(f: Function, condition: str) -> None:
    """Return None of Python's where the condition does not hold."""
    with f.when(f.op("xor", "i1", condition, "true")):
        f.line(f"ret ptr {own(f, api(f, 'none'))}")
        f.begin(*f.labels("unreachable"))


def _of_objects() -> Function:
    """What CPython calls: the object, once it is written; None where that is not for here."""
    f = Function("direct_written", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    none = api(f, "none")
    card = Card(f, of(f, "%self", DATA))
    views = Card(f, card.thing(VIEWS))
    miss = partial(give_none, f)
    miss(every(f, same(f, "%names", "null"), f.op("icmp sge", "i64", "%count", "1")))
    x = f.load("ptr", "%args")
    type_ = of(f, x, TYPE)
    miss(f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder"))))
    for listener in (BEFORE, AFTER):
        miss(same(f, card.in_(card.thing(HUB), listener), none))
    miss(same(f, views.in_(x, HELD_VIEW), none))
    miss(f.op("icmp ne", "ptr", card.in_(x, HELD_FLAG), api(f, "true")))
    array = f.load("ptr", f.offset(x, api(f, "holder_array", "i64")))
    miss(f.op("icmp ne", "ptr", array, "null"))
    miss(same(f, of(f, array, TYPE), api(f, "array_type")))
    miss(adjacent(f, array, WRITEABLE))
    single, double = (same(f, of(f, array, DESCR), api(f, name)) for name in ("float32", "float64"))
    floats, whole = f.op("or", "i1", single, double), same(f, of(f, array, DESCR), card.thing(WHOLE))
    miss(f.op("or", "i1", floats, f.op("icmp ne", "i64", card[TAKEN], str(FLOATS))))
    miss(f.op("or", "i1", whole, f.op("icmp ne", "i64", card[TAKEN], str(WHOLE_NUMBERS))))
    miss(f.op("or", "i1", floats, whole))
    elements = f.let(f"call i64 @size_of(ptr {array})")
    miss(f.op("icmp ult", "i64", elements, str(1 << 15)))
    counter = f.let(f"call ptr @counter_for_a_write(ptr {card.card}, ptr {x})")
    miss(f.op("icmp ne", "ptr", counter, "null"))
    more, left = f.offset("%args", "8"), f.op("sub", "i64", "%count", "1")
    given = f"ptr {card.card}, ptr {array}, i64 {elements}, i1 {single}, ptr {more}, i64 {left}"
    miss(f.op("icmp ne", "i64", f.let(f"call i64 {card.thing(LOOP)}({given})"), "0"))
    f.line(f"call void @write_noted(ptr {card.card}, ptr {counter})")
    f.end(f"ptr {own(f, x)}")
    return f


def _declining() -> Function:
    """The kernel itself is another one's affair."""
    f = Function("written_elsewhere", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    f.end(f"ptr {DECLINED}")
    return f


# Kernels: their loop, what random numbers are made by, and to what they write.
KERNELS = {
    "zero": ("write_zero", "", FLOATS),
    "fill_scalar_into": ("write_fill", "", FLOATS),
    "copy": ("write_copy", "", FLOATS),
    "masked_fill": ("write_masked", "", FLOATS),
    "clamp": ("write_clamp", "", FLOATS),
    "uniform": ("write_uniform", "uniforms", FLOATS),
    "normal": ("write_normal", "normals", FLOATS),
    "random_range": ("write_nothing", "", FLOATS),
    "add": ("write_added", "", WHOLE_NUMBERS),
    "scatter": ("write_lined", "", ALL),
    "scatter_add": ("write_lined", "", ALL),
    "index_add": ("write_lined", "", ALL),
}
ENTRIES = {"direct_elsewhere": "written_elsewhere"}


def functions() -> list[Function]:
    """All functions."""
    plain = [_zero(), _fill(), _copy(), _masked(), _clamp(), _added(), _lined()]
    return [
        *plain,
        _counted(),
        _noted(),
        _of_objects(),
        _declining(),
        entry("direct_elsewhere", "written_elsewhere"),
    ]
