"""The weight's gradient where the channels of images lie together: for each tap a product of matrices that stand there already.

A result is a step of k: the channels that its tap meets, and those of its gradient, are rows of the operands as they lie in memory,
whatever the stride. Results whose tap meets the zeros around an image are left out. Other images are turned around first.
"""

from __future__ import annotations

from ..pool import all_chunks
from ..products.blocks import least, plus, times
from ..products.tiles import Shape, masked_load, masked_store, multiplied, transposed
from ..text import Function, literal, with_lanes
from .taps import column_mask

# What the threads share, in places of eight bytes; strides are in bytes. `table` has for each tap where what it meets first lies in x,
# where the gradient of that result lies, and how many results meet something, in depth, height and width. `strips` are the first channels
# of tiles and how many each has; `per`: taps at a time; `together`: images that stay in the cache. Images are given out in shares, so many of
# them and of items in each: who has turned some around finds them in its cache.
FIELDS = (
    "x", "g", "out", "table", "strips", "taps", "channels", "rows", "images", "together", "x_image", "g_image", "x_d", "g_d",
    "x_h", "g_h", "x_w", "g_w", "per", "panels", "groups", "items", "parallel", "share", "of_share", "out_share",
)  # fmt: skip
POINTERS = ("x", "g", "out", "table", "strips", "parallel")
TABLE = 5


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in POINTERS else "i64", f.element("%context", str(FIELDS.index(name)), "i64"))


def _name(height: int, vectors: int) -> str:
    return f"by_channel_{height}_{vectors}"


def _place(f: Function, shape: Shape, c: str, row: int, vector: int) -> str:
    """Where a vector of a tile's sums lies: rows follow each other, as wide as the widest tile."""
    return f.element(c, str(row * shape.columns + vector * shape.lanes), shape.scalar)


def tile(shape: Shape, height: int, vectors: int) -> Function:
    """Add to `height` rows of c, the channels of x, and at most `vectors` vectors of columns, those of g, what some images give."""
    parameters = ("ptr context", "ptr a", "ptr b", "ptr c", "i64 columns", "i64 images", "i64 high", "i64 wide")
    f = Function(_name(height, vectors), "void", *parameters, linkage="internal")
    type_ = shape.type
    masks = [column_mask(f, shape, j) for j in range(vectors)]
    sums = [[f.variable(type_, literal(type_, 0)) for _ in range(vectors)] for _ in range(height)]
    for i in range(height):
        for j in range(vectors):
            sums[i][j].set(f.load(type_, _place(f, shape, "%c", i, j)))
    a_steps, b_steps = ([_get(f, f"{side}_{name}") for name in ("image", "h", "w")] for side in "xg")

    def loops(a: str, b: str, whole: bool) -> None:
        """All results: in images, in rows, along a row."""
        starts = [f.variable("ptr", a)], [f.variable("ptr", b)]
        with f.counted("0", "%images"):
            a_row, b_row = (f.variable("ptr", each[0].get()) for each in starts)
            with f.counted("0", "%high"):
                a_now, b_now = f.variable("ptr", a_row.get()), f.variable("ptr", b_row.get())
                with f.counted("0", "%wide"):
                    first, second = a_now.get(), b_now.get()
                    columns = [f.element(second, str(j * shape.lanes), shape.scalar) for j in range(vectors)]
                    given = [
                        f.load(type_, place, shape.size) if whole else masked_load(f, shape, place, masks[j])
                        for j, place in enumerate(columns)
                    ]
                    for i in range(height):
                        number = f.load(shape.scalar, f.element(first, str(i), shape.scalar), shape.size)
                        spread = f.spread(type_, number)
                        for j in range(vectors):
                            sums[i][j].set(multiplied(f, shape, spread, given[j], sums[i][j].get()))
                    a_now.set(f.offset(first, a_steps[2]))
                    b_now.set(f.offset(second, b_steps[2]))
                a_row.set(f.offset(a_row.get(), a_steps[1]))
                b_row.set(f.offset(b_row.get(), b_steps[1]))
            for (start,), steps in zip(starts, (a_steps, b_steps), strict=True):
                start.set(f.offset(start.get(), steps[0]))

    all_there = f.op("icmp sge", "i64", "%columns", str(vectors * shape.lanes))
    full, part, after = f.labels("full", "part", "after")
    f.line(f"br i1 {all_there}, label %{full}, label %{part}")
    for label, whole in ((full, True), (part, False)):
        f.begin(label)
        loops("%a", "%b", whole)
        f.jump(after)
    f.begin(after)
    for i in range(height):
        for j in range(vectors):
            f.store(type_, sums[i][j].get(), _place(f, shape, "%c", i, j))
    f.end()
    return f


def chunk(shape: Shape) -> Function:
    """One item: some channels of x, of g, and some taps. Their sums stay in the cache until all images of the share were seen."""
    f = Function("by_channel_chunk", "void", "ptr context", "i64 number", linkage="internal")
    panels, groups, taps, per = (_get(f, name) for name in ("panels", "groups", "taps", "per"))
    share, inside = (f.op(word, "i64", "%number", _get(f, "of_share")) for word in ("sdiv", "srem"))
    rest, panel = (f.op(word, "i64", inside, panels) for word in ("sdiv", "srem"))
    strip, group = (f.op(word, "i64", rest, groups) for word in ("sdiv", "srem"))
    first_tap = times(f, group, per)
    end = least(f, plus(f, first_tap, per), taps)
    entry = f.element(_get(f, "strips"), times(f, strip, "2"), "i64")
    first, tall = (f.load("i64", f.element(entry, str(k), "i64")) for k in range(2))
    column = times(f, panel, str(shape.columns))
    left = f.op("sub", "i64", _get(f, "rows"), column)
    tile_bytes = str(shape.rows * shape.columns * shape.size)
    bytes_ = times(f, per, tile_bytes)
    sums = f.call("aligned_alloc", "ptr", "i64 64", f"i64 {bytes_}")
    f.call("llvm.memset.p0.i64", "void", f"ptr {sums}", "i8 0", f"i64 {bytes_}", "i1 false")
    x = f.element(_get(f, "x"), first, shape.scalar)
    g = f.element(_get(f, "g"), column, shape.scalar)
    narrow = f.op("icmp sle", "i64", left, str(shape.lanes))
    first_image = times(f, share, _get(f, "share"))
    images = least(f, plus(f, first_image, _get(f, "share")), _get(f, "images"))
    together, table = _get(f, "together"), _get(f, "table")
    with f.counted(first_image, images, together) as image, f.counted(first_tap, end) as tap:
        some = least(f, f.op("sub", "i64", images, image), together)
        entry = f.element(table, times(f, tap, str(TABLE)), "i64")
        x_first, g_first, deep, high, wide = (f.load("i64", f.element(entry, str(k), "i64")) for k in range(TABLE))
        a = f.offset(f.offset(x, x_first), times(f, image, _get(f, "x_image")))
        b = f.offset(f.offset(g, g_first), times(f, image, _get(f, "g_image")))
        c = f.offset(sums, times(f, f.op("sub", "i64", tap, first_tap), tile_bytes))
        with f.counted("0", deep) as depth:
            a_here, b_here = (f.offset(at, times(f, depth, _get(f, name))) for at, name in ((a, "x_d"), (b, "g_d")))
            arguments = (
                f"ptr %context, ptr {a_here}, ptr {b_here}, ptr {c}, i64 {left}, i64 {some}, i64 {high}, i64 {wide}"
            )
            for height in shape.heights:
                right = f.op("icmp eq", "i64", tall, str(height))
                for vectors, fits in ((1, narrow), (shape.vectors, f.op("xor", "i1", narrow, "true"))):
                    with f.when(f.op("and", "i1", right, fits)):
                        f.line(f"call void @{_name(height, vectors)}({arguments})")
    out = f.offset(_get(f, "out"), times(f, share, _get(f, "out_share")))
    _untangle(f, shape, sums, out, (first_tap, end), (first, tall), (column, left))
    f.call("free", "void", f"ptr {sums}")
    f.end()
    return f


def _untangle(
    f: Function, shape: Shape, sums: str, out: str, taps: tuple[str, str], channels: tuple[str, str], columns: tuple[str, str]
) -> None:  # fmt: skip
    """An item's sums (taps, channels, columns) to the gradient (rows, channels, taps): squares are transposed."""
    lanes, flags, numbers = shape.lanes, with_lanes(shape.lanes, "i1"), with_lanes(shape.lanes, "i64")
    (first_tap, end), (first, tall), (column, left) = taps, channels, columns
    all_taps, all_channels = (_get(f, name) for name in ("taps", "channels"))
    places = "<" + ", ".join(f"i64 {k}" for k in range(lanes)) + ">"
    row_bytes = times(f, times(f, all_taps, all_channels), str(shape.size))
    with f.counted(first_tap, end, str(lanes)) as tap, f.counted("0", tall) as channel:
        some = f.op("sub", "i64", end, tap)
        mask = f.op("icmp slt", numbers, places, f.spread(numbers, some))
        here = f.element(
            sums,
            times(
                f, plus(f, times(f, f.op("sub", "i64", tap, first_tap), str(shape.rows)), channel), str(shape.columns)
            ),
            shape.scalar,
        )
        there = f.element(out, plus(f, times(f, plus(f, first, channel), all_taps), tap), shape.scalar)
        for vector in range(shape.vectors):
            square = []
            for k in range(lanes):
                known = f.spread(flags, f.op("icmp slt", "i64", str(k), some))
                place = f.element(here, str(k * shape.rows * shape.columns + vector * lanes), shape.scalar)
                square.append(masked_load(f, shape, place, known))
            for k, value in enumerate(transposed(f, shape.type, square)):
                row = vector * lanes + k
                with f.when(f.op("icmp slt", "i64", str(row), left)):
                    target = f.offset(there, times(f, plus(f, column, str(row)), row_bytes))
                    masked_store(f, shape, value, target, mask)


def run(x86: bool) -> Function:
    """All items, by several threads if there is who shares the work; gives back to Python."""
    f = Function("by_channel", "void", "ptr context")
    all_chunks(f, "by_channel_chunk", "%context", _get(f, "items"), _get(f, "parallel"), x86)
    f.end()
    return f


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions."""
    tiles = [tile(shape, height, vectors) for height in shape.heights for vectors in (1, shape.vectors)]
    return [*tiles, chunk(shape), run(x86)]
