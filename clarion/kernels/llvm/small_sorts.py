"""Short rows sorted, or the first few of them, called directly (NOTE [Direct calls]): numbers are inserted where they belong.

The order of equals is PyTorch's business (portable/indexing/equals.py): where there are some that it may exchange, where there is a NaN, and for other
types, strides and longer rows, others do it.
"""

from __future__ import annotations

from ..portable.indexing.equals import SHORT
from .api import DATA, DECLINED, DESCR, DIMS, NDIM, TYPE, adjacent, api, every, of, same, when_not
from .plan import at, field
from .small_arguments import begin, few, give_both, ndim_of, need, whole_number
from .text import Function

# a card: where else to go, whole rows?, a type, how long rows keep the order of equals
OTHERWISE, SORTS, INT64, STABLE, WORDS = range(5)
MOST = 64  # numbers that are kept of a row
LONGEST = 1024  # numbers of a row, where few are kept
WORK = 1 << 14
_NO = f"ptr {DECLINED}"
_WORDS = {"float": ("fcmp ogt", "fcmp oeq"), "double": ("fcmp ogt", "fcmp oeq"), "i64": ("icmp sgt", "icmp eq")}


def _row(scalar: str) -> Function:
    """The first `kept` numbers of a row of `n`, in order, and their places; 0 where there are equals (unless that is `stable`) or a NaN."""
    parameters = ("ptr row", "i64 n", "i64 kept", "i1 largest", "i1 stable", "ptr values", "ptr places")
    f = Function(f"sorted_{scalar}", "i64", *parameters, linkage="internal")
    greater, equal = _WORDS[scalar]
    count = f.variable("i64", "0")

    def better(one: str, two: str) -> str:
        more, less = f.op(greater, scalar, one, two), f.op(greater, scalar, two, one)
        return f.let(f"select i1 %largest, i1 {more}, i1 {less}")

    with f.counted("0", "%n") as i:
        value = f.load(scalar, f.element("%row", i, scalar))
        if scalar != "i64":
            when_not(f, f.op("fcmp ord", scalar, value, value), "i64 0")
        full = f.op("icmp eq", "i64", count.get(), "%kept")
        place = f.variable("i64", f.op("sub", "i64", count.get(), f.cast("zext", "i1", full, "i64")))
        last = f.load(scalar, f.element("%values", place.get(), scalar))
        wanted = f.let(f"select i1 {full}, i1 {better(value, last)}, i1 true")
        with f.when(wanted):
            with f.forever() as done:
                f.leave_when(f.op("icmp sle", "i64", place.get(), "0"), done)
                before = f.op("sub", "i64", place.get(), "1")
                other = f.load(scalar, f.element("%values", before, scalar))
                f.leave_when(f.op("xor", "i1", better(value, other), "true"), done)
                f.store(scalar, other, f.element("%values", place.get(), scalar))
                moved = f.load("i64", f.element("%places", before, "i64"))
                f.store("i64", moved, f.element("%places", place.get(), "i64"))
                place.set(before)
            f.store(scalar, value, f.element("%values", place.get(), scalar))
            f.store("i64", i, f.element("%places", place.get(), "i64"))
            with f.when(f.op("xor", "i1", full, "true")):
                count.set(f.op("add", "i64", count.get(), "1"))
    with f.counted("1", "%kept") as i:
        one, two = (f.load(scalar, f.element("%values", k, scalar)) for k in (f.op("sub", "i64", i, "1"), i))
        alike = f.op(equal, scalar, one, two)
        when_not(f, f.op("or", "i1", "%stable", f.op("xor", "i1", alike, "true")), "i64 0")
    f.end("i64 1")
    return f


def _new(f: Function, descr: str, ndim: str, dims: str) -> str:
    f.line(f"call void {api(f, 'incref')}(ptr {descr})")
    given = f"ptr {api(f, 'array_type')}, ptr {descr}, i32 {ndim}, ptr {dims}"
    made = f.let(f"call ptr {api(f, 'new_array')}({given}, ptr null, ptr null, i32 0, ptr null)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    return made


def _rows(f: Function, kinds: list[str], x: str, found: str, numbers: str, rows: str, n: str, k: str, how: str) -> str:
    """Sort all rows into two arrays; 0 where that is left to others."""
    values, places, right = f.reserve("i64", MOST + 1), f.reserve("i64", MOST + 1), f.variable("i64", "1")
    size = f.let(f"select i1 {kinds[0]}, i64 4, i64 8")
    length, bytes_ = f.op("mul", "i64", n, size), f.op("mul", "i64", k, size)
    with f.counted("0", rows) as row, f.when(f.op("icmp ne", "i64", right.get(), "0")):
        line = f.offset(x, f.op("mul", "i64", row, length))
        for kind, scalar in zip(kinds, ("float", "double", "i64"), strict=True):
            with f.when(kind):
                arguments = f"ptr {line}, i64 {n}, {how}, ptr {values}, ptr {places}"
                right.set(f.let(f"call i64 @sorted_{scalar}({arguments})"))
        for source, target, some in ((values, found, bytes_), (places, numbers, f.op("mul", "i64", k, "8"))):
            near = f.offset(of(f, target, DATA), f.op("mul", "i64", row, some))
            f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {near}", f"ptr {source}", f"i64 {some}", "i1 false")
    return right.get()


def _sorted() -> Function:
    """`(x, k, dim, largest)`, or `(x, dim, descending)` for whole rows: two arrays."""
    f = Function("sorted_rows", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    shape = f.reserve("i64", 64)
    sorts = f.op("icmp ne", "i64", field(f, "%card", SORTS), "0")
    shift = f.cast(
        "zext", "i1", f.op("xor", "i1", sorts, "true"), "i64"
    )  # the number of the argument `k` stands before
    when_not(f, every(f, same(f, "%count", f.op("add", "i64", shift, "3"), "i64"), same(f, "%out", "null")), _NO)
    x = f.load("ptr", "%args")
    when_not(f, same(f, of(f, x, TYPE), api(f, "array_type")), _NO)
    when_not(f, adjacent(f, x), _NO)
    ndim, dims, descr = of(f, x, NDIM, "i32"), of(f, x, DIMS), of(f, x, DESCR)
    last = f.op("sub", "i64", f.cast("sext", "i32", ndim, "i64"), "1")
    when_not(f, every(f, f.op("icmp sge", "i64", last, "0"), f.op("icmp slt", "i64", last, "32")), _NO)
    given = [f.load("ptr", f.element("%args", f.op("add", "i64", shift, str(k)), "ptr")) for k in (0, 1, 2)]
    number, dim, largest = given
    when_not(f, same(f, of(f, dim, TYPE), api(f, "int_type")), _NO)
    when_not(f, same(f, f.let(f"call i64 {api(f, 'as_int64')}(ptr {dim})"), last, "i64"), _NO)
    downward = same(f, largest, api(f, "true"))
    when_not(f, f.op("or", "i1", downward, same(f, largest, api(f, "false"))), _NO)
    n, k = at(f, dims, last), f.variable("i64", at(f, dims, last))
    with f.when(f.op("xor", "i1", sorts, "true")):
        when_not(f, same(f, of(f, number, TYPE), api(f, "int_type")), _NO)
        k.set(f.let(f"call i64 {api(f, 'as_int64')}(ptr {number})"))
    more = f.op("add", "i64", k.get(), "1")  # of equals at the end PyTorch may choose others: one more is looked at
    kept = f.call("llvm.smin.i64", "i64", f"i64 {more}", f"i64 {n}")
    elements = f.let(f"call i64 @size_of(ptr {x})")
    fits = (
        ("sgt", k.get(), "0"),
        ("sle", k.get(), n),
        ("sle", kept, str(MOST)),
        ("sle", n, str(LONGEST)),
        ("sle", elements, str(WORK)),
    )
    when_not(f, every(f, *[f.op(f"icmp {word}", "i64", one, two) for word, one, two in fits]), _NO)
    kinds = [same(f, descr, api(f, name)) for name in ("float32", "float64")]
    kinds.append(same(f, f.cast("ptrtoint", "ptr", descr, "i64"), field(f, "%card", INT64), "i64"))
    when_not(f, f.op("or", "i1", kinds[0], f.op("or", "i1", kinds[1], kinds[2])), _NO)
    with f.counted("0", last) as d:
        f.store("i64", at(f, dims, d), f.element(shape, d, "i64"))
    f.store("i64", k.get(), f.element(shape, last, "i64"))
    whole = f.cast("inttoptr", "i64", field(f, "%card", INT64), "ptr")
    found, numbers = _new(f, descr, ndim, shape), _new(f, whole, ndim, shape)
    stable = f.op("and", "i1", sorts, f.op("icmp sle", "i64", n, field(f, "%card", STABLE)))
    rows = f.op("sdiv", "i64", elements, n)
    right = _rows(f, kinds, of(f, x, DATA), found, numbers, rows, n, k.get(), f"i64 {kept}, i1 {downward}, i1 {stable}")
    _pair(f, found, numbers, right)
    return f


def _middle() -> Function:
    """`(x, dim, keepdim)`: the lower middle of short rows, and where it stands, as two arrays. (Of rows with a NaN others find it.)"""
    f, (x, along, keepdim) = begin("middle_of_rows", 3)
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    dims, ndim, descr = of(f, x, DIMS), ndim_of(f, x), of(f, x, DESCR)
    last = f.op("sub", "i64", ndim, "1")
    need(f, same(f, whole_number(f, along), last, "i64"))
    keeps = same(f, keepdim, api(f, "true"))
    need(f, f.op("or", "i1", keeps, same(f, keepdim, api(f, "false"))))
    n, elements = at(f, dims, last), f.let(f"call i64 @size_of(ptr {x})")
    few(f, elements)
    need(f, f.op("icmp sle", "i64", n, str(MOST)))
    kinds = [same(f, descr, api(f, name)) for name in ("float32", "float64")]
    kinds.append(same(f, f.cast("ptrtoint", "ptr", descr, "i64"), field(f, "%card", INT64), "i64"))
    need(f, f.op("or", "i1", kinds[0], f.op("or", "i1", kinds[1], kinds[2])))
    shape, values, places = f.reserve("i64", 64), f.reserve("i64", MOST + 1), f.reserve("i64", MOST + 1)
    need(f, f.op("icmp sle", "i64", ndim, "32"))
    with f.counted("0", last) as d:
        f.store("i64", at(f, dims, d), f.element(shape, d, "i64"))
    f.store("i64", "1", f.element(shape, last, "i64"))
    left = f.cast("trunc", "i64", f.select("i64", keeps, ndim, last), "i32")
    whole = f.cast("inttoptr", "i64", field(f, "%card", INT64), "ptr")
    found, numbers = _new(f, descr, left, shape), _new(f, whole, left, shape)
    middle, right = f.op("lshr", "i64", f.op("sub", "i64", n, "1"), "1"), f.variable("i64", "1")
    kept = f.op("add", "i64", middle, "1")
    for kind, scalar in zip(kinds, ("float", "double", "i64"), strict=True):
        with f.when(kind), f.counted("0", f.op("sdiv", "i64", elements, n)) as row:
            line = f.element(of(f, x, DATA), f.op("mul", "i64", row, n), scalar)
            arguments = f"ptr {line}, i64 {n}, i64 {kept}, i1 false, i1 true, ptr {values}, ptr {places}"
            right.set(f.op("and", "i64", right.get(), f.let(f"call i64 @sorted_{scalar}({arguments})")))
            value = f.load(scalar, f.element(values, middle, scalar))
            f.store(scalar, value, f.element(of(f, found, DATA), row, scalar))
            place = f.load("i64", f.element(places, middle, "i64"))
            f.store("i64", place, f.element(of(f, numbers, DATA), row, "i64"))
    _pair(f, found, numbers, right.get())
    return f


def _pair(f: Function, found: str, numbers: str, right: str) -> None:
    """Return both arrays, or decline where they are not `right`."""
    with f.when(same(f, right, "0", "i64"), rarely=True):
        for each in (found, numbers):
            f.line(f"call void {api(f, 'decref')}(ptr {each})")
        f.line(f"ret {_NO}")
        f.begin(*f.labels("unreachable"))
    give_both(f, found, numbers)


KERNELS = {"topk": (0, 0), "sort": (1, SHORT), "sort_stable": (1, LONGEST)}
MIDDLE = "median_dim"  # the kernel that is
ENTRIES = {"direct_sort": "sorted_rows", "direct_middle": "middle_of_rows"}


def functions() -> list[Function]:
    """All functions."""
    return [*[_row(scalar) for scalar in _WORDS], _sorted(), _middle()]
