"""Elementary functions on vectors, as LLVM instructions: polynomials after a reduction of the argument, within 2 ulp.

Written so that the processor's error flags are those of the function itself (NumPy reads them, and diagnoses hear of it):
no step meets a NaN with an ordered comparison, and what has no value (`log(-1)`) says so in a branch that is rarely taken.
The coefficients are Chebyshev fits of the remainders that stand beside them.
"""

from __future__ import annotations

import math

from .text import literal
from .waves import Waves

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
# (expm1(r) - r) / r^2 for -0.2 <= r / log(2) <= 0.8
_TANH64 = (2.49435983934521218e-9, 2.46756045812189863e-8, 2.7573519558917545e-7, 2.75570479672322548e-6,
           0.0000248015850855020744, 0.000198412699645298749, 0.00138888888882829865, 0.00833333333331950201,
           0.0416666666666675105, 0.166666666666666711, 0.5)  # fmt: skip
# (tanh(x) / x - 1) / x^2 for |x| <= 0.4 and erf(x) / x - 1 for |x| <= 0.48, polynomials in x^2
_SMALL_TANH32 = (0.0192680459746147873, -0.0537151214187553596, 0.133325320803038957, -0.333333293351701435)
_SMALL_ERF32 = (0.00475643116171307377, -0.0267734535256537858, 0.11283034189482302, -0.376126171532226375,
                0.128379166093497258)  # fmt: skip
# log(2) in two parts: the first has few bits, so that a small whole number times it is exact.
_LN2 = {
    "float": (0.693145751953125, 1.42860682030941723e-06),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}


class Mathematics(Waves):
    """Functions of vectors of one floating type."""

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

    def sigmoid(self, x: str) -> str:
        """2^-n / (2^-n + 1 + e) for e = expm1(r), x = r - n log(2); 0 where exp(-x) is infinite, as PyTorch's."""
        far = self.beyond(x, 708.0 if self.double else 87.0)
        return self.f.choose(self.t, self.any(far), lambda: self._any_sigmoid(x), lambda: self._near_sigmoid(x))

    def _near_sigmoid(self, x: str) -> str:
        power, below = self._parts_of_sigmoid(x, 0)
        return self.div(power, below)

    def _any_sigmoid(self, x: str) -> str:
        nan, y = self.without_nan(x)
        low, high = (-709.782712893384, 40.0) if self.double else (-88.72283172607422, 20.0)
        gone = self.compare("olt", y, self.c(low))
        # (2^-n may be too small a number, and is taken four times.)
        power, below = self._parts_of_sigmoid(self.clamped(y, low, high), 2)
        tiny = self.mul(self.div(power, below), self.c(0.25))
        return self.pick(nan, x, self.pick(gone, self.c(0), tiny))

    def _parts_of_sigmoid(self, x: str, lifted: int) -> tuple[str, str]:
        """2^(lifted - n) and 2^-n + 1 + e; where 2^-n is tiny, it is added to e first."""
        n, _, e = self._reduced(self.neg(x))
        power = self.power_of_two(self.f.op("sub", self.i, literal(self.i, lifted), n))
        plain = self.mul(power, self.c(2.0**-lifted)) if lifted else power
        tiny = self.compare("olt", plain, self.c(2.0**-9))
        first, last = self.pick(tiny, e, self.c(1)), self.pick(tiny, self.c(1), e)
        return power, self.add(self.add(plain, first), last)

    def tanh(self, x: str) -> str:
        """e / (e + 2) for e = expm1(2 |x|); for large e 1 - 2 / (e + 2), which is nearer."""
        result = self._tanh64(x) if self.double else self._tanh32(x)
        return self.pick(self.compare("uno", x, x), x, self.copysign(result, x))

    def _tanh32(self, x: str) -> str:
        """A polynomial where x is small: one step more would be one too many."""
        a = self.at_most(x, 10.0)
        n, _, e = self._reduced(self.add(a, a))
        power = self.power_of_two(n)
        e = self.fma(e, power, self.sub(power, self.c(1)))
        large = self.compare("ogt", e, self.c(2))
        q = self.div(self.pick(large, self.c(-2), e), self.add(e, self.c(2)))
        result = self.add(q, self.pick(large, self.c(1), self.c(0)))
        z = self.mul(a, a)
        small = self.fma(self.mul(z, a), self.horner(z, _SMALL_TANH32), a)
        return self.pick(self.compare("ogt", a, self.c(0.4)), result, small)

    def _tanh64(self, x: str) -> str:
        """Where 2 |x| is r itself, that is r / 2 and what is less by far: (r^2 p - r^2 / 2 - r^3 p / 2) / (e + 2) for e = r + r^2 p."""
        a = self.at_most(x, 20.0)
        double = self.add(a, a)
        n = self.f.intrinsic("rint", self.t, self.fma(double, self.c(1 / math.log(2)), self.c(-0.3)))
        high, low = _LN2[self.scalar]
        r = self.fma(n, self.c(-low), self.fma(n, self.c(-high), double))
        p = self.horner(r, _TANH64)
        square = self.mul(r, r)
        e = self.fma(square, p, r)
        power = self.power_of_two(self.f.cast("fptosi", self.t, n, self.i))
        e = self.fma(e, power, self.sub(power, self.c(1)))
        rest = self.mul(square, self.fma(self.mul(r, self.c(-0.5)), p, self.sub(p, self.c(0.5))))
        small, large = self.compare("oeq", n, self.c(0)), self.compare("ogt", e, self.c(2))
        part = self.pick(small, rest, self.pick(large, self.c(-2), e))
        beside = self.pick(small, a, self.pick(large, self.c(1), self.c(0)))
        return self.add(self.div(part, self.add(e, self.c(2))), beside)

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
        return self.pick(self.compare("ogt", t, self.c(0.48)), large, small)

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
