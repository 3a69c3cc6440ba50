"""Arithmetic on vectors, as LLVM instructions: what elementary functions are made of, extremes and comparisons.

No step meets a NaN with an ordered comparison: the processor's error flags are those of the function itself (see `mathematics.py`).
"""

from __future__ import annotations

import struct

from .text import Function, like, literal


class Vectors:
    """Vectors of one floating type, and the steps that functions of them are made of."""

    def __init__(self, function: Function, type_: str) -> None:
        self.f, self.t = function, type_
        self.scalar = "double" if "double" in type_ else "float"
        self.double = self.scalar == "double"
        self.bits, self.fraction, self.bias = (64, 52, 1023) if self.double else (32, 23, 127)
        self.i = like(type_, f"i{self.bits}")
        self.mask = like(type_, "i1")

    # Steps ---------------------------------------------------------------------------------------------

    def c(self, value: float) -> str:
        return literal(self.t, value)

    def add(self, a: str, b: str) -> str:
        return self.f.op("fadd", self.t, a, b)

    def sub(self, a: str, b: str) -> str:
        return self.f.op("fsub", self.t, a, b)

    def mul(self, a: str, b: str) -> str:
        return self.f.op("fmul", self.t, a, b)

    def div(self, a: str, b: str) -> str:
        return self.f.op("fdiv", self.t, a, b)

    def fma(self, a: str, b: str, c: str) -> str:
        return self.f.intrinsic("fma", self.t, a, b, c)

    def neg(self, a: str) -> str:
        return self.f.op("fneg", self.t, a)

    def abs(self, a: str) -> str:
        return self.f.intrinsic("fabs", self.t, a)

    def copysign(self, a: str, sign: str) -> str:
        return self.f.intrinsic("copysign", self.t, a, sign)

    def pick(self, condition: str, yes: str, no: str) -> str:
        return self.f.select(self.t, condition, yes, no)

    def compare(self, word: str, a: str, b: str) -> str:
        """A comparison of numbers, none of which is NaN (`oeq`, `une`, `ord` and `uno` may be)."""
        return self.f.op(f"fcmp {word}", self.t, a, b)

    def both(self, a: str, b: str) -> str:
        return self.f.op("and", self.mask, a, b)

    def either(self, a: str, b: str) -> str:
        return self.f.op("or", self.mask, a, b)

    def any(self, condition: str) -> str:
        """Does the condition hold in any lane?"""
        return self.f.call(f"llvm.vector.reduce.or.v{self.t[1:].split(' x ')[0]}i1", "i1", f"{self.mask} {condition}")

    def horner(self, x: str, coefficients: tuple[float, ...]) -> str:
        result = self.c(coefficients[0])
        for value in coefficients[1:]:
            result = self.fma(result, x, self.c(value))
        return result

    def clamped(self, x: str, low: float, high: float) -> str:
        """Between two numbers; x is not NaN."""
        x = self.pick(self.compare("olt", x, self.c(low)), self.c(low), x)
        return self.pick(self.compare("ogt", x, self.c(high)), self.c(high), x)

    def without_nan(self, x: str, instead: float = 0.0) -> tuple[str, str]:
        """Where x is NaN, and x with another number there."""
        nan = self.compare("uno", x, x)
        return nan, self.pick(nan, self.c(instead), x)

    def magnitude(self, x: str) -> str:
        """The bits of |x|, which are ordered as the numbers are; those of NaN come last."""
        bits = self.f.cast("bitcast", self.t, x, self.i)
        return self.f.op("and", self.i, bits, literal(self.i, (1 << (self.bits - 1)) - 1))

    def bits_of(self, value: float) -> str:
        """A number's bits as a whole number, in all lanes."""
        word = (
            struct.unpack("<q", struct.pack("<d", value))
            if self.double
            else struct.unpack("<i", struct.pack("<f", value))
        )
        return literal(self.i, word[0])

    def beyond(self, x: str, limit: float) -> str:
        """Where |x| is above a limit, or x is NaN."""
        return self.f.op("icmp ugt", self.i, self.magnitude(x), self.bits_of(limit))

    def at_most(self, x: str, limit: float) -> str:
        """|x|, or the limit where it is above that or NaN."""
        least = self.f.intrinsic("umin", self.i, self.magnitude(x), self.bits_of(limit))
        return self.f.cast("bitcast", self.i, least, self.t)

    def power_of_two(self, n: str) -> str:
        """2 to a whole number (of the integer type) between the smallest and the largest exponent."""
        shifted = self.f.op("add", self.i, n, literal(self.i, self.bias))
        return self.f.cast("bitcast", self.i, self.f.op("shl", self.i, shifted, literal(self.i, self.fraction)), self.t)

    def complain(self, where: str, numerator: float) -> None:
        """Raise the processor's flag for 0/0 (numerator 0) or 1/0 (numerator 1), if the condition holds anywhere."""
        with self.f.when(self.any(where), rarely=True):
            place = self.f.reserve(self.scalar)
            self.f.line(f"store volatile {self.scalar} {literal(self.scalar, 0)}, ptr {place}")
            zero = self.f.let(f"load volatile {self.scalar}, ptr {place}")
            result = self.f.op("fdiv", self.scalar, literal(self.scalar, numerator), zero)
            self.f.line(f"store volatile {self.scalar} {result}, ptr {place}")

    # Minimum, maximum, comparison ------------------------------------------------------------------------

    def ordered(self, a: str, b: str) -> tuple[str, str, str]:
        """Where one of two is NaN, and both with 0 there."""
        nan = self.compare("uno", a, b)
        return nan, self.pick(nan, self.c(0), a), self.pick(nan, self.c(0), b)

    def compared(self, word: str, a: str, b: str) -> str:
        """A comparison of anything: false where one is NaN."""
        if word in ("oeq", "une"):
            return self.compare(word, a, b)
        nan, a, b = self.ordered(a, b)
        found = self.compare(word, a, b)
        return self.both(found, self.f.op("xor", self.mask, nan, literal(self.mask, 1)))

    def extreme(self, word: str, a: str, b: str) -> str:
        """The larger (`ogt`) or smaller (`olt`) of two; NaN if one is."""
        nan, x, y = self.ordered(a, b)
        found = self.pick(self.compare(word, x, y), x, y)
        return self.pick(nan, self.add(a, b), found)
