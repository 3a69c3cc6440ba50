"""Batch normalization as LLVM's instructions: what is done with a channel of all images, or with channels that lie side by side.

Sums of blocks are taken in the arrays' type, and added up in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from .attention.rows import Row
from .mathematics import Mathematics
from .products.tiles import Shape
from .text import Function, literal, with_lanes

BLOCK = 1024  # neighbours that are added up by themselves
ROWS = 64  # rows that are added up by themselves, where channels lie side by side
VECTORS = 8  # vectors of such channels at a time
ARRAYS = ("x", "g", "out", "weight", "bias", "mean", "rstd", "total", "along")
FIELDS = (*ARRAYS, "parallel", "images", "channels", "length", "eps", "per")


def _get(f: Function, name: str) -> str:
    kind = "double" if name == "eps" else "ptr" if name in ARRAYS or name == "parallel" else "i64"
    return f.load(kind, f.element("%context", str(FIELDS.index(name)), "i64"))


class Unit:
    """What is worked on at a time: some `vectors`, whose statistics are of type `wide`."""

    def __init__(self, f: Function, shape: Shape, value: dict[str, str], vectors: int, wide: str) -> None:
        self.f, self.shape, self.value, self.vectors, self.wide = f, shape, value, vectors, wide
        self.m, self.row = Mathematics(f, shape.type), Row(f, shape)
        count = f.cast("sitofp", "i64", f.op("mul", "i64", value["images"], value["length"]), "double")
        self.count = count if wide == "double" else f.spread(wide, count)

    def each(self, body: Callable[[int, str, str], None], after: Callable[[], None] = lambda: None) -> None:
        """`body(vector, place, mask)` for all numbers, `after` each block of them."""
        raise NotImplementedError

    def whole(self, total: str) -> str:
        """The statistic of a vector of sums."""
        raise NotImplementedError

    def narrow(self, value: str) -> str:
        """A statistic as a vector of the arrays' type."""
        raise NotImplementedError

    def put(self, name: str, values: Sequence[str]) -> None:
        """Write vectors that `narrow` gave, if they are wanted."""
        raise NotImplementedError

    def get(self, name: str, otherwise: float) -> list[str]:
        """Such vectors; another number where there is no such array."""
        vectors = [self.f.variable(self.shape.type, literal(self.shape.type, otherwise)) for _ in range(self.vectors)]
        with self.row.where(self.value[name]):
            for vector, value in zip(vectors, self.read(name), strict=True):
                vector.set(value)
        return [vector.get() for vector in vectors]

    def read(self, name: str) -> list[str]:
        """The vectors of an array that is there."""
        raise NotImplementedError

    def sums(self, terms: Callable[[int, str, str], Sequence[str]], count: int) -> list[list[str]]:
        """The statistics that `count` terms add up to, of each vector."""
        f, m = self.f, self.m
        wide = with_lanes(self.shape.lanes, "double")
        parts = [[f.variable(self.shape.type, m.c(0)) for _ in range(self.vectors)] for _ in range(count)]
        totals = [[f.variable(wide, literal(wide, 0)) for _ in range(self.vectors)] for _ in range(count)]

        def add(k: int, at: str, mask: str) -> None:
            for part, term in zip(parts, terms(k, at, mask), strict=True):
                part[k].set(m.add(part[k].get(), m.pick(mask, term, m.c(0))))

        def settle() -> None:
            for part, total in zip(chain(*parts), chain(*totals), strict=True):
                value = part.get()
                more = value if self.shape.scalar == "double" else f.cast("fpext", self.shape.type, value, wide)
                total.set(f.op("fadd", wide, total.get(), more))
                part.set(m.c(0))

        self.each(add, settle)
        return [[self.whole(total.get()) for total in term] for term in totals]

    def mean(self, total: str) -> str:
        """A sum divided by how many numbers there are."""
        return self.f.op("fdiv", self.wide, total, self.count)


class Plane(Unit):
    """One channel: in every image its numbers are neighbours."""

    def __init__(self, f: Function, shape: Shape, value: dict[str, str], channel: str) -> None:
        super().__init__(f, shape, value, 1, "double")
        self.channel = channel

    def each(self, body: Callable[[int, str, str], None], after: Callable[[], None] = lambda: None) -> None:
        f, value = self.f, self.value
        with f.counted("0", value["images"]) as image:
            place = f.op("add", "i64", f.op("mul", "i64", image, value["channels"]), self.channel)
            start = f.op("mul", "i64", place, value["length"])
            with f.counted("0", value["length"], str(BLOCK)) as block:
                left = f.op("sub", "i64", value["length"], block)
                count = f.call("llvm.smin.i64", "i64", f"i64 {left}", f"i64 {BLOCK}")
                first = f.op("add", "i64", start, block)
                self.row.each(count, lambda at, mask: body(0, f.op("add", "i64", first, at), mask))
                after()

    def whole(self, total: str) -> str:
        lanes = self.shape.lanes
        name, none = f"llvm.vector.reduce.fadd.v{lanes}f64", f"double {literal('double', -0.0)}"
        return self.f.call(name, "double", none, f"{with_lanes(lanes, 'double')} {total}")

    def narrow(self, value: str) -> str:
        if self.shape.scalar != "double":
            value = self.f.cast("fptrunc", "double", value, self.shape.scalar)
        return self.f.spread(self.shape.type, value)

    def put(self, name: str, values: Sequence[str]) -> None:
        f, shape = self.f, self.shape
        with self.row.where(self.value[name]):
            number = f.let(f"extractelement {shape.type} {values[0]}, i64 0")
            f.store(shape.scalar, number, f.element(self.value[name], self.channel, shape.scalar), shape.size)

    def read(self, name: str) -> list[str]:
        f, shape = self.f, self.shape
        place = f.element(self.value[name], self.channel, shape.scalar)
        return [f.spread(shape.type, f.load(shape.scalar, place, shape.size))]


class Columns(Unit):
    """Channels that lie side by side, a lane for each: rows of them are read."""

    def __init__(
        self, f: Function, shape: Shape, value: dict[str, str], first: str, vectors: int, mask: str | None = None
    ) -> None:
        super().__init__(f, shape, value, vectors, with_lanes(shape.lanes, "double"))
        self.mask = mask or literal(with_lanes(shape.lanes, "i1"), 1)
        self.places = [f.op("add", "i64", first, str(k * shape.lanes)) for k in range(vectors)]

    def each(self, body: Callable[[int, str, str], None], after: Callable[[], None] = lambda: None) -> None:
        f, value = self.f, self.value
        rows = f.op("mul", "i64", value["images"], value["length"])
        with f.counted("0", rows, str(ROWS)) as block:
            end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', block, str(ROWS))}", f"i64 {rows}")
            with f.counted(block, end) as row:
                start = f.op("mul", "i64", row, value["channels"])
                for k, place in enumerate(self.places):
                    body(k, f.op("add", "i64", start, place), self.mask)
            after()

    def whole(self, total: str) -> str:
        return total

    def narrow(self, value: str) -> str:
        double = self.shape.scalar == "double"
        return value if double else self.f.cast("fptrunc", self.wide, value, self.shape.type)

    def put(self, name: str, values: Sequence[str]) -> None:
        with self.row.where(self.value[name]):
            for place, value in zip(self.places, values, strict=True):
                self.row.put(value, self.value[name], place, self.mask)

    def read(self, name: str) -> list[str]:
        return [self.row.get(self.value[name], place, self.mask) for place in self.places]


# What is done with a unit ----------------------------------------------------------------------------------------------


def _forward(u: Unit, training: bool) -> None:
    """Mean and 1 / standard deviation in training, and the result."""
    f, m, row, x = u.f, u.m, u.row, u.value["x"]
    if training:
        (totals,) = u.sums(lambda k, at, mask: [row.get(x, at, mask)], 1)
        mean = [u.narrow(u.mean(total)) for total in totals]

        def square(k: int, at: str, mask: str) -> list[str]:
            away = m.sub(row.get(x, at, mask), mean[k])
            return [m.mul(away, away)]

        (squares,) = u.sums(square, 1)
        eps = u.value["eps"] if u.wide == "double" else f.spread(u.wide, u.value["eps"])
        roots = [f.intrinsic("sqrt", u.wide, f.op("fadd", u.wide, u.mean(each), eps)) for each in squares]
        rstd = [u.narrow(f.op("fdiv", u.wide, literal(u.wide, 1), root)) for root in roots]
        u.put("mean", mean)
        u.put("rstd", rstd)
    else:
        mean, rstd = u.read("mean"), u.read("rstd")
    scale = [m.mul(*pair) for pair in zip(rstd, u.get("weight", 1.0), strict=True)]
    bias = u.get("bias", -0.0)

    def result(k: int, at: str, mask: str) -> None:
        value = m.mul(m.sub(row.get(x, at, mask), mean[k]), scale[k])
        row.put(m.add(value, bias[k]), u.value["out"], at, mask)

    u.each(result)


def _backward(u: Unit, training: bool) -> None:
    """The sums of the gradient and of its products with the normalized input, and the input's gradient."""
    m, row, x, g = u.m, u.row, u.value["x"], u.value["g"]
    mean, rstd = u.read("mean"), u.read("rstd")

    def normal(k: int, at: str, mask: str) -> str:
        return m.mul(m.sub(row.get(x, at, mask), mean[k]), rstd[k])

    def terms(k: int, at: str, mask: str) -> list[str]:
        up = row.get(g, at, mask)
        return [up, m.mul(up, normal(k, at, mask))]

    sums = u.sums(terms, 2)
    for name, each in zip(("total", "along"), sums, strict=True):
        u.put(name, [u.narrow(value) for value in each])
    with row.where(u.value["out"]):
        mean_g, slope = ([u.narrow(u.mean(value)) for value in each] for each in sums)
        scale = [m.mul(*pair) for pair in zip(rstd, u.get("weight", 1.0), strict=True)]

        def result(k: int, at: str, mask: str) -> None:
            rest = row.get(g, at, mask)
            if training:
                rest = m.sub(m.sub(rest, m.mul(normal(k, at, mask), slope[k])), mean_g[k])
            row.put(m.mul(rest, scale[k]), u.value["out"], at, mask)

        u.each(result)


# All units of a chunk --------------------------------------------------------------------------------------------------


def _chunk(name: str, shape: Shape, work: Callable[[Unit], None], side_by_side: bool) -> Function:
    """The channels of a thread."""
    f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {field: _get(f, field) for field in FIELDS}
    first = f.op("mul", "i64", "%number", value["per"])
    after = f.op("add", "i64", first, value["per"])
    end = f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {value['channels']}")
    if side_by_side:
        _columns(f, shape, value, first, end, work)
    else:
        with f.counted(first, end) as channel:
            work(Plane(f, shape, value, channel))
    f.end()
    return f


def _columns(
    f: Function, shape: Shape, value: dict[str, str], first: str, end: str, work: Callable[[Unit], None]
) -> None:
    """Many vectors of channels at a time, then one, then what is left of one."""
    lanes, now = shape.lanes, f.variable("i64", first)
    for vectors in (VECTORS, 1):
        with f.forever() as done:
            after = f.op("add", "i64", now.get(), str(vectors * lanes))
            f.leave_when(f.op("icmp sgt", "i64", after, end), done)
            work(Columns(f, shape, value, now.get(), vectors))
            now.set(after)
    rest = f.op("sub", "i64", end, now.get())
    with f.when(f.op("icmp sgt", "i64", rest, "0")):
        numbers = with_lanes(lanes, "i64")
        places = "<" + ", ".join(f"i64 {k}" for k in range(lanes)) + ">"
        mask = f.op("icmp slt", numbers, places, f.spread(numbers, rest))
        work(Columns(f, shape, value, now.get(), 1, mask))


def _share(name: str) -> Function:
    f = Function(name, "void", "ptr context")
    per = _get(f, "per")
    chunks = f.op("sdiv", "i64", f.op("add", "i64", _get(f, "channels"), f.op("sub", "i64", per, "1")), per)
    with f.when(f.op("icmp sgt", "i64", chunks, "1")):
        f.line(f"call void {_get(f, 'parallel')}(ptr @{name}_chunk, ptr %context, i64 {chunks})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line(f"call void @{name}_chunk(ptr %context, i64 0)")
    f.end()
    return f


def functions(shape: Shape, side_by_side: bool, training: bool) -> list[Function]:
    """All functions, for channels that lie side by side or not, of the batch's statistics or given ones."""
    made: list[Function] = []
    for name, work in (("forward", _forward), ("backward", _backward)):
        made += [_chunk(name, shape, lambda u, work=work: work(u, training), side_by_side), _share(name)]  # type: ignore[misc]
    return made
