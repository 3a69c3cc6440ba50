"""Batch normalization as LLVM's instructions: what is done with a channel of all images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .attention.rows import Row
from .mathematics import Mathematics
from .products.tiles import Shape
from .text import Function, Variable, literal, with_lanes

BLOCK = 1024  # elements that are added up by themselves
ARRAYS = ("x", "g", "out", "weight", "bias", "mean", "rstd", "total", "along")
FIELDS = (*ARRAYS, "parallel", "images", "channels", "length", "eps", "per")


def _get(f: Function, name: str) -> str:
    kind = "double" if name == "eps" else "ptr" if name in ARRAYS or name == "parallel" else "i64"
    return f.load(kind, f.element("%context", str(FIELDS.index(name)), "i64"))


class Channel:
    """Writes what is done with one channel of all images."""

    def __init__(self, f: Function, shape: Shape) -> None:
        self.f, self.shape, self.m, self.row = f, shape, Mathematics(f, shape.type), Row(f, shape)
        self.value = {name: _get(f, name) for name in FIELDS}
        self.wide = with_lanes(shape.lanes, "double")
        count = f.op("mul", "i64", self.value["images"], self.value["length"])
        self.count = f.cast("sitofp", "i64", count, "double")

    def blocks(self, channel: str, body: Callable[[str, str], None], after: Callable[[], None] = lambda: None) -> None:
        """`body(first, mask)` for all vectors of the channel, where `first` counts from the start of the arrays."""
        f, value = self.f, self.value
        with f.counted("0", value["images"]) as image:
            place = f.op("add", "i64", f.op("mul", "i64", image, value["channels"]), channel)
            start = f.op("mul", "i64", place, value["length"])
            with f.counted("0", value["length"], str(BLOCK)) as block:
                left = f.op("sub", "i64", value["length"], block)
                count = f.call("llvm.smin.i64", "i64", f"i64 {left}", f"i64 {BLOCK}")
                first = f.op("add", "i64", start, block)
                self.row.each(count, lambda at, mask: body(f.op("add", "i64", first, at), mask))
                after()

    def sums(self, channel: str, terms: Callable[[str, str], Sequence[str]], count: int) -> list[str]:
        """Sums of `count` terms over the channel, as float64."""
        f, m = self.f, self.m
        parts = [f.variable(self.shape.type, m.c(0)) for _ in range(count)]
        totals = [f.variable(self.wide, literal(self.wide, 0)) for _ in range(count)]

        def add(first: str, mask: str) -> None:
            for part, term in zip(parts, terms(first, mask), strict=True):
                part.set(m.add(part.get(), m.pick(mask, term, m.c(0))))

        def settle() -> None:
            for part, total in zip(parts, totals, strict=True):
                value = part.get()
                more = value if self.shape.scalar == "double" else f.cast("fpext", self.shape.type, value, self.wide)
                total.set(f.op("fadd", self.wide, total.get(), more))
                part.set(m.c(0))

        self.blocks(channel, add, settle)
        return [self._across(total) for total in totals]

    def _across(self, total: Variable) -> str:
        name = f"llvm.vector.reduce.fadd.v{self.shape.lanes}f64"
        return self.f.call(name, "double", f"double {literal('double', -0.0)}", f"{self.wide} {total.get()}")

    def narrow(self, value: str) -> str:
        """A float64 as a number of the arrays' type."""
        return value if self.shape.scalar == "double" else self.f.cast("fptrunc", "double", value, self.shape.scalar)

    def put(self, name: str, channel: str, value: str) -> None:
        """Write a number of the channel, if it is wanted."""
        with self.row.where(self.value[name]):
            self.f.store(
                self.shape.scalar, value, self.f.element(self.value[name], channel, self.shape.scalar), self.shape.size
            )

    def get(self, name: str, channel: str, otherwise: float) -> str:
        """A number of the channel in all lanes, another one where there is no such array."""
        f, scalar = self.f, self.shape.scalar
        number = f.variable(scalar, literal(scalar, otherwise))
        with self.row.where(self.value[name]):
            number.set(f.load(scalar, f.element(self.value[name], channel, scalar), self.shape.size))
        return f.spread(self.shape.type, number.get())


def _each_channel(f: Function, shape: Shape) -> tuple[Channel, str, str]:
    c = Channel(f, shape)
    first = f.op("mul", "i64", "%number", c.value["per"])
    after = f.op("add", "i64", first, c.value["per"])
    return c, first, f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {c.value['channels']}")


def _forward_chunk(shape: Shape) -> Function:
    """Mean, 1 / standard deviation, and the result."""
    f = Function("forward_chunk", "void", "ptr context", "i64 number", linkage="internal")
    c, first, end = _each_channel(f, shape)
    m, row, x = c.m, c.row, c.value["x"]
    with f.counted(first, end) as channel:
        (total,) = c.sums(channel, lambda at, mask: [row.get(x, at, mask)], 1)
        mean = c.narrow(f.op("fdiv", "double", total, c.count))
        middle = f.spread(shape.type, mean)

        def square(at: str, mask: str, middle: str = middle) -> list[str]:
            away = m.sub(row.get(x, at, mask), middle)
            return [m.mul(away, away)]

        (squares,) = c.sums(channel, square, 1)
        var = f.op("fadd", "double", f.op("fdiv", "double", squares, c.count), c.value["eps"])
        rstd = c.narrow(f.op("fdiv", "double", literal("double", 1), f.intrinsic("sqrt", "double", var)))
        c.put("mean", channel, mean)
        c.put("rstd", channel, rstd)
        scale = m.mul(f.spread(shape.type, rstd), c.get("weight", channel, 1.0))
        bias = c.get("bias", channel, -0.0)

        def result(at: str, mask: str, middle: str = middle, scale: str = scale, bias: str = bias) -> None:
            value = m.mul(m.sub(row.get(x, at, mask), middle), scale)
            row.put(m.add(value, bias), c.value["out"], at, mask)

        c.blocks(channel, result)
    f.end()
    return f


def _backward_chunk(shape: Shape) -> Function:
    """The sums of the gradient and of its products with the normalized input, and the input's gradient."""
    f = Function("backward_chunk", "void", "ptr context", "i64 number", linkage="internal")
    c, first, end = _each_channel(f, shape)
    m, row, x, g = c.m, c.row, c.value["x"], c.value["g"]
    with f.counted(first, end) as channel:
        mean, rstd = c.get("mean", channel, 0.0), c.get("rstd", channel, 1.0)

        def normal(at: str, mask: str, mean: str = mean, rstd: str = rstd) -> str:
            return m.mul(m.sub(row.get(x, at, mask), mean), rstd)

        def terms(at: str, mask: str, normal: Any = normal) -> list[str]:
            up = row.get(g, at, mask)
            return [up, m.mul(up, normal(at, mask))]

        total, along = c.sums(channel, terms, 2)
        c.put("total", channel, c.narrow(total))
        c.put("along", channel, c.narrow(along))
        with row.where(c.value["out"]):
            mean_g, slope = (f.spread(shape.type, c.narrow(f.op("fdiv", "double", v, c.count))) for v in (total, along))
            scale = m.mul(rstd, c.get("weight", channel, 1.0))

            def result(
                at: str, mask: str, normal: Any = normal, mean_g: str = mean_g, slope: str = slope, scale: str = scale
            ) -> None:
                rest = m.sub(row.get(g, at, mask), m.mul(normal(at, mask), slope))
                row.put(m.mul(m.sub(rest, mean_g), scale), c.value["out"], at, mask)

            c.blocks(channel, result)
    f.end()
    return f


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


def functions(shape: Shape) -> list[Function]:
    """All functions."""
    return [_forward_chunk(shape), _backward_chunk(shape), _share("forward"), _share("backward")]
