"""Rows of a small table by their numbers, called directly (NOTE [Direct calls]): to ask NumPy for the least and the largest number takes
longer than to copy the rows.

The card knows the types that rows may be of, with the bytes of each. A number that is of no row, other types, strides and much work
go elsewhere (tables.py, the portable kernel).
"""

from __future__ import annotations

from .api import DATA, DECLINED, DESCR, DIMS, NDIM, TYPE, adjacent, answer, api, of, same, when_not
from .plan import at, field
from .text import Function

OTHERWISE, NUMBERS, TYPES, FIRST = range(
    4
)  # a card: where else to go, the numbers' type, how many types of rows; those
WORK = 1 << 18  # bytes that are copied here at most


def _size() -> Function:
    """Bytes of an element of the table; 0 where its type is not on the card."""
    f = Function("bytes_of", "i64", "ptr card", "i64 descr", linkage="internal")
    with f.counted("0", field(f, "%card", TYPES)) as k:
        place = f.op("add", "i64", f.op("mul", "i64", k, "2"), str(FIRST))
        with f.when(same(f, at(f, "%card", place), "%descr", "i64")):
            f.line(f"ret i64 {at(f, '%card', f.op('add', 'i64', place, '1'))}")
            f.begin(*f.labels("unreachable"))
    f.end("i64 0")
    return f


def _taken() -> Function:
    """The rows, null with an exception, or `DECLINED`."""
    f = Function("taken", "ptr", "ptr card", "ptr table", "ptr numbers", linkage="internal")
    no, shape = f"ptr {DECLINED}", f.reserve("i64", 64)
    for array in ("%table", "%numbers"):
        when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
        when_not(f, adjacent(f, array), no)
    when_not(f, same(f, of(f, "%numbers", DESCR, "i64"), field(f, "%card", NUMBERS), "i64"), no)
    when_not(f, same(f, of(f, "%table", NDIM, "i32"), "2", "i32"), no)
    descr = of(f, "%table", DESCR, "i64")
    size = f.let(f"call i64 @bytes_of(ptr %card, i64 {descr})")
    when_not(f, f.op("icmp ne", "i64", size, "0"), no)
    rows, width = (at(f, of(f, "%table", DIMS), str(axis)) for axis in (0, 1))
    count, numbers = f.let("call i64 @size_of(ptr %numbers)"), of(f, "%numbers", DATA)
    bytes_ = f.op("mul", "i64", width, size)
    when_not(f, f.op("icmp sle", "i64", f.op("mul", "i64", count, bytes_), str(WORK)), no)
    with f.counted("0", count) as i:
        when_not(f, f.op("icmp ult", "i64", at(f, numbers, i), rows), no)
    ndim = f.cast("sext", "i32", of(f, "%numbers", NDIM, "i32"), "i64")
    when_not(f, f.op("icmp slt", "i64", ndim, "32"), no)
    with f.counted("0", ndim) as d:
        f.store("i64", at(f, of(f, "%numbers", DIMS), d), f.element(shape, d, "i64"))
    f.store("i64", width, f.element(shape, ndim, "i64"))
    type_ = f.cast("inttoptr", "i64", descr, "ptr")
    f.line(f"call void {api(f, 'incref')}(ptr {type_})")
    dimensions = f.cast("trunc", "i64", f.op("add", "i64", ndim, "1"), "i32")
    given = f"ptr {api(f, 'array_type')}, ptr {type_}, i32 {dimensions}, ptr {shape}"
    out = f.let(f"call ptr {api(f, 'new_array')}({given}, ptr null, ptr null, i32 0, ptr null)")
    with f.when(f.op("icmp ne", "ptr", out, "null")):
        source, target = of(f, "%table", DATA), of(f, out, DATA)
        with f.counted("0", count) as i:
            near, far = (
                f.offset(place, f.op("mul", "i64", number, bytes_))
                for place, number in ((target, i), (source, at(f, numbers, i)))
            )
            f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {near}", f"ptr {far}", f"i64 {bytes_}", "i1 false")
    f.end(f"ptr {out}")
    return f


def _direct() -> Function:
    """What CPython calls: table and numbers first; whatever parameters follow change nothing."""
    f = Function("direct_take", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, result = of(f, "%self", DATA), f.variable("ptr", DECLINED)
    enough = f.op("icmp sge", "i64", "%count", "2")
    with f.when(f.op("and", "i1", enough, f.op("icmp eq", "ptr", "%names", "null"))):
        table, numbers = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in (0, 1))
        result.set(f.let(f"call ptr @taken(ptr {card}, ptr {table}, ptr {numbers})"))
    return answer(f, card, result)


def functions() -> list[Function]:
    """All functions."""
    return [_size(), _taken(), _direct()]
