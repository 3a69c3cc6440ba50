"""Kullback-Leibler divergences between different families.

KL(p || q) = -entropy(p) - E[log q(x)], and for these q the mean of log q needs only a few means over p: of x, of its
square, of log x, of exp(-x / s).
"""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.tensor import Tensor
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant


def _mean_log(p: Any) -> Tensor:
    """E[log x]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _of_uniform(p.low, p.high)


def _of_uniform(low: Tensor, high: Tensor) -> Tensor:
    """E[log x] between two numbers."""
    return (high.xlogy(high) - low.xlogy(low)) / (high - low) - 1


def _mean_decay(p: Any, scale: Tensor) -> Tensor:
    """E[exp(-x / scale)]."""
    if isinstance(p, Exponential):
        return p.rate * scale / (p.rate * scale + 1)
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    if isinstance(p, Normal):
        return (-p.loc / scale + 0.5 * (p.scale / scale).pow(2)).exp()
    return scale * ((-p.low / scale).exp() - (-p.high / scale).exp()) / (p.high - p.low)


def _where_infinite(result: Tensor, where: Tensor) -> Tensor:
    return result.masked_fill(where, math.inf)


def _outside(p: Any, q: Any) -> Tensor | None:
    """Where p has values that q cannot take, or lacks the moments."""
    if isinstance(p, Pareto):
        return p.alpha <= (2 if isinstance(q, Normal) else 1)
    if isinstance(p, Uniform) and isinstance(q, (Exponential, Gamma)):
        return p.low < 0
    return None


def _finish(p: Any, q: Any, mean_log_q: Tensor) -> Tensor:
    result = -p.entropy() - mean_log_q
    where = _outside(p, q)
    return result if where is None else _where_infinite(result, where)


def _to_normal(p: Any, q: Any) -> Tensor:
    spread = p.variance + (p.mean - q.loc).pow(2)
    return _finish(p, q, -0.5 * (2 * math.pi * q.scale.pow(2)).log() - spread / (2 * q.scale.pow(2)))


def _to_exponential(p: Any, q: Any) -> Tensor:
    return _finish(p, q, q.rate.log() - q.rate * p.mean)


def _to_gamma(p: Any, q: Any) -> Tensor:
    c = q.concentration
    return _finish(p, q, c * q.rate.log() - c.lgamma() + (c - 1) * _mean_log(p) - q.rate * p.mean)


def _to_gumbel(p: Any, q: Any) -> Tensor:
    decay = (q.loc / q.scale).exp() * _mean_decay(p, q.scale)
    return _finish(p, q, -q.scale.log() - (p.mean - q.loc) / q.scale - decay)


def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()  # type: ignore[no-any-return]


for _family in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):
    register_kl(_family, Normal)(_to_normal)
for _family in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform):
    register_kl(_family, Exponential)(_to_exponential)
for _family in (Beta, Exponential, Pareto, Uniform):
    register_kl(_family, Gamma)(_to_gamma)
for _family in (Exponential, Gamma, Normal, Uniform):
    register_kl(_family, Gumbel)(_to_gumbel)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)  # type: ignore[no-any-return]


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Tensor:
    return _where_infinite(-p.entropy() + (q.high - q.low).log(), (q.low > 0) | (q.high < 1))


register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    ours, theirs = (d._log_norm() + (-d.probs).log1p() for d in (p, q))
    return p.mean * (p.logits - q.logits) + ours - theirs  # type: ignore[no-any-return]


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Tensor:
    return _where_infinite(-p.entropy() + (q.high - q.low).log(), (q.low >= 0) | (q.high <= 1))


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return _where_infinite(_to_continuous_bernoulli(p, q), (p.high >= 1) | (p.low <= 0))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    away = p.loc - q.loc
    scaled = away / p.scale
    mean_distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * scaled.pow(2)).exp()
    mean_distance = mean_distance + away * (math.sqrt(0.5) * scaled).erf()
    return -(p.scale / q.scale).log() + mean_distance / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))  # type: ignore[no-any-return]


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    c1, c0 = q.concentration1, q.concentration0
    normaliser = c1.lgamma() + c0.lgamma() - (c1 + c0).lgamma()
    means = (c1 - 1) * _of_uniform(p.low, p.high) + (c0 - 1) * _of_uniform(1 - p.high, 1 - p.low)
    return _where_infinite(normaliser - (p.high - p.low).log() - means, (p.high > 1) | (p.low < 0))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    result = _of_uniform(p.low, p.high) * (q.alpha + 1) - (q.alpha * q.scale.pow(q.alpha) * width).log()
    return _where_infinite(result, p.low < q.scale)


# What q can never draw.
_IMPOSSIBLE: dict[type[Distribution], tuple[type[Distribution], ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Tensor:
    return clarion.full_like(p.mean, math.inf)  # type: ignore[no-any-return]


for _p, _others in _IMPOSSIBLE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)
