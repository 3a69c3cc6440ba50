"""Operands that broadcast or lie apart, called directly: boxes beside boxes, every other column, a number for each row and one for each column.

NumPy goes through the last dimension and calls a loop for each row, however short. Here blocks of elements are brought together in the
order of the result, computed by the kernel's body, and written where they belong. For each operand its own dimensions are joined where
they are one in memory; a short row whose elements lie together is copied as one element.

The result is contiguous: what lies in another order than its dimensions' is left to those who look at the order.
"""

from __future__ import annotations

from .api import ALIGNED, DATA, DESCR, DIMS, FLAGS, NDIM, STRIDES, TYPE, WRITEABLE, adjacent, api, every, of, same
from .direct import AN_ARRAY, BY_ELEMENTS, EXPECTED, FORM, LARGEST, LEAST, LONG, MADE, RESULTS, decline, tell
from .gathering import BEYOND, name_for
from .kernel import CHEAP, SHORT
from .plan import GRAIN, INPUTS, LANES, MOST, OPERANDS, SIZES, at, field
from .pool import chunks, clear_flags, flags
from .reading import refuse
from .text import Function

BLOCK = 512  # elements that are brought together at a time
_NDIM = 8  # dimensions, at most
_ROOM = 128  # bytes of one vector, at most
_ERRORS = "13"  # of the processor's flags: invalid, division by zero, overflow

# What is known of an operand: where it begins, how it is read, the size of what is copied at a time and how many elements that is, and
# its dimensions, the innermost first.
_BASE, _KIND, _SIZE, _PER, _COUNT, _DIMS, _STEPS = 0, 1, 2, 3, 4, 5, 5 + _NDIM
_WORDS = _STEPS + _NDIM
_ADJACENT, _STILL, _APART = range(3)  # how: side by side, one number, by its dimensions
_REFUSED, _TAKEN, _ROW_BY_ROW = range(3)  # whether: and if so, is it one row for all, or a number for each row?
_PLAN, _TABLE, _ELEMENTS, _CHUNK = range(4)  # what the threads share


def _put(f: Function, words: str, number: int | str, value: str, type_: str = "i64") -> None:
    f.store(type_, value, f.element(words, str(number), "i64"))


def _meeting() -> Function:
    """The shape of all arguments together: its number of dimensions, or -1."""
    f = Function("meeting", "i64", "ptr version", "ptr args", "i64 count", "ptr dims", linkage="internal")
    most = f.variable("i64", "0")

    def arrays(each: str) -> tuple[str, str, str]:
        array = f.load("ptr", f.element("%args", each, "ptr"))
        what = at(f, "%version", f.op("add", "i64", f.op("mul", "i64", each, "3"), str(EXPECTED)))
        return array, same(f, what, str(AN_ARRAY), "i64"), what

    with f.counted("0", "%count") as k:
        array, is_array, _ = arrays(k)
        with f.when(is_array):
            ndim = f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")
            most.set(f.call("llvm.smax.i64", "i64", f"i64 {most.get()}", f"i64 {ndim}"))
    refuse(f, f.op("icmp sle", "i64", most.get(), str(_NDIM)), "-1")
    with f.counted("0", most.get()) as d:
        f.store("i64", "1", f.element("%dims", d, "i64"))
    with f.counted("0", "%count") as k:
        array, is_array, _ = arrays(k)
        with f.when(is_array):
            ndim = f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")
            own, missing = of(f, array, DIMS), f.op("sub", "i64", most.get(), ndim)
            with f.counted("0", ndim) as d:
                n, place = at(f, own, d), f.element("%dims", f.op("add", "i64", missing, d), "i64")
                with f.when(f.op("icmp ne", "i64", n, "1")):
                    now = f.load("i64", place)
                    free = f.op("or", "i1", same(f, now, "1", "i64"), same(f, now, n, "i64"))
                    refuse(f, free, "-1")
                    f.store("i64", n, place)
    f.end(f"i64 {most.get()}")
    return f


def _told() -> Function:
    """Note what is to be known of an array that is spread to a shape."""
    parameters = ("ptr array", "ptr dims", "i64 ndim", "i64 size", "ptr words")
    f = Function("told", "i64", *parameters, linkage="internal")
    aligned = f.op("and", "i32", of(f, "%array", FLAGS, "i32"), str(ALIGNED))
    refuse(f, f.op("icmp ne", "i32", aligned, "0"))
    own = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")
    missing = f.op("sub", "i64", "%ndim", own)
    sizes, strides = of(f, "%array", DIMS), of(f, "%array", STRIDES)
    count, last = f.variable("i64", "0"), f.variable("i64", "0")
    with f.counted("0", "%ndim") as back:
        d = f.op("sub", "i64", f.op("sub", "i64", "%ndim", "1"), back)
        n, step = at(f, "%dims", d), f.variable("i64", "0")
        with f.when(f.op("icmp ne", "i64", n, "1")):
            with f.when(f.op("icmp sge", "i64", d, missing)):
                here = f.op("sub", "i64", d, missing)
                with f.when(f.op("icmp ne", "i64", at(f, sizes, here), "1")):
                    step.set(at(f, strides, here))
            with f.when(f.op("icmp ne", "i64", step.get(), "0")):
                refuse(f, f.op("icmp sge", "i64", step.get(), last.get()))
                refuse(f, f.op("icmp sgt", "i64", step.get(), "0"))
                last.set(step.get())
            _joined(f, n, step.get(), count)
    number = count.get()
    inner, first = field(f, "%words", _DIMS), field(f, "%words", _STEPS)
    one = f.op("icmp sle", "i64", number, "1")
    still, side = same(f, first, "0", "i64"), same(f, first, "%size", "i64")
    kind = f.let(f"select i1 {still}, i64 {_STILL}, i64 {_ADJACENT}")
    kind = f.let(f"select i1 {every(f, one, f.op('or', 'i1', still, side))}, i64 {kind}, i64 {_APART}")
    _put(f, "%words", _BASE, of(f, "%array", DATA, "i64"))
    _put(f, "%words", _KIND, kind)
    _put(f, "%words", _SIZE, "%size")
    _put(f, "%words", _PER, "1")
    # One row for all, or a number for each: other ways are as good for long ones.
    second = at(f, "%words", str(_STEPS + 1))
    turns = f.op("or", "i1", f.op("and", "i1", side, same(f, second, "0", "i64")),
                 f.op("and", "i1", still, same(f, second, "%size", "i64")))  # fmt: skip
    rows = every(f, turns, same(f, number, "2", "i64"),
                 same(f, inner, at(f, "%dims", f.op("sub", "i64", "%ndim", "1")), "i64"))  # fmt: skip
    answer = f.let(f"select i1 {rows}, i64 {_ROW_BY_ROW}, i64 {_TAKEN}")
    _widened(f, side, inner, number, kind)
    _put(f, "%words", _COUNT, f.op("sub", "i64", number, field(f, "%words", _COUNT)))
    f.end(f"i64 {answer}")
    return f


def _joined(f: Function, n: str, step: str, count: object) -> None:
    """Note a dimension further out, or lengthen the last one if they are one in memory."""
    known = count.get()  # type: ignore[attr-defined]
    before = f.op("sub", "i64", known, "1")
    joins = f.variable("i1", "false")
    with f.when(f.op("icmp sgt", "i64", known, "0")):
        size = at(f, "%words", f.op("add", "i64", before, str(_DIMS)))
        reach = f.op("mul", "i64", size, at(f, "%words", f.op("add", "i64", before, str(_STEPS))))
        joins.set(same(f, step, reach, "i64"))
        with f.when(joins.get()):
            _put(f, "%words", f.op("add", "i64", before, str(_DIMS)), f.op("mul", "i64", size, n))
    with f.when(f.op("xor", "i1", joins.get(), "true")):
        _put(f, "%words", f.op("add", "i64", known, str(_DIMS)), n)
        _put(f, "%words", f.op("add", "i64", known, str(_STEPS)), step)
        count.set(f.op("add", "i64", known, "1"))  # type: ignore[attr-defined]


def _widened(f: Function, side: str, inner: str, number: str, kind: str) -> None:
    """Copy a short row whose elements lie together as one element; notes how many dimensions that saves. (Blocks are whole rows then.)"""
    _put(f, "%words", _COUNT, "0")
    wide = f.op("mul", "i64", "%size", inner)
    short = f.op("or", "i1", same(f, inner, "2", "i64"), same(f, inner, "4", "i64"))
    fits = f.op("or", "i1", same(f, wide, "8", "i64"), same(f, wide, "16", "i64"))
    apart = every(f, same(f, kind, str(_APART), "i64"), f.op("icmp sgt", "i64", number, "1"))
    with f.when(every(f, apart, side, short, fits)):
        _put(f, "%words", _COUNT, "1")
        _put(f, "%words", _SIZE, wide)
        _put(f, "%words", _PER, inner)
        for first in (_DIMS, _STEPS):
            with f.counted("1", number) as j:
                value = at(f, "%words", f.op("add", "i64", j, str(first)))
                _put(f, "%words", f.op("add", "i64", j, str(first - 1)), value)


def _gather_apart() -> Function:
    """Bring some elements of an operand together, from number `first` on."""
    f = Function("gather_apart", "void", "ptr near", "ptr words", "i64 first", "i64 count", linkage="internal")
    numbers = f.reserve("i64", _NDIM)
    per, dims = field(f, "%words", _PER), field(f, "%words", _COUNT)
    rest, far = f.variable("i64", f.op("sdiv", "i64", "%first", per)), f.variable("ptr", f.load("ptr", "%words"))
    with f.counted("0", dims) as j:
        n, step = (at(f, "%words", f.op("add", "i64", j, str(where))) for where in (_DIMS, _STEPS))
        now = f.op("srem", "i64", rest.get(), n)
        rest.set(f.op("sdiv", "i64", rest.get(), n))
        f.store("i64", now, f.element(numbers, j, "i64"))
        far.set(f.offset(far.get(), f.op("mul", "i64", now, step)))
    near, left = f.variable("ptr", "%near"), f.variable("i64", f.op("sdiv", "i64", "%count", per))
    done = f.variable("i64", f.load("i64", numbers))  # of the innermost dimension
    inner, step = field(f, "%words", _DIMS), field(f, "%words", _STEPS)
    own = field(f, "%words", _SIZE)
    for size in (4, 8, 16, 1, 2):
        with f.when(same(f, own, str(size), "i64")), f.forever() as out:
            f.leave_when(f.op("icmp sle", "i64", left.get(), "0"), out)
            room = f.op("sub", "i64", inner, done.get())
            run = f.call("llvm.smin.i64", "i64", f"i64 {room}", f"i64 {left.get()}")
            source, target = far.get(), near.get()
            f.line(f"call void @{name_for(size)}(ptr {target}, ptr {source}, i64 {step}, i64 {run})")
            near.set(f.offset(target, f.op("mul", "i64", run, str(size))))
            left.set(f.op("sub", "i64", left.get(), run))
            far.set(f.offset(source, f.op("mul", "i64", run, step)))
            done.set(f.op("add", "i64", done.get(), run))
            with f.when(same(f, done.get(), inner, "i64")):
                done.set("0")
                far.set(f.offset(far.get(), f.op("sub", "i64", "0", f.op("mul", "i64", inner, step))))
                _carried(f, numbers, dims, far)
    f.end()
    return f


def _carried(f: Function, numbers: str, dims: str, far: object) -> None:
    """The next row: count up the dimension further out, carry over."""
    j = f.variable("i64", "1")
    with f.forever() as carried:
        now = j.get()
        f.leave_when(f.op("icmp sge", "i64", now, dims), carried)
        n, step = (at(f, "%words", f.op("add", "i64", now, str(where))) for where in (_DIMS, _STEPS))
        number = f.op("add", "i64", at(f, numbers, now), "1")
        far.set(f.offset(far.get(), step))  # type: ignore[attr-defined]
        f.store("i64", number, f.element(numbers, now, "i64"))
        f.leave_when(f.op("icmp slt", "i64", number, n), carried)
        back = f.op("sub", "i64", "0", f.op("mul", "i64", step, n))
        far.set(f.offset(far.get(), back))  # type: ignore[attr-defined]
        f.store("i64", "0", f.element(numbers, now, "i64"))
        j.set(f.op("add", "i64", now, "1"))


def _range() -> Function:
    """The elements from `first` to below `end`."""
    f = Function("strided_range", "void", "ptr plan", "ptr table", "i64 first", "i64 end", linkage="internal")
    room, still = f.reserve("i8", MOST * BLOCK * 8 + BEYOND), f.reserve("i8", MOST * _ROOM + BEYOND)
    places, strides = f.reserve("ptr", MOST), f.reserve("i64", MOST)
    lanes, inputs, operands = (field(f, "%plan", k) for k in (LANES, INPUTS, OPERANDS))

    def of_operand(k: str) -> tuple[str, str, str, str]:
        words = f.element("%table", f.op("mul", "i64", k, str(_WORDS)), "i64")
        size = at(f, "%plan", f.op("add", "i64", k, str(SIZES)))
        return words, field(f, words, _KIND), size, f.offset(room, f.op("mul", "i64", k, str(BLOCK * 8)))

    with f.counted("0", operands) as k:
        words, kind, size, _ = of_operand(k)
        f.store("i64", f.op("mul", "i64", lanes, size), f.element(strides, k, "i64"))
        with f.when(same(f, kind, str(_STILL), "i64")):
            near = f.offset(still, f.op("mul", "i64", k, str(_ROOM)))
            f.line(f"call void @gather(ptr {near}, ptr {f.load('ptr', words)}, i64 0, i64 {lanes}, i64 {size})")
            f.store("ptr", near, f.element(places, k, "ptr"))
            f.store("i64", "0", f.element(strides, k, "i64"))
    with f.counted("%first", "%end", str(BLOCK)) as i:
        count = f.call("llvm.smin.i64", "i64", f"i64 {f.op('sub', 'i64', '%end', i)}", f"i64 {BLOCK}")
        vectors = f.op("sdiv", "i64", f.op("add", "i64", count, f.op("sub", "i64", lanes, "1")), lanes)
        missing = f.op("sub", "i64", f.op("mul", "i64", vectors, lanes), count)
        with f.counted("0", operands) as k:
            words, kind, size, near = of_operand(k)
            beside, apart = (same(f, kind, str(each), "i64") for each in (_ADJACENT, _APART))
            far = f.offset(f.load("ptr", words), f.op("mul", "i64", i, size))
            direct = f.op("and", "i1", beside, same(f, missing, "0", "i64"))
            staged = f.op("or", "i1", apart, f.op("xor", "i1", f.op("or", "i1", apart, direct), "true"))
            staged = f.op("and", "i1", staged, f.op("icmp ne", "i64", kind, str(_STILL)))
            with f.when(direct):
                f.store("ptr", far, f.element(places, k, "ptr"))
            with f.when(staged):
                f.store("ptr", near, f.element(places, k, "ptr"))
                with f.when(f.op("icmp slt", "i64", k, inputs)):
                    with f.when(beside):
                        f.line(f"call void @gather(ptr {near}, ptr {far}, i64 {size}, i64 {count}, i64 {size})")
                    with f.when(apart):
                        f.line(f"call void @gather_apart(ptr {near}, ptr {words}, i64 {i}, i64 {count})")
                    # What fills the last vector is its last element again: no new values, no new errors.
                    rest = f.offset(near, f.op("mul", "i64", count, size))
                    last = f.offset(rest, f.op("sub", "i64", "0", size))
                    f.line(f"call void @gather(ptr {rest}, ptr {last}, i64 0, i64 {missing}, i64 {size})")
        f.line(f"call void {f.load('ptr', '%plan')}(i64 {vectors}, ptr {places}, ptr {strides})")
        with f.when(f.op("icmp ne", "i64", missing, "0")), f.counted(inputs, operands) as k:
            words, _, size, near = of_operand(k)
            far = f.offset(f.load("ptr", words), f.op("mul", "i64", i, size))
            f.line(f"call void @scatter(ptr {near}, ptr {far}, i64 {size}, i64 {count}, i64 {size})")
    f.end()
    return f


def _chunk() -> Function:
    f = Function("strided_chunk", "void", "ptr context", "i64 number", linkage="internal")
    plan, table = (f.load("ptr", f.element("%context", str(k), "i64")) for k in (_PLAN, _TABLE))
    chunk = field(f, "%context", _CHUNK)
    first = f.op("mul", "i64", "%number", chunk)
    end = f.op("add", "i64", first, chunk)
    end = f.call("llvm.smin.i64", "i64", f"i64 {end}", f"i64 {field(f, '%context', _ELEMENTS)}")
    f.line(f"call void @strided_range(ptr {plan}, ptr {table}, i64 {first}, i64 {end})")
    f.end()
    return f


def _elements() -> Function:
    """All elements, on several threads where that is worth it."""
    f = Function("strided_elements", "void", "ptr plan", "ptr table", "i64 elements", linkage="internal")
    shared, size, count = chunks(f, "%elements", field(f, "%plan", GRAIN), 64)
    with f.when(shared):
        context = f.reserve("i64", 4)
        for number, value in ((_PLAN, "%plan"), (_TABLE, "%table")):
            _put(f, context, number, value, "ptr")
        _put(f, context, _ELEMENTS, "%elements")
        _put(f, context, _CHUNK, size)
        f.line(f"call void @parallel(ptr @strided_chunk, ptr {context}, i64 {count})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line("call void @strided_range(ptr %plan, ptr %table, i64 0, i64 %elements)")
    f.end()
    return f


def _apart_from() -> Function:
    """Is an operand apart from what is written, or the same adjacent array?"""
    f = Function("apart_from", "i64", "ptr words", "i64 here", "i64 end", "i64 size", linkage="internal")
    there, reach = field(f, "%words", _BASE), f.variable("i64", field(f, "%words", _SIZE))
    with f.counted("0", field(f, "%words", _COUNT)) as j:
        n, step = (at(f, "%words", f.op("add", "i64", j, str(where))) for where in (_DIMS, _STEPS))
        further = f.op("mul", "i64", f.op("sub", "i64", n, "1"), step)
        reach.set(f.op("add", "i64", reach.get(), further))
    after = f.op("add", "i64", there, reach.get())
    apart = f.op("or", "i1", f.op("icmp sge", "i64", there, "%end"), f.op("icmp sle", "i64", after, "%here"))
    beside = same(f, field(f, "%words", _KIND), str(_ADJACENT), "i64")
    in_place = every(f, same(f, there, "%here", "i64"), beside, same(f, field(f, "%words", _SIZE), "%size", "i64"))
    f.end(f"i64 {f.cast('zext', 'i1', f.op('or', 'i1', apart, in_place), 'i64')}")
    return f


def _target(f: Function, dims: str, ndim: str, elements: str, size: str, table: str, inputs: str, made: str) -> str:
    """Where the result goes: into a new array, or into `out`."""
    descr = f.load("ptr", f.element("%version", str(MADE), "i64"))
    target, short = f.variable("ptr", "%out"), f.cast("trunc", "i64", ndim, "i32")
    with f.when(f.op("icmp ne", "ptr", "%out", "null")):
        decline(f, same(f, of(f, "%out", TYPE), api(f, "array_type")))
        decline(f, same(f, of(f, "%out", DESCR), descr))
        decline(f, adjacent(f, "%out", WRITEABLE))
        decline(f, same(f, of(f, "%out", NDIM, "i32"), short, "i32"))
        with f.counted("0", ndim) as d:
            decline(f, same(f, at(f, of(f, "%out", DIMS), d), at(f, dims, d), "i64"))
        here = of(f, "%out", DATA, "i64")
        end = f.op("add", "i64", here, f.op("mul", "i64", elements, size))
        with f.counted("0", inputs) as k:
            words = f.element(table, f.op("mul", "i64", k, str(_WORDS)), "i64")
            apart = f.let(f"call i64 @apart_from(ptr {words}, i64 {here}, i64 {end}, i64 {size})")
            decline(f, f.op("icmp ne", "i64", apart, "0"))
    with f.when(f.op("icmp eq", "ptr", "%out", "null")):
        f.line(f"call void {api(f, 'incref')}(ptr {descr})")
        kind, new = api(f, "array_type"), api(f, "new_array")
        arguments = f"ptr {kind}, ptr {descr}, i32 {short}, ptr {dims}, ptr null, ptr null, i32 0, ptr null"
        target.set(f.let(f"call ptr {new}({arguments})"))
        with f.when(f.op("icmp eq", "ptr", target.get(), "null"), rarely=True):
            f.line("ret ptr null")
            f.begin(*f.labels("unreachable"))
    f.store("ptr", target.get(), made)
    return target.get()


def _attempt(x86: bool) -> Function:
    """Run a version whatever way its arrays lie: the result, null with an exception, or `DECLINED`."""
    f = Function("attempt_strided", "ptr", "ptr version", "ptr args", "i64 count", "ptr out", linkage="internal")
    dims, table, made = f.reserve("i64", _NDIM), f.reserve("i64", MOST * _WORDS), f.reserve("ptr")
    decline(f, same(f, field(f, "%version", FORM), str(BY_ELEMENTS), "i64"))
    decline(f, same(f, field(f, "%version", RESULTS), "1", "i64"))
    ndim = f.let(f"call i64 @meeting(ptr %version, ptr %args, i64 %count, ptr {dims})")
    decline(f, f.op("icmp sgt", "i64", ndim, "0"))
    total = f.variable("i64", "1")
    with f.counted("0", ndim) as d:
        total.set(f.op("mul", "i64", total.get(), at(f, dims, d)))
    elements = total.get()
    for word, number in (("sgt", "1"), ("sge", field(f, "%version", LEAST)), ("sle", field(f, "%version", LARGEST))):
        decline(f, f.op(f"icmp {word}", "i64", elements, number))
    inputs = _inputs(f, dims, ndim, elements, table)
    size = at(f, "%version", f.op("add", "i64", inputs, str(SIZES)))
    target = _target(f, dims, ndim, elements, size, table, inputs, made)
    words = f.element(table, f.op("mul", "i64", inputs, str(_WORDS)), "i64")
    for number, value in ((_BASE, of(f, target, DATA, "i64")), (_KIND, str(_ADJACENT)), (_SIZE, size)):
        _put(f, words, number, value)
    clear_flags(f, x86)
    thread, long = f.variable("ptr", "null"), f.op("icmp sge", "i64", elements, field(f, "%version", LONG))
    with f.when(long):
        thread.set(f.let(f"call ptr {api(f, 'save_thread')}()"))
    f.line(f"call void @strided_elements(ptr %version, ptr {table}, i64 {elements})")
    with f.when(long):
        f.line(f"call void {api(f, 'restore_thread')}(ptr {thread.get()})")
    errors = f.op("and", "i64", flags(f, x86), _ERRORS)
    writing = f.op("icmp ne", "ptr", "%out", "null")
    with f.when(f.op("icmp ne", "i64", errors, "0"), rarely=True):
        tell(f, errors, made, "1", writing)
    with f.when(writing):
        f.line(f"call void {api(f, 'incref')}(ptr %out)")
    f.end(f"ptr {target}")
    return f


def _inputs(f: Function, dims: str, ndim: str, elements: str, table: str) -> str:
    """Note what is to be known of all inputs; their number."""
    number, moves, others = f.variable("i64", "0"), f.variable("i1", "false"), f.variable("i1", "false")
    with f.counted("0", "%count") as k:
        what = at(f, "%version", f.op("add", "i64", f.op("mul", "i64", k, "3"), str(EXPECTED)))
        with f.when(same(f, what, str(AN_ARRAY), "i64")):
            array = f.load("ptr", f.element("%args", k, "ptr"))
            size = at(f, "%version", f.op("add", "i64", number.get(), str(SIZES)))
            words = f.element(table, f.op("mul", "i64", number.get(), str(_WORDS)), "i64")
            taken = f.let(f"call i64 @told(ptr {array}, ptr {dims}, i64 {ndim}, i64 {size}, ptr {words})")
            decline(f, f.op("icmp ne", "i64", taken, str(_REFUSED)))
            kind = field(f, words, _KIND)
            moves.set(f.op("or", "i1", moves.get(), f.op("icmp ne", "i64", kind, str(_STILL))))
            first = every(f, same(f, k, "0", "i64"), f.op("icmp ne", "i64", kind, str(_ADJACENT)))
            apart = every(f, same(f, kind, str(_APART), "i64"), f.op("icmp ne", "i64", taken, str(_ROW_BY_ROW)))
            others.set(f.op("or", "i1", others.get(), f.op("or", "i1", first, apart)))
            number.set(f.op("add", "i64", number.get(), "1"))
    decline(f, moves.get())
    # Beside a whole array one row for all, or a number for each row: that is done row by row (`Compiled._beside_rows`).
    last = at(f, dims, f.op("sub", "i64", ndim, "1"))
    few = f.op("or", "i1", f.op("icmp slt", "i64", elements, str(CHEAP)), f.op("icmp slt", "i64", last, str(SHORT)))
    decline(f, f.op("or", "i1", few, others.get()))
    return number.get()


def functions(x86: bool) -> list[Function]:
    """All functions."""
    return [_meeting(), _told(), _gather_apart(), _range(), _chunk(), _elements(), _apart_from(), _attempt(x86)]
