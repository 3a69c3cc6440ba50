"""Compiled recurrent layers: what the portable kernels compute, however states and gradients lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("gru_layer"), reason="llvmlite is not installed")
SIZE, ROWS, INPUTS = 33, 16, 40
GATES = {"lstm_layer": 4, "gru_layer": 3, "rnn_layer": 1}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def states(turned):
    """A state in rows, or one that lies otherwise."""
    return draw(SIZE, ROWS).T if turned else draw(ROWS, SIZE)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("length", [1, 9])
@pytest.mark.parametrize("name", GATES)
def test_layers_and_their_gradients(name, length, backwards, turned):
    steps = tuple((k * ROWS, ROWS) for k in range(length))
    steps = steps[::-1] if backwards else steps
    gates = GATES[name] * SIZE
    x, w_ih, w_hh = draw(length * ROWS, INPUTS), draw(gates, INPUTS, seed=1) / 9, draw(gates, SIZE, seed=2) / 9
    h0, own = states(turned), (states(turned), None) if name == "lstm_layer" else ()
    how = (False,) if name == "rnn_layer" else ()
    arguments = (x, w_ih, w_hh, draw(gates, seed=3), draw(gates, seed=4), h0, *own, steps, *how)
    results = registry.offers(name)["llvm"].function(*arguments)
    expected = registry.portable(name)(*arguments)
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)
    count = 3 if name == "lstm_layer" else 2
    g = tuple(draw(*reversed(each.shape), seed=5).T if turned else draw(*each.shape) for each in expected[:count])
    kept = (expected[0], *expected[count:])
    arguments = (g, x, w_ih, w_hh, h0, *own, steps, *how, *kept, (True,) * 8)
    results = registry.offers(f"{name}_backward")["llvm"].function(*arguments)
    for one, other in zip(results, registry.portable(f"{name}_backward")(*arguments), strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, 1e-3, 1e-4 * np.abs(other).max())
