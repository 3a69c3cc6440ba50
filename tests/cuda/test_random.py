"""Random numbers of the GPU are those that PyTorch draws there: the second draw, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion

if not clarion.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

GPU = {"device": "cuda"}
DRAWS: dict[str, Callable[[Any], Any]] = {
    "rand": lambda t: t.rand(1000, **GPU),
    "rand, float16": lambda t: t.rand(100000, dtype=t.float16, **GPU),
    "rand, bfloat16": lambda t: t.rand(1000, dtype=t.bfloat16, **GPU),
    "rand, float64": lambda t: t.rand(1000, dtype=t.float64, **GPU),
    "randn": lambda t: t.randn(300000, **GPU),
    "randn, bfloat16": lambda t: t.randn(1000, dtype=t.bfloat16, **GPU),
    "rand_like": lambda t: t.rand_like(t.zeros(77, **GPU)),
    "randint": lambda t: t.randint(0, 100, (1000,), **GPU),
    "randint, below zero": lambda t: t.randint(-50, 7, (10, 33), **GPU),
    "randint, int32": lambda t: t.randint(0, 7, (1000,), dtype=t.int32, **GPU),
    "randint, 2**27": lambda t: t.randint(0, 2**27, (1000,), **GPU),
    "randint, 2**30": lambda t: t.randint(0, 2**30, (1000,), **GPU),
    "randint, 2**40": lambda t: t.randint(0, 2**40, (1000,), **GPU),
    "randint, int32, 2**30": lambda t: t.randint(0, 2**30, (1000,), dtype=t.int32, **GPU),
    "random_": lambda t: t.zeros(1000, **GPU).random_(),
    "random_, int64": lambda t: t.zeros(1000, dtype=t.int64, **GPU).random_(),
    "random_, uint8": lambda t: t.zeros(1000, dtype=t.uint8, **GPU).random_(),
    "random_ to": lambda t: t.zeros(1000, **GPU).random_(17),
    "uniform_": lambda t: t.zeros(1000, **GPU).uniform_(-2, 3),
    "uniform_, bfloat16": lambda t: t.zeros(1000, dtype=t.bfloat16, **GPU).uniform_(-2, 3),
    "normal_": lambda t: t.zeros(1000, **GPU).normal_(1, 2),
    "normal": lambda t: t.normal(0.5, 2.0, (10, 10), **GPU),
    "normal of means": lambda t: t.normal(t.arange(100.0, **GPU), 2.0),
    "normal of deviations": lambda t: t.normal(1.0, t.arange(100.0, **GPU)),
    "normal of both": lambda t: t.normal(t.arange(100.0, **GPU), t.arange(100.0, **GPU)),
    "exponential_": lambda t: t.zeros(1000, **GPU).exponential_(1.5),
    "cauchy_": lambda t: t.zeros(1000, **GPU).cauchy_(),
    "log_normal_": lambda t: t.zeros(1000, **GPU).log_normal_(),
    "geometric_": lambda t: t.zeros(1000, **GPU).geometric_(0.3),
    "bernoulli_": lambda t: t.zeros(1000, **GPU).bernoulli_(0.3),
    "bernoulli": lambda t: t.bernoulli(t.linspace(0, 1, 1001, **GPU)),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(512, 1024, **GPU), 0.1),
    "dropout, odd": lambda t: t.nn.functional.dropout(t.ones(1001, **GPU), 0.3),
    "dropout, float16": lambda t: t.nn.functional.dropout(t.ones(64, 1024, dtype=t.float16, **GPU), 0.1),
    "dropout, bfloat16": lambda t: t.nn.functional.dropout(t.ones(64, 1024, dtype=t.bfloat16, **GPU), 0.1),
    "dropout2d": lambda t: t.nn.functional.dropout2d(t.ones(8, 16, 4, 4, **GPU), 0.3),
    "alpha_dropout": lambda t: t.nn.functional.alpha_dropout(t.ones(1000, **GPU), 0.3, training=True),
    "gumbel_softmax": lambda t: t.nn.functional.gumbel_softmax(t.zeros(10, 10, **GPU)),
    "kaiming_uniform_": lambda t: t.nn.init.kaiming_uniform_(t.zeros(30, 40, **GPU)),
    "multinomial": lambda t: t.multinomial(t.arange(1.0, 101.0, **GPU), 50),
    "multinomial, one": lambda t: t.multinomial(t.rand(64, 10, **GPU), 1),
    "randperm, 1": lambda t: t.randperm(1, **GPU),
    "randperm, 1000": lambda t: t.randperm(1000, **GPU),
    "randperm, 30000": lambda t: t.randperm(30000, dtype=t.int32, **GPU),
    "randperm, 1000000": lambda t: t.randperm(1000000, **GPU),
    "normal_, transposed": lambda t: t.zeros(30, 40, **GPU).t().normal_(),
    "uniform_, channels last": lambda t: t.zeros(2, 3, 4, 5, **GPU).to(memory_format=t.channels_last).uniform_(),
    "bernoulli_, every other": lambda t: t.zeros(100, 2, **GPU)[:, 0].bernoulli_(0.3),
    "a linear layer": lambda t: t.nn.Linear(30, 40, **GPU).bias,
}
# Drawn on the host, and sent: docs/differences.md says so.
OTHERS: dict[str, Callable[[Any], Any]] = {
    "multinomial, put back": lambda t: t.multinomial(t.ones(100, **GPU), 50, replacement=True),
    "rrelu": lambda t: t.nn.functional.rrelu(-t.ones(1000, **GPU), training=True),
    "poisson": lambda t: t.poisson(t.full((1000,), 3.0, **GPU)),
    "binomial": lambda t: t.binomial(t.full((100,), 10.0, **GPU), t.full((100,), 0.3, **GPU)),
}


def drawn(library: Any, draw: Callable[[Any], Any]) -> np.ndarray:
    library.manual_seed(7)
    return np.concatenate([draw(library).detach().cpu().double().numpy().ravel() for _ in range(2)])


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers(name: str):
    expected, found = drawn(torch, DRAWS[name]), drawn(clarion, DRAWS[name])
    # (PyTorch takes a quick tangent, which is wrong in the fifth digit.)
    same = np.isclose(found, expected, rtol=2e-3 if name == "cauchy_" else 2e-5, atol=2e-6)
    assert same.mean() > 0.998, (
        expected[:6],
        found[:6],
    )  # (a logarithm that is rounded otherwise may cross an integer)


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_drawn_too(name: str):
    expected, found = drawn(torch, OTHERS[name]), drawn(clarion, OTHERS[name])
    assert found.shape == expected.shape
    assert abs(found.mean() - expected.mean()) < 5 * (expected.std() + 1e-9) / np.sqrt(len(found)) * 2
