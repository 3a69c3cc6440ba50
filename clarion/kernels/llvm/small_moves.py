"""Small arrays joined, and filled where a mask holds, called directly (NOTE [Direct calls]): NumPy asks longer than that takes.

Adjacent arrays of one type; everything else, and much work, goes elsewhere.
"""

from __future__ import annotations

from .api import (
    DATA,
    DECLINED,
    DESCR,
    DIMS,
    ITEM,
    NDIM,
    SIZE,
    TYPE,
    WRITEABLE,
    adjacent,
    api,
    every,
    new_array,
    of,
    same,
    when_not,
)
from .plan import at, field
from .text import Function, literal

# a card: where else to go, is there a new dimension, how many types; those, with their bytes
OTHERWISE, STACKS, TYPES, FIRST = range(4)
WORK = 1 << 15  # elements that are written here at most
_NO = f"ptr {DECLINED}"


def _bytes() -> Function:
    """Bytes of an element; 0 where its type is not on the card."""
    f = Function("bytes_on_card", "i64", "ptr card", "ptr descr", linkage="internal")
    descr = f.cast("ptrtoint", "ptr", "%descr", "i64")
    with f.counted("0", field(f, "%card", TYPES)) as k:
        place = f.op("add", "i64", f.op("mul", "i64", k, "2"), str(FIRST))
        with f.when(same(f, at(f, "%card", place), descr, "i64")):
            f.line(f"ret i64 {at(f, '%card', f.op('add', 'i64', place, '1'))}")
            f.begin(*f.labels("unreachable"))
    f.end("i64 0")
    return f


def _ndim(f: Function, array: str) -> str:
    return f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")


def _is_array(f: Function, array: str) -> None:
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), _NO)
    when_not(f, adjacent(f, array), _NO)


def _joined() -> Function:
    """Arrays (a list or a tuple) one after the other along a dimension, of their own or a new one; the third argument is None."""
    f = Function("joined", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    shape = f.reserve("i64", 64)
    when_not(f, every(f, same(f, "%count", "3", "i64"), same(f, "%out", "null")), _NO)
    arrays, number, kind = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(3))
    when_not(f, same(f, kind, api(f, "none")), _NO)
    when_not(f, same(f, of(f, number, TYPE), api(f, "int_type")), _NO)
    dim = f.let(f"call i64 {api(f, 'as_int64')}(ptr {number})")
    items = f.variable("ptr", f.offset(arrays, str(ITEM)))
    is_list = same(f, of(f, arrays, TYPE), api(f, "list_type"))
    when_not(f, f.op("or", "i1", is_list, same(f, of(f, arrays, TYPE), api(f, "tuple_type"))), _NO)
    with f.when(is_list):
        items.set(of(f, arrays, ITEM))
    several = of(f, arrays, SIZE, "i64")
    when_not(f, f.op("icmp sgt", "i64", several, "0"), _NO)
    first = f.load("ptr", items.get())
    _is_array(f, first)
    descr, ndim, dims = of(f, first, DESCR), _ndim(f, first), of(f, first, DIMS)
    size = f.let(f"call i64 @bytes_on_card(ptr %card, ptr {descr})")
    when_not(f, f.op("icmp ne", "i64", size, "0"), _NO)
    stacks = f.op("icmp ne", "i64", field(f, "%card", STACKS), "0")
    last = f.op("add", "i64", ndim, f.cast("zext", "i1", stacks, "i64"))  # how many dimensions the result has
    when_not(f, every(f, f.op("icmp ult", "i64", dim, last), f.op("icmp slt", "i64", last, "32")), _NO)
    along = f.variable("i64", "0")
    with f.counted("0", several) as k:
        array = f.load("ptr", f.element(items.get(), k, "ptr"))
        _is_array(f, array)
        when_not(f, every(f, same(f, of(f, array, DESCR), descr), same(f, _ndim(f, array), ndim, "i64")), _NO)
        own = of(f, array, DIMS)
        with f.counted("0", ndim) as d:
            here = f.op("and", "i1", same(f, d, dim, "i64"), f.op("xor", "i1", stacks, "true"))
            when_not(f, f.op("or", "i1", here, same(f, at(f, own, d), at(f, dims, d), "i64")), _NO)
            with f.when(here):
                along.set(f.op("add", "i64", along.get(), at(f, own, d)))
    outer = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 {dim})")
    with f.counted("0", last) as d:
        before = f.op("icmp slt", "i64", d, dim)
        skipped = f.let(f"select i1 {f.op('or', 'i1', before, f.op('xor', 'i1', stacks, 'true'))}, i64 0, i64 1")
        there, own = same(f, d, dim, "i64"), f.let(f"select i1 {stacks}, i64 {several}, i64 {along.get()}")
        value = f.variable("i64", own)
        with f.when(f.op("xor", "i1", there, "true")):
            value.set(at(f, dims, f.op("sub", "i64", d, skipped)))
        f.store("i64", value.get(), f.element(shape, d, "i64"))
    elements = f.let(f"call i64 @product_of(ptr {shape}, i64 0, i64 {last})")
    when_not(f, every(f, f.op("icmp sgt", "i64", elements, "0"), f.op("icmp sle", "i64", elements, str(WORK))), _NO)
    made = new_array(f, descr, last, shape)
    target = f.variable("ptr", of(f, made, DATA))
    whole = f.op("mul", "i64", f.op("sdiv", "i64", elements, outer), size)
    with f.counted("0", several) as k:
        array = f.load("ptr", f.element(items.get(), k, "ptr"))
        own = f.let(f"call i64 @size_of(ptr {array})")
        bytes_, source = f.op("mul", "i64", f.op("sdiv", "i64", own, outer), size), of(f, array, DATA)
        with f.counted("0", outer) as o:
            near = f.offset(target.get(), f.op("mul", "i64", o, whole))
            far = f.offset(source, f.op("mul", "i64", o, bytes_))
            f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {near}", f"ptr {far}", f"i64 {bytes_}", "i1 false")
        target.set(f.offset(target.get(), bytes_))
    f.end(f"ptr {made}")
    return f


def _masked() -> Function:
    """Floats with a number in its place where a mask of the same shape holds: a new array, or the first one itself."""
    f = Function("masked", "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    when_not(f, same(f, "%count", "3", "i64"), _NO)
    x, mask, number = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(3))
    for array in (x, mask):
        _is_array(f, array)
    when_not(f, same(f, of(f, mask, DESCR, "i64"), field(f, "%card", FIRST), "i64"), _NO)
    single, double = (same(f, of(f, x, DESCR), api(f, name)) for name in ("float32", "float64"))
    when_not(f, f.op("or", "i1", single, double), _NO)
    when_not(f, f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {x}, ptr {mask})"), "0"), _NO)
    elements = f.let(f"call i64 @size_of(ptr {x})")
    when_not(f, every(f, f.op("icmp sgt", "i64", _ndim(f, x), "0"), f.op("icmp sle", "i64", elements, str(WORK))), _NO)
    told = f.variable("double", literal("double", 0))
    is_array = same(f, of(f, number, TYPE), api(f, "array_type"))  # one without dimensions, of the same type
    with f.when(is_array):
        fits = every(f, same(f, of(f, number, NDIM, "i32"), "0", "i32"), same(f, of(f, number, DESCR), of(f, x, DESCR)))
        when_not(f, fits, _NO)
        with f.when(single):
            told.set(f.cast("fpext", "float", of(f, of(f, number, DATA), 0, "float"), "double"))
        with f.when(double):
            told.set(of(f, of(f, number, DATA), 0, "double"))
    with f.when(f.op("xor", "i1", is_array, "true")):
        when_not(f, same(f, of(f, number, TYPE), api(f, "float_type")), _NO)
        told.set(of(f, number, SIZE, "double"))
    value = told.get()
    narrow = f.cast("fptrunc", "double", value, "float")
    size = f.intrinsic("fabs", "double", value)  # (one that float32 cannot hold is said elsewhere)
    large = f.op("fcmp ogt", "double", size, literal("double", 3e38))
    finite = f.op("fcmp one", "double", size, literal("double", float("inf")))
    when_not(f, f.op("xor", "i1", every(f, single, large, finite), "true"), _NO)
    target = f.variable("ptr", "%out")
    with f.when(f.op("icmp ne", "ptr", "%out", "null")):
        when_not(f, every(f, same(f, "%out", x), adjacent(f, x, WRITEABLE)), _NO)
        f.line(f"call void {api(f, 'incref')}(ptr %out)")
    with f.when(same(f, "%out", "null")):
        target.set(new_array(f, of(f, x, DESCR), _ndim(f, x), of(f, x, DIMS)))
    holds, source, place = of(f, mask, DATA), of(f, x, DATA), of(f, target.get(), DATA)
    for kind, scalar, filled in ((single, "float", narrow), (double, "double", value)):
        with f.when(kind), f.counted("0", elements) as i:
            here = f.op("icmp ne", "i8", f.load("i8", f.element(holds, i, "i8")), "0")
            kept = f.load(scalar, f.element(source, i, scalar))
            f.store(scalar, f.select(scalar, here, filled, kept), f.element(place, i, scalar))
    f.end(f"ptr {target.get()}")
    return f


# How each kernel is called, and whether there is a new dimension.
KERNELS = {"cat": ("direct_join", 0), "stack": ("direct_join", 1), "masked_fill": ("direct_mask", 0)}
ENTRIES = {"direct_join": "joined", "direct_mask": "masked"}


def functions() -> list[Function]:
    """All functions."""
    return [_bytes(), _joined(), _masked()]
