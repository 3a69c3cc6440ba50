"""The largest or smallest along a dimension of a small array with its place, and gradients put back at such places, called directly (NOTE [Direct
calls]). The first of equals is taken, and the first NaN before any number. Other types, strides, sizes of nothing and much work go elsewhere.
"""

from __future__ import annotations

from .api import DATA, DESCR, DIMS, TYPE, adjacent, api, every, new_array, of, same
from .plan import at, field
from .small_arguments import DIMENSIONS, begin, few, give_both, ndim_of, need, numbers_of
from .text import Function, literal

OTHERWISE, SMALLEST, INT64, WORDS = range(4)  # a card: where else to go, is it the smallest?, a type


def _dim(f: Function, dim: str, keepdim: str, ndim: str) -> tuple[str, str]:
    """Go on only with a dimension that is there, and True or False."""
    need(f, same(f, of(f, dim, TYPE), api(f, "int_type")))
    number, keeps = f.let(f"call i64 {api(f, 'as_int64')}(ptr {dim})"), same(f, keepdim, api(f, "true"))
    need(f, f.op("or", "i1", keeps, same(f, keepdim, api(f, "false"))))
    need(f, every(f, f.op("icmp ult", "i64", number, ndim), f.op("icmp sle", "i64", ndim, str(DIMENSIONS))))
    return number, keeps


def _reduced(f: Function, dims: str, ndim: str, dim: str, keeps: str) -> tuple[str, str]:
    """The shape of what is left: where it stands, and how many dimensions."""
    shape, left = f.reserve("i64", DIMENSIONS), f.variable("i64", "0")
    with f.counted("0", ndim) as k:
        here = same(f, k, dim, "i64")
        f.store("i64", f.select("i64", here, "1", at(f, dims, k)), f.element(shape, left.get(), "i64"))
        counts = f.op("or", "i1", keeps, f.op("xor", "i1", here, "true"))
        left.set(f.op("add", "i64", left.get(), f.cast("zext", "i1", counts, "i64")))
    return shape, left.get()


def _extents(f: Function, dims: str, ndim: str, dim: str) -> tuple[str, str, str]:
    """Go on only with some elements, not too many: those before a dimension, along it, and behind it."""
    after = f.op("add", "i64", dim, "1")
    outer = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 {dim})")
    inner = f.let(f"call i64 @product_of(ptr {dims}, i64 {after}, i64 {ndim})")
    n = at(f, dims, dim)
    few(f, outer, inner, n, f.op("mul", "i64", n, f.op("mul", "i64", outer, inner)))
    return outer, n, inner


def _found() -> Function:
    """x, a dimension, is it kept?: the extremes, and their places."""
    f, (x, along, keepdim) = begin("extremes_found", 3)
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    descr, dims, ndim = of(f, x, DESCR), of(f, x, DIMS), ndim_of(f, x)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    need(f, f.op("or", "i1", single, double))
    dim, keeps = _dim(f, along, keepdim, ndim)
    outer, n, inner = _extents(f, dims, ndim, dim)
    shape, left = _reduced(f, dims, ndim, dim, keeps)
    best, places = (
        new_array(f, descr, left, shape),
        new_array(f, f.load("ptr", f.element("%card", str(INT64), "i64")), left, shape),
    )
    smallest = f.op("icmp ne", "i64", field(f, "%card", SMALLEST), "0")
    for kind, scalar in ((single, "float"), (double, "double")):
        with f.when(kind), f.counted("0", outer) as o, f.counted("0", inner) as k:
            first = f.op("add", "i64", f.op("mul", "i64", f.op("mul", "i64", o, n), inner), k)
            top, where = (
                f.variable(scalar, f.load(scalar, f.element(of(f, x, DATA), first, scalar))),
                f.variable("i64", "0"),
            )
            with f.counted("1", n) as i:
                place = f.op("add", "i64", first, f.op("mul", "i64", i, inner))
                value, now = f.load(scalar, f.element(of(f, x, DATA), place, scalar)), top.get()
                beyond = [f.op(word, scalar, value, now) for word in ("fcmp olt", "fcmp ogt")]
                new = every(f, f.op("fcmp uno", scalar, value, value), f.op("fcmp ord", scalar, now, now))
                better = f.op("or", "i1", f.select("i1", smallest, *beyond), new)
                with f.when(better):
                    top.set(value)
                    where.set(i)
            target = f.op("add", "i64", f.op("mul", "i64", o, inner), k)
            f.store(scalar, top.get(), f.element(of(f, best, DATA), target, scalar))
            f.store("i64", where.get(), f.element(of(f, places, DATA), target, "i64"))
    give_both(f, best, places)
    return f


def _placed() -> Function:
    """g, places, a shape, a dimension, was it kept?: zeros of the shape, with each number of g at its place."""
    f, (g, places, sizes, along, keepdim) = begin("put_at_places", 5)
    for array in (g, places):
        need(f, same(f, of(f, array, TYPE), api(f, "array_type")))
    lies = adjacent(f, g)  # or it is one number in all places, as the gradient of a sum
    with f.when(f.op("xor", "i1", lies, "true")):
        need(f, f.op("icmp ne", "i64", f.let(f"call i64 @one_number(ptr {g})"), "0"))
    moves, descr = f.cast("zext", "i1", lies, "i64"), of(f, g, DESCR)
    need(f, every(f, adjacent(f, places), same(f, of(f, places, DESCR, "i64"), field(f, "%card", INT64), "i64")))
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    need(f, f.op("or", "i1", single, double))
    dims = f.reserve("i64", DIMENSIONS)
    ndim = numbers_of(f, sizes, dims)
    dim, _ = _dim(f, along, keepdim, ndim)
    outer, n, inner = _extents(f, dims, ndim, dim)
    count = f.op("mul", "i64", outer, inner)
    for array in (g, places):
        need(f, same(f, f.let(f"call i64 @size_of(ptr {array})"), count, "i64"))
    need(f, f.op("icmp ne", "i64", f.let(f"call i64 @numbers_below(ptr {places}, i64 {n})"), "0"))
    made, numbers = new_array(f, descr, ndim, dims), of(f, places, DATA)
    for kind, scalar, size in ((single, "float", 4), (double, "double", 8)):
        with f.when(kind):
            target, source = of(f, made, DATA), of(f, g, DATA)
            with f.counted("0", f.op("mul", "i64", count, n)) as i:
                f.store(scalar, literal(scalar, 0), f.element(target, i, scalar), size)
            with f.counted("0", outer) as o, f.counted("0", inner) as k:
                i = f.op("add", "i64", f.op("mul", "i64", o, inner), k)
                line = f.op("add", "i64", f.op("mul", "i64", o, n), at(f, numbers, i))
                place = f.element(target, f.op("add", "i64", f.op("mul", "i64", line, inner), k), scalar)
                f.store(
                    scalar, f.load(scalar, f.element(source, f.op("mul", "i64", i, moves), scalar), size), place, size
                )
    f.end(f"ptr {made}")
    return f


# How each kernel is called, and whether it is for the smallest.
KERNELS = {"max_dim": ("direct_extremes", 0), "min_dim": ("direct_extremes", 1), "place_along": ("direct_places", 0)}
ENTRIES = {"direct_extremes": "extremes_found", "direct_places": "put_at_places"}


def functions() -> list[Function]:
    """All functions."""
    return [_found(), _placed()]
