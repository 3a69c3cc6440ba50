"""Whole training steps: replayed, they leave behind what the same steps leave behind as they are written."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import clarion as torch
from clarion.compiling.function import of

F = torch.nn.functional


def _network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def _data(seed=1):
    torch.manual_seed(seed)
    return torch.randn(5, 6), torch.tensor([0, 2, 1, 1, 0])


def _step(model, optimizer, clip=False, accumulate=False):
    def step(x, y):
        if not accumulate:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        return loss

    return step


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.01, t0=3),
}


def _close(a, b):
    a, b = a.detach().numpy(), b.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6 * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("how", ["plain", "clip", "accumulate"])
def test_a_step_is_what_it_is_as_written(name, how):
    options = {} if how == "plain" else {how: True}
    written, compiled = _network(), _network()
    first, second = OPTIMIZERS[name](written.parameters()), OPTIMIZERS[name](compiled.parameters())
    slow, fast = _step(written, first, **options), torch.compile(_step(compiled, second, **options))
    x, y = _data()
    for _ in range(12):
        a, b = slow(x, y), fast(x, y)
        _close(a, b)
        assert b.requires_grad
        for p, q in zip(written.parameters(), compiled.parameters(), strict=True):
            _close(p, q)
            _close(p.grad, q.grad)
            assert p._version == q._version
            assert first.state[p].keys() == second.state[q].keys()
            for key in first.state[p]:
                _close(first.state[p][key], second.state[q][key])
    assert of(fast).replays >= 4
    assert not of(fast).reasons


@pytest.mark.parametrize("nesterov", [True, False])
def test_steps_of_matrices_that_are_made_orthogonal(nesterov):
    """Its momentum is written to by a kernel that gives it back."""
    written, compiled = _network(), _network()
    for each in (written, compiled):
        each[0].register_parameter("bias", None)
        each[2].register_parameter("bias", None)
    first, second = (torch.optim.Muon(each.parameters(), lr=0.1, nesterov=nesterov) for each in (written, compiled))
    slow, fast = _step(written, first), torch.compile(_step(compiled, second))
    for seed in range(9):
        _close(slow(*_data(seed)), fast(*_data(seed)))
        for p, q in zip(written.parameters(), compiled.parameters(), strict=True):
            _close(p, q)
            _close(first.state[p]["momentum_buffer"], second.state[q]["momentum_buffer"])
    assert of(fast).replays >= 4


def test_gradients_and_losses_of_earlier_steps_stay_what_they_were():
    model = _network()
    fast = torch.compile(_step(model, torch.optim.SGD(model.parameters(), lr=0.1)))
    x, y = _data()
    kept = []
    for _ in range(8):
        loss = fast(x, y)
        grad = model[0].weight.grad
        kept.append((loss, loss.item(), grad, grad.clone()))
    assert of(fast).replays >= 3
    assert len({id(grad) for _, _, grad, _ in kept}) == 8
    for loss, value, grad, copy in kept:
        assert loss.item() == value
        assert torch.equal(grad, copy)


@pytest.mark.parametrize("compiler", [True, False])
def test_nothing_is_held_longer_than_the_step_itself_holds_it(compiler, monkeypatch):
    if not compiler:
        monkeypatch.setattr("clarion.compiling.native.build.library", dict)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3))
    fast = torch.compile(_step(model, torch.optim.Adam(model.parameters(), lr=0.1), clip=True))
    gradients = torch.compile(lambda x: model(x).square().sum())
    x, y = _data()
    for _ in range(5):
        fast(x, y)
        gradients(x).backward()
    assert of(fast).replays
    assert of(gradients).replays
    collects = gc.isenabled()
    gc.disable()
    try:
        x, loss = x.clone(), fast(x, y)
        held = [weakref.ref(each) for each in (loss._array, model[0].weight.grad._array, x._array)]
        loss, _ = fast(x, y), gradients(x).backward()
        fast(x.clone(), y)
        del x, loss
        assert [each() for each in held] == [None, None, None]
    finally:
        if collects:
            gc.enable()


def test_a_learning_rate_that_changes_is_used():
    written, compiled = _network(), _network()
    first, second = torch.optim.Adam(written.parameters(), lr=0.1), torch.optim.Adam(compiled.parameters(), lr=0.1)
    schedules = [torch.optim.lr_scheduler.ExponentialLR(each, 0.7) for each in (first, second)]
    slow, fast = _step(written, first), torch.compile(_step(compiled, second))
    x, y = _data()
    for _ in range(10):
        _close(slow(x, y), fast(x, y))
        for schedule in schedules:
            schedule.step()
    for p, q in zip(written.parameters(), compiled.parameters(), strict=True):
        _close(p, q)
    assert of(fast).replays >= 4
    assert len(of(fast).versions) == 1


def test_other_shapes_get_a_version_of_their_own():
    model = _network()
    fast = torch.compile(_step(model, torch.optim.SGD(model.parameters(), lr=0.1)), check=True)
    x, y = _data()
    for i in range(16):
        fast(x[: 3 + i % 2], y[: 3 + i % 2])
    assert len(of(fast).versions) == 2
    assert of(fast).replays >= 6


def test_batch_norm_and_dropout_keep_their_state_and_their_random_numbers():
    def build():
        torch.manual_seed(3)
        model = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.4), torch.nn.Linear(8, 3)
        )
        return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    x, y = _data()
    ends = []
    for compiles in (False, True):
        model, optimizer = build()
        step = _step(model, optimizer)
        run = torch.compile(step) if compiles else step
        torch.manual_seed(11)
        losses = [run(x, y).item() for _ in range(9)]
        if compiles:
            assert of(run).replays >= 4
        ends.append((losses, [v.clone() for v in model.state_dict().values()], torch.rand(3)))
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=1e-5)
    for a, b in zip(ends[0][1], ends[1][1], strict=True):
        _close(a.double(), b.double())
    assert torch.equal(ends[0][2], ends[1][2])


def test_loaded_weights_and_state_are_used():
    model = _network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    fast = torch.compile(_step(model, optimizer), check=True)
    x, y = _data()
    for _ in range(5):
        fast(x, y)
    saved, state = (
        {k: v.clone() for k, v in model.state_dict().items()},
        __import__("copy").deepcopy(optimizer.state_dict()),
    )
    first = [fast(x, y).item() for _ in range(3)]
    model.load_state_dict(saved)
    optimizer.load_state_dict(state)
    assert [fast(x, y).item() for _ in range(3)] == pytest.approx(first, rel=1e-5)
    with torch.no_grad():
        model[0].weight.zero_()
    for _ in range(4):
        fast(x, y)


def test_after_a_subclass_was_defined():
    """From then on operators and properties of plain tensors have other code; in a process of its own, since that stays."""
    program = """
import clarion as torch
class Mine(torch.Tensor): pass
f = torch.compile(lambda x, w: ((x * w).relu() + x.shape[0]).sum())
x, w = torch.ones(2, 3), torch.full((2, 3), 2.0)
assert [f(x, w).item() for _ in range(5)] == [24.0] * 5
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=100)


REDUCTIONS = {
    "sum": lambda x: x.sum(),
    "mean of squares": lambda x: (x * x).mean(),
    "greatest": lambda x: x.max() * x,
    "smallest": lambda x: x.amin((0, 1), keepdim=True) + x,
    "variance": lambda x: (x - x.mean()).pow(2).sum() / x.var(),
    "norm": lambda x: x / x.norm(),
    "softmax": lambda x: torch.softmax(x.reshape(-1), 0) * x.numel(),
    "rows": lambda x: x.sum(1, keepdim=True) * x,
    "columns": lambda x: x.sum(0) * x,
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    "shape", [(10, 10), (64, 65), (120, 120), (1, 5000), (5000, 1), (2, 8191), (71, 73), (1, 10007), (300, 301)]
)
def test_reductions_of_any_length(name, shape):
    """One long row is cut into pieces for threads to share: of what is reduced, the pieces have to be joined."""
    reduced = REDUCTIONS[name]

    def step(x):
        y = reduced(x)
        return y.detach(), torch.autograd.grad(y.sum(), x)[0]

    fast = torch.compile(step)
    for _ in range(5):
        x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        torch.testing.assert_close(fast(x), step(x))
