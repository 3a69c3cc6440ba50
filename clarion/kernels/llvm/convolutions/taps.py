"""Tiles and panels of products whose second operand is a slab: its rows begin at given offsets."""

from __future__ import annotations

from ..products.tiles import Shape, masked_load, masked_store, multiplied, transposed
from ..text import Function, literal, with_lanes


def tile_name(height: int, vectors: int) -> str:
    """The name of a tile's function."""
    return f"taps_{height}_{vectors}"


def tile(shape: Shape, height: int, vectors: int) -> Function:
    """out = a @ b for `height` rows and at most `vectors` vectors of columns; row k of b begins `offsets[k]` bytes after b."""
    parameters = ("i64 k", "ptr a", "ptr b", "ptr offsets", "ptr out", "i64 out_step", "i64 columns")
    f = Function(tile_name(height, vectors), "void", *parameters, linkage="internal")
    type_ = shape.type
    masks = [column_mask(f, shape, j) for j in range(vectors)]
    sums = [[f.variable(type_, literal(type_, 0)) for _ in range(vectors)] for _ in range(height)]
    a = f.variable("ptr", "%a")
    with f.counted("0", "%k") as k:
        now = a.get()
        row = f.offset("%b", f.load("i64", f.element("%offsets", k, "i64")))
        second = [f.load(type_, f.element(row, str(j * shape.lanes), shape.scalar), shape.size) for j in range(vectors)]
        for i in range(height):
            first = f.spread(type_, f.load(shape.scalar, f.element(now, str(i), shape.scalar), shape.size))
            for j in range(vectors):
                sums[i][j].set(multiplied(f, shape, first, second[j], sums[i][j].get()))
        a.set(f.element(now, str(shape.rows), shape.scalar))
    for i in range(height):
        row = f.offset("%out", f.op("mul", "i64", "%out_step", str(i)))
        for j in range(vectors):
            masked_store(f, shape, sums[i][j].get(), f.element(row, str(j * shape.lanes), shape.scalar), masks[j])
    f.end()
    return f


def column_mask(f: Function, shape: Shape, vector: int) -> str:
    """Which lanes of a vector of columns there are."""
    numbers = with_lanes(shape.lanes, "i64")
    places = "<" + ", ".join(f"i64 {vector * shape.lanes + k}" for k in range(shape.lanes)) + ">"
    return f.op("icmp slt", numbers, places, f.spread(numbers, "%columns"))


def panel(shape: Shape) -> Function:
    """A panel of `count` columns, each adjacent numbers from its offset on: `k` steps of them, transposed; zero where there is none."""
    f = Function("panel_taps", "void", "ptr panel", "ptr b", "ptr offsets", "i64 k", "i64 count", linkage="internal")
    lanes, width = shape.lanes, shape.columns
    places = []
    for i in range(width):
        there = f.op("icmp slt", "i64", str(i), "%count")
        number = f.let(f"select i1 {there}, i64 {i}, i64 0")
        offset = f.load("i64", f.element("%offsets", number, "i64"))
        places.append((f.offset("%b", offset), there))
    with f.counted("0", "%k", str(lanes)) as k:
        numbers = with_lanes(lanes, "i64")
        ks = "<" + ", ".join(f"i64 {j}" for j in range(lanes)) + ">"
        left = f.op("sub", "i64", "%k", k)
        inside = f.op("icmp slt", numbers, ks, f.spread(numbers, left))
        for part in range(0, width, lanes):
            rows = []
            for place, there in places[part : part + lanes]:
                mask = f.op("and", with_lanes(lanes, "i1"), inside, f.spread(with_lanes(lanes, "i1"), there))
                rows.append(masked_load(f, shape, f.element(place, k, shape.scalar), mask))
            for step, value in enumerate(transposed(f, shape.type, rows)):
                at = f.op("mul", "i64", f.op("add", "i64", k, str(step)), str(width))
                target = f.element(f.element("%panel", at, shape.scalar), str(part), shape.scalar)
                f.store(shape.type, value, target, shape.size)
    f.end()
    return f
