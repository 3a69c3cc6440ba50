"""The loops of fourier.py: a transform of n1 times n2 complex numbers as transforms of the columns of a matrix, twice.

    numbers (n1, n2) ──columns, turned by their angles──> turned around: (n2, n1) ──columns──> the spectrum, in order

As many columns as a vector has lanes are transformed at a time, from one small memory to another, four numbers at a time: there every
operation is one of whole vectors. Real parts and imaginary ones lie apart until the end. Real signals are read as if every second
number were imaginary, and the spectrum of such pairs is taken apart (`finish_real`), or put together before (`begin_real`). Inverse
transforms are forward ones with both parts exchanged, before and after.
"""

from __future__ import annotations

from collections.abc import Callable

from .pool import all_chunks
from .products.blocks import least, plus, times
from .products.tiles import Shape, transposed
from .text import Function

# What the threads share, in places of eight bytes: where rows lie, before and after, and how far it is from row to row; how many there are,
# and of a chunk; sizes; steps of the matrix that is turned around; angles of columns, of the matrix, of real signals; bytes of the memory that a
# thread needs; what sums are multiplied by.
FIELDS = (
    "x", "out", "x_step", "out_step", "rows", "per", "n1", "n2", "pitch", "table1", "table2", "angles", "halves", "bytes", "scale",
    "parallel",
)  # fmt: skip
_POINTERS = ("x", "out", "table1", "table2", "angles", "halves", "parallel")
KINDS = ("forward", "inverse", "to_half", "from_half")  # of complex numbers, back, of real ones, and back
Pair = tuple[str, str]


class _Writer:
    """Vectors of complex numbers: real parts, imaginary parts."""

    def __init__(self, f: Function, shape: Shape) -> None:
        self.f, self.shape, self.type, self.lanes = f, shape, shape.type, shape.lanes

    def at(self, base: str, index: str) -> str:
        return self.f.element(base, index, self.shape.scalar)

    def load(self, place: str) -> str:
        return self.f.load(self.type, place, self.shape.size)

    def store(self, value: str, place: str) -> None:
        self.f.store(self.type, value, place, self.shape.size)

    def spread(self, place: str) -> str:
        return self.f.spread(self.type, self.f.load(self.shape.scalar, place, self.shape.size))

    def add(self, a: str, b: str) -> str:
        return self.f.op("fadd", self.type, a, b)

    def sub(self, a: str, b: str) -> str:
        return self.f.op("fsub", self.type, a, b)

    def mul(self, a: str, b: str) -> str:
        return self.f.op("fmul", self.type, a, b)

    def fma(self, a: str, b: str, c: str) -> str:
        return self.f.intrinsic("fma", self.type, a, b, c)

    def fms(self, a: str, b: str, c: str) -> str:
        """c - a * b."""
        return self.fma(self.f.let(f"fneg {self.type} {a}"), b, c)

    def turned(self, w: Pair, z: Pair) -> Pair:
        """The product of two complex numbers."""
        return self.fms(w[1], z[1], self.mul(w[0], z[0])), self.fma(w[0], z[1], self.mul(w[1], z[0]))

    def shuffled(self, a: str, b: str, places: list[int]) -> str:
        mask = f"<{len(places)} x i32> <" + ", ".join(f"i32 {place}" for place in places) + ">"
        return self.f.let(f"shufflevector {self.type} {a}, {self.type} {b}, {mask}")

    def backwards(self, a: str) -> str:
        return self.shuffled(a, "poison", list(range(self.lanes))[::-1])

    def apart(self, place: str) -> Pair:
        """Complex numbers in memory, one after the other, as real and imaginary parts."""
        both = self.load(place), self.load(self.at(place, str(self.lanes)))
        parts = [self.shuffled(*both, [2 * k + part for k in range(self.lanes)]) for part in (0, 1)]
        return parts[0], parts[1]

    def together(self, z: Pair, place: str) -> None:
        """The other way round."""
        for half in (0, 1):
            first = half * self.lanes // 2
            places = [first + k // 2 + (k % 2) * self.lanes for k in range(self.lanes)]
            self.store(self.shuffled(*z, places), self.at(place, str(half * self.lanes)))

    def column(self, base: str, index: str) -> str:
        """A vector of complex numbers in the small memory."""
        return self.at(base, times(self.f, index, str(2 * self.lanes)))

    def got(self, place: str) -> Pair:
        return self.load(place), self.load(self.at(place, str(self.lanes)))

    def put(self, z: Pair, place: str) -> None:
        self.store(z[0], place)
        self.store(z[1], self.at(place, str(self.lanes)))


def _pass4(shape: Shape, last: bool) -> Function:
    """Transforms of four, `s` beside each other of each of `m` (of one, the `last`), turned by their angles."""
    f = Function(
        "pass4_last" if last else "pass4", "void", "i64 m", "i64 s", "ptr x", "ptr y", "ptr table", linkage="internal"
    )
    w = _Writer(f, shape)
    with f.counted("0", "1" if last else "%m") as p:
        angle, angles = times(f, times(f, p, "%s"), "2"), []
        for k in () if last else (1, 2, 3):
            place = w.at("%table", times(f, angle, str(k)))
            angles.append((w.spread(place), w.spread(w.at(place, "1"))))
        with f.counted("0", "%s") as q:
            far = times(f, "%m", "%s")
            first, to = plus(f, q, times(f, p, "%s")), plus(f, q, times(f, times(f, p, "%s"), "4"))
            a, b, c, d = (w.got(w.column("%x", plus(f, first, times(f, far, str(k))))) for k in range(4))
            ac, bd = ((w.add(u[0], v[0]), w.add(u[1], v[1])) for u, v in ((a, c), (b, d)))
            less, other = ((w.sub(u[0], v[0]), w.sub(u[1], v[1])) for u, v in ((a, c), (b, d)))
            made = [
                (w.add(ac[0], bd[0]), w.add(ac[1], bd[1])), (w.add(less[0], other[1]), w.sub(less[1], other[0])),
                (w.sub(ac[0], bd[0]), w.sub(ac[1], bd[1])), (w.sub(less[0], other[1]), w.add(less[1], other[0])),
            ]  # fmt: skip
            for k, value in enumerate(made):
                found = w.turned(angles[k - 1], value) if k and angles else value
                w.put(found, w.column("%y", plus(f, to, times(f, "%s", str(k)))))
    f.end()
    return f


def _pass2(shape: Shape) -> Function:
    """The last transforms, of two."""
    f = Function("pass2_last", "void", "i64 s", "ptr x", "ptr y", linkage="internal")
    w = _Writer(f, shape)
    with f.counted("0", "%s") as q:
        far = plus(f, q, "%s")
        a, b = (w.got(w.column("%x", place)) for place in (q, far))
        w.put((w.add(a[0], b[0]), w.add(a[1], b[1])), w.column("%y", q))
        w.put((w.sub(a[0], b[0]), w.sub(a[1], b[1])), w.column("%y", far))
    f.end()
    return f


def _columns() -> Function:
    """Columns of `n` numbers in `a`, transformed, in `a` or in `b`: where."""
    f = Function("columns", "ptr", "i64 n", "ptr a", "ptr b", "ptr table", linkage="internal")
    left, s = f.variable("i64", "%n"), f.variable("i64", "1")
    x, y = f.variable("ptr", "%a"), f.variable("ptr", "%b")
    with f.forever() as enough:
        f.leave_when(f.op("icmp sle", "i64", left.get(), "4"), enough)
        quarter, now, then = f.op("lshr", "i64", left.get(), "2"), x.get(), y.get()
        f.line(f"call void @pass4(i64 {quarter}, i64 {s.get()}, ptr {now}, ptr {then}, ptr %table)")
        left.set(quarter)
        s.set(times(f, s.get(), "4"))
        x.set(then)
        y.set(now)
    with f.when(f.op("icmp eq", "i64", left.get(), "4")):
        f.line(f"call void @pass4_last(i64 1, i64 {s.get()}, ptr {x.get()}, ptr {y.get()}, ptr %table)")
    with f.when(f.op("icmp eq", "i64", left.get(), "2")):
        f.line(f"call void @pass2_last(i64 {s.get()}, ptr {x.get()}, ptr {y.get()})")
    f.end(f"ptr {y.get()}")
    return f


_SIZES = ("i64 n1", "i64 n2", "i64 pitch", "ptr table")
_ROOMS = ("ptr b_re", "ptr b_im", "ptr small", "ptr other")


def _first(shape: Shape, name: str, read: Callable[[_Writer, str], Pair]) -> Function:
    """Columns of the matrix at `re` (and `im`) transformed, turned by their angles, and written as rows."""
    f = Function(name, "void", "ptr re", "ptr im", *_SIZES, "ptr angles", *_ROOMS, linkage="internal")
    w, lanes = _Writer(f, shape), shape.lanes
    with f.counted("0", "%n2", str(lanes)) as column:
        with f.counted("0", "%n1") as j:
            w.put(read(w, plus(f, times(f, j, "%n2"), column)), w.column("%small", j))
        found = f.let("call ptr @columns(i64 %n1, ptr %small, ptr %other, ptr %table)")
        angles = w.at("%angles", times(f, times(f, column, "%n1"), "2"))
        with f.counted("0", "%n1", str(lanes)) as k:
            for part, target in enumerate(("%b_re", "%b_im")):
                square = []
                for i in range(lanes):
                    at = plus(f, k, str(i))
                    square.append(w.turned(w.got(w.column(angles, at)), w.got(w.column(found, at)))[part])
                for i, row in enumerate(transposed(f, shape.type, square)):
                    w.store(row, w.at(target, plus(f, times(f, plus(f, column, str(i)), "%pitch"), k)))
    f.end()
    return f


def _second(shape: Shape) -> Function:
    """Columns of what was turned around, as the spectrum."""
    f = Function("second", "void", "ptr z_re", "ptr z_im", *_SIZES, *_ROOMS, linkage="internal")
    w = _Writer(f, shape)
    with f.counted("0", "%n1", str(shape.lanes)) as column:
        with f.counted("0", "%n2") as j:
            at = plus(f, times(f, j, "%pitch"), column)
            w.put((w.load(w.at("%b_re", at)), w.load(w.at("%b_im", at))), w.column("%small", j))
        found = f.let("call ptr @columns(i64 %n2, ptr %small, ptr %other, ptr %table)")
        with f.counted("0", "%n2") as k:
            value, at = w.got(w.column(found, k)), plus(f, times(f, k, "%n1"), column)
            w.store(value[0], w.at("%z_re", at))
            w.store(value[1], w.at("%z_im", at))
    f.end()
    return f


def _finish(shape: Shape) -> Function:
    """Both parts together, times a number."""
    f = Function("finish", "void", "ptr re", "ptr im", "i64 n", f"{shape.scalar} scale", "ptr out", linkage="internal")
    w = _Writer(f, shape)
    scale = f.spread(shape.type, "%scale")
    with f.counted("0", "%n", str(shape.lanes)) as k:
        parts = [w.mul(w.load(w.at(part, k)), scale) for part in ("%re", "%im")]
        w.together((parts[0], parts[1]), w.at("%out", times(f, k, "2")))
    f.end()
    return f


def _finish_real(shape: Shape) -> Function:
    """Half of the spectrum of a real signal, from that of its pairs: z[k] and its mirror image z[n - k] have the even numbers' and the odd ones'."""
    f = Function(
        "finish_real",
        "void",
        "ptr re",
        "ptr im",
        "i64 n",
        f"{shape.scalar} scale",
        "ptr out",
        "ptr halves",
        linkage="internal",
    )
    w, scalar = _Writer(f, shape), shape.scalar
    half = f.spread(shape.type, f.op("fmul", scalar, "%scale", "5.000000e-01"))
    for part in ("%re", "%im"):
        f.store(scalar, f.load(scalar, part, shape.size), w.at(part, "%n"), shape.size)
    with f.counted("0", "%n", str(shape.lanes)) as k:
        mirror = f.op("sub", "i64", f.op("sub", "i64", "%n", k), str(shape.lanes - 1))
        (re, im), (re_, im_) = (
            (w.load(w.at("%re", k)), w.load(w.at("%im", k))),
            (w.backwards(w.load(w.at("%re", mirror))), w.backwards(w.load(w.at("%im", mirror)))),
        )
        even = w.add(re, re_), w.sub(im, im_)
        odd = w.turned(w.got(w.at("%halves", times(f, k, "2"))), (w.add(im, im_), w.sub(re_, re)))
        found = w.mul(w.add(even[0], odd[0]), half), w.mul(w.add(even[1], odd[1]), half)
        w.together(found, w.at("%out", times(f, k, "2")))
    re0, im0 = (f.load(scalar, part, shape.size) for part in ("%re", "%im"))
    end = w.at("%out", times(f, "%n", "2"))
    f.store(scalar, f.op("fmul", scalar, f.op("fsub", scalar, re0, im0), "%scale"), end, shape.size)
    f.store(scalar, "0.0", w.at(end, "1"), shape.size)
    f.store(scalar, f.op("fmul", scalar, f.op("fadd", scalar, re0, im0), "%scale"), "%out", shape.size)
    f.store(scalar, "0.0", w.at("%out", "1"), shape.size)
    f.end()
    return f


def _begin_real(shape: Shape) -> Function:
    """The other way round: the spectrum of pairs from half of that of a real signal. (Imaginary parts of its ends do not count.)"""
    f = Function("begin_real", "void", "ptr x", "i64 n", "ptr re", "ptr im", "ptr halves", linkage="internal")
    w, scalar = _Writer(f, shape), shape.scalar
    with f.counted("0", "%n", str(shape.lanes)) as k:
        mirror = f.op("sub", "i64", f.op("sub", "i64", "%n", k), str(shape.lanes - 1))
        re, im = w.apart(w.at("%x", times(f, k, "2")))
        re_, im_ = (w.backwards(part) for part in w.apart(w.at("%x", times(f, mirror, "2"))))
        cos, sin = w.got(w.at("%halves", times(f, k, "2")))
        less, more = w.sub(re, re_), w.add(im, im_)
        w.store(w.fms(cos, more, w.fma(sin, less, w.add(re, re_))), w.at("%re", k))
        w.store(w.fma(cos, less, w.fma(sin, more, w.sub(im, im_))), w.at("%im", k))
    first, last = (f.load(scalar, w.at("%x", times(f, k, "2")), shape.size) for k in ("0", "%n"))
    f.store(scalar, f.op("fadd", scalar, first, last), "%re", shape.size)
    f.store(scalar, f.op("fsub", scalar, first, last), "%im", shape.size)
    f.end()
    return f


def _chunk(shape: Shape, kind: str) -> Function:
    """Some rows."""
    f = Function(f"{kind}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {
        name: f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(place), "i64"))
        for place, name in enumerate(FIELDS)
    }
    w = _Writer(f, shape)
    n1, n2, pitch = value["n1"], value["n2"], value["pitch"]
    n, b = times(f, n1, n2), times(f, n2, pitch)
    wide = f.cast("bitcast", "i64", value["scale"], "double")
    scale = wide if shape.scalar == "double" else f.cast("fptrunc", "double", wide, "float")
    memory = f.call("aligned_alloc", "ptr", "i64 64", f"i64 {value['bytes']}")
    small = times(f, f.call("llvm.smax.i64", "i64", f"i64 {n1}", f"i64 {n2}"), str(2 * shape.lanes))
    places, room = [], memory
    for length in (b, b, small, small, plus(f, n, str(shape.lanes)), plus(f, n, str(shape.lanes))):
        places.append(room)
        room = w.at(room, length)
    b_re, b_im, one, other, z_re, z_im = places
    rooms = f"ptr {b_re}, ptr {b_im}, ptr {one}, ptr {other}"
    # Exchanged parts make an inverse transform.
    re, im = (z_im, z_re) if kind in ("inverse", "from_half") else (z_re, z_im)
    first = times(f, "%number", value["per"])
    with f.counted(first, least(f, plus(f, first, value["per"]), value["rows"])) as row:
        x, out = (f.offset(value[name], times(f, row, value[f"{name}_step"])) for name in ("x", "out"))
        source, name = x, "first"
        if kind == "from_half":
            f.line(f"call void @begin_real(ptr {x}, i64 {n}, ptr {re}, ptr {im}, ptr {value['halves']})")
            source, name = z_re, "first_apart"
        elif kind == "inverse":
            name = "first_exchanged"
        sizes = f"i64 {n1}, i64 {n2}, i64 {pitch}"
        f.line(
            f"call void @{name}(ptr {source}, ptr {z_im}, {sizes}, ptr {value['table1']}, ptr {value['angles']}, {rooms})"
        )
        f.line(f"call void @second(ptr {z_re}, ptr {z_im}, {sizes}, ptr {value['table2']}, {rooms})")
        finished = f"ptr {re}, ptr {im}, i64 {n}, {shape.scalar} {scale}, ptr {out}"
        if kind == "to_half":
            f.line(f"call void @finish_real({finished}, ptr {value['halves']})")
        else:
            f.line(f"call void @finish({finished})")
    f.call("free", "void", f"ptr {memory}")
    f.end()
    return f


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions: each of `KINDS` takes a context and a number of chunks."""

    def complex_at(w: _Writer, index: str) -> Pair:
        return w.apart(w.at("%re", times(w.f, index, "2")))

    def exchanged_at(w: _Writer, index: str) -> Pair:
        re, im = complex_at(w, index)
        return im, re

    def apart_at(w: _Writer, index: str) -> Pair:
        return w.load(w.at("%re", index)), w.load(w.at("%im", index))

    made = [_pass4(shape, False), _pass4(shape, True), _pass2(shape), _columns()]
    made += [_first(shape, "first", complex_at), _first(shape, "first_exchanged", exchanged_at)]
    made += [
        _first(shape, "first_apart", apart_at),
        _second(shape),
        _finish(shape),
        _finish_real(shape),
        _begin_real(shape),
    ]
    for kind in KINDS:
        made.append(_chunk(shape, kind))
        f = Function(kind, "void", "ptr context", "i64 chunks")
        parallel = f.load("ptr", f.element("%context", str(FIELDS.index("parallel")), "i64"))
        all_chunks(f, f"{kind}_chunk", "%context", "%chunks", parallel, x86)
        f.end()
        made.append(f)
    return made
