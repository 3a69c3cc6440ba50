"""Random numbers drawn straight into what an object holds, or into a new one: of PyTorch's sequence, from few words (writes.py has the cards)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .api import DATA, TYPE, api, every, of, same, when_not
from .holding import put
from .layouts import GROUPED, MOST
from .plan import at
from .text import Function, literal
from .views import Card, own
from .writes import ACQUIRE, ADVANCE, ALSO, BLOCK, LOCK, NORMAL, RELEASE, SOURCE, USED, WHOLE, Loop, give_none

FEW = 512  # random numbers that are drawn here at most
NARROW = 1 << 28  # whole numbers are drawn of one word each where they are one of fewer
_BLOCK = 624  # words that a source has at a time
_NO = "i64 0"


def _as_units(f: Function, words: str, first: str, to: str, count: str) -> None:
    with f.counted("0", count) as i:
        word = f.load("i32", f.element(words, f.op("add", "i64", first, i), "i32"), 4)
        unit = f.cast("sitofp", "i32", f.op("and", "i32", word, str(0xFFFFFF)), "float")
        place = f.element("%target", f.op("add", "i64", to, i), "float")
        f.store("float", f.op("fmul", "float", unit, literal("float", 2.0**-24)), place, 4)


def _as_words(f: Function, words: str, first: str, to: str, count: str) -> None:
    source, target = f.element(words, first, "i32"), f.element("%target", to, "i32")
    bytes_ = f.op("mul", "i64", count, "4")
    f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {target}", f"ptr {source}", f"i64 {bytes_}", "i1 false")


def _source_read(name: str, read: Callable[[Function, str, str, str, str], None]) -> Function:
    """The next words of a source, as they are or as float32 in [0, 1): 0 where somebody else draws just now."""
    f = Function(name, "i64", "ptr card", "ptr source", "ptr target", "i64 count", linkage="internal")
    card, given = Card(f), f.reserve("ptr", 2)
    when_not(f, same(f, of(f, "%source", TYPE), card.thing(SOURCE)), _NO)
    lock = card.in_("%source", LOCK)
    f.store("ptr", lock, given)
    f.store("ptr", api(f, "false"), f.element(given, "1", "ptr"))
    got = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(ACQUIRE)}, ptr {given}, i64 2, ptr null)")
    with f.when(same(f, got, "null"), rarely=True):
        f.line(f"call void {api(f, 'clear_error')}()")
        f.line(f"ret {_NO}")
        f.begin(*f.labels("unreachable"))
    f.line(f"call void {api(f, 'decref')}(ptr {got})")
    when_not(f, same(f, got, api(f, "true")), _NO)
    beyond, done = f.reserve("i32"), f.variable("i64", "0")
    used = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {card.in_('%source', USED)}, ptr {beyond})")
    left = f.call("llvm.smin.i64", "i64", f"i64 {f.op('sub', 'i64', str(_BLOCK), used)}", "i64 %count")
    read(f, of(f, card.in_("%source", BLOCK), DATA), used, "0", left)
    end = f.variable("i64", f.op("add", "i64", used, left))
    enough = same(f, left, "%count", "i64")
    with f.when(enough):
        done.set("1")
    with f.when(f.op("xor", "i1", enough, "true"), rarely=True):
        f.store("ptr", "%source", given)
        moved = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(ADVANCE)}, ptr {given}, i64 1, ptr null)")
        with f.when(same(f, moved, "null")):
            f.line(f"call void {api(f, 'clear_error')}()")
        with f.when(f.op("icmp ne", "ptr", moved, "null")):
            f.line(f"call void {api(f, 'decref')}(ptr {moved})")
            more = f.op("sub", "i64", "%count", left)
            read(f, of(f, card.in_("%source", BLOCK), DATA), "0", left, more)
            end.set(more)
            done.set("1")
        f.store("ptr", lock, given)
    with f.when(f.op("icmp ne", "i64", done.get(), "0")):
        put(f, "%source", card[USED], f.let(f"call ptr {api(f, 'from_int64')}(i64 {end.get()})"), True)
    freed = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(RELEASE)}, ptr {given}, i64 1, ptr null)")
    f.line(f"call void {api(f, 'decref')}(ptr {freed})")
    f.end(f"i64 {done.get()}")
    return f


def _draw(name: str, together: int) -> Function:
    """Random numbers of PyTorch's, from few words: between two numbers, or normal ones, sixteen at a time."""
    loop = Loop(name, 3)
    f, card = loop.f, Card(loop.f)
    first, second = (loop.finite(loop.argument(k)) for k in range(2))
    least = first if together == 1 else literal("double", 0)
    loop.need(f.op("fcmp oge", "double", second, least))
    loop.need(every(f, "%single", f.op("icmp ule", "i64", "%elements", str(FEW))))
    times = f.op("udiv", "i64", "%elements", str(together))
    loop.need(same(f, f.op("mul", "i64", times, str(together)), "%elements", "i64"))
    place = of(f, "%array", DATA)
    given = f"ptr %card, ptr {loop.argument(2)}, ptr {place}, i64 %elements"
    loop.need(f.op("icmp ne", "i64", f.let(f"call i64 @units_drawn({given})"), "0"))
    low, high = (f.cast("fptrunc", "double", value, "float") for value in (first, second))
    f.line(f"call void {card.thing(ALSO)}(ptr {place}, i64 {times}, float {low}, float {high})")
    return loop.end()


def _drawn() -> Function:
    """What CPython calls for a new object of random float32: a source and sizes. None where that is not for here."""
    f = Function("direct_drawn", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, numbers, grouped = Card(f, of(f, "%self", DATA)), f.reserve("i64", MOST + 1), f.reserve("i64", GROUPED + 1)
    f.store("i64", "-1", f.element(grouped, str(GROUPED), "i64"))
    miss = partial(give_none, f)
    miss(every(f, same(f, "%names", "null"), same(f, "%count", "2", "i64")))
    ndim = f.let(f"call i64 @numbers_given(ptr {grouped}, ptr {f.offset('%args', '8')}, i64 1, ptr {numbers})")
    miss(f.op("icmp sge", "i64", ndim, "0"))
    elements = f.variable("i64", "1")
    with f.counted("0", ndim) as d:
        miss(f.op("icmp ule", "i64", at(f, numbers, d), str(FEW)))
        elements.set(f.op("mul", "i64", elements.get(), at(f, numbers, d)))
        miss(f.op("icmp ule", "i64", elements.get(), str(FEW)))
    several = elements.get()
    groups, normal = f.op("udiv", "i64", several, "16"), f.op("icmp ne", "i64", card[NORMAL], "0")
    whole = same(f, f.op("mul", "i64", groups, "16"), several, "i64")
    miss(f.op("icmp ugt", "i64", several, "0"))
    miss(f.op("or", "i1", whole, f.op("xor", "i1", normal, "true")))
    descr = own(f, api(f, "float32"))
    given = f"ptr {api(f, 'array_type')}, ptr {descr}, i32 {f.cast('trunc', 'i64', ndim, 'i32')}, ptr {numbers}"
    made = f.let(f"call ptr {api(f, 'new_array')}({given}, ptr null, ptr null, i32 0, ptr null)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    place, source = of(f, made, DATA), f.load("ptr", "%args")
    drawn = f.let(f"call i64 @units_drawn(ptr {card.card}, ptr {source}, ptr {place}, i64 {several})")
    with f.when(same(f, drawn, "0", "i64")):
        f.line(f"call void {api(f, 'decref')}(ptr {made})")
        miss("false")
    with f.when(normal):
        zero, one = (literal("float", value) for value in (0, 1))
        f.line(f"call void {card.thing(ALSO)}(ptr {place}, i64 {groups}, float {zero}, float {one})")
    f.end(f"ptr {f.let(f'call ptr @around(ptr {made})')}")
    return f


def _whole_numbers_drawn() -> Function:
    """What CPython calls for a new object of whole numbers: a source, sizes, from where on, up to where. None where that is not for here."""
    f = Function("direct_drawn_whole", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, numbers, grouped = Card(f, of(f, "%self", DATA)), f.reserve("i64", MOST + 1), f.reserve("i64", GROUPED + 1)
    f.store("i64", "-1", f.element(grouped, str(GROUPED), "i64"))
    miss, limits, words = partial(give_none, f), [], f.reserve("i32", FEW)
    miss(every(f, same(f, "%names", "null"), same(f, "%count", "4", "i64")))
    for k in (2, 3):
        thing, beyond = f.load("ptr", f.element("%args", str(k), "ptr")), f.reserve("i32")
        miss(same(f, of(f, thing, TYPE), api(f, "int_type")))
        limits.append(f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {thing}, ptr {beyond})"))
        miss(
            every(
                f,
                same(f, f.load("i32", beyond), "0", "i32"),
                f.op("icmp ult", "i64", f.op("add", "i64", limits[-1], str(1 << 53)), str(1 << 54)),
            )
        )
    several = f.op("sub", "i64", limits[1], limits[0])
    miss(f.op("icmp ult", "i64", f.op("sub", "i64", several, "1"), str(NARROW - 1)))
    ndim = f.let(f"call i64 @numbers_given(ptr {grouped}, ptr {f.offset('%args', '8')}, i64 1, ptr {numbers})")
    miss(f.op("icmp sge", "i64", ndim, "0"))
    elements = f.variable("i64", "1")
    with f.counted("0", ndim) as d:
        miss(f.op("icmp ule", "i64", at(f, numbers, d), str(FEW)))
        elements.set(f.op("mul", "i64", elements.get(), at(f, numbers, d)))
        miss(f.op("icmp ule", "i64", elements.get(), str(FEW)))
    miss(f.op("icmp ugt", "i64", elements.get(), "0"))
    descr = own(f, card.thing(WHOLE))
    given = f"ptr {api(f, 'array_type')}, ptr {descr}, i32 {f.cast('trunc', 'i64', ndim, 'i32')}, ptr {numbers}"
    made = f.let(f"call ptr {api(f, 'new_array')}({given}, ptr null, ptr null, i32 0, ptr null)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    source, target = f.load("ptr", "%args"), of(f, made, DATA)
    drawn = f.let(f"call i64 @words_drawn(ptr {card.card}, ptr {source}, ptr {words}, i64 {elements.get()})")
    with f.when(same(f, drawn, "0", "i64")):
        f.line(f"call void {api(f, 'decref')}(ptr {made})")
        miss("false")
    with f.counted("0", elements.get()) as i:
        word = f.cast("zext", "i32", f.load("i32", f.element(words, i, "i32"), 4), "i64")
        number = f.op("add", "i64", f.op("urem", "i64", word, several), limits[0])
        f.store("i64", number, f.element(target, i, "i64"), 8)
    f.end(f"ptr {f.let(f'call ptr @around(ptr {made})')}")
    return f


def _nothing() -> Function:
    """Of what is only drawn here, nothing is written."""
    loop = Loop("nothing", 0)
    loop.need("false")
    return loop.end()


def functions() -> list[Function]:
    """All functions."""
    read = [_source_read("units_drawn", _as_units), _source_read("words_drawn", _as_words)]
    loops = [_nothing(), _draw("uniform", 1), _draw("normal", 16)]
    return [*read, *loops, _drawn(), _whole_numbers_drawn()]
