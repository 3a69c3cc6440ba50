"""What builtins for small arrays ask of their arguments: so many, whole numbers in tuples, not much work; what is not for them is declined."""

from __future__ import annotations

from .api import DECLINED, ITEM, NDIM, SIZE, TYPE, api, every, of, same, when_not
from .text import Function

WORK = 1 << 14  # elements that are looked at at most
DIMENSIONS = 32  # of an array, at most


def begin(name: str, count: int) -> tuple[Function, list[str]]:
    """A function with so many arguments, which writes into a new array."""
    f = Function(name, "ptr", "ptr card", "ptr args", "i64 count", "ptr out", linkage="internal")
    need(f, every(f, same(f, "%count", str(count), "i64"), same(f, "%out", "null")))
    return f, [f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(count)]


def need(f: Function, condition: str) -> None:
    """Go on only where the condition holds."""
    when_not(f, condition, f"ptr {DECLINED}")


def few(f: Function, *counts: str) -> None:
    """Go on only with some elements, and not too many."""
    for count in counts:
        need(f, f.op("icmp ult", "i64", f.op("sub", "i64", count, "1"), str(WORK)))


def ndim_of(f: Function, array: str) -> str:
    """How many dimensions an array has."""
    return f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")


def whole_number(f: Function, value: str) -> str:
    """Go on only with a whole number of 64 bits."""
    beyond = f.reserve("i32")
    need(f, same(f, of(f, value, TYPE), api(f, "int_type")))
    number = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {value}, ptr {beyond})")
    need(f, same(f, f.load("i32", beyond), "0", "i32"))
    return number


def numbers_of(f: Function, thing: str, dims: str) -> str:
    """Go on only with a tuple of few whole numbers, which are noted: how many."""
    need(f, same(f, of(f, thing, TYPE), api(f, "tuple_type")))
    several = of(f, thing, SIZE, "i64")
    need(f, f.op("icmp sle", "i64", several, str(DIMENSIONS)))
    with f.counted("0", several) as k:
        item = f.load("ptr", f.element(f.offset(thing, str(ITEM)), k, "ptr"))
        f.store("i64", whole_number(f, item), f.element(dims, k, "i64"))
    return several


def give_both(f: Function, one: str, other: str) -> None:
    """The end of a function that gives two new arrays."""
    pair = f.let(f"call ptr {api(f, 'new_tuple')}(i64 2)")
    when_not(f, f.op("icmp ne", "ptr", pair, "null"), "ptr null")
    for k, item in enumerate((one, other)):
        f.let(f"call i32 {api(f, 'set_item')}(ptr {pair}, i64 {k}, ptr {item})")
    f.end(f"ptr {pair}")
