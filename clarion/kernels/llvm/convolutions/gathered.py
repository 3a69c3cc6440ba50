"""Convolutions of small images: what the taps meet is written down, for several images side by side, and multiplied.

A slab's long row has gaps between the rows of results, and an image alone may be shorter than a tile: both are computed in vain.
Here the results of some images, or of blocks of their rows, are the columns of one matrix without gaps. It lies in panels as wide as a tile: the rows of a
panel, one for each tap, follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..products.blocks import least, plus, shares, times
from ..products.tiles import Shape, masked_store
from ..text import Function, with_lanes
from .parts import (
    DEEP,
    image_at,
    parts_of_chunk,
    place_of,
    result_at,
    weights_at,
    with_room,
)
from .slabs import get, height_of

PIECE = 3  # entries of a piece of a row of results: where it lies in a slab and in a row of the matrix, in bytes, and its elements


def gather(shape: Shape) -> Function:
    """What each of some taps meets of a slab: the pieces of an image's rows, to their places in the panels."""
    parameters = ("ptr context", "ptr slab", "ptr matrix", "ptr pieces", "ptr end", "i64 first", "i64 taps")
    f = Function("gather", "void", *parameters, linkage="internal")
    offsets, bytes_ = f.element(get(f, "offsets"), "%first", "i64"), str(shape.columns * shape.size)
    numbers = with_lanes(shape.lanes, "i64")
    lanes = "<" + ", ".join(f"i64 {k}" for k in range(shape.lanes)) + ">"
    with f.counted("0", "%taps") as tap:
        slab = f.offset("%slab", f.load("i64", f.element(offsets, tap, "i64")))
        target = f.offset("%matrix", times(f, tap, bytes_))
        piece = f.variable("ptr", "%pieces")
        with f.forever() as done:
            now = piece.get()
            f.leave_when(f.op("icmp eq", "ptr", now, "%end"), done)
            from_, to, count = (f.load("i64", f.element(now, str(k), "i64")) for k in range(PIECE))
            value = f.load(shape.type, f.offset(slab, from_), shape.size)
            mask = f.op("icmp slt", numbers, lanes, f.spread(numbers, count))
            masked_store(f, shape, value, f.offset(target, to), mask)
            piece.set(f.element(now, str(PIECE), "i64"))
    f.end()
    return f


@contextmanager
def _some_parts(
    f: Function, slab: str, matrix: str, first: str, last: str, tap: str, taps: str
) -> Iterator[tuple[str, str, str]]:
    """Some parts of a range at a time: the first, the one after the last, and how many columns `matrix` has of them."""
    together, pieces, starts, columns = (get(f, name) for name in ("together", "pieces", "starts", "columns"))
    with f.counted(first, last, together) as begin:
        end = least(f, plus(f, begin, together), last)
        with f.counted(begin, end) as part:
            number = f.op("sub", "i64", part, begin)
            image, group, block = place_of(f, part)
            top, _ = height_of(f, block)
            f.line(f"call void @fill(ptr %context, ptr {slab}, ptr {image_at(f, image, group)}, i64 {top})")
            places = [f.load("i64", f.element(starts, at, "i64")) for at in (number, plus(f, number, "1"))]
            of, to = (f.offset(pieces, place) for place in places)
            f.line(
                f"call void @gather(ptr %context, ptr {slab}, ptr {matrix}, ptr {of}, ptr {to}, i64 {tap}, i64 {taps})"
            )
        yield begin, end, times(f, f.op("sub", "i64", end, begin), columns)


def write_back(shape: Shape) -> Function:
    """A channel of the results of some parts, from their columns to where they belong."""
    parameters = ("ptr context", "ptr row", "i64 channel", "i64 begin", "i64 end")
    f = Function("write_back", "void", *parameters, linkage="internal")
    height, o_w, out_o, bias, columns = (get(f, name) for name in ("height", "o_w", "out_o", "bias", "columns"))
    there = f.op("icmp ne", "ptr", bias, "null")
    added = f.element(bias, f.let(f"select i1 {there}, i64 %channel, i64 0"), shape.scalar)
    row, deep = f.variable("ptr", "%row"), times(f, height, o_w)
    with f.counted("%begin", "%end") as part:
        image, group, block = place_of(f, part)
        target = f.offset(result_at(f, image, group, times(f, block, height)), times(f, "%channel", out_o))
        now = row.get()
        f.line(
            f"call void @write(ptr %context, ptr {now}, ptr {target}, i64 {height}, ptr {added}, i64 {deep}, i64 {o_w})"
        )
        row.set(f.element(now, columns, shape.scalar))
    f.end()
    return f


def convolve_chunk(shape: Shape) -> Function:
    """The results of some parts: for some taps at a time, whose weights stay in the cache."""
    f = Function("convolve_gathered_chunk", "void", "ptr context", "i64 number", linkage="internal")
    row_bytes, a_step = str(shape.columns * shape.size), str(shape.rows * shape.size)
    slab_bytes, k, rows, wide = (get(f, name) for name in ("slab", "taps", "rows", "wide"))
    panel_bytes = times(f, k, row_bytes)
    matrix_bytes = times(f, shares(f, wide, row_bytes), panel_bytes)
    room = plus(f, plus(f, slab_bytes, matrix_bytes), times(f, wide, rows))
    slab = with_room(f, shape, room)
    matrix = f.offset(slab, slab_bytes)
    results = f.offset(matrix, matrix_bytes)
    with _some_parts(f, slab, matrix, *parts_of_chunk(f), "0", k) as (begin, end, columns):
        with f.counted("0", k, str(DEEP)) as tap, f.counted("0", columns, str(shape.columns)) as column:
            steps = least(f, f.op("sub", "i64", k, tap), str(DEEP))
            left = least(f, f.op("sub", "i64", columns, column), str(shape.columns))
            panel = f.offset(matrix, times(f, f.op("sdiv", "i64", column, str(shape.columns)), panel_bytes))
            b = f.offset(panel, times(f, tap, row_bytes))
            row = f.variable("i64", "0")
            for tall in shape.heights:
                with f.forever() as enough:
                    after = plus(f, row.get(), str(tall))
                    f.leave_when(f.op("icmp sgt", "i64", after, rows), enough)
                    start = f.offset(weights_at(f, shape, "0", row.get()), times(f, tap, a_step))
                    c = f.element(f.offset(results, times(f, row.get(), wide)), column, shape.scalar)
                    f.line(
                        f"call void @strip_{tall}(i64 {steps}, ptr {start}, i64 {a_step}, ptr {b}, i64 {row_bytes}, i64 0, "
                        f"ptr {c}, i64 {wide}, i64 {left}, ptr {_sum_so_far(f, tap, c)})"
                    )
                    row.set(after)
        with f.counted("0", rows) as channel:
            source = f.offset(results, times(f, wide, channel))
            f.line(f"call void @write_back(ptr %context, ptr {source}, i64 {channel}, i64 {begin}, i64 {end})")
    f.call("free", "void", f"ptr {slab}")
    f.end()
    return f


def _sum_so_far(f: Function, number: str, c: str) -> str:
    """What a product is added to: nothing at first, then what is there."""
    return f.let(f"select i1 {f.op('icmp eq', 'i64', number, '0')}, ptr null, ptr {c}")


def functions(shape: Shape) -> list[Function]:
    """All functions, but for what starts them."""
    return [gather(shape), write_back(shape), convolve_chunk(shape)]
