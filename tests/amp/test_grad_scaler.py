"""GradScaler: what it multiplies, divides, skips and remembers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import clarion as torch

from ..without_gpu import without_gpu


@pytest.fixture
def setup() -> tuple[Any, Any, Any]:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    return w, torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)


def test_steps_are_those_without_scaling(setup: Any) -> None:
    w, optimizer, scaler = setup
    scaler.scale((w * w).sum()).backward()
    assert w.grad.tolist() == [16.0, 32.0]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [2.0, 4.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.0, 0.0]
    assert (scaler.get_scale(), scaler.state_dict()["_growth_tracker"]) == (8.0, 1)


def test_infinite_gradients_skip_the_step_and_shrink_the_scale(setup: Any) -> None:
    w, optimizer, scaler = setup
    for factor, scale in ((float("inf"), 4.0), (float("nan"), 2.0), (1.0, 2.0), (1.0, 4.0)):
        optimizer.zero_grad()
        before = w.tolist()
        scaler.scale((w * factor).sum()).backward()
        assert scaler.step(optimizer) is None
        scaler.update()
        assert scaler.get_scale() == scale
        assert (w.tolist() == before) == (factor != 1.0)


def test_refusals(setup: Any) -> None:
    w, optimizer, scaler = setup
    with pytest.raises(AssertionError, match="Attempted step but _scale is None"):
        scaler.step(optimizer)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="being called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled"):
        pickle.dumps(scaler)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(optimizer, closure=lambda: None)
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    half.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(torch.optim.SGD([half], lr=1.0))


def test_state(setup: Any) -> None:
    _, _, scaler = setup
    scaler.scale(torch.ones(()))
    scaler.update(5.0)
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == copy.deepcopy(other).state_dict()
    assert [t.item() for t in other.scale([torch.ones(()), torch.ones(())])] == [5.0, 5.0]
    other.set_growth_factor(3.0), other.set_backoff_factor(0.25), other.set_growth_interval(7)
    assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (3.0, 0.25, 7)
    with pytest.raises(RuntimeError, match="state dict is empty"):
        other.load_state_dict({})


def test_disabled(setup: Any) -> None:
    w, optimizer, _ = setup
    off = torch.amp.GradScaler("cpu", enabled=False)
    off.scale(w.sum()).backward()
    off.unscale_(optimizer)
    off.step(optimizer)
    off.update()
    assert w.tolist() == [0.5, 1.5]
    assert (off.get_scale(), off.state_dict(), off.is_enabled()) == (1.0, {}, False)


@without_gpu
def test_without_a_gpu() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not torch.amp.GradScaler().is_enabled()


class _UnscalesItself(torch.optim.SGD):
    _step_supports_amp_scaling = True

    def step(self, closure: Any = None) -> None:
        if not self.found_inf:
            for p in self.param_groups[0]["params"]:
                p.grad /= self.grad_scale
            super().step(closure)


class _AsksTheScaler(torch.optim.SGD):
    _step_supports_amp_scaling = True

    def step(self, closure: Any = None, *, grad_scaler: Any = None) -> None:
        grad_scaler.unscale_(self)
        super().step(closure)


def test_optimizers_that_unscale_themselves() -> None:
    w = torch.ones(2, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    own, asking = _UnscalesItself([w], lr=0.5), _AsksTheScaler([w], lr=0.5)
    scaler.scale(w.sum()).backward()
    scaler.step(own)
    scaler.update()
    assert w.tolist() == [0.5, 0.5]
    assert not hasattr(own, "grad_scale")
    assert scaler.get_scale() == 4.0
    w.grad = None
    scaler.scale(w.sum()).backward()
    with pytest.warns(FutureWarning, match="stop passing itself"):
        scaler.step(asking)
    scaler.update()
    assert w.tolist() == [0.0, 0.0]
    w.grad = torch.full((2,), float("inf"))
    scaler.step(own)
    scaler.update()
    assert w.tolist() == [0.0, 0.0]
    assert scaler.get_scale() == 2.0


def test_unscaling_and_the_next_scale_as_functions() -> None:
    grads = [torch.tensor([4.0, 2.0]), torch.ones(2).half()]
    found, half = torch.zeros(1), torch.full((1,), 0.5)
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, half)
    assert [g.tolist() for g in grads] == [[2, 1], [0.5, 0.5]]
    assert found.item() == 0
    torch._amp_foreach_non_finite_check_and_unscale_([torch.tensor([1.0, float("nan")])], found, half)
    assert found.item() == 1
    with pytest.raises(NotImplementedError, match="'Long'"):
        torch._amp_foreach_non_finite_check_and_unscale_([torch.ones(2).long()], found, half)
    with pytest.raises(RuntimeError, match="inv_scale must be a 1-element tensor"):
        torch._amp_foreach_non_finite_check_and_unscale_(grads, found, torch.ones(2))

    scale, steps, seen = torch.full((1,), 4.0), torch.zeros(1, dtype=torch.int32), []
    for flag in (1.0, 0.0, 0.0, 0.0):
        torch._amp_update_scale_(scale, steps, torch.tensor([flag]), 2.0, 0.5, 2)
        seen.append((scale.item(), steps.item()))
    assert seen == [(2, 0), (2, 1), (4, 0), (4, 1)]
    scale.fill_(3e38)  # it does not grow beyond what is finite
    torch._amp_update_scale_(scale, steps, torch.zeros(1), 2.0, 0.5, 2)
    assert scale.isfinite().all()
    assert steps.item() == 0


def test_scalers_made_from_this_one_unscale_by_themselves() -> None:
    a, b = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    a.grad, b.grad = torch.tensor([2.0, 4.0]), torch.tensor([1.0, float("inf")])
    scaler = torch.amp.GradScaler("cpu")
    start, half = torch.zeros(1), torch.full((1,), 0.5)
    found = scaler._unscale_grads_(torch.optim.SGD([a], 1.0), half, start, False)
    assert {str(k): v.item() for k, v in found.items()} == {"cpu": 0}
    assert a.grad.tolist() == [1, 2]
    found = scaler._unscale_grads_(torch.optim.SGD([b], 1.0), half, start, False)
    assert [v.item() for v in found.values()] == [1]
    a.grad = None
    c = torch.zeros(2, dtype=torch.float16, requires_grad=True)
    c.grad = torch.ones(2).half()
    with pytest.raises(ValueError, match="FP16"):
        scaler._unscale_grads_(torch.optim.SGD([c], 1.0), half, start, False)
