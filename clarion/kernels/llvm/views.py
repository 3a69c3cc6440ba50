"""Objects that show the memory of another one otherwise: the kernels of layouts.py for objects (NOTE [Held views] in kernels/held.py).

All that a call has to do is done here: it looks at what was given, makes the array, says what the new object shows of which base, and where the
first one has a history, adds to that. What somebody wants to hear of goes elsewhere.
"""

from __future__ import annotations

from .api import DATA, DECLINED, DIMS, ITEM, NDIM, SIZE, TYPE, api, of, same, when_not
from .holding import BASE, HELD_COUNTER, HELD_VIEW, NUMBER, VERSION, copied, put
from .layouts import GROUPED, MOST
from .layouts import WORDS as FIRST
from .plan import at
from .text import Function

# After what layouts.py reads, on the same card: the step that is noted; the prototype of what is added to a history, and its words; is the shape kept?
# the card of `direct_view`; where in the prototype things stand; where in objects; who counts; who tells the place, in two ways, and the owner
# of the place that was met last; who listens, and where. How such objects are said to be made, where nothing is added to histories. Of parts of
# a dimension: cards for what else an index may ask for.
(
    STEP, NODE, NODE_WORDS, SHAPES, VIEWS, EDGES, SAVED, NUMBERS, ORDER, CODE, PLACE, HELD_EDGE, HELD_NUMBER, HELD_FLAG, SEQUENCE, MARK,
    FRAME, ONE, TWO, HUB, LISTENER, USER, QUIETLY, ONE_OF, WITH_ONE_MORE, ALIKE, WORDS,
) = range(FIRST, FIRST + 27)  # fmt: skip
_START, _STOP, _STEP = 16, 24, 32  # of Python's slices


def _as_tuple() -> Function:
    """A tuple of whole numbers."""
    f = Function("tuple_of", "ptr", "ptr numbers", "i64 count", linkage="internal")
    made = f.let(f"call ptr {api(f, 'new_tuple')}(i64 %count)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    with f.counted("0", "%count") as k:
        number = f.let(f"call ptr {api(f, 'from_int64')}(i64 {at(f, '%numbers', k)})")
        f.store("ptr", number, f.element(f.offset(made, str(ITEM)), k, "ptr"))
    f.end(f"ptr {made}")
    return f


def tuple_of(f: Function, *items: str, or_else: str = "ptr null") -> str:
    """A tuple that takes its items over."""
    made = f.let(f"call ptr {api(f, 'new_tuple')}(i64 {len(items)})")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), or_else)
    for k, item in enumerate(items):
        f.store("ptr", item, f.offset(made, str(ITEM + 8 * k)))
    return made


def own(f: Function, thing: str) -> str:
    """An object, with one owner more."""
    f.line(f"call void {api(f, 'incref')}(ptr {thing})")
    return thing


class Card:
    """What stands on the card, and on that of `direct_view`."""

    def __init__(self, f: Function, card: str = "%card") -> None:
        self.f, self.card = f, card

    def __getitem__(self, number: int) -> str:
        return self.f.load("i64", self.f.element(self.card, str(number), "i64"))

    def thing(self, number: int) -> str:
        return self.f.load("ptr", self.f.element(self.card, str(number), "i64"))

    def in_(self, thing: str, number: int) -> str:
        """What stands in an object, where the card says."""
        return self.f.load("ptr", self.f.offset(thing, self[number]))


def unchanged(f: Function, views: Card, x: str, wanted: str, flag: str, no: str) -> None:
    """Go on only where an object's history is up to date: nobody has written to its memory, nor wants its base a history since."""
    none = api(f, "none")
    above = views.in_(x, HELD_VIEW)
    with f.when(f.op("icmp ne", "ptr", above, none)):
        counter = views.in_(x, HELD_COUNTER)
        when_not(f, f.op("icmp ne", "ptr", counter, none), no)
        when_not(f, same(f, views.in_(above, VERSION), views.in_(counter, NUMBER)), no)
        base = views.in_(above, BASE)
        when_not(
            f, f.op("or", "i1", wanted, f.op("icmp ne", "ptr", f.load("ptr", f.offset(base, flag)), api(f, "true"))), no
        )


def array_of(f: Function, x: str, no: str = f"ptr {DECLINED}") -> str:
    """Go on only with an object that holds an array: that one."""
    type_ = of(f, x, TYPE)
    when_not(f, f.op("or", "i1", same(f, type_, api(f, "holder")), same(f, type_, api(f, "other_holder"))), no)
    array = f.load("ptr", f.offset(x, api(f, "holder_array", "i64")))
    when_not(f, f.op("icmp ne", "ptr", array, "null"), no)
    when_not(f, same(f, of(f, array, TYPE), api(f, "array_type")), no)
    return array


def _shown() -> Function:
    """An object that shows the memory of another one otherwise, with its history; null with an exception, or `DECLINED`."""
    f = Function("shown", "ptr", "ptr card", "ptr x", "ptr numbers", "i64 count", linkage="internal")
    no, none, arguments = f"ptr {DECLINED}", api(f, "none"), f.reserve("ptr", 4)
    card, views = Card(f), Card(f, f.load("ptr", f.element("%card", str(VIEWS), "i64")))
    array = array_of(f, "%x")
    when_not(f, same(f, card.in_(card.thing(HUB), LISTENER), none), no)
    wanted, how = same(f, card.in_("%x", HELD_FLAG), api(f, "true")), card.thing(QUIETLY)
    recorded = same(f, how, "null")
    asked = f.op(
        "or", "i1", wanted, f.op("xor", "i1", recorded, "true")
    )  # (without a history, nobody asks for that of the base)
    unchanged(f, views, "%x", asked, card[HELD_FLAG], no)
    seen = f.let(f"call ptr @seen(ptr %card, ptr {array}, ptr %numbers, i64 %count)")
    when_not(f, f.op("icmp ne", "ptr", seen, DECLINED), no)
    when_not(f, f.op("icmp ne", "ptr", seen, "null"), "ptr null")
    numbers = f.let("call ptr @tuple_of(ptr %numbers, i64 %count)")
    when_not(f, f.op("icmp ne", "ptr", numbers, "null"), "ptr null")
    params = f.variable("ptr", numbers)
    with f.when(f.op("icmp slt", "i64", card[GROUPED], "0")):
        params.set(tuple_of(f, numbers))
    step = tuple_of(f, own(f, card.thing(STEP)), own(f, params.get()), own(f, none))
    steps = tuple_of(f, step)
    for k, thing in enumerate(("%x", seen, steps, how)):
        f.store("ptr", thing, f.element(arguments, str(k), "ptr"))
    made = f.let(f"call ptr @viewed(ptr {views.card}, ptr {arguments}, i64 {f.select('i64', recorded, '3', '4')})")
    wanted = f.op("and", "i1", wanted, recorded)
    with f.when(f.op("and", "i1", wanted, f.op("icmp ugt", "i64", f.cast("ptrtoint", "ptr", made, "i64"), "1"))):
        node = f.let(f"call ptr @added(ptr %card, ptr %x, ptr {array}, ptr {params.get()})")
        when_not(f, f.op("icmp ne", "ptr", node, "null"), "ptr null")
        f.line(f"call void @continued(ptr %card, ptr {made}, ptr {node})")
    for thing in (seen, steps, params.get()):
        f.line(f"call void {api(f, 'decref')}(ptr {thing})")
    f.end(f"ptr {made}")
    return f


def _added() -> Function:
    """What a view adds to the history."""
    f = Function("added", "ptr", "ptr card", "ptr x", "ptr array", "ptr params", linkage="internal")
    card, none = Card(f), api(f, "none")
    edge, numbers, saved = (
        f.variable("ptr", card.in_("%x", HELD_EDGE)),
        f.variable("ptr", "null"),
        f.variable("ptr", "null"),
    )
    with f.when(same(f, edge.get(), none)):
        edge.set("%x")
    number = card.in_("%x", HELD_NUMBER)
    with f.when(f.op("icmp ne", "ptr", number, card.in_(api(f, "prototype"), HELD_NUMBER))):
        numbers.set(tuple_of(f, own(f, number)))
    several, shapes = of(f, "%params", SIZE, "i64"), card[SHAPES]
    length = f.op("add", "i64", several, shapes)
    with f.when(f.op("icmp ne", "i64", length, "0")):  # the object itself, parameters, the result, the shape
        saved.set(f.let(f"call ptr {api(f, 'new_list')}(i64 {f.op('add', 'i64', length, '2')})"))
        when_not(f, f.op("icmp ne", "ptr", saved.get(), "null"), "ptr null")
        items = of(f, saved.get(), ITEM)
        f.store("ptr", own(f, none), items)
        with f.counted("0", several) as k:
            param = f.load("ptr", f.element(f.offset("%params", str(ITEM)), k, "ptr"))
            f.store("ptr", own(f, param), f.element(items, f.op("add", "i64", k, "1"), "ptr"))
        f.store("ptr", own(f, none), f.element(items, f.op("add", "i64", several, "1"), "ptr"))
        with f.when(f.op("icmp ne", "i64", shapes, "0")):
            ndim = f.cast("sext", "i32", of(f, "%array", NDIM, "i32"), "i64")
            shape = f.let(f"call ptr @tuple_of(ptr {of(f, '%array', DIMS)}, i64 {ndim})")
            when_not(f, f.op("icmp ne", "ptr", shape, "null"), "ptr null")
            f.store("ptr", shape, f.element(items, f.op("add", "i64", several, "2"), "ptr"))
    edges = tuple_of(f, own(f, edge.get()))
    f.end(f"ptr {f.let(f'call ptr @node_of(ptr %card, ptr {edges}, ptr {saved.get()}, ptr {numbers.get()})')}")
    return f


def _node() -> Function:
    """A copy of the prototype, filled in with what it takes over: where it comes from, what is kept and numbers, if there are any."""
    f = Function("node_of", "ptr", "ptr card", "ptr edges", "ptr saved", "ptr numbers", linkage="internal")
    card = Card(f)
    node = copied(f, card.thing(NODE), card[NODE_WORDS])
    when_not(f, f.op("icmp ne", "ptr", node, "null"), "ptr null")
    put(f, node, card[EDGES], "%edges", True)
    for number, thing in ((SAVED, "%saved"), (NUMBERS, "%numbers")):
        with f.when(f.op("icmp ne", "ptr", thing, "null")):
            put(f, node, card[number], thing, True)
    put(f, node, card[ORDER], f.let(f"call ptr {api(f, 'next')}(ptr {card.thing(SEQUENCE)})"), True)
    f.line(f"call void @placed(ptr %card, ptr {node})")
    f.end(f"ptr {node}")
    return f


def _continued() -> Function:
    """An object's history goes on with this, which it takes over."""
    f = Function("continued", "void", "ptr card", "ptr x", "ptr node", linkage="internal")
    card = Card(f)
    put(f, "%x", card[HELD_EDGE], "%node", True)
    put(f, "%x", card[HELD_FLAG], api(f, "true"))
    f.end()
    return f


def _placed() -> Function:
    """Whose line it was: mostly that of the code which was met last, two or three frames above. Else somebody else is asked."""
    f = Function("placed", "void", "ptr card", "ptr node", linkage="internal")
    card, given = Card(f), f.reserve("ptr")
    for depth in (ONE, TWO):
        f.store("ptr", card.thing(depth), given)
        frame = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(FRAME)}, ptr {given}, i64 1, ptr null)")
        with f.when(same(f, frame, "null"), rarely=True):
            f.line(f"call void {api(f, 'clear_error')}()")
        with f.when(f.op("icmp ne", "ptr", frame, "null")):
            code = f.let(f"call ptr {api(f, 'frame_code')}(ptr {frame})")
            met = same(f, code, card.thing(USER))
            with f.when(met):
                put(f, "%node", card[CODE], code)
                last = f.cast("sext", "i32", f.let(f"call i32 {api(f, 'frame_place')}(ptr {frame})"), "i64")
                put(f, "%node", card[PLACE], f.let(f"call ptr {api(f, 'from_int64')}(i64 {last})"), True)
            for thing in (code, frame):
                f.line(f"call void {api(f, 'decref')}(ptr {thing})")
            with f.when(met):
                f.line("ret void")
                f.begin(*f.labels("unreachable"))
    f.store("ptr", "%node", given)
    answer = f.let(f"call ptr {api(f, 'vectorcall')}(ptr {card.thing(MARK)}, ptr {given}, i64 1, ptr null)")
    with f.when(f.op("icmp ne", "ptr", answer, "null")):
        f.line(f"call void {api(f, 'decref')}(ptr {answer})")
        code = card.in_("%node", CODE)
        with f.when(f.op("icmp ne", "ptr", code, "null")), f.when(f.op("icmp ne", "ptr", code, api(f, "none"))):
            place = f.element("%card", str(USER), "i64")
            before = f.load("ptr", place)
            f.store("ptr", own(f, code), place)
            with f.when(f.op("icmp ne", "ptr", before, "null")):
                f.line(f"call void {api(f, 'decref')}(ptr {before})")
    with f.when(same(f, answer, "null")):
        f.line(f"call void {api(f, 'clear_error')}()")
    f.end()
    return f


def _of_objects() -> Function:
    """Its form for objects: None where that is not for here. Parts of a dimension may also be told by an index, of any items."""
    f = Function("direct_shown", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    numbers, card, result = f.reserve("i64", MOST + 1), of(f, "%self", DATA), f.variable("ptr", DECLINED)
    indexed = f.op(
        "and", "i1", same(f, "%count", "2", "i64"), f.op("icmp ne", "ptr", Card(f, card).thing(ONE_OF), "null")
    )
    with f.when(indexed):
        x, index = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(2))
        result.set(f.let(f"call ptr @shown_items(ptr {card}, ptr {x}, ptr {index})"))
    with f.when(f.op("xor", "i1", indexed, "true")), f.when(f.op("icmp sge", "i64", "%count", "1")):
        more, left = f.offset("%args", "8"), f.op("sub", "i64", "%count", "1")
        several = f.let(f"call i64 @numbers_given(ptr {card}, ptr {more}, i64 {left}, ptr {numbers})")
        with f.when(f.op("icmp sge", "i64", several, "0")):
            x = f.load("ptr", "%args")
            result.set(f.let(f"call ptr @shown(ptr {card}, ptr {x}, ptr {numbers}, i64 {several})"))
    with f.when(same(f, result.get(), DECLINED)):
        result.set(own(f, api(f, "none")))
    f.end(f"ptr {result.get()}")
    return f


def _whole(f: Function, thing: str) -> str:
    """Is a limit of a slice not given, or a whole number?"""
    return f.op("or", "i1", same(f, thing, api(f, "none")), same(f, of(f, thing, TYPE), api(f, "int_type")))


def _counted() -> Function:
    """How many dimensions the items of an index are for; -1 where there is something else among them than numbers, slices, None and one Ellipsis."""
    f = Function("dimensions_meant", "i64", "ptr items", "i64 count", linkage="internal")
    wanted, skips = f.variable("i64", "0"), f.variable("i64", "0")
    with f.counted("0", "%count") as k:
        item = f.load("ptr", f.element("%items", k, "ptr"))
        type_ = of(f, item, TYPE)
        number, part = same(f, type_, api(f, "int_type")), same(f, type_, api(f, "slice_type"))
        skip, new = same(f, item, api(f, "ellipsis")), same(f, item, api(f, "none"))
        known = f.op("or", "i1", f.op("or", "i1", number, part), f.op("or", "i1", skip, new))
        when_not(f, known, "i64 -1")
        with f.when(part):
            for limit in (_START, _STOP, _STEP):
                when_not(f, _whole(f, of(f, item, limit)), "i64 -1")
        wanted.set(f.op("add", "i64", wanted.get(), f.cast("zext", "i1", f.op("or", "i1", number, part), "i64")))
        skips.set(f.op("add", "i64", skips.get(), f.cast("zext", "i1", skip, "i64")))
    when_not(f, f.op("icmp sle", "i64", skips.get(), "1"), "i64 -1")
    f.end(f"i64 {wanted.get()}")
    return f


def _part() -> Function:
    """The numbers of a slice of a dimension: how many (4); 0 where it is all of it, unless that is asked for; -1: not for here."""
    f = Function("part_meant", "i64", "ptr item", "i64 dim", "i64 size", "i1 asked", "ptr numbers", linkage="internal")
    start, stop, step = (f.element("%numbers", str(k), "i64") for k in range(1, 4))
    status = f.let(f"call i32 {api(f, 'unpack_slice')}(ptr %item, ptr {start}, ptr {stop}, ptr {step})")
    with f.when(f.op("icmp slt", "i32", status, "0"), rarely=True):
        f.line(f"call void {api(f, 'clear_error')}()")
        f.line("ret i64 -1")
        f.begin(*f.labels("unreachable"))
    by = f.load("i64", step)
    when_not(f, f.op("icmp sgt", "i64", by, "0"), "i64 -1")
    f.let(f"call i64 {api(f, 'limit_slice')}(i64 %size, ptr {start}, ptr {stop}, i64 {by})")
    first, end = f.load("i64", start), f.load("i64", stop)
    everything = f.op("and", "i1", same(f, first, "0", "i64"), same(f, end, "%size", "i64"))
    everything = f.op("and", "i1", everything, same(f, by, "1", "i64"))
    f.store("i64", "%dim", "%numbers")
    none = f.op("and", "i1", everything, f.op("xor", "i1", "%asked", "true"))
    f.end(f"i64 {f.select('i64', none, '0', '4')}")
    return f


def _index(f: Function, item: str) -> str:
    """A whole number; one that is refused elsewhere where it is beyond all."""
    beyond = f.reserve("i32")
    value = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {item}, ptr {beyond})")
    return f.select("i64", same(f, f.load("i32", beyond), "0", "i32"), value, str(2**62))


def _items() -> Function:
    """What an index shows, one step after the other; null with an exception, or `DECLINED`."""
    f = Function("shown_items", "ptr", "ptr card", "ptr x", "ptr index", linkage="internal")
    numbers, only, no, card = f.reserve("i64", MOST + 1), f.reserve("ptr"), f"ptr {DECLINED}", Card(f)
    items, count = f.variable("ptr", only), f.variable("i64", "1")
    f.store("ptr", "%index", only)
    with f.when(same(f, of(f, "%index", TYPE), api(f, "tuple_type"))):
        items.set(f.offset("%index", str(ITEM)))
        count.set(of(f, "%index", SIZE, "i64"))
    wanted = f.let(f"call i64 @dimensions_meant(ptr {items.get()}, i64 {count.get()})")
    when_not(f, f.op("icmp sge", "i64", wanted, "0"), no)
    where, array = api(f, "holder_array", "i64"), array_of(f, "%x")
    ndim = f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")
    when_not(f, f.op("icmp sle", "i64", wanted, ndim), no)
    alone = same(f, count.get(), "1", "i64")
    now, dim = f.variable("ptr", own(f, "%x")), f.variable("i64", "0")

    def go_on(which: str, several: str) -> None:
        """The next step, from what the last one has shown."""
        before = now.get()
        made = f.let(f"call ptr @shown(ptr {which}, ptr {before}, ptr {numbers}, i64 {several})")
        f.line(f"call void {api(f, 'decref')}(ptr {before})")
        when_not(f, f.op("icmp ugt", "i64", f.cast("ptrtoint", "ptr", made, "i64"), "1"), f"ptr {made}")
        now.set(made)

    with f.counted("0", count.get()) as k:
        item = f.load("ptr", f.element(items.get(), k, "ptr"))
        type_ = of(f, item, TYPE)
        with f.when(same(f, type_, api(f, "int_type"))):
            f.store("i64", dim.get(), numbers)
            f.store("i64", _index(f, item), f.element(numbers, "1", "i64"))
            go_on(card.thing(ONE_OF), "2")
        with f.when(same(f, type_, api(f, "slice_type"))):
            size = at(f, of(f, f.load("ptr", f.offset(now.get(), where)), DIMS), dim.get())
            given = f"ptr {item}, i64 {dim.get()}, i64 {size}, i1 {alone}, ptr {numbers}"
            several = f.let(f"call i64 @part_meant({given})")
            with f.when(f.op("icmp slt", "i64", several, "0")):
                f.line(f"call void {api(f, 'decref')}(ptr {now.get()})")
                f.line(f"ret {no}")
                f.begin(*f.labels("unreachable"))
            with f.when(f.op("icmp ne", "i64", several, "0")):
                go_on("%card", several)
            dim.set(f.op("add", "i64", dim.get(), "1"))
        with f.when(same(f, item, api(f, "none"))):
            f.store("i64", dim.get(), numbers)
            go_on(card.thing(WITH_ONE_MORE), "1")
            dim.set(f.op("add", "i64", dim.get(), "1"))
        with f.when(same(f, item, api(f, "ellipsis"))):
            dim.set(f.op("add", "i64", dim.get(), f.op("sub", "i64", ndim, wanted)))
    with f.when(same(f, now.get(), "%x")):
        go_on(card.thing(ALIKE), "0")
    f.end(f"ptr {now.get()}")
    return f


def functions() -> list[Function]:
    """All functions."""
    return [
        _as_tuple(),
        _shown(),
        _added(),
        _node(),
        _continued(),
        _placed(),
        _counted(),
        _part(),
        _items(),
        _of_objects(),
    ]
