"""Elementary functions on vectors, as LLVM instructions: polynomials after a reduction of the argument, within 2 ulp.

Written so that the processor's error flags are those of the function itself (NumPy reads them, and diagnoses hear of it):
no step meets a NaN with an ordered comparison, and what has no value (`log(-1)`) says so in a branch that is rarely taken.
The coefficients are Chebyshev fits of the remainders that stand beside them.
"""

from __future__ import annotations

import math
import struct

from .text import Function, like, literal

# (expm1(r) - r) / r^2 for |r| <= log(2) / 2
_EXP = {
    "float": (0.000198912685101072845, 0.00139339000500400865, 0.00833331067460318772, 0.041666462666195951,
              0.166666666818750513, 0.500000001369255743),
    "double": (2.09148987271755242e-9, 2.51055135418470849e-8, 2.75572731328960409e-7, 2.75572546857288025e-6,
               0.0000248015873259511094, 0.000198412698753854795, 0.00138888888888836326, 0.00833333333332597311,
               0.0416666666666666698, 0.166666666666666711, 0.5),
}  # fmt: skip
# (log1p(f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2)
_LOG32 = (0.0697251863387954566, -0.114812120585184411, 0.116857847210370665, -0.124255233599338029,
          0.142490072405936941, -0.166678071329626431, 0.200007172130853367, -0.249999969254002724,
          0.333333311742761303)  # fmt: skip
# (log((1 + s) / (1 - s)) / s - 2) / s^2, a polynomial in s^2
_LOG64 = (0.130880348509275537, 0.132686383692668239, 0.153862447376216666, 0.181817955475211362, 0.222222223925810451,
          0.28571428570799785, 0.400000000000008832, 0.666666666666666665)  # fmt: skip
# erf(x) / x - 1, a polynomial in x^2, for |x| <= 1
_ERF64 = (5.9571761477489114e-11, -1.13728488567916737e-9, 1.46597752740474358e-8, -1.6350312701054695e-7,
          1.6461000484121368e-6, -0.0000149255952668311816, 0.000120553311116427109, -0.000854832698083378991,
          0.00522397762481801447, -0.0268661706450767932, 0.112837916709548787, -0.376126389031837481,
          0.128379167095512574)  # fmt: skip
# log(erfc(x)) / x for 0 <= x <= 4
_ERF32 = (-1.08054827410312204e-8, 3.3760508709067932e-7, -4.7856078685317682e-6, 0.0000405873873524704548,
          -0.000227120307747172075, 0.000854247559008414, -0.0019342060756835222, 0.000351144110440589871,
          0.0190764096875084862, -0.102762360323820765, -0.636620592051647918, -1.12837915582039837)  # fmt: skip
# (log2(ndtr(-t)) + 1) / t for 0 <= t <= 6: the closer, the more of the result it is; and (exp2(r) - 1) / r for |r| <= 1/2
_NDTR32 = (2.56825561e-09, -9.60230579e-08, 1.5913721e-06, -1.52736266e-05, 9.11882162e-05, -0.000309061026,
           3.20196559e-05, 0.00693190284, -0.0524423234, -0.459218085, -1.15110469)  # fmt: skip
_EXP2 = (0.000154614478, 0.00133908668, 0.00961805694, 0.0555035695, 0.240226507, 0.693147182)
# For |x| <= 0.4: (tanh(x) / x - 1) / x^2 and erf(x) / x - 1, polynomials in x^2
_SMALL_TANH32 = (0.0192680459746147873, -0.0537151214187553596, 0.133325320803038957, -0.333333293351701435)
_SMALL_ERF32 = (-0.0252531073604255424, 0.112678400074186169, -0.376121307114785316, 0.128379141706849805)
# (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4, polynomials in r^2, for |r| <= pi / 4
_SIN = {
    "float": (2.72496200800753295e-6, -0.000198400843764227035, 0.0083333318703413485, -0.166666666638440495),
    "double": (-7.58663688282515966e-13, 1.60585305966459547e-10, -2.50521062259944007e-8, 2.75573192193205798e-6,
               -0.00019841269841265041, 0.00833333333333333148, -0.166666666666666667),
}  # fmt: skip
_COS = {
    "float": (-2.7300704038086652e-7, 0.000024800598408350121, -0.00138888876683706632, 0.0416666666643118234),
    "double": (4.74583841253102297e-14, -1.14704603192095118e-11, 2.08767557874926059e-9, -2.75573192213924907e-7,
               0.0000248015873015846331, -0.00138888888888888879, 0.0416666666666666667),
}  # fmt: skip

# log(2) and pi / 2 in parts: the first have few bits, so that a small whole number times them is exact.
_LN2 = {
    "float": (0.693145751953125, 1.42860682030941723e-06),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}
_HALF_PI = {
    "float": (1.5703125, 0.0004837512969970703125, 7.549790126404332e-08, -1.7151244994428829e-15),
    "double": (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
}
_FAR = {"float": 8000.0, "double": 1e6}  # beyond, the C library reduces the argument of sin and cos


class Mathematics:
    """Functions of vectors of one floating type."""

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

    # Exponentials ----------------------------------------------------------------------------------------

    def _reduced(self, x: str) -> tuple[str, str, str]:
        """x = n log(2) + r: n as a whole number, r, and expm1(r)."""
        n = self.f.intrinsic("rint", self.t, self.mul(x, self.c(1 / math.log(2))))
        high, low = _LN2[self.scalar]
        r = self.fma(n, self.c(-low), self.fma(n, self.c(-high), x))
        p = self.horner(r, _EXP[self.scalar])
        return self.f.cast("fptosi", self.t, n, self.i), r, self.fma(self.mul(p, r), r, r)

    def _scaled(self, value: str, n: str) -> str:
        """value times 2 to the n, in two steps: results may be subnormal, or overflow."""
        half = self.f.op("ashr", self.i, n, literal(self.i, 1))
        rest = self.f.op("sub", self.i, n, half)
        return self.mul(self.mul(value, self.power_of_two(half)), self.power_of_two(rest))

    def _in_two(self, x: str, rounded: bool) -> tuple[str, str]:
        """exp(x) = 2^n value: n as a whole number, and the value; rounded: what its steps round away is carried along."""
        if not rounded:
            n, _, e = self._reduced(x)
            return n, self.add(e, self.c(1))
        number = self.f.intrinsic("rint", self.t, self.mul(x, self.c(1 / math.log(2))))
        high, low = _LN2[self.scalar]
        most = self.fma(number, self.c(-high), x)
        r = self.fma(number, self.c(-low), most)
        lost = self.fma(number, self.c(-low), self.sub(most, r))
        whole = self.add(r, self.c(1))
        lost = self.add(self.sub(r, self.sub(whole, self.c(1))), lost)
        p = self.mul(self.horner(r, _EXP[self.scalar]), r)
        return self.f.cast("fptosi", self.t, number, self.i), self.add(whole, self.fma(p, r, lost))

    def exp(self, x: str, rounded: bool = False) -> str:
        """Within 1 ulp; rounded: within 0.63, for a third more time."""
        far = self.beyond(x, 708.0 if self.double else 87.0)
        return self.f.choose(
            self.t, self.any(far), lambda: self._any_exp(x, rounded), lambda: self._near_exp(x, rounded)
        )

    def _near_exp(self, x: str, rounded: bool = False) -> str:
        """exp of numbers whose result is neither subnormal nor infinite: the exponent is added to the bits."""
        n, value = self._in_two(x, rounded)
        return self._shifted(value, n)

    def _shifted(self, value: str, n: str) -> str:
        """value times 2 to the n, neither subnormal nor infinite: the exponent is added to the bits."""
        bits = self.f.cast("bitcast", self.t, value, self.i)
        shifted = self.f.op("shl", self.i, n, literal(self.i, self.fraction))
        return self.f.cast("bitcast", self.i, self.f.op("add", self.i, bits, shifted), self.t)

    def _any_exp(self, x: str, rounded: bool) -> str:
        nan, y = self.without_nan(x)
        y = self.clamped(y, -746.0, 710.0) if self.double else self.clamped(y, -104.0, 89.0)
        n, value = self._in_two(y, rounded)
        return self.pick(nan, x, self._scaled(value, n))

    def exp_of_negative(self, x: str) -> str:
        """exp of numbers that are at most 0, or NaN; what would be subnormal is 0."""
        nan, y = self.without_nan(x)
        low = self.c(-708.0 if self.double else -87.0)
        gone = self.compare("olt", y, low)
        value = self._near_exp(self.pick(gone, low, y))
        return self.pick(nan, x, self.pick(gone, self.c(0), value))

    def expm1(self, x: str) -> str:
        nan, y = self.without_nan(x)
        y = self.clamped(y, -40.0, 709.782712893384) if self.double else self.clamped(y, -20.0, 88.722839)
        n, _, e = self._reduced(y)
        # 2^n e + (2^n - 1); the largest exponent is one too many for a single factor.
        less = self.f.op("sub", self.i, n, literal(self.i, 1))
        power = self.power_of_two(less)
        half = self.fma(e, power, self.sub(power, self.c(0.5)))
        result = self.add(half, half)
        # Where 2^n is 1 nothing is added: small numbers stay as exact as they are.
        result = self.pick(self.f.op("icmp eq", self.i, n, literal(self.i, 0)), e, result)
        over = self.c(709.782712893384) if self.double else self.c(88.722839)
        _, z = self.without_nan(x)
        huge = self.compare("ogt", z, over)
        result = self.pick(huge, self.c(math.inf), result)
        finite = self.compare("one", z, self.c(math.inf))
        self._overflow(self.both(huge, finite))
        return self.pick(nan, x, self.copysign(result, x))

    def _overflow(self, where: str) -> None:
        """Raise the processor's flag for overflow, if the condition holds anywhere."""
        with self.f.when(self.any(where), rarely=True):
            place = self.f.reserve(self.scalar)
            large = 1e300 if self.double else 1e38
            self.f.line(f"store volatile {self.scalar} {literal(self.scalar, large)}, ptr {place}")
            value = self.f.let(f"load volatile {self.scalar}, ptr {place}")
            self.f.line(f"store volatile {self.scalar} {self.f.op('fmul', self.scalar, value, value)}, ptr {place}")

    def exp2(self, x: str) -> str:
        nan, y = self.without_nan(x)
        y = self.clamped(y, -1080.0, 1025.0) if self.double else self.clamped(y, -152.0, 129.0)
        n = self.f.intrinsic("rint", self.t, y)
        r = self.mul(self.sub(y, n), self.c(math.log(2)))
        p = self.horner(r, _EXP[self.scalar])
        e = self.fma(self.mul(p, r), r, r)
        whole = self.f.cast("fptosi", self.t, n, self.i)
        return self.pick(nan, x, self._scaled(self.add(e, self.c(1)), whole))

    def tanh(self, x: str) -> str:
        """e / (e + 2) for e = expm1(2 |x|); for large e 1 - 2 / (e + 2), which is nearer."""
        a = self.at_most(x, 20.0 if self.double else 10.0)
        n, _, e = self._reduced(self.add(a, a))
        power = self.power_of_two(n)
        e = self.fma(e, power, self.sub(power, self.c(1)))
        large = self.compare("ogt", e, self.c(2))
        q = self.div(self.pick(large, self.c(-2), e), self.add(e, self.c(2)))
        result = self.add(q, self.pick(large, self.c(1), self.c(0)))
        if not self.double:  # where one step more would be one too many
            z = self.mul(a, a)
            small = self.fma(self.mul(z, a), self.horner(z, _SMALL_TANH32), a)
            result = self.pick(self.compare("ogt", a, self.c(0.4)), result, small)
        return self.pick(self.compare("uno", x, x), x, self.copysign(result, x))

    # Logarithms ------------------------------------------------------------------------------------------

    def _log_of_positive(self, x: str, subnormal: bool = True) -> tuple[str, str, str]:
        """Whole exponent (as a number), f = mantissa - 1, and log1p(f) - f, of a positive finite number."""
        small = self.compare("olt", x, self.c(2.0**-1022 if self.double else 2.0**-126)) if subnormal else ""
        lift = 54 if self.double else 24
        y = self.pick(small, self.mul(x, self.c(2.0**lift)), x) if subnormal else x
        bits = self.f.cast("bitcast", self.t, y, self.i)
        # The mantissa lies between sqrt(1/2) and sqrt(2): move the border before the exponent is cut off.
        border = 0x3FE6A09E667F3BCD if self.double else 0x3F3504F3
        moved = self.f.op("sub", self.i, bits, literal(self.i, border))
        e = self.f.op("ashr", self.i, moved, literal(self.i, self.fraction))
        mantissa = self.f.op("sub", self.i, bits, self.f.op("shl", self.i, e, literal(self.i, self.fraction)))
        f = self.sub(self.f.cast("bitcast", self.i, mantissa, self.t), self.c(1))
        if subnormal:
            e = self.f.op("add", self.i, e, self.f.select(self.i, small, literal(self.i, -lift), literal(self.i, 0)))
        n = self.f.cast("sitofp", self.i, e, self.t)
        square = self.mul(f, f)
        if not self.double:
            rest = self.fma(self.mul(square, f), self.horner(f, _LOG32), self.mul(square, self.c(-0.5)))
            return n, f, rest
        half = self.mul(square, self.c(0.5))
        s = self.div(f, self.add(f, self.c(2)))
        z = self.mul(s, s)
        inner = self.mul(s, self.fma(z, self.horner(z, _LOG64), half))
        return n, f, self.sub(inner, half)

    def _finished_log(self, x: str, result: str) -> str:
        """The values at the ends: -inf at 0, NaN below, inf and NaN themselves. (Bits are compared: LLVM may not look through.)"""
        magnitude = self.magnitude(x)
        infinity = self.bits_of(math.inf)
        zero = self.f.op("icmp eq", self.i, magnitude, literal(self.i, 0))
        signed = self.f.op("icmp slt", self.i, self.f.cast("bitcast", self.t, x, self.i), literal(self.i, 0))
        number = self.f.op("icmp ule", self.i, magnitude, infinity)
        negative = self.both(self.both(signed, number), self.f.op("icmp ne", self.i, magnitude, literal(self.i, 0)))
        self.complain(negative, 0)
        self.complain(zero, 1)
        result = self.pick(zero, self.c(-math.inf), result)
        result = self.pick(negative, self.c(math.nan), result)
        same = self.both(
            self.f.op("icmp uge", self.i, magnitude, infinity),
            self.f.op("xor", self.mask, negative, literal(self.mask, 1)),
        )
        return self.pick(same, x, result)

    def _positive(self, x: str) -> str:
        """x, or 1 where it is not a positive finite number."""
        bits = self.f.cast("bitcast", self.t, x, self.i)
        before = self.f.op("sub", self.i, bits, literal(self.i, 1))
        usual = self.f.op(
            "icmp ult", self.i, before, self.f.op("sub", self.i, self.bits_of(math.inf), literal(self.i, 1))
        )
        return self.pick(usual, x, self.c(1))

    def log(self, x: str) -> str:
        bits = self.f.cast("bitcast", self.t, x, self.i)
        first, end = (1 << self.fraction, (2 * self.bias + 1) << self.fraction)  # positive, finite, not subnormal
        offset = self.f.op("sub", self.i, bits, literal(self.i, first))
        unusual = self.f.op("icmp uge", self.i, offset, literal(self.i, end - first))
        return self.f.choose(
            self.t,
            self.any(unusual),
            lambda: self._finished_log(x, self._log_of_usual(self._positive(x), True)),
            lambda: self._log_of_usual(x, False),
        )

    def _log_of_usual(self, x: str, subnormal: bool) -> str:
        n, f, rest = self._log_of_positive(x, subnormal)
        high, low = _LN2[self.scalar]
        return self.fma(n, self.c(high), self.add(f, self.fma(n, self.c(low), rest)))

    def log1p(self, x: str) -> str:
        """log(u) for u = 1 + x, and what was lost in that sum."""
        u = self.add(x, self.c(1))
        y = self._positive(u)
        tame = self.pick(self.compare("oeq", y, u), x, self.c(0))
        lost = self.div(self.sub(tame, self.sub(y, self.c(1))), y)
        n, f, rest = self._log_of_positive(y)
        high, low = _LN2[self.scalar]
        tail = self.fma(n, self.c(low), self.add(rest, lost))
        result = self.fma(n, self.c(high), self.add(f, tail))
        tiny = self.compare("olt", self.abs(tame), self.c(2.0**-54 if self.double else 2.0**-25))
        return self._finished_log(u, self.pick(tiny, tame, result))

    # The error function ------------------------------------------------------------------------------------

    def erf(self, x: str) -> str:
        result = self._erf64(x) if self.double else self._erf32(x)
        return self.pick(self.compare("uno", x, x), x, self.copysign(result, x))

    def _erf32(self, x: str) -> str:
        """expm1(t q(t)) for t = |x|, but for its sign; a polynomial where t is small."""
        t = self.at_most(x, 4.0)
        n, _, e = self._reduced(self.mul(t, self.horner(t, _ERF32)))
        power = self.power_of_two(n)
        large = self.fma(e, power, self.sub(power, self.c(1)))
        small = self.fma(t, self.horner(self.mul(t, t), _SMALL_ERF32), t)
        return self.pick(self.compare("ogt", t, self.c(0.4)), large, small)

    def _erf64(self, x: str) -> str:
        """A polynomial below 1; above, exp(-t^2) times a quotient of two, from 1."""
        from ..portable.elementwise.special import _ERFC_P, _ERFC_Q

        near = self.at_most(x, 1.0)
        small = self.fma(near, self.horner(self.mul(near, near), _ERF64), near)
        t = self.at_most(x, 6.0)
        ratio = self.div(self.horner(t, _ERFC_P), self.horner(t, _ERFC_Q))
        large = self.sub(self.c(1), self.mul(self._near_exp(self.neg(self.mul(t, t))), ratio))
        return self.pick(self.compare("ogt", t, self.c(1)), large, small)

    def ndtr(self, x: str) -> str:
        """The normal distribution function (in float32 the probability is 2^p(t) beyond t = |x|, and nothing beyond 6)."""
        if self.double:
            return self.mul(self.c(0.5), self.add(self.c(1), self.erf(self.mul(x, self.c(math.sqrt(0.5))))))
        t = self.at_most(x, 6.0)
        p = self.fma(self.horner(t, _NDTR32), t, self.c(-1))
        n = self.f.intrinsic("rint", self.t, p)
        r = self.sub(p, n)
        tail = self._shifted(self.fma(self.horner(r, _EXP2), r, self.c(1)), self.f.cast("fptosi", self.t, n, self.i))
        tail = self.pick(self.beyond(x, 6.0), self.c(0), tail)
        below = self.f.op("icmp slt", self.i, self.f.cast("bitcast", self.t, x, self.i), literal(self.i, 0))
        result = self.pick(below, tail, self.sub(self.c(1), tail))
        return self.pick(self.compare("uno", x, x), x, result)

    # Sine and cosine -----------------------------------------------------------------------------------------

    def sin(self, x: str) -> str:
        return self._wave(x, "sin", 0)

    def cos(self, x: str) -> str:
        return self._wave(x, "cos", 1)

    def _wave(self, x: str, name: str, quarter: int) -> str:
        """Reduced to |r| <= pi / 4 and a quarter of the circle; far away the C library's function, lane by lane."""
        _, y = self.without_nan(x)
        far = self.compare("ogt", self.abs(y), self.c(_FAR[self.scalar]))
        y = self.pick(far, self.c(0), y)
        n = self.f.intrinsic("rint", self.t, self.mul(y, self.c(2 / math.pi)))
        r = y
        for part in _HALF_PI[self.scalar]:
            r = self.fma(n, self.c(-part), r)
        z = self.mul(r, r)
        sine = self.fma(self.mul(z, r), self.horner(z, _SIN[self.scalar]), r)
        cosine = self.fma(self.mul(z, z), self.horner(z, _COS[self.scalar]), self.fma(z, self.c(-0.5), self.c(1)))
        q = self.f.op("add", self.i, self.f.cast("fptosi", self.t, n, self.i), literal(self.i, quarter))
        odd = self.f.op("icmp ne", self.i, self.f.op("and", self.i, q, literal(self.i, 1)), literal(self.i, 0))
        second = self.f.op("icmp ne", self.i, self.f.op("and", self.i, q, literal(self.i, 2)), literal(self.i, 0))
        value = self.pick(odd, cosine, sine)
        result = self.pick(second, self.neg(value), value)
        result = self.pick(self.compare("uno", x, x), x, result)
        return self._far_lanes(name, x, far, result)

    def _far_lanes(self, name: str, x: str, far: str, result: str) -> str:
        f, lanes = self.f, int(self.t[1:].split(" x ")[0])
        places = f.reserve(self.t), f.reserve(self.t)
        f.store(self.t, result, places[1])
        with f.when(self.any(far), rarely=True):
            f.store(self.t, x, places[0])
            word = name if self.double else f"{name}f"
            with f.counted("0", str(lanes)) as lane:
                value = f.load(self.scalar, f.element(places[0], lane, self.scalar))
                exact = f.call(word, self.scalar, f"{self.scalar} {value}")
                f.store(self.scalar, exact, f.element(places[1], lane, self.scalar))
        return f.load(self.t, places[1])
