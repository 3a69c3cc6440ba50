"""Products of few rows with a matrix that is used again and again: the matrix is brought into panels once, for all of them.

The rows of a step of a recurrent layer are few: reading its weights, and not multiplying, is what takes time. As panels they lie in the
order in which they are read, and each is read once from the second cache, by all rows that a thread has.
"""

from __future__ import annotations

from ..text import Function
from .blocks import FIELDS, GRAIN, further, get, least, most, plus, put, shares, times
from .tiles import Shape, tile_name

DEEPEST = 1536  # rows of the matrix at most: panels of the first operand have the room of a product
_ROWS_AT_ONCE = 4  # strips of rows that are brought into panels at a time


def pack(shape: Shape) -> Function:
    """Bring a matrix into panels."""
    parameters = ("ptr panels", "ptr b", "i64 b_k", "i64 b_n", "i64 k", "i64 n")
    f = Function("pack", "void", *parameters)
    step = times(f, "%k", str(shape.columns * shape.size))
    with f.counted("0", "%n", str(shape.columns)) as column:
        target = f.offset("%panels", times(f, f.op("sdiv", "i64", column, str(shape.columns)), step))
        count = least(f, f.op("sub", "i64", "%n", column), str(shape.columns))
        source = f.offset("%b", times(f, column, "%b_n"))
        f.line(f"call void @panel_b(ptr {target}, ptr {source}, i64 %b_n, i64 %b_k, i64 %k, i64 {count})")
    f.end()
    return f


def chunk(shape: Shape) -> Function:
    """Some panels of a product, whose second operand is in panels."""
    f = Function("packed_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {name: get(f, name) for name in FIELDS}
    k, panels = value["k"], shares(f, value["n"], str(shape.columns))
    first = times(f, "%number", value["per"])
    end = least(f, plus(f, first, value["per"]), panels)
    own, of_strip = f.call("take_room", "ptr"), times(f, k, str(shape.rows * shape.size))
    of_panel, across = times(f, k, str(shape.columns * shape.size)), str(shape.columns * shape.size)
    adds = f.op("icmp eq", "ptr", value["start"], value["c"])
    rows_of_c = f.let(f"select i1 {adds}, i64 {value['c_m']}, i64 0")

    def strips(rows: str, body: object) -> None:
        """`body(height, row, panel)` for strips of rows, and where each has its panel."""
        row, near = f.variable("i64", "0"), f.variable("ptr", own)
        for height in shape.heights:
            with f.forever() as enough:
                after = plus(f, row.get(), str(height))
                f.leave_when(f.op("icmp sgt", "i64", after, rows), enough)
                if height == shape.rows:  # two strips of one height rather than a tall and a low one
                    left = f.op("sub", "i64", rows, row.get())
                    f.leave_when(f.op("icmp eq", "i64", left, str(2 * shape.heights[1])), enough)
                body(height, row.get(), near.get())  # type: ignore[operator]
                row.set(after)
                near.set(f.offset(near.get(), of_strip))

    together = _ROWS_AT_ONCE * shape.rows
    with f.counted("0", value["m"], str(together)) as top:
        rows = least(f, f.op("sub", "i64", value["m"], top), str(together))
        a, c = f.offset(value["a"], times(f, top, value["a_m"])), f.offset(value["c"], times(f, top, value["c_m"]))

        def bring(height: int, row: str, near: str) -> None:
            far = f.offset(a, times(f, row, value["a_m"]))
            sizes = f"i64 {value['a_m']}, i64 {value['a_k']}, i64 {k}, i64 {height}"
            f.line(f"call void @panel_a(ptr {near}, ptr {far}, {sizes})")

        strips(rows, bring)
        with f.counted(first, end) as panel:
            b, left = f.offset(value["b"], times(f, panel, of_panel)), times(f, panel, str(shape.columns))
            left = f.op("sub", "i64", value["n"], left)

            def multiply(height: int, row: str, near: str, b: str = b, panel: str = panel, left: str = left) -> None:
                to = f.offset(f.offset(c, times(f, panel, across)), times(f, row, value["c_m"]))
                down = times(f, plus(f, top, row), rows_of_c)
                start = further(f, value["start"], plus(f, down, times(f, panel, across)))
                operands = f"i64 {k}, ptr {near}, i64 {shape.rows * shape.size}, ptr {b}, i64 {across}"
                result = f"ptr {to}, i64 {value['c_m']}, i64 {left}, ptr {start}"
                f.line(f"call void @{tile_name(height, shape.vectors)}({operands}, {result})")

            strips(rows, multiply)
    f.call("give_room", "void", f"ptr {own}")
    f.end()
    return f


def share(shape: Shape) -> Function:
    """All of such a product, by several threads where that is worth it: each has some panels."""
    f = Function("packed_product", "void", "ptr context")
    m, k, n = (get(f, name) for name in ("m", "k", "n"))
    threads = f.let(f"load atomic i64, ptr {get(f, 'threads')} monotonic, align 8")
    worth = f.op("sdiv", "i64", times(f, times(f, m, k), n), str(GRAIN))
    panels = shares(f, n, str(shape.columns))
    parts = most(f, least(f, least(f, threads, worth), panels), "1")
    per = shares(f, panels, parts)
    put(f, "%context", "per", per)
    with f.when(f.op("icmp sgt", "i64", parts, "1")):
        f.line(f"call void {get(f, 'parallel')}(ptr @packed_chunk, ptr %context, i64 {shares(f, panels, per)})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line("call void @packed_chunk(ptr %context, i64 0)")
    f.end()
    return f


def functions(shape: Shape) -> list[Function]:
    """All functions."""
    return [pack(shape), chunk(shape), share(shape)]
