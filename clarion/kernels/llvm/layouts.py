"""Arrays that are seen otherwise, called directly (NOTE [Direct calls]): another shape, another order, a part. NumPy asks longer than that takes.

Whole numbers are taken as they come: dimensions are counted from either side, and one size may be left to be found out. What is refused, and what
is empty, goes elsewhere.
"""

from __future__ import annotations

from .api import (
    DATA,
    DECLINED,
    DESCR,
    DIMS,
    FLAGS,
    ITEM,
    NDIM,
    SIZE,
    STRIDES,
    TYPE,
    WRITEABLE,
    api,
    entry,
    every,
    of,
    same,
    when_not,
)
from .plan import at, field
from .text import Function, Variable

OTHERWISE, LAY, GROUPED, WORDS = range(
    4
)  # a card: where else to go; how the array is laid out (a function); how many numbers (-1: a tuple of them)
MOST = 32  # dimensions
MOST_PARTS = 1024  # of an array in parts
_TYPE_FLAGS, _IS_TUPLE = 168, str(1 << 26)
_NO = "i64 -1"
_ARGUMENTS = ("ptr array", "ptr numbers", "i64 count", "ptr dims", "ptr strides", "ptr place")


class _Layout:
    """A function that lays an array out: from its sizes and strides to others."""

    def __init__(self, name: str) -> None:
        self.f = f = Function(f"lay_{name}", "i64", *_ARGUMENTS)
        self.ndim = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")
        self.dims, self.strides = of(f, "%array", DIMS), of(f, "%array", STRIDES)

    def need(self, condition: str) -> None:
        """Decline where the condition does not hold."""
        when_not(self.f, condition, _NO)

    def size(self, d: str) -> str:
        return at(self.f, self.dims, d)

    def stride(self, d: str) -> str:
        return at(self.f, self.strides, d)

    def number(self, k: int | str) -> str:
        return at(self.f, "%numbers", str(k))

    def set(self, d: str, size: str, stride: str) -> None:
        self.f.store("i64", size, self.f.element("%dims", d, "i64"))
        self.f.store("i64", stride, self.f.element("%strides", d, "i64"))

    def keep(self, d: str, to: str) -> None:
        self.set(to, self.size(d), self.stride(d))

    def dim(self, k: int | str, ndim: str) -> str:
        """A number that is a dimension, counted from the front."""
        f, given = self.f, self.number(k)
        behind = f.op("icmp slt", "i64", given, "0")
        found = f.op("add", "i64", given, f.select("i64", behind, ndim, "0"))
        self.need(f.op("icmp ult", "i64", found, ndim))
        f.store("i64", found, f.element("%numbers", str(k), "i64"))
        return found

    def from_there(self, elements: str, stride: str) -> None:
        """The first element is so many further."""
        f = self.f
        now = f.load("i64", "%place")
        f.store("i64", f.op("add", "i64", now, f.op("mul", "i64", elements, stride)), "%place")

    def end(self, ndim: str) -> Function:
        self.f.end(f"i64 {ndim}")
        return self.f


def _same() -> Function:
    lay = _Layout("same")
    with lay.f.counted("0", lay.ndim) as d:
        lay.keep(d, d)
    return lay.end(lay.ndim)


def _turned() -> Function:
    """A matrix with rows for columns."""
    lay = _Layout("turned")
    lay.need(same(lay.f, lay.ndim, "2", "i64"))
    lay.keep("0", "1")
    lay.keep("1", "0")
    return lay.end("2")


def _exchanged() -> Function:
    lay = _Layout("exchanged")
    f = lay.f
    one, other = (lay.dim(k, lay.ndim) for k in range(2))
    with f.counted("0", lay.ndim) as d:
        to = f.select("i64", same(f, d, one, "i64"), other, d)
        lay.keep(d, f.select("i64", same(f, d, other, "i64"), one, to))
    return lay.end(lay.ndim)


def _ordered() -> Function:
    lay = _Layout("ordered")
    f, met = lay.f, lay.f.variable("i64", "0")
    lay.need(same(f, "%count", lay.ndim, "i64"))
    with f.counted("0", lay.ndim) as k:
        d = lay.dim(k, lay.ndim)
        bit = f.op("shl", "i64", "1", d)
        lay.need(same(f, f.op("and", "i64", met.get(), bit), "0", "i64"))
        met.set(f.op("or", "i64", met.get(), bit))
        lay.keep(d, k)
    return lay.end(lay.ndim)


def _with_one_more() -> Function:
    """One more dimension, of size 1. Its stride is PyTorch's: that of one more element of the dimension that stood there."""
    lay = _Layout("with_one_more")
    f = lay.f
    more = f.op("add", "i64", lay.ndim, "1")
    here = lay.dim(0, more)
    with f.counted("0", lay.ndim) as d:
        lay.keep(d, f.op("add", "i64", d, f.cast("zext", "i1", f.op("icmp sge", "i64", d, here), "i64")))
    step = f.variable("i64", f.load("i64", f.offset(of(f, "%array", DESCR), api(f, "item_size", "i64"))))
    with f.when(f.op("icmp slt", "i64", here, lay.ndim)):
        step.set(f.op("mul", "i64", lay.size(here), lay.stride(here)))
    lay.set(here, "1", step.get())
    return lay.end(more)


def _without(lay: _Layout, here: str) -> str:
    """All dimensions but one: how many are left."""
    f = lay.f
    with f.counted("0", lay.ndim) as d:
        behind = f.cast("zext", "i1", f.op("icmp sgt", "i64", d, here), "i64")
        with f.when(f.op("icmp ne", "i64", d, here)):
            lay.keep(d, f.op("sub", "i64", d, behind))
    return f.op("sub", "i64", lay.ndim, "1")


def _with_one_less() -> Function:
    """Without a dimension, if its size is 1."""
    lay = _Layout("with_one_less")
    f = lay.f
    here = lay.dim(0, lay.ndim)
    with f.when(same(f, lay.size(here), "1", "i64")):
        f.line(f"ret i64 {_without(lay, here)}")
        f.begin(*f.labels("unreachable"))
    with f.counted("0", lay.ndim) as d:
        lay.keep(d, d)
    return lay.end(lay.ndim)


def _one_of() -> Function:
    """What stands at one index of a dimension. (Indices that count from the end are kept so.)"""
    lay = _Layout("one_of")
    f = lay.f
    here, given = lay.dim(0, lay.ndim), lay.number(1)
    size = lay.size(here)
    index = f.op("add", "i64", given, f.select("i64", f.op("icmp slt", "i64", given, "0"), size, "0"))
    lay.need(f.op("icmp ult", "i64", index, size))
    lay.from_there(index, lay.stride(here))
    return lay.end(_without(lay, here))


def _some_of() -> Function:
    """From `start` to below `stop`, which are in range."""
    lay = _Layout("some_of")
    f = lay.f
    here, start, stop, step = lay.dim(0, lay.ndim), *(lay.number(k) for k in range(1, 4))
    length = f.op("sub", "i64", stop, start)
    lay.need(f.op("icmp sle", "i64", "0", start))
    lay.need(f.op("icmp sle", "i64", stop, lay.size(here)))
    lay.need(f.op("icmp sgt", "i64", length, "0"))
    lay.need(f.op("icmp sgt", "i64", step, "0"))
    with f.counted("0", lay.ndim) as d:
        lay.keep(d, d)
    count = f.op("add", "i64", f.op("udiv", "i64", f.op("sub", "i64", length, "1"), step), "1")
    lay.set(here, count, f.op("mul", "i64", lay.stride(here), step))
    lay.from_there(start, lay.stride(here))
    return lay.end(lay.ndim)


def _stretched() -> Function:
    """Dimensions of size 1 repeated, and more of them in front; -1 keeps a size. Strides are those of the portable kernel."""
    lay = _Layout("stretched")
    f = lay.f
    extra = f.op("sub", "i64", "%count", lay.ndim)
    lay.need(f.op("icmp sge", "i64", extra, "0"))
    with f.counted("0", lay.ndim) as d:
        to, size = f.op("add", "i64", d, extra), lay.size(d)
        given = lay.number(to)
        wanted = f.select("i64", same(f, given, "-1", "i64"), size, given)
        alike = same(f, wanted, size, "i64")
        one = f.op("and", "i1", same(f, size, "1", "i64"), f.op("icmp sgt", "i64", wanted, "0"))
        lay.need(f.op("or", "i1", alike, one))
        f.store("i64", wanted, f.element("%numbers", to, "i64"))
        lay.set(to, wanted, f.select("i64", alike, lay.stride(d), "0"))
    step = f.variable("i64", "0")
    with f.when(f.op("icmp sgt", "i64", lay.ndim, "0")):
        step.set(at(f, "%strides", extra))
    with f.counted("0", extra) as k:
        d = f.op("sub", "i64", f.op("sub", "i64", extra, k), "1")
        size = lay.number(d)
        lay.need(f.op("icmp sgt", "i64", size, "0"))
        following = f.variable("i64", "0")
        with f.when(f.op("icmp slt", "i64", f.op("add", "i64", d, "1"), "%count")):
            following.set(lay.number(f.op("add", "i64", d, "1")))
        longer = f.op("mul", "i64", following.get(), step.get())
        step.set(f.select("i64", same(f, size, "1", "i64"), longer, "0"))
        lay.set(d, size, step.get())
    return lay.end("%count")


def _sizes(lay: _Layout) -> None:
    """The sizes of a shape with as many elements, where one of them may be -1."""
    f = lay.f
    known, unknown = f.variable("i64", "1"), f.variable("i64", "-1")
    with f.counted("0", "%count") as k:
        given = lay.number(k)
        open_ = same(f, given, "-1", "i64")
        with f.when(open_):
            lay.need(f.op("icmp slt", "i64", unknown.get(), "0"))
            unknown.set(k)
        with f.when(f.op("xor", "i1", open_, "true")):
            lay.need(f.op("icmp sgt", "i64", given, "0"))
            lay.need(f.op("icmp slt", "i64", given, str(1 << 40)))
            known.set(f.op("mul", "i64", known.get(), given))
            lay.need(f.op("icmp ult", "i64", known.get(), str(1 << 40)))
    elements = f.let("call i64 @size_of(ptr %array)")
    with f.when(f.op("icmp sge", "i64", unknown.get(), "0")):
        left = f.op("sdiv", "i64", elements, known.get())
        f.store("i64", left, f.element("%numbers", unknown.get(), "i64"))
        known.set(f.op("mul", "i64", known.get(), left))
    lay.need(same(f, known.get(), elements, "i64"))
    with f.counted("0", "%count") as k:
        f.store("i64", lay.number(k), f.element("%dims", k, "i64"))


def _regrouped() -> Function:
    """Other sizes for the same elements: `regrouped` of kernels/layout.py."""
    lay = _Layout("regrouped")
    f = lay.f
    lay.need(f.op("icmp sgt", "i64", lay.ndim, "0"))
    _sizes(lay)
    last = f.op("sub", "i64", lay.ndim, "1")
    d, step = f.variable("i64", f.op("sub", "i64", "%count", "1")), f.variable("i64", lay.stride(last))
    held, made = f.variable("i64", "1"), f.variable("i64", "1")
    with f.counted("0", lay.ndim) as k:
        old = f.op("sub", "i64", last, k)
        held.set(f.op("mul", "i64", held.get(), lay.size(old)))
        ends = f.variable("i1", "true")  # a run of memory does, unless the dimension before goes on with it
        more = f.op("icmp sgt", "i64", old, "0")
        before = f.op("sub", "i64", old, "1")
        with f.when(more):
            on = same(f, lay.stride(before), f.op("mul", "i64", held.get(), step.get()), "i64")
            goes_on = f.op("or", "i1", same(f, lay.size(before), "1", "i64"), on)
            ends.set(f.op("xor", "i1", goes_on, "true"))
        with f.when(ends.get()):
            _fill(lay, d, step, held, made)
            lay.need(same(f, made.get(), held.get(), "i64"))
            with f.when(more):
                step.set(lay.stride(before))
                held.set("1")
                made.set("1")
    return lay.end("%count")


def _fill(lay: _Layout, d: Variable, step: Variable, held: Variable, made: Variable) -> None:
    """Sizes, from the last to the first, as long as they fit into a run of memory."""
    f = lay.f
    with f.forever() as done:
        f.leave_when(f.op("icmp slt", "i64", d.get(), "0"), done)
        size = lay.number(d.get())
        fits = f.op("icmp slt", "i64", made.get(), held.get())
        f.leave_when(f.op("xor", "i1", f.op("or", "i1", fits, same(f, size, "1", "i64")), "true"), done)
        f.store("i64", f.op("mul", "i64", made.get(), step.get()), f.element("%strides", d.get(), "i64"))
        made.set(f.op("mul", "i64", made.get(), size))
        d.set(f.op("sub", "i64", d.get(), "1"))


# Kernels: how the array is laid out, how many numbers that takes (None: one tuple of them).
KERNELS: dict[str, tuple[str, int | None]] = {
    "alias": ("lay_same", 0),
    "t": ("lay_turned", 0),
    "transpose": ("lay_exchanged", 2),
    "permute": ("lay_ordered", None),
    "unsqueeze": ("lay_with_one_more", 1),
    "squeeze_dim": ("lay_with_one_less", 1),
    "select": ("lay_one_of", 2),
    "slice": ("lay_some_of", 4),
    "expand": ("lay_stretched", None),
    "view": ("lay_regrouped", None),
}


def _is_tuple(f: Function, thing: str) -> str:
    flags = f.load("i64", f.offset(of(f, thing, TYPE), str(_TYPE_FLAGS)))
    return f.op("icmp ne", "i64", f.op("and", "i64", flags, _IS_TUPLE), "0")


def _given() -> Function:
    """The numbers among the arguments: how many, or -1 where there is something else."""
    f = Function("numbers_given", "i64", "ptr card", "ptr args", "i64 count", "ptr numbers", linkage="internal")
    items, length, beyond = f.variable("ptr", "%args"), f.variable("i64", "%count"), f.reserve("i32")
    expected = field(f, "%card", GROUPED)
    with f.when(f.op("icmp sge", "i64", expected, "0")):
        when_not(f, same(f, "%count", expected, "i64"), _NO)
    with f.when(f.op("icmp slt", "i64", expected, "0")):
        when_not(f, same(f, "%count", "1", "i64"), _NO)
        for again in (False, True):  # (what was given one by one, and may have been a tuple, comes in one)
            only = f.variable("i1", "true")
            if again:
                only.set(same(f, length.get(), "1", "i64"))
            with f.when(only.get()):
                thing = f.load("ptr", items.get())
                grouped = _is_tuple(f, thing)
                if not again:
                    when_not(f, grouped, _NO)
                with f.when(grouped):
                    items.set(f.offset(thing, str(ITEM)))
                    length.set(of(f, thing, SIZE, "i64"))
    when_not(f, f.op("icmp sle", "i64", length.get(), str(MOST)), _NO)
    with f.counted("0", length.get()) as k:
        thing = f.load("ptr", f.element(items.get(), k, "ptr"))
        when_not(f, same(f, of(f, thing, TYPE), api(f, "int_type")), _NO)
        value = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})")
        when_not(f, same(f, f.load("i32", beyond), "0", "i32"), _NO)
        f.store("i64", value, f.element("%numbers", k, "i64"))
    f.end(f"i64 {length.get()}")
    return f


def _seen() -> Function:
    """An array that shares the memory of another one; null with an exception, or `DECLINED`."""
    f = Function("seen", "ptr", "ptr card", "ptr array", "ptr numbers", "i64 count", linkage="internal")
    dims, strides, place = f.reserve("i64", MOST + 1), f.reserve("i64", MOST + 1), f.reserve("i64")
    no = f"ptr {DECLINED}"
    when_not(f, f.op("icmp sgt", "i64", f.let("call i64 @size_of(ptr %array)"), "0"), no)
    when_not(f, f.op("icmp slt", "i32", of(f, "%array", NDIM, "i32"), str(MOST)), no)
    f.store("i64", of(f, "%array", DATA, "i64"), place)
    lay = f.load("ptr", f.element("%card", str(LAY), "i64"))
    given = f"ptr %array, ptr %numbers, i64 %count, ptr {dims}, ptr {strides}, ptr {place}"
    ndim = f.let(f"call i64 {lay}({given})")
    when_not(f, f.op("icmp sge", "i64", ndim, "0"), no)
    descr = of(f, "%array", DESCR)
    flags = f.op("and", "i32", of(f, "%array", FLAGS, "i32"), str(WRITEABLE))
    f.line(f"call void {api(f, 'incref')}(ptr {descr})")
    data = f.load("ptr", place)
    kind, small = api(f, "array_type"), f.cast("trunc", "i64", ndim, "i32")
    arguments = f"ptr {kind}, ptr {descr}, i32 {small}, ptr {dims}, ptr {strides}, ptr {data}, i32 {flags}, ptr null"
    made = f.let(f"call ptr {api(f, 'new_array')}({arguments})")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    f.line(f"call void {api(f, 'incref')}(ptr %array)")
    f.let(f"call i32 {api(f, 'set_base')}(ptr {made}, ptr %array)")
    f.end(f"ptr {made}")
    return f


def _of_arrays() -> Function:
    """The kernel itself."""
    f = Function("seen_otherwise", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    numbers, no = f.reserve("i64", MOST + 1), f"ptr {DECLINED}"
    when_not(f, f.op("icmp sge", "i64", "%count", "1"), no)
    array = f.load("ptr", "%args")
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
    more, left = f.offset("%args", "8"), f.op("sub", "i64", "%count", "1")
    several = f.let(f"call i64 @numbers_given(ptr %card, ptr {more}, i64 {left}, ptr {numbers})")
    when_not(f, f.op("icmp sge", "i64", several, "0"), no)
    f.end(f"ptr {f.let(f'call ptr @seen(ptr %card, ptr {array}, ptr {numbers}, i64 {several})')}")
    return f


def _parts() -> Function:
    """`(x, size, dim)`: the array in parts of one size along a dimension, the last of which may be smaller. The card is that of `slice`."""
    f, no = Function("parts_seen", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal"), f"ptr {DECLINED}"
    when_not(f, same(f, "%count", "3", "i64"), no)
    array, *given = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(3))
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
    beyond, numbers, ndim = (
        f.reserve("i32"),
        f.reserve("i64", 4),
        f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64"),
    )
    known = []
    for thing in given:
        when_not(f, same(f, of(f, thing, TYPE), api(f, "int_type")), no)
        known.append(f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})"))
        when_not(f, same(f, f.load("i32", beyond), "0", "i32"), no)
    size, dim = known
    when_not(f, f.op("icmp ult", "i64", dim, ndim), no)
    n = at(f, of(f, array, DIMS), dim)
    when_not(f, every(f, f.op("icmp sgt", "i64", size, "0"), f.op("icmp sgt", "i64", n, "0")), no)
    many = f.op("add", "i64", f.op("sdiv", "i64", f.op("sub", "i64", n, "1"), size), "1")
    when_not(f, f.op("icmp sle", "i64", many, str(MOST_PARTS)), no)
    parts = f.let(f"call ptr {api(f, 'new_tuple')}(i64 {many})")
    when_not(f, f.op("icmp ne", "ptr", parts, "null"), "ptr null")
    f.store("i64", dim, numbers)
    f.store("i64", "1", f.element(numbers, "3", "i64"))
    with f.counted("0", many) as k:
        start = f.op("mul", "i64", k, size)
        end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', start, size)}", f"i64 {n}")
        f.store("i64", start, f.element(numbers, "1", "i64"))
        f.store("i64", end, f.element(numbers, "2", "i64"))
        part = f.let(f"call ptr @seen(ptr %card, ptr {array}, ptr {numbers}, i64 4)")
        with f.when(f.op("icmp ule", "i64", f.cast("ptrtoint", "ptr", part, "i64"), "1"), rarely=True):
            f.line(f"call void {api(f, 'decref')}(ptr {parts})")
            f.line(f"ret ptr {part}")
            f.begin(*f.labels("unreachable"))
        f.let(f"call i32 {api(f, 'set_item')}(ptr {parts}, i64 {k}, ptr {part})")
    f.end(f"ptr {parts}")
    return f


ENTRIES = {"direct_seen": "seen_otherwise", "direct_parts": "parts_seen"}


def functions() -> list[Function]:
    """All functions."""
    lays = [_same(), _turned(), _exchanged(), _ordered(), _with_one_more(), _with_one_less(), _one_of(), _some_of()]
    return [
        *lays,
        _stretched(),
        _regrouped(),
        _given(),
        _seen(),
        _of_arrays(),
        _parts(),
        *[entry(*each) for each in ENTRIES.items()],
    ]
