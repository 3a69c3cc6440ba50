"""Products of small matrices, called directly (NOTE [Direct calls]): BLAS takes longer to begin than to multiply 8 × 8 numbers.

One loop for all forms: rows of the second factor are adjacent vectors, elements of the first are spread over the lanes. Where the
second factor lies transposed, it is turned in memory on the stack first. What is large, has gaps or another type goes elsewhere.
"""

from __future__ import annotations

from .api import (
    ALIGNED,
    DATA,
    DECLINED,
    DESCR,
    DIMS,
    FLAGS,
    NDIM,
    STRIDES,
    TYPE,
    adjacent,
    answer,
    api,
    new_array,
    of,
    same,
    when_not,
)
from .plan import at, field
from .text import Function, literal, with_lanes

FORMS = ("mm", "nt", "tn", "linear")  # what is multiplied: x y, x yᵀ, xᵀ y, x yᵀ + b
# A card: where else to go, the form, types, Python's None, is the layer's input a matrix (asked where it is given as it is held)?
# Are batches multiplied one matrix after the other? (Others are folded: their leading dimensions are rows, too, or summed over.)
OTHERWISE, FORM, FLOAT, DOUBLE, NONE, FLAT, BATCHES, WORDS = range(8)
WORK = 1 << 18  # multiplications that are done here at most
OF_BATCH = 1 << 17  # the same in a batch: from here on several threads take one matrix after the other
ROOM = 4096  # elements of a factor that is turned at most,
PER_ROW = 1024  # and for each row of the first one (BLAS takes dot products then), but for layers, which add a bias
_ROWS = (8, 4, 1)  # rows of the result at a time: as many sums as a processor adds to at once


def _tile(f: Function, scalar: str, lanes: int, rows: int, first: str, column: str, mask: str) -> None:
    """`rows` rows of the result, as many columns as there are lanes."""
    type_, size = with_lanes(lanes, scalar), 8 if scalar == "double" else 4
    word = f"v{lanes}{'f64' if size == 8 else 'f32'}"
    masked = (f"i32 {size}", f"<{lanes} x i1> {mask}")
    totals = [f.variable(type_, literal(type_, 0)) for _ in range(rows)]
    with f.when(f.op("icmp ne", "ptr", "%bias", "null")):
        place = f.element("%bias", column, scalar)
        value = f.call(f"llvm.masked.load.{word}.p0", type_, f"ptr {place}", *masked, f"{type_} zeroinitializer")
        for total in totals:
            total.set(value)
    with f.counted("0", "%k") as p:
        place = f.element("%y", f.op("add", "i64", f.op("mul", "i64", p, "%n"), column), scalar)
        value = f.call(f"llvm.masked.load.{word}.p0", type_, f"ptr {place}", *masked, f"{type_} zeroinitializer")
        along = f.op("mul", "i64", p, "%across")
        for r, total in enumerate(totals):
            row = f.op("mul", "i64", f.op("add", "i64", first, str(r)), "%down")
            factor = f.load(scalar, f.element("%x", f.op("add", "i64", row, along), scalar), size)
            total.set(f.intrinsic("fma", type_, f.spread(type_, factor), value, total.get()))
    for r, total in enumerate(totals):
        row = f.op("mul", "i64", f.op("add", "i64", first, str(r)), "%n")
        place = f.element("%out", f.op("add", "i64", row, column), scalar)
        f.call(f"llvm.masked.store.{word}.p0", "void", f"{type_} {total.get()}", f"ptr {place}", *masked)


def _multiply(scalar: str, lanes: int) -> Function:
    """out (m, n) = x (m, k), whose elements lie `down` and `across` apart, times y (k, n), plus a row."""
    parameters = ("ptr x", "i64 down", "i64 across", "ptr y", "ptr bias", "ptr out", "i64 m", "i64 n", "i64 k")
    f = Function(f"multiply_{scalar}", "void", *parameters, linkage="internal")
    numbers = with_lanes(lanes, "i64")
    places = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
    with f.counted("0", "%n", str(lanes)) as column:
        mask = f.op("icmp slt", numbers, places, f.spread(numbers, f.op("sub", "i64", "%n", column)))
        row = f.variable("i64", "0")
        for rows in _ROWS:
            with f.forever() as done:
                after = f.op("add", "i64", row.get(), str(rows))
                f.leave_when(f.op("icmp sgt", "i64", after, "%m"), done)
                _tile(f, scalar, lanes, rows, row.get(), column, mask)
                row.set(after)
    f.end()
    return f


def _turned(scalar: str, lanes: int) -> Function:
    """y (k, n) from (n, k)."""
    f = Function(f"turned_{scalar}", "void", "ptr source", "ptr target", "i64 n", "i64 k", linkage="internal")
    type_, numbers, size = with_lanes(lanes, scalar), with_lanes(lanes, "i64"), 8 if scalar == "double" else 4
    word = f"v{lanes}{'f64' if size == 8 else 'f32'}"
    places = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
    apart = f.op("mul", numbers, places, f.spread(numbers, "%k"))
    with f.counted("0", "%n", str(lanes)) as j:
        mask = f.op("icmp slt", numbers, places, f.spread(numbers, f.op("sub", "i64", "%n", j)))
        start = f.op("mul", "i64", j, "%k")
        with f.counted("0", "%k") as p:
            first = f.element("%source", f.op("add", "i64", start, p), scalar)
            each = f.let(f"getelementptr {scalar}, ptr {first}, {numbers} {apart}")
            given = (f"<{lanes} x ptr> {each}", f"i32 {size}", f"<{lanes} x i1> {mask}")
            value = f.call(f"llvm.masked.gather.{word}.v{lanes}p0", type_, *given, f"{type_} zeroinitializer")
            place = f.element("%target", f.op("add", "i64", f.op("mul", "i64", p, "%n"), j), scalar)
            f.call(f"llvm.masked.store.{word}.p0", "void", f"{type_} {value}", f"ptr {place}", *given[1:])
    f.end()
    return f


def _lying() -> Function:
    """How the matrices of an array lie: 1 as they are, 2 transposed, 0 otherwise."""
    f = Function("lying", "i64", "ptr array", "i64 size", linkage="internal")
    with f.when(adjacent(f, "%array")):
        f.line("ret i64 1")
        f.begin(*f.labels("unreachable"))
    ndim, aligned = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64"), str(ALIGNED)
    when_not(f, f.op("icmp sge", "i64", ndim, "2"), "i64 0")
    when_not(f, same(f, f.op("and", "i32", of(f, "%array", FLAGS, "i32"), aligned), aligned, "i32"), "i64 0")
    dims, steps = of(f, "%array", DIMS), of(f, "%array", STRIDES)
    columns, rows = (f.op("sub", "i64", ndim, str(k)) for k in (1, 2))
    column = f.op("mul", "i64", "%size", at(f, dims, rows))
    when_not(f, same(f, at(f, steps, rows), "%size", "i64"), "i64 0")
    when_not(f, same(f, at(f, steps, columns), column, "i64"), "i64 0")
    step = f.variable("i64", f.op("mul", "i64", column, at(f, dims, columns)))
    with f.counted("0", rows) as k:
        axis = f.op("sub", "i64", f.op("sub", "i64", rows, "1"), k)
        when_not(f, same(f, at(f, steps, axis), step.get(), "i64"), "i64 0")
        step.set(f.op("mul", "i64", step.get(), at(f, dims, axis)))
    f.end("i64 2")
    return f


def _matrix(f: Function, array: str, descr: str, size: int, decline: str) -> str:
    """Go on only with an array of a type, whose matrices lie densely. Do they lie transposed?"""
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), decline)
    when_not(f, same(f, of(f, array, DESCR, "i64"), descr, "i64"), decline)
    lying = f.let(f"call i64 @lying(ptr {array}, i64 {size})")
    when_not(f, f.op("icmp ne", "i64", lying, "0"), decline)
    return same(f, lying, "2", "i64")


def _attempt(scalar: str) -> Function:
    """The product of two arrays of a type, null with an exception, or `DECLINED`."""
    parameters = ("ptr card", "ptr left", "ptr right", "ptr bias", "i64 descr")
    f = Function(f"product_{scalar}", "ptr", *parameters, linkage="internal")
    no, room, shape = f"ptr {DECLINED}", f.reserve(scalar, ROOM), f.reserve("i64", 64)
    form, item = field(f, "%card", FORM), 8 if scalar == "double" else 4
    row, at_bias = f.variable("ptr", "null"), f.op("icmp ne", "ptr", "%bias", "null")
    left_lies = _matrix(f, "%left", "%descr", item, no)
    right_lies = _matrix(f, "%right", "%descr", item, no)
    when_not(f, same(f, of(f, "%right", NDIM, "i32"), "2", "i32"), no)
    ndim = f.cast("sext", "i32", of(f, "%left", NDIM, "i32"), "i64")
    transposed = same(f, form, str(FORMS.index("tn")), "i64")
    when_not(f, f.op("icmp sge", "i64", ndim, "2"), no)
    folded = f.op("xor", "i1", f.op("or", "i1", transposed, left_lies), "true")
    when_not(f, f.op("or", "i1", same(f, ndim, "2", "i64"), folded), no)
    left, right = of(f, "%left", DIMS), of(f, "%right", DIMS)
    last = at(f, left, f.op("sub", "i64", ndim, "1"))
    size = f.let("call i64 @size_of(ptr %left)")
    when_not(f, f.op("icmp sgt", "i64", size, "0"), no)
    turned = f.op("or", "i1", same(f, form, "1", "i64"), same(f, form, "3", "i64"))
    other = [at(f, right, str(axis)) for axis in (0, 1)]
    k = f.let(f"select i1 {transposed}, i64 {at(f, left, '0')}, i64 {last}")
    m = f.op("sdiv", "i64", size, k)
    n = f.let(f"select i1 {turned}, i64 {other[0]}, i64 {other[1]}")
    when_not(f, same(f, k, f.let(f"select i1 {turned}, i64 {other[1]}, i64 {other[0]}"), "i64"), no)
    when_not(f, f.op("icmp sgt", "i64", n, "0"), no)
    when_not(f, f.op("icmp sle", "i64", f.op("mul", "i64", size, n), str(WORK)), no)
    source = f.variable("ptr", of(f, "%right", DATA))
    with f.when(at_bias):
        when_not(f, same(f, of(f, "%bias", TYPE), api(f, "array_type")), no)
        when_not(f, same(f, of(f, "%bias", DESCR, "i64"), "%descr", "i64"), no)
        when_not(f, adjacent(f, "%bias"), no)
        when_not(f, same(f, of(f, "%bias", NDIM, "i32"), "1", "i32"), no)
        when_not(f, same(f, at(f, of(f, "%bias", DIMS), "0"), n, "i64"), no)
        row.set(of(f, "%bias", DATA))
    with f.when(f.op("xor", "i1", turned, right_lies)):
        elements = f.op("mul", "i64", n, k)
        when_not(f, f.op("icmp sle", "i64", elements, str(ROOM)), no)
        few = f.op("icmp sle", "i64", elements, f.op("mul", "i64", m, str(PER_ROW)))
        when_not(f, f.op("or", "i1", few, same(f, form, str(FORMS.index("linear")), "i64")), no)
        f.line(f"call void @turned_{scalar}(ptr {source.get()}, ptr {room}, i64 {n}, i64 {k})")
        source.set(room)
    first = f.let(f"select i1 {transposed}, i64 {m}, i64 {at(f, left, '0')}")
    f.store("i64", first, shape)
    with f.counted("1", f.op("sub", "i64", ndim, "1")) as d:
        f.store("i64", at(f, left, d), f.element(shape, d, "i64"))
    f.store("i64", n, f.element(shape, f.op("sub", "i64", ndim, "1"), "i64"))
    out = new_array(f, f.cast("inttoptr", "i64", "%descr", "ptr"), ndim, shape)
    down, across = _steps(f, f.op("xor", "i1", transposed, left_lies), m, k)
    places = f"ptr {of(f, '%left', DATA)}, i64 {down}, i64 {across}, ptr {source.get()}, ptr {row.get()}"
    sizes = f"ptr {of(f, out, DATA)}, i64 {m}, i64 {n}, i64 {k}"
    f.line(f"call void @multiply_{scalar}({places}, {sizes})")
    f.end(f"ptr {out}")
    return f


def _steps(f: Function, transposed: str, m: str, k: str) -> list[str]:
    """How far apart the elements of the first factor lie, down and across."""
    return [f.let(f"select i1 {transposed}, i64 {a}, i64 {b}") for a, b in (("1", k), (m, "1"))]


def _batch(scalar: str) -> Function:
    """The products of two batches of matrices, one after the other."""
    f = Function(f"products_{scalar}", "ptr", "ptr card", "ptr left", "ptr right", "i64 descr", linkage="internal")
    no, room, shape = f"ptr {DECLINED}", f.reserve(scalar, ROOM), f.reserve("i64", 64)
    form, item = field(f, "%card", FORM), 8 if scalar == "double" else 4
    turned, transposed = (same(f, form, str(FORMS.index(each)), "i64") for each in ("nt", "tn"))
    when_not(f, same(f, field(f, "%card", BATCHES), "1", "i64"), no)
    left_lies = _matrix(f, "%left", "%descr", item, no)
    right_lies = _matrix(f, "%right", "%descr", item, no)
    ndim = f.cast("sext", "i32", of(f, "%right", NDIM, "i32"), "i64")
    when_not(f, same(f, of(f, "%left", NDIM, "i32"), of(f, "%right", NDIM, "i32"), "i32"), no)
    left, right, batch = of(f, "%left", DIMS), of(f, "%right", DIMS), f.variable("i64", "1")
    columns = f.op("sub", "i64", ndim, "1")
    rows = f.op("sub", "i64", columns, "1")
    (a, b), (c, d) = ([at(f, dims, axis) for axis in (rows, columns)] for dims in (left, right))
    m, k = (f.let(f"select i1 {transposed}, i64 {x}, i64 {y}") for x, y in ((b, a), (a, b)))
    n, common = (f.let(f"select i1 {turned}, i64 {x}, i64 {y}") for x, y in ((c, d), (d, c)))
    when_not(f, same(f, k, common, "i64"), no)
    with f.counted("0", rows) as axis:
        count = at(f, left, axis)
        when_not(f, same(f, count, at(f, right, axis), "i64"), no)
        f.store("i64", count, f.element(shape, axis, "i64"))
        batch.set(f.op("mul", "i64", batch.get(), count))
    size, pattern = f.let("call i64 @size_of(ptr %left)"), f.op("mul", "i64", n, k)
    turns = f.op("xor", "i1", turned, right_lies)
    when_not(f, f.op("icmp sgt", "i64", f.op("mul", "i64", size, n), "0"), no)
    when_not(f, f.op("icmp sle", "i64", f.op("mul", "i64", size, n), str(OF_BATCH)), no)
    when_not(f, f.op("or", "i1", f.op("xor", "i1", turns, "true"), f.op("icmp sle", "i64", pattern, str(ROOM))), no)
    f.store("i64", m, f.element(shape, rows, "i64"))
    f.store("i64", n, f.element(shape, columns, "i64"))
    out = new_array(f, f.cast("inttoptr", "i64", "%descr", "ptr"), ndim, shape)
    down, across = _steps(f, f.op("xor", "i1", transposed, left_lies), m, k)
    first, source, target = (of(f, each, DATA) for each in ("%left", "%right", out))
    with f.counted("0", batch.get()) as each:
        x, y, z = (
            f.element(place, f.op("mul", "i64", each, f.op("mul", "i64", p, q)), scalar)
            for place, p, q in ((first, m, k), (source, k, n), (target, m, n))
        )
        lying = f.variable("ptr", y)
        with f.when(turns):
            f.line(f"call void @turned_{scalar}(ptr {y}, ptr {room}, i64 {n}, i64 {k})")
            lying.set(room)
        places = f"ptr {x}, i64 {down}, i64 {across}, ptr {lying.get()}, ptr null, ptr {z}"
        f.line(f"call void @multiply_{scalar}({places}, i64 {m}, i64 {n}, i64 {k})")
    f.end(f"ptr {out}")
    return f


def _direct() -> Function:
    """What CPython calls."""
    f = Function("direct_product", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, result = of(f, "%self", DATA), f.variable("ptr", DECLINED)
    bias = f.variable("ptr", "null")
    linear = same(f, field(f, card, FORM), str(FORMS.index("linear")), "i64")
    wanted = f.let(f"select i1 {linear}, i64 3, i64 2")
    right = f.op("and", "i1", same(f, "%count", wanted, "i64"), f.op("icmp eq", "ptr", "%names", "null"))
    with f.when(right):
        left, other = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in (0, 1))
        with f.when(linear):
            given = f.load("ptr", f.element("%args", "2", "ptr"))
            none = f.load("ptr", f.element(card, str(NONE), "i64"))
            bias.set(f.let(f"select i1 {same(f, given, none)}, ptr null, ptr {given}"))
        arrays = (same(f, of(f, each, TYPE), api(f, "array_type")) for each in (left, other))
        with f.when(f.op("and", "i1", *arrays)):
            ndim = of(f, other, NDIM, "i32")
            for number, scalar in ((FLOAT, "float"), (DOUBLE, "double")):
                descr = field(f, card, number)
                with f.when(same(f, of(f, left, DESCR, "i64"), descr, "i64")):
                    arguments = f"ptr {card}, ptr {left}, ptr {other}"
                    several = f.op("icmp sgt", "i32", ndim, "2")
                    with f.when(several):
                        result.set(f.let(f"call ptr @products_{scalar}({arguments}, i64 {descr})"))
                    with f.when(f.op("xor", "i1", several, "true")):
                        result.set(f.let(f"call ptr @product_{scalar}({arguments}, ptr {bias.get()}, i64 {descr})"))
    return answer(f, card, result)


def functions(width: int) -> list[Function]:
    """All functions, for both types."""
    made: list[Function] = [_lying()]
    for scalar, size in (("float", 4), ("double", 8)):
        made += [_multiply(scalar, width // size), _turned(scalar, width // size), _attempt(scalar), _batch(scalar)]
    return [*made, _direct()]
