"""Numbers that are drawn few at a time, made of uniform ones in place: loops of normals.py, called directly (NOTE [Direct calls]).

The card knows the loop, and how many numbers it makes at a time. Other arguments go elsewhere.
"""

from __future__ import annotations

from .api import DATA, DECLINED, DESCR, SIZE, TYPE, WRITEABLE, adjacent, api, entry, every, of, same, when_not
from .plan import field
from .text import Function

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


def functions() -> list[Function]:
    """All functions."""
    return [_made(), entry("direct_draw", "drawn")]
