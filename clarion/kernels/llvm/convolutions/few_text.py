"""The loops of few.py: what the taps meet is gathered by a list of places, and rows of weights, as they lie, meet that.

A step of the product reads one vector of what the taps meet and one number of each of some rows of weights. Their sums stay in registers from
the first weight to the last, so every row is read once, from its beginning to its end.
"""

from __future__ import annotations

from ..pool import all_chunks
from ..products.blocks import least, plus, times
from ..products.tiles import Shape, masked_store
from ..text import Function, literal, suffix, with_lanes

# What the threads share, in places of eight bytes. Images, how far it is from channel to channel, channels, places that the taps meet in one
# (in bytes; -1: none) and how many; what is gathered; weights, how far it is from row to row, rows, numbers of a row; the bias; results,
# and results of a row; channels or rows of a chunk.
FIELDS = (
    "x", "x_channel", "channels", "places", "count", "met", "weights", "step", "rows", "deep", "bias", "out", "pixels", "per", "parallel",
)  # fmt: skip
_POINTERS = ("x", "places", "met", "weights", "bias", "out", "parallel")


def _heights(shape: Shape) -> list[int]:
    """Rows of weights at a time, whose sums stay in registers."""
    return [height for height in (8, 4, 1) if height <= shape.rows]


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(FIELDS.index(name)), "i64"))


def _chunk_of(f: Function, whole: str) -> tuple[str, str]:
    first = times(f, "%number", _get(f, "per"))
    return first, least(f, plus(f, first, _get(f, "per")), _get(f, whole))


def _mask(f: Function, shape: Shape, left: str) -> str:
    numbers = with_lanes(shape.lanes, "i64")
    lanes = "<" + ", ".join(f"i64 {k}" for k in range(shape.lanes)) + ">"
    return f.op("icmp slt", numbers, lanes, f.spread(numbers, left))


def gather_chunk(shape: Shape) -> Function:
    """What the taps meet in some channels."""
    f = Function("gather_chunk", "void", "ptr context", "i64 number", linkage="internal")
    x, x_channel, places, count, met = (_get(f, name) for name in ("x", "x_channel", "places", "count", "met"))
    numbers, pointers = with_lanes(shape.lanes, "i64"), with_lanes(shape.lanes, "ptr")
    first, end = _chunk_of(f, "channels")
    with f.counted(first, end) as channel:
        image = f.offset(x, times(f, channel, x_channel))
        target = f.element(met, times(f, channel, count), shape.scalar)
        with f.counted("0", count, str(shape.lanes)) as at:
            mask = _mask(f, shape, f.op("sub", "i64", count, at))
            where = f.load(numbers, f.element(places, at, "i64"), 8)  # (the list is longer by a vector)
            there = f.op("icmp sge", numbers, where, literal(numbers, 0))
            each = f.let(f"getelementptr i8, ptr {image}, {numbers} {where}")
            name = f"llvm.masked.gather.{suffix(shape.type)}.v{shape.lanes}p0"
            rest = (f"i32 {shape.size}", f"{with_lanes(shape.lanes, 'i1')} {there}", f"{shape.type} zeroinitializer")
            value = f.call(name, shape.type, f"{pointers} {each}", *rest)
            masked_store(f, shape, value, f.element(target, at, shape.scalar), mask)
    f.end()
    return f


def _strip(shape: Shape, height: int, vectors: int) -> Function:
    """Results of `height` rows of weights, `columns` pixels."""
    parameters = (
        "ptr w",
        "i64 step",
        "i64 deep",
        "ptr met",
        "i64 met_step",
        "ptr bias",
        "ptr out",
        "i64 out_step",
        "i64 columns",
    )
    f = Function(f"strip_{height}_{vectors}", "void", *parameters, linkage="internal")
    type_, scalar = shape.type, shape.scalar
    masks = [_mask(f, shape, f.op("sub", "i64", "%columns", str(j * shape.lanes))) for j in range(vectors)]
    rows = [f.offset("%w", times(f, "%step", str(i))) for i in range(height)]
    sums = [[f.variable(type_, literal(type_, 0)) for _ in range(vectors)] for _ in rows]
    with f.counted("0", "%deep") as k:
        place = f.offset("%met", times(f, k, "%met_step"))
        # (Vectors that are longer than what is there meet what comes next, and those results are not written.)
        met = [f.load(type_, f.element(place, str(j * shape.lanes), scalar), shape.size) for j in range(vectors)]
        for row, line in zip(rows, sums, strict=True):
            number = f.spread(type_, f.load(scalar, f.element(row, k, scalar), shape.size))
            for value, total in zip(met, line, strict=True):
                total.set(f.intrinsic("fma", type_, number, value, total.get()))
    with f.when(f.op("icmp ne", "ptr", "%bias", "null")):
        for i, line in enumerate(sums):
            added = f.spread(type_, f.load(scalar, f.element("%bias", str(i), scalar), shape.size))
            for total in line:
                total.set(f.op("fadd", type_, total.get(), added))
    for i, line in enumerate(sums):
        place = f.offset("%out", times(f, "%out_step", str(i)))
        for j, total in enumerate(line):
            masked_store(f, shape, total.get(), f.element(place, str(j * shape.lanes), scalar), masks[j])
    f.end()
    return f


def rows_chunk(shape: Shape) -> Function:
    """Results of some rows of weights."""
    f = Function("rows_chunk", "void", "ptr context", "i64 number", linkage="internal")
    weights, step, deep, bias, met, out, pixels = (
        _get(f, name) for name in ("weights", "step", "deep", "bias", "met", "out", "pixels")
    )
    first, end = _chunk_of(f, "rows")
    wide, there = times(f, pixels, str(shape.size)), f.op("icmp ne", "ptr", bias, "null")
    with f.counted("0", pixels, str(shape.columns)) as column:
        left, row = f.op("sub", "i64", pixels, column), f.variable("i64", first)
        seen = f.element(met, column, shape.scalar)
        for height in _heights(shape):
            with f.forever() as enough:
                now = row.get()
                after = plus(f, now, str(height))
                f.leave_when(f.op("icmp sgt", "i64", after, end), enough)
                start = f.offset(weights, times(f, now, step))
                added = f.let(f"select i1 {there}, ptr {f.element(bias, now, shape.scalar)}, ptr null")
                target = f.offset(f.element(out, column, shape.scalar), times(f, now, wide))
                arguments = f"ptr {start}, i64 {step}, i64 {deep}, ptr {seen}, i64 {wide}, ptr {added}, ptr {target}, i64 {wide}, i64 {left}"
                narrow = f.op("icmp sle", "i64", left, str(shape.lanes))
                for condition, vectors in ((narrow, 1), (f.op("xor", "i1", narrow, "true"), 2)):
                    with f.when(condition):
                        f.line(f"call void @strip_{height}_{vectors}({arguments})")
                row.set(after)
    f.end()
    return f


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions: `gather` and `rows` take a context and a number of chunks."""
    made = [_strip(shape, height, vectors) for height in _heights(shape) for vectors in (1, 2)]
    made += [gather_chunk(shape), rows_chunk(shape)]
    for name in ("gather", "rows"):
        f = Function(name, "void", "ptr context", "i64 chunks")
        all_chunks(f, f"{name}_chunk", "%context", "%chunks", _get(f, "parallel"), x86)
        f.end()
        made.append(f)
    return made
