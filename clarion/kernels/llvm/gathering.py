"""Elements that lie so many bytes apart, brought together: one number for all, side by side, every second or fourth, or at any step."""

from __future__ import annotations

from .text import Function, with_lanes

BEYOND = 64  # bytes beyond the last element that may be written, too: they are room for what comes next
_SIZES = {4: "i32", 8: "i64", 1: "i8", 2: "i16", 16: "<2 x i64>"}  # bytes of an element; the everyday ones first
_EVERY = (2, 4)  # steps, in elements, at which a vector is picked from several


def name_for(size: int) -> str:
    """The function for elements of so many bytes: `(near, far, step, count)`."""
    return f"gather_of_{size}"


def _splat(f: Function, type_: str, lanes: int) -> None:
    vector = with_lanes(lanes, type_)
    with f.when(f.op("icmp eq", "i64", "%step", "0")):
        with f.when(f.op("icmp sgt", "i64", "%count", "0")):
            value = f.spread(vector, f.load(type_, "%far", 1))
            with f.counted("0", "%count", str(lanes)) as i:
                f.store(vector, value, f.element("%near", i, type_), 1)
        f.line("ret void")
        f.begin(*f.labels("unreachable"))


def _picked(f: Function, vectors: list[str], type_: str, lanes: int) -> str:
    """Every second, or fourth, of the lanes of so many vectors."""
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        mask = ", ".join(f"i32 {2 * k}" for k in range(lanes))
        vector = with_lanes(lanes, type_)
        vectors = [
            f.let(f"shufflevector {vector} {a}, {vector} {b}, {with_lanes(lanes, 'i32')} <{mask}>") for a, b in pairs
        ]
    return vectors[0]


def _gather(size: int) -> Function:
    f = Function(name_for(size), "void", "ptr near", "ptr far", "i64 step", "i64 count", linkage="internal")
    type_, lanes = _SIZES[size], 64 // size
    done = f.variable("i64", "0")
    if size in (4, 8):
        vector = with_lanes(lanes, type_)
        _splat(f, type_, lanes)
        for every in (1, *_EVERY):
            with f.when(f.op("icmp eq", "i64", "%step", str(every * size))), f.forever() as out:
                i = done.get()
                further = f.op("add", "i64", i, str(lanes))
                # (What lies behind the last element is nobody's: of steps it is left to the rest.)
                f.leave_when(f.op("icmp sgt" if every == 1 else "icmp sge", "i64", further, "%count"), out)
                place = f.offset("%far", f.op("mul", "i64", i, "%step"))
                vectors = [f.load(vector, f.offset(place, str(64 * k)), 1) for k in range(every)]
                f.store(vector, _picked(f, vectors, type_, lanes), f.element("%near", i, type_), 1)
                done.set(further)
    with f.counted(done.get(), "%count") as i:
        value = f.load(type_, f.offset("%far", f.op("mul", "i64", i, "%step")), 1)
        f.store(type_, value, f.element("%near", i, type_), 1)
    f.end()
    return f


def _any_size() -> Function:
    f = Function("gather", "void", "ptr near", "ptr far", "i64 step", "i64 count", "i64 size", linkage="internal")
    for size in _SIZES:
        with f.when(f.op("icmp eq", "i64", "%size", str(size))):
            f.line(f"call void @{name_for(size)}(ptr %near, ptr %far, i64 %step, i64 %count)")
    f.end()
    return f


def _scatter() -> Function:
    """The other way round."""
    f = Function("scatter", "void", "ptr near", "ptr far", "i64 step", "i64 count", "i64 size", linkage="internal")
    for size, type_ in _SIZES.items():
        with f.when(f.op("icmp eq", "i64", "%size", str(size))), f.counted("0", "%count") as i:
            far = f.offset("%far", f.op("mul", "i64", i, "%step"))
            f.store(type_, f.load(type_, f.element("%near", i, type_), 1), far, 1)
    f.end()
    return f


def functions() -> list[Function]:
    """All functions."""
    return [*[_gather(size) for size in _SIZES], _any_size(), _scatter()]
