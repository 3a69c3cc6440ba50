"""Half precision beside PyTorch's, large enough for kernels that take it as it stands: results and gradients, each rounded once."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

CASES = {
    "add": lambda t, F, x, y: x + y,
    "sub": lambda t, F, x, y: x - y,
    "mul": lambda t, F, x, y: x * y,
    "div": lambda t, F, x, y: x / (y.abs() + 1),
    "times a number": lambda t, F, x, y: x * 1.2345,
    "plus a number": lambda t, F, x, y: x + 1.2345,
    "from a number": lambda t, F, x, y: 2.5 - x,
    "a row": lambda t, F, x, y: x * y[0],
    "a column": lambda t, F, x, y: x + y[:, :1],
    "transposed": lambda t, F, x, y: x.t() * y,
    "exp": lambda t, F, x, y: x.exp(),
    "tanh": lambda t, F, x, y: x.tanh(),
    "relu": lambda t, F, x, y: x.relu(),
    "gelu": lambda t, F, x, y: F.gelu(x),
    "silu": lambda t, F, x, y: F.silu(x),
    "where": lambda t, F, x, y: t.where(x > 0, x, y),
    "maximum": lambda t, F, x, y: t.maximum(x, y),
    "softmax": lambda t, F, x, y: x.softmax(-1),
    "softmax of columns": lambda t, F, x, y: x.softmax(0),
    "sum": lambda t, F, x, y: x.sum(1),
    "sum of all": lambda t, F, x, y: x.sum(),
    "mean": lambda t, F, x, y: x.mean(1),
    "mm": lambda t, F, x, y: x @ y,
    "mm turned": lambda t, F, x, y: x.t() @ y.t(),
    "linear": lambda t, F, x, y: F.linear(x, y, y[0]),
    "bmm": lambda t, F, x, y: x.view(4, -1, x.shape[1]) @ y.view(4, -1, y.shape[1]).transpose(1, 2),
    "layer norm": lambda t, F, x, y: F.layer_norm(x, (x.shape[1],), y[0], y[1]),
    "dropout": lambda t, F, x, y: F.dropout(x, 0.3) * y,
}
ULP = {"bfloat16": 2.0**-7, "float16": 2.0**-10}


@pytest.mark.parametrize("kind", ULP)
@pytest.mark.parametrize("name", CASES)
def test_same_numbers(name, kind):
    results = []
    for t in (torch, clarion):
        t.manual_seed(1)
        x, y = (t.randn(64, 64).to(getattr(t, kind)).requires_grad_() for _ in range(2))
        out = CASES[name](t, t.nn.functional, x, y)
        assert out.dtype == getattr(t, kind)
        out.backward(t.randn(out.shape).to(out.dtype))
        results.append([out.detach(), *[v.grad for v in (x, y) if v.grad is not None]])
    assert len(results[0]) == len(results[1])
    for a, b in zip(*results, strict=True):
        expected, got = a.double().numpy(), b.double().numpy()
        # (PyTorch rounds each step of the gradient of a quotient, and what it adds up for a row; it keeps the statistics of a layer norm in float32.)
        slack = 2 * ULP[kind] if name in ("div", "layer norm", "a row") else 1e-6
        np.testing.assert_allclose(got, expected, 1.01 * ULP[kind], slack * abs(expected).max())


@pytest.mark.parametrize("kind", ULP)
def test_layers_of_float32_on_lower_inputs(kind):
    """Under autocast a norm in float32 meets what a product gave; gradients come back in the types of the leaves."""
    results = []
    for t in (torch, clarion):
        t.manual_seed(1)
        layer, norm, x = t.nn.Linear(64, 96), t.nn.LayerNorm(96), t.randn(50, 64, requires_grad=True)
        with t.autocast("cpu", dtype=getattr(t, kind)):
            out = t.nn.functional.gelu(norm(layer(x)))
        out.float().pow(2).mean().backward()
        results.append([out.detach().float(), x.grad, layer.weight.grad, layer.bias.grad, norm.weight.grad])
    for a, b in zip(*results, strict=True):
        assert str(a.dtype) == str(b.dtype).replace("clarion", "torch")
        expected = a.numpy()
        np.testing.assert_allclose(b.numpy(), expected, 0.05, 3 * ULP[kind] * abs(expected).max())
