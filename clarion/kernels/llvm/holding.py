"""Builtin functions that take and give objects which hold arrays: NOTE [Held arrays] in kernels/held.py."""

from __future__ import annotations

from ..held import IN_ROWS, KEEPS_TYPE, ONE_SHAPE, TAKES_MASKS
from . import small_products
from .api import DATA, DECLINED, DESCR, ITEM, NDIM, SIZE, TYPE, adjacent, api, entry, every, of, same, when_not
from .direct import AS_ONE_ROW, BY_ELEMENTS, FORM, RESULTS
from .plan import MOST, field
from .text import Function

_HEAD = 2  # words of an object that are Python's own: its count of references and its type


def _miss(f: Function, condition: str) -> None:
    """Give None where the condition does not hold."""
    with f.when(f.op("xor", "i1", condition, "true")):
        none = api(f, "none")
        f.line(f"call void {api(f, 'incref')}(ptr {none})")
        f.line(f"ret ptr {none}")
        f.begin(*f.labels("unreachable"))


def _around() -> Function:
    """A new object around an array, which it takes over: a copy of the prototype."""
    f = Function("around", "ptr", "ptr array", linkage="internal")
    made = f.let(f"call ptr {api(f, 'allocate')}(ptr {api(f, 'holder')}, i64 0)")
    with f.when(same(f, made, "null"), rarely=True):
        f.line(f"call void {api(f, 'decref')}(ptr %array)")
        f.line("ret ptr null")
        f.begin(*f.labels("unreachable"))
    prototype = api(f, "prototype")
    with f.counted(str(_HEAD), api(f, "holder_words", "i64")) as k:
        word = f.load("ptr", f.element(prototype, k, "i64"))
        with f.when(f.op("icmp ne", "ptr", word, "null")):
            f.line(f"call void {api(f, 'incref')}(ptr {word})")
            f.store("ptr", word, f.element(made, k, "i64"))
    f.store("ptr", "%array", f.offset(made, api(f, "holder_array", "i64")))
    f.end(f"ptr {made}")
    return f


def _held(name: str, in_place: bool) -> Function:
    """What CPython calls; `in_place`: the result is written into the first object, which is given back."""
    f = Function(name, "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    arrays, first, holders = f.reserve("ptr", MOST), f.variable("ptr", "null"), f.variable("i64", "0")
    plain, one_shape = f.variable("i1", "true"), f.variable("i1", "true")
    _miss(f, same(f, "%names", "null"))
    _miss(f, f.op("icmp sle", "i64", "%count", str(MOST)))
    with f.counted("0", "%count") as k:
        argument = f.load("ptr", f.element("%args", k, "ptr"))
        type_, found = of(f, argument, TYPE), f.variable("ptr", argument)
        held = f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder")))
        with f.when(held):
            for attribute in ("holder_plain", "holder_plain_too"):
                where = api(f, attribute, "i64")
                like = same(f, *[f.load("ptr", f.offset(each, where)) for each in (argument, api(f, "prototype"))])
                plain.set(f.op("and", "i1", plain.get(), like))
            array = f.load("ptr", f.offset(argument, api(f, "holder_array", "i64")))
            _miss(f, f.op("icmp ne", "ptr", array, "null"))
            _miss(f, same(f, of(f, array, TYPE), api(f, "array_type")))
            _miss(f, adjacent(f, array))
            with f.when(f.op("icmp ne", "ptr", first.get(), "null")):
                _miss(f, same(f, of(f, array, DESCR), of(f, first.get(), DESCR)))
                alike = f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {array}, ptr {first.get()})"), "0")
                one_shape.set(f.op("and", "i1", one_shape.get(), alike))
            with f.when(same(f, first.get(), "null")):
                kind = of(f, array, DESCR)
                _miss(f, f.op("or", "i1", same(f, kind, api(f, "float32")), same(f, kind, api(f, "float64"))))
                first.set(array)
            found.set(array)
            holders.set(f.op("add", "i64", holders.get(), "1"))
        _miss(f, f.op("icmp ne", "ptr", first.get(), "null"))  # the first argument is an object
        with f.when(f.op("xor", "i1", held, "true")), f.when(same(f, type_, api(f, "array_type"))):  # a number
            _miss(f, same(f, of(f, argument, NDIM, "i32"), "0", "i32"))
            _miss(f, same(f, of(f, argument, DESCR), of(f, first.get(), DESCR)))
        f.store("ptr", found.get(), f.element(arrays, k, "ptr"))
    _miss(f, f.op("or", "i1", one_shape.get(), plain.get()))
    version = f.let(f"call ptr @fitting(ptr {of(f, '%self', DATA)}, ptr {arrays}, i64 %count)")
    _miss(f, f.op("icmp ne", "ptr", version, "null"))
    _miss(f, same(f, field(f, version, RESULTS), "1", "i64"))
    one, way = same(f, holders.get(), "1", "i64"), field(f, version, FORM)
    reduced = every(f, same(f, way, str(AS_ONE_ROW), "i64"), one_shape.get(), same(f, holders.get(), "%count", "i64"))
    _miss(f, f.op("or", "i1", f.op("or", "i1", one, reduced), same(f, way, str(BY_ELEMENTS), "i64")))
    for change in ("incref", "decref"):  # (another thread may give an object another array meanwhile)
        with f.counted("0", "%count") as k:
            f.line(f"call void {api(f, change)}(ptr {f.load('ptr', f.element(arrays, k, 'ptr'))})")
        if change == "incref":
            out = first.get() if in_place else "null"
            result = f.let(f"call ptr @attempt(ptr {version}, ptr {arrays}, i64 %count, ptr {out})")
    _miss(f, f.op("icmp ne", "ptr", result, DECLINED))
    with f.when(same(f, result, "null"), rarely=True):
        f.line("ret ptr null")
        f.begin(*f.labels("unreachable"))
    if in_place:
        f.line(f"call void {api(f, 'decref')}(ptr {result})")
        given = f.load("ptr", "%args")
        f.line(f"call void {api(f, 'incref')}(ptr {given})")
        f.end(f"ptr {given}")
    else:
        f.end(f"ptr {f.let(f'call ptr @around(ptr {result})')}")
    return f


# A card of `direct_held_any`: the kernel; how many of its arguments are objects, numbers or None; what is asked (kernels/held.py);
# the types of masks and of whole numbers.
KERNEL, INPUTS, ASKED, MASKS, WHOLE, ANY_CARD = range(6)


def _gathered(f: Function, card: str, arrays: str) -> str:
    """Note the arrays of the objects among the arguments, and the others as they are: the type of floats."""
    kind, first, inputs = f.variable("ptr", "null"), f.variable("ptr", "null"), field(f, card, INPUTS)
    masks, one_shape = (
        f.op("icmp ne", "i64", f.op("and", "i64", field(f, card, ASKED), str(word)), "0")
        for word in (TAKES_MASKS, ONE_SHAPE)
    )
    with f.counted("0", "%count") as k:
        argument = f.load("ptr", f.element("%args", k, "ptr"))
        type_, found = of(f, argument, TYPE), f.variable("ptr", argument)
        held = f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder")))
        with f.when(held):
            array = f.load("ptr", f.offset(argument, api(f, "holder_array", "i64")))
            _miss(f, f.op("icmp ne", "ptr", array, "null"))
            _miss(f, same(f, of(f, array, TYPE), api(f, "array_type")))
            _miss(f, adjacent(f, array))
            with f.when(one_shape):
                with f.when(f.op("icmp ne", "ptr", first.get(), "null")):
                    _miss(f, f.op("icmp ne", "i64", f.let(f"call i64 @same_dims(ptr {array}, ptr {first.get()})"), "0"))
                first.set(array)
            descr = of(f, array, DESCR)
            floats = f.op("or", "i1", same(f, descr, api(f, "float32")), same(f, descr, api(f, "float64")))
            with f.when(floats):
                _miss(f, f.op("or", "i1", same(f, kind.get(), "null"), same(f, kind.get(), descr)))
                kind.set(descr)
            with f.when(f.op("xor", "i1", floats, "true")):
                known = [
                    same(f, f.cast("ptrtoint", "ptr", descr, "i64"), field(f, card, each), "i64")
                    for each in (MASKS, WHOLE)
                ]
                _miss(f, every(f, masks, f.op("or", "i1", *known)))
            found.set(array)
        among = f.op("icmp slt", "i64", k, inputs)
        with f.when(every(f, f.op("xor", "i1", held, "true"), among)):
            number = same(f, type_, api(f, "array_type"))
            with f.when(number):
                _miss(f, same(f, of(f, argument, NDIM, "i32"), "0", "i32"))
                _miss(f, same(f, of(f, argument, DESCR), kind.get()))
            _miss(f, f.op("or", "i1", number, same(f, argument, api(f, "none"))))
        f.store("ptr", found.get(), f.element(arrays, k, "ptr"))
    _miss(f, f.op("icmp ne", "ptr", kind.get(), "null"))
    return kind.get()


def _held_any() -> Function:
    """The same around any kernel, of whatever arrays, with one result or several: what it is called with is looked at, and what it gives is held."""
    f = Function("direct_held_any", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, arrays = of(f, "%self", DATA), f.reserve("ptr", MOST)
    _miss(f, same(f, "%names", "null"))
    _miss(f, f.op("icmp sle", "i64", "%count", str(MOST)))
    kind = _gathered(f, card, arrays)
    for change in ("incref", "decref"):  # (another thread may give an object another array meanwhile)
        with f.counted("0", "%count") as k:
            f.line(f"call void {api(f, change)}(ptr {f.load('ptr', f.element(arrays, k, 'ptr'))})")
        if change == "incref":
            kernel = f.load("ptr", f.element(card, str(KERNEL), "i64"))
            result = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {kernel}, ptr {arrays}, i64 %count, ptr null)")
    when_not(f, f.op("icmp ne", "ptr", result, "null"), "ptr null")
    one, fits = same(f, of(f, result, TYPE), api(f, "array_type")), f.variable("i1", "false")
    several = every(
        f, same(f, of(f, result, TYPE), api(f, "tuple_type")), f.op("icmp ne", "i64", of(f, result, SIZE, "i64"), "0")
    )
    first, asked = f.variable("ptr", result), field(f, card, ASKED)

    def if_asked(word: int, holds: str) -> str:
        return f.op("or", "i1", same(f, f.op("and", "i64", asked, str(word)), "0", "i64"), holds)

    with f.when(several):
        first.set(of(f, result, ITEM))
    with f.when(f.op("or", "i1", one, several)):
        fits.set(same(f, of(f, first.get(), TYPE), api(f, "array_type")))
        with f.when(fits.get()):
            fits.set(if_asked(KEEPS_TYPE, same(f, of(f, first.get(), DESCR), kind)))
    with f.when(every(f, fits.get(), several)), f.counted("0", of(f, result, SIZE, "i64")) as k:
        item = f.load("ptr", f.element(f.offset(result, str(ITEM)), k, "ptr"))
        is_array = same(f, of(f, item, TYPE), api(f, "array_type"))
        fits.set(f.op("and", "i1", fits.get(), is_array))
        with f.when(is_array):
            fits.set(f.op("and", "i1", fits.get(), if_asked(IN_ROWS, adjacent(f, item))))
    with f.when(every(f, fits.get(), one)):
        fits.set(if_asked(IN_ROWS, adjacent(f, result)))
        with f.when(fits.get()):
            f.line(f"ret ptr {f.let(f'call ptr @around(ptr {result})')}")
            f.begin(*f.labels("unreachable"))
    made = f.variable("ptr", api(f, "none"))
    with f.when(fits.get()):
        length = of(f, result, SIZE, "i64")
        made.set(f.let(f"call ptr {api(f, 'new_tuple')}(i64 {length})"))
        with f.when(f.op("icmp ne", "ptr", made.get(), "null")), f.counted("0", length) as k:
            item = f.load("ptr", f.element(f.offset(result, str(ITEM)), k, "ptr"))
            f.line(f"call void {api(f, 'incref')}(ptr {item})")
            f.store("ptr", f.let(f"call ptr @around(ptr {item})"), f.element(f.offset(made.get(), str(ITEM)), k, "ptr"))
    with f.when(f.op("xor", "i1", fits.get(), "true")):
        f.line(f"call void {api(f, 'incref')}(ptr {made.get()})")
    f.line(f"call void {api(f, 'decref')}(ptr {result})")
    f.end(f"ptr {made.get()}")
    return f


def _held_product() -> Function:
    """The same for a linear layer: input, weight and bias are objects, which hold arrays that a small product is for. As many dimensions as
    the card of the product says, where it says so."""
    f = Function("direct_held_product", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, arrays, result = of(f, "%self", DATA), [], f.variable("ptr", DECLINED)
    _miss(f, same(f, "%names", "null"))
    _miss(f, same(f, "%count", "3", "i64"))
    for k in range(3):
        argument = f.load("ptr", f.element("%args", str(k), "ptr"))
        type_ = of(f, argument, TYPE)
        _miss(f, f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder"))))
        array = f.load("ptr", f.offset(argument, api(f, "holder_array", "i64")))
        _miss(f, f.op("icmp ne", "ptr", array, "null"))
        _miss(f, same(f, of(f, array, TYPE), api(f, "array_type")))
        arrays.append(array)
    flat = same(f, of(f, arrays[0], NDIM, "i32"), "2", "i32")
    _miss(f, same(f, f.cast("zext", "i1", flat, "i64"), field(f, card, small_products.FLAT), "i64"))
    kind = of(f, arrays[0], DESCR)
    for name, scalar in (("float32", "float"), ("float64", "double")):
        with f.when(same(f, kind, api(f, name))):
            places = ", ".join(f"ptr {array}" for array in arrays)
            descr = f.cast("ptrtoint", "ptr", kind, "i64")
            result.set(f.let(f"call ptr @product_{scalar}(ptr {card}, {places}, i64 {descr})"))
    _miss(f, f.op("icmp ne", "ptr", result.get(), DECLINED))
    when_not(f, f.op("icmp ne", "ptr", result.get(), "null"), "ptr null")
    f.end(f"ptr {f.let(f'call ptr @around(ptr {result.get()})')}")
    return f


# A card of `direct_view`: where else to go; the prototype of what is said of a base, its words, where in it base, chain, how and number stand;
# the counter's prototype, its words, its number; a counter that is nobody's; where holders have their counter, and what they say; ().
(
    OTHERWISE,
    VIEW,
    VIEW_WORDS,
    BASE,
    CHAIN,
    HOW,
    VERSION,
    COUNTER,
    COUNTER_WORDS,
    NUMBER,
    NEVER,
    HELD_COUNTER,
    HELD_VIEW,
    EMPTY,
    VIEW_CARD,
) = range(15)


def _copied() -> Function:
    """A new object with the attributes of a prototype."""
    f = Function("copied", "ptr", "ptr prototype", "i64 words", linkage="internal")
    made = f.let(f"call ptr {api(f, 'allocate')}(ptr {of(f, '%prototype', TYPE)}, i64 0)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    with f.counted(str(_HEAD), "%words") as k:
        word = f.load("ptr", f.element("%prototype", k, "i64"))
        with f.when(f.op("icmp ne", "ptr", word, "null")):
            f.line(f"call void {api(f, 'incref')}(ptr {word})")
            f.store("ptr", word, f.element(made, k, "i64"))
    f.end(f"ptr {made}")
    return f


def copied(f: Function, prototype: str, words: str) -> str:
    """Such an object, or null."""
    return f.let(f"call ptr @copied(ptr {prototype}, i64 {words})")


def put(f: Function, thing: str, where: str, value: str, owned: bool = False) -> None:
    """Give an attribute another value."""
    if not owned:
        f.line(f"call void {api(f, 'incref')}(ptr {value})")
    place = f.offset(thing, where)
    before = f.load("ptr", place)
    f.store("ptr", value, place)
    with f.when(f.op("icmp ne", "ptr", before, "null")):
        f.line(f"call void {api(f, 'decref')}(ptr {before})")


def _viewed() -> Function:
    """An object that shares the memory of another one: NOTE [Held views]. Null with an exception, or `DECLINED`."""
    f = Function("viewed", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    no, none = f"ptr {DECLINED}", api(f, "none")

    def known(number: int, type_: str = "ptr") -> str:
        return f.load(type_, f.element("%card", str(number), "i64"))

    when_not(f, f.op("icmp ule", "i64", f.op("sub", "i64", "%count", "3"), "1"), no)
    x, array, steps = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(3))
    type_ = of(f, x, TYPE)
    when_not(f, f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder"))), no)
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
    when_not(f, same(f, of(f, steps, TYPE), api(f, "tuple_type")), no)
    usual = f.load("ptr", f.offset(known(VIEW), known(HOW, "i64")))
    base, whole, how = f.variable("ptr", x), f.variable("ptr", known(EMPTY)), f.variable("ptr", usual)
    with f.when(same(f, "%count", "4", "i64")):
        how.set(f.load("ptr", f.element("%args", "3", "ptr")))
    above = f.load("ptr", f.offset(x, known(HELD_VIEW, "i64")))
    with f.when(f.op("icmp ne", "ptr", above, none)):
        with f.when(same(f, how.get(), usual)):  # what is usual, of something that was made otherwise, was made so, too
            how.set(f.load("ptr", f.offset(above, known(HOW, "i64"))))
        base.set(f.load("ptr", f.offset(above, known(BASE, "i64"))))
        whole.set(f.load("ptr", f.offset(above, known(CHAIN, "i64"))))
    counter = f.variable("ptr", f.load("ptr", f.offset(x, known(HELD_COUNTER, "i64"))))
    with f.when(same(f, counter.get(), none)):
        counter.set(copied(f, known(COUNTER), known(COUNTER_WORDS, "i64")))
        when_not(f, f.op("icmp ne", "ptr", counter.get(), "null"), "ptr null")
        put(f, x, known(HELD_COUNTER, "i64"), counter.get(), True)
    when_not(f, same(f, of(f, counter.get(), TYPE), of(f, known(COUNTER), TYPE)), no)
    when_not(f, f.op("icmp ne", "ptr", counter.get(), known(NEVER)), no)
    chain = f.variable("ptr", whole.get())
    f.line(f"call void {api(f, 'incref')}(ptr {chain.get()})")
    with f.counted("0", of(f, steps, SIZE, "i64")) as k:
        pair = f.let(f"call ptr {api(f, 'new_tuple')}(i64 2)")
        when_not(f, f.op("icmp ne", "ptr", pair, "null"), "ptr null")
        step = f.load("ptr", f.element(f.offset(steps, str(ITEM)), k, "ptr"))
        f.line(f"call void {api(f, 'incref')}(ptr {step})")
        f.store("ptr", chain.get(), f.offset(pair, str(ITEM)))
        f.store("ptr", step, f.offset(pair, str(ITEM + 8)))
        chain.set(pair)
    view = copied(f, known(VIEW), known(VIEW_WORDS, "i64"))
    when_not(f, f.op("icmp ne", "ptr", view, "null"), "ptr null")
    put(f, view, known(BASE, "i64"), base.get())
    put(f, view, known(CHAIN, "i64"), chain.get(), True)
    put(f, view, known(HOW, "i64"), how.get())
    put(f, view, known(VERSION, "i64"), f.load("ptr", f.offset(counter.get(), known(NUMBER, "i64"))))
    f.line(f"call void {api(f, 'incref')}(ptr {array})")
    made = f.let(f"call ptr @around(ptr {array})")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    put(f, made, known(HELD_COUNTER, "i64"), counter.get())
    put(f, made, known(HELD_VIEW, "i64"), view, True)
    f.end(f"ptr {made}")
    return f


def functions() -> list[Function]:
    """All functions."""
    return [
        _copied(),
        _viewed(),
        entry("direct_view", "viewed"),
        _around(),
        _held("direct_held", False),
        _held("direct_held_in_place", True),
        _held_product(),
        _held_any(),
    ]
