"""Elements of small arrays by their numbers along a dimension, and running sums, called directly (NOTE [Direct calls]).

What lines.py does for large arrays: gather, scatter, rows by index, and what is added up there. NumPy needs positions in the flattened array for
that, or an `add.at`, which take longer than the work. An index that is of no element, other types, strides and much work go elsewhere.
"""

from __future__ import annotations

from . import small_extremes, small_frames, small_moves, small_pairs, small_sorts, small_windows
from .api import (
    DATA,
    DECLINED,
    DESCR,
    DIMS,
    ITEM,
    NDIM,
    SIZE,
    STRIDES,
    TYPE,
    WRITEABLE,
    adjacent,
    answer,
    api,
    every,
    new_array,
    of,
    same,
    when_not,
)
from .plan import at, field
from .text import Function, literal, with_lanes

OTHERWISE, WHAT, ALIKE, INT64, WORDS = range(5)  # a card: where else to go, what is done, by which numbers, a type
PICK, PUT, ADD, SUM, REVERSE_SUM, PRODUCT = range(6)  # what is done
# By which numbers: each element has its own, all lines have the same (one dimension of them), or the same where the dimension is told in a tuple.
OWN, ROWS, IN_A_TUPLE = range(3)
WORK = 1 << 15  # elements that are looked at here at most
# How an array is gone through: so many lines, numbers for each of them, elements side by side; and how far it is from one to the next
# in the array, among the numbers, and in the other array.
_OUTER, _COUNT, _INNER, _X_OUTER, _X_ALONG, _N_OUTER, _N_ALONG, _N_INNER, _S_OUTER, _S_ALONG, _PLAN = range(11)
_NO = f"ptr {DECLINED}"
_LANES = 8  # numbers that are looked at together


def _dims(f: Function, array: str) -> str:
    return of(f, array, DIMS)


def _ndim(f: Function, array: str) -> str:
    return f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")


def _refuse(f: Function, condition: str) -> None:
    when_not(f, condition, "i64 0")


def _product() -> Function:
    """The product of some dimensions."""
    f = Function("product_of", "i64", "ptr dims", "i64 first", "i64 end", linkage="internal")
    total = f.variable("i64", "1")
    with f.counted("%first", "%end") as k:
        total.set(f.op("mul", "i64", total.get(), at(f, "%dims", k)))
    f.end(f"i64 {total.get()}")
    return f


def _plan_alike() -> Function:
    """The plan where all lines have the same numbers."""
    parameters = ("ptr plan", "ptr x", "ptr index", "ptr src", "i64 dim", "i64 size")
    f = Function("plan_alike", "i64", *parameters, linkage="internal")
    dims, ndim = _dims(f, "%x"), _ndim(f, "%x")
    after = f.op("add", "i64", "%dim", "1")
    outer = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 %dim)")
    inner = f.let(f"call i64 @product_of(ptr {dims}, i64 {after}, i64 {ndim})")
    count, n = f.let("call i64 @size_of(ptr %index)"), at(f, dims, "%dim")
    with f.when(f.op("icmp ne", "ptr", "%src", "null")):
        others = _dims(f, "%src")
        _refuse(f, adjacent(f, "%src"))
        _refuse(f, same(f, _ndim(f, "%src"), ndim, "i64"))
        with f.counted("0", ndim) as k:
            own = f.let(f"select i1 {same(f, k, '%dim', 'i64')}, i64 {count}, i64 {at(f, dims, k)}")
            _refuse(f, same(f, at(f, others, k), own, "i64"))
    values = (
        outer,
        count,
        inner,
        f.op("mul", "i64", n, inner),
        inner,
        "0",
        "1",
        "0",
        f.op("mul", "i64", count, inner),
        inner,
    )
    for k, value in enumerate(values):
        f.store("i64", value, f.element("%plan", str(k), "i64"))
    f.end("i64 1")
    return f


def _plan_own() -> Function:
    """The plan where the numbers have as many dimensions as the array; of one or two dimensions they may fill a corner of it."""
    parameters = ("ptr plan", "ptr x", "ptr index", "ptr src", "i64 dim", "i64 size")
    f = Function("plan_own", "i64", *parameters, linkage="internal")
    dims, numbers, ndim = _dims(f, "%x"), _dims(f, "%index"), _ndim(f, "%x")
    _refuse(f, same(f, _ndim(f, "%index"), ndim, "i64"))
    others = f.variable("ptr", numbers)
    with f.when(f.op("icmp ne", "ptr", "%src", "null")):
        _refuse(f, same(f, _ndim(f, "%src"), ndim, "i64"))
        others.set(_dims(f, "%src"))
    src, last = others.get(), f.op("sub", "i64", ndim, "1")
    few = f.op("icmp sle", "i64", ndim, "2")
    with f.counted("0", ndim) as k:
        x, index, other, here = at(f, dims, k), at(f, numbers, k), at(f, src, k), same(f, k, "%dim", "i64")
        fits = f.let(f"select i1 {few}, i1 {f.op('icmp sle', 'i64', index, x)}, i1 {same(f, index, x, 'i64')}")
        _refuse(f, f.op("or", "i1", here, fits))
        enough = f.op("icmp sle", "i64", index, other)
        _refuse(f, f.let(f"select i1 {few}, i1 {enough}, i1 {same(f, index, other, 'i64')}"))
    after = f.op("add", "i64", "%dim", "1")
    outer = f.let(f"call i64 @product_of(ptr {numbers}, i64 0, i64 %dim)")
    count = at(f, numbers, "%dim")
    extents = [f.let(f"call i64 @product_of(ptr {each}, i64 {after}, i64 {ndim})") for each in (numbers, dims, src)]
    inner, x_inner, s_inner = extents
    x_outer, s_outer = (
        f.op("mul", "i64", at(f, each, "%dim"), along) for each, along in ((dims, x_inner), (src, s_inner))
    )
    n_outer = f.op("mul", "i64", count, inner)
    values = (outer, count, inner, x_outer, x_inner, n_outer, inner, "1", s_outer, s_inner)
    for k, value in enumerate(values):
        f.store("i64", value, f.element("%plan", str(k), "i64"))
    with f.when(f.op("icmp ne", "ptr", "%src", "null")):  # rows that are apart
        gap = f.op("xor", "i1", adjacent(f, "%src"), "true")
        with f.when(gap):
            _refuse(f, same(f, ndim, "2", "i64"))
            near, far = (at(f, of(f, "%src", STRIDES), str(k)) for k in (1, 0))
            _refuse(f, same(f, near, "%size", "i64"))
            place = f.let(f"select i1 {same(f, '%dim', '0', 'i64')}, i64 {_S_ALONG}, i64 {_S_OUTER}")
            f.store("i64", f.op("sdiv", "i64", far, "%size"), f.element("%plan", place, "i64"))
    _refuse(f, f.op("icmp sge", "i64", last, "0"))
    f.end("i64 1")
    return f


def _go(f: Function, size: str, move: str) -> None:
    """All elements, of `size` bytes each: between the array %x and the other one %src."""
    outer, count, inner, x_outer, x_along, n_outer, n_along, n_inner, s_outer, s_along = (
        at(f, "%plan", str(k)) for k in range(_PLAN)
    )

    def one(mine: str, other: str) -> None:
        if move == "pick":
            f.store(size, f.load(size, mine, 1), other, 1)
        elif move == "put":
            f.store(size, f.load(size, other, 1), mine, 1)
        else:
            f.store(size, f.op(move, size, f.load(size, mine, 1), f.load(size, other, 1)), mine, 1)

    rows = every(f, same(f, inner, "1", "i64"), same(f, x_along, "1", "i64"), same(f, s_along, "1", "i64"))
    with f.when(rows):
        with f.counted("0", outer) as o:
            numbers = f.element("%numbers", f.op("mul", "i64", o, n_outer), "i64")
            x = f.element("%x", f.op("mul", "i64", o, x_outer), size)
            src = f.element("%src", f.op("mul", "i64", o, s_outer), size)
            with f.counted("0", count) as i:
                one(f.element(x, at(f, numbers, i), size), f.element(src, i, size))
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    with f.counted("0", outer) as o, f.counted("0", count) as i:
        number = f.op("add", "i64", f.op("mul", "i64", o, n_outer), f.op("mul", "i64", i, n_along))
        there = f.op("add", "i64", f.op("mul", "i64", o, s_outer), f.op("mul", "i64", i, s_along))
        line = f.op("mul", "i64", o, x_outer)
        with f.counted("0", inner) as k:
            which = at(f, "%numbers", f.op("add", "i64", number, f.op("mul", "i64", k, n_inner)))
            place = f.op("add", "i64", f.op("add", "i64", line, f.op("mul", "i64", which, x_along)), k)
            one(f.element("%x", place, size), f.element("%src", f.op("add", "i64", there, k), size))


def _moving() -> list[Function]:
    made = []
    for name, size, move in (
        ("pick_4", "i32", "pick"), ("pick_8", "i64", "pick"), ("put_4", "i32", "put"), ("put_8", "i64", "put"),
        ("add_float", "float", "fadd"), ("add_double", "double", "fadd"), ("add_int", "i64", "add"),
    ):  # fmt: skip
        f = Function(f"small_{name}", "void", "ptr plan", "ptr x", "ptr numbers", "ptr src", linkage="internal")
        _go(f, size, move)
        f.end()
        made.append(f)
    return made


def _below() -> Function:
    """Are all numbers of an adjacent array those of one of `size` elements?"""
    f = Function("numbers_below", "i64", "ptr index", "i64 size", linkage="internal")
    numbers, bad = of(f, "%index", DATA), f.variable("i64", "0")
    count, several = f.let("call i64 @size_of(ptr %index)"), with_lanes(_LANES, "i64")
    whole, limit = f.op("and", "i64", count, str(-_LANES)), f.spread(several, "%size")
    found = f.variable(several, literal(several, 0))
    with f.counted("0", whole, str(_LANES)) as i:
        outside = f.op("icmp uge", several, f.load(several, f.element(numbers, i, "i64"), 8), limit)
        found.set(f.op("or", several, found.get(), f.cast("zext", with_lanes(_LANES, "i1"), outside, several)))
    bad.set(f.call(f"llvm.vector.reduce.or.v{_LANES}i64", "i64", f"{several} {found.get()}"))
    with f.counted(whole, count) as i:
        outside = f.op("icmp uge", "i64", at(f, numbers, i), "%size")
        bad.set(f.op("or", "i64", bad.get(), f.cast("zext", "i1", outside, "i64")))
    f.end(f"i64 {f.cast('zext', 'i1', same(f, bad.get(), '0', 'i64'), 'i64')}")
    return f


def _kinds(f: Function, card: str, array: str) -> tuple[str, str, str]:
    """Is an array of float32, of float64, of int64?"""
    descr = of(f, array, DESCR)
    whole = same(f, f.cast("ptrtoint", "ptr", descr, "i64"), field(f, card, INT64), "i64")
    return same(f, descr, api(f, "float32")), same(f, descr, api(f, "float64")), whole


def _picked(f: Function, plan: str, each_own: str, single: str) -> None:
    """Return a new array with the elements."""
    shape, ndim, rank = f.reserve("i64", 64), _ndim(f, "%x"), _ndim(f, "%index")
    dims, count = f.variable("ptr", _dims(f, "%index")), f.variable("i64", rank)
    with f.when(f.op("xor", "i1", each_own, "true")):  # the dimensions of the numbers in the place of one
        with f.counted("0", "%dim") as k:
            f.store("i64", at(f, _dims(f, "%x"), k), f.element(shape, k, "i64"))
        with f.counted("0", rank) as k:
            f.store("i64", at(f, _dims(f, "%index"), k), f.element(shape, f.op("add", "i64", "%dim", k), "i64"))
        with f.counted(f.op("add", "i64", "%dim", "1"), ndim) as k:
            place = f.op("sub", "i64", f.op("add", "i64", k, rank), "1")
            f.store("i64", at(f, _dims(f, "%x"), k), f.element(shape, place, "i64"))
        dims.set(shape)
        count.set(f.op("sub", "i64", f.op("add", "i64", ndim, rank), "1"))
    made = new_array(f, of(f, "%x", DESCR), count.get(), dims.get())
    arguments = f"ptr {plan}, ptr {of(f, '%x', DATA)}, ptr {of(f, '%index', DATA)}, ptr {of(f, made, DATA)}"
    for condition, name in ((single, "pick_4"), (f.op("xor", "i1", single, "true"), "pick_8")):
        with f.when(condition):
            f.line(f"call void @small_{name}({arguments})")
    f.line(f"ret ptr {made}")
    f.begin(*f.labels("unreachable"))


def _put(f: Function, plan: str, adds: str, kinds: tuple[str, str, str], size: str) -> str:
    """Write into the array itself, or into a copy of it: that one."""
    target = f.variable("ptr", "%out")
    with f.when(f.op("icmp ne", "ptr", "%out", "null")):
        when_not(f, same(f, "%out", "%x"), _NO)
        when_not(f, adjacent(f, "%out", WRITEABLE), _NO)
        f.line(f"call void {api(f, 'incref')}(ptr %out)")
    with f.when(f.op("icmp eq", "ptr", "%out", "null")):
        made = new_array(f, of(f, "%x", DESCR), _ndim(f, "%x"), _dims(f, "%x"))
        bytes_ = f.op("mul", "i64", f.let("call i64 @size_of(ptr %x)"), size)
        near, far = of(f, made, DATA), of(f, "%x", DATA)
        f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {near}", f"ptr {far}", f"i64 {bytes_}", "i1 false")
        target.set(made)
    numbers, single = of(f, "%index", DATA), kinds[0]
    arguments = f"ptr {plan}, ptr {of(f, target.get(), DATA)}, ptr {numbers}, ptr {of(f, '%src', DATA)}"
    for kind, name in zip(kinds, ("add_float", "add_double", "add_int"), strict=True):
        with f.when(every(f, adds, kind)):
            f.line(f"call void @small_{name}({arguments})")
    puts = f.op("xor", "i1", adds, "true")
    for kind, name in ((single, "put_4"), (f.op("xor", "i1", single, "true"), "put_8")):
        with f.when(every(f, puts, kind)):
            f.line(f"call void @small_{name}({arguments})")
    return target.get()


def _lined() -> Function:
    """What is done; the result, null with an exception, or `DECLINED`."""
    f = Function("lined", "ptr", "ptr card", "ptr x", "ptr index", "ptr src", "i64 dim", "ptr out", linkage="internal")
    plan = f.reserve("i64", _PLAN)
    for array in ("%x", "%index"):
        when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), _NO)
        when_not(f, adjacent(f, array), _NO)
    ndim, rank = _ndim(f, "%x"), _ndim(f, "%index")
    single, double, whole = _kinds(f, "%card", "%x")
    when_not(f, f.op("or", "i1", single, f.op("or", "i1", double, whole)), _NO)
    when_not(f, _kinds(f, "%card", "%index")[2], _NO)
    when_not(f, f.op("icmp ult", "i64", "%dim", ndim), _NO)
    when_not(f, f.op("icmp slt", "i64", f.op("add", "i64", ndim, rank), "64"), _NO)
    what, alike = field(f, "%card", WHAT), field(f, "%card", ALIKE)
    size = f.let(f"select i1 {single}, i64 4, i64 8")
    with f.when(f.op("icmp ne", "ptr", "%src", "null")):
        when_not(f, same(f, of(f, "%src", TYPE), api(f, "array_type")), _NO)
        when_not(f, same(f, of(f, "%src", DESCR), of(f, "%x", DESCR)), _NO)
    each_own = same(f, alike, str(OWN), "i64")
    planned = f.variable("i64", "0")
    given = f"(ptr {plan}, ptr %x, ptr %index, ptr %src, i64 %dim, i64 {size})"
    with f.when(each_own):
        planned.set(f.let(f"call i64 @plan_own{given}"))
    with f.when(f.op("xor", "i1", each_own, "true")):
        with f.when(same(f, alike, str(ROWS), "i64")):
            when_not(f, same(f, rank, "1", "i64"), _NO)
        planned.set(f.let(f"call i64 @plan_alike{given}"))
    when_not(f, f.op("icmp ne", "i64", planned.get(), "0"), _NO)
    elements = f.op(
        "mul", "i64", f.op("mul", "i64", field(f, plan, _OUTER), field(f, plan, _COUNT)), field(f, plan, _INNER)
    )
    own = f.let("call i64 @size_of(ptr %x)")
    for count in (elements, own):
        when_not(f, every(f, f.op("icmp sgt", "i64", count, "0"), f.op("icmp sle", "i64", count, str(WORK))), _NO)
    inside = f.let(f"call i64 @numbers_below(ptr %index, i64 {at(f, _dims(f, '%x'), '%dim')})")
    when_not(f, f.op("icmp ne", "i64", inside, "0"), _NO)
    with f.when(same(f, what, str(PICK), "i64")):
        _picked(f, plan, each_own, single)
    f.end(f"ptr {_put(f, plan, same(f, what, str(ADD), 'i64'), (single, double, whole), size)}")
    return f


def _number(f: Function, value: str) -> str:
    """A whole number of Python's; declines what is none."""
    when_not(f, same(f, of(f, value, TYPE), api(f, "int_type")), _NO)
    return f.let(f"call i64 {api(f, 'as_int64')}(ptr {value})")


def _arguments() -> Function:
    """`lined`, with the arguments where they stand: the array, numbers, perhaps another array, the dimension; 1 after that says nothing new."""
    f = Function("lined_with", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    picks = same(f, field(f, "%card", WHAT), str(PICK), "i64")
    first = f.let(f"select i1 {picks}, i64 2, i64 3")
    when_not(f, f.op("icmp sgt", "i64", "%count", first), _NO)
    x, index = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in (0, 1))
    src, dim = f.variable("ptr", "null"), f.variable("ptr", f.load("ptr", f.element("%args", first, "ptr")))
    with f.when(f.op("xor", "i1", picks, "true")):
        src.set(f.load("ptr", f.element("%args", "2", "ptr")))
    with f.when(same(f, field(f, "%card", ALIKE), str(IN_A_TUPLE), "i64")):
        when_not(f, same(f, of(f, dim.get(), TYPE), api(f, "tuple_type")), _NO)
        when_not(f, same(f, of(f, dim.get(), SIZE, "i64"), "1", "i64"), _NO)
        dim.set(of(f, dim.get(), ITEM))
    with f.counted(f.op("add", "i64", first, "1"), "%count") as k:
        when_not(f, same(f, _number(f, f.load("ptr", f.element("%args", k, "ptr"))), "1", "i64"), _NO)
    given = f"ptr %card, ptr {x}, ptr {index}, ptr {src.get()}, i64 {_number(f, dim.get())}, ptr %out"
    f.end(f"ptr {f.let(f'call ptr @lined({given})')}")
    return f


def _scanned() -> Function:
    """Running sums or products; the sums are float64, whatever the type."""
    f = Function("scanned", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    when_not(f, same(f, "%count", "2", "i64"), _NO)
    when_not(f, same(f, "%out", "null"), _NO)
    x = f.load("ptr", "%args")
    when_not(f, same(f, of(f, x, TYPE), api(f, "array_type")), _NO)
    lies = adjacent(f, x)  # or it is one number in all places, as the gradient of a sum
    with f.when(f.op("xor", "i1", lies, "true")):
        when_not(f, f.op("icmp ne", "i64", f.let(f"call i64 @one_number(ptr {x})"), "0"), _NO)
    moves = f.cast("zext", "i1", lies, "i64")
    single, double, _ = _kinds(f, "%card", x)
    when_not(f, f.op("or", "i1", single, double), _NO)
    dim, ndim, dims = _number(f, f.load("ptr", f.element("%args", "1", "ptr"))), _ndim(f, x), _dims(f, x)
    when_not(f, f.op("icmp ult", "i64", dim, ndim), _NO)
    when_not(f, f.op("icmp sle", "i64", f.let(f"call i64 @size_of(ptr {x})"), str(WORK)), _NO)
    outer = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 {dim})")
    inner = f.let(f"call i64 @product_of(ptr {dims}, i64 {f.op('add', 'i64', dim, '1')}, i64 {ndim})")
    n, what = at(f, dims, dim), field(f, "%card", WHAT)
    made = new_array(f, of(f, x, DESCR), ndim, dims)
    back, multiplies = (same(f, what, str(each), "i64") for each in (REVERSE_SUM, PRODUCT))
    begin = f.let(f"select i1 {back}, i64 {f.op('sub', 'i64', n, '1')}, i64 0")
    forward = f.let(f"select i1 {back}, i64 -1, i64 1")
    nothing = f.let(f"select i1 {multiplies}, double {literal('double', 1)}, double {literal('double', -0.0)}")
    for kind, scalar in ((single, "float"), (double, "double")):
        with f.when(kind), f.counted("0", outer) as o, f.counted("0", inner) as k:
            total = f.variable("double", nothing)
            with f.counted("0", n) as i:
                along = f.op("add", "i64", begin, f.op("mul", "i64", i, forward))
                line = f.op("add", "i64", f.op("mul", "i64", o, n), along)
                place = f.op("add", "i64", f.op("mul", "i64", line, inner), k)
                value = f.load(scalar, f.element(of(f, x, DATA), f.op("mul", "i64", place, moves), scalar))
                wide = value if scalar == "double" else f.cast("fpext", "float", value, "double")
                both = f.op("fadd", "double", total.get(), wide), f.op("fmul", "double", total.get(), wide)
                total.set(f.let(f"select i1 {multiplies}, double {both[1]}, double {both[0]}"))
                result = total.get() if scalar == "double" else f.cast("fptrunc", "double", total.get(), "float")
                f.store(scalar, result, f.element(of(f, made, DATA), place, scalar))
    f.end(f"ptr {made}")
    return f


def _all_below() -> Function:
    """Are all of some numbers below another one? True, False, or `DECLINED`."""
    f = Function("told_below", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    when_not(f, same(f, "%count", "2", "i64"), _NO)
    index = f.load("ptr", "%args")
    when_not(f, same(f, of(f, index, TYPE), api(f, "array_type")), _NO)
    when_not(f, adjacent(f, index), _NO)
    when_not(f, _kinds(f, "%card", index)[2], _NO)
    when_not(f, f.op("icmp sle", "i64", f.let(f"call i64 @size_of(ptr {index})"), str(WORK)), _NO)
    size = _number(f, f.load("ptr", f.element("%args", "1", "ptr")))
    below = f.op("icmp ne", "i64", f.let(f"call i64 @numbers_below(ptr {index}, i64 {size})"), "0")
    answer = f.let(f"select i1 {below}, ptr {api(f, 'true')}, ptr {api(f, 'false')}")
    f.line(f"call void {api(f, 'incref')}(ptr {answer})")
    f.end(f"ptr {answer}")
    return f


def direct(name: str, function: str) -> Function:
    """What CPython calls."""
    f = Function(name, "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, out = of(f, "%self", DATA), f.variable("ptr", "null")
    result, known = f.variable("ptr", DECLINED), f.variable("i1", same(f, "%names", "null"))
    with f.when(f.op("icmp ne", "ptr", "%names", "null")):
        one = same(f, of(f, "%names", SIZE, "i64"), "1", "i64")
        known.set(every(f, one, same(f, of(f, "%names", ITEM), api(f, "out"))))
        with f.when(known.get()):
            out.set(f.load("ptr", f.element("%args", "%count", "ptr")))
            known.set(f.op("icmp ne", "ptr", out.get(), api(f, "none")))
    with f.when(known.get()):
        result.set(f.let(f"call ptr @{function}(ptr {card}, ptr %args, i64 %count, ptr {out.get()})"))
    return answer(f, card, result)


# How each kernel is called, what it does, and by which numbers.
KERNELS = {
    "all_below": ("direct_below", 0, 0),
    "gather": ("direct_lines", PICK, OWN),
    "index_select": ("direct_lines", PICK, ROWS),
    "index1": ("direct_lines", PICK, IN_A_TUPLE),
    "scatter": ("direct_lines", PUT, OWN),
    "scatter_add": ("direct_lines", ADD, OWN),
    "index_add": ("direct_lines", ADD, ROWS),
    "cumsum": ("direct_scan", SUM, 0),
    "reverse_cumsum": ("direct_scan", REVERSE_SUM, 0),
    "cumprod": ("direct_scan", PRODUCT, 0),
}
ENTRIES = {"direct_lines": "lined_with", "direct_scan": "scanned", "direct_below": "told_below"}


def functions() -> list[Function]:
    """All functions."""
    parts = [
        _product(),
        _plan_alike(),
        _plan_own(),
        *_moving(),
        _below(),
        _lined(),
        _arguments(),
        _scanned(),
        _all_below(),
    ]
    others = (small_moves, small_sorts, small_pairs, small_extremes, small_frames, small_windows)
    entries = ENTRIES | {name: function for each in others for name, function in each.ENTRIES.items()}
    parts += [function for each in others for function in each.functions()]
    return [*parts, *[direct(name, function) for name, function in entries.items()]]
