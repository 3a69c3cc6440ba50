"""Distributions: draws from the same seed, densities, moments, entropies, divergences and gradients are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

# PyTorch takes every draw of a Wishart distribution for singular at first, and says so.
pytestmark = [pytest.mark.compare, pytest.mark.filterwarnings("ignore:Singular sample detected")]

POSITIVE = np.array([[0.3, 1.7, 4.5], [0.9, 2.2, 11.0]])
REAL = np.array([[-1.2, 0.4, 2.0], [0.1, -0.7, 3.1]])
UNIT = np.array([[0.2, 0.55, 0.9], [0.35, 0.5, 0.08]])
SQUARE = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.4], [-0.2, 0.4, 1.1]])
LOWER = np.linalg.cholesky(SQUARE)

# family: parameters (arrays become tensors that require gradients)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "normal": ("Normal", {"loc": REAL, "scale": POSITIVE}),
    "log_normal": ("LogNormal", {"loc": REAL, "scale": UNIT}),
    "bernoulli": ("Bernoulli", {"probs": UNIT}),
    "bernoulli_logits": ("Bernoulli", {"logits": REAL}),
    "binomial": ("Binomial", {"total_count": 12, "probs": UNIT}),
    "binomial_logits": ("Binomial", {"total_count": 90, "logits": REAL}),
    "categorical": ("Categorical", {"probs": POSITIVE}),
    "categorical_logits": ("Categorical", {"logits": REAL}),
    "one_hot": ("OneHotCategorical", {"probs": POSITIVE}),
    "straight_through": ("OneHotCategoricalStraightThrough", {"logits": REAL}),
    "multinomial": ("Multinomial", {"total_count": 7, "probs": POSITIVE}),
    "multinomial_logits": ("Multinomial", {"total_count": 7, "logits": REAL}),
    "uniform": ("Uniform", {"low": REAL, "high": REAL + POSITIVE}),
    "beta": ("Beta", {"concentration1": POSITIVE, "concentration0": POSITIVE[::-1].copy()}),
    "beta_numbers": ("Beta", {"concentration1": 0.5, "concentration0": 2.5}),
    "gamma": ("Gamma", {"concentration": POSITIVE, "rate": POSITIVE[::-1].copy()}),
    "chi2": ("Chi2", {"df": POSITIVE}),
    "dirichlet": ("Dirichlet", {"concentration": POSITIVE}),
    "exponential": ("Exponential", {"rate": POSITIVE}),
    "laplace": ("Laplace", {"loc": REAL, "scale": POSITIVE}),
    "poisson": ("Poisson", {"rate": POSITIVE}),
    "geometric": ("Geometric", {"probs": UNIT}),
    "geometric_logits": ("Geometric", {"logits": REAL}),
    "cauchy": ("Cauchy", {"loc": REAL, "scale": POSITIVE}),
    "half_normal": ("HalfNormal", {"scale": POSITIVE}),
    "half_cauchy": ("HalfCauchy", {"scale": POSITIVE}),
    "student": ("StudentT", {"df": POSITIVE, "loc": REAL, "scale": POSITIVE}),
    "gumbel": ("Gumbel", {"loc": REAL, "scale": POSITIVE}),
    "weibull": ("Weibull", {"scale": POSITIVE, "concentration": POSITIVE[::-1].copy()}),
    "pareto": ("Pareto", {"scale": POSITIVE, "alpha": POSITIVE[::-1].copy()}),
    "mvn_covariance": ("MultivariateNormal", {"loc": REAL, "covariance_matrix": SQUARE}),
    "mvn_precision": ("MultivariateNormal", {"loc": REAL, "precision_matrix": SQUARE}),
    "mvn_tril": ("MultivariateNormal", {"loc": REAL[0], "scale_tril": np.stack([LOWER, 2 * LOWER])}),
    "negative_binomial": ("NegativeBinomial", {"total_count": POSITIVE, "probs": UNIT}),
    "inverse_gamma": ("InverseGamma", {"concentration": POSITIVE, "rate": POSITIVE[::-1].copy()}),
    "logistic_normal": ("LogisticNormal", {"loc": REAL, "scale": POSITIVE}),
    "fisher_snedecor": ("FisherSnedecor", {"df1": POSITIVE, "df2": POSITIVE[::-1].copy()}),
    "kumaraswamy": ("Kumaraswamy", {"concentration1": POSITIVE, "concentration0": POSITIVE[::-1].copy()}),
    "von_mises": ("VonMises", {"loc": REAL, "concentration": POSITIVE}),
    "continuous_bernoulli": ("ContinuousBernoulli", {"probs": UNIT}),
    "continuous_bernoulli_logits": ("ContinuousBernoulli", {"logits": REAL}),
    "continuous_bernoulli_number": ("ContinuousBernoulli", {"probs": 0.4}),
    "low_rank": ("LowRankMultivariateNormal", {"loc": REAL, "cov_factor": np.stack([UNIT.T, REAL.T]), "cov_diag": POSITIVE}),
    "low_rank_one": ("LowRankMultivariateNormal", {"loc": REAL[0], "cov_factor": UNIT.T.copy(), "cov_diag": POSITIVE[0]}),
    "wishart": ("Wishart", {"df": np.array([4.5, 7.0]), "covariance_matrix": SQUARE}),
    "wishart_precision": ("Wishart", {"df": 5, "precision_matrix": SQUARE}),
    "wishart_tril": ("Wishart", {"df": np.array(5.5), "scale_tril": np.stack([LOWER, 2 * LOWER])}),
    "lkj": ("LKJCholesky", {"dim": 4, "concentration": POSITIVE}),
    "lkj_number": ("LKJCholesky", {"dim": 2}),
    "generalized_pareto": ("GeneralizedPareto", {
        "loc": REAL.astype("f"), "scale": POSITIVE.astype("f"), "concentration": np.array([0.3, -0.4, 0.0], "f")}),
    "relaxed_bernoulli": ("RelaxedBernoulli", {"temperature": np.array(0.7), "probs": UNIT}),
    "relaxed_one_hot": ("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "logits": REAL}),
}  # fmt: skip


def make(lib: Any, case: str) -> tuple[Any, list[Any]]:
    """The distribution of a case, and its parameters that require gradients."""
    family, given = CASES[case]
    params = {k: lib.tensor(v, requires_grad=True) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    return getattr(lib.distributions, family)(**params), [p for p in params.values() if isinstance(p, lib.Tensor)]


def array(value: Any) -> np.ndarray:
    return np.asarray(value.detach().numpy())


def same(ours: Any, theirs: Any, rtol: float = 1e-9, what: str = "") -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert str(ours.dtype) == str(theirs.dtype), what
    rtol = max(rtol, 1e-5) if array(theirs).dtype == np.float32 else rtol
    np.testing.assert_allclose(array(ours), array(theirs), rtol=rtol, atol=1e-11, err_msg=what)


def same_gradients(ours: Any, theirs: Any, our_params: Any, their_params: Any, what: str = "") -> None:
    """Both results, weighted alike, have the same gradients."""
    assert ours.requires_grad == theirs.requires_grad, what
    if not theirs.requires_grad:
        return
    weights = np.random.default_rng(0).uniform(0.5, 1.5, tuple(theirs.shape))
    found = clarion.autograd.grad(
        (ours * clarion.tensor(weights)).sum(), our_params, allow_unused=True, retain_graph=True
    )
    expected = torch.autograd.grad(
        (theirs * torch.tensor(weights)).sum(), their_params, allow_unused=True, retain_graph=True
    )
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None), what
        if b is not None:
            rtol = 1e-4 if array(b).dtype == np.float32 else 1e-7
            np.testing.assert_allclose(array(a), array(b), rtol=rtol, atol=rtol / 100, err_msg=what)


def outcome(call: Any) -> Any:
    """The value, or the kind of refusal."""
    try:
        return call()
    except (NotImplementedError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        return "NotImplementedError" if isinstance(error, NotImplementedError) else type(error).__mro__


@pytest.mark.parametrize("case", CASES)
def test_shapes_and_text(case: str) -> None:
    ours, theirs = make(clarion, case)[0], make(torch, case)[0]
    assert repr(ours) == repr(theirs)
    for name in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
        assert str(getattr(ours, name)) == str(getattr(theirs, name))
    assert ours.support.event_dim == theirs.support.event_dim
    assert ours.support.is_discrete == theirs.support.is_discrete
    assert list(ours.arg_constraints) == list(theirs.arg_constraints)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [(), (4,), (5, 2)])
def test_draws_are_torchs(case: str, shape: tuple[int, ...]) -> None:
    (ours, our_params), (theirs, their_params) = make(clarion, case), make(torch, case)
    clarion.manual_seed(11), torch.manual_seed(11)
    same(ours.sample(shape), theirs.sample(shape), rtol=1e-6)
    assert not ours.sample(shape).requires_grad
    theirs.sample(shape)
    if theirs.has_rsample:
        a, b = ours.rsample(shape), theirs.rsample(shape)
        same(a, b, rtol=1e-6)
        if not case.startswith("wishart"):  # PyTorch writes into what it needs for the gradient
            same_gradients(a, b, our_params, their_params)
    assert clarion.rand(()).item() == torch.rand(()).item()  # as many numbers were drawn


@pytest.mark.parametrize("case", CASES)
def test_moments(case: str) -> None:
    (ours, our_params), (theirs, their_params) = make(clarion, case), make(torch, case)
    for name in ("mean", "mode", "variance", "stddev"):
        a, b = outcome(lambda name=name: getattr(ours, name)), outcome(lambda name=name: getattr(theirs, name))
        if isinstance(b, torch.Tensor):
            same(a, b, what=name)
            if name != "mode" and np.isfinite(array(b)).all():
                same_gradients(a, b, our_params, their_params, name)
        else:
            assert (a, b) == ("NotImplementedError", "NotImplementedError"), name


@pytest.mark.parametrize("case", CASES)
def test_log_prob_cdf_icdf_entropy(case: str) -> None:
    (ours, our_params), (theirs, their_params) = make(clarion, case), make(torch, case)
    torch.manual_seed(3)
    drawn = array(theirs.sample((4,)))
    values = clarion.tensor(drawn, requires_grad=drawn.dtype.kind == "f")
    torch_values = torch.tensor(drawn, requires_grad=drawn.dtype.kind == "f")
    level = np.linspace(0.1, 0.9, 3)
    calls = {
        "log_prob": (lambda d, lib, x: d.log_prob(x)),
        "cdf": (lambda d, lib, x: d.cdf(x)),
        "icdf": (lambda d, lib, x: d.icdf(lib.tensor(level))),
        "entropy": (lambda d, lib, x: d.entropy()),
        "perplexity": (lambda d, lib, x: d.perplexity()),
        "enumerate_support": (lambda d, lib, x: d.enumerate_support()),
        "unexpanded support": (lambda d, lib, x: d.enumerate_support(expand=False)),
        "log_prob of support": (lambda d, lib, x: d.log_prob(d.enumerate_support())),
    }
    for name, call in calls.items():
        a = outcome(lambda call=call: call(ours, clarion, values))
        b = outcome(lambda call=call: call(theirs, torch, torch_values))
        if not isinstance(b, torch.Tensor):
            assert a == b or (a[0] != b and b[0] in a), (name, a, b)
            continue
        same(a, b, what=name, rtol=1e-7)
        more = ([values], [torch_values]) if values.requires_grad else ([], [])
        if name == "cdf" and case in ("gamma", "chi2", "inverse_gamma"):  # no gradient in the concentration
            same_gradients(a, b, *more, name)
        else:
            same_gradients(a, b, our_params + more[0], their_params + more[1], name)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c not in ("beta_numbers", "continuous_bernoulli_number", "lkj_number")]
)
def test_expand(case: str) -> None:
    ours, theirs = make(clarion, case)[0], make(torch, case)[0]
    wider = (4, *theirs.batch_shape)
    a, b = ours.expand(wider), theirs.expand(wider)
    assert str(a.batch_shape) == str(b.batch_shape)
    assert str(a.event_shape) == str(b.event_shape)
    assert repr(a) == repr(b)
    clarion.manual_seed(5), torch.manual_seed(5)
    drawn = a.sample((2,))
    same(drawn, b.sample((2,)), rtol=1e-6)
    same(a.log_prob(drawn), b.log_prob(torch.tensor(array(drawn))), rtol=1e-7)


KL_FAMILIES = [
    "normal", "log_normal", "bernoulli", "binomial", "categorical", "one_hot", "uniform", "beta", "gamma", "chi2",
    "dirichlet", "exponential", "laplace", "poisson", "geometric", "cauchy", "half_normal", "gumbel", "pareto",
    "mvn_covariance", "mvn_tril", "continuous_bernoulli", "low_rank", "low_rank_one",
]  # fmt: skip


@pytest.mark.parametrize("p", KL_FAMILIES)
def test_divergences(p: str) -> None:
    for q in KL_FAMILIES:
        (our_p, our_params), (their_p, their_params) = make(clarion, p), make(torch, p)
        (our_q, more), (their_q, their_more) = make(clarion, q), make(torch, q)
        a = outcome(lambda p=our_p, q=our_q: clarion.distributions.kl_divergence(p, q))
        b = outcome(lambda p=their_p, q=their_q: torch.distributions.kl_divergence(p, q))
        if not isinstance(b, torch.Tensor):
            assert a == b, (p, q, a, b)
            continue
        same(a, b, what=f"{p} {q}", rtol=1e-8)
        finite = np.isfinite(array(b)).all()
        if finite and p != "beta" and b.requires_grad:
            same_gradients(a, b, our_params + more, their_params + their_more, f"{p} {q}")


@pytest.mark.parametrize("events", [False, True])
def test_mixtures(events: bool) -> None:
    def build(lib: Any) -> tuple[Any, list[Any]]:
        d = lib.distributions
        params = [lib.tensor(a, requires_grad=True) for a in (REAL, REAL, POSITIVE)]
        parts = d.Normal(params[1], params[2])
        if events:
            more = lib.stack([params[1], 2 * params[1]], -1)
            parts = d.Independent(d.Normal(more, lib.stack([params[2], params[2]], -1)), 1)
        return d.MixtureSameFamily(d.Categorical(logits=params[0]), parts), params

    (ours, our_params), (theirs, their_params) = build(clarion), build(torch)
    assert repr(ours) == repr(theirs)
    assert str(ours.batch_shape) == str(theirs.batch_shape)
    clarion.manual_seed(3), torch.manual_seed(3)
    drawn = ours.sample((4,))
    same(drawn, theirs.sample((4,)), rtol=1e-6)
    for name in ("mean", "variance"):
        same(getattr(ours, name), getattr(theirs, name))
    a, b = ours.log_prob(drawn), theirs.log_prob(torch.tensor(array(drawn)))
    same(a, b)
    same_gradients(a, b, our_params, their_params)
    if not events:
        same(ours.cdf(drawn), theirs.cdf(torch.tensor(array(drawn))))
    same(ours.expand((5, 2)).log_prob(drawn[0]), theirs.expand((5, 2)).log_prob(torch.tensor(array(drawn[0]))))


WRONG: dict[str, Any] = {
    "scale": lambda t, d: d.Normal(t.tensor([0.0, 1.0]), t.tensor([1.0, -1.0])),
    "nan": lambda t, d: d.Normal(t.tensor(float("nan")), 1.0),
    "probs": lambda t, d: d.Bernoulli(1.5),
    "both": lambda t, d: d.Bernoulli(probs=0.5, logits=0.1),
    "simplex": lambda t, d: d.Categorical(t.tensor([0.5, -0.5, 2.0])),
    "no dimension": lambda t, d: d.Categorical(t.tensor(0.5)),
    "concentration": lambda t, d: d.Dirichlet(t.tensor(0.5)),
    "low and high": lambda t, d: d.Uniform(1.0, 0.5),
    "count": lambda t, d: d.Binomial(-1, 0.5),
    "multinomial": lambda t, d: d.Multinomial(t.tensor(3), t.ones(2)),
    "geometric": lambda t, d: d.Geometric(t.tensor([0.0, 0.5])),
    "covariance": lambda t, d: d.MultivariateNormal(t.zeros(2), t.tensor([[1.0, 2.0], [2.0, 1.0]])),
    "lower": lambda t, d: d.MultivariateNormal(t.zeros(2), scale_tril=t.tensor([[1.0, 2.0], [2.0, 1.0]])),
    "vector": lambda t, d: d.MultivariateNormal(t.zeros(2), t.ones(2)),
    "nothing": lambda t, d: d.MultivariateNormal(t.zeros(2)),
    "text": lambda t, d: d.Normal("a", 1.0),
    "value": lambda t, d: d.Exponential(1.0).log_prob(t.tensor([1.0, -1.0])),
    "half a success": lambda t, d: d.Binomial(3, 0.5).log_prob(t.tensor(1.5)),
    "not one": lambda t, d: d.OneHotCategorical(t.ones(3)).log_prob(t.tensor([1.0, 1.0, 0.0])),
    "shape": lambda t, d: d.Normal(t.zeros(3), 1.0).log_prob(t.zeros(2)),
    "event": lambda t, d: d.Dirichlet(t.ones(3)).log_prob(t.ones(2)),
    "number": lambda t, d: d.Normal(0.0, 1.0).log_prob(0.5),
    "independent": lambda t, d: d.Independent(d.Normal(0.0, 1.0), 1),
    "transforms": lambda t, d: d.TransformedDistribution(d.Normal(0.0, 1.0), 3),
    "cache": lambda t, d: d.ExpTransform(cache_size=2),
    "divergence": lambda t, d: d.kl_divergence(d.Laplace(0.0, 1.0), d.StudentT(1.0)),
    "support": lambda t, d: d.Normal(0.0, 1.0).enumerate_support(),
    "mode": lambda t, d: d.Multinomial(3, t.ones(2)).mode,
    "several counts": lambda t, d: d.Binomial(t.tensor([1.0, 2.0]), 0.5).entropy(),
    "low rank": lambda t, d: d.LowRankMultivariateNormal(t.zeros(2), t.ones(3, 1), t.ones(2)),
    "low rank vector": lambda t, d: d.LowRankMultivariateNormal(t.zeros(2), t.ones(2), t.ones(2)),
    "low rank diagonal": lambda t, d: d.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.ones(3)),
    "low rank batch": lambda t, d: d.LowRankMultivariateNormal(t.zeros(3, 2), t.ones(4, 2, 1), t.ones(2)),
    "freedom": lambda t, d: d.Wishart(1.0, t.eye(3)),
    "wishart vector": lambda t, d: d.Wishart(4.0, t.ones(3)),
    "lkj": lambda t, d: d.LKJCholesky(1),
    "continuous": lambda t, d: d.ContinuousBernoulli(t.tensor([1.5]), validate_args=True),
    "transform of": lambda t, d: d.biject_to(d.constraints.boolean),
}


@pytest.mark.parametrize("name", WRONG)
def test_refusals(name: str) -> None:
    def text(lib: Any) -> tuple[str, Any]:
        with pytest.raises((ValueError, TypeError, NotImplementedError, RuntimeError)) as caught:
            WRONG[name](lib, lib.distributions)
        kinds = (NotImplementedError, ValueError, TypeError, RuntimeError)
        words = " ".join(str(caught.value).replace("clarion.", "torch.").split())
        return next(kind.__name__ for kind in kinds if isinstance(caught.value, kind)), words.replace("studentT", "")

    assert text(clarion) == text(torch)
