"""A matrix product from tiles: operands in panels that fit the caches, blocks of the result for the threads, batches of matrices."""

from __future__ import annotations

from collections.abc import Callable

from ..pool import clear_flags
from ..text import Function
from . import rooms
from .tiles import Shape, panel, tile, tile_name

DEEP = 384  # steps of k at a time: a tile's operands stay in the first cache
WIDE = 512  # columns at a time: panels of the second operand stay in the second cache
FEW = 2  # strips of rows up to which the second operand is read as it lies
GRAIN = 100_000  # multiplications that are worth a thread (a microsecond)
LONG = 40  # and how many of those make a large product
SLACK = 256  # bytes that panels are written further than they are long

# What the threads of a product share, in places of eight bytes: the operands and their strides in bytes, the sizes, the batch, the parts.
FIELDS = (
    "a", "b", "c", "start", "a_m", "a_k", "b_k", "b_n", "c_m", "m", "k", "n", "count", "inner",
    "a_outer", "a_inner", "b_outer", "b_inner", "c_outer", "c_inner", "pieces", "rows", "columns", "per", "parallel", "threads",
)  # fmt: skip
PLACE = {name: place for place, name in enumerate(FIELDS)}
_POINTERS = ("a", "b", "c", "start", "parallel", "threads")


def get(f: Function, name: str, context: str = "%context") -> str:
    """A field of the context."""
    return f.load("ptr" if name in _POINTERS else "i64", f.element(context, str(PLACE[name]), "i64"))


def put(f: Function, context: str, name: str, value: str) -> None:
    """Set a field of the context."""
    f.store("ptr" if name in _POINTERS else "i64", value, f.element(context, str(PLACE[name]), "i64"))


def least(f: Function, one: str, other: str) -> str:
    """The smaller of two."""
    return f.call("llvm.smin.i64", "i64", f"i64 {one}", f"i64 {other}")


def most(f: Function, one: str, other: str) -> str:
    """The larger of two."""
    return f.call("llvm.smax.i64", "i64", f"i64 {one}", f"i64 {other}")


def times(f: Function, one: str, other: str) -> str:
    """A product of two integers."""
    return f.op("mul", "i64", one, other)


def plus(f: Function, one: str, other: str) -> str:
    """A sum of two integers."""
    return f.op("add", "i64", one, other)


def shares(f: Function, whole: str, part: str) -> str:
    """How many parts make up the whole."""
    return f.op("sdiv", "i64", plus(f, whole, f.op("sub", "i64", part, "1")), part)


def further(f: Function, start: str, offset: str) -> str:
    """A row to start from, further on; null stays null."""
    there = f.op("icmp ne", "ptr", start, "null")
    return f.offset(start, f.let(f"select i1 {there}, i64 {offset}, i64 0"))


def by_width(f: Function, shape: Shape, columns: str, name: Callable[[int], str], arguments: str) -> None:
    """Call the tile that is wide enough for so many columns: of one vector, or of all; `name(vectors)` says which that is."""
    one, two, after = f.labels("one", "two", "after")
    f.line(f"br i1 {f.op('icmp sle', 'i64', columns, str(shape.lanes))}, label %{one}, label %{two}")
    for label, vectors in ((one, 1), (two, shape.vectors)):
        f.begin(label)
        f.line(f"call void @{name(vectors)}({arguments})")
        f.jump(after)
    f.begin(after)


def strip(shape: Shape, height: int) -> Function:
    """`height` rows of a block: tile after tile. `panel_step` leads from one panel of b to the next."""
    parameters = (
        "i64 k", "ptr a", "i64 a_step", "ptr b", "i64 b_step", "i64 panel_step", "ptr c", "i64 c_step", "i64 columns",
        "ptr given",
    )  # fmt: skip
    f = Function(f"strip_{height}", "void", *parameters, linkage="internal")
    b = f.variable("ptr", "%b")
    with f.counted("0", "%columns", str(shape.columns)) as column:
        left = f.op("sub", "i64", "%columns", column)
        bytes_ = times(f, column, str(shape.size))
        c, start = f.offset("%c", bytes_), further(f, "%given", bytes_)
        arguments = (
            f"i64 %k, ptr %a, i64 %a_step, ptr {b.get()}, i64 %b_step, ptr {c}, i64 %c_step, i64 {left}, ptr {start}"
        )
        by_width(f, shape, left, lambda vectors: tile_name(height, vectors), arguments)
        b.set(f.offset(b.get(), "%panel_step"))
    f.end()
    return f


BLOCK = (
    "ptr a", "i64 a_m", "i64 a_k", "ptr b", "i64 b_k", "i64 b_n", "ptr c", "i64 c_m", "ptr given", "i64 m", "i64 k", "i64 n",
)  # fmt: skip


def _room_b(shape: Shape) -> int:
    """Bytes of the second operand's panels."""
    return DEEP * WIDE * shape.size + SLACK


def _room(shape: Shape) -> int:
    """Bytes of all panels."""
    return _room_b(shape) + DEEP * shape.rows * shape.size + SLACK


def block(shape: Shape) -> Function:
    """c = start + a @ b, on one thread."""
    f = Function("block", "void", *BLOCK)
    size = str(shape.size)
    deep = least(f, "%k", str(DEEP))
    panel_bytes = times(f, deep, str(shape.columns * shape.size))
    own_b = f.call("take_room", "ptr")
    own_a = f.offset(own_b, str(_room_b(shape)))
    few = f.op("icmp sle", "i64", "%m", str(FEW * shape.rows))
    whole = f.op("icmp eq", "i64", f.op("and", "i64", "%n", str(shape.columns - 1)), "0")
    lies = f.op("icmp eq", "i64", "%b_n", size)
    direct_b = f.op("and", "i1", f.op("and", "i1", few, whole), lies)
    narrow = f.op("icmp sle", "i64", "%n", str(FEW * shape.columns))
    direct_a = f.op("and", "i1", narrow, f.op("icmp eq", "i64", "%a_m", size))
    a_step = f.let(f"select i1 {direct_a}, i64 %a_k, i64 {shape.rows * shape.size}")
    b_step = f.let(f"select i1 {direct_b}, i64 %b_k, i64 {shape.columns * shape.size}")
    panel_step = f.let(f"select i1 {direct_b}, i64 {shape.columns * shape.size}, i64 {panel_bytes}")
    with f.counted("0", "%n", str(WIDE)) as column, f.counted("0", "%k", str(DEEP)) as depth:
        columns = least(f, f.op("sub", "i64", "%n", column), str(WIDE))
        steps = least(f, f.op("sub", "i64", "%k", depth), str(DEEP))
        far_b = f.offset(f.offset("%b", times(f, depth, "%b_k")), times(f, column, "%b_n"))
        with f.when(f.op("xor", "i1", direct_b, "true")), f.counted("0", columns, str(shape.columns)) as at:
            target = f.offset(own_b, times(f, f.op("sdiv", "i64", at, str(shape.columns)), panel_bytes))
            source = f.offset(far_b, times(f, at, "%b_n"))
            count = least(f, f.op("sub", "i64", columns, at), str(shape.columns))
            f.line(f"call void @panel_b(ptr {target}, ptr {source}, i64 %b_n, i64 %b_k, i64 {steps}, i64 {count})")
        near_b = f.let(f"select i1 {direct_b}, ptr {far_b}, ptr {own_b}")
        offset = times(f, column, size)
        c_column = f.offset("%c", offset)
        first = f.op("and", "i1", f.op("icmp eq", "i64", depth, "0"), f.op("icmp ne", "ptr", "%given", "%c"))
        given = further(f, "%given", offset)
        row = f.variable("i64", "0")
        for height in shape.heights:
            with f.forever() as enough:
                after = plus(f, row.get(), str(height))
                f.leave_when(f.op("icmp sgt", "i64", after, "%m"), enough)
                if height == shape.rows:  # two strips of one height rather than a tall and a low one
                    left = f.op("sub", "i64", "%m", row.get())
                    f.leave_when(f.op("icmp eq", "i64", left, str(2 * shape.heights[1])), enough)
                far_a = f.offset(f.offset("%a", times(f, depth, "%a_k")), times(f, row.get(), "%a_m"))
                with f.when(f.op("xor", "i1", direct_a, "true")):
                    f.line(
                        f"call void @panel_a(ptr {own_a}, ptr {far_a}, i64 %a_m, i64 %a_k, i64 {steps}, i64 {height})"
                    )
                near_a = f.let(f"select i1 {direct_a}, ptr {far_a}, ptr {own_a}")
                c = f.offset(c_column, times(f, row.get(), "%c_m"))
                start = f.let(f"select i1 {first}, ptr {given}, ptr {c}")
                f.line(
                    f"call void @strip_{height}(i64 {steps}, ptr {near_a}, i64 {a_step}, ptr {near_b}, i64 {b_step}, "
                    f"i64 {panel_step}, ptr {c}, i64 %c_m, i64 {columns}, ptr {start})"
                )
                row.set(after)
    f.call("give_room", "void", f"ptr {own_b}")
    f.end()
    return f


def chunk(size: int) -> Function:
    """The part of a product that has a number: some matrices of the batch, or a part of one."""
    f = Function("product_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {name: get(f, name) for name in FIELDS}
    which = f.op("sdiv", "i64", "%number", value["pieces"])
    piece = f.op("srem", "i64", "%number", value["pieces"])
    first = times(f, which, value["per"])
    end = least(f, plus(f, first, value["per"]), value["count"])
    across = shares(f, value["n"], value["columns"])
    row = times(f, f.op("sdiv", "i64", piece, across), value["rows"])
    column = times(f, f.op("srem", "i64", piece, across), value["columns"])
    m = least(f, f.op("sub", "i64", value["m"], row), value["rows"])
    n = least(f, f.op("sub", "i64", value["n"], column), value["columns"])
    with f.counted(first, end) as matrix:
        outer, inner = (f.op(word, "i64", matrix, value["inner"]) for word in ("sdiv", "srem"))

        def place(name: str, *moves: tuple[str, str]) -> str:
            at = f.offset(value[name], times(f, outer, value[f"{name}_outer"]))
            at = f.offset(at, times(f, inner, value[f"{name}_inner"]))
            for index, step in moves:
                at = f.offset(at, times(f, index, step))
            return at

        a, b = place("a", (row, value["a_m"])), place("b", (column, value["b_n"]))
        c = place("c", (row, value["c_m"]), (column, str(size)))
        adds = f.op("icmp eq", "ptr", value["start"], value["c"])
        row_of = further(f, value["start"], times(f, column, str(size)))
        start = f.let(f"select i1 {adds}, ptr {c}, ptr {row_of}")
        f.line(
            f"call void @block(ptr {a}, i64 {value['a_m']}, i64 {value['a_k']}, ptr {b}, i64 {value['b_k']}, "
            f"i64 {value['b_n']}, ptr {c}, i64 {value['c_m']}, ptr {start}, i64 {m}, i64 {value['k']}, i64 {n})"
        )
    f.end()
    return f


def share(shape: Shape) -> Function:
    """All of a product: cut into parts, and the parts computed, by several threads where that is worth it."""
    f = Function("product", "void", "ptr context")
    m, k, n, count = (get(f, name) for name in ("m", "k", "n", "count"))
    work = times(f, times(f, m, k), n)
    total = times(f, work, count)
    threads = f.let(f"load atomic i64, ptr {get(f, 'threads')} monotonic, align 8")
    worth = f.op("sdiv", "i64", total, str(GRAIN))
    # Two parts for each thread, so that none waits for long; of a small product one.
    large = f.op("icmp sgt", "i64", worth, str(LONG))
    each = f.let(f"select i1 {large}, i64 2, i64 1")
    wanted = f.variable("i64", least(f, times(f, threads, each), worth))
    with f.when(f.op("icmp sle", "i64", threads, "1")):
        wanted.set("1")
    with f.when(f.op("icmp sle", "i64", worth, "1")):
        wanted.set("1")
    parts = most(f, wanted.get(), "1")
    # Few matrices are cut, along their longer side; many are given out some at a time.
    per = most(f, f.op("sdiv", "i64", count, parts), "1")
    pieces = shares(f, parts, count)
    cutting = f.op("icmp sgt", "i64", pieces, "1")
    tall = f.op("icmp sge", "i64", m, n)

    def cut(length: str, multiple: int, mine: str) -> str:
        """How long a part is: some tiles, as many for every thread."""
        tiles = shares(f, length, str(multiple))
        size = shares(f, tiles, pieces)
        left = f.op("srem", "i64", shares(f, tiles, size), threads)
        fair = f.op("icmp eq", "i64", left, "0")
        size = f.let(f"select i1 {fair}, i64 {size}, i64 {shares(f, tiles, threads)}")
        return f.let(f"select i1 {f.op('and', 'i1', mine, cutting)}, i64 {times(f, size, str(multiple))}, i64 {length}")

    rows, columns = cut(m, shape.rows, tall), cut(n, shape.columns, f.op("xor", "i1", tall, "true"))
    made = times(f, shares(f, m, rows), shares(f, n, columns))
    for name, value in (("rows", rows), ("columns", columns), ("per", per), ("pieces", made)):
        put(f, "%context", name, value)
    chunks = times(f, shares(f, count, per), made)
    with f.when(f.op("icmp sgt", "i64", parts, "1")):
        f.line(f"call void {get(f, 'parallel')}(ptr @product_chunk, ptr %context, i64 {chunks})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    with f.counted("0", chunks) as number:
        f.line(f"call void @product_chunk(ptr %context, i64 {number})")
    f.end()
    return f


def loop(name: str, batch: int, bias: bool, x86: bool) -> Function:
    """NumPy's loop of a product with so many dimensions of a batch (at most 2), and with or without a bias."""
    f = Function(name, "void", "ptr args", "ptr dimensions", "ptr steps", "ptr plan")
    operands = 4 if bias else 3
    numbers = iter(range(1, 9))
    sizes = [f.load("i64", f.element("%dimensions", str(next(numbers)), "i64")) for _ in range(batch + 3)]
    *outer, m, k, n = sizes
    core = iter(range(operands, 99))
    places = {}
    for operand in ("a", "b", *(["bias"] if bias else []), "c"):
        count = 1 if operand == "bias" else batch + 2
        places[operand] = [f.load("i64", f.element("%steps", str(next(core)), "i64")) for _ in range(count)]
    context = f.reserve("i64", len(FIELDS))
    order = ("a", "b", "start", "c") if bias else ("a", "b", "c")
    for name_, (one, other) in {"a": ("a_m", "a_k"), "b": ("b_k", "b_n"), "c": ("c_m", "")}.items():
        put(f, context, one, places[name_][-2])
        if other:
            put(f, context, other, places[name_][-1])
        before = ["0"] * (2 - batch) + places[name_][:batch]
        put(f, context, f"{name_}_outer", before[0])
        put(f, context, f"{name_}_inner", before[1])
    for name_, value in (("m", m), ("k", k), ("n", n)):
        put(f, context, name_, value)
    ones = ["1"] * (2 - batch) + outer
    put(f, context, "count", times(f, ones[0], ones[1]))
    put(f, context, "inner", ones[1])
    for place, name_ in enumerate(("parallel", "threads")):
        put(f, context, name_, f.load("ptr", f.element("%plan", str(place), "i64")))
    with f.counted("0", f.load("i64", "%dimensions")) as each:
        if not bias:
            put(f, context, "start", "null")
        for operand, name_ in enumerate(order):
            step = f.load("i64", f.element("%steps", str(operand), "i64"))
            place = f.offset(f.load("ptr", f.element("%args", str(operand), "ptr")), times(f, each, step))
            put(f, context, name_, place)
        f.line(f"call void @product(ptr {context})")
    clear_flags(f, x86)  # as BLAS, a product says nothing of floating-point errors
    f.end()
    return f


FORMS = {
    "matrices": (0, False, "(m,k),(k,n)->(m,n)"),
    "with_bias": (0, True, "(m,k),(k,n),(n)->(m,n)"),
    "batch": (1, False, "(a,m,k),(a,k,n)->(a,m,n)"),
    "batches": (2, False, "(a,b,m,k),(a,b,k,n)->(a,b,m,n)"),
}


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions of a module of products."""
    made = [
        rooms.take(_room(shape)),
        rooms.give(),
        panel(shape, "panel_a", shape.rows),
        panel(shape, "panel_b", shape.columns),
    ]
    for height in shape.heights:
        made += [tile(shape, height, 1), tile(shape, height, shape.vectors), strip(shape, height)]
    made += [block(shape), chunk(shape.size), share(shape)]
    made += [loop(name, batch, bias, x86) for name, (batch, bias, _) in FORMS.items()]
    return made
