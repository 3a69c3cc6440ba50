"""Objects joined along a dimension, of their own or a new one: the kernels of small_moves.py for objects (NOTE [Held arrays] in kernels/held.py), history and all."""

from __future__ import annotations

from .api import DATA, DECLINED, DESCR, DIMS, ITEM, NDIM, SIZE, TYPE, api, of, same, when_not
from .plan import field
from .small_moves import STACKS
from .text import Function
from .views import HELD_EDGE, HELD_FLAG, HELD_NUMBER, HUB, LISTENER, VIEWS, Card, array_of, own, unchanged
from .views import WORDS as MOVES

WORDS = MOVES + 1  # after what views.py reads: the card of the kernel
_MOST = 64  # objects
_NO = f"ptr {DECLINED}"


def _looked_at() -> Function:
    """Are these objects for here? 0: no; 1; 3: one of them has a history; 5, 7: and a number."""
    f = Function("joins_here", "i64", "ptr card", "ptr items", "i64 count", linkage="internal")
    card, result = Card(f), f.variable("i64", "1")
    views, no = Card(f, card.thing(VIEWS)), "i64 0"
    kind = f.variable("ptr", "null")
    when_not(f, same(f, card.in_(card.thing(HUB), LISTENER), api(f, "none")), no)
    zero = card.in_(api(f, "prototype"), HELD_NUMBER)
    with f.counted("0", "%count") as k:
        x = f.load("ptr", f.element("%items", k, "ptr"))
        array = array_of(f, x, no)
        with f.when(same(f, k, "0", "i64")):
            kind.set(of(f, array, DESCR))
        when_not(f, same(f, of(f, array, DESCR), kind.get()), no)
        wanted = same(f, card.in_(x, HELD_FLAG), api(f, "true"))
        unchanged(f, views, x, wanted, card[HELD_FLAG], no)
        numbered = f.op("and", "i1", wanted, f.op("icmp ne", "ptr", card.in_(x, HELD_NUMBER), zero))
        for condition, bit in ((wanted, "2"), (numbered, "4")):
            result.set(f.op("or", "i64", result.get(), f.select("i64", condition, bit, "0")))
    floats = f.op("or", "i1", same(f, kind.get(), api(f, "float32")), same(f, kind.get(), api(f, "float64")))
    when_not(f, floats, no)
    f.end(f"i64 {result.get()}")
    return f


def _array(f: Function, x: str) -> str:
    return f.load("ptr", f.offset(x, api(f, "holder_array", "i64")))


def _new_tuple(f: Function, count: str) -> str:
    made = f.let(f"call ptr {api(f, 'new_tuple')}(i64 {count})")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    return made


def _history() -> Function:
    """What is added to the history."""
    f = Function(
        "join_added", "ptr", "ptr card", "ptr items", "i64 count", "ptr dim", "i1 numbered", linkage="internal"
    )
    card, none, numbers = Card(f), api(f, "none"), f.variable("ptr", "null")
    edges = _new_tuple(f, "%count")
    saved = f.let(f"call ptr {api(f, 'new_list')}(i64 {f.op('add', 'i64', f.op('mul', 'i64', '%count', '2'), '3')})")
    when_not(f, f.op("icmp ne", "ptr", saved, "null"), "ptr null")
    places, shapes = of(f, saved, ITEM), f.op("add", "i64", "%count", "3")
    with f.when("%numbered"):
        numbers.set(_new_tuple(f, "%count"))
    with f.counted("0", "%count") as k:
        x = f.load("ptr", f.element("%items", k, "ptr"))
        edge, own_edge = f.variable("ptr", none), card.in_(x, HELD_EDGE)
        with f.when(same(f, card.in_(x, HELD_FLAG), api(f, "true"))):
            edge.set(f.select("ptr", same(f, own_edge, none), x, own_edge))
        f.store("ptr", own(f, edge.get()), f.element(f.offset(edges, str(ITEM)), k, "ptr"))
        with f.when("%numbered"):
            number = own(f, card.in_(x, HELD_NUMBER))
            f.store("ptr", number, f.element(f.offset(numbers.get(), str(ITEM)), k, "ptr"))
        f.store("ptr", own(f, none), f.element(places, k, "ptr"))
        array = _array(f, x)
        ndim = f.cast("sext", "i32", of(f, array, NDIM, "i32"), "i64")
        shape = f.let(f"call ptr @tuple_of(ptr {of(f, array, DIMS)}, i64 {ndim})")
        when_not(f, f.op("icmp ne", "ptr", shape, "null"), "ptr null")
        f.store("ptr", shape, f.element(places, f.op("add", "i64", shapes, k), "ptr"))
    for at, thing in enumerate(("%dim", none, none)):  # the dimension, no other type, no result
        f.store("ptr", own(f, thing), f.element(places, f.op("add", "i64", "%count", str(at)), "ptr"))
    f.end(f"ptr {f.let(f'call ptr @node_of(ptr %card, ptr {edges}, ptr {saved}, ptr {numbers.get()})')}")
    return f


def _joined() -> Function:
    """The object that holds what others hold, one after the other; null with an exception, or `DECLINED`."""
    f = Function("objects_joined", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    given, beyond, card = f.reserve("ptr", 3), f.reserve("i32"), Card(f)
    when_not(f, same(f, "%count", "2", "i64"), _NO)
    several, number = (f.load("ptr", f.element("%args", str(k), "ptr")) for k in range(2))
    items, is_list = f.variable("ptr", f.offset(several, str(ITEM))), same(f, of(f, several, TYPE), api(f, "list_type"))
    when_not(f, f.op("or", "i1", is_list, same(f, of(f, several, TYPE), api(f, "tuple_type"))), _NO)
    with f.when(is_list):
        items.set(of(f, several, ITEM))
    count = of(f, several, SIZE, "i64")
    when_not(f, f.op("icmp ult", "i64", f.op("sub", "i64", count, "1"), str(_MOST)), _NO)
    when_not(f, same(f, of(f, number, TYPE), api(f, "int_type")), _NO)
    dim = f.let(f"call i64 {api(f, 'as_int64_or')}(ptr {number}, ptr {beyond})")
    when_not(f, same(f, f.load("i32", beyond), "0", "i32"), _NO)
    state = f.let(f"call i64 @joins_here(ptr %card, ptr {items.get()}, i64 {count})")
    when_not(f, f.op("icmp ne", "i64", state, "0"), _NO)
    moves = card.thing(MOVES)
    first = _array(f, f.load("ptr", items.get()))
    ndim = f.op("add", "i64", f.cast("sext", "i32", of(f, first, NDIM, "i32"), "i64"), field(f, moves, STACKS))
    dim = f.op("add", "i64", dim, f.select("i64", f.op("icmp slt", "i64", dim, "0"), ndim, "0"))
    when_not(f, f.op("icmp ult", "i64", dim, ndim), _NO)
    arrays, place = _new_tuple(f, count), f.let(f"call ptr {api(f, 'from_int64')}(i64 {dim})")
    with f.counted("0", count) as k:
        array = _array(f, f.load("ptr", f.element(items.get(), k, "ptr")))
        f.store("ptr", own(f, array), f.element(f.offset(arrays, str(ITEM)), k, "ptr"))
    for k, thing in enumerate((arrays, place, api(f, "none"))):
        f.store("ptr", thing, f.element(given, str(k), "ptr"))
    result = f.variable("ptr", f.let(f"call ptr @joined(ptr {moves}, ptr {given}, i64 3, ptr null)"))
    f.line(f"call void {api(f, 'decref')}(ptr {arrays})")
    made = f.op("icmp ugt", "i64", f.cast("ptrtoint", "ptr", result.get(), "i64"), "1")
    with f.when(made):
        result.set(f.let(f"call ptr @around(ptr {result.get()})"))
        recorded = f.op("icmp ne", "i64", f.op("and", "i64", state, "2"), "0")
        with f.when(f.op("and", "i1", recorded, f.op("icmp ne", "ptr", result.get(), "null"))):
            numbered = f.op("icmp ne", "i64", f.op("and", "i64", state, "4"), "0")
            told = f"ptr %card, ptr {items.get()}, i64 {count}, ptr {place}, i1 {numbered}"
            node = f.let(f"call ptr @join_added({told})")
            when_not(f, f.op("icmp ne", "ptr", node, "null"), "ptr null")
            f.line(f"call void @continued(ptr %card, ptr {result.get()}, ptr {node})")
    f.line(f"call void {api(f, 'decref')}(ptr {place})")
    f.end(f"ptr {result.get()}")
    return f


def _entry() -> Function:
    """What CPython calls: None where that is not for here."""
    f = Function("direct_joined", "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    result = f.variable("ptr", DECLINED)
    with f.when(same(f, "%names", "null")):
        result.set(f.let(f"call ptr @objects_joined(ptr {of(f, '%self', DATA)}, ptr %args, i64 %count)"))
    with f.when(same(f, result.get(), DECLINED)):
        result.set(own(f, api(f, "none")))
    f.end(f"ptr {result.get()}")
    return f


def functions() -> list[Function]:
    """All functions."""
    return [_looked_at(), _history(), _joined(), _entry()]
