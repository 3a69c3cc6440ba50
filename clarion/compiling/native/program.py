"""Groups and products as one LLVM function: `program(table)`, whose table holds the addresses of all buffers."""

from __future__ import annotations

import math
from typing import Any

from ...kernels.llvm import machine
from ...kernels.llvm.lower import cost, lanes_of
from ...kernels.llvm.products.blocks import FIELDS, put
from ...kernels.llvm.rows import rows_body
from ...kernels.llvm.text import Function
from ...kernels.trace.graph import ROW
from ...kernels.trace.graph import Program as Terms
from .groups import Group
from .lowering import Product
from .memory import Buffer, View
from .small import SmallProduct

WORTH = (
    3_000  # nanoseconds of work from which threads share it: what they have computed before lies in their own caches
)
SMALL = 1 << 13  # multiplications that are done in place, with nothing prepared
CHUNK = 2048  # elements of a row, where a long one is cut into several


class Writer:
    """Writes the functions of a native program."""

    def __init__(self, number_of: dict[Any, int]) -> None:
        self.number_of = number_of  # buffer, or the name of a function -> its place in the table
        self.functions: list[str] = []  # texts of whole functions
        self.declared: dict[str, str] = {}
        self.main = Function("program", "void", "ptr table")
        self.small: dict[str, str] = {}  # element type -> the function for small products
        self._bases: dict[Buffer, str] = {}
        self.work = 0.0  # nanoseconds, roughly

    # Addresses ----------------------------------------------------------------------------------------------

    def address(self, view: View) -> str:
        """Where a view begins."""
        f, buffer = self.main, view.buffer
        if buffer not in self._bases:
            if buffer.source is None:
                place = f.load("ptr", "%table")  # the program's own memory comes first
                self._bases[buffer] = f.offset(place, str(buffer.offset))
            else:
                self._bases[buffer] = f.load("ptr", f.element("%table", str(self.number_of[buffer]), "ptr"))
        return f.offset(self._bases[buffer], str(view.offset))

    # Groups -------------------------------------------------------------------------------------------------

    def group(self, group: Group, number: int) -> None:
        """One loop."""
        outputs = [(view, term) for view, term in group.outputs.values() if view.buffer.stored]
        if not outputs:
            return
        used = Terms([], [term for _, term in outputs], True).terms
        inputs = [(view, term) for view, term, _ in group.inputs if term in set(used)]
        views = [view for view, _ in (*inputs, *outputs)]
        program = Terms([term for _, term in inputs], [term for _, term in outputs], True)
        lanes = lanes_of(program, machine.processor()[1])
        text = (
            rows_body(program, lanes)
            .replace("@body(", f"@body{number}(")
            .replace("define  void", "define internal void")
        )
        self._take(text)
        shape = group.shape
        if not shape:
            shape, views = (1,), [View(v.buffer, v.offset, (1,), (v.dtype.itemsize,), v.dtype) for v in views]
        elif (
            not group.reduces
            and not any(term.space == ROW for _, term in outputs)
            and all(_together(view) for view in views)
        ):
            shape, views = (math.prod(shape),), [_flat(view) for view in views]
        self._loops(f"@body{number}", shape, views, cost(program), cut=not group.reduces)

    def _take(self, text: str) -> None:
        """The functions and declarations of a module."""
        body, lines = [], text.splitlines()
        for line in lines:
            if line.startswith("declare "):
                self.declared[line] = line
            elif not line.startswith(("attributes", "!")):
                body.append(line)
        self.functions.append("\n".join(body))

    def _loops(self, body: str, shape: tuple[int, ...], views: list[View], each: float, cut: bool) -> None:
        """Call a body for all rows: dimensions that lie evenly in all operands are one, others are loops around it.

        A single long row is `cut` into several, for threads to share. (Never one that is reduced: each piece would be a row of its own,
        and the last one to be done would write its own sum.)
        """
        f = self.main
        outer, rows, length, steps = _folded(shape, views)
        if cut and not outer and rows == 1 and length > 2 * CHUNK and all(_even(v) for v in views):
            rest = length % CHUNK
            sizes = [0 if not any(v.strides) else v.dtype.itemsize for v in views]
            if rest:
                tails = [self._moved(v, (length - rest) * s) for v, s in zip(views, sizes, strict=True)]
                self._call(body, 1, rest, tails, [0] * len(views), [])
            rows, length, steps = length // CHUNK, CHUNK, [CHUNK * s for s in sizes]
        work = each * math.prod(shape)
        self.work += work
        starts = [self.address(view) for view in views]
        if work > WORTH:
            self._shared(body, outer, rows, length, views, starts, steps, work)
            return
        with _nested(f, [n for n, _ in outer]) as counters:
            moved = []
            for k, start in enumerate(starts):
                for counter, (_, strides) in zip(counters, outer, strict=True):
                    if strides[k]:
                        start = f.offset(start, f.op("mul", "i64", counter, str(strides[k])))
                moved.append(start)
            self._call(body, rows, length, moved, steps, [])

    def _moved(self, view: View, offset: int) -> str:
        return self.main.offset(self.address(view), str(offset))

    def _call(self, body: str, rows: Any, length: int, starts: list[str], steps: list[int], _: Any) -> None:
        f = self.main
        places, strides = f.reserve("ptr", len(starts)), f.reserve("i64", len(starts))
        for k, (start, step) in enumerate(zip(starts, steps, strict=True)):
            f.store("ptr", start, f.element(places, str(k), "ptr"))
            f.store("i64", str(step), f.element(strides, str(k), "i64"))
        f.line(f"call void {body}(i64 {rows}, i64 {length}, ptr {places}, ptr {strides})")

    def _shared(
        self,
        body: str,
        outer: Any,
        rows: int,
        length: int,
        views: list[View],
        starts: list[str],
        steps: list[int],
        work: float,
    ) -> None:
        """Threads share the rows: a task goes over a part of them."""
        f, n = self.main, len(views)
        total = rows * math.prod(size for size, _ in outer)
        chunks = max(1, min(int(work / (WORTH / 3)), 16, total if outer else rows))
        name = f"task{len(self.functions)}"
        t = Function(name, "void", "ptr context", "i64 chunk", linkage="internal")
        t_places, t_steps = t.reserve("ptr", n), t.reserve("i64", n)
        units = math.prod(size for size, _ in outer) if outer else rows
        first = t.op("sdiv", "i64", t.op("mul", "i64", "%chunk", str(units)), str(chunks))
        last = t.op("sdiv", "i64", t.op("mul", "i64", t.op("add", "i64", "%chunk", "1"), str(units)), str(chunks))
        given = [t.load("ptr", t.element("%context", str(k), "ptr")) for k in range(n)]
        for k in range(n):
            t.store("i64", str(steps[k]), t.element(t_steps, str(k), "i64"))
        if not outer:
            for k in range(n):
                t.store(
                    "ptr",
                    t.offset(given[k], t.op("mul", "i64", first, str(steps[k]))),
                    t.element(t_places, str(k), "ptr"),
                )
            count = t.op("sub", "i64", last, first)
            t.line(f"call void {body}(i64 {count}, i64 {length}, ptr {t_places}, ptr {t_steps})")
        else:
            with t.counted(first, last) as unit:
                for k in range(n):
                    start, rest = given[k], unit
                    for size, strides in reversed(outer):
                        index = t.op("srem", "i64", rest, str(size))
                        rest = t.op("sdiv", "i64", rest, str(size))
                        if strides[k]:
                            start = t.offset(start, t.op("mul", "i64", index, str(strides[k])))
                    t.store("ptr", start, t.element(t_places, str(k), "ptr"))
                t.line(f"call void {body}(i64 {rows}, i64 {length}, ptr {t_places}, ptr {t_steps})")
        t.end()
        self._take("\n".join([t.text(), *t.declared.values()]))
        context = f.reserve("ptr", n)
        for k, start in enumerate(starts):
            f.store("ptr", start, f.element(context, str(k), "ptr"))
        self._parallel(name, context, chunks)

    def _parallel(self, task: str, context: str, chunks: int) -> None:
        self.main.line(f"call void {self._function('parallel')}(ptr @{task}, ptr {context}, i64 {chunks})")

    def _function(self, name: str) -> str:
        return self.main.load("ptr", self.main.element("%table", str(self.number_of[name]), "ptr"))

    def copy(self, x: View, out: View) -> None:
        """One element after the other; the innermost loop goes along the dimension in which the result is adjacent."""
        f = self.main
        start, target = self.address(x), self.address(out)
        order = sorted(range(len(out.shape)), key=lambda i: -abs(out.strides[i]))
        type_ = f"i{8 * x.dtype.itemsize}"
        with _nested(f, [out.shape[i] for i in order]) as counters:
            for counter, i in zip(counters, order, strict=True):
                start = f.offset(start, f.op("mul", "i64", counter, str(x.strides[i])))
                target = f.offset(target, f.op("mul", "i64", counter, str(out.strides[i])))
            f.store(type_, f.load(type_, start, x.dtype.itemsize), target, x.dtype.itemsize)

    def match(self, x: View, number: int | None, out: View) -> None:
        """Bytes: whether whole numbers are equal to one, or to their place in a row."""
        f = self.main
        start, target, n = self.address(x), self.address(out), out.shape[0]
        with f.counted("0", str(n)) as row:
            value = f.load("i64", f.offset(start, f.op("mul", "i64", row, str(x.strides[0]))))
            if number is not None:
                f.store(
                    "i8", f.cast("zext", "i1", f.op("icmp eq", "i64", value, str(number)), "i8"), f.offset(target, row)
                )
            else:
                first = f.offset(target, f.op("mul", "i64", row, str(out.shape[1])))
                with f.counted("0", str(out.shape[1])) as k:
                    f.store("i8", f.cast("zext", "i1", f.op("icmp eq", "i64", value, k), "i8"), f.offset(first, k))

    # Products -----------------------------------------------------------------------------------------------

    def product(self, product: Product) -> None:
        """Matrix products: small ones in place, others by the function that all products go to (kernels/llvm/products)."""
        x, y, out, _ = product
        f = self.main
        (m, k), n = x.shape[-2:], y.shape[-1]
        scalar = "float" if x.dtype.itemsize == 4 else "double"
        dims = [
            (size, (x.strides[i], y.strides[i], out.strides[i])) for i, size in enumerate(x.shape[:-2]) if size != 1
        ]
        outer = _joined(dims)
        multiplications = math.prod(size for size, _ in outer) * m * n * k
        self.work += multiplications / 16
        large = multiplications > SMALL
        inner = outer[-2:] if large else []
        outer = outer[: len(outer) - len(inner)]
        starts = [self.address(view) for view in (x, y, out)]
        context = f.reserve("i64", len(FIELDS)) if large else ""
        with _nested(f, [size for size, _ in outer]) as counters:
            moved = []
            for j, start in enumerate(starts):
                for counter, (_, strides) in zip(counters, outer, strict=True):
                    if strides[j]:
                        start = f.offset(start, f.op("mul", "i64", counter, str(strides[j])))
                moved.append(start)
            if large:
                self._large_call(context, (x, y, out), moved, inner, scalar)
            else:
                self._small_call(f, x, y, out, moved, scalar)

    def _large_call(self, context: str, views: Any, starts: list[str], batch: Any, scalar: str) -> None:
        x, y, out = views
        f = self.main
        sizes = [1] * (2 - len(batch)) + [size for size, _ in batch]
        steps = [(0, 0, 0)] * (2 - len(batch)) + [strides for _, strides in batch]
        fields: dict[str, Any] = {"a": starts[0], "b": starts[1], "c": starts[2], "start": "null"}
        fields |= {
            "a_m": x.strides[-2],
            "a_k": x.strides[-1],
            "b_k": y.strides[-2],
            "b_n": y.strides[-1],
            "c_m": out.strides[-2],
        }
        fields |= {
            "m": x.shape[-2],
            "k": x.shape[-1],
            "n": y.shape[-1],
            "count": sizes[0] * sizes[1],
            "inner": sizes[1],
        }
        for operand, name in enumerate("abc"):
            fields |= {f"{name}_outer": steps[0][operand], f"{name}_inner": steps[1][operand]}
        fields |= {"parallel": self._function("parallel"), "threads": self._function("threads")}
        for name, value in fields.items():
            put(f, context, name, str(value))
        f.line(f"call void {self._function(scalar)}(ptr {context})")

    def _small_call(self, f: Function, x: View, y: View, out: View, starts: list[str], scalar: str) -> None:
        (m, k), n = x.shape[-2:], y.shape[-1]
        if scalar not in self.small:
            self.small[scalar] = f"small_{scalar}"
            self._take(SmallProduct(scalar, machine.processor()[1]).text())
        numbers = [m, n, k, x.strides[-2], x.strides[-1], y.strides[-2], y.strides[-1], out.strides[-2]]
        f.line(
            f"call void @small_{scalar}(ptr {starts[0]}, ptr {starts[1]}, ptr {starts[2]}, "
            + ", ".join(f"i64 {number}" for number in numbers) + ")"
        )  # fmt: skip

    def text(self) -> str:
        """The whole module."""
        self.main.end()
        declared = dict.fromkeys([*self.declared, *self.main.declared.values()])
        parts = [*self.functions, self.main.text(), *[d for d in declared if d]]
        return "\n".join(parts) + '\nattributes #0 = { nounwind }\n!0 = !{!"branch_weights", i32 1, i32 2000}\n'


# Shapes -----------------------------------------------------------------------------------------------------


class _nested:
    """Loops inside each other, with their counters."""

    def __init__(self, f: Function, sizes: list[int]) -> None:
        self.loops = [f.counted("0", str(size)) for size in sizes]

    def __enter__(self) -> list[str]:
        return [loop.__enter__() for loop in self.loops]

    def __exit__(self, *error: Any) -> None:
        for loop in reversed(self.loops):
            loop.__exit__(*error)


def _together(view: View) -> bool:
    """Do all elements lie one after the other, or are they one?"""
    return view.dense or not any(view.strides)


def _even(view: View) -> bool:
    return _together(view)


def _flat(view: View) -> View:
    n = math.prod(view.shape)
    strides = (view.dtype.itemsize,) if any(view.strides) else (0,)
    return View(view.buffer, view.offset, (n,), strides, view.dtype)


def _joined(dims: list[tuple[int, tuple[int, ...]]]) -> list[tuple[int, tuple[int, ...]]]:
    """Dimensions (size, strides) with those made one that lie evenly in all operands."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for n, strides in dims:
        if found and all(a == b * n for a, b in zip(found[-1][1], strides, strict=True)):
            found[-1] = (found[-1][0] * n, strides)
        else:
            found.append((n, strides))
    return found


def _folded(shape: tuple[int, ...], views: list[View]) -> tuple[list[tuple[int, tuple[int, ...]]], int, int, list[int]]:
    """Outer loops (size, strides), rows, their length, and the steps from row to row."""
    *lead, length = shape or (1,)
    dims = [(n, tuple(v.strides[i] for v in views)) for i, n in enumerate(lead) if n != 1]
    folded = _joined(dims)
    if not folded:
        return [], 1, length, [0] * len(views)
    *outer, (rows, steps) = folded
    return outer, rows, length, list(steps)
