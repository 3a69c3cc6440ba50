"""Images inside of zeros: what the threads of a convolution share, filling a slab, taking gradients apart, writing results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..products.blocks import least, plus, times
from ..products.tiles import Shape, masked_load, masked_store
from ..text import Function, literal, with_lanes

# What the threads share, in places of eight bytes. Strides are in bytes; `table` has for each channel of a slab where it begins in
# the image, how many zeros come before, and how many elements there are, in three dimensions. What comes last is for direct.py: how many
# slabs at a time, taps of a channel of the image, and of those the first and the one after the last that each row of results meets.
FIELDS = (
    "x", "x_image", "x_group", "x_d", "x_h", "x_w", "table", "channels", "q_d", "q_h", "q_w", "offsets", "taps",
    "a", "a_group", "out", "out_image", "out_group", "out_o", "out_d", "out_h", "out_w", "bias",
    "rows", "o_d", "o_h", "o_w", "height", "blocks", "groups", "count", "per", "slab", "parallel", "threads",
    "a_panel", "together", "of_channel", "spans",
)  # fmt: skip
PLACE = {name: place for place, name in enumerate(FIELDS)}
POINTERS = ("x", "table", "offsets", "a", "out", "bias", "parallel", "threads", "spans")
TABLE = 7  # entries of a channel: its place, zeros before and elements in depth, height and width


def get(f: Function, name: str, context: str = "%context") -> str:
    """A field of the context."""
    return f.load("ptr" if name in POINTERS else "i64", f.element(context, str(PLACE[name]), "i64"))


def _lanes_from(f: Function, shape: Shape, first: str) -> str:
    """The numbers of the elements that a vector holds."""
    numbers = with_lanes(shape.lanes, "i64")
    places = "<" + ", ".join(f"i64 {k}" for k in range(shape.lanes)) + ">"
    return f.op("add", numbers, places, f.spread(numbers, first))


def _below(f: Function, shape: Shape, numbers: str, end: str) -> str:
    type_ = with_lanes(shape.lanes, "i64")
    return f.op("icmp slt", type_, numbers, f.spread(type_, end))


def copy_row(shape: Shape) -> Function:
    """A row of `width` elements: `count` of them from `source`, `step` bytes apart, after `before` zeros; the rest is zero."""
    parameters = ("ptr target", "ptr source", "i64 step", "i64 before", "i64 count", "i64 width")
    f = Function("copy_row", "void", *parameters, linkage="internal")
    zeros, end = literal(shape.type, 0), plus(f, "%before", "%count")
    adjacent = f.op("icmp eq", "i64", "%step", str(shape.size))
    with f.when(f.op("and", "i1", adjacent, f.op("icmp sge", "i64", "%count", str(shape.lanes)))):
        with _whole_vectors(f, shape, "%count") as at:
            value = f.load(shape.type, f.element("%source", at, shape.scalar), shape.size)
            f.store(shape.type, value, f.element("%target", plus(f, "%before", at), shape.scalar), shape.size)
        for first, last in (("0", "%before"), (end, "%width")):
            with f.counted(first, last) as at:
                f.store(shape.scalar, literal(shape.scalar, 0), f.element("%target", at, shape.scalar), shape.size)
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    _last_vectors(f, shape, "0", least(f, "%before", "%width"), lambda at, mask: zeros)

    def rest(at: str, mask: str) -> str:
        numbers = with_lanes(shape.lanes, "i64")
        inside = f.op("sub", "i64", at, "%before")
        own = f.op("sub", "i64", "%count", inside)
        there = f.op("and", with_lanes(shape.lanes, "i1"), mask, _below(f, shape, _lanes_from(f, shape, "0"), own))
        source = f.offset("%source", times(f, inside, "%step"))
        value = f.variable(shape.type, zeros)
        (found_,) = f.labels("found")

        def far() -> str:
            moved = f.op("mul", numbers, _lanes_from(f, shape, "0"), f.spread(numbers, "%step"))
            return _gathered(f, shape, f.let(f"getelementptr i8, ptr {source}, {numbers} {moved}"), there)

        for step, found in (
            (1, lambda: masked_load(f, shape, source, there)),
            (2, lambda: _every_second(f, shape, source, own)),
        ):
            this, other = f.labels("this", "other")
            f.line(f"br i1 {f.op('icmp eq', 'i64', '%step', str(step * shape.size))}, label %{this}, label %{other}")
            f.begin(this)
            value.set(found())
            f.jump(found_)
            f.begin(other)
        value.set(far())
        f.jump(found_)
        f.begin(found_)
        return value.get()

    _last_vectors(f, shape, "%before", "%width", rest)
    f.end()
    return f


@contextmanager
def _whole_vectors(f: Function, shape: Shape, count: str) -> Iterator[str]:
    """Where vectors begin that cover `count` elements, at least one vector: the last may meet the one before."""
    last = f.op("sub", "i64", count, str(shape.lanes))
    with f.counted("0", count, str(shape.lanes)) as at:
        yield least(f, at, last)


def _last_vectors(f: Function, shape: Shape, first: str, end: str, value: Callable[[str, str], str]) -> None:
    """Write a row's elements from `first` to `end`: `value(place, mask)`, a vector at a time."""
    with f.counted(first, end, str(shape.lanes)) as at:
        mask = _below(f, shape, _lanes_from(f, shape, at), end)
        masked_store(f, shape, value(at, mask), f.element("%target", at, shape.scalar), mask)


def _every_second(f: Function, shape: Shape, place: str, count: str) -> str:
    """A vector of every second element from a place on, `count` of them if there are no more."""
    end = f.op("sub", "i64", times(f, count, "2"), "1")
    both = []
    for first in (0, shape.lanes):
        mask = _below(f, shape, _lanes_from(f, shape, str(first)), end)
        both.append(f"{shape.type} {masked_load(f, shape, f.element(place, str(first), shape.scalar), mask)}")
    places = ", ".join(f"i32 {2 * k}" for k in range(shape.lanes))
    return f.let(f"shufflevector {', '.join(both)}, <{shape.lanes} x i32> <{places}>")


def _gathered(f: Function, shape: Shape, places: str, mask: str) -> str:
    short = "f64" if shape.scalar == "double" else "f32"
    name = f"llvm.masked.gather.v{shape.lanes}{short}.v{shape.lanes}p0"
    rest = f"i32 {shape.size}, <{shape.lanes} x i1> {mask}, {shape.type} zeroinitializer"
    pointers = f"<{shape.lanes} x ptr>"
    f.declared[name] = f"declare {shape.type} @{name}({pointers}, i32, <{shape.lanes} x i1>, {shape.type})"
    return f.let(f"call {shape.type} @{name}({pointers} {places}, {rest})")


def fill(shape: Shape) -> Function:
    """Fill a slab from an image, for results from row `first` on."""
    f = Function("fill", "void", "ptr context", "ptr slab", "ptr image", "i64 first", linkage="internal")
    value = {name: get(f, name) for name in ("table", "channels", "q_d", "q_h", "q_w", "x_d", "x_h", "x_w", "slab")}
    target = f.variable("ptr", "%slab")
    q_w, x_w = value["q_w"], value["x_w"]
    row_bytes = times(f, q_w, str(shape.size))
    lanes = _lanes_from(f, shape, "0")
    short = f.op("icmp sle", "i64", q_w, str(shape.lanes))
    simple = f.op("and", "i1", short, f.op("icmp eq", "i64", x_w, str(shape.size)))
    flags = with_lanes(shape.lanes, "i1")
    with f.counted("0", value["channels"]) as channel:
        entry = f.element(value["table"], times(f, channel, str(TABLE)), "i64")
        place, d0, h0, w0, d_n, h_n, w_n = (f.load("i64", f.element(entry, str(k), "i64")) for k in range(TABLE))
        start = f.offset("%image", place)
        numbers = with_lanes(shape.lanes, "i64")
        late = f.op("icmp sge", numbers, lanes, f.spread(numbers, w0))
        inner = f.op("and", flags, late, _below(f, shape, lanes, plus(f, w0, w_n)))
        with f.counted("0", value["q_d"]) as d, f.counted("0", value["q_h"]) as row:
            h = plus(f, row, "%first")
            ins = [f.op("sub", "i64", at, before) for at, before in ((d, d0), (h, h0))]
            inside = [f.op("icmp ult", "i64", at, n) for at, n in zip(ins, (d_n, h_n), strict=True)]
            there = f.op("and", "i1", *inside)
            source = f.offset(f.offset(start, times(f, ins[0], value["x_d"])), times(f, ins[1], value["x_h"]))
            one, many, after = f.labels("one", "many", "after")
            f.line(f"br i1 {simple}, label %{one}, label %{many}")
            f.begin(
                one
            )  # a vector is enough: the zeros at its end are overwritten by the next row, or lie in the slab's tail
            mask = f.let(f"select i1 {there}, {flags} {inner}, {flags} zeroinitializer")
            begin = f.offset(source, f.op("sub", "i64", "0", times(f, w0, str(shape.size))))
            f.store(shape.type, masked_load(f, shape, begin, mask), target.get(), shape.size)
            f.jump(after)
            f.begin(many)
            count = f.let(f"select i1 {there}, i64 {w_n}, i64 0")
            f.line(
                f"call void @copy_row(ptr {target.get()}, ptr {source}, i64 {x_w}, i64 {w0}, i64 {count}, i64 {q_w})"
            )
            f.jump(after)
            f.begin(after)
            target.set(f.offset(target.get(), row_bytes))
    f.end()
    return f


def write(shape: Shape) -> Function:
    """Write rows of results, which lie `pitch` elements apart in a long row, where they belong, and add the bias."""
    parameters = ("ptr context", "ptr row", "ptr target", "i64 height", "ptr bias", "i64 pitch_d", "i64 pitch")
    f = Function("write", "void", *parameters, linkage="internal")
    o_d, o_w, out_d, out_h, out_w = (get(f, name) for name in ("o_d", "o_w", "out_d", "out_h", "out_w"))
    added = f.variable(shape.scalar, literal(shape.scalar, 0))
    with f.when(f.op("icmp ne", "ptr", "%bias", "null")):
        added.set(f.load(shape.scalar, "%bias"))
    number = added.get()
    spread = f.spread(shape.type, number)
    adjacent = f.op("icmp eq", "i64", out_w, str(shape.size))
    long = f.op("and", "i1", adjacent, f.op("icmp sge", "i64", o_w, str(shape.lanes)))
    short = f.op("xor", "i1", adjacent, long)
    with f.counted("0", o_d) as d, f.counted("0", "%height") as h:
        source = f.element("%row", plus(f, times(f, d, "%pitch_d"), times(f, h, "%pitch")), shape.scalar)
        target = f.offset(f.offset("%target", times(f, d, out_d)), times(f, h, out_h))
        with f.when(long), _whole_vectors(f, shape, o_w) as w:
            value = f.op("fadd", shape.type, f.load(shape.type, f.element(source, w, shape.scalar), shape.size), spread)
            f.store(shape.type, value, f.element(target, w, shape.scalar), shape.size)
        with f.when(short), f.counted("0", o_w, str(shape.lanes)) as w:
            mask = _below(f, shape, _lanes_from(f, shape, w), o_w)
            value = f.op("fadd", shape.type, masked_load(f, shape, f.element(source, w, shape.scalar), mask), spread)
            masked_store(f, shape, value, f.element(target, w, shape.scalar), mask)
        with f.when(f.op("xor", "i1", adjacent, "true")), f.counted("0", o_w) as w:
            one = f.op("fadd", shape.scalar, f.load(shape.scalar, f.element(source, w, shape.scalar)), number)
            f.store(shape.scalar, one, f.offset(target, times(f, w, out_w)), shape.size)
    f.end()
    return f


def spread_gradient(shape: Shape) -> Function:
    """The opposite of `write`: rows of a gradient in a long row, `all_h` of `width` each, with zeros where there are none."""
    parameters = ("ptr context", "ptr row", "ptr source", "i64 height", "i64 all_h", "i64 width")
    f = Function("spread_gradient", "void", *parameters, linkage="internal")
    o_d, o_w, out_d, out_h, out_w = (get(f, name) for name in ("o_d", "o_w", "out_d", "out_h", "out_w"))
    with f.counted("0", o_d) as d, f.counted("0", "%all_h") as h:
        target = f.element("%row", times(f, plus(f, times(f, d, "%all_h"), h), "%width"), shape.scalar)
        source = f.offset(f.offset("%source", times(f, d, out_d)), times(f, h, out_h))
        count = f.let(f"select i1 {f.op('icmp slt', 'i64', h, '%height')}, i64 {o_w}, i64 0")
        f.line(f"call void @copy_row(ptr {target}, ptr {source}, i64 {out_w}, i64 0, i64 {count}, i64 %width)")
    f.end()
    return f


def extent(f: Function, height: str) -> str:
    """How long the row of results of a block of `height` rows is."""
    o_d, o_w, q_h, q_w = (get(f, name) for name in ("o_d", "o_w", "q_h", "q_w"))
    above = plus(f, times(f, f.op("sub", "i64", o_d, "1"), q_h), f.op("sub", "i64", height, "1"))
    return plus(f, times(f, above, q_w), o_w)


def height_of(f: Function, block: str) -> tuple[str, str]:
    """The first row of a block of results, and how many rows it has."""
    height, o_h = get(f, "height"), get(f, "o_h")
    first = times(f, block, height)
    return first, least(f, f.op("sub", "i64", o_h, first), height)
