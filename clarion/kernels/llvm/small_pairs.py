"""Elements of small arrays by pairs of numbers (`x[i, j]`), and what is added up by numbers (their gradients, those of rows and of an embedding),
called directly (NOTE [Direct calls]).

One or two arrays of numbers of one shape, for the first dimensions. Numbers of no element or counted from the end, other types, strides and much
work go elsewhere.
"""

from __future__ import annotations

from .api import DATA, DESCR, DIMS, TYPE, adjacent, api, every, new_array, of, same
from .plan import at, field
from .small_arguments import DIMENSIONS, begin, few, ndim_of, need, numbers_of
from .text import Function

OTHERWISE, INT64, WORDS = range(3)  # a card: where else to go, a type


def _in_front(f: Function, where: str, several: int) -> None:
    """Go on only where the numbers are those of the first dimensions."""
    places = f.reserve("i64", DIMENSIONS)
    need(f, same(f, numbers_of(f, where, places), str(several), "i64"))
    for k in range(several):
        need(f, same(f, at(f, places, str(k)), str(k), "i64"))


def _given(f: Function, arrays: list[str], dims: str) -> tuple[list[str], str]:
    """Go on only with numbers of elements: where they are, and how many."""
    for array in arrays:
        need(f, same(f, of(f, array, TYPE), api(f, "array_type")))
        need(f, every(f, adjacent(f, array), same(f, of(f, array, DESCR, "i64"), field(f, "%card", INT64), "i64")))
        need(f, f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {array}, ptr {arrays[0]})"), "0"))
    count = f.let(f"call i64 @size_of(ptr {arrays[0]})")
    few(f, count)
    for k, array in enumerate(arrays):
        inside = f.let(f"call i64 @numbers_below(ptr {array}, i64 {at(f, dims, str(k))})")
        need(f, f.op("icmp ne", "i64", inside, "0"))
    return [of(f, array, DATA) for array in arrays], count


def _line(f: Function, i: str, numbers: list[str], dims: str) -> str:
    """Which row of the first dimensions is named."""
    line = at(f, numbers[0], i)
    for k, each in enumerate(numbers[1:], 1):
        line = f.op("add", "i64", f.op("mul", "i64", line, at(f, dims, str(k))), at(f, each, i))
    return line


def _taken() -> Function:
    """x, numbers, numbers, dimensions: a new array."""
    f, (x, first, second, where) = begin("pairs_taken", 4)
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    descr, whole = of(f, x, DESCR), field(f, "%card", INT64)
    kinds = [same(f, descr, api(f, name)) for name in ("float32", "float64")]
    kinds.append(same(f, f.cast("ptrtoint", "ptr", descr, "i64"), whole, "i64"))
    need(f, f.op("or", "i1", kinds[0], f.op("or", "i1", *kinds[1:])))
    _in_front(f, where, 2)
    dims, ndim, rank = of(f, x, DIMS), ndim_of(f, x), ndim_of(f, first)
    need(
        f,
        every(
            f,
            f.op("icmp sge", "i64", ndim, "2"),
            f.op("icmp slt", "i64", f.op("add", "i64", ndim, rank), str(DIMENSIONS)),
        ),
    )
    numbers, count = _given(f, [first, second], dims)
    inner = f.let(f"call i64 @product_of(ptr {dims}, i64 2, i64 {ndim})")
    few(f, inner, f.op("mul", "i64", inner, count))
    shape, places = f.reserve("i64", 2 * DIMENSIONS), of(f, first, DIMS)
    with f.counted("0", rank) as k:
        f.store("i64", at(f, places, k), f.element(shape, k, "i64"))
    with f.counted("2", ndim) as k:
        f.store("i64", at(f, dims, k), f.element(shape, f.op("sub", "i64", f.op("add", "i64", rank, k), "2"), "i64"))
    made = new_array(f, descr, f.op("sub", "i64", f.op("add", "i64", rank, ndim), "2"), shape)
    bytes_ = f.op("mul", "i64", inner, f.select("i64", kinds[0], "4", "8"))
    target, source = of(f, made, DATA), of(f, x, DATA)
    with f.counted("0", count) as i:
        far = f.offset(source, f.op("mul", "i64", _line(f, i, numbers, dims), bytes_))
        near = f.offset(target, f.op("mul", "i64", i, bytes_))
        f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {near}", f"ptr {far}", f"i64 {bytes_}", "i1 false")
    f.end(f"ptr {made}")
    return f


def _sum(several: int) -> Function:
    """Zeros of a shape, with the rows of `g` added where numbers point, but for those of one number."""
    names = [f"n{k}" for k in range(several)]
    parameters = ("ptr card", "ptr g", *[f"ptr {name}" for name in names], "ptr dims", "i64 ndim", "i64 but")
    f = Function(f"rows_added_{several}", "ptr", *parameters, linkage="internal")
    need(f, same(f, of(f, "%g", TYPE), api(f, "array_type")))
    lies = adjacent(f, "%g")  # or it is one number in all places, as the gradient of a sum
    with f.when(f.op("xor", "i1", lies, "true")):
        need(f, f.op("icmp ne", "i64", f.let("call i64 @one_number(ptr %g)"), "0"))
    moves, descr = f.cast("zext", "i1", lies, "i64"), of(f, "%g", DESCR)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    need(f, f.op("or", "i1", single, double))
    need(f, f.op("icmp sge", "i64", "%ndim", str(several)))
    numbers, count = _given(f, [f"%{name}" for name in names], "%dims")
    inner = f.let(f"call i64 @product_of(ptr %dims, i64 {several}, i64 %ndim)")
    whole = f.let("call i64 @product_of(ptr %dims, i64 0, i64 %ndim)")
    elements = f.op("mul", "i64", inner, count)
    few(f, inner, whole, elements)
    need(f, same(f, f.let("call i64 @size_of(ptr %g)"), elements, "i64"))
    made = new_array(f, descr, "%ndim", "%dims")
    for condition, scalar, size in ((single, "float", 4), (double, "double", 8)):
        with f.when(condition):
            place, source = of(f, made, DATA), of(f, "%g", DATA)
            bytes_ = f.op("mul", "i64", whole, str(size))
            f.call("llvm.memset.p0.i64", "void", f"ptr {place}", "i8 0", f"i64 {bytes_}", "i1 false")
            with f.counted("0", count) as i:
                line = _line(f, i, numbers, "%dims")
                row = f.op("mul", "i64", line, inner)
                with f.when(f.op("icmp ne", "i64", line, "%but")), f.counted("0", inner) as k:
                    from_ = f.op("mul", "i64", f.op("add", "i64", f.op("mul", "i64", i, inner), k), moves)
                    target = f.element(place, f.op("add", "i64", row, k), scalar)
                    value = f.load(scalar, f.element(source, from_, scalar), size)
                    f.store(scalar, f.op("fadd", scalar, f.load(scalar, target, size), value), target, size)
    f.end(f"ptr {made}")
    return f


def _added(several: int) -> Function:
    """g, numbers, perhaps more of them, a shape, dimensions."""
    f, (g, *numbers, shape, where) = begin(f"added_by_{several}", several + 3)
    _in_front(f, where, several)
    dims = f.reserve("i64", DIMENSIONS)
    given = ", ".join(f"ptr {each}" for each in ("%card", g, *numbers, dims))
    f.end(f"ptr {f.let(f'call ptr @rows_added_{several}({given}, i64 {numbers_of(f, shape, dims)}, i64 -1)')}")
    return f


def _table() -> Function:
    """The gradient of an embedding: g, numbers, rows of the table, the row that has none, and no scaling."""
    f, (g, numbers, rows, padding, scaled) = begin("added_to_table", 5)
    dims, beyond = f.reserve("i64", 2), f.reserve("i32")
    need(f, same(f, scaled, api(f, "false")))
    need(f, same(f, of(f, g, TYPE), api(f, "array_type")))
    for thing in (rows, padding):
        need(f, same(f, of(f, thing, TYPE), api(f, "int_type")))
    height, but = (f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})") for thing in (rows, padding))
    last = f.op("sub", "i64", ndim_of(f, g), "1")
    need(f, f.op("icmp sge", "i64", last, "0"))
    f.store("i64", height, dims)
    f.store("i64", at(f, of(f, g, DIMS), last), f.element(dims, "1", "i64"))
    f.end(f"ptr {f.let(f'call ptr @rows_added_1(ptr %card, ptr {g}, ptr {numbers}, ptr {dims}, i64 2, i64 {but})')}")
    return f


KERNELS = {
    "index2": "direct_pairs",
    "index1_backward": "direct_added_1",
    "index2_backward": "direct_added_2",
    "embedding_dense_backward": "direct_table",
}
ENTRIES = {
    "direct_pairs": "pairs_taken",
    "direct_added_1": "added_by_1",
    "direct_added_2": "added_by_2",
    "direct_table": "added_to_table",
}


def functions() -> list[Function]:
    """All functions."""
    return [_taken(), _sum(1), _sum(2), _added(1), _added(2), _table()]
