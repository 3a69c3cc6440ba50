"""Threads that share a loop's work: a pool written in LLVM's language, so that its workers never ask for Python's lock.

NOTE [Pool]: `parallel(task, context, chunks)` runs `task(context, 0 … chunks - 1)` on the caller's thread and the workers.
Every thread has a part of the chunks, always the same one: what it wrote in one loop lies in its cache when it reads it in the
next, and to fetch a line from another processor takes longer than most arithmetic on it. Who is done with its own part takes
what others have left, so nobody waits for a thread that comes late. A worker waits for a new `generation`: for a while busily,
because mostly the next loop comes soon and to be woken takes as long as a loop, then asleep; at once, if somebody else wants its
processor, for one who sleeps is let in first when he is woken. Linux likes to put a worker that was woken onto the processor
of its caller, where it waits until that has a pause: so it is told to stay away from there. One loop has the pool at a time (`busy`); another thread that
wants it meanwhile does its work alone.

What the caller tells (`job`) stands on one line of the cache, what workers tell on another one. `gate` counts the workers
inside; the caller closes it when nobody is, so nobody reads a task that is gone. Floating-point flags of workers are handed to
the caller, whom NumPy asks for them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from .text import Function

SPINS = 20_000  # looks for work before a worker sleeps: some 0.5 ms, as long as Python takes from one loop to the next
YIELD = 64  # after so many looks others may have the processor
LONG = 100_000  # cycles that others have had it, if they want it: then there is no use in looking
PARTS = 64  # of the chunks, at most: one for each thread
_CLOSED = 1 << 40  # in `gate`

GLOBALS = f"""
@threads = global i64 1, align 64
@started = internal global i64 0
@busy = internal global i64 0
@job = internal global [8 x i64] zeroinitializer, align 64
@gate = internal global i64 {_CLOSED}, align 64
@done = internal global i64 0
@flags = internal global i64 0
@sleeping = internal global i64 0, align 64
@mutex = internal global [128 x i8] zeroinitializer, align 64
@woken = internal global [128 x i8] zeroinitializer, align 64
@next = internal global [{PARTS} x [8 x i64]] zeroinitializer, align 64
@tids = internal global [{PARTS} x i32] zeroinitializer, align 64
"""
_ORDER = "seq_cst"
_TASK, _CONTEXT, _CHUNKS, _PARTS, _PROCESSOR, _GENERATION = range(6)  # of the job
_LINUX = sys.platform == "linux"
_CPUS = 1024  # processors that a mask has room for


def _get(f: Function, name: str) -> str:
    return f.let(f"load atomic i64, ptr @{name} {_ORDER}, align 8")


def _set(f: Function, name: str, value: str) -> None:
    f.line(f"store atomic i64 {value}, ptr @{name} {_ORDER}, align 8")


def _count(f: Function, name: str, by: int | str = 1) -> str:
    """Add, and give what was there before."""
    return f.let(f"atomicrmw add ptr @{name}, i64 {by} {_ORDER}")


def _job(f: Function, place: int) -> str:
    return f.element("@job", str(place), "i64")


def _generation(f: Function) -> str:
    return f.let(f"load atomic i64, ptr {_job(f, _GENERATION)} {_ORDER}, align 8")


def _pause(f: Function, x86: bool) -> None:
    if x86:
        f.call("llvm.x86.sse2.pause", "void")
    else:
        f.line('call void asm sideeffect "", "~{memory}"()')


def _counter(f: Function, part: str) -> str:
    """Where it stands how many chunks of a part are taken: on a line of the cache of its own."""
    return f.let(f"getelementptr [8 x i64], ptr @next, i64 {part}")


def _take_chunks(f: Function, mine: str) -> str:
    """Run chunks of the open task until there are none: first those of one's own part, then what others have left. Gives how many."""
    task, context = (f.load("ptr", _job(f, place)) for place in (_TASK, _CONTEXT))
    chunks, parts = (f.load("i64", _job(f, place)) for place in (_CHUNKS, _PARTS))
    ran = f.variable("i64", "0")
    with f.counted("0", parts) as turn:
        part = f.op("srem", "i64", f.op("add", "i64", mine, turn), parts)
        first, end = (
            f.op("sdiv", "i64", f.op("mul", "i64", chunks, k), parts) for k in (part, f.op("add", "i64", part, "1"))
        )
        counter = _counter(f, part)
        with f.forever() as out:
            # (To look first is cheaper than to take: the line stays where it is.)
            seen = f.op("add", "i64", first, f.let(f"load atomic i64, ptr {counter} monotonic, align 8"))
            f.leave_when(f.op("icmp sge", "i64", seen, end), out)
            chunk = f.op("add", "i64", first, f.let(f"atomicrmw add ptr {counter}, i64 1 {_ORDER}"))
            f.leave_when(f.op("icmp sge", "i64", chunk, end), out)
            f.line(f"call void {task}(ptr {context}, i64 {chunk})")
            ran.set(f.op("add", "i64", ran.get(), "1"))
    return ran.get()


def flags(f: Function, x86: bool) -> str:
    """The processor's floating-point flags of this thread, as an i64 (0 where there is no cheap way to ask)."""
    if not x86:
        return "0"
    place = f.reserve("i32")
    f.call("llvm.x86.sse.stmxcsr", "void", f"ptr {place}")
    return f.cast("zext", "i32", f.op("and", "i32", f.load("i32", place), "63"), "i64")


def _raise_flags(f: Function, flags: str, x86: bool) -> None:
    """Set flags of this thread."""
    if not x86:
        return
    with f.when(f.op("icmp ne", "i64", flags, "0")):
        place = f.reserve("i32")
        f.call("llvm.x86.sse.stmxcsr", "void", f"ptr {place}")
        both = f.op("or", "i32", f.load("i32", place), f.cast("trunc", "i64", flags, "i32"))
        f.store("i32", both, place)
        f.call("llvm.x86.sse.ldmxcsr", "void", f"ptr {place}")


def clear_flags(f: Function, x86: bool) -> None:
    """Forget the floating-point errors of this thread."""
    if not x86:
        return
    place = f.reserve("i32")
    f.call("llvm.x86.sse.stmxcsr", "void", f"ptr {place}")
    f.store("i32", f.op("and", "i32", f.load("i32", place), "-64"), place)
    f.call("llvm.x86.sse.ldmxcsr", "void", f"ptr {place}")


def all_chunks(f: Function, chunk: str, context: str, count: str, parallel: str, x86: bool) -> None:
    """Call `chunk(context, number)` for each number, by several threads if there are several chunks and somebody who shares them
    out (`parallel`, or null). As BLAS, it says nothing of floating-point errors."""
    several = f.op("and", "i1", f.op("icmp sgt", "i64", count, "1"), f.op("icmp ne", "ptr", parallel, "null"))
    with f.when(several):
        f.line(f"call void {parallel}(ptr @{chunk}, ptr {context}, i64 {count})")
    with f.when(f.op("xor", "i1", several, "true")), f.counted("0", count) as number:
        f.line(f"call void @{chunk}(ptr {context}, i64 {number})")
    clear_flags(f, x86)


def processor(f: Function) -> str:
    """The number of the processor that this thread runs on, -1 where nobody says."""
    return f.cast("sext", "i32", f.call("sched_getcpu", "i32"), "i64") if _LINUX else "-1"


def keep_away() -> Function:
    """A thread (0: this one) stays away from a processor from now on, if the process may use others."""
    f = Function("keep_away", "void", "i32 thread", "i64 processor", linkage="internal")
    if _LINUX:
        mask, some = f.reserve("i64", _CPUS // 64), f.variable("i64", "0")
        known = f.op("icmp ult", "i64", "%processor", str(_CPUS))
        process = f.call("getpid", "i32")
        asked = f.call("sched_getaffinity", "i32", f"i32 {process}", f"i64 {_CPUS // 8}", f"ptr {mask}")
        with f.when(f.op("and", "i1", known, f.op("icmp eq", "i32", asked, "0"))):
            place = f.element(mask, f.op("lshr", "i64", "%processor", "6"), "i64")
            bit = f.op("shl", "i64", "1", f.op("and", "i64", "%processor", "63"))
            f.store("i64", f.op("and", "i64", f.load("i64", place), f.op("xor", "i64", bit, "-1")), place)
            with f.counted("0", str(_CPUS // 64)) as k:
                some.set(f.op("or", "i64", some.get(), f.load("i64", f.element(mask, k, "i64"))))
            with f.when(f.op("icmp ne", "i64", some.get(), "0")):
                f.call("sched_setaffinity", "i32", "i32 %thread", f"i64 {_CPUS // 8}", f"ptr {mask}")
    f.end()
    return f


def _look(f: Function, seen: str, x86: bool) -> None:
    """Until there is a new generation: busily, and then asleep."""
    looks = f.variable("i64", "0")
    with f.forever() as found:
        f.leave_when(f.op("icmp ne", "i64", _generation(f), seen), found)
        _pause(f, x86)
        looks.set(f.op("add", "i64", looks.get(), "1"))
        with f.when(f.op("icmp eq", "i64", f.op("and", "i64", looks.get(), str(YIELD - 1)), "0")):
            before = f.call("llvm.readcyclecounter", "i64") if x86 else "0"
            f.call("sched_yield", "i32")
            after = f.call("llvm.readcyclecounter", "i64") if x86 else "0"
            with f.when(f.op("icmp sgt", "i64", f.op("sub", "i64", after, before), str(LONG))):
                looks.set(str(SPINS + 1))
        with f.when(f.op("icmp sgt", "i64", looks.get(), str(SPINS)), rarely=True):
            f.call("pthread_mutex_lock", "i32", "ptr @mutex")
            _count(f, "sleeping")
            with f.forever() as awake:
                f.leave_when(f.op("icmp ne", "i64", _generation(f), seen), awake)
                f.call("pthread_cond_wait", "i32", "ptr @woken", "ptr @mutex")
            _count(f, "sleeping", -1)
            f.call("pthread_mutex_unlock", "i32", "ptr @mutex")


def worker(x86: bool) -> Function:
    """The life of a thread of the pool. Its argument is its number, from 0."""
    f = Function("worker", "ptr", "ptr argument", linkage="internal")
    mine = f.op("add", "i64", f.cast("ptrtoint", "ptr", "%argument", "i64"), "1")
    seen = f.variable("i64", "0")
    if _LINUX:
        f.store("i32", f.call("gettid", "i32"), f.element("@tids", f.op("srem", "i64", mine, str(PARTS)), "i32"))
    with f.forever():
        _look(f, seen.get(), x86)
        seen.set(_generation(f))
        mine_now, callers = processor(f), f.load("i64", _job(f, _PROCESSOR))
        with f.when(f.op("icmp eq", "i64", mine_now, callers), rarely=True):
            f.line(f"call void @keep_away(i32 0, i64 {callers})")
        is_open = f.op("icmp slt", "i64", _count(f, "gate"), str(_CLOSED))
        with f.when(is_open), f.when(f.op("icmp slt", "i64", mine, f.load("i64", _job(f, _PARTS)))):
            clear_flags(f, x86)
            ran = _take_chunks(f, mine)
            raised = flags(f, x86)
            with f.when(f.op("icmp ne", "i64", raised, "0")):
                f.let(f"atomicrmw or ptr @flags, i64 {raised} {_ORDER}")
            with f.when(f.op("icmp ne", "i64", ran, "0")):
                _count(f, "done", ran)
        _count(f, "gate", -1)
    f.end("ptr null")
    return f


def _start_workers(f: Function) -> None:
    """As many workers as are wanted and not there yet."""
    wanted = f.op("sub", "i64", _get(f, "threads"), "1")
    handle = f.reserve("i64")
    with f.forever() as enough:
        started = _get(f, "started")
        f.leave_when(f.op("icmp sge", "i64", started, wanted), enough)
        with f.when(f.op("icmp eq", "i64", started, "0")):
            f.call("pthread_mutex_init", "i32", "ptr @mutex", "ptr null")
            f.call("pthread_cond_init", "i32", "ptr @woken", "ptr null")
        number = f.cast("inttoptr", "i64", started, "ptr")
        failed = f.call("pthread_create", "i32", f"ptr {handle}", "ptr null", "ptr @worker", f"ptr {number}")
        f.leave_when(f.op("icmp ne", "i32", failed, "0"), enough)
        f.call("pthread_detach", "i32", f"i64 {f.load('i64', handle)}")
        _set(f, "started", f.op("add", "i64", started, "1"))


def parallel(x86: bool) -> Function:
    """Run `task(context, chunk)` for all chunks, and wait until all are done."""
    f = Function("parallel", "void", "ptr task", "ptr context", "i64 chunks")
    got = f.let(f"cmpxchg ptr @busy, i64 0, i64 1 {_ORDER} {_ORDER}")
    mine = f.let(f"extractvalue {{ i64, i1 }} {got}, 1")
    with f.when(f.op("xor", "i1", mine, "true")):  # another thread has the pool
        with f.counted("0", "%chunks") as chunk:
            f.line(f"call void %task(ptr %context, i64 {chunk})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    _start_workers(f)
    for value, place in (("ptr %task", _TASK), ("ptr %context", _CONTEXT), ("i64 %chunks", _CHUNKS)):
        f.line(f"store {value}, ptr {_job(f, place)}")
    parts = f.call("llvm.smin.i64", "i64", f"i64 {_get(f, 'threads')}", f"i64 {PARTS}")
    f.store("i64", parts, _job(f, _PARTS))
    here = processor(f)
    f.store("i64", here, _job(f, _PROCESSOR))
    with f.counted("0", parts) as part:
        f.line(f"store atomic i64 0, ptr {_counter(f, part)} monotonic, align 8")
    f.line("store atomic i64 0, ptr @done monotonic, align 8")
    _count(f, "gate", -_CLOSED)
    f.let(f"atomicrmw add ptr {_job(f, _GENERATION)}, i64 1 {_ORDER}")
    with f.when(f.op("icmp ne", "i64", _get(f, "sleeping"), "0"), rarely=True):
        with f.counted("1", parts) as number:
            thread = f.load("i32", f.element("@tids", number, "i32"))
            with f.when(f.op("icmp ne", "i32", thread, "0")):
                f.line(f"call void @keep_away(i32 {thread}, i64 {here})")
        f.call("pthread_mutex_lock", "i32", "ptr @mutex")
        f.call("pthread_cond_broadcast", "i32", "ptr @woken")
        f.call("pthread_mutex_unlock", "i32", "ptr @mutex")
    ran = _take_chunks(f, "0")
    _until(f, lambda: f.op("icmp eq", "i64", _get(f, "done"), f.op("sub", "i64", "%chunks", ran)), x86)
    _until(f, lambda: _closed(f), x86)
    with f.when(f.op("icmp ne", "i64", _get(f, "flags"), "0")):
        _raise_flags(f, f.let(f"atomicrmw xchg ptr @flags, i64 0 {_ORDER}"), x86)
    _set(f, "busy", "0")
    f.end()
    return f


def _closed(f: Function) -> str:
    """Close the gate, if nobody is inside: did it succeed?"""
    result = f.let(f"cmpxchg ptr @gate, i64 0, i64 {_CLOSED} {_ORDER} {_ORDER}")
    return f.let(f"extractvalue {{ i64, i1 }} {result}, 1")


def _until(f: Function, condition: Callable[[], str], x86: bool) -> None:
    """Wait busily; after a while others may have the processor."""
    looks = f.variable("i64", "0")
    with f.forever() as reached:
        f.leave_when(condition(), reached)
        _pause(f, x86)
        looks.set(f.op("add", "i64", looks.get(), "1"))
        with f.when(f.op("icmp sgt", "i64", looks.get(), "1000")):
            f.call("sched_yield", "i32")


def after_fork() -> Function:
    """In a child nobody of the pool is there: start anew."""
    f = Function("after_fork", "void")
    for name in ("started", "busy", "sleeping", "done", "flags"):
        _set(f, name, "0")
    _set(f, "gate", str(_CLOSED))
    with f.counted("0", str(PARTS)) as part:
        f.store("i32", "0", f.element("@tids", part, "i32"))
    f.end()
    return f


def set_threads() -> Function:
    """How many threads work on a loop, the caller's included."""
    f = Function("set_threads", "void", "i64 count")
    _set(f, "threads", "%count")
    f.end()
    return f


def functions(x86: bool) -> list[Function]:
    """All functions of the pool."""
    return [keep_away(), worker(x86), parallel(x86), after_fork(), set_threads()]


def chunks(f: Function, length: str, grain: str, multiple: int) -> tuple[str, str, str]:
    """Is it worth sharing? And: how large a chunk is, how many there are. One or two for each thread.

    The same thread gets the same share of every loop, whatever that costs: see NOTE [Pool].
    """
    threads = f.let("load atomic i64, ptr @threads monotonic, align 8")
    most = f.op("mul", "i64", threads, "2")
    half = f.op("sdiv", "i64", f.op("add", "i64", length, f.op("sub", "i64", most, "1")), most)
    half = f.op(
        "mul", "i64", f.op("sdiv", "i64", f.op("add", "i64", half, str(multiple - 1)), str(multiple)), str(multiple)
    )
    half = f.call("llvm.smax.i64", "i64", f"i64 {half}", "i64 1")  # of nothing there is nothing to divide by
    large = f.op("icmp sge", "i64", half, grain)
    size = f.let(f"select i1 {large}, i64 {half}, i64 {f.op('mul', 'i64', half, '2')}")
    count = f.op("sdiv", "i64", f.op("add", "i64", length, f.op("sub", "i64", size, "1")), size)
    worth = f.op("and", "i1", f.op("icmp sgt", "i64", threads, "1"), f.op("icmp sgt", "i64", length, grain))
    return f.op("and", "i1", worth, f.op("icmp sgt", "i64", count, "1")), size, count
