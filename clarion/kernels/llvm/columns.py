"""Sums of columns: the gradient of a bias, of a weight that all rows share.

Rows are added in blocks, and the sums of the blocks: float32 stays accurate. Several vectors of columns are added up at a time;
threads share the columns. Few rows are added up by a builtin function (NOTE [Direct calls] in direct.py).
"""

from __future__ import annotations

from .api import DATA, DECLINED, DESCR, DIMS, NDIM, TYPE, adjacent, api, entry, of, same, when_not
from .direct import ERRORS, tell
from .plan import at as word
from .pool import clear_flags, flags
from .text import Function, Variable, literal, with_lanes

BLOCK = 64  # rows whose sum is added to the total
WORK = 1 << 14  # elements that are added up by the builtin function at most
_IN, _OUT, _ROWS, _STEP, _COLUMNS, _CHUNK = range(6)  # what the threads of a loop share


def _group(f: Function, scalar: str, lanes: int, vectors: int, column: str, mask: str | None) -> None:
    """The sums of `vectors` times `lanes` columns, from `column` on."""
    size, type_ = (8 if scalar == "double" else 4), with_lanes(lanes, scalar)
    zero = literal(type_, 0)
    totals = [f.variable(type_, zero) for _ in range(vectors)]
    offsets = [f.op("mul", "i64", f.op("add", "i64", column, str(k * lanes)), str(size)) for k in range(vectors)]
    with f.counted("0", "%rows", str(BLOCK)) as block:
        after = f.op("add", "i64", block, str(BLOCK))
        end = f.call("llvm.smin.i64", "i64", f"i64 {after}", "i64 %rows")
        sums = [f.variable(type_, zero) for _ in range(vectors)]
        with f.counted(block, end) as row:
            start = f.offset("%source", f.op("mul", "i64", row, "%step"))
            for offset, total in zip(offsets, sums, strict=True):
                value = _read(f, type_, lanes, scalar, f.offset(start, offset), mask)
                total.set(f.op("fadd", type_, total.get(), value))
        for total, part in zip(totals, sums, strict=True):
            total.set(f.op("fadd", type_, total.get(), part.get()))
    for offset, total in zip(offsets, totals, strict=True):
        _write(f, type_, lanes, scalar, total, f.offset("%target", offset), mask)


def _read(f: Function, type_: str, lanes: int, scalar: str, place: str, mask: str | None) -> str:
    size, short = (8, "f64") if scalar == "double" else (4, "f32")
    if mask is None:
        return f.load(type_, place, size)
    name = f"llvm.masked.load.v{lanes}{short}.p0"
    rest = (f"i32 {size}", f"<{lanes} x i1> {mask}", f"{type_} zeroinitializer")
    return f.call(name, type_, f"ptr {place}", *rest)


def _write(f: Function, type_: str, lanes: int, scalar: str, total: Variable, place: str, mask: str | None) -> None:
    size, short = (8, "f64") if scalar == "double" else (4, "f32")
    if mask is None:
        f.store(type_, total.get(), place, size)
        return
    name = f"llvm.masked.store.v{lanes}{short}.p0"
    f.call(name, "void", f"{type_} {total.get()}", f"ptr {place}", f"i32 {size}", f"<{lanes} x i1> {mask}")


def _range(scalar: str, lanes: int) -> Function:
    """The columns from `first` to below `end`."""
    parameters = ("ptr source", "ptr target", "i64 rows", "i64 step", "i64 first", "i64 end")
    f = Function(f"column_range_{scalar}", "void", *parameters, linkage="internal")
    now = f.variable("i64", "%first")
    for vectors in (4, 1):
        with f.forever() as done:
            after = f.op("add", "i64", now.get(), str(vectors * lanes))
            f.leave_when(f.op("icmp sgt", "i64", after, "%end"), done)
            _group(f, scalar, lanes, vectors, now.get(), None)
            now.set(after)
    rest = f.op("sub", "i64", "%end", now.get())
    with f.when(f.op("icmp sgt", "i64", rest, "0")):
        numbers = with_lanes(lanes, "i64")
        places = "<" + ", ".join(f"i64 {k}" for k in range(lanes)) + ">"
        mask = f.op("icmp slt", numbers, places, f.spread(numbers, rest))
        _group(f, scalar, lanes, 1, now.get(), mask)
    f.end()
    return f


def _chunk(scalar: str) -> Function:
    f = Function(f"column_chunk_{scalar}", "void", "ptr context", "i64 number", linkage="internal")
    source, target = (f.load("ptr", f.element("%context", str(k), "i64")) for k in (_IN, _OUT))
    fields = (_ROWS, _STEP, _COLUMNS, _CHUNK)
    rows, step, columns, size = (f.load("i64", f.element("%context", str(k), "i64")) for k in fields)
    first = f.op("mul", "i64", "%number", size)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, size)}", f"i64 {columns}")
    arguments = f"ptr {source}, ptr {target}, i64 {rows}, i64 {step}, i64 {first}, i64 {end}"
    f.line(f"call void @column_range_{scalar}({arguments})")
    f.end()
    return f


def _loop(scalar: str, lanes: int, grain: int) -> Function:
    """NumPy's loop, with the signature (m,n)->(n)."""
    f = Function(f"columns_{scalar}", "void", "ptr args", "ptr dimensions", "ptr steps", "ptr plan")

    def at(array: str, index: int) -> str:
        return f.load("i64", f.element(array, str(index), "i64"))

    rows, columns, step = at("%dimensions", 1), at("%dimensions", 2), at("%steps", 2)
    with f.counted("0", f.load("i64", "%dimensions")) as outer:
        source, target = (
            f.offset(f.load("ptr", f.element("%args", str(k), "ptr")), f.op("mul", "i64", outer, at("%steps", k)))
            for k in (0, 1)
        )
        threads = f.let("load atomic i64, ptr @threads monotonic, align 8")
        rounded = f.op(
            "add", "i64", columns, f.op("sub", "i64", threads, "1")
        )  # up: a share of nothing cannot be divided by
        share = f.op("add", "i64", f.op("sdiv", "i64", rounded, threads), str(4 * lanes - 1))
        size = f.op("mul", "i64", f.op("sdiv", "i64", share, str(4 * lanes)), str(4 * lanes))
        count = f.op("sdiv", "i64", f.op("add", "i64", columns, f.op("sub", "i64", size, "1")), size)
        much = f.op("icmp sgt", "i64", f.op("mul", "i64", rows, columns), str(grain))
        shared = f.op("and", "i1", much, f.op("icmp sgt", "i64", count, "1"))
        (label,) = f.labels("next")
        with f.when(shared):
            context = f.reserve("i64", 6)
            for k, value in ((_IN, source), (_OUT, target)):
                f.store("ptr", value, f.element(context, str(k), "i64"))
            for k, value in ((_ROWS, rows), (_STEP, step), (_COLUMNS, columns), (_CHUNK, size)):
                f.store("i64", value, f.element(context, str(k), "i64"))
            f.line(f"call void @parallel(ptr @column_chunk_{scalar}, ptr {context}, i64 {count})")
            f.jump(label)
            f.begin(*f.labels("unreachable"))
        arguments = f"ptr {source}, ptr {target}, i64 {rows}, i64 {step}, i64 0, i64 {columns}"
        f.line(f"call void @column_range_{scalar}({arguments})")
        f.jump(label)
        f.begin(label)
    f.end()
    return f


def _summed(x86: bool) -> Function:
    """The sum over all dimensions but the last; `DECLINED` for what is not adjacent, of another type, or much."""
    f = Function("summed", "ptr", "ptr card", "ptr args", "i64 count", linkage="internal")
    no, x = f"ptr {DECLINED}", f.load("ptr", "%args")
    when_not(f, same(f, "%count", "1", "i64"), no)
    when_not(f, same(f, of(f, x, TYPE), api(f, "array_type")), no)
    when_not(f, adjacent(f, x), no)
    descr, ndim = of(f, x, DESCR), f.cast("sext", "i32", of(f, x, NDIM, "i32"), "i64")
    single = same(f, descr, api(f, "float32"))
    when_not(f, f.op("or", "i1", single, same(f, descr, api(f, "float64"))), no)
    when_not(f, f.op("icmp sge", "i64", ndim, "2"), no)
    size, last = f.let(f"call i64 @size_of(ptr {x})"), f.op("sub", "i64", ndim, "1")
    when_not(f, f.op("icmp sgt", "i64", size, "0"), no)
    when_not(f, f.op("icmp sle", "i64", size, str(WORK)), no)
    width = f.element(of(f, x, DIMS), last, "i64")
    columns = word(f, width, "0")
    f.line(f"call void {api(f, 'incref')}(ptr {descr})")
    given = f"ptr {api(f, 'array_type')}, ptr {descr}, i32 1, ptr {width}, ptr null, ptr null, i32 0, ptr null"
    out = f.let(f"call ptr {api(f, 'new_array')}({given})")
    when_not(f, f.op("icmp ne", "ptr", out, "null"), "ptr null")
    rows = f.op("sdiv", "i64", size, columns)
    clear_flags(f, x86)
    for condition, scalar, bytes_ in ((single, "float", 4), (f.op("xor", "i1", single, "true"), "double", 8)):
        with f.when(condition):
            step = f.op("mul", "i64", columns, str(bytes_))
            places = f"ptr {of(f, x, DATA)}, ptr {of(f, out, DATA)}"
            f.line(f"call void @column_range_{scalar}({places}, i64 {rows}, i64 {step}, i64 0, i64 {columns})")
    errors, made = f.op("and", "i64", flags(f, x86), ERRORS), f.reserve("ptr")
    with f.when(f.op("icmp ne", "i64", errors, "0"), rarely=True):
        f.store("ptr", out, made)
        tell(f, errors, made, "1", "false")
    f.end(f"ptr {out}")
    return f


ENTRIES = {"direct_columns": "summed"}
KERNELS = {"sum_rows": "direct_columns"}


def functions(x86: bool, width: int) -> list[Function]:
    """All functions, for both types."""
    made: list[Function] = []
    for scalar, size in (("float", 4), ("double", 8)):
        lanes = width // size
        made += [_range(scalar, lanes), _chunk(scalar), _loop(scalar, lanes, (1 << 18) // size)]
    return [*made, _summed(x86), *[entry(*each) for each in ENTRIES.items()]]
