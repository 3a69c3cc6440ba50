"""The largest of each window of small images, called directly (NOTE [Direct calls]): the loop is that of pooling_text.py. Other types and strides, and
much work, go elsewhere.
"""

from __future__ import annotations

from . import pooling_text
from .api import DATA, DESCR, DIMS, STRIDES, TYPE, adjacent, api, new_array, of, same
from .plan import at
from .small_arguments import DIMENSIONS, WORK, begin, few, give_both, ndim_of, need, numbers_of
from .text import Function

OTHERWISE, INT64, WORDS = range(3)  # a card: where else to go, a type
# The kernel's arguments are pairs, in the order in which the loop is told of them but for the first, which is the size of the results.
_PAIRS = ("k", "s", "p", "d", "o")


def _pair(f: Function, given: str) -> list[str]:
    """Go on only with a tuple of two numbers that are neither negative nor large."""
    room = f.reserve("i64", DIMENSIONS)
    need(f, same(f, numbers_of(f, given, room), "2", "i64"))
    pair = [at(f, room, str(k)) for k in range(2)]
    for each in pair:
        need(f, f.op("icmp ult", "i64", each, str(WORK)))
    return pair


def _largest() -> Function:
    """x, then the sizes of windows, strides, padding, dilation and results: the largest numbers, and their places."""
    f, (x, *given) = begin("largest_of_windows", 6)
    need(f, same(f, of(f, x, TYPE), api(f, "array_type")))
    need(f, adjacent(f, x))
    descr, dims, ndim = of(f, x, DESCR), of(f, x, DIMS), ndim_of(f, x)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    need(f, f.op("or", "i1", single, double))
    need(f, f.op("icmp ult", "i64", f.op("sub", "i64", ndim, "2"), str(DIMENSIONS - 2)))
    images = f.op(
        "icmp ult", "i64", f.op("sub", "i64", ndim, "4"), "2"
    )  # whose one channel may lie as if they were many
    with f.when(images):
        strides = of(f, x, STRIDES)
        need(f, f.op("icmp sgt", "i64", at(f, strides, "1"), at(f, strides, f.op("sub", "i64", ndim, "1"))))
    pairs = dict(zip(_PAIRS, [_pair(f, each) for each in given], strict=True))
    lead = f.op("sub", "i64", ndim, "2")
    planes = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 {lead})")
    of_windows, of_results = (f.op("mul", "i64", *pairs[word]) for word in "ko")
    few(f, f.let(f"call i64 @size_of(ptr {x})"), of_windows, of_results, f.op("mul", "i64", planes, of_results))
    few(f, f.op("mul", "i64", of_windows, f.op("mul", "i64", planes, of_results)), *pairs["s"], *pairs["d"])
    shape = f.reserve("i64", DIMENSIONS)
    with f.counted("0", lead) as k:
        f.store("i64", at(f, dims, k), f.element(shape, k, "i64"))
    sizes = {"count": planes, "per": planes}
    for axis, k, after in (("h", 0, "0"), ("w", 1, "1")):
        place = f.op("add", "i64", lead, after)
        f.store("i64", pairs["o"][k], f.element(shape, place, "i64"))
        sizes |= {axis: at(f, dims, place)} | {f"{word}_{axis}": pairs[word][k] for word in _PAIRS}
    best = new_array(f, descr, ndim, shape)
    places = new_array(f, f.load("ptr", f.element("%card", str(INT64), "i64")), ndim, shape)
    arrays = {"x": of(f, x, DATA), "out": of(f, best, DATA), "places": of(f, places, DATA), "parallel": "null"}
    context = f.reserve("i64", len(pooling_text.FIELDS))
    for k, name in enumerate(pooling_text.FIELDS):
        f.store("ptr" if name in arrays else "i64", (arrays | sizes)[name], f.element(context, str(k), "i64"))
    for kind, scalar in ((single, "float"), (double, "double")):
        with f.when(kind):
            f.line(f"call void @largest_{scalar}_chunk(ptr {context}, i64 0)")
    give_both(f, best, places)
    return f


KERNELS = {"max_pool2d": "direct_largest_of_windows"}
ENTRIES = {"direct_largest_of_windows": "largest_of_windows"}


def functions() -> list[Function]:
    """All functions."""
    return [pooling_text.largest("float"), pooling_text.largest("double"), _largest()]
