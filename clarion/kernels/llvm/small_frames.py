"""Small arrays turned around along dimensions, or put inside of a frame of one number, called directly (NOTE [Direct calls]): every row of the array goes
to a place of its own, forwards or backwards. Other types, strides, frames that cut something off and much work go elsewhere.
"""

from __future__ import annotations

from .api import DATA, DESCR, DIMS, ITEM, SIZE, STRIDES, TYPE, adjacent, api, every, new_array, of, same
from .plan import at, field
from .small_arguments import DIMENSIONS, WORK, begin, few, ndim_of, need, numbers_of
from .text import Function

OTHERWISE, INT64, WORDS = range(3)  # a card: where else to go, a type


def _known(f: Function, x: str) -> tuple[str, str, str]:
    """Go on only with an adjacent array of some elements: its dimensions, how many, and the bytes of an element."""
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    descr, ndim = of(f, x, DESCR), ndim_of(f, x)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    whole = same(f, f.cast("ptrtoint", "ptr", descr, "i64"), field(f, "%card", INT64), "i64")
    need(f, f.op("or", "i1", single, f.op("or", "i1", double, whole)))
    need(f, f.op("icmp ult", "i64", f.op("sub", "i64", ndim, "1"), str(DIMENSIONS)))
    few(f, f.let(f"call i64 @size_of(ptr {x})"))
    return of(f, x, DIMS), ndim, f.select("i64", single, "4", "8")


def _moved(scalar: str) -> Function:
    """Every row of `x` to its place in `to`, whose dimensions are `whole`: it begins `before` there, and is turned around where `back` says so."""
    parameters = ("ptr x", "ptr to", "ptr dims", "ptr whole", "ptr before", "ptr back", "i64 ndim")
    f = Function(f"rows_moved_{scalar}", "void", *parameters, linkage="internal")
    last = f.op("sub", "i64", "%ndim", "1")
    rows, n = f.let(f"call i64 @product_of(ptr %dims, i64 0, i64 {last})"), at(f, "%dims", last)
    turned = f.op("icmp ne", "i64", at(f, "%back", last), "0")
    step = f.select("i64", turned, "-1", "1")
    start = f.op("add", "i64", at(f, "%before", last), f.select("i64", turned, f.op("sub", "i64", n, "1"), "0"))
    with f.counted("0", rows) as r:
        left, place, wide = f.variable("i64", r), f.variable("i64", start), f.variable("i64", at(f, "%whole", last))
        with f.counted("0", last) as k:
            dim = f.op("sub", "i64", f.op("sub", "i64", last, "1"), k)
            size, rest = at(f, "%dims", dim), left.get()
            number = f.op("urem", "i64", rest, size)
            left.set(f.op("udiv", "i64", rest, size))
            from_end = f.op("sub", "i64", f.op("sub", "i64", size, "1"), number)
            here = f.select("i64", f.op("icmp ne", "i64", at(f, "%back", dim), "0"), from_end, number)
            there = f.op("mul", "i64", f.op("add", "i64", here, at(f, "%before", dim)), wide.get())
            place.set(f.op("add", "i64", place.get(), there))
            wide.set(f.op("mul", "i64", wide.get(), at(f, "%whole", dim)))
        source, first = f.element("%x", f.op("mul", "i64", r, n), scalar), place.get()
        with f.counted("0", n) as i:
            target = f.op("add", "i64", first, f.op("mul", "i64", i, step))
            f.store(scalar, f.load(scalar, f.element(source, i, scalar)), f.element("%to", target, scalar))
    f.end()
    return f


def _run(f: Function, size: str, x: str, made: str, given: str) -> None:
    for bytes_, scalar in (("4", "i32"), ("8", "i64")):
        with f.when(same(f, size, bytes_, "i64")):
            f.line(f"call void @rows_moved_{scalar}(ptr {of(f, x, DATA)}, ptr {of(f, made, DATA)}, {given})")


def _zeros(f: Function, count: str) -> str:
    room = f.reserve("i64", DIMENSIONS)
    with f.counted("0", count) as k:
        f.store("i64", "0", f.element(room, k, "i64"))
    return room


def _flipped() -> Function:
    """x, dimensions: another array."""
    f, (x, along) = begin("turned_around", 2)
    dims, ndim, size = _known(f, x)
    chosen, before, back = f.reserve("i64", DIMENSIONS), _zeros(f, ndim), _zeros(f, ndim)
    with f.counted("0", numbers_of(f, along, chosen)) as k:
        dim = at(f, chosen, k)
        need(f, f.op("icmp ult", "i64", dim, ndim))
        f.store("i64", "1", f.element(back, dim, "i64"))
    made = new_array(f, of(f, x, DESCR), ndim, dims)
    _run(f, size, x, made, f"ptr {dims}, ptr {dims}, ptr {before}, ptr {back}, i64 {ndim}")
    f.end(f"ptr {made}")
    return f


def _framed() -> Function:
    """x, how much before and behind each dimension, a number: another array."""
    f, (x, widths, number) = begin("framed", 3)
    dims, ndim, size = _known(f, x)
    descr, pair = of(f, x, DESCR), f.reserve("i64", DIMENSIONS)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    need(f, f.op("or", "i1", single, double))
    value, whole, beyond = (
        f.variable("double", "0.0"),
        same(f, of(f, number, TYPE), api(f, "int_type")),
        f.reserve("i32"),
    )
    with f.when(whole):
        given = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {number}, ptr {beyond})")
        need(
            f,
            every(
                f,
                same(f, f.load("i32", beyond), "0", "i32"),
                f.op("icmp ult", "i64", f.op("add", "i64", given, str(1 << 24)), str(1 << 25)),
            ),
        )
        value.set(f.cast("sitofp", "i64", given, "double"))
    with f.when(f.op("xor", "i1", whole, "true")):
        need(f, same(f, of(f, number, TYPE), api(f, "float_type")))
        value.set(of(f, number, SIZE, "double"))
    images = f.op("icmp ult", "i64", f.op("sub", "i64", ndim, "4"), "2")  # whose channels may lie together
    with f.when(images):
        strides = of(f, x, STRIDES)
        need(f, f.op("icmp sgt", "i64", at(f, strides, "1"), at(f, strides, f.op("sub", "i64", ndim, "1"))))
    need(f, same(f, of(f, widths, TYPE), api(f, "tuple_type")))
    need(f, same(f, of(f, widths, SIZE, "i64"), ndim, "i64"))
    before, back, sizes, total = (
        f.reserve("i64", DIMENSIONS),
        _zeros(f, ndim),
        f.reserve("i64", DIMENSIONS),
        f.variable("i64", "1"),
    )
    with f.counted("0", ndim) as k:
        both = f.load("ptr", f.element(f.offset(widths, str(ITEM)), k, "ptr"))
        need(f, same(f, numbers_of(f, both, pair), "2", "i64"))
        for each in ("0", "1"):
            need(f, f.op("icmp ule", "i64", at(f, pair, each), str(WORK)))
        long = f.op("add", "i64", at(f, dims, k), f.op("add", "i64", at(f, pair, "0"), at(f, pair, "1")))
        f.store("i64", at(f, pair, "0"), f.element(before, k, "i64"))
        f.store("i64", long, f.element(sizes, k, "i64"))
        total.set(f.op("mul", "i64", total.get(), long))
        few(f, total.get())
    made = new_array(f, descr, ndim, sizes)
    for kind, scalar in ((single, "float"), (double, "double")):
        narrow = value.get() if scalar == "double" else f.cast("fptrunc", "double", value.get(), "float")
        with f.when(kind), f.counted("0", total.get()) as i:
            f.store(scalar, narrow, f.element(of(f, made, DATA), i, scalar))
    _run(f, size, x, made, f"ptr {dims}, ptr {sizes}, ptr {before}, ptr {back}, i64 {ndim}")
    f.end(f"ptr {made}")
    return f


KERNELS = {"flip": "direct_flipped", "constant_pad_nd": "direct_framed"}
ENTRIES = {"direct_flipped": "turned_around", "direct_framed": "framed"}


def functions() -> list[Function]:
    """All functions."""
    return [_moved("i32"), _moved("i64"), _flipped(), _framed()]
