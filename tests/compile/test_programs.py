"""Programs drawn at random, compiled: each replay stands beside the program itself (`check=True`), forward and backward."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="the programs are drawn by hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st

import clarion as torch
from clarion.compiling.function import CompileWarning, of

F = torch.nn.functional

# Functions of one and of two matrices (3, 4), whose results are such matrices again.
ONE = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "softmax": lambda a: torch.softmax(a, -1),
    "columns": lambda a: torch.softmax(a, 0),
    "norm": lambda a: F.layer_norm(a, (4,)),
    "exp": lambda a: (a * 0.1).exp(),
    "turn": lambda a: a.t().reshape(3, 4),
    "flip": lambda a: a.flip(0),
    "shift": lambda a: torch.cat([a[1:], a[:1]]),
    "scale": lambda a: a * 0.5 + 1,
    "center": lambda a: a - a.mean(0, keepdim=True),
    "total": lambda a: a / (1 + a.abs().sum()),
    "largest": lambda a: a - a.amax(1, keepdim=True),
    "where": lambda a: torch.where(a > 0, a, -0.2 * a),
    "clamp": lambda a: a.clamp(-0.5, 0.7),
    "power": lambda a: a**2,
    "cumsum": lambda a: a.cumsum(1),
    "gram": lambda a: a @ (a.t() @ a),
    "write": lambda a: (a * 1).mul_(0.5).add_(1),
    "part": lambda a: _written(a * 1),
    "double": lambda a: a.double().sin().float(),
    "gather": lambda a: a.gather(1, torch.tensor([[0, 1, 1, 3]] * 3)),
    "chunk": lambda a: torch.stack(a.chunk(2, 1)).transpose(0, 1).reshape(3, 4),
}
TWO = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b.abs() + 1),
    "row": lambda a, b: a * b[0],
    "column": lambda a, b: a + b[:, :1],
    "max": torch.maximum,
    "mm": lambda a, b: a @ b.t() @ a,
    "lerp": lambda a, b: torch.lerp(a, b, 0.3),
    "outer": lambda a, b: a - torch.outer(a.sum(1), b.sum(0)),
}


def _written(a):
    a[0] = a[1] * 2
    a[:, 1].add_(1)
    return a


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(sorted(ONE)), st.integers(0, 99)),
        st.tuples(st.sampled_from(sorted(TWO)), st.integers(0, 99), st.integers(0, 99)),
    ),
    min_size=1,
    max_size=8,
)


def _program(lines):
    def program(x, y):
        values = [x, y]
        for name, *places in lines:
            chosen = [values[place % len(values)] for place in places]
            values.append((ONE if len(chosen) == 1 else TWO)[name](*chosen))
        return values[-1], values[-2] * 2, (values[-1] * values[-2]).sum()

    return program


@settings(max_examples=15, deadline=None)
@given(steps, st.booleans())
def test_what_is_replayed_is_what_is_written(lines, needs):
    fast = torch.compile(_program(lines), check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for i in range(5):
            torch.manual_seed(i)
            x, y = torch.randn(3, 4, requires_grad=needs), torch.randn(3, 4)
            fast(x, y)
    assert of(fast).replays or of(fast).reasons


@settings(max_examples=15, deadline=None)
@given(steps)
def test_gradients_of_replays_are_those_of_the_program(lines):
    program = _program(lines)
    fast = torch.compile(program)
    for i in range(6):
        torch.manual_seed(i)
        a, b = torch.randn(3, 4), torch.randn(3, 4)
        found = []
        for run in (program, fast):
            x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
            one, two, three = run(x, y)
            (one.sum() * 0.5 + two.mean() + three * 0.1).backward()
            found.append([0.0 if t.grad is None else t.grad.numpy() for t in (x, y)])
        for g, h in zip(*found, strict=True):
            np.testing.assert_allclose(g, h, rtol=1e-3, atol=1e-4 * max(1.0, np.abs(g).max()))
    assert of(fast).replays or of(fast).reasons
