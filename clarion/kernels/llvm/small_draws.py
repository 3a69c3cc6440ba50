"""Numbers that are drawn few at a time, called directly (NOTE [Direct calls]): made of uniform ones in place by loops of normals.py, or of words.

The card knows the loop, and how many numbers it makes at a time; for what is made of words, the types of words and of whole numbers. Other
arguments go elsewhere.
"""

from __future__ import annotations

from .api import (
    DATA,
    DECLINED,
    DESCR,
    DIMS,
    NDIM,
    SIZE,
    TYPE,
    WRITEABLE,
    adjacent,
    api,
    entry,
    every,
    new_array,
    of,
    same,
    when_not,
)
from .plan import field
from .small_arguments import DIMENSIONS, ndim_of, numbers_of, whole_number
from .text import Function, literal

OTHERWISE, LOOP, TOGETHER, WORDS = range(4)
WORK = 1 << 14  # numbers that are made here at most: others can wait that long
_NO = f"ptr {DECLINED}"


def _made() -> Function:
    """The array, whose numbers are others now, or `DECLINED`: `unit`, two numbers, and whatever follows."""
    f = Function("drawn", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    when_not(f, f.op("icmp sge", "i64", "%count", "3"), _NO)
    unit, *others = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(3))
    when_not(f, same(f, of(f, unit, TYPE), api(f, "array_type")), _NO)
    when_not(f, every(f, adjacent(f, unit, WRITEABLE), same(f, of(f, unit, DESCR), api(f, "float32"))), _NO)
    numbers = []
    for value in others:
        when_not(f, same(f, of(f, value, TYPE), api(f, "float_type")), _NO)
        numbers.append(f.cast("fptrunc", "double", of(f, value, SIZE, "double"), "float"))
    elements, together = f.let(f"call i64 @size_of(ptr {unit})"), field(f, "%card", TOGETHER)
    when_not(f, f.op("icmp sle", "i64", elements, str(WORK)), _NO)
    times = f.op("sdiv", "i64", elements, together)
    when_not(f, same(f, f.op("mul", "i64", times, together), elements, "i64"), _NO)
    loop = f.load("ptr", f.element("%card", str(LOOP), "i64"))
    f.line(f"call void {loop}(ptr {of(f, unit, DATA)}, i64 {times}, float {numbers[0]}, float {numbers[1]})")
    f.line(f"call void {api(f, 'incref')}(ptr {unit})")
    f.end(f"ptr {unit}")
    return f


# What is made of words: a card.
_, OF_WORDS, WHOLE, WORD_CARD = range(4)
_HIGH = 0x1FFFFF  # of two words that make a number of 53 bits, the bits of the first that count


def _begin(name: str, count: int) -> tuple[Function, list[str]]:
    """A function with so many arguments."""
    f = Function(name, "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    when_not(f, same(f, "%count", str(count), "i64"), _NO)
    return f, [f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(count)]


def _words(f: Function, array: str) -> tuple[str, str]:
    """Go on only with adjacent words: where they are, and how many."""
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), _NO)
    when_not(f, adjacent(f, array), _NO)
    when_not(f, same(f, of(f, array, DESCR, "i64"), field(f, "%card", OF_WORDS), "i64"), _NO)
    size = f.let(f"call i64 @size_of(ptr {array})")
    when_not(f, f.op("icmp sle", "i64", size, str(WORK)), _NO)
    return of(f, array, DATA), size


def _new(f: Function, descr: str, shape: str, elements: str) -> str:
    """Go on only with a tuple of sizes that make so many elements: a new array of that shape."""
    dims = f.reserve("i64", DIMENSIONS)
    ndim = numbers_of(f, shape, dims)
    with f.counted("0", ndim) as k:  # (so that their product is one)
        when_not(f, f.op("icmp ule", "i64", f.load("i64", f.element(dims, k, "i64")), str(WORK)), _NO)
    whole = f.let(f"call i64 @product_of(ptr {dims}, i64 0, i64 {ndim})")
    when_not(f, same(f, whole, elements, "i64"), _NO)
    return new_array(f, descr, ndim, dims)


def _factors() -> Function:
    """A factor (an array without dimensions) where a number of two words lies below a limit, and 0 elsewhere."""
    f, (array, limit, factor, shape) = _begin("factors_of_words", 4)
    words, size = _words(f, array)
    below, elements = whole_number(f, limit), f.op("lshr", "i64", size, "1")
    when_not(f, same(f, of(f, factor, TYPE), api(f, "array_type")), _NO)
    when_not(f, same(f, of(f, factor, NDIM, "i32"), "0", "i32"), _NO)
    descr = of(f, factor, DESCR)
    single, double = (same(f, descr, api(f, name)) for name in ("float32", "float64"))
    when_not(f, f.op("or", "i1", single, double), _NO)
    made = _new(f, descr, shape, elements)
    for condition, scalar in ((single, "float"), (double, "double")):
        with f.when(condition), f.counted("0", elements) as i:
            high, low = (
                f.cast(
                    "zext",
                    "i32",
                    f.load("i32", f.element(words, f.op("add", "i64", f.op("shl", "i64", i, "1"), k), "i32"), 4),
                    "i64",
                )
                for k in ("0", "1")
            )
            number = f.op("or", "i64", f.op("shl", "i64", f.op("and", "i64", high, str(_HIGH)), "32"), low)
            value = f.select(
                scalar,
                f.op("icmp ult", "i64", number, below),
                of(f, of(f, factor, DATA), 0, scalar),
                literal(scalar, 0),
            )
            f.store(scalar, value, f.element(of(f, made, DATA), i, scalar))
    f.end(f"ptr {made}")
    return f


def _remainders() -> Function:
    """What words leave when they are divided by a number, counted from another one, as int64."""
    f, (array, count, first, shape) = _begin("remainders_of_words", 4)
    (words, size), divisor, start = _words(f, array), whole_number(f, count), whole_number(f, first)
    when_not(f, f.op("icmp ult", "i64", f.op("sub", "i64", divisor, "1"), str((1 << 32) - 1)), _NO)
    made = _new(f, f.load("ptr", f.element("%card", str(WHOLE), "i64")), shape, size)
    narrow = f.cast("trunc", "i64", divisor, "i32")
    with f.counted("0", size) as i:
        left = f.op("urem", "i32", f.load("i32", f.element(words, i, "i32"), 4), narrow)
        f.store(
            "i64", f.op("add", "i64", f.cast("zext", "i32", left, "i64"), start), f.element(of(f, made, DATA), i, "i64")
        )
    f.end(f"ptr {made}")
    return f


def _floats(f: Function, array: str) -> tuple[str, str]:
    """Go on only with few adjacent float32: where they are, and how many."""
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), _NO)
    when_not(f, every(f, adjacent(f, array), same(f, of(f, array, DESCR), api(f, "float32"))), _NO)
    size = f.let(f"call i64 @size_of(ptr {array})")
    when_not(f, f.op("icmp sle", "i64", size, str(WORK)), _NO)
    return of(f, array, DATA), size


def _chances() -> Function:
    """Do all numbers lie between 0 and 1? True or False."""
    f, (array,) = _begin("chances_told", 1)
    (places, size), outside = _floats(f, array), f.variable("i1", "false")
    with f.counted("0", size) as i:
        chance = f.load("float", f.element(places, i, "float"), 4)
        limits = ((word, literal("float", limit)) for word, limit in (("fcmp oge", 0), ("fcmp ole", 1)))
        fits = every(f, *[f.op(word, "float", chance, limit) for word, limit in limits])
        outside.set(f.op("or", "i1", outside.get(), f.op("xor", "i1", fits, "true")))
    told = f.let(f"select i1 {outside.get()}, ptr {api(f, 'false')}, ptr {api(f, 'true')}")
    f.line(f"call void {api(f, 'incref')}(ptr {told})")
    f.end(f"ptr {told}")
    return f


def _hits() -> Function:
    """1 where the number of 24 bits in a word, as a part of all such numbers, lies below a chance of its own, else 0."""
    f, (array, chances) = _begin("hits_of_chances", 2)
    (words, count), (places, size) = _words(f, array), _floats(f, chances)
    when_not(f, same(f, size, count, "i64"), _NO)
    made = new_array(f, api(f, "float32"), ndim_of(f, chances), of(f, chances, DIMS))
    with f.counted("0", size) as i:
        chance = f.load("float", f.element(places, i, "float"), 4)
        number = f.op("and", "i32", f.load("i32", f.element(words, i, "i32"), 4), str(0xFFFFFF))
        unit = f.op("fmul", "float", f.cast("uitofp", "i32", number, "float"), literal("float", 2.0**-24))
        value = f.select("float", f.op("fcmp olt", "float", unit, chance), literal("float", 1), literal("float", 0))
        f.store("float", value, f.element(of(f, made, DATA), i, "float"))
    f.end(f"ptr {made}")
    return f


KERNELS = {
    "trial_factors": "direct_factors",
    "remainders": "direct_remainders",
    "are_chances": "direct_chances",
    "trials_each": "direct_hits",
}
ENTRIES = {
    "direct_factors": "factors_of_words",
    "direct_remainders": "remainders_of_words",
    "direct_chances": "chances_told",
    "direct_hits": "hits_of_chances",
}


def functions() -> list[Function]:
    """All functions."""
    made = [_factors(), _remainders(), _chances(), _hits(), *[entry(*each) for each in ENTRIES.items()]]
    return [_made(), entry("direct_draw", "drawn"), *made]
