"""Kullback-Leibler divergences: the table, and those of two distributions of one family.

Divergences between different families stand in kl_mixed.py.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import clarion

from ..autograd import grad
from ..core import modes
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, ArgumentValueError, NotSupportedError
from ..ops.faces.api import NN_FUNCTIONAL
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, batch_mahalanobis, log_diagonal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, solve_lower, sum_rightmost

_table: dict[tuple[type, type], Callable[..., Any]] = {}
_found: dict[tuple[type, type], Callable[..., Any] | None] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """Decorator: `fn(p, q)` is the divergence for these families and those derived from them."""
    for name, family in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(family, type):  # families of libraries need not be derived from ours
            raise ArgumentTypeError(f"Expected {name} to be a Distribution subclass but got {family}")

    def register(fn: Any) -> Any:
        _table[type_p, type_q] = fn
        _found.clear()
        return fn

    return register


def _nearest(pairs: list[tuple[type, type]], first: int) -> tuple[type, type]:
    """The most specific pair, looking at one side before the other."""

    def more_special(a: tuple[type, type], b: tuple[type, type]) -> bool:
        for side in (first, 1 - first):
            if a[side] is not b[side]:
                return issubclass(a[side], b[side])
        return True

    return functools.reduce(lambda best, pair: pair if more_special(pair, best) else best, pairs)


def _lookup(type_p: type, type_q: type) -> Callable[..., Any] | None:
    pairs = [(p, q) for p, q in _table if issubclass(type_p, p) and issubclass(type_q, q)]
    if not pairs:
        return None
    left, right = _nearest(pairs, 0), _nearest(pairs, 1)
    if _table[left] is not _table[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _table[left]


_KL_REGISTRY, _dispatch_kl = _table, _lookup  # as PyTorch calls them


def kl_divergence(p: Any, q: Any) -> Tensor:
    """The mean of log p(x) - log q(x) over draws x of p, for each distribution of the batch."""
    key = type(p), type(q)
    if key not in _found:
        _found[key] = _lookup(*key)
    fn = _found[key]
    if fn is None:
        raise NotSupportedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return fn(p, q)  # type: ignore[no-any-return]


def _x_log_x(x: Tensor) -> Tensor:
    return x.xlogy(x)


def _softplus(x: Tensor) -> Tensor:
    return NN_FUNCTIONAL["softplus"](x)  # type: ignore[no-any-return]


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (_softplus(-q.logits) - _softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (_softplus(q.logits) - _softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    p_total, q_total = p1 + p0, q1 + q0
    normalisers = q1.lgamma() + q0.lgamma() + p_total.lgamma() - (p1.lgamma() + p0.lgamma() + q_total.lgamma())
    moments = (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma() + (q_total - p_total) * p_total.digamma()
    return normalisers + moments


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotSupportedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    impossible = p.total_count > q.total_count
    return kl.masked_fill(impossible, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    q_probs, p_probs = q.probs.expand_as(t), p.probs.expand_as(t)
    return t.masked_fill(q_probs == 0, math.inf).masked_fill(p_probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    together = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return together - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalisers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalisers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotSupportedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    with modes.enable_grad():
        natural = [param.detach().requires_grad_() for param in p._natural_params]
        normaliser = p._log_normalizer(*natural)
        means = grad(normaliser.sum(), natural, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normaliser
    for p_param, q_param, mean in zip(natural, q._natural_params, means, strict=True):
        result = result - sum_rightmost((q_param - p_param) * mean, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    rates = q.concentration * (p.rate / q.rate).log() + (q.concentration).lgamma() - p.concentration.lgamma()
    shapes = (p.concentration - q.concentration) * p.concentration.digamma()
    return rates + shapes + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    scales, locs, ours = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    t1 = scales.log() + locs - ours
    return -t1 + scales * euler_constant + (locs + (1 + scales).lgamma() - ours).exp() - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ArgumentValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    n = p.event_shape[0]
    shape = (*clarion.broadcast_shapes(ours.shape[:-2], theirs.shape[:-2]), n, n)
    trace = solve_lower(theirs.expand(shape), ours.expand(shape)).pow(2).sum((-2, -1))
    distance = batch_mahalanobis(theirs, q.loc - p.loc)
    return log_diagonal(theirs) - log_diagonal(ours) + 0.5 * (trace + distance - n)


def _same_event_shape(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ArgumentValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )


def _squares(matrix: Any) -> Any:
    """The trace of X X'."""
    return matrix.pow(2).sum((-2, -1))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    _same_event_shape(p, q)
    a = solve_lower(q._capacitance_tril, q._scaled_factor())
    factor, ours, theirs = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    trace = (ours / theirs).sum(-1) + _squares(factor * theirs.rsqrt().unsqueeze(-1))
    trace = trace - _squares(a * ours.sqrt().unsqueeze(-2)) - _squares(a @ factor)
    ratio = q.log_determinant() - p.log_determinant()
    return 0.5 * (ratio + trace + q.distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _normal_low_rank(p: Any, q: Any) -> Any:
    _same_event_shape(p, q)
    a, lower = solve_lower(q._capacitance_tril, q._scaled_factor()), p._unbroadcasted_scale_tril
    trace = _squares(lower * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)) - _squares(a @ lower)
    ratio = q.log_determinant() - 2 * log_diagonal(lower)
    return 0.5 * (ratio + trace + q.distance(q.loc - p.loc) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_normal(p: Any, q: Any) -> Any:
    _same_event_shape(p, q)
    lower = q._unbroadcasted_scale_tril
    diagonal = p._unbroadcasted_cov_diag.sqrt().diag_embed()
    trace = _squares(solve_lower(lower, p._unbroadcasted_cov_factor)) + _squares(solve_lower(lower, diagonal))
    ratio = 2 * log_diagonal(lower) - p.log_determinant()
    return 0.5 * (ratio + trace + batch_mahalanobis(lower, q.loc - p.loc) - p.event_shape[0])


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    scales, ratio = p.scale / q.scale, q.alpha / p.alpha
    kl = q.alpha * scales.log() - ratio.log() + ratio - 1
    return kl.masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms:
        raise NotSupportedError
    if p.event_shape != q.event_shape:
        raise NotSupportedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), max(extra, 0))


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return kl.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotSupportedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
