"""docs/engine_in_small.py is the same engine in small: its numbers are clarion's."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

import clarion as torch

FILE = Path(__file__).parent.parent / "docs" / "engine_in_small.py"
_spec = importlib.util.spec_from_file_location("engine_in_small", FILE)
assert _spec is not None
assert _spec.loader is not None
small = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small)


class _Clarion:
    """clarion under the names of the small engine."""

    exp, log, tanh, sum_all, mm = torch.exp, torch.log, torch.tanh, torch.sum, torch.mm
    t = staticmethod(lambda x: x.t())


PROGRAMS = {
    "product": lambda e, x, w, b: e.sum_all(e.tanh(x @ w + b)),
    "diamond": lambda e, x, w, b: e.sum_all(e.exp(x) * x - x * b),
    "broadcast": lambda e, x, w, b: e.sum_all((x - b) * b * 0.5),
    "logarithm": lambda e, x, w, b: e.sum_all(e.log(e.exp(x @ w) + 1.0) * 2.0),
    "transposed": lambda e, x, w, b: e.sum_all(e.exp(e.mm(e.t(w), e.t(x)) * 0.1)),
    "twice": lambda e, x, w, b: e.sum_all(x @ w) * e.sum_all(b * b),
}


def _values():
    rng = np.random.default_rng(3)
    return [rng.standard_normal(shape) for shape in ((4, 3), (3, 3), (3,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_second_derivatives_are_clarions(name):
    ours = [small.Tensor(v, True) for v in _values()]
    theirs = [torch.tensor(v, requires_grad=True) for v in _values()]
    y, expected = PROGRAMS[name](small, *ours), PROGRAMS[name](_Clarion, *theirs)
    assert np.allclose(y.array, expected.detach().numpy())
    first, wanted = small.backward_pass(y, create_graph=True), _gradients(expected, theirs)
    _compare(ours, {leaf: g.array for leaf, g in first.items()}, wanted)
    again = small.sum_all(sum(g * g for g in first.values() if g.shape == (4, 3)) + 0.0)
    again_wanted = (wanted[0] ** 2).sum() if wanted[0] is not None else None
    if again_wanted is not None and again_wanted.requires_grad:
        _compare(ours, small.backward_pass(again), _gradients(again_wanted, theirs))


def _gradients(root, leaves):
    return torch.autograd.grad(root, leaves, create_graph=True, allow_unused=True)


def _compare(leaves, found, wanted):
    """The same leaves have gradients, and the same ones."""
    for leaf, g in zip(leaves, wanted, strict=True):
        assert (leaf in found) == (g is not None)
        assert g is None or np.allclose(found[leaf], g.detach().numpy())


def test_backward_adds_to_grad_and_frees_what_it_used():
    x = small.Tensor([1.0, 2.0], True)
    y = small.sum_all(small.exp(x) * x)
    y.backward()
    assert np.allclose(x.grad, np.exp([1.0, 2.0]) * [2.0, 3.0])
    line = inspect.currentframe().f_lineno - 3
    with pytest.raises(RuntimeError, match="has been freed") as caught:
        y.backward()
    assert f"test_engine_in_small.py:{line}" in str(caught.value)


def test_only_what_a_rule_names_is_saved():
    x, w = small.Tensor(np.ones((2, 2)), True), small.Tensor(np.ones((2, 2)))
    assert set((x + w).node.saved) == set()
    assert set((x * w).node.saved) == {"y"}  # w wants no gradient, so x is not needed
    assert set(small.exp(x).node.saved) == {"out"}
    assert set(small.sum_all(x).node.saved) == {"x_shape"}


def test_nothing_is_recorded_under_no_grad_and_long_chains_do_not_recurse():
    x = small.Tensor(1.0, True)
    with small.no_grad():
        assert (x * 2.0).node is None
    y = x
    for _ in range(20_000):
        y = y + 1e-4
    y.backward()
    assert x.grad == 1.0


def test_it_runs_and_is_short(capsys):
    small.main()
    said = capsys.readouterr().out
    assert "w [ 1.  -2.   0.5] b [0.3]" in said
    assert "tanh''(0.5) = -0.726862" in said
    code = [line for line in FILE.read_text().splitlines() if line.strip()]
    assert len(code) < 180
