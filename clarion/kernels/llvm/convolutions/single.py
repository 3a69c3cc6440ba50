"""The weight's gradient where every channel of the results has its own channels of the images: products of long rows.

There is no matrix to multiply with: a tap's gradient is the gradient times what the tap meets, a shift of the slab.
"""

from __future__ import annotations

from ..attention.rows import Row
from ..products.blocks import least, plus, times
from ..products.tiles import Shape
from ..text import Function, literal
from .parts import image_at, parts_of_chunk, place_of, result_at, with_room
from .slabs import extent, get, height_of

TAPS = 8  # at a time


def dots(shape: Shape) -> Function:
    """Add to `sums` the products of a row with what each tap meets."""
    parameters = ("ptr row", "ptr slab", "ptr offsets", "i64 taps", "i64 length", "ptr sums")
    f = Function("dots", "void", *parameters, linkage="internal")
    r = Row(f, shape)
    with f.counted("0", "%taps", str(TAPS)) as first:
        last = f.op("sub", "i64", "%taps", "1")
        numbers = [least(f, plus(f, first, str(k)), last) for k in range(TAPS)]
        places = [f.offset("%slab", f.load("i64", f.element("%offsets", number, "i64"))) for number in numbers]
        totals = [f.variable(shape.type, literal(shape.type, 0)) for _ in range(TAPS)]

        def add(at: str, mask: str, places: list[str] = places, totals: list = totals) -> None:  # type: ignore[type-arg]
            g = r.get("%row", at, mask)
            for place, total in zip(places, totals, strict=True):
                total.set(f.intrinsic("fma", shape.type, g, r.get(place, at, mask), total.get()))

        r.each("%length", add)
        for k, (number, total) in enumerate(zip(numbers, totals, strict=True)):
            with f.when(f.op("icmp slt", "i64", plus(f, first, str(k)), "%taps")):
                whole = f.let(f"extractelement {shape.type} {r.across(total.get(), r.m.add)}, i64 0")
                place = f.element("%sums", number, shape.scalar)
                sum_ = f.op("fadd", shape.scalar, f.load(shape.scalar, place, shape.size), whole)
                f.store(shape.scalar, sum_, place, shape.size)
    f.end()
    return f


def gradient_chunk(shape: Shape) -> Function:
    """The share of some blocks of results, one channel in each group, into a sum of the chunk's own (`a`: groups, taps)."""
    f = Function("gradient_single_chunk", "void", "ptr context", "i64 number", linkage="internal")
    slab_bytes, k, groups, q_h, q_w = (get(f, name) for name in ("slab", "taps", "groups", "q_h", "q_w"))
    row_bytes = times(f, times(f, times(f, get(f, "o_d"), q_h), q_w), str(shape.size))
    slab = with_room(f, shape, plus(f, slab_bytes, row_bytes))
    row = f.offset(slab, slab_bytes)
    sums = f.element(get(f, "a"), times(f, times(f, "%number", groups), k), shape.scalar)
    with f.counted(*parts_of_chunk(f)) as part:
        image, group, block = place_of(f, part)
        first, height = height_of(f, block)
        f.line(f"call void @fill(ptr %context, ptr {slab}, ptr {image_at(f, image, group)}, i64 {first})")
        g = result_at(f, image, group, first)
        f.line(f"call void @spread_gradient(ptr %context, ptr {row}, ptr {g}, i64 {height}, i64 {q_h}, i64 {q_w})")
        mine = f.element(sums, times(f, group, k), shape.scalar)
        f.line(
            f"call void @dots(ptr {row}, ptr {slab}, ptr {get(f, 'offsets')}, i64 {k}, i64 {extent(f, height)}, ptr {mine})"
        )
    f.call("free", "void", f"ptr {slab}")
    f.end()
    return f
