"""Rows of scores: the softmax under a mask, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..mathematics import Mathematics
from ..products.tiles import Shape, masked_load, masked_store
from ..text import Function, literal, with_lanes


class Row:
    """Writes loops over the numbers of a row: whole vectors, and what is left under a mask."""

    def __init__(self, f: Function, shape: Shape) -> None:
        self.f, self.shape, self.type = f, shape, shape.type
        self.m = Mathematics(f, shape.type)

    def each(self, count: str, body: Callable[[str, str], None]) -> None:
        """`body(first, mask)` for every vector of `count` numbers; the last one may be cut off."""
        f, lanes = self.f, self.shape.lanes
        every = literal(with_lanes(lanes, "i1"), 1)
        whole = f.op("sub", "i64", count, f.op("srem", "i64", count, str(lanes)))
        with f.counted("0", whole, str(lanes)) as first:
            body(first, every)
        with f.when(f.op("icmp slt", "i64", whole, count)):
            numbers = with_lanes(lanes, "i64")
            places = "<" + ", ".join(f"i64 {k}" for k in range(lanes)) + ">"
            body(whole, f.op("icmp slt", numbers, places, f.spread(numbers, f.op("sub", "i64", count, whole))))

    def get(self, row: str, first: str, mask: str) -> str:
        """A vector of a row; zero where it is cut off."""
        return masked_load(self.f, self.shape, self.f.element(row, first, self.shape.scalar), mask)

    def put(self, value: str, row: str, first: str, mask: str) -> None:
        """Write a vector of a row."""
        masked_store(self.f, self.shape, value, self.f.element(row, first, self.shape.scalar), mask)

    def across(self, value: str, join: Callable[[str, str], str]) -> str:
        """All lanes joined, in all lanes: turned by half, a quarter, … and joined each time."""
        lanes, turn = self.shape.lanes, self.shape.lanes // 2
        while turn:
            order = ", ".join(f"i32 {(k + turn) % lanes}" for k in range(lanes))
            turned = self.f.let(f"shufflevector {self.type} {value}, {self.type} poison, <{lanes} x i32> <{order}>")
            value = join(value, turned)
            turn //= 2
        return value

    def largest(self, a: str, b: str) -> str:
        """The larger of two; a NaN may be lost (it comes back with the exponentials)."""
        return self.m.pick(self.m.compare("ogt", a, b), a, b)

    @contextmanager
    def where(self, pointer: str) -> Iterator[None]:
        """Only if there is such an array."""
        with self.f.when(self.f.op("icmp ne", "ptr", pointer, "null")):
            yield

    def noise(self, first: str, mask: str) -> str:
        """What dropout multiplies by: a vector of the row `%drop`; or, by the bits from number `%bit` on, `%factor` or zero."""
        f, lanes = self.f, self.shape.lanes
        result = f.variable(self.type, self.m.c(0))
        with self.where("%drop"):
            result.set(self.get("%drop", first, mask))
        with self.where("%bits"):
            bit = f.op("add", "i64", "%bit", first)
            word = f.load("i32", f.offset("%bits", f.op("lshr", "i64", bit, "3")), 1)
            within = f.cast("trunc", "i64", f.op("and", "i64", bit, "7"), "i32")
            some = f.cast("trunc", "i32", f.op("lshr", "i32", word, within), f"i{lanes}")
            kept = f.cast("bitcast", f"i{lanes}", some, with_lanes(lanes, "i1"))
            result.set(self.m.pick(kept, f.spread(self.type, "%factor"), self.m.c(0)))
        return result.get()

    def allowed(self, score: str, mask_row: str, kind: str, first: str, mask: str) -> str:
        """A score under the mask: 0 there is none, 1 to be added, 2 where to look."""
        f, lanes = self.f, self.shape.lanes
        result = f.variable(self.type, score)
        with f.when(f.op("icmp eq", "i64", kind, "1")):
            result.set(self.m.add(score, self.get(mask_row, first, mask)))
        with f.when(f.op("icmp eq", "i64", kind, "2")):
            bytes_ = with_lanes(lanes, "i8")
            place, rest = f.offset(mask_row, first), (f"<{lanes} x i1> {mask}", f"{bytes_} zeroinitializer")
            there = f.call(f"llvm.masked.load.v{lanes}i8.p0", bytes_, f"ptr {place}", "i32 1", *rest)
            look = f.op("icmp ne", bytes_, there, literal(bytes_, 0))
            result.set(self.m.pick(look, score, self.m.c(-math.inf)))
        return result.get()


def _noise(shape: Shape) -> tuple[str, ...]:
    """Parameters that say what dropout does: see `Row.noise`; `used` is where products with it go, null if there is none."""
    return ("ptr drop", "ptr bits", "i64 bit", f"{shape.scalar} factor", "ptr used")


def weights(shape: Shape) -> Function:
    """Scores (products of query and keys) become probabilities, in place.

    `seen` of them count, of the others up to `end` the probability is zero. `used`: where to write them times the noise.
    `total`: where the logarithm of the sum of exponentials goes, or null. `safe`: a query that may look nowhere gets zeros.
    """
    parameters = (
        "ptr row", "ptr mask", "i64 kind", *_noise(shape), "i64 seen", "i64 end", f"{shape.scalar} scale", "i1 safe", "ptr total",
    )  # fmt: skip
    f = Function("weights", "void", *parameters, linkage="internal")
    r, m = Row(f, shape), Mathematics(f, shape.type)
    scale = f.spread(shape.type, "%scale")
    low = m.c(-math.inf)
    top, total = f.variable(shape.type, low), f.variable(shape.type, m.c(0))

    def scores(first: str, mask: str) -> None:
        score = r.allowed(m.mul(r.get("%row", first, mask), scale), "%mask", "%kind", first, mask)
        r.put(score, "%row", first, mask)
        top.set(r.largest(m.pick(mask, score, low), top.get()))

    r.each("%seen", scores)
    shift = r.across(top.get(), r.largest)
    nowhere = m.both(m.compare("oeq", shift, low), f.spread(m.mask, "%safe"))
    shift = m.pick(nowhere, m.c(0), shift)

    def exponentials(first: str, mask: str) -> None:
        value = m.exp_of_negative(m.sub(r.get("%row", first, mask), shift))
        r.put(value, "%row", first, mask)
        total.set(m.add(total.get(), m.pick(mask, value, m.c(0))))

    r.each("%seen", exponentials)
    whole = r.across(total.get(), m.add)
    with r.where("%total"):
        value = m.add(shift, m.log(whole))
        f.store(shape.scalar, f.let(f"extractelement {shape.type} {value}, i64 0"), "%total", shape.size)
    none = m.both(m.compare("oeq", whole, m.c(0)), f.spread(m.mask, "%safe"))
    share = m.div(m.c(1), m.pick(none, m.c(1), whole))

    def shares(first: str, mask: str) -> None:
        value = m.mul(r.get("%row", first, mask), share)
        r.put(value, "%row", first, mask)
        with r.where("%used"):
            r.put(m.mul(value, r.noise(first, mask)), "%used", first, mask)

    r.each("%seen", shares)
    with f.counted("%seen", "%end") as k:
        zero = literal(shape.scalar, 0)
        f.store(shape.scalar, zero, f.element("%row", k, shape.scalar), shape.size)
        with r.where("%used"):
            f.store(shape.scalar, zero, f.element("%used", k, shape.scalar), shape.size)
    f.end()
    return f


def again(shape: Shape) -> Function:
    """Scores become the probabilities that they were, by the logarithm of their sum."""
    parameters = ("ptr row", "ptr mask", "i64 kind", "i64 seen", "i64 end", f"{shape.scalar} scale", "ptr total")
    f = Function("again", "void", *parameters, linkage="internal")
    r, m = Row(f, shape), Mathematics(f, shape.type)
    scale, total = (f.spread(shape.type, x) for x in ("%scale", f.load(shape.scalar, "%total", shape.size)))
    shift = m.pick(m.compare("oeq", total, m.c(-math.inf)), m.c(0), total)

    def each(first: str, mask: str) -> None:
        score = r.allowed(m.mul(r.get("%row", first, mask), scale), "%mask", "%kind", first, mask)
        r.put(m.exp_of_negative(m.sub(score, shift)), "%row", first, mask)

    r.each("%seen", each)
    with f.counted("%seen", "%end") as k:
        f.store(shape.scalar, literal(shape.scalar, 0), f.element("%row", k, shape.scalar), shape.size)
    f.end()
    return f


def gradient(shape: Shape) -> Function:
    """The gradient by the probabilities (`through`) becomes that by the scores before their scaling, in place.

    `whole`: where that by the scaled scores goes, or null. `used`: where to write the probabilities times the noise.
    """
    parameters = (
        "ptr probs", "ptr through", *_noise(shape), "ptr whole", "i64 seen", "i64 end", f"{shape.scalar} scale",
    )  # fmt: skip
    f = Function("gradient", "void", *parameters, linkage="internal")
    r, m = Row(f, shape), Mathematics(f, shape.type)
    scale, along = f.spread(shape.type, "%scale"), f.variable(shape.type, m.c(0))

    def dot(first: str, mask: str) -> None:
        p, g = r.get("%probs", first, mask), f.variable(shape.type, r.get("%through", first, mask))
        with r.where("%used"):
            factor = r.noise(first, mask)
            g.set(m.mul(g.get(), factor))
            r.put(g.get(), "%through", first, mask)
            r.put(m.mul(p, factor), "%used", first, mask)
        along.set(m.fma(p, g.get(), along.get()))

    r.each("%seen", dot)
    mean = r.across(along.get(), m.add)

    def scores(first: str, mask: str) -> None:
        p, g = (r.get(row, first, mask) for row in ("%probs", "%through"))
        value = m.mul(p, m.sub(g, mean))
        with r.where("%whole"):
            r.put(value, "%whole", first, mask)
        r.put(m.mul(value, scale), "%through", first, mask)

    r.each("%seen", scores)
    zero = literal(shape.scalar, 0)
    with f.counted("%seen", "%end") as k:
        f.store(shape.scalar, zero, f.element("%through", k, shape.scalar), shape.size)
        with r.where("%used"):
            f.store(shape.scalar, zero, f.element("%used", k, shape.scalar), shape.size)
    f.end()
    return f
