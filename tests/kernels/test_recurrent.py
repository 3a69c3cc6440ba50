"""Faster recurrent layers, compiled or turned: what the portable kernels compute, however states and gradients lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

import clarion
from clarion.kernels import registry
from clarion.kernels.llvm import sequences

compiled = pytest.mark.skipif("llvm" not in registry.offers("gru_layer"), reason="llvmlite is not installed")
SIZE, INPUTS = 33, 40
GATES = {"lstm_layer": 4, "gru_layer": 3, "rnn_layer": 1}
OFFERS = [pytest.param(name, "llvm", marks=compiled) for name in GATES] + [("lstm_layer", "numpy")]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def states(rows, turned):
    """A state in rows, or one that lies otherwise."""
    return draw(SIZE, rows).T if turned else draw(rows, SIZE)


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = clarion.get_num_threads()
    clarion.set_num_threads(request.param)
    yield
    clarion.set_num_threads(before)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("length", [1, 9])
@pytest.mark.parametrize("rows", [3, 17])  # shared by the threads at every step, and each thread's own
@pytest.mark.parametrize(("name", "backend"), OFFERS)
def test_layers_and_their_gradients(name, backend, rows, length, backwards, turned, threads):
    steps = tuple((k * rows, rows) for k in range(length))
    steps = steps[::-1] if backwards else steps
    gates = GATES[name] * SIZE
    x, w_ih, w_hh = draw(length * rows, INPUTS), draw(gates, INPUTS, seed=1) / 9, draw(gates, SIZE, seed=2) / 9
    h0, own = states(rows, turned), (states(rows, turned), None) if name == "lstm_layer" else ()
    how = (False,) if name == "rnn_layer" else ()
    arguments = (x, w_ih, w_hh, draw(gates, seed=3), draw(gates, seed=4), h0, *own, steps, *how)
    results = registry.offers(name)[backend].function(*arguments)
    expected = registry.portable(name)(*arguments)
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one.reshape(other.shape), other, 1e-4, 1e-5)
    count = 3 if name == "lstm_layer" else 2
    g = tuple(draw(*reversed(each.shape), seed=5).T if turned else draw(*each.shape) for each in expected[:count])
    arguments = (g, x, w_ih, w_hh, h0, *own, steps, *how)
    gradients = registry.offers(f"{name}_backward")[backend].function(
        *arguments, results[0], *results[count:], (True,) * 8
    )
    expected = registry.portable(f"{name}_backward")(*arguments, expected[0], *expected[count:], (True,) * 8)
    again = registry.portable(f"{name}_backward")(*arguments, results[0], *results[count:], (True,) * 8)
    for one, same, other in zip(gradients, again, expected, strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, 1e-3, 1e-4 * np.abs(other).max())
            np.testing.assert_allclose(same, other, 1e-3, 1e-4 * np.abs(other).max())


@compiled
@pytest.mark.parametrize("name", GATES)
def test_weights_too_large_for_panels_of_each_thread(name, monkeypatch):
    monkeypatch.setattr(sequences, "LARGEST", 0)
    monkeypatch.setattr(sequences, "DEEPEST", 16)
    test_layers_and_their_gradients(name, "llvm", 17, 9, False, False, None)


@compiled
def test_gradients_and_biases_that_are_broadcast():
    """Strides of 0, and rows that are no rows."""
    x, w_ih, w_hh, h0 = draw(18, INPUTS), draw(SIZE, INPUTS) / 9, draw(SIZE, SIZE) / 9, draw(9, SIZE)
    steps, bias = ((0, 9), (9, 9)), np.broadcast_to(np.float32(0.5), SIZE)
    arguments = (x[::-1], w_ih, w_hh, bias, None, h0, steps, True)
    results, expected = (
        f(*arguments) for f in (registry.offers("rnn_layer")["llvm"].function, registry.portable("rnn_layer"))
    )
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)
    g = np.broadcast_to(np.float32(0.1), (18, SIZE)), None
    arguments = (g, x[::-1], w_ih, w_hh, h0, steps, True, expected[0], *expected[2:], (True,) * 6)
    name = "rnn_layer_backward"
    for one, other in zip(
        registry.offers(name)["llvm"].function(*arguments), registry.portable(name)(*arguments), strict=True
    ):
        np.testing.assert_allclose(one, other, 1e-3, 1e-4 * np.abs(other).max())
