"""Lists of small arrays, called directly (NOTE [Direct calls]): the norm of all of them together, and a plain step of an optimizer.

BLAS and NumPy take longer to begin than to go through few numbers. Squares are added up in double precision, so that those of float32
neither overflow nor vanish. What is large, strided or of another type, and other norms than the second, go elsewhere.
"""

from __future__ import annotations

from .api import DATA, DECLINED, DESCR, ITEM, SIZE, TYPE, WRITEABLE, adjacent, api, entry, of, same, when_not
from .direct import ERRORS, tell
from .pool import clear_flags, flags
from .text import Function, literal, with_lanes

WORK = 1 << 13  # elements of an array at most
_LANES = 8
_TWO = "0x4000000000000000"


def _squares(scalar: str) -> Function:
    """The sum of the squares of `count` adjacent numbers."""
    f = Function(f"squares_{scalar}", "double", "ptr x", "i64 count", linkage="internal")
    wide, narrow, size = with_lanes(_LANES, "double"), with_lanes(_LANES, scalar), 8 if scalar == "double" else 4
    whole, sums = f.op("and", "i64", "%count", str(-_LANES)), f.variable(wide, literal(wide, 0))

    def squared(type_: str, from_: str, place: str, total: str) -> str:
        value = f.load(from_, place, size)
        value = value if type_ == from_ else f.cast("fpext", from_, value, type_)
        return f.intrinsic("fma", type_, value, value, total)

    with f.counted("0", whole, str(_LANES)) as i:
        sums.set(squared(wide, narrow, f.element("%x", i, scalar), sums.get()))
    zero = literal("double", 0)
    name = f"llvm.vector.reduce.fadd.v{_LANES}f64"
    total = f.variable("double", f.call(name, "double", f"double {zero}", f"{wide} {sums.get()}"))
    with f.counted(whole, "%count") as i:
        total.set(squared("double", scalar, f.element("%x", i, scalar), total.get()))
    f.end(f"double {total.get()}")
    return f


def _small(f: Function, array: str, also: int = 0) -> tuple[str, str]:
    """Go on only with a small array of floats: is it of float32, and how many elements has it?"""
    no = f"ptr {DECLINED}"
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
    when_not(f, adjacent(f, array, also), no)
    kind, size = of(f, array, DESCR), f.let(f"call i64 @size_of(ptr {array})")
    when_not(f, f.op("icmp sle", "i64", size, str(WORK)), no)
    single = same(f, kind, api(f, "float32"))
    when_not(f, f.op("or", "i1", single, same(f, kind, api(f, "float64"))), no)
    return single, size


def _listed(f: Function, number: int) -> tuple[str, str]:
    """Go on only with a list: where its items stand, and how many."""
    given = f.load("ptr", f.element("%args", str(number), "ptr"))
    when_not(f, same(f, of(f, given, TYPE), api(f, "list_type")), f"ptr {DECLINED}")
    return of(f, given, ITEM), of(f, given, SIZE, "i64")


def _float(f: Function, number: int) -> str:
    """Go on only with a float of Python's."""
    given = f.load("ptr", f.element("%args", str(number), "ptr"))
    when_not(f, same(f, of(f, given, TYPE), api(f, "float_type")), f"ptr {DECLINED}")
    return of(f, given, SIZE, "double")


def _norm() -> Function:
    """The norm of all arrays of a list, as a number of Python's; `DECLINED` where one is not for here."""
    f = Function("small_norm", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    no, total = f"ptr {DECLINED}", f.variable("double", literal("double", 0))
    when_not(f, same(f, "%count", "2", "i64"), no)
    (items, length), order = _listed(f, 0), _float(f, 1)
    when_not(f, f.op("fcmp oeq", "double", order, _TWO), no)
    with f.counted("0", length) as k:
        array = f.load("ptr", f.element(items, k, "ptr"))
        single, size = _small(f, array)
        for condition, scalar in ((single, "float"), (f.op("xor", "i1", single, "true"), "double")):
            with f.when(condition):
                found = f.let(f"call double @squares_{scalar}(ptr {of(f, array, DATA)}, i64 {size})")
                total.set(f.op("fadd", "double", total.get(), found))
    root = f.intrinsic("sqrt", "double", total.get())
    made = f.let(f"call ptr {api(f, 'from_double')}(double {root})")
    f.end(f"ptr {made}")
    return f


def _descend(scalar: str) -> Function:
    """p -= g * rate."""
    f = Function(f"descend_{scalar}", "void", "ptr p", "ptr g", "double rate", "i64 count", linkage="internal")
    rate = "%rate" if scalar == "double" else f.cast("fptrunc", "double", "%rate", "float")
    size, type_ = 8 if scalar == "double" else 4, with_lanes(_LANES, scalar)
    whole, rates = f.op("and", "i64", "%count", str(-_LANES)), f.spread(type_, rate)
    for kind, first, end, step, factor in ((type_, "0", whole, _LANES, rates), (scalar, whole, "%count", 1, rate)):
        with f.counted(first, end, str(step)) as i:
            mine, other = f.element("%p", i, scalar), f.element("%g", i, scalar)
            share = f.op("fmul", kind, f.load(kind, other, size), factor)
            f.store(kind, f.op("fsub", kind, f.load(kind, mine, size), share), mine, size)
    f.end()
    return f


def _descent(x86: bool) -> Function:
    """A plain step: a list of parameters, one of gradients, and the rate. All of them are looked at before the first is written."""
    f = Function("small_descent", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    no = f"ptr {DECLINED}"
    when_not(f, same(f, "%count", "3", "i64"), no)
    (params, length), (grads, also), rate = _listed(f, 0), _listed(f, 1), _float(f, 2)
    when_not(f, same(f, length, also, "i64"), no)

    def pair(k: str) -> list[str]:
        return [f.load("ptr", f.element(items, k, "ptr")) for items in (params, grads)]

    with f.counted("0", length) as k:
        p, g = pair(k)
        single, size = _small(f, p, WRITEABLE)
        _small(f, g)
        when_not(f, same(f, of(f, p, DESCR), of(f, g, DESCR)), no)
        when_not(f, f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {p}, ptr {g})"), "0"), no)
        bytes_ = f.op("mul", "i64", size, f.let(f"select i1 {single}, i64 4, i64 8"))
        here, there = (of(f, each, DATA, "i64") for each in (p, g))
        between = f.op("sub", "i64", there, here)
        near = f.op("icmp slt", "i64", f.call("llvm.abs.i64", "i64", f"i64 {between}", "i1 false"), bytes_)
        when_not(f, f.op("xor", "i1", near, "true"), no)
    clear_flags(f, x86)
    with f.counted("0", length) as k:
        p, g = pair(k)
        single, size = same(f, of(f, p, DESCR), api(f, "float32")), f.let(f"call i64 @size_of(ptr {p})")
        given = f"ptr {of(f, p, DATA)}, ptr {of(f, g, DATA)}, double {rate}, i64 {size}"
        for condition, scalar in ((single, "float"), (f.op("xor", "i1", single, "true"), "double")):
            with f.when(condition):
                f.line(f"call void @descend_{scalar}({given})")
    errors = f.op("and", "i64", flags(f, x86), ERRORS)
    with f.when(f.op("icmp ne", "i64", errors, "0"), rarely=True):
        tell(f, errors, "null", "0", "true")
    none = api(f, "none")
    f.line(f"call void {api(f, 'incref')}(ptr {none})")
    f.end(f"ptr {none}")
    return f


ENTRIES = {"direct_norm": "small_norm", "direct_descent": "small_descent"}
KERNELS = {"total_norm": "direct_norm", "descend_": "direct_descent"}


def functions(x86: bool) -> list[Function]:
    """All functions."""
    loops = [made(scalar) for made in (_squares, _descend) for scalar in ("float", "double")]
    return [*loops, _norm(), _descent(x86), *[entry(*each) for each in ENTRIES.items()]]
