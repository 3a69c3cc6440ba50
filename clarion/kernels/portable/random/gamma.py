"""Gamma and Dirichlet draws, how they move with their parameters, binomial draws, the incomplete gamma function.

A draw x of the gamma distribution, with the random numbers behind it held fixed, moves with the concentration as
-(dF/dalpha) / (dF/dx), where F is the cumulative distribution. The approximations of it are PyTorch's.
"""

from __future__ import annotations

import math
from typing import Any

from ... import gamma as draws
from ...everywhere import from_host, on_host
from ...layout import in_rows
from ...quiet import quietly
from ...registry import bind, kernel


@kernel("standard_gamma")
def standard_gamma(xp: Any, alpha: Any, gen: Any) -> Any:
    return from_host(xp, draws.standard_gamma(gen, on_host(alpha)))


@kernel("sample_dirichlet")
def sample_dirichlet(xp: Any, alpha: Any, gen: Any) -> Any:
    return from_host(xp, draws.sample_dirichlet(gen, on_host(alpha)))


@kernel("binomial")
def binomial(xp: Any, count: Any, prob: Any, gen: Any) -> Any:
    count, prob = xp.broadcast_arrays(count, prob)
    return from_host(xp, draws.binomial(gen, on_host(count), on_host(prob)))


# Gamma -----------------------------------------------------------------------------------------------

_GAMMA_P = ((0.16009398, -0.094634809, 0.025146376, -0.0030648343), (0.53487893, 0.1298071, 0.065735949, -0.0015649758),
            (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777))  # fmt: skip
_GAMMA_Q = ((1.0, 0.32668115, 0.10406089, 0.0014179084), (0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
            (0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07))  # fmt: skip


_F08, _F09, _F11 = 0.800000011920929, 0.8999999761581421, 1.100000023841858  # PyTorch's numbers are single precision


@kernel("standard_gamma_grad")
@quietly
def standard_gamma_grad(xp: Any, alpha: Any, x: Any) -> Any:
    kind = x.dtype
    alpha, x = xp.broadcast_arrays(alpha.astype(xp.float64), x.astype(xp.float64))
    near, far = x < _F08, alpha > 8.0
    out = xp.where(near, _small_gamma(xp, alpha, x), xp.where(far, _large_gamma(xp, alpha, x), _fitted(xp, alpha, x)))
    return out.astype(kind)


def _small_gamma(xp: Any, alpha: Any, x: Any) -> Any:
    """A few terms of the series in x."""
    digamma = bind("digamma")
    power: Any = 1.0
    first, second = 1 / alpha, 1 / (alpha * alpha)
    for i in range(1, 6):
        power = power * (-x / i)
        first = first + power / (alpha + i)
        second = second + power / ((alpha + i) * (alpha + i))
    slope = (xp.log(x) - digamma(alpha)) * first - second
    out = -slope * xp.power(x, alpha) / (xp.power(x, alpha - 1) * xp.exp(-x))
    return xp.where(xp.isnan(out), 0.0, out)


def _large_gamma(xp: Any, alpha: Any, x: Any) -> Any:
    """Rice's saddle point expansion, and a polynomial where that is 0/0."""
    square = alpha * alpha
    poly = 1440 * square + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    middle = (1 + 24 * alpha * (1 + 12 * alpha)) * poly / (1244160 * square * square)
    scale = xp.sqrt(8 * alpha)
    ratio = xp.log(x / alpha)
    term = xp.power(x - alpha - alpha * ratio, -1.5)
    term = scale / (alpha - x) + xp.where(x < alpha, -term, term)
    term = ratio * term - xp.sqrt(2 / alpha) * (alpha + x) / ((alpha - x) * (alpha - x))
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    low, high = _F09, _F11
    return xp.where((low * alpha <= x) & (x <= high * alpha), middle, -stirling * x * term / scale)


def _fitted(xp: Any, alpha: Any, x: Any) -> Any:
    """The exponential of a rational function in two variables."""
    u, v = xp.log(x / alpha), xp.log(alpha)

    def part(table: Any) -> Any:
        a, b, c, d = (c0 + u * (c1 + u * c2) for c0, c1, c2 in zip(*table, strict=True))
        return a + v * (b + v * (c + v * d))

    return xp.exp(part(_GAMMA_P) / part(_GAMMA_Q))


# Dirichlet -------------------------------------------------------------------------------------------

_BETA_P = (
    [[1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
     [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
     [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013]],
    [[0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
     [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
     [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05]],
    [[-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
     [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
     [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05]],
)  # fmt: skip
_BETA_Q = (
    [[1, -0.02924021934, -0.04438342661, 0.007285809825],
     [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
     [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149]],
    [[0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
     [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
     [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05]],
    [[0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
     [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
     [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]],
)  # fmt: skip


@kernel("dirichlet_grad")
@quietly
def dirichlet_grad(xp: Any, x: Any, alpha: Any, total: Any) -> Any:
    """-(dF/dalpha) / (dF/dx) / (1 - x) of Beta(alpha, total - alpha)."""
    kind = x.dtype
    x, alpha, total = xp.broadcast_arrays(*(a.astype(xp.float64) for a in (x, alpha, total)))
    beta = total - alpha
    edge = total * x * (1 - x)
    out = xp.where((alpha > 6) & (beta > 6), _middle(xp, x, alpha, beta), _corrected(xp, x, alpha, total))
    out = xp.where((x >= 0.5) & (edge < 0.75), -_near_zero_beta(xp, 1 - x, beta, alpha), out)
    out = xp.where((x <= 0.5) & (edge < 2.5), _near_zero_alpha(xp, x, alpha, beta), out)
    return out.astype(kind)


def _near_zero_alpha(xp: Any, x: Any, alpha: Any, beta: Any) -> Any:
    digamma = bind("digamma")
    factor = digamma(alpha) - digamma(alpha + beta) - xp.log(x)
    power: Any = 1.0
    series = (factor + 1 / alpha) / alpha
    for i in range(1, 11):
        power = power * ((i - beta) * x / i)
        series = series + power / (alpha + i) * (factor + 1 / (alpha + i))
    out = x * xp.power(1 - x, -beta) * series
    return xp.where(xp.isnan(out), 0.0, out)


def _near_zero_beta(xp: Any, x: Any, alpha: Any, beta: Any) -> Any:
    digamma = bind("digamma")
    factor = digamma(alpha + beta) - digamma(beta)
    power: Any = 1.0
    betas: Any = 1.0
    slope: Any = 0.0
    series = factor / alpha
    for i in range(1, 9):
        power = power * (-x / i)
        slope = slope * (beta - i) + betas
        betas = betas * (beta - i)
        series = series + power / (alpha + i) * (slope + factor * betas)
    out = -xp.power(1 - x, 1 - beta) * series
    return xp.where(xp.isnan(out), 0.0, out)


def _middle(xp: Any, x: Any, a: Any, b: Any) -> Any:
    """Rice's saddle point expansion, and a polynomial around the mean, where that is 0/0."""
    total = a + b
    mean = a / total
    std = xp.sqrt(a * b / (total + 1)) / total
    inner = (453 + 1620 * b * (1 - x) - 455 * x) * b + a * (8 * (1 - x) * (135 * b - 11))
    inner = (43 + 20 * (16 + 27 * b) * x) * b**3 + a * (3 * (59 + 180 * b - 90 * x) * b**2 + a * inner)
    poly = 47 * x * b**4 + a * inner
    front = (1 + 12 * a) * (1 + 12 * b) / (total * total)
    at_mean = front / (1 - x) * poly / (12960 * a**3 * b * b * (1 + 12 * total))

    def stirling(n: Any) -> Any:
        return 1 + 1 / (12 * n) + 1 / (288 * n * n)

    axbx = a * (x - 1) + b * x
    term1 = (2 * a * a * (x - 1) + a * b * (x - 1) - x * b * b) / (xp.sqrt(2 * a / b) * total**1.5 * axbx * axbx)
    term3 = xp.sqrt(8 * a * b / total) / axbx
    term4 = (b * xp.log(b / (total * (1 - x))) + a * xp.log(a / (total * x))) ** -1.5
    away = term1 + 0.5 * xp.log(a / (total * x)) * (term3 + xp.where(x < mean, term4, -term4))
    away = stirling(a) * stirling(b) / stirling(total) * (-x / xp.sqrt(2 * a * b / total)) * away
    return xp.where((mean - 0.1 * std <= x) & (x <= mean + 0.1 * std), at_mean, away)


def _corrected(xp: Any, x: Any, alpha: Any, total: Any) -> Any:
    """A rational correction to x (digamma(total) - digamma(alpha)) / beta."""
    digamma = bind("digamma")
    u = xp.log(x)
    a = xp.log(alpha) - u
    b = xp.log(total) - a
    p = 0 * u
    q = 0 * u
    for i in range(3):
        for j in range(3):
            ua = u**i * a**j
            p = p + ua * _cubic(b, _BETA_P[i][j])
            q = q + ua * _cubic(b, _BETA_Q[i][j])
    return p / q * (x * (digamma(total) - digamma(alpha)) / (total - alpha))


def _cubic(b: Any, c: Any) -> Any:
    return c[0] + b * (c[1] + b * (c[2] + b * c[3]))


@kernel("mvlgamma")
@in_rows
@quietly
def mvlgamma(xp: Any, x: Any, p: int) -> Any:
    """The logarithm of the gamma function of p dimensions."""
    lgamma = bind("lgamma")
    total = lgamma(x - x.dtype.type((p - 1) / 2))
    for i in reversed(range(p - 1)):
        total = total + lgamma(x - x.dtype.type(i / 2))
    return total + x.dtype.type(p * (p - 1) / 4 * math.log(math.pi))
