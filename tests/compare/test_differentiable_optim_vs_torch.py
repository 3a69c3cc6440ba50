"""Steps that are part of the graph: new parameters differentiated by old ones, by gradients, and by options."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from ..optim.runs import CASES

pytestmark = pytest.mark.compare
KINDS = ["float64", "complex128"]
RECORDED = [case for case in CASES if case[0] not in ("Adafactor", "Muon")]


# PyTorch overwrites what the gradient of a second step needs: there is one to compare with for the first step only.
OVERWRITES = lambda name, options: name in ("Adamax", "Rprop") or options.get("centered") or options.get("amsgrad")


def leaf(t, rng, dtype):
    value = rng.standard_normal((3, 2)) + (1j * rng.standard_normal((3, 2)) if dtype.startswith("complex") else 0)
    return t.tensor(value.tolist(), dtype=getattr(t, dtype), requires_grad=True)


def run(t, name, options, dtype="float64", steps=4):
    """The parameter after a few steps, and gradients by where it began, by all gradients, and by options that are tensors."""
    rng = np.random.default_rng(0)
    start = leaf(t, rng, dtype)
    given = {
        k: t.tensor(v, dtype=t.float64, requires_grad=True) if isinstance(v, np.ndarray) else v
        for k, v in options.items()
    }
    param = start.clone()
    optimizer = getattr(t.optim, name)([param], **given, differentiable=True)
    grads = []
    for _ in range(steps):
        grads.append(leaf(t, rng, dtype))
        param.grad = grads[-1] * 2
        optimizer.step()
    state = [v for v in optimizer.state[param].values() if v is not None and v.requires_grad]
    weights = t.tensor(np.cos(np.arange(6)).reshape(3, 2).tolist(), dtype=t.float64)
    loss = (param.abs() ** 2 * weights).sum() + sum((v.abs() * weights).sum() for v in state if v.dim())
    leaves = [start, *grads, *(v for v in given.values() if isinstance(v, t.Tensor))]
    found = t.autograd.grad(loss, leaves, allow_unused=True)
    return param, [t.zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True)], optimizer


def compare(name, options, dtype):
    # Adam's corrections are computed in float32, where PyTorch's square root is not always the nearest number.
    rtol = 1e-6 if name.startswith("Adam") and name != "Adamax" else 1e-11
    steps = 1 if OVERWRITES(name, options) else 4
    (mine, gradients, ours), (theirs, wanted, other) = (run(t, name, options, dtype, steps) for t in (clarion, torch))
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=rtol)
    for a, b in zip(gradients, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol * 100, atol=rtol)
    found, expected = ours.state_dict()["state"][0], other.state_dict()["state"].get(0, {})
    for key, value in expected.items():
        assert str(found[key].dtype) == str(value.dtype), key
        np.testing.assert_allclose(found[key].detach().numpy(), value.detach().numpy(), rtol=rtol, err_msg=key)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("name", "options"), RECORDED)
def test_steps(name, options, dtype):
    compare(name, options, dtype)


TENSORS = [
    ("SGD", {"lr": np.array(0.1)}),
    ("SGD", {"lr": np.array(0.1), "momentum": 0.9, "nesterov": True, "weight_decay": np.array(0.2)}),
    ("Adam", {"lr": np.array(0.1)}),
    ("Adam", {"lr": np.array(0.1), "weight_decay": np.array(0.3), "amsgrad": True}),
    ("Adam", {"betas": (0.8, 0.9), "lr": np.array(0.02)}),
    ("AdamW", {"lr": np.array(0.1), "weight_decay": 0.1}),
]


@pytest.mark.parametrize(("name", "options"), TENSORS)
def test_options_that_are_tensors(name, options):
    compare(name, options, "float64")


@pytest.mark.parametrize(("name", "options"), [case for case in RECORDED if OVERWRITES(*case)])
def test_gradients_of_several_steps(name, options):
    """Where PyTorch has none: against differences."""
    rng = np.random.default_rng(1)
    start, first, second = (leaf(clarion, rng, "float64") for _ in range(3))

    def moved(start, first, second):
        param = start.clone()
        optimizer = getattr(clarion.optim, name)([param], **options, differentiable=True)
        for grad in (first, second, first):
            param.grad = grad.clone()
            optimizer.step()
        return param

    assert clarion.autograd.gradcheck(moved, (start, first, second), atol=1e-6)


def test_learning_a_learning_rate():
    """One gradient descent inside another: the loss after an inner step falls with the outer ones."""
    curves = []
    for t in (clarion, torch):
        rate = t.tensor(0.01, dtype=t.float64, requires_grad=True)
        outer = t.optim.SGD([rate], lr=0.01)
        curve = []
        for _ in range(10):
            weight = t.ones(3, dtype=t.float64, requires_grad=True).clone()
            (weight.grad,) = t.autograd.grad((weight.clone() ** 2).sum(), weight, create_graph=True)
            t.optim.SGD([weight], lr=rate, differentiable=True).step()
            loss = (weight**2).sum()
            outer.zero_grad()
            loss.backward()
            outer.step()
            curve.append(loss.item())
        curves.append(curve)
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-12)
    assert curves[0][-1] < 0.5 * curves[0][0]
