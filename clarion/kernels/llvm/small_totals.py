"""Totals of small arrays over dimensions that stand side by side, called directly (NOTE [Direct calls]): sums, means, extremes, variances, truths.

What is added up over the first dimensions, row by row, has NumPy's bits. Sums to single numbers are made in float64, and are for float32 and for whole
numbers. One last dimension is for the functions of rows (offers.py), which are asked before; other types, strides and much work go elsewhere.
"""

from __future__ import annotations

from . import small_lines
from .api import DATA, DESCR, DIMS, SIZE, TYPE, adjacent, api, every, new_array, of, same
from .direct import ERRORS, tell
from .plan import at, field
from .pool import clear_flags, flags
from .small_arguments import DIMENSIONS, ndim_of, need, numbers_of
from .text import Function, literal

OTHERWISE, WHAT, INT64, MASK, ADDED, WORDS = range(
    6
)  # a card: where else to go, what is asked, two types, `totals_added`
SUM, MEAN, LARGEST, SMALLEST, VARIANCE, DEVIATION, ANY, ALL = range(8)
WORK = 1 << 12  # elements that are looked at here: below, NumPy adds row by row, too
FEW = 1 << 10  # the same where each of them costs some steps


def _is(f: Function, *words: int) -> str:
    """Is one of these asked?"""
    what, found = field(f, "%card", WHAT), "false"
    for word in words:
        found = f.op("or", "i1", found, same(f, what, str(word), "i64"))
    return found


def _span(f: Function, given: str, ndim: str) -> tuple[str, str]:
    """Go on only with dimensions side by side, or None for all of them: the first, and the one behind the last."""
    first, end, dims = f.variable("i64", "0"), f.variable("i64", ndim), f.reserve("i64", DIMENSIONS)
    with f.when(f.op("icmp ne", "ptr", given, api(f, "none"))):
        several = numbers_of(f, given, dims)
        need(f, f.op("icmp sgt", "i64", several, "0"))
        first.set(at(f, dims, "0"))
        with f.counted("1", several) as k:
            need(f, same(f, at(f, dims, k), f.op("add", "i64", first.get(), k), "i64"))
        end.set(f.op("add", "i64", first.get(), several))
    need(f, every(f, f.op("icmp sge", "i64", first.get(), "0"), f.op("icmp sle", "i64", end.get(), ndim)))
    return first.get(), end.get()


def _truth(f: Function, thing: str) -> str:
    """Go on only with True or False."""
    yes = same(f, thing, api(f, "true"))
    need(f, f.op("or", "i1", yes, same(f, thing, api(f, "false"))))
    return yes


def _double(f: Function, thing: str) -> str:
    """Go on only with a float of Python's, or an int that is one digit."""
    value, whole = f.variable("double", literal("double", 0)), same(f, of(f, thing, TYPE), api(f, "int_type"))
    with f.when(whole):
        beyond = f.reserve("i32")
        number = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})")
        need(f, f.op("icmp ult", "i64", number, str(1 << 20)))
        value.set(f.cast("sitofp", "i64", number, "double"))
    with f.when(f.op("xor", "i1", whole, "true")):
        need(f, same(f, of(f, thing, TYPE), api(f, "float_type")))
        value.set(of(f, thing, SIZE, "double"))
    return value.get()


def _shape(f: Function, dims: str, ndim: str, first: str, end: str, keeps: str) -> tuple[str, str]:
    """What is left of a shape: where it stands, and how many dimensions."""
    shape, left = f.reserve("i64", DIMENSIONS), f.variable("i64", "0")
    with f.counted("0", ndim) as k:
        gone = every(f, f.op("icmp sge", "i64", k, first), f.op("icmp slt", "i64", k, end))
        f.store("i64", f.select("i64", gone, "1", at(f, dims, k)), f.element(shape, left.get(), "i64"))
        stays = f.op("or", "i1", keeps, f.op("xor", "i1", gone, "true"))
        left.set(f.op("add", "i64", left.get(), f.cast("zext", "i1", stays, "i64")))
    return shape, left.get()


class _Extents:
    """So many blocks, rows in each of them, elements side by side."""

    def __init__(self, f: Function, outer: str, n: str, inner: str) -> None:
        self.f, self.outer, self.n, self.inner = f, outer, n, inner

    def row(self, block: str, i: str) -> str:
        """Where a row begins."""
        f = self.f
        return f.op("mul", "i64", f.op("add", "i64", f.op("mul", "i64", block, self.n), i), self.inner)


def _extents(f: Function, dims: str, ndim: str, first: str, end: str) -> tuple[_Extents, str]:
    """Go on only with some elements, not too many: how they stand, and how many."""
    parts = ((0, first), (first, end), (end, ndim))
    counts = [f.let(f"call i64 @product_of(ptr {dims}, i64 {one}, i64 {other})") for one, other in parts]
    for count in counts:
        need(f, f.op("icmp ult", "i64", f.op("sub", "i64", count, "1"), str(WORK - 1)))
    size = f.op("mul", "i64", f.op("mul", "i64", counts[0], counts[1]), counts[2])
    need(f, f.op("icmp slt", "i64", size, str(WORK)))
    return _Extents(f, *counts), size


def _by_rows(f: Function, extents: _Extents, source: str, target: str, scalar: str, step: str) -> None:
    """Every row is added to the first one, or compared with it."""
    size = 8 if scalar in ("double", "i64") else 4
    with f.counted("0", extents.outer) as o:
        mine = f.element(target, f.op("mul", "i64", o, extents.inner), scalar)
        first = f.element(source, extents.row(o, "0"), scalar)
        with f.counted("0", extents.inner) as k:
            f.store(scalar, f.load(scalar, f.element(first, k, scalar), size), f.element(mine, k, scalar), size)
        with f.counted("1", extents.n) as i:
            row = f.element(source, extents.row(o, i), scalar)
            with f.counted("0", extents.inner) as k:
                place = f.element(mine, k, scalar)
                old, new = f.load(scalar, place, size), f.load(scalar, f.element(row, k, scalar), size)
                f.store(scalar, _joined(f, scalar, step, old, new), place, size)


def _joined(f: Function, scalar: str, step: str, old: str, new: str) -> str:
    if step == "add":
        return f.op("add" if scalar == "i64" else "fadd", scalar, old, new)
    if scalar == "i64":
        return f.select(scalar, f.op(f"icmp {'sgt' if step == 'largest' else 'slt'}", scalar, new, old), new, old)
    beyond = f.op(f"fcmp {'ogt' if step == 'largest' else 'olt'}", scalar, new, old)
    missing = f.op("fcmp uno", scalar, new, new)  # (NaN is taken, and stays)
    return f.select(scalar, f.op("or", "i1", beyond, missing), new, old)


def _holds(f: Function, byte: str, type_: str) -> str:
    """1 for what is true, whatever its byte, or 0."""
    return f.cast("zext", "i1", f.op("icmp ne", "i8", byte, "0"), type_)


def _one_by_one(f: Function, extents: _Extents, source: str, type_: str, begin_with: str, step: str) -> str:
    """Adjacent numbers added up, as float64 or int64."""
    wide = "double" if type_ == "float" else "i64"
    total, size = f.variable(wide, begin_with), {"float": 4, "i64": 8, "i8": 1}[type_]
    with f.counted("0", extents.n) as i:
        value = f.load(type_, f.element(source, i, type_), size)
        if type_ != wide:
            value = f.cast("fpext", type_, value, wide) if type_ == "float" else _holds(f, value, wide)
        total.set(f.op("fadd" if wide == "double" else "add", wide, total.get(), value))
    return total.get()


def _kinds(f: Function, x: str) -> tuple[str, str, str, str]:
    """Is an array of float32, of float64, of int64, of truths?"""
    descr = of(f, x, DESCR)
    number = f.cast("ptrtoint", "ptr", descr, "i64")
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    whole, mask = (same(f, number, field(f, "%card", word), "i64") for word in (INT64, MASK))
    return single, double, whole, mask


def _sums() -> Function:
    """Sums and means. (Called by its address: errors of arithmetic are asked for before and after, and nothing must move there.)"""
    f = Function("totals_added", "void", "ptr card", "ptr x", "ptr made", "i64 outer", "i64 n", "i64 inner")
    single, double, whole, mask = _kinds(f, "%x")
    extents, source, target = _Extents(f, "%outer", "%n", "%inner"), of(f, "%x", DATA), of(f, "%made", DATA)
    alone = same(f, extents.inner, "1", "i64")
    rows = f.op("xor", "i1", alone, "true")
    for kind, scalar in (
        (every(f, single, rows), "float"),
        (every(f, double, rows), "double"),
        (every(f, whole, rows), "i64"),
    ):
        with f.when(kind):
            _by_rows(f, extents, source, target, scalar, "add")
    for kind, type_, left in ((single, "float", "float"), (whole, "i64", "i64"), (mask, "i8", "i64")):
        with f.when(every(f, kind, alone)), f.counted("0", extents.outer) as o:
            size = 4 if left == "float" else 8
            nothing = literal("double", -0.0) if left == "float" else "0"
            total = _one_by_one(f, extents, f.element(source, extents.row(o, "0"), type_), type_, nothing, "add")
            total = f.cast("fptrunc", "double", total, "float") if left == "float" else total
            f.store(left, total, f.element(target, o, left), size)
    with f.when(every(f, mask, rows)), f.counted("0", extents.outer) as o, f.counted("0", extents.inner) as k:
        total = f.variable("i64", "0")
        with f.counted("0", extents.n) as i:
            held = f.load("i8", f.element(source, f.op("add", "i64", extents.row(o, i), k), "i8"), 1)
            total.set(f.op("add", "i64", total.get(), _holds(f, held, "i64")))
        place = f.op("add", "i64", f.op("mul", "i64", o, extents.inner), k)
        f.store("i64", total.get(), f.element(target, place, "i64"), 8)
    count = f.cast("sitofp", "i64", extents.n, "double")
    for kind, scalar, size in ((single, "float", 4), (double, "double", 8)):
        with f.when(every(f, kind, _is(f, MEAN))):
            n = count if scalar == "double" else f.cast("fptrunc", "double", count, "float")
            with f.counted("0", f.op("mul", "i64", extents.outer, extents.inner)) as k:
                place = f.element(target, k, scalar)
                f.store(scalar, f.op("fdiv", scalar, f.load(scalar, place, size), n), place, size)
    f.end()
    return f


def _spread(f: Function, extents: _Extents, x: str, made: str, free: str) -> None:
    """Variances and their roots, of float32: all is computed in float64, in which the sum of equal numbers is exact."""
    source, target, rooted = of(f, x, DATA), of(f, made, DATA), _is(f, DEVIATION)
    n = f.cast("sitofp", "i64", extents.n, "double")
    with f.counted("0", extents.outer) as o, f.counted("0", extents.inner) as k:

        def each(i: str, o: str = o, k: str = k) -> str:
            place = f.op("add", "i64", extents.row(o, i), k)
            return f.cast("fpext", "float", f.load("float", f.element(source, place, "float"), 4), "double")

        total, squares = (f.variable("double", literal("double", 0)) for _ in range(2))
        with f.counted("0", extents.n) as i:
            total.set(f.op("fadd", "double", total.get(), each(i)))
        mean = f.op("fdiv", "double", total.get(), n)
        with f.counted("0", extents.n) as i:
            off = f.op("fsub", "double", each(i), mean)
            squares.set(f.op("fadd", "double", squares.get(), f.op("fmul", "double", off, off)))
        found = f.op("fdiv", "double", squares.get(), free)
        found = f.select("double", rooted, f.intrinsic("sqrt", "double", found), found)
        place = f.op("add", "i64", f.op("mul", "i64", o, extents.inner), k)
        f.store("float", f.cast("fptrunc", "double", found, "float"), f.element(target, place, "float"), 4)


def _truths(f: Function, extents: _Extents, x: str, made: str) -> None:
    source, target, anywhere = of(f, x, DATA), of(f, made, DATA), _is(f, ANY)
    with f.counted("0", extents.outer) as o, f.counted("0", extents.inner) as k:
        some, every_one = f.variable("i8", "0"), f.variable("i8", "1")
        with f.counted("0", extents.n) as i:
            byte = f.load("i8", f.element(source, f.op("add", "i64", extents.row(o, i), k), "i8"), 1)
            held = _holds(f, byte, "i8")
            some.set(f.op("or", "i8", some.get(), held))
            every_one.set(f.op("and", "i8", every_one.get(), held))
        place = f.op("add", "i64", f.op("mul", "i64", o, extents.inner), k)
        f.store("i8", f.select("i8", anywhere, some.get(), every_one.get()), f.element(target, place, "i8"), 1)


def _need_worth(
    f: Function, kinds: tuple[str, str, str, str], extents: _Extents, size: str, flat: str, free: str
) -> None:
    """Go on only with what is computed here, by types and extents; `flat`: several dimensions are one row; `free`: what a variance is divided by."""
    single, double, whole, mask = kinds
    floats, several = f.op("or", "i1", single, double), f.op("icmp sgt", "i64", extents.inner, "1")
    # Added up are whole numbers, rows, and float32 of several dimensions; one dimension alone is a row of the others.
    counted = every(f, f.op("or", "i1", whole, mask), _is(f, SUM))
    added = f.op("or", "i1", f.op("or", "i1", counted, every(f, floats, several)), every(f, single, flat))
    compared = every(f, _is(f, LARGEST, SMALLEST), f.op("or", "i1", floats, whole), several)
    few = f.op("icmp sle", "i64", size, str(FEW))
    spread = every(f, _is(f, VARIANCE, DEVIATION), single, few, f.op("fcmp ogt", "double", free, literal("double", 0)))
    fits = every(f, _is(f, SUM, MEAN), added)
    for other in (compared, spread, every(f, _is(f, ANY, ALL), mask)):
        fits = f.op("or", "i1", fits, other)
    need(f, fits)


def _total(x86: bool) -> Function:
    """x, dimensions or None, for variances what is taken from the count, are dimensions kept? Or x alone, of which all is added up."""
    f = Function("totalled", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    spreads, truths, adds = _is(f, VARIANCE, DEVIATION), _is(f, ANY, ALL), _is(f, SUM, MEAN)
    alone = every(f, same(f, "%count", "1", "i64"), adds)
    wanted = f.select("i64", alone, "1", f.select("i64", spreads, "4", "3"))
    need(f, every(f, same(f, "%count", wanted, "i64"), same(f, "%out", "null")))
    x = f.load("ptr", "%args")
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    given, keeps, taken = (
        f.variable("ptr", api(f, "none")),
        f.variable("i1", "false"),
        f.variable("double", literal("double", 0)),
    )
    with f.when(f.op("xor", "i1", alone, "true")):
        given.set(f.load("ptr", f.element("%args", "1", "ptr")))
        keeps.set(_truth(f, f.load("ptr", f.element("%args", f.op("sub", "i64", "%count", "1"), "ptr"))))
    with f.when(spreads):
        taken.set(_double(f, f.load("ptr", f.element("%args", "2", "ptr"))))
    descr, dims, ndim = of(f, x, DESCR), of(f, x, DIMS), ndim_of(f, x)
    need(f, f.op("icmp sle", "i64", ndim, str(DIMENSIONS)))
    single, double, whole, mask = _kinds(f, x)
    first, end = _span(f, given.get(), ndim)
    extents, size = _extents(f, dims, ndim, first, end)
    free = f.op("fsub", "double", f.cast("sitofp", "i64", extents.n, "double"), taken.get())
    flat = every(f, f.op("icmp sgt", "i64", f.op("sub", "i64", end, first), "1"), f.op("xor", "i1", alone, "true"))
    _need_worth(f, (single, double, whole, mask), extents, size, flat, free)
    shape, left = _shape(f, dims, ndim, first, end, keeps.get())
    kind = f.let(
        f"select i1 {every(f, mask, adds)}, ptr {f.load('ptr', f.element('%card', str(INT64), 'i64'))}, ptr {descr}"
    )
    made = new_array(f, kind, left, shape)
    with f.when(adds):
        clear_flags(f, x86)
        added = f.load("ptr", f.element("%card", str(ADDED), "i64"))
        counts = f"i64 {extents.outer}, i64 {extents.n}, i64 {extents.inner}"
        f.line(f"call void {added}(ptr %card, ptr {x}, ptr {made}, {counts})")
        errors, results = f.op("and", "i64", flags(f, x86), ERRORS), f.reserve("ptr")
        with f.when(f.op("icmp ne", "i64", errors, "0"), rarely=True):
            f.store("ptr", made, results)
            tell(f, errors, results, "1", "false")
    for word, step in ((LARGEST, "largest"), (SMALLEST, "smallest")):
        for type_, scalar in ((single, "float"), (double, "double"), (whole, "i64")):
            with f.when(every(f, _is(f, word), type_)):
                _by_rows(f, extents, of(f, x, DATA), of(f, made, DATA), scalar, step)
    with f.when(spreads):
        _spread(f, extents, x, made, free)
    with f.when(truths):
        _truths(f, extents, x, made)
    f.end(f"ptr {made}")
    return f


# What each kernel asks.
KERNELS = {
    "sum": SUM,
    "mean": MEAN,
    "sum_all": SUM,
    "amax": LARGEST,
    "amin": SMALLEST,
    "var": VARIANCE,
    "std": DEVIATION,
    "any": ANY,
    "all": ALL,
}
ENTRIES = {"direct_totals": "totalled"}
LOOP = "totals_added"


def functions(x86: bool) -> list[Function]:
    """All functions."""
    return [_sums(), _total(x86), *[small_lines.direct(*each) for each in ENTRIES.items()]]
