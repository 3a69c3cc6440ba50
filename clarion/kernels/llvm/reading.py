"""How arguments of builtin functions are read: shapes, strides, and small arrays that are brought together (NOTE [Direct calls])."""

from __future__ import annotations

from .api import ALIGNED, DATA, DIMS, FLAGS, NDIM, STRIDES, adjacent, every, of, same, when_not
from .plan import at
from .text import Function

ROOM, BROUGHT = 2048, 3  # elements of an array that is brought together at most, and how many such arrays


def refuse(f: Function, condition: str, answer: str = "0") -> None:
    """Return `answer` where the condition does not hold."""
    when_not(f, condition, f"i64 {answer}")


def _same_dims() -> Function:
    """Have two arrays one shape?"""
    f = Function("same_dims", "i64", "ptr a", "ptr b", linkage="internal")
    ndim = of(f, "%a", NDIM, "i32")
    refuse(f, same(f, ndim, of(f, "%b", NDIM, "i32"), "i32"))
    a, b = of(f, "%a", DIMS), of(f, "%b", DIMS)
    with f.counted("0", f.cast("sext", "i32", ndim, "i64")) as k:
        refuse(f, same(f, at(f, a, k), at(f, b, k), "i64"))
    f.end("i64 1")
    return f


def _size() -> Function:
    """How many elements an array has."""
    f = Function("size_of", "i64", "ptr array", linkage="internal")
    dims, total = of(f, "%array", DIMS), f.variable("i64", "1")
    with f.counted("0", f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")) as k:
        total.set(f.op("mul", "i64", total.get(), at(f, dims, k)))
    f.end(f"i64 {total.get()}")
    return f


def _one_number() -> Function:
    """Does an array show one number in all places? (All strides are 0, as those of a gradient that was broadcast.)"""
    f = Function("one_number", "i64", "ptr array", linkage="internal")
    strides = of(f, "%array", STRIDES)
    with f.counted("0", f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")) as k:
        refuse(f, same(f, at(f, strides, k), "0", "i64"))
    aligned = f.op("and", "i32", of(f, "%array", FLAGS, "i32"), str(ALIGNED))
    f.end(f"i64 {f.cast('zext', 'i1', f.op('icmp ne', 'i32', aligned, '0'), 'i64')}")
    return f


def _step() -> Function:
    """How far to go in an array after each element (each row): 0, its size (a row's); -1 if it cannot be read so.

    `size`: bytes of an element; `length`: elements of a row, 0 where the loop goes over elements.
    """
    parameters = ("ptr array", "ptr first", "i64 size", "i64 length", "i64 per_row")
    f = Function("step_of", "i64", *parameters, linkage="internal")
    alike = f.let("call i64 @same_dims(ptr %array, ptr %first)")
    elements = f.let("call i64 @size_of(ptr %array)")
    by_elements = same(f, "%length", "0", "i64")
    one = f.op("icmp eq", "i32", of(f, "%array", NDIM, "i32"), "0")
    with f.when(f.op("xor", "i1", adjacent(f, "%array"), "true")):
        refuse(f, every(f, by_elements, f.op("icmp ne", "i64", alike, "0")), "-1")
        refuse(f, f.op("icmp ne", "i64", f.let("call i64 @one_number(ptr %array)"), "0"), "-1")
        f.line("ret i64 0")
        f.begin(*f.labels("unreachable"))
    with f.when(by_elements):
        with f.when(one):
            f.line("ret i64 0")
            f.begin(*f.labels("unreachable"))
        refuse(f, f.op("icmp ne", "i64", alike, "0"), "-1")
        f.line("ret i64 %size")
        f.begin(*f.labels("unreachable"))
    with f.when(f.op("icmp ne", "i64", "%per_row", "0")):  # as many as there are rows
        rows = f.op("sdiv", "i64", f.let("call i64 @size_of(ptr %first)"), "%length")
        refuse(f, same(f, elements, rows, "i64"), "-1")
        f.line("ret i64 %size")
        f.begin(*f.labels("unreachable"))
    with f.when(f.op("icmp ne", "i64", alike, "0")):
        f.line(f"ret i64 {f.op('mul', 'i64', '%size', '%length')}")
        f.begin(*f.labels("unreachable"))
    # One row for all: it has the last dimension, and no other.
    refuse(f, same(f, of(f, "%array", NDIM, "i32"), "1", "i32"), "-1")
    refuse(f, same(f, elements, "%length", "i64"), "-1")
    f.end("i64 0")
    return f


def _strides() -> Function:
    """How far an array goes along each dimension of the first one, if it can be spread to it and lies in the same order: 1, or 0.

    `any_order`: it may lie in another order, too (where the result has no dimensions that would have to follow it).
    """
    f = Function("strides_of", "i64", "ptr array", "ptr first", "ptr strides", "i1 any_order", linkage="internal")
    count = f.cast("sext", "i32", of(f, "%first", NDIM, "i32"), "i64")
    own = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")
    missing = f.op("sub", "i64", count, own)
    refuse(f, f.op("icmp sge", "i64", missing, "0"))
    wanted, dims, steps = of(f, "%first", DIMS), of(f, "%array", DIMS), of(f, "%array", STRIDES)
    last = f.variable("i64", "0")
    with f.counted("0", count) as k:
        d = f.op("sub", "i64", f.op("sub", "i64", count, "1"), k)
        step = f.variable("i64", "0")
        with f.when(f.op("icmp sge", "i64", d, missing)):
            here = f.op("sub", "i64", d, missing)
            size, full = at(f, dims, here), at(f, wanted, d)
            one = same(f, size, "1", "i64")
            refuse(f, f.op("or", "i1", one, same(f, size, full, "i64")))
            with f.when(f.op("xor", "i1", one, "true")):
                step.set(at(f, steps, here))
                moves = f.op("icmp ne", "i64", step.get(), "0")
                behind = f.op("icmp slt", "i64", step.get(), last.get())
                in_order = f.op("xor", "i1", f.op("and", "i1", moves, behind), "true")
                refuse(f, f.op("or", "i1", in_order, "%any_order"))
                with f.when(moves):
                    last.set(step.get())
        f.store("i64", step.get(), f.element("%strides", d, "i64"))
    f.end("i64 1")
    return f


def _brought() -> Function:
    """Bring the elements of an array together in the shape of the first one. Gives 1, or 0 if it cannot be done here."""
    parameters = ("ptr array", "ptr first", "i64 elements", "i64 size", "ptr room", "i1 any_order")
    f = Function("brought", "i64", *parameters, linkage="internal")
    strides, numbers = f.reserve("i64", 64), f.reserve("i64", 64)
    refuse(f, f.op("icmp sle", "i64", "%elements", str(ROOM)))
    found = f.let(f"call i64 @strides_of(ptr %array, ptr %first, ptr {strides}, i1 %any_order)")
    refuse(f, f.op("icmp ne", "i64", found, "0"))
    dims = of(f, "%first", DIMS)
    last = f.op("sub", "i64", f.cast("sext", "i32", of(f, "%first", NDIM, "i32"), "i64"), "1")
    with f.counted("0", last) as d:
        f.store("i64", "0", f.element(numbers, d, "i64"))
    length, step = at(f, dims, last), at(f, strides, last)
    far = f.variable("ptr", of(f, "%array", DATA))
    with f.counted("0", "%elements", length) as start:
        near = f.offset("%room", f.op("mul", "i64", start, "%size"))
        f.line(f"call void @gather(ptr {near}, ptr {far.get()}, i64 {step}, i64 {length}, i64 %size)")
        d = f.variable("i64", f.op("sub", "i64", last, "1"))
        with f.forever() as done:  # the next row: count up the last number, carry over
            now = d.get()
            f.leave_when(f.op("icmp slt", "i64", now, "0"), done)
            number = f.op("add", "i64", at(f, numbers, now), "1")
            far.set(f.offset(far.get(), at(f, strides, now)))
            f.store("i64", number, f.element(numbers, now, "i64"))
            f.leave_when(f.op("icmp slt", "i64", number, at(f, dims, now)), done)
            back = f.op("mul", "i64", at(f, strides, now), at(f, dims, now))
            far.set(f.offset(far.get(), f.op("sub", "i64", "0", back)))
            f.store("i64", "0", f.element(numbers, now, "i64"))
            d.set(f.op("sub", "i64", now, "1"))
    f.end("i64 1")
    return f


def functions() -> list[Function]:
    """All functions."""
    return [_same_dims(), _size(), _one_number(), _step(), _strides(), _brought()]
