"""Convolutions to many channels: the rows of a tile are neighbouring results, its columns are their channels.

What a tap meets for neighbouring results are neighbours in a slab, so the first operand is read as it lies there; the second are the
weights, in panels. Rows of results are cut into tiles of one width, so that nothing is left over: the last begins a little earlier
if need be. Where a whole row of taps meets the zeros above or below an image it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..products.blocks import by_width, least, plus, times
from ..products.tiles import Shape, masked_load, masked_store, multiplied, transposed
from ..text import Function, literal, with_lanes
from . import slabs
from .drivers import run
from .geometry import Geometry
from .parts import image_at, parts_of_chunk, place_of, result_at, with_room
from .slabs import get, height_of
from .taps import column_mask

MOST = 4  # rows of results in a tile
UNROLLED = 5  # taps of a row that are written out, at most


@dataclass(frozen=True)
class Plan:
    """How the results of a block are cut into tiles: so many rows of them in a tile, and so many results of each.

    `across`: for each tap of a row of taps, which of those results it is computed for, the first and the one after the last.
    """

    rows: int
    width: int
    across: tuple[tuple[int, int], ...]


def _name(vectors: int) -> str:
    return f"direct_{vectors}"


def tile(shape: Shape, plan: Plan, vectors: int) -> Function:
    """The results of a tile, at most `vectors` vectors of channels, from the taps `first` to `end` of each channel of the slab."""
    parameters = (
        "ptr context", "ptr slab", "ptr b", "ptr out", "i64 first", "i64 end", "i64 columns", "ptr bias",
    )  # fmt: skip
    f = Function(_name(vectors), "void", *parameters, linkage="internal")
    type_, size = shape.type, shape.size
    q_w, channels, taps, offsets = (get(f, name) for name in ("q_w", "of_channel", "taps", "offsets"))
    masks = [column_mask(f, shape, j) for j in range(vectors)]
    count = plan.rows * plan.width
    sums = [[f.variable(type_, literal(type_, 0)) for _ in range(vectors)] for _ in range(count)]
    with f.when(f.op("icmp ne", "ptr", "%bias", "null")):
        for j in range(vectors):
            value = masked_load(f, shape, f.element("%bias", str(j * shape.lanes), shape.scalar), masks[j])
            for row in sums:
                row[j].set(value)
    starts = [f.element("%slab", times(f, q_w, str(r)), shape.scalar) for r in range(plan.rows)]
    b_step = shape.columns * size
    with f.counted("0", taps, channels) as channel:
        begin = plus(f, channel, "%first")
        b = f.variable("ptr", f.offset("%b", times(f, begin, str(b_step))))
        with f.counted(begin, plus(f, channel, "%end"), str(len(plan.across))) as tap:
            for k, (left, right) in enumerate(plan.across):
                offset, now = f.load("i64", f.element(offsets, plus(f, tap, str(k)), "i64")), b.get()
                second = [
                    f.load(type_, f.element(now, str(j * shape.lanes), shape.scalar), size) for j in range(vectors)
                ]
                for r, start in enumerate(starts):
                    here = f.offset(start, offset)
                    for w in range(left, right):
                        number = f.load(shape.scalar, f.element(here, str(w), shape.scalar), size)
                        spread = f.spread(type_, number)
                        for j in range(vectors):
                            total = sums[r * plan.width + w][j]
                            total.set(multiplied(f, shape, spread, second[j], total.get()))
                b.set(f.offset(now, str(b_step)))
    _write(f, shape, plan, [[v.get() for v in row] for row in sums], masks)
    f.end()
    return f


def _write(f: Function, shape: Shape, plan: Plan, sums: list[list[str]], masks: list[str]) -> None:
    """Write the results of a tile where they belong: as they are where channels lie together, turned around where results do."""
    out_o, out_h, out_w = (get(f, name) for name in ("out_o", "out_h", "out_w"))
    ways = [
        (f.op("icmp eq", "i64", out_o, str(shape.size)), lambda: _write_channels(f, shape, plan, sums, masks, out_h, out_w)),
        (f.op("icmp eq", "i64", out_w, str(shape.size)), lambda: _write_turned(f, shape, plan, sums, out_o, out_h)),
        ("true", lambda: _write_apart(f, shape, plan, sums, out_o, out_h, out_w)),
    ]  # fmt: skip
    (end,) = f.labels("end")
    for condition, write in ways:
        this, next_ = f.labels("this", "next")
        f.line(f"br i1 {condition}, label %{this}, label %{next_}")
        f.begin(this)
        write()
        f.jump(end)
        f.begin(next_)
    f.jump(end)
    f.begin(end)


def _write_channels(
    f: Function, shape: Shape, plan: Plan, sums: list[list[str]], masks: list[str], out_h: str, out_w: str
) -> None:
    """The channels of a result lie together."""
    for number, row in enumerate(sums):
        r, w = divmod(number, plan.width)
        place = f.offset(f.offset("%out", times(f, out_h, str(r))), times(f, out_w, str(w)))
        for j, value in enumerate(row):
            masked_store(f, shape, value, f.element(place, str(j * shape.lanes), shape.scalar), masks[j])


def _write_turned(f: Function, shape: Shape, plan: Plan, sums: list[list[str]], out_o: str, out_h: str) -> None:
    """The results of a channel lie together."""
    for j in range(len(sums[0])):
        for part in range(0, len(sums), shape.lanes):
            some = [row[j] for row in sums[part : part + shape.lanes]]
            square = some + ["zeroinitializer"] * (shape.lanes - len(some))
            for lane, value in enumerate(transposed(f, shape.type, square)):
                channel = j * shape.lanes + lane
                with f.when(f.op("icmp slt", "i64", str(channel), "%columns")):
                    _write_rows(f, shape, plan, value, part, len(some), times(f, out_o, str(channel)), out_h)


def _write_apart(
    f: Function, shape: Shape, plan: Plan, sums: list[list[str]], out_o: str, out_h: str, out_w: str
) -> None:
    """Neither lie together: one by one."""
    width = len(sums[0]) * shape.lanes
    room = f.reserve(shape.scalar, len(sums) * width)
    for number, row in enumerate(sums):
        for j, value in enumerate(row):
            f.store(shape.type, value, f.element(room, str(number * width + j * shape.lanes), shape.scalar), shape.size)
    with f.counted("0", least(f, "%columns", str(width))) as channel:
        target = f.offset("%out", times(f, channel, out_o))
        source = f.element(room, channel, shape.scalar)
        for number in range(len(sums)):
            r, w = divmod(number, plan.width)
            value = f.load(shape.scalar, f.element(source, str(number * width), shape.scalar), shape.size)
            place = f.offset(f.offset(target, times(f, out_h, str(r))), times(f, out_w, str(w)))
            f.store(shape.scalar, value, place, shape.size)


def _write_rows(
    f: Function, shape: Shape, plan: Plan, value: str, part: int, count: int, channel: str, out_h: str
) -> None:
    """Lanes that are results of one channel, `count` of them from number `part` on: row by row."""
    for r in range(part // plan.width, -(-(part + count) // plan.width)):
        first, end = max(part, r * plan.width), min(part + count, (r + 1) * plan.width)
        type_ = with_lanes(end - first, shape.scalar)
        lanes = ", ".join(f"i32 {lane - part}" for lane in range(first, end))
        some = f.let(f"shufflevector {shape.type} {value}, {shape.type} poison, <{end - first} x i32> <{lanes}>")
        place = f.offset(f.offset("%out", channel), times(f, out_h, str(r)))
        f.store(type_, some, f.element(place, str(first - r * plan.width), shape.scalar), shape.size)


def chunk(shape: Shape, plan: Plan) -> Function:
    """Some parts, some of them together: for a panel of weights all of their tiles."""
    f = Function("direct_chunk", "void", "ptr context", "i64 number", linkage="internal")
    slab_bytes, rows, height, o_w, q_w, together, spans = (
        get(f, name) for name in ("slab", "rows", "height", "o_w", "q_w", "together", "spans")
    )
    slab = with_room(f, shape, times(f, slab_bytes, together), together)
    panel_bytes, bias = get(f, "a_panel"), get(f, "bias")
    there = f.op("icmp ne", "ptr", bias, "null")
    first_part, last_part = parts_of_chunk(f)
    with f.counted(first_part, last_part, together) as begin:
        end = least(f, plus(f, begin, together), last_part)
        with f.counted(begin, end) as part:
            image, group, block = place_of(f, part)
            own = f.offset(slab, times(f, f.op("sub", "i64", part, begin), slab_bytes))
            top, _ = height_of(f, block)
            f.line(f"call void @fill(ptr %context, ptr {own}, ptr {image_at(f, image, group)}, i64 {top})")
        with f.counted("0", rows, str(shape.columns)) as column, f.counted(begin, end) as part:
            image, group, block = place_of(f, part)
            own = f.offset(slab, times(f, f.op("sub", "i64", part, begin), slab_bytes))
            panel = f.op("sdiv", "i64", column, str(shape.columns))
            b = f.offset(get(f, "a"), times(f, panel, panel_bytes))
            left = f.op("sub", "i64", rows, column)
            added = f.element(bias, f.let(f"select i1 {there}, i64 {column}, i64 0"), shape.scalar)
            top = times(f, block, height)
            out = f.offset(result_at(f, image, group, top), times(f, column, get(f, "out_o")))
            with f.counted("0", height, str(plan.rows)) as some, f.counted("0", o_w, str(plan.width)) as wide:
                row = least(f, some, f.op("sub", "i64", height, str(plan.rows)))
                w = least(f, wide, f.op("sub", "i64", o_w, str(plan.width)))
                span = f.element(spans, times(f, plus(f, top, row), "2"), "i64")
                taps = [f.load("i64", f.element(span, str(k), "i64")) for k in range(2)]
                here = f.element(own, plus(f, times(f, row, q_w), w), shape.scalar)
                to = f.offset(f.offset(out, times(f, row, get(f, "out_h"))), times(f, w, get(f, "out_w")))
                arguments = f"ptr %context, ptr {here}, ptr {b}, ptr {to}, i64 {taps[0]}, i64 {taps[1]}, i64 {left}, ptr {added}"
                by_width(f, shape, left, _name, arguments)
    f.call("free", "void", f"ptr {slab}")
    f.end()
    return f


def plan_for(shape: Shape, made: Geometry) -> Plan:
    """The tiles that cut a block of results with the least in vain."""
    height, width, line = made.height, made.size[2], made.lines[2]
    wide = -(-width // -(-width // shape.rows))

    def cost(rows: int) -> int:
        return -(-height // rows) * (rows * wide + 1)  # what a tile reads of the weights counts, too

    rows = min(range(1, min(MOST, shape.rows // wide, height) + 1), key=cost)
    if len(line.taps) > UNROLLED:
        return Plan(rows, wide, ((0, wide),))
    if wide < width:
        return Plan(rows, wide, ((0, wide),) * len(line.taps))
    met = [[w for w in range(width) if line.meets(tap, w)] for tap in range(len(line.taps))]
    return Plan(rows, wide, tuple((some[0], some[-1] + 1) if some else (0, 0) for some in met))


def functions(shape: Shape, plan: Plan, x86: bool) -> list[Function]:
    """All functions."""
    made = [slabs.copy_row(shape), slabs.fill(shape)]
    made += [tile(shape, plan, vectors) for vectors in (1, shape.vectors)]
    return [*made, chunk(shape, plan), run("direct", x86)]
