"""Distributions: densities that integrate to one, moments of draws, transforms, refusals. (Draws and values against
PyTorch's: tests/compare/test_distributions_vs_torch.py.)"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

import clarion as torch
from clarion import distributions as D
from clarion.distributions import constraints, kl_divergence, register_kl, transforms

F64 = torch.float64


def t(value: Any, **options: Any) -> Any:
    return torch.tensor(value, dtype=F64, **options)


CONTINUOUS = [
    (D.Normal(t(0.3), t(1.7)), scipy.stats.norm(0.3, 1.7)),
    (D.LogNormal(t(0.3), t(0.6)), scipy.stats.lognorm(0.6, scale=math.exp(0.3))),
    (D.Uniform(t(-1.0), t(2.5)), scipy.stats.uniform(-1, 3.5)),
    (D.Gamma(t(2.3), t(1.4)), scipy.stats.gamma(2.3, scale=1 / 1.4)),
    (D.Gamma(t(0.4), t(1.4)), scipy.stats.gamma(0.4, scale=1 / 1.4)),
    (D.Beta(t(2.3), t(0.8)), scipy.stats.beta(2.3, 0.8)),
    (D.Chi2(t(3.0)), scipy.stats.chi2(3)),
    (D.Exponential(t(1.4)), scipy.stats.expon(scale=1 / 1.4)),
    (D.Laplace(t(0.3), t(1.4)), scipy.stats.laplace(0.3, 1.4)),
    (D.Cauchy(t(0.3), t(1.4)), scipy.stats.cauchy(0.3, 1.4)),
    (D.HalfNormal(t(1.4)), scipy.stats.halfnorm(scale=1.4)),
    (D.HalfCauchy(t(1.4)), scipy.stats.halfcauchy(scale=1.4)),
    (D.StudentT(t(4.0), t(0.3), t(1.4)), scipy.stats.t(4, 0.3, 1.4)),
    (D.Gumbel(t(0.3), t(1.4)), scipy.stats.gumbel_r(0.3, 1.4)),
    (D.Weibull(t(1.4), t(1.8)), scipy.stats.weibull_min(1.8, scale=1.4)),
    (D.Pareto(t(1.4), t(3.5)), scipy.stats.pareto(3.5, scale=1.4)),
]
DISCRETE = [
    (D.Bernoulli(t(0.3)), scipy.stats.bernoulli(0.3)),
    (D.Binomial(9, t(0.3)), scipy.stats.binom(9, 0.3)),
    (D.Binomial(90, t(0.7)), scipy.stats.binom(90, 0.7)),
    (D.Poisson(t(2.5)), scipy.stats.poisson(2.5)),
    (D.Poisson(t(25.0)), scipy.stats.poisson(25)),
    (D.Geometric(t(0.3)), scipy.stats.geom(0.3, loc=-1)),
]


@pytest.mark.parametrize(("ours", "reference"), CONTINUOUS, ids=lambda d: type(d).__name__)
def test_continuous(ours: Any, reference: Any) -> None:
    levels = np.array([0.05, 0.3, 0.5, 0.8, 0.97])
    x = reference.ppf(levels)
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), reference.logpdf(x), rtol=1e-9, atol=1e-12)
    if type(ours) not in (D.Beta, D.StudentT):
        np.testing.assert_allclose(ours.cdf(t(x)).numpy(), levels, rtol=1e-9)
    if type(ours) not in (D.Beta, D.StudentT, D.Gamma, D.Chi2):
        np.testing.assert_allclose(ours.icdf(t(levels)).numpy(), x, rtol=1e-8)
    mean, variance = reference.stats("mv")
    if np.isfinite(mean):
        np.testing.assert_allclose(ours.mean.item(), mean, rtol=1e-9)
        np.testing.assert_allclose(ours.variance.item(), variance, rtol=1e-9)
    np.testing.assert_allclose(ours.entropy().item(), reference.entropy(), rtol=1e-6)


@pytest.mark.parametrize(("ours", "reference"), CONTINUOUS, ids=lambda d: type(d).__name__)
def test_continuous_draws(ours: Any, reference: Any) -> None:
    torch.manual_seed(0)
    assert scipy.stats.kstest(ours.sample((2000,)).numpy(), reference.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("ours", "reference"), DISCRETE, ids=lambda d: type(d).__name__)
def test_discrete(ours: Any, reference: Any) -> None:
    torch.manual_seed(0)
    drawn = ours.sample((4000,)).numpy()
    values = np.unique(drawn)
    np.testing.assert_allclose(ours.log_prob(t(values)).numpy(), reference.logpmf(values), rtol=1e-9, atol=1e-12)
    mean, variance = reference.stats("mv")
    np.testing.assert_allclose([ours.mean.item(), ours.variance.item()], [mean, variance], rtol=1e-9)
    assert abs(drawn.mean() - mean) < 5 * math.sqrt(variance / 4000)
    if type(ours) is not D.Poisson:  # which has no closed form
        np.testing.assert_allclose(ours.entropy().item(), reference.entropy(), rtol=1e-6)


def test_categories() -> None:
    torch.manual_seed(0)
    probs = t([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    index = D.Categorical(probs=probs).sample((5000,))
    np.testing.assert_allclose((index == 2).double().mean(0).numpy(), [0.7, 0.25], atol=0.03)
    assert D.OneHotCategorical(probs=probs).sample((4,)).shape == (4, 2, 3)
    counts = D.Multinomial(20, probs=probs).sample((3,))
    assert counts.sum(-1).tolist() == [[20, 20]] * 3
    assert D.Categorical(logits=probs.log()).enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    logits = probs.log().requires_grad_()
    hard = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert set(hard.detach().numpy().round(12).ravel()) == {0.0, 1.0}
    (hard * t([1.0, 2.0, 3.0])).sum().backward()
    assert logits.grad.abs().sum() > 0


def test_multivariate_normal() -> None:
    lower = t([[1.5, 0, 0], [0.3, 1.1, 0], [-0.4, 0.2, 0.7]])
    loc = t([0.1, -2.0, 3.0])
    by_tril = D.MultivariateNormal(loc, scale_tril=lower)
    by_covariance = D.MultivariateNormal(loc, lower @ lower.T)
    by_precision = D.MultivariateNormal(loc, precision_matrix=(lower @ lower.T).inverse())
    x = t([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]])
    expected = scipy.stats.multivariate_normal(loc.numpy(), (lower @ lower.T).numpy())
    for ours in (by_tril, by_covariance, by_precision):
        np.testing.assert_allclose(ours.log_prob(x).numpy(), expected.logpdf(x.numpy()), rtol=1e-9)
        np.testing.assert_allclose(ours.covariance_matrix.numpy(), (lower @ lower.T).numpy(), atol=1e-12)
        np.testing.assert_allclose(ours.scale_tril.numpy(), lower.numpy(), atol=1e-9)
        np.testing.assert_allclose(ours.entropy().item(), expected.entropy(), rtol=1e-9)
        assert kl_divergence(ours, by_tril).abs().item() < 1e-12
    torch.manual_seed(0)
    drawn = by_tril.sample((20000,)).numpy()
    np.testing.assert_allclose(np.cov(drawn.T), (lower @ lower.T).numpy(), atol=0.1)


@pytest.mark.parametrize("concentration", [0.3, 0.9, 2.0, 7.0, 30.0])
def test_gamma_draws_move_as_the_distribution_does(concentration: float) -> None:
    """F(x(a), a) stays what it is: checked by the finite difference of the quantile."""
    torch.manual_seed(0)
    a = torch.full((200,), concentration, dtype=F64, requires_grad=True)
    x = torch._standard_gamma(a)
    x.sum().backward()
    levels = scipy.stats.gamma(concentration).cdf(x.detach().numpy())
    step = 1e-4 * concentration
    above, below = (scipy.stats.gamma(concentration + s).ppf(levels) for s in (step, -step))
    np.testing.assert_allclose(a.grad.numpy(), (above - below) / (2 * step), rtol=5e-3, atol=1e-3)


def test_dirichlet_gradients_keep_the_simplex() -> None:
    torch.manual_seed(0)
    concentration = t([[0.4, 1.5, 6.0]], requires_grad=True)
    drawn = D.Dirichlet(concentration).rsample((50,))
    assert torch.allclose(drawn.sum(-1), torch.ones(50, 1, dtype=F64))
    drawn.sum().backward()  # a constant
    assert concentration.grad.abs().max() < 1e-9


def test_independent_and_expand() -> None:
    base = D.Normal(torch.zeros(3, 2, dtype=F64), torch.ones(3, 2, dtype=F64))
    joined = D.Independent(base, 1)
    assert (joined.batch_shape, joined.event_shape) == ((3,), (2,))
    x = joined.sample((4,))
    assert torch.allclose(joined.log_prob(x), base.log_prob(x).sum(-1))
    assert joined.expand((5, 3)).sample().shape == (5, 3, 2)
    assert repr(joined) == "Independent(Normal(loc: torch.Size([3, 2]), scale: torch.Size([3, 2])), 1)"
    assert D.Gamma(1.0, 2.0).expand((4,)).rsample().shape == (4,)

    class Mine(D.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="must also define a custom"):
        Mine(0.0).expand((2,))


TRANSFORMS = [
    transforms.ExpTransform(), transforms.SigmoidTransform(), transforms.TanhTransform(), transforms.SoftplusTransform(),
    transforms.AffineTransform(t(0.3), t(-1.7)), transforms.AffineTransform(0.3, 2),
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.PowerTransform(t(1.3))]),
    transforms.ExpTransform().inv.inv,
]  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_transforms_of_numbers(transform: Any) -> None:
    x = t([-0.8, 0.1, 1.4], requires_grad=True)
    y = transform(x)
    assert torch.allclose(transform.inv(y), x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    assert torch.allclose(transform.log_abs_det_jacobian(x, y), slope.abs().log())
    assert transform.inv.inv is transform
    assert torch.allclose(transform.inv.log_abs_det_jacobian(y, x), -slope.abs().log())


def test_transforms_of_vectors_and_matrices() -> None:
    x = t([[-0.8, 0.1, 1.4], [0.5, -0.2, 0.3]], requires_grad=True)
    sticks = transforms.StickBreakingTransform()
    y = sticks(x)
    assert constraints.simplex.check(y).all()
    assert torch.allclose(sticks.inv(y), x)
    jacobian = torch.autograd.functional.jacobian(lambda v: sticks(v)[:-1], x[0].detach())
    assert torch.allclose(sticks.log_abs_det_jacobian(x, y)[0], jacobian.det().abs().log())
    factor = transforms.CorrCholeskyTransform()
    lower = factor(x.detach())
    assert constraints.corr_cholesky.check(lower).all()
    assert torch.allclose(factor.inv(lower), x.detach())
    assert constraints.simplex.check(transforms.SoftmaxTransform()(x)).all()
    square = torch.arange(9, dtype=F64).reshape(3, 3)
    assert constraints.lower_cholesky.check(transforms.LowerCholeskyTransform()(square / 9))
    assert constraints.positive_definite.check(transforms.PositiveDefiniteTransform()(square / 9))
    cached = transforms.TanhTransform(cache_size=1)
    y = cached(x)
    assert cached.inv(y) is x
    for constraint in (
        constraints.positive,
        constraints.interval(-1.0, 3.0),
        constraints.simplex,
        constraints.less_than(2.0),
    ):
        assert constraint.check(D.transform_to(constraint)(x)).all()
        assert constraint.check(D.biject_to(constraint)(x)).all()


def test_transformed_distribution() -> None:
    a, b = t(0.3), t(1.7)
    logistic = D.TransformedDistribution(
        D.Uniform(t(0.0), t(1.0)), [transforms.SigmoidTransform().inv, transforms.AffineTransform(a, b)]
    )
    x = t([-2.0, 0.1, 5.0])
    np.testing.assert_allclose(
        logistic.log_prob(x).numpy(), scipy.stats.logistic(0.3, 1.7).logpdf(x.numpy()), rtol=1e-9
    )
    np.testing.assert_allclose(logistic.cdf(x).numpy(), scipy.stats.logistic(0.3, 1.7).cdf(x.numpy()), rtol=1e-9)
    flipped = D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), transforms.AffineTransform(0.0, -1.0))
    np.testing.assert_allclose(flipped.cdf(x).numpy(), scipy.stats.norm.cdf(x.numpy()), rtol=1e-9)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal"):
        D.Normal(0.0, -1.0)
    D.Normal(0.0, -1.0, validate_args=False)
    with pytest.raises(ValueError, match="to be within the support"):
        D.Gamma(1.0, 1.0).log_prob(torch.tensor(-1.0))
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.Normal(0.0, 1.0).log_prob(1.0)
    with pytest.raises(ValueError, match="not broadcastable with batch_shape"):
        D.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2))
    with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
        D.Dirichlet(torch.ones(3)).log_prob(torch.ones(2))
    with pytest.raises(ValueError, match="Either `probs` or `logits` must be specified, but not both"):
        D.Bernoulli()
    with pytest.raises(ValueError, match="Expected parameter low"):
        D.Uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix or precision_matrix or scale_tril"):
        D.MultivariateNormal(torch.zeros(2))
    with pytest.raises(NotImplementedError):
        D.Poisson(1.0).rsample()
    with pytest.raises(NotImplementedError, match="No KL"):
        kl_divergence(D.Laplace(0.0, 1.0), D.StudentT(1.0))


def test_divergence_is_the_mean_of_the_difference() -> None:
    torch.manual_seed(0)
    p, q = D.Gamma(t(2.0), t(1.5)), D.Exponential(t(0.7))
    x = p.sample((40000,))
    assert abs((p.log_prob(x) - q.log_prob(x)).mean() - kl_divergence(p, q)) < 0.02

    class Mine(D.Normal):
        pass

    @register_kl(Mine, Mine)
    def mine(p: Any, q: Any) -> str:
        return "mine"

    assert kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)) == "mine"
    assert kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0


def test_draws_of_wishart_are_differentiable() -> None:
    """PyTorch's are not: it writes into a mask that its backward pass needs."""
    lower = t([[1.2, 0.0], [0.4, 0.9]]).requires_grad_()
    degrees = t([4.0, 6.5])

    def draw(lower: Any) -> Any:
        torch.manual_seed(0)
        return D.Wishart(degrees, scale_tril=lower.tril()).rsample((3,))

    assert torch.autograd.gradcheck(draw, lower)
    many = D.Wishart(degrees, scale_tril=lower.detach()).sample((4000,))
    assert (many.mean(0) / D.Wishart(degrees, scale_tril=lower.detach()).mean - 1).abs().max() < 0.1


def test_densities_of_matrices_and_angles() -> None:
    """Integrals over the circle and over 0 … 1, the chi-squares of one dimension, the whole covariance."""
    angles = torch.linspace(-math.pi, math.pi, 2001)[:-1].double()
    density = D.VonMises(t(0.3), t(2.0)).log_prob(angles).exp()
    assert abs(density.mean() * 2 * math.pi - 1) < 1e-6
    point = torch.linspace(0, 1, 1001).double()
    values = D.ContinuousBernoulli(t(0.3)).log_prob(point).exp()
    assert abs(torch.trapezoid(values, point) - 1) < 1e-6
    one = D.Wishart(t(3.0), torch.eye(1).double()).log_prob(torch.full((1, 1), 2.0).double())
    assert abs(one - D.Chi2(t(3.0)).log_prob(t(2.0))) < 1e-9
    factor, diagonal = t([[1.0], [0.5]]), t([0.3, 0.7])
    low = D.LowRankMultivariateNormal(torch.zeros(2).double(), factor, diagonal)
    full = D.MultivariateNormal(torch.zeros(2).double(), factor @ factor.T + diagonal.diag())
    assert abs(low.log_prob(diagonal) - full.log_prob(diagonal)) < 1e-9
    assert abs(kl_divergence(low, full)) < 1e-9
    assert abs(kl_divergence(full, low)) < 1e-9
