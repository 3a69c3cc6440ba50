"""A user's own scalar function is an operation: one kernel, its derivatives derived."""

from __future__ import annotations

import math
from math import exp

import numpy as np
import pytest

import clarion as torch
from clarion.compiling.pointwise import PointwiseError

SLOPE = 0.1


@torch.pointwise
def swoosh(x, a):
    return x / (1 + math.exp(-a * x)) if x > -1 else SLOPE * x * a


@torch.pointwise
def many(x, y, z):
    u = torch.sin(x) * y**2 + exp(-abs(z))
    if u > 0.5 and x < y:
        return max(u, z) * torch.tanh(y)
    return torch.where(z > 0, u - z, u / (2 + torch.cos(z))) + math.pi


@torch.pointwise
def smooth(x, beta=2.0):
    return torch.log1p(torch.exp(beta * x)) / beta + math.erf(x) + swoosh(x, beta)


def _draw(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_values_are_those_of_the_function():
    x, a = _draw(50), _draw(50, seed=1)
    own = [swoosh.function(u, v) for u, v in zip(x.tolist(), a.tolist(), strict=True)]
    np.testing.assert_allclose(swoosh(x, a).detach().numpy(), own, rtol=1e-12)
    wide = swoosh(x.float().detach().reshape(5, 10), torch.tensor(2.0))
    assert wide.shape == (5, 10)
    assert wide.dtype is torch.float32


def test_first_and_second_derivatives():
    x, a = _draw(7), _draw(7, seed=1)
    assert torch.autograd.gradcheck(swoosh, (x, a))
    assert torch.autograd.gradgradcheck(swoosh, (x, a))
    y, z = _draw(4, 1, seed=2), _draw(3, seed=3)
    assert torch.autograd.gradcheck(many, (_draw(4, 3), y, z))
    assert torch.autograd.gradgradcheck(many, (_draw(4, 3), y, z))
    assert torch.autograd.gradcheck(lambda x: smooth(x, beta=3.0), (_draw(6),))
    assert torch.autograd.gradgradcheck(smooth, (_draw(6),))


NAMES = """asin acos atan asinh atanh tan sinh cosh log2 log10 exp2 degrees radians floor ceil trunc round silu gelu sigmoid
softplus leaky_relu elu isfinite isinf"""


@pytest.mark.parametrize("name", NAMES.split())
def test_functions_are_pythons_and_pytorchs_own(name):
    theirs = next(getattr(where, name) for where in (math, torch, torch.nn.functional) if hasattr(where, name))
    function = torch.pointwise(
        eval(f"lambda x: where.{name}(x)", {"where": math if hasattr(math, name) else _home(name)})
    )
    x = torch.linspace(-0.9, 0.95, 8, dtype=torch.float64)
    x = x.abs() if name.startswith("log") else x
    own = [theirs(value) for value in x.tolist()] if hasattr(math, name) else theirs(x).tolist()
    np.testing.assert_allclose(function(x).tolist(), np.asarray(own, np.float64), rtol=1e-12, atol=1e-15)
    if not name.startswith("is"):
        assert torch.autograd.gradcheck(function, (x.requires_grad_(),))


def _home(name):
    return torch if hasattr(torch, name) else torch.nn.functional


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x % y + x // y,
        lambda x, y: math.fmod(x, y) * y,
        lambda x, y: math.atan2(x, y) + math.log(y, 3.0) + round(x, 1),
        lambda x, y: divmod(x, y)[1] + math.hypot(x, y) if 0 < x < 1 else math.copysign(x, y),
    ],
)
def test_functions_of_two_numbers(function):
    made = torch.pointwise(function)
    x, y = torch.linspace(-2.32, 2.2, 9, dtype=torch.float64), torch.linspace(0.7, 1.6, 9, dtype=torch.float64)
    own = [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_allclose(made(x, y).tolist(), own, rtol=1e-12, atol=1e-14)
    assert torch.autograd.gradcheck(made, (x.requires_grad_(), y.requires_grad_()))
    assert torch.autograd.gradgradcheck(made, (x, y))


def test_types_and_shapes_are_those_of_operations():
    x = torch.ones(3, 1)
    assert swoosh(x.half(), torch.ones(4).half()).dtype is torch.float16
    assert swoosh(x.half(), torch.ones(4)).dtype is torch.float32
    assert swoosh(x, torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32
    assert swoosh(torch.arange(3), 2).dtype is torch.float32
    assert swoosh(x, torch.ones(4)).shape == (3, 4)
    assert swoosh(torch.ones(0), 1.0).shape == (0,)
    assert swoosh(torch.ones(3, 4).t(), 2.0).stride() == (1, 4)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "swoosh\\(\\) missing a required argument: 'x'"),
        ((1.0, 2.0, 3.0), "swoosh\\(\\) too many positional arguments"),
        ((None, 1.0), "swoosh\\(\\) takes tensors and numbers, and x is a NoneType"),
        (("a", 1.0), "and x is a str"),
        ((np.ones(2), 1.0), "and x is a ndarray"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(args, said):
    with pytest.raises(TypeError, match=said):
        swoosh(*args)


def test_large_arrays_and_small_ones_agree():
    x = torch.linspace(-4, 4, 50_001)
    large = smooth(x)
    parts = torch.cat([smooth(part) for part in x.split(100)])
    assert torch.allclose(large, parts, rtol=1e-5, atol=1e-6)
    x = x.requires_grad_()
    smooth(x).sum().backward()
    y = x.detach().double().requires_grad_()
    smooth(y).sum().backward()
    assert torch.allclose(x.grad.double(), y.grad, rtol=1e-4, atol=1e-5)


def test_it_is_compiled_with_everything_else():
    fast = torch.compile(lambda x: swoosh(x, 2.0).sum(), check=True)
    for i in range(6):
        fast(_draw(5, seed=i))


def test_numbers_from_outside_are_what_they_are_now(monkeypatch):
    x = torch.full((3,), -2.0)
    fast = torch.compile(lambda x: swoosh(x, 2.0))
    for _ in range(6):
        assert torch.allclose(fast(x), torch.full((3,), -0.4))
    monkeypatch.setitem(globals(), "SLOPE", 0.5)
    assert torch.allclose(swoosh(x, 2.0), torch.full((3,), -2.0))
    assert torch.allclose(fast(x), torch.full((3,), -2.0))


@torch.pointwise
def calls_gamma(x):
    return math.gamma(x)


@torch.pointwise
def loops(x):
    while x > 1:
        x = x / 2
    return x


@torch.pointwise  # noqa: RET503
def sometimes(x):
    if x > 0:
        return x


@torch.pointwise
def twice(x):
    return x, x


@torch.pointwise
def indexes(x):
    return [1.0, 2.0][x]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (calls_gamma, "gamma.*has no derivative"),
        (loops, "round too often|ways through"),
        (indexes, "cannot be an index"),
        (sometimes, "sometimes gives nothing.*on every way.*in sometimes"),
        (twice, "twice gives a tuple"),
    ],
)
def test_what_cannot_be_traced_is_refused_with_the_line(function, said):
    with pytest.raises(PointwiseError, match=f"(?s){said}"):
        function(torch.ones(2))


def test_what_is_no_function_of_numbers_is_refused():
    with pytest.raises(TypeError, match="Python function"):
        torch.pointwise(3)
    with pytest.raises(TypeError, match="numbers by position"):
        torch.pointwise(lambda *x: x)
