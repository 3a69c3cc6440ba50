"""Finite differences of custom Functions: right, wrong, meant to differ, and nothing used up on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion
from clarion.autograd import Function
from clarion.diagnose.graph.derivatives import RIGHT, SURROGATE, UNKNOWN, WRONG, Probe


def made(forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Any:
    """A Function of one tensor, from two expressions."""

    class Made(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g, ctx.saved_tensors[0])

    return Made


CASES = {
    "right": (made(lambda x: x.exp(), lambda g, x: g * x.exp()), RIGHT),
    "a kink": (made(lambda x: x.abs(), lambda g, x: g * x.sign()), RIGHT),
    "half of it": (made(lambda x: x * x, lambda g, x: g * x), WRONG),
    "without the incoming gradient": (made(lambda x: x.exp(), lambda g, x: x.exp()), WRONG),
    "a forgotten mask": (made(lambda x: x.clamp(min=0), lambda g, x: g), WRONG),
    "straight through": (made(lambda x: x.round(), lambda g, x: g), SURROGATE),
    "straight through a clamp": (made(lambda x: x.clamp(-0.5, 0.5), lambda g, x: g), SURROGATE),
    "reversal": (made(lambda x: x.clone(), lambda g, x: -3 * g), SURROGATE),
    "not in float64": (made(lambda x: x @ clarion.ones(5, dtype=clarion.float32), lambda g, x: g), UNKNOWN),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name: str) -> None:
    function, expected = CASES[name]
    clarion.manual_seed(0)
    x = clarion.randn(6, 5)
    x[0] = 0.0
    x.requires_grad_()
    assert Probe(function, (x,)).verdict().kind == expected


def test_random_numbers_and_arguments_stay() -> None:
    function = made(lambda x: x * clarion.rand_like(x) * np.random.rand(), lambda g, x: g)
    x = clarion.randn(4, requires_grad=True)
    state, numpy_state, values = clarion.get_rng_state(), np.random.get_state()[1].copy(), x.detach().clone()  # type: ignore[index, union-attr]
    Probe(function, (x,)).verdict()
    assert clarion.equal(state, clarion.get_rng_state())
    assert (np.random.get_state()[1] == numpy_state).all()  # type: ignore[index]
    assert clarion.equal(values, x.detach())
    assert x.grad is None
