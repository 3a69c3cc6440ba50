"""Sine and cosine of vectors: polynomials after a reduction of the argument (see `mathematics.py`)."""

from __future__ import annotations

import math

from .text import literal
from .vectors import Vectors

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
# pi / 2 in parts: the first have few bits, so that a small whole number times them is exact; in double precision the second has all its bits, so
# that what is left is rounded once.
_HALF_PI = {
    "float": (1.5703125, 0.0004837512969970703125, 7.549790126404332e-08, -1.7151244994428829e-15),
    "double": (1.5707963267341256, 6.077100506506192e-11, 3.5215598651832e-27),
}
_FAR = {"float": 8000.0, "double": 1e6}  # beyond, the C library reduces the argument of sin and cos


class Waves(Vectors):
    """Functions of angles."""

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
