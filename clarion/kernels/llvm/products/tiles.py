"""The innermost parts of a matrix product: a tile of the result held in registers, and operands brought into the order it reads them in.

A tile is `rows` times `vectors` vectors of columns. For every step of k it reads `rows` numbers of the first operand that are adjacent,
and as many adjacent vectors of the second; how far it is from one step to the next does not matter. Operands that lie otherwise, or
are read many times, are copied into panels that lie so.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..text import Function, literal, suffix, with_lanes


@dataclass(frozen=True)
class Shape:
    """What a tile is on a machine: the scalar, lanes of a vector, rows and vectors of the largest tile.

    `pairs`: what is moved around as a float32 are two numbers of bfloat16, neighbours along k.
    """

    scalar: str
    lanes: int
    rows: int
    vectors: int = 2
    pairs: bool = False

    @property
    def type(self) -> str:
        """The type of a vector."""
        return with_lanes(self.lanes, self.scalar)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return 8 if self.scalar == "double" else 4

    @property
    def columns(self) -> int:
        """Columns of the largest tile."""
        return self.lanes * self.vectors

    @property
    def heights(self) -> list[int]:
        """Rows of the tiles that there are, the largest first: together they make up any number of rows."""
        return [self.rows, *[h for h in (8, 4, 2, 1) if h < self.rows]]


def shape_for(scalar: str, width: int, x86: bool) -> Shape:
    """The largest tile whose accumulators stay in registers, with room for a row of the second operand and one number."""
    size = 8 if scalar == "double" else 4
    rows = 14 if width == 64 else 12 if not x86 else 6
    return Shape(scalar, width // size, rows)


def tile_name(height: int, vectors: int) -> str:
    """The name of a tile's function."""
    return f"tile_{height}_{vectors}"


TILE = ("i64 k", "ptr a", "i64 a_step", "ptr b", "i64 b_step", "ptr c", "i64 c_step", "i64 columns", "ptr given")


def tile(shape: Shape, height: int, vectors: int) -> Function:
    """c = start + a @ b for `height` rows and at most `vectors` vectors of columns. Steps are in bytes.

    `start`: null for zero, `c` itself to add to what is there, else a row that is added to all.
    """
    f = Function(tile_name(height, vectors), "void", *TILE, linkage="internal")
    type_ = shape.type
    masks = [_mask(f, shape, j) for j in range(vectors)]
    sums = [[f.variable(type_, literal(type_, 0)) for _ in range(vectors)] for _ in range(height)]
    with f.when(f.op("icmp ne", "ptr", "%given", "null")):
        adds = f.op("icmp eq", "ptr", "%given", "%c")
        step = f.let(f"select i1 {adds}, i64 %c_step, i64 0")
        for i in range(height):
            row = f.offset("%given", f.op("mul", "i64", step, str(i)))
            for j in range(vectors):
                sums[i][j].set(masked_load(f, shape, f.element(row, str(j * shape.lanes), shape.scalar), masks[j]))
    a, b = f.variable("ptr", "%a"), f.variable("ptr", "%b")
    with f.counted("0", "%k"):
        now, row = a.get(), b.get()
        second = [f.load(type_, f.element(row, str(j * shape.lanes), shape.scalar), shape.size) for j in range(vectors)]
        for i in range(height):
            number = f.load(shape.scalar, f.element(now, str(i), shape.scalar), shape.size)
            first = f.spread(type_, number)
            for j in range(vectors):
                sums[i][j].set(multiplied(f, shape, first, second[j], sums[i][j].get()))
        a.set(f.offset(now, "%a_step"))
        b.set(f.offset(row, "%b_step"))
    for i in range(height):
        row = f.offset("%c", f.op("mul", "i64", "%c_step", str(i)))
        for j in range(vectors):
            masked_store(f, shape, sums[i][j].get(), f.element(row, str(j * shape.lanes), shape.scalar), masks[j])
    f.end()
    return f


def multiplied(f: Function, shape: Shape, first: str, second: str, total: str) -> str:
    """total + first * second; of pairs the sum of both products."""
    if not shape.pairs:
        return f.intrinsic("fma", shape.type, first, second, total)
    numbers = with_lanes(2 * shape.lanes, "bfloat")
    pair = [f"{numbers} {f.cast('bitcast', shape.type, x, numbers)}" for x in (first, second)]
    return f.call("llvm.x86.avx512bf16.dpbf16ps.512", shape.type, f"{shape.type} {total}", *pair)


def _mask(f: Function, shape: Shape, vector: int) -> str:
    """Which lanes of a vector of columns there are."""
    numbers = with_lanes(shape.lanes, "i64")
    places = "<" + ", ".join(f"i64 {vector * shape.lanes + k}" for k in range(shape.lanes)) + ">"
    return f.op("icmp slt", numbers, places, f.spread(numbers, "%columns"))


def masked_load(f: Function, shape: Shape, place: str, mask: str) -> str:
    """The lanes that there are; zero elsewhere."""
    rest = (f"i32 {shape.size}", f"<{shape.lanes} x i1> {mask}", f"{shape.type} zeroinitializer")
    return f.call(f"llvm.masked.load.{suffix(shape.type)}.p0", shape.type, f"ptr {place}", *rest)


def masked_store(f: Function, shape: Shape, value: str, place: str, mask: str) -> None:
    """Write the lanes that there are."""
    arguments = (f"{shape.type} {value}", f"ptr {place}", f"i32 {shape.size}", f"<{shape.lanes} x i1> {mask}")
    f.call(f"llvm.masked.store.{suffix(shape.type)}.p0", "void", *arguments)


# Panels -----------------------------------------------------------------------------------------------------


def panel(shape: Shape, name: str, width: int) -> Function:
    """Copy a panel: `count` of `width` numbers, `step` bytes apart, for each of `k` steps `k_step` bytes apart.

    What is missing to `width` is zero. The panel may be written some vectors further than it is long.
    """
    parameters = ("ptr panel", "ptr source", "i64 step", "i64 k_step", "i64 k", "i64 count")
    f = Function(name, "void", *parameters, linkage="internal")
    adjacent = f.op("icmp eq", "i64", "%step", str(shape.size))
    whole = f.op("icmp eq", "i64", "%count", str(width))
    with f.when(f.op("and", "i1", adjacent, whole)):
        _copy_rows(f, shape, width)
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    turned = f.op("icmp eq", "i64", "%k_step", str(shape.size))
    first = f.variable("i64", "0")
    with f.when(turned), f.counted("0", f.op("sub", "i64", "%k", str(shape.lanes - 1)), str(shape.lanes)) as k:
        _turn(f, shape, width, k)
        first.set(f.op("add", "i64", k, str(shape.lanes)))
    with f.counted(first.get(), "%k") as k:
        target = f.element("%panel", f.op("mul", "i64", k, str(width)), shape.scalar)
        source = f.offset("%source", f.op("mul", "i64", k, "%k_step"))
        with f.counted("0", "%count") as i:
            number = f.load(shape.scalar, f.offset(source, f.op("mul", "i64", i, "%step")), shape.size)
            f.store(shape.scalar, number, f.element(target, i, shape.scalar), shape.size)
        with f.counted("%count", str(width)) as i:
            f.store(shape.scalar, literal(shape.scalar, 0), f.element(target, i, shape.scalar), shape.size)
    f.end()
    return f


def _copy_rows(f: Function, shape: Shape, width: int) -> None:
    """Rows that lie together."""
    type_ = with_lanes(width, shape.scalar)
    with f.counted("0", "%k") as k:
        target = f.element("%panel", f.op("mul", "i64", k, str(width)), shape.scalar)
        source = f.offset("%source", f.op("mul", "i64", k, "%k_step"))
        f.store(type_, f.load(type_, source, shape.size), target, shape.size)


def _turn(f: Function, shape: Shape, width: int, k: str) -> None:
    """As many steps of k as a vector has lanes, whose numbers lie together for each of `width` rows: squares are transposed."""
    lanes, type_ = shape.lanes, shape.type
    squares = []
    for part in range(0, width, lanes):
        rows = ["zeroinitializer"] * lanes
        for i in range(min(lanes, width - part)):
            there = f.op("icmp slt", "i64", str(part + i), "%count")
            mask = f.spread(with_lanes(lanes, "i1"), there)
            place = f.offset("%source", f.op("mul", "i64", "%step", str(part + i)))
            rows[i] = masked_load(f, shape, f.element(place, k, shape.scalar), mask)
        squares.append(transposed(f, type_, rows))
    # In this order what a vector is too long by is overwritten by the next.
    for step in range(lanes):
        at = f.op("mul", "i64", f.op("add", "i64", k, str(step)), str(width))
        target = f.element("%panel", at, shape.scalar)
        for part, square in enumerate(squares):
            f.store(type_, square[step], f.element(target, str(part * lanes), shape.scalar), shape.size)


def transposed(f: Function, type_: str, rows: list[str]) -> list[str]:
    """A square of vectors transposed: blocks beside the diagonal are exchanged, of half the size, a quarter, …"""
    lanes, block = len(rows), len(rows) // 2
    while block:
        for i in range(lanes):
            if i & block:
                continue
            one, other = rows[i], rows[i + block]
            keep = [lane if not lane & block else lanes + (lane ^ block) for lane in range(lanes)]
            take = [lane ^ block if not lane & block else lanes + lane for lane in range(lanes)]
            rows[i], rows[i + block] = (_shuffled(f, type_, one, other, places) for places in (keep, take))
        block //= 2
    return rows


def _shuffled(f: Function, type_: str, one: str, other: str, places: list[int]) -> str:
    mask = f"<{len(places)} x i32> <" + ", ".join(f"i32 {place}" for place in places) + ">"
    return f.let(f"shufflevector {type_} {one}, {type_} {other}, {mask}")
