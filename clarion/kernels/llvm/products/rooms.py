"""Room for panels, kept between products: a thread takes one that nobody uses, and gives it back.

All rooms are of one size. (The C library's own would be found again as well, but freeing more than 64 kB makes it tidy up.) Where to
look first depends on the processor: what is in a room lies in the cache of whoever used it last, and to get it from there takes longer
than to fill it.
"""

from __future__ import annotations

from ..pool import processor
from ..text import Function

KEPT = 64  # rooms that are kept
GLOBALS = f"@rooms = internal global [{KEPT} x ptr] zeroinitializer, align 64\n"


def take(bytes_: int) -> Function:
    """A room, kept or new, aligned to a line of the cache."""
    f = Function("take_room", "ptr", linkage="internal")
    first = processor(f)
    with f.counted("0", str(KEPT)) as k:
        found = _exchanged(f, _slot(f, first, k), "null")
        with f.when(f.op("icmp ne", "ptr", found, "null")):
            f.line(f"ret ptr {found}")
            f.begin(*f.labels("unreachable"))
    f.end(f"ptr {f.call('aligned_alloc', 'ptr', 'i64 64', f'i64 {(bytes_ + 63) // 64 * 64}')}")
    return f


def give() -> Function:
    """Give a room back; where enough are kept it is freed."""
    f = Function("give_room", "void", "ptr room", linkage="internal")
    room, first = f.variable("ptr", "%room"), processor(f)
    with f.counted("0", str(KEPT)) as k:
        room.set(_exchanged(f, _slot(f, first, k), room.get()))
        with f.when(f.op("icmp eq", "ptr", room.get(), "null")):
            f.line("ret void")
            f.begin(*f.labels("unreachable"))
    f.call("free", "void", f"ptr {room.get()}")
    f.end()
    return f


def _slot(f: Function, first: str, k: str) -> str:
    return f.op("and", "i64", f.op("add", "i64", first, k), str(KEPT - 1))


def _exchanged(f: Function, slot: str, room: str) -> str:
    """What was kept in a slot, where `room` is now."""
    return f.let(f"atomicrmw xchg ptr {f.element('@rooms', slot, 'ptr')}, ptr {room} seq_cst, align 8")
