"""From images to results, and from images and gradients to the weight's gradient: one chunk for a thread is some blocks of results."""

from __future__ import annotations

from ..pool import all_chunks
from ..products.blocks import least, plus, shares, strip, times
from ..products.tiles import Shape
from ..products.tiles import panel as plain_panel
from ..products.tiles import tile as plain_tile
from ..text import Function
from . import single, slabs, taps
from .parts import (
    DEEP,
    WIDE,
    all_parts,
    image_at,
    parts_of_chunk,
    place_of,
    result_at,
    rounded_up,
    weights_at,
    with_room,
)
from .slabs import extent, get, height_of

ENTRIES = ("convolve", "gradient", "gradient_single")  # what Python calls


def convolve_chunk(shape: Shape) -> Function:
    """Some blocks of results."""
    f = Function("convolve_chunk", "void", "ptr context", "i64 number", linkage="internal")
    size = str(shape.size)
    slab_bytes, k, rows, out_o = (get(f, name) for name in ("slab", "taps", "rows", "out_o"))
    longest = rounded_up(f, extent(f, get(f, "height")), shape.columns)
    room = plus(f, slab_bytes, times(f, longest, str(shape.rows * shape.size)))
    slab = with_room(f, shape, room)
    row_of_results = f.offset(slab, slab_bytes)
    step = times(f, longest, size)
    offsets, bias, q_w = get(f, "offsets"), get(f, "bias"), get(f, "q_w")
    deep = times(f, get(f, "q_h"), q_w)
    first_part, end = parts_of_chunk(f)
    with f.counted(first_part, end) as part:
        image, group, block = place_of(f, part)
        first, height = height_of(f, block)
        f.line(f"call void @fill(ptr %context, ptr {slab}, ptr {image_at(f, image, group)}, i64 {first})")
        length = extent(f, height)
        result = result_at(f, image, group, first)
        row = f.variable("i64", "0")
        for tall in shape.heights:
            with f.forever() as enough:
                after = plus(f, row.get(), str(tall))
                f.leave_when(f.op("icmp sgt", "i64", after, rows), enough)
                start = weights_at(f, shape, group, row.get())
                f.line(
                    f"call void @strip_of_taps_{tall}(i64 {k}, ptr {start}, ptr {slab}, ptr {offsets}, "
                    f"ptr {row_of_results}, i64 {step}, i64 {length})"
                )
                for i in range(tall):
                    channel = plus(f, row.get(), str(i))
                    whole = plus(f, times(f, group, rows), channel)
                    there = f.op("icmp ne", "ptr", bias, "null")
                    number = f.let(f"select i1 {there}, i64 {whole}, i64 0")
                    f.line(
                        f"call void @write(ptr %context, ptr {f.offset(row_of_results, times(f, step, str(i)))}, "
                        f"ptr {f.offset(result, times(f, channel, out_o))}, i64 {height}, "
                        f"ptr {f.element(bias, number, shape.scalar)}, i64 {deep}, i64 {q_w})"
                    )
                row.set(after)
    f.call("free", "void", f"ptr {slab}")
    f.end()
    return f


LONG = 8  # vectors of a tile of one row: with fewer it would wait for its own sums


def strip_of_taps(shape: Shape, height: int) -> Function:
    """`height` channels of a block of results: tile after tile."""
    parameters = ("i64 k", "ptr a", "ptr b", "ptr offsets", "ptr out", "i64 out_step", "i64 columns")
    f = Function(f"strip_of_taps_{height}", "void", *parameters, linkage="internal")
    done = f.variable("i64", "0")
    for vectors in (LONG, shape.vectors, 1) if height == 1 else (shape.vectors, 1):
        with f.forever() as enough:
            column = done.get()
            left = f.op("sub", "i64", "%columns", column)
            least_ = 1 if vectors == 1 else vectors * shape.lanes if vectors == LONG else shape.lanes + 1
            f.leave_when(f.op("icmp slt", "i64", left, str(least_)), enough)
            b, out = (f.element(base, column, shape.scalar) for base in ("%b", "%out"))
            arguments = f"i64 %k, ptr %a, ptr {b}, ptr %offsets, ptr {out}, i64 %out_step, i64 {left}"
            f.line(f"call void @{taps.tile_name(height, vectors)}({arguments})")
            done.set(plus(f, column, str(vectors * shape.lanes)))
    f.end()
    return f


def gradient_chunk(shape: Shape) -> Function:
    """The share of some blocks of results in the weight's gradient, into a sum of the chunk's own (`a`: groups, rows, taps)."""
    f = Function("gradient_chunk", "void", "ptr context", "i64 number", linkage="internal")
    size = str(shape.size)
    slab_bytes, k, rows, offsets = (get(f, name) for name in ("slab", "taps", "rows", "offsets"))
    long_bytes = times(f, times(f, times(f, get(f, "o_d"), get(f, "q_h")), get(f, "q_w")), size)
    panels = shares(f, least(f, k, str(WIDE)), str(shape.columns))
    panel_bytes = str(DEEP * shape.columns * shape.size)
    parts = [slab_bytes, rounded_up(f, times(f, long_bytes, rows), 64), times(f, panels, panel_bytes)]
    total = plus(f, plus(f, parts[0], parts[1]), plus(f, parts[2], str(DEEP * shape.rows * shape.size + 256)))
    slab = with_room(f, shape, total)
    gradient = f.offset(slab, parts[0])
    own_b = f.offset(gradient, parts[1])
    own_a = f.offset(own_b, parts[2])
    sum_bytes = times(f, times(f, rows, k), size)
    sums = f.offset(get(f, "a"), times(f, times(f, "%number", get(f, "groups")), sum_bytes))
    first_part, end = parts_of_chunk(f)
    with f.counted(first_part, end) as part:
        image, group, block = place_of(f, part)
        first, height = height_of(f, block)
        f.line(f"call void @fill(ptr %context, ptr {slab}, ptr {image_at(f, image, group)}, i64 {first})")
        g = result_at(f, image, group, first)
        with f.counted("0", rows) as channel:
            source = f.offset(g, times(f, channel, get(f, "out_o")))
            target = f.offset(gradient, times(f, channel, long_bytes))
            f.line(
                f"call void @spread_gradient(ptr %context, ptr {target}, ptr {source}, i64 {height}, "
                f"i64 {get(f, 'q_h')}, i64 {get(f, 'q_w')})"
            )
        length = extent(f, height)
        mine = f.offset(sums, times(f, group, sum_bytes))
        with f.counted("0", length, str(DEEP)) as depth, f.counted("0", k, str(WIDE)) as wide:
            steps = least(f, f.op("sub", "i64", length, depth), str(DEEP))
            columns = least(f, f.op("sub", "i64", k, wide), str(WIDE))
            base = f.element(slab, depth, shape.scalar)
            with f.counted("0", columns, str(shape.columns)) as column:
                target = f.offset(own_b, times(f, f.op("sdiv", "i64", column, str(shape.columns)), panel_bytes))
                count = f.op("sub", "i64", columns, column)
                places = f.element(offsets, plus(f, wide, column), "i64")
                f.line(f"call void @panel_taps(ptr {target}, ptr {base}, ptr {places}, i64 {steps}, i64 {count})")
            row = f.variable("i64", "0")
            for tall in shape.heights:
                with f.forever() as enough:
                    after = plus(f, row.get(), str(tall))
                    f.leave_when(f.op("icmp sgt", "i64", after, rows), enough)
                    far_a = f.element(f.offset(gradient, times(f, row.get(), long_bytes)), depth, shape.scalar)
                    f.line(
                        f"call void @panel_a(ptr {own_a}, ptr {far_a}, i64 {long_bytes}, i64 {size}, i64 {steps}, "
                        f"i64 {tall})"
                    )
                    c = f.element(mine, plus(f, times(f, row.get(), k), wide), shape.scalar)
                    f.line(
                        f"call void @strip_{tall}(i64 {steps}, ptr {own_a}, i64 {shape.rows * shape.size}, ptr {own_b}, "
                        f"i64 {shape.columns * shape.size}, i64 {panel_bytes}, ptr {c}, i64 {times(f, k, size)}, "
                        f"i64 {columns}, ptr {c})"
                    )
                    row.set(after)
    f.call("free", "void", f"ptr {slab}")
    f.end()
    return f


# What is told about matrices to be packed. Row `r` of matrix `m` at step (o, i) lies at m * far + r * row + o * outer + i * inner.
PACKED = (
    "target", "source", "rows", "panels", "outers", "inners", "far", "row", "outer", "inner", "panel_bytes", "chunks", "parallel",
)  # fmt: skip


def _told(f: Function, name: str) -> str:
    kind = "ptr" if name in ("target", "source", "parallel") else "i64"
    return f.load(kind, f.element("%context", str(PACKED.index(name)), "i64"))


PACKINGS = {"pack_rows": "panel_a", "pack_columns": "panel_b"}  # as the first operand of tiles, or as the second


def pack_chunk(shape: Shape, name: str) -> Function:
    """Some rows of a matrix as a panel."""
    f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    width = str(panel_width(shape, name))
    panels, row, outer, inner, inners = (_told(f, name) for name in ("panels", "row", "outer", "inner", "inners"))
    matrix, panel = (f.op(word, "i64", "%number", panels) for word in ("sdiv", "srem"))
    first = times(f, panel, width)
    count = least(f, f.op("sub", "i64", _told(f, "rows"), first), width)
    start = f.offset(f.offset(_told(f, "source"), times(f, matrix, _told(f, "far"))), times(f, first, row))
    target = f.offset(_told(f, "target"), times(f, "%number", _told(f, "panel_bytes")))
    with f.counted("0", _told(f, "outers")) as o:
        to = f.element(target, times(f, times(f, o, inners), width), shape.scalar)
        source = f.offset(start, times(f, o, outer))
        f.line(
            f"call void @{PACKINGS[name]}(ptr {to}, ptr {source}, i64 {row}, i64 {inner}, i64 {inners}, i64 {count})"
        )
    f.end()
    return f


def panel_width(shape: Shape, name: str) -> int:
    """How many rows of a matrix a panel has."""
    return shape.rows if name == "pack_rows" else shape.columns


def pack(name: str) -> Function:
    """All panels of some matrices, by several threads if there is who shares the work."""
    f = Function(name, "void", "ptr context")
    parallel, chunks = _told(f, "parallel"), _told(f, "chunks")
    with f.when(f.op("icmp ne", "ptr", parallel, "null")):
        f.line(f"call void {parallel}(ptr @{name}_chunk, ptr %context, i64 {chunks})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    with f.counted("0", chunks) as number:
        f.line(f"call void @{name}_chunk(ptr %context, i64 {number})")
    f.end()
    return f


def run(name: str, x86: bool) -> Function:
    """All chunks, by several threads where there are several; gives back to Python."""
    f = Function(name, "void", "ptr context")
    chunks = shares(f, all_parts(f), get(f, "per"))
    all_chunks(f, f"{name}_chunk", "%context", chunks, get(f, "parallel"), x86)
    f.end()
    return f


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions of a module of convolutions."""
    made = [slabs.copy_row(shape), slabs.fill(shape), slabs.write(shape), slabs.spread_gradient(shape)]
    made += [taps.panel(shape)]
    for name, panel in PACKINGS.items():
        made += [plain_panel(shape, panel, panel_width(shape, name)), pack_chunk(shape, name), pack(name)]
    made += [taps.tile(shape, 1, LONG)]
    for height in shape.heights:
        for vectors in (1, shape.vectors):
            made += [taps.tile(shape, height, vectors), plain_tile(shape, height, vectors)]
        made += [strip_of_taps(shape, height), strip(shape, height)]
    made += [convolve_chunk(shape), gradient_chunk(shape)]
    made += [single.dots(shape), single.gradient_chunk(shape)]
    return [*made, *[run(name, x86) for name in ENTRIES]]
