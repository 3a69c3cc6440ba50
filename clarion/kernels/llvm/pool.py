"""Threads that share a loop's work: a pool written in LLVM's language, so that its workers never ask for Python's lock.

NOTE [Pool]: `parallel(task, context, chunks)` runs `task(context, 0 … chunks - 1)` on the caller's thread and the workers.
A worker waits for a new `generation`: for a while busily, because mostly the next loop comes soon and to be woken takes as
long as a loop, then asleep. One loop has the pool at a time (`busy`); another thread that wants it meanwhile does its work
alone. `open` says that chunks are to be had, `active` how many workers may be taking them: the caller waits until that is 0
before it gives the pool away, so nobody reads a task that is gone. Floating-point flags of workers are handed to the caller,
whom NumPy asks for them.
"""

from __future__ import annotations

from .text import Function

SPINS = 20_000  # looks for work before a worker sleeps: some 0.4 ms, as long as Python takes from one loop to the next
YIELD = 64  # after so many looks others may have the processor: BLAS has threads, too

GLOBALS = """
@threads = global i64 1
@started = internal global i64 0
@busy = internal global i64 0
@generation = internal global i64 0
@open = internal global i64 0
@active = internal global i64 0
@sleeping = internal global i64 0
@task = internal global ptr null
@context = internal global ptr null
@chunks = internal global i64 0
@next = internal global i64 0
@done = internal global i64 0
@flags = internal global i64 0
@mutex = internal global [128 x i8] zeroinitializer, align 16
@woken = internal global [128 x i8] zeroinitializer, align 16
"""
_ORDER = "seq_cst"


def _get(f: Function, name: str) -> str:
    return f.let(f"load atomic i64, ptr @{name} {_ORDER}, align 8")


def _set(f: Function, name: str, value: str) -> None:
    f.line(f"store atomic i64 {value}, ptr @{name} {_ORDER}, align 8")


def _count(f: Function, name: str, by: int = 1) -> str:
    """Add, and give what was there before."""
    return f.let(f"atomicrmw add ptr @{name}, i64 {by} {_ORDER}")


def _pause(f: Function, x86: bool) -> None:
    if x86:
        f.call("llvm.x86.sse2.pause", "void")
    else:
        f.line('call void asm sideeffect "", "~{memory}"()')


def _take_chunks(f: Function, last_first: bool) -> None:
    """Run chunks of the open task until there are none: the caller begins with the first, the workers with the last.

    So the same thread mostly gets the same part of an array in loop after loop, and finds it in its own cache.
    `next` counts both ends: those taken in front in its lower half, those behind in its upper half.
    """
    task, context, chunks = f.load("ptr", "@task"), f.load("ptr", "@context"), f.load("i64", "@chunks")
    with f.forever() as out:
        taken = _count(f, "next", 1 << 32 if last_first else 1)
        front, behind = f.op("and", "i64", taken, str((1 << 32) - 1)), f.op("lshr", "i64", taken, "32")
        f.leave_when(f.op("icmp sge", "i64", f.op("add", "i64", front, behind), chunks), out)
        last = f.op("sub", "i64", f.op("sub", "i64", chunks, "1"), behind)
        f.line(f"call void {task}(ptr {context}, i64 {last if last_first else front})")
        _count(f, "done")


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


def worker(x86: bool) -> Function:
    """The life of a thread of the pool. Its argument is its number, from 0."""
    f = Function("worker", "ptr", "ptr argument", linkage="internal")
    number = f.cast("ptrtoint", "ptr", "%argument", "i64")
    seen = f.variable("i64", "0")
    looks = f.variable("i64", "0")
    with f.forever():
        looks.set("0")
        with f.forever() as found:
            f.leave_when(f.op("icmp ne", "i64", _get(f, "generation"), seen.get()), found)
            _pause(f, x86)
            looks.set(f.op("add", "i64", looks.get(), "1"))
            with f.when(f.op("icmp eq", "i64", f.op("and", "i64", looks.get(), str(YIELD - 1)), "0")):
                f.call("sched_yield", "i32")
            with f.when(f.op("icmp sgt", "i64", looks.get(), str(SPINS)), rarely=True):
                f.call("pthread_mutex_lock", "i32", "ptr @mutex")
                _count(f, "sleeping")
                with f.forever() as awake:
                    f.leave_when(f.op("icmp ne", "i64", _get(f, "generation"), seen.get()), awake)
                    f.call("pthread_cond_wait", "i32", "ptr @woken", "ptr @mutex")
                _count(f, "sleeping", -1)
                f.call("pthread_mutex_unlock", "i32", "ptr @mutex")
        seen.set(_get(f, "generation"))
        _count(f, "active")
        wanted = f.op("icmp slt", "i64", f.op("add", "i64", number, "1"), _get(f, "threads"))
        offered = f.op("icmp ne", "i64", _get(f, "open"), "0")
        with f.when(f.op("and", "i1", wanted, offered)):
            clear_flags(f, x86)
            _take_chunks(f, last_first=True)
            f.let(f"atomicrmw or ptr @flags, i64 {flags(f, x86)} {_ORDER}")
        _count(f, "active", -1)
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
    f.store("ptr", "%task", "@task")
    f.store("ptr", "%context", "@context")
    f.store("i64", "%chunks", "@chunks")
    _set(f, "next", "0")
    _set(f, "done", "0")
    _set(f, "open", "1")
    _count(f, "generation")
    with f.when(f.op("icmp ne", "i64", _get(f, "sleeping"), "0")):
        f.call("pthread_mutex_lock", "i32", "ptr @mutex")
        f.call("pthread_cond_broadcast", "i32", "ptr @woken")
        f.call("pthread_mutex_unlock", "i32", "ptr @mutex")
    _take_chunks(f, last_first=False)
    _wait(f, "done", "%chunks", x86)
    _set(f, "open", "0")
    _wait(f, "active", "0", x86)
    flags = f.let(f"atomicrmw xchg ptr @flags, i64 0 {_ORDER}")
    _raise_flags(f, flags, x86)
    _set(f, "busy", "0")
    f.end()
    return f


def _wait(f: Function, name: str, value: str, x86: bool) -> None:
    """Until a counter has a value; after a while others may have the processor."""
    looks = f.variable("i64", "0")
    with f.forever() as reached:
        f.leave_when(f.op("icmp eq", "i64", _get(f, name), value), reached)
        _pause(f, x86)
        looks.set(f.op("add", "i64", looks.get(), "1"))
        with f.when(f.op("icmp sgt", "i64", looks.get(), "1000")):
            f.call("sched_yield", "i32")


def after_fork() -> Function:
    """In a child nobody of the pool is there: start anew."""
    f = Function("after_fork", "void")
    for name in ("started", "busy", "generation", "open", "active", "sleeping", "next", "done", "flags"):
        _set(f, name, "0")
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
    return [worker(x86), parallel(x86), after_fork(), set_threads()]
