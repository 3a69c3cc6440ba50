"""Compiled kernels as builtin functions of Python: on small arrays most of a call is the call.

NOTE [Direct calls]: NumPy's ufuncs cost 0.35 µs however small the arrays, Python around them more. `direct(self, args, n, names)` is
what CPython calls for a builtin with positional arguments (METH_FASTCALL): compiled once for all kernels, it reads a *card*, which
stands in the memory of `self`, an array of int64. A card lists versions of one kernel: which types and parameters each is for, and the
plan of its loop (runtime.py). The first version that fits is run: adjacent arrays of one shape, numbers, a gradient that is one
number in all places; for rows also one row for all. Beside an adjacent array a small one may be spread or sliced: it is brought
together first, as is a small one of which all elements are added up, however it lies. Elements that broadcast or lie apart otherwise are
brought together block by block (strided.py). Whatever else comes (another order, other types) is handed to the card's `otherwise`, an
ordinary Python function, which knows everything.

A long loop runs without Python's lock, and on several threads. Floating-point errors are told as NumPy would (kernels/quiet.py).
"""

from __future__ import annotations

from . import reading
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
    answer,
    api,
    every,
    of,
    same,
    set_api,
    when_not,
)
from .gathering import BEYOND
from .plan import MOST, SIZES, at, field
from .pool import clear_flags, flags
from .reading import BROUGHT, ROOM, refuse
from .text import Function

# A version on the card: the plan of its loop, then these.
ARGUMENTS, FORM, RESULTS, LONG, LEAST, LARGEST = range(SIZES + MOST, SIZES + MOST + 6)
EXPECTED = LARGEST + 1  # three words for each argument: what it must be, the object that says so, how many dimensions
MADE = EXPECTED + 3 * MOST  # two words for each result: its type, and its form
VERSION = MADE + 2 * MOST  # words of a version
OTHERWISE, COUNT, FIRST = range(3)  # a card: the function for all else, how many versions, the first

# What an argument must be: an array with one element for each of the loop's, one per row, the same object, the same number, a
# tuple of one object.
AN_ARRAY, PER_ROW, THE_OBJECT, THE_NUMBER, A_TUPLE_OF = range(5)
# What the loop goes over: elements, rows (the last dimension), or everything as one row.
BY_ELEMENTS, BY_ROWS, AS_ONE_ROW = range(3)
# Results: like the first array, one per row, or one per row with a last dimension of size 1.
LIKE_THE_FIRST, ONE_PER_ROW, ONE_PER_ROW_KEPT = range(3)

ERRORS = "13"  # of the processor's flags: invalid, division by zero, overflow


def _expected() -> Function:
    """Is an argument what a version expects?"""
    f = Function("expected", "i64", "ptr expected", "ptr argument", linkage="internal")
    what, value, ndim = (at(f, "%expected", str(k)) for k in range(3))
    kind = of(f, "%argument", TYPE)
    with f.when(f.op("icmp sle", "i64", what, str(PER_ROW))):
        refuse(f, same(f, kind, api(f, "array_type")))
        refuse(f, same(f, of(f, "%argument", DESCR, "i64"), value, "i64"))
        has = f.cast("sext", "i32", of(f, "%argument", NDIM, "i32"), "i64")
        right = f.op("or", "i1", f.op("icmp slt", "i64", ndim, "0"), same(f, has, ndim, "i64"))
        f.line(f"ret i64 {f.cast('zext', 'i1', right, 'i64')}")
        f.begin(*f.labels("unreachable"))
    with f.when(same(f, what, str(THE_NUMBER), "i64")):
        refuse(f, same(f, kind, api(f, "float_type")))
        right = same(f, of(f, "%argument", SIZE, "i64"), value, "i64")
        f.line(f"ret i64 {f.cast('zext', 'i1', right, 'i64')}")
        f.begin(*f.labels("unreachable"))
    with f.when(same(f, what, str(A_TUPLE_OF), "i64")):
        refuse(f, same(f, kind, api(f, "tuple_type")))
        refuse(f, same(f, of(f, "%argument", SIZE, "i64"), "1", "i64"))
        right = same(f, of(f, "%argument", ITEM, "i64"), value, "i64")
        f.line(f"ret i64 {f.cast('zext', 'i1', right, 'i64')}")
        f.begin(*f.labels("unreachable"))
    found = same(f, f.cast("ptrtoint", "ptr", "%argument", "i64"), value, "i64")
    f.end(f"i64 {f.cast('zext', 'i1', found, 'i64')}")
    return f


def _fitting() -> Function:
    """The version of a card that is for these arguments; null if there is none."""
    f = Function("fitting", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    version = f.variable("ptr", f.element("%card", str(FIRST), "i64"))
    with f.counted("0", field(f, "%card", COUNT)):
        here = version.get()
        right = f.variable("i64", f.cast("zext", "i1", same(f, field(f, here, ARGUMENTS), "%count", "i64"), "i64"))
        k = f.variable("i64", "0")
        with f.forever() as done:
            f.leave_when(f.op("icmp eq", "i64", right.get(), "0"), done)
            f.leave_when(f.op("icmp sge", "i64", k.get(), "%count"), done)
            words = f.element(here, f.op("add", "i64", f.op("mul", "i64", k.get(), "3"), str(EXPECTED)), "i64")
            argument = f.load("ptr", f.element("%args", k.get(), "ptr"))
            right.set(f.let(f"call i64 @expected(ptr {words}, ptr {argument})"))
            k.set(f.op("add", "i64", k.get(), "1"))
        with f.when(f.op("icmp ne", "i64", right.get(), "0")):
            f.line(f"ret ptr {here}")
            f.begin(*f.labels("unreachable"))
        version.set(f.element(here, str(VERSION), "i64"))
    f.end("ptr null")
    return f


def _first_array() -> Function:
    """The argument whose shape is that of the loop: the first of those with the most dimensions and elements, or null."""
    f = Function("first_array", "ptr", "ptr version", "ptr args", "i64 count", linkage="internal")
    best, most = f.variable("ptr", "null"), f.variable("i64", "-1")
    with f.counted("0", "%count") as k:
        what = at(f, "%version", f.op("add", "i64", f.op("mul", "i64", k, "3"), str(EXPECTED)))
        with f.when(same(f, what, str(AN_ARRAY), "i64")):
            argument = f.load("ptr", f.element("%args", k, "ptr"))
            ndim = f.cast("sext", "i32", of(f, argument, NDIM, "i32"), "i64")
            rank = f.op("add", "i64", f.op("shl", "i64", ndim, "48"), f.let(f"call i64 @size_of(ptr {argument})"))
            with f.when(f.op("icmp sgt", "i64", rank, most.get())):
                most.set(rank)
                best.set(argument)
    f.end(f"ptr {best.get()}")
    return f


def _new_result() -> Function:
    """A new array for a result."""
    f = Function("new_result", "ptr", "ptr descr", "i64 form", "i64 way", "ptr first", linkage="internal")
    own = f.reserve("i64", 64)
    ndim, dims = of(f, "%first", NDIM, "i32"), of(f, "%first", DIMS)
    count = f.cast("sext", "i32", ndim, "i64")
    f.line(f"call void {api(f, 'incref')}(ptr %descr)")

    def made(dimensions: str, places: str) -> None:
        kind = api(f, "array_type")
        arguments = f"ptr {kind}, ptr %descr, i32 {dimensions}, ptr {places}, ptr null, ptr null, i32 0, ptr null"
        new = api(f, "new_array")
        f.line(f"ret ptr {f.let(f'call ptr {new}({arguments})')}")
        f.begin(*f.labels("unreachable"))

    with f.when(same(f, "%form", str(LIKE_THE_FIRST), "i64")):
        made(ndim, dims)
    with f.when(same(f, "%way", str(AS_ONE_ROW), "i64")):
        made("0", dims)
    with f.when(same(f, "%form", str(ONE_PER_ROW), "i64")):
        made(f.op("sub", "i32", ndim, "1"), dims)
    last = f.op("sub", "i64", count, "1")
    with f.counted("0", last) as k:
        f.store("i64", at(f, dims, k), f.element(own, k, "i64"))
    f.store("i64", "1", f.element(own, last, "i64"))
    made(ndim, own)
    f.end("ptr null")
    return f


def _may_write() -> Function:
    """Can a loop over elements write its results here? Into an array like the first, apart from all inputs or in place of one."""
    parameters = (
        "ptr target",
        "ptr descr",
        "ptr first",
        "i64 elements",
        "i64 size",
        "ptr places",
        "ptr steps",
        "ptr version",
    )
    f = Function("may_write", "i64", *parameters, linkage="internal")
    refuse(f, same(f, of(f, "%target", TYPE), api(f, "array_type")))
    refuse(f, same(f, of(f, "%target", DESCR), "%descr"))
    refuse(f, adjacent(f, "%target", WRITEABLE))
    refuse(f, f.op("icmp ne", "i64", f.let("call i64 @same_dims(ptr %target, ptr %first)"), "0"))
    here = of(f, "%target", DATA, "i64")
    end = f.op("add", "i64", here, f.op("mul", "i64", "%elements", "%size"))
    with f.counted("0", field(f, "%version", 1)) as k:
        there, step = at(f, "%places", k), at(f, "%steps", k)
        size = at(f, "%version", f.op("add", "i64", k, str(SIZES)))
        extent = f.call("llvm.smax.i64", "i64", f"i64 {f.op('mul', 'i64', step, '%elements')}", f"i64 {size}")
        apart = f.op(
            "or",
            "i1",
            f.op("icmp sge", "i64", there, end),
            f.op("icmp sle", "i64", f.op("add", "i64", there, extent), here),
        )
        each = f.op("or", "i1", same(f, step, "%size", "i64"), same(f, "%elements", "1", "i64"))
        in_place = every(f, same(f, there, here, "i64"), each)
        refuse(f, f.op("or", "i1", apart, in_place))
    f.end("i64 1")
    return f


def _places(f: Function, first: str, elements: str, length: str, places: str, steps: str) -> tuple[str, str]:
    """Note where the arguments' arrays lie, and their steps. Gives how many there are, and whether any moves."""
    count, moves = f.variable("i64", "0"), f.variable("i1", "false")
    one_row = same(f, field(f, "%version", FORM), str(AS_ONE_ROW), "i64")
    adjacent_ones, brought, room = (
        f.variable("i1", "false"),
        f.variable("i64", "0"),
        f.reserve("i8", BROUGHT * ROOM * 8 + BEYOND),
    )
    with f.counted("0", "%count") as k:
        what = at(f, "%version", f.op("add", "i64", f.op("mul", "i64", k, "3"), str(EXPECTED)))
        with f.when(f.op("icmp sle", "i64", what, str(PER_ROW))):
            array, number = f.load("ptr", f.element("%args", k, "ptr")), count.get()
            size = at(f, "%version", f.op("add", "i64", number, str(SIZES)))
            arguments = f"ptr {array}, ptr {first}, i64 {size}, i64 {length}, i64 {what}"
            step, place = (
                f.variable("i64", f.let(f"call i64 @step_of({arguments})")),
                f.variable("ptr", of(f, array, DATA)),
            )
            spread = every(f, one_row, same(f, step.get(), "0", "i64"))  # (it would have to be as long as the first)
            step.set(f.let(f"select i1 {spread}, i64 -1, i64 {step.get()}"))
            adjacent_ones.set(f.op("or", "i1", adjacent_ones.get(), f.op("icmp sgt", "i64", step.get(), "0")))
            with f.when(f.op("icmp slt", "i64", step.get(), "0"), rarely=True):
                decline(f, f.op("or", "i1", one_row, same(f, length, "0", "i64")))
                decline(f, f.op("icmp slt", "i64", brought.get(), str(BROUGHT)))
                place.set(f.offset(room, f.op("mul", "i64", brought.get(), str(ROOM * 8))))
                brought.set(f.op("add", "i64", brought.get(), "1"))
                arguments = f"ptr {array}, ptr {first}, i64 {elements}, i64 {size}, ptr {place.get()}, i1 {one_row}"
                decline(f, f.op("icmp ne", "i64", f.let(f"call i64 @brought({arguments})"), "0"))
                step.set(size)
            f.store("ptr", place.get(), f.element(places, number, "i64"))
            f.store("i64", step.get(), f.element(steps, number, "i64"))
            moves.set(f.op("or", "i1", moves.get(), f.op("icmp ne", "i64", step.get(), "0")))
            count.set(f.op("add", "i64", number, "1"))
    # The result lies as an adjacent argument does: there must be one, unless the result is one number.
    nothing_brought = same(f, brought.get(), "0", "i64")
    decline(f, f.op("or", "i1", one_row, f.op("or", "i1", adjacent_ones.get(), nothing_brought)))
    return count.get(), moves.get()


def decline(f: Function, condition: str) -> None:
    """Decline where the condition does not hold."""
    when_not(f, condition, f"ptr {DECLINED}")


def _attempt(x86: bool) -> Function:
    """Run a version: the result, null with an exception, or `DECLINED`."""
    f = Function("attempt", "ptr", "ptr version", "ptr args", "i64 count", "ptr out", linkage="internal")
    places, steps, made = f.reserve("i64", MOST), f.reserve("i64", 2 * MOST), f.reserve("ptr", MOST)
    extents = f.reserve("i64", 2)
    way, results = field(f, "%version", FORM), field(f, "%version", RESULTS)
    elementwise = same(f, way, str(BY_ELEMENTS), "i64")
    writing = f.op("icmp ne", "ptr", "%out", "null")
    decline(f, f.op("or", "i1", elementwise, f.op("xor", "i1", writing, "true")))
    first = f.let("call ptr @first_array(ptr %version, ptr %args, i64 %count)")
    decline(f, f.op("icmp ne", "ptr", first, "null"))
    elements = f.let(f"call i64 @size_of(ptr {first})")
    decline(f, f.op("icmp sge", "i64", elements, field(f, "%version", LEAST)))
    decline(f, f.op("icmp sle", "i64", elements, field(f, "%version", LARGEST)))
    length = f.variable("i64", "0")
    with f.when(same(f, way, str(AS_ONE_ROW), "i64")):
        length.set(elements)
    with f.when(same(f, way, str(BY_ROWS), "i64")):
        last = f.op("sub", "i64", f.cast("sext", "i32", of(f, first, NDIM, "i32"), "i64"), "1")
        decline(f, f.op("icmp sge", "i64", last, "0"))
        length.set(at(f, of(f, first, DIMS), last))
    inputs, moves = _places(f, first, elements, length.get(), places, steps)
    decline(f, f.op("or", "i1", moves, f.op("icmp sle", "i64", elements, "1")))
    _results(f, first, elements, length.get(), inputs, places, steps, made)
    clear_flags(f, x86)
    long = f.op("icmp sge", "i64", elements, field(f, "%version", LONG))
    thread = f.variable("ptr", "null")
    with f.when(long):
        thread.set(f.let(f"call ptr {api(f, 'save_thread')}()"))
    with f.when(elementwise):
        with f.when(long):
            f.store("i64", elements, extents)
            f.line(f"call void @elements(ptr {places}, ptr {extents}, ptr {steps}, ptr %version)")
        with f.when(f.op("xor", "i1", long, "true")):
            f.line(f"call void @range(ptr %version, ptr {places}, ptr {steps}, i64 0, i64 {elements})")
    with f.when(f.op("xor", "i1", elementwise, "true")):
        f.store("i64", f.op("sdiv", "i64", elements, length.get()), extents)
        f.store("i64", length.get(), f.element(extents, "1", "i64"))
        f.line(f"call void @rows(ptr {places}, ptr {extents}, ptr {steps}, ptr %version)")
    with f.when(long):
        f.line(f"call void {api(f, 'restore_thread')}(ptr {thread.get()})")
    errors = f.op("and", "i64", flags(f, x86), ERRORS)
    with f.when(f.op("icmp ne", "i64", errors, "0"), rarely=True):
        tell(f, errors, made, results, writing)
    with f.when(writing):
        f.line(f"call void {api(f, 'incref')}(ptr %out)")
        f.line("ret ptr %out")
        f.begin(*f.labels("unreachable"))
    with f.when(same(f, results, "1", "i64")):
        f.line(f"ret ptr {f.load('ptr', made)}")
        f.begin(*f.labels("unreachable"))
    pack = f.let(f"call ptr {api(f, 'new_tuple')}(i64 {results})")
    with f.counted("0", results) as k:
        item = f.load("ptr", f.element(made, k, "ptr"))
        f.let(f"call i32 {api(f, 'set_item')}(ptr {pack}, i64 {k}, ptr {item})")
    f.end(f"ptr {pack}")
    return f


def tell(f: Function, errors: str, made: str, results: str, writing: str) -> None:
    """Tell Python of floating-point errors. It may raise an exception: then there is no result."""
    number = f.let(f"call ptr {api(f, 'from_int64')}(i64 {errors})")
    given = f.reserve("ptr")
    f.store("ptr", number, given)
    answer = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {api(f, 'float_errors')}, ptr {given}, i64 1, ptr null)")
    f.line(f"call void {api(f, 'decref')}(ptr {number})")
    with f.when(f.op("icmp eq", "ptr", answer, "null")):
        with f.when(f.op("xor", "i1", writing, "true")), f.counted("0", results) as k:
            f.line(f"call void {api(f, 'decref')}(ptr {f.load('ptr', f.element(made, k, 'ptr'))})")
        f.line("ret ptr null")
        f.begin(*f.labels("unreachable"))
    f.line(f"call void {api(f, 'decref')}(ptr {answer})")


def _results(
    f: Function, first: str, elements: str, length: str, inputs: str, places: str, steps: str, made: str
) -> None:
    """Note where results go: into new arrays, or those that `out` names."""
    way, results = field(f, "%version", FORM), field(f, "%version", RESULTS)
    with f.counted("0", results) as k:
        words = f.op("add", "i64", f.op("mul", "i64", k, "2"), str(MADE))
        descr = f.load("ptr", f.element("%version", words, "i64"))
        form = at(f, "%version", f.op("add", "i64", words, "1"))
        number = f.op("add", "i64", inputs, k)
        size = at(f, "%version", f.op("add", "i64", number, str(SIZES)))
        target = f.variable("ptr", "%out")
        with f.when(f.op("icmp ne", "ptr", "%out", "null")):
            with f.when(same(f, of(f, "%out", TYPE), api(f, "tuple_type"))):
                decline(f, f.op("icmp slt", "i64", k, of(f, "%out", SIZE, "i64")))
                target.set(f.load("ptr", f.element(f.offset("%out", str(ITEM)), k, "ptr")))
            arguments = f"ptr {target.get()}, ptr {descr}, ptr {first}, i64 {elements}, i64 {size}"
            may = f.let(f"call i64 @may_write({arguments}, ptr {places}, ptr {steps}, ptr %version)")
            decline(f, f.op("icmp ne", "i64", may, "0"))
        with f.when(f.op("icmp eq", "ptr", "%out", "null")):
            new = f.let(f"call ptr @new_result(ptr {descr}, i64 {form}, i64 {way}, ptr {first})")
            with f.when(f.op("icmp eq", "ptr", new, "null"), rarely=True):
                with f.counted("0", k) as j:
                    f.line(f"call void {api(f, 'decref')}(ptr {f.load('ptr', f.element(made, j, 'ptr'))})")
                f.line("ret ptr null")
                f.begin(*f.labels("unreachable"))
            target.set(new)
            f.store("ptr", new, f.element(made, k, "ptr"))
        f.store("i64", of(f, target.get(), DATA, "i64"), f.element(places, number, "i64"))
        step = f.variable("i64", size)
        by_rows = f.op("and", "i1", f.op("icmp ne", "i64", length, "0"), same(f, form, str(LIKE_THE_FIRST), "i64"))
        with f.when(by_rows):
            step.set(f.op("mul", "i64", size, length))
        f.store("i64", step.get(), f.element(steps, number, "i64"))


def _direct() -> Function:
    """What CPython calls."""
    f = Function("direct", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, out = of(f, "%self", DATA), f.variable("ptr", "null")
    result = f.variable("ptr", DECLINED)
    known = f.variable("i1", f.op("icmp eq", "ptr", "%names", "null"))
    with f.when(f.op("icmp ne", "ptr", "%names", "null")):
        one = same(f, of(f, "%names", SIZE, "i64"), "1", "i64")
        known.set(every(f, one, same(f, of(f, "%names", ITEM), api(f, "out"))))
        with f.when(known.get()):
            out.set(f.load("ptr", f.element("%args", "%count", "ptr")))
    with f.when(known.get()):
        version = f.let(f"call ptr @fitting(ptr {card}, ptr %args, i64 %count)")
        with f.when(f.op("icmp ne", "ptr", version, "null")):
            result.set(f.let(f"call ptr @attempt(ptr {version}, ptr %args, i64 %count, ptr {out.get()})"))
            with f.when(f.op("icmp eq", "ptr", result.get(), DECLINED)):
                arguments = f"ptr {version}, ptr %args, i64 %count, ptr {out.get()}"
                result.set(f.let(f"call ptr @attempt_strided({arguments})"))
    return answer(f, card, result)


def functions(x86: bool) -> list[Function]:
    """All functions."""
    parts = [set_api(), _expected(), _fitting(), *reading.functions(), _first_array(), _new_result(), _may_write()]
    return [*parts, _attempt(x86), _direct()]
