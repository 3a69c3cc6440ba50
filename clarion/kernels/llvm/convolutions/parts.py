"""Parts of a convolution's results, blocks of rows of an image: which belong to a chunk, and where they lie."""

from __future__ import annotations

from ..products.blocks import least, plus, shares, times
from ..products.tiles import Shape
from ..text import Function, literal
from .geometry import TAIL
from .slabs import get

DEEP = 256  # results at a time whose share of the weight's gradient is computed,
WIDE = 512  # for so many taps


def place_of(f: Function, number: str) -> tuple[str, str, str]:
    """Image, group and block of a part."""
    blocks, groups = get(f, "blocks"), get(f, "groups")
    block = f.op("srem", "i64", number, blocks)
    rest = f.op("sdiv", "i64", number, blocks)
    return f.op("sdiv", "i64", rest, groups), f.op("srem", "i64", rest, groups), block


def image_at(f: Function, image: str, group: str) -> str:
    """Where the channels of a group of an image begin."""
    return f.offset(f.offset(get(f, "x"), times(f, image, get(f, "x_image"))), times(f, group, get(f, "x_group")))


def result_at(f: Function, image: str, group: str, first: str) -> str:
    """Where their results begin, from a row on."""
    place = f.offset(
        f.offset(get(f, "out"), times(f, image, get(f, "out_image"))), times(f, group, get(f, "out_group"))
    )
    return f.offset(place, times(f, first, get(f, "out_h")))


def rounded_up(f: Function, length: str, multiple: int) -> str:
    """The next multiple."""
    return times(f, shares(f, length, str(multiple)), str(multiple))


def parts_of_chunk(f: Function) -> tuple[str, str]:
    """The parts of a chunk."""
    per = get(f, "per")
    first = times(f, "%number", per)
    return first, least(f, plus(f, first, per), all_parts(f))


def all_parts(f: Function) -> str:
    """How many there are."""
    return times(f, times(f, get(f, "count"), get(f, "groups")), get(f, "blocks"))


def weights_at(f: Function, shape: Shape, group: str, row: str) -> str:
    """Where the weights of a row begin, in their panels."""
    panel, inside = (f.op(word, "i64", row, str(shape.rows)) for word in ("sdiv", "srem"))
    start = f.offset(get(f, "a"), times(f, group, get(f, "a_group")))
    return f.element(f.offset(start, times(f, panel, get(f, "a_panel"))), inside, shape.scalar)


def with_room(f: Function, shape: Shape, room: str, slabs: str = "1") -> str:
    """Memory for some slabs and what comes after them. A slab's last row may be followed by zeros (see `Line.shared`)."""
    first = f.call("aligned_alloc", "ptr", "i64 64", f"i64 {rounded_up(f, room, 64)}")
    with f.counted("0", slabs) as number:
        end = f.offset(first, times(f, plus(f, number, "1"), get(f, "slab")))
        for place in range(
            (TAIL + 64) // (shape.lanes * shape.size)
        ):  # from before its end on: it need not be a multiple of 64
            target = f.element(end, str((place + 1) * -shape.lanes), shape.scalar)
            f.store(shape.type, literal(shape.type, 0), target, shape.size)
    return first
