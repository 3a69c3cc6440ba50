"""Special functions: error function, gamma function and its derivatives, Bessel functions.

Rational and Chebyshev approximations; all but float32's `erf` are computed in float64 and rounded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...layout import ARRAYS, as_laid_out
from ...quiet import quietly
from ...registry import kernel


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule, highest power first."""
    first, second, *rest = coefficients
    out = x * first + second
    for c in rest:
        out = out * x + c
    return out


def widened(xp: Any, x: Any) -> Any:
    """An array in float64; of what was expanded, in rows: a copy lies as NumPy finds the dimensions, and results lie as it does."""
    if type(x) in ARRAYS and 0 in x.strides:
        x = xp.ascontiguousarray(x)
    return x.astype(xp.float64, copy=False)


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in float64 and round to the argument's type (to that of all arrays, where there are several)."""

    @functools.wraps(function)
    def call(xp: Any, x: Any, *params: Any) -> Any:
        arrays = [a for a in params if hasattr(a, "dtype")]
        kind = xp.result_type(x, *arrays) if arrays else x.dtype
        wide = [widened(xp, a) if hasattr(a, "dtype") else a for a in (x, *params)]
        return function(xp, *wide).astype(kind, copy=False)

    return quietly(call)


def somewhere(xp: Any, mask: Any) -> Any:
    """Is it worth computing what a mask selects? Yes, while a kernel is traced: nobody knows the values."""
    return getattr(xp, "symbolic", False) or mask.any()


# Error function -------------------------------------------------------------------------------------
# float32: one odd rational function on [-4, 4]. float64: one below 1, exp(-x^2) times one above.

ERF32_P = (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
            -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02)  # fmt: skip
ERF32_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
            -1.42647390514189e-02)  # fmt: skip
_ERF_T = (9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3,
          5.55923013010394962768e4)  # fmt: skip
_ERF_U = (1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4,
          4.92673942608635921086e4)  # fmt: skip
_ERFC_P = (2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
           1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
           5.57535335369399327526e2)  # fmt: skip
_ERFC_Q = (1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
           1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3,
           5.57535340817727675546e2)  # fmt: skip
_ERFC_R = (5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
           7.40974269950448939160e0, 2.97886665372100240670e0)  # fmt: skip
_ERFC_S = (1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1,
           9.60896809063285878198e0, 3.36907645100081516050e0)  # fmt: skip


def _small_erf(x: Any) -> Any:
    z = x * x
    return x * polynomial(z, _ERF_T) / polynomial(z, _ERF_U)


def large_erfcx(xp: Any, a: Any) -> Any:
    """exp(a²) erfc(a) of a >= 1."""
    below = xp.minimum(a, 8)
    ratio = polynomial(below, _ERFC_P) / polynomial(below, _ERFC_Q)
    far = a > 8
    if somewhere(xp, far):
        # (Beyond 1e8 one term is left, and the powers would overflow.)
        b = xp.minimum(a, 1e8)
        ratio = xp.where(far, polynomial(b, _ERFC_R) / polynomial(b, _ERFC_S) * (b / a), ratio)
    return ratio


def _large_erfc(xp: Any, a: Any) -> Any:
    """erfc of a >= 1."""
    return xp.where(a < 27.3, xp.exp(-a * a) * large_erfcx(xp, a), xp.where(xp.isnan(a), a, 0.0))


def erf64(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    return xp.where(a <= 1, _small_erf(xp.clip(x, -1, 1)), xp.sign(x) * (1 - _large_erfc(xp, xp.maximum(a, 1))))


def _erf32(xp: Any, x: Any) -> Any:
    x = xp.clip(x, -4, 4)
    z = x * x
    return x * polynomial(z, ERF32_P) / polynomial(z, ERF32_Q)


@kernel("erf")
@quietly
def erf(xp: Any, x: Any) -> Any:
    if hasattr(xp, "erf"):  # a library with a function of its own
        return xp.erf(x)
    return _erf32(xp, x) if x.dtype == xp.float32 else erf64(xp, x)


@kernel("erfc")
@_wide
def erfc(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    tail = _large_erfc(xp, xp.maximum(a, 1))
    return xp.where(a <= 1, 1 - _small_erf(xp.clip(x, -1, 1)), xp.where(x < 0, 2 - tail, tail))


@kernel("erfinv")
@_wide
def erfinv(xp: Any, x: Any) -> Any:
    """A rational start, then two steps of Newton's method."""
    z = x * x
    near = x * polynomial(z, (-0.140543331, 0.914624893, -1.645349621, 0.886226899))
    near /= polynomial(z, (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))
    z = xp.sqrt(-xp.log((1 - xp.abs(x)) / 2))
    far = polynomial(z, (1.641345311, 3.429567803, -1.624906493, -1.970840454))
    far = xp.copysign(far, x) / polynomial(z, (1.637067800, 3.543889200, 1.0))
    out = xp.where(xp.abs(x) <= 0.7, near, far)
    for _ in range(2):
        out = out - (erf64(xp, out) - x) / (2 / math.sqrt(math.pi) * xp.exp(-out * out))
    return xp.where(xp.abs(x) == 1, xp.copysign(math.inf, x), out)


# Gamma function -------------------------------------------------------------------------------------

_LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
            12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)  # fmt: skip


def _sin_pi(xp: Any, x: Any) -> Any:
    """sin(pi x), exact at integers up to the sign."""
    return xp.sin(math.pi * (x - xp.rint(x)))


@kernel("lgamma")
@_wide
def lgamma(xp: Any, x: Any) -> Any:
    """Lanczos's approximation above 1/2, reflection below."""
    reflect = x < 0.5
    y = xp.where(reflect, 1 - x, x) - 1
    total = _LANCZOS[0] + sum(c / (y + i) for i, c in enumerate(_LANCZOS[1:], 1))
    t = y + 7.5
    out = 0.5 * math.log(2 * math.pi) + (y + 0.5) * xp.log(t) - t + xp.log(total)
    out = xp.where(xp.isinf(x), math.inf, out)
    if somewhere(xp, reflect):
        out = xp.where(reflect, math.log(math.pi) - xp.log(xp.abs(_sin_pi(xp, x))) - out, out)
        out = xp.where((x <= 0) & (x == xp.floor(x)), math.inf, out)
    return out


def log_gamma_correction(x: Any) -> Any:
    """What Stirling's formula leaves out of the logarithm of gamma, for x > 10."""
    z = 1 / (x * x)
    series = (-1 / 360360 * 691, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
    return polynomial(z, series) / x


_PSI = (8.33333333333333333333e-2, -2.10927960927960927961e-2, 7.57575757575757575758e-3, -4.16666666666666666667e-3,
        3.96825396825396825397e-3, -8.33333333333333333333e-3, 8.33333333333333333333e-2)  # fmt: skip


@kernel("digamma")
@as_laid_out
@_wide
def digamma(xp: Any, x: Any) -> Any:
    """Recurrence up to 10, then the asymptotic series; reflection for negative arguments."""
    reflect = x < 0
    y = xp.where(reflect, 1 - x, x)
    out = xp.zeros(x.shape)
    for _ in range(10):
        low = y < 10
        out = out - low / y
        y = y + low
    z = 1 / (y * y)
    out = out + xp.log(y) - 0.5 / y - z * polynomial(z, _PSI)
    if reflect.any():
        d = x - xp.rint(x)  # the tangent has period 1 in x
        turned = out - math.pi / xp.tan(math.pi * d)
        out = xp.where(reflect, xp.where(d == 0, math.nan, turned), out)
    return xp.where(x == 0, xp.copysign(math.inf, -x), out)


ZETA = (12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10,
         -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17,
         -7.1661652561756670113e18)  # fmt: skip


def _zeta(xp: Any, s: int, q: Any) -> Any:
    """Hurwitz's zeta for an integer s > 1, by Euler and Maclaurin."""
    lowest = float(xp.min(q)) if q.size else 10.0
    count = 10 + (math.ceil(-lowest) if -1e4 < lowest < 0 else 0)
    out = xp.zeros(q.shape)
    a = q
    for _ in range(count):
        out = out + a ** float(-s)
        a = a + 1
    out = out + a ** float(1 - s) / (s - 1) + 0.5 * a ** float(-s)
    factor, power = float(s), a ** float(-s - 1)
    for k, c in enumerate(ZETA):
        out = out + factor * power / c
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2)
        power = power / (a * a)
    return xp.where((q <= 0) & (q == xp.floor(q)), math.inf, out)


@kernel("polygamma")
@as_laid_out
@_wide
def polygamma(xp: Any, x: Any, n: int) -> Any:
    if n == 0:
        return digamma(xp, x)
    if n == 1:  # reflection keeps far negative arguments exact
        s = _sin_pi(xp, x)
        return xp.where(x < 0.5, (math.pi / s) ** 2 - _zeta(xp, 2, xp.where(x < 0.5, 1 - x, x)), _zeta(xp, 2, abs(x)))
    return (1.0 if n % 2 else -1.0) * math.factorial(n) * _zeta(xp, n + 1, x)


# Bessel functions -----------------------------------------------------------------------------------

_I1_A = (
    2.77791411276104639959e-18, -2.11142121435816608115e-17, 1.55363195773620046921e-16, -1.10559694773538630805e-15,
    7.60068429473540693410e-15, -5.04218550472791168711e-14, 3.22379336594557470981e-13, -1.98397439776494371520e-12,
    1.17361862988909016308e-11, -6.66348972350202774223e-11, 3.62559028155211703701e-10, -1.88724975172282928790e-9,
    9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7, -8.56872026469545474066e-7,
    3.47025130813767847674e-6, -1.32731636560394358279e-5, 4.78156510755005422638e-5, -1.61760815825896745588e-4,
    5.12285956168575772895e-4, -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
    2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1, -1.76416518357834055153e-1,
    2.52587186443633654823e-1,
)  # fmt: skip
_I1_B = (
    7.51729631084210481353e-18, 4.41434832307170791151e-18, -4.65030536848935832153e-17, -3.20952592199342395980e-17,
    2.96262899764595013876e-16, 3.30820231092092828324e-16, -1.88035477551078244854e-15, -3.81440307243700780478e-15,
    1.04202769841288027642e-14, 4.27244001671195135429e-14, -2.10154184277266431302e-14, -4.08355111109219731823e-13,
    -7.19855177624590851209e-13, 2.03562854414708950722e-12, 1.41258074366137813316e-11, 3.25260358301548823856e-11,
    -1.89749581235054123450e-11, -5.58974346219658380687e-10, -3.83538038596423702205e-9, -2.63146884688951950684e-8,
    -2.51223623787020892529e-7, -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
    7.78576235018280120474e-1,
)  # fmt: skip


def _chebyshev(x: Any, coefficients: tuple[float, ...]) -> Any:
    before, now, last = 0.0, coefficients[0], 0.0
    for c in coefficients[1:]:
        last, before, now = before, now, x * now - before + c
    return 0.5 * (now - last)


@kernel("i0")
@_wide
def i0(xp: Any, x: Any) -> Any:
    return xp.i0(x).reshape(x.shape)


def chebyshev_i1(xp: Any, a: Any) -> Any:
    """exp(-a) i1(a) of a >= 0."""
    low = _chebyshev(xp.minimum(a, 8) / 2 - 2, _I1_A) * a
    above = xp.maximum(a, 8)
    high = _chebyshev(32 / above - 2, _I1_B) / xp.sqrt(above)
    return xp.where(a <= 8, low, high)


@kernel("i1")
@_wide
def i1(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    return xp.copysign(xp.exp(a) * chebyshev_i1(xp, a), x)


@kernel("logit")
@quietly
def logit(xp: Any, x: Any, eps: float | None) -> Any:
    if eps is not None:
        x = xp.clip(x, eps, 1 - eps)
    return xp.log(x / (1 - x))


@kernel("logit_backward")
@quietly
def logit_backward(xp: Any, g: Any, x: Any, eps: float | None) -> Any:
    low = 0 if eps is None else eps
    outside = math.nan if eps is None else 0
    return xp.where((x < low) | (x > 1 - low), g.dtype.type(outside), g / (x * (1 - x)))
