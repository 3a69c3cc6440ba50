"""Optimizers by themselves."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import clarion as torch


def one(value=1.0):
    return torch.nn.Parameter(torch.tensor([value]))


def test_sgd_by_hand():
    p = one()
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    value, velocity = 1.0, None
    for _ in range(3):
        grad = 2 * value
        velocity = grad if velocity is None else 0.5 * velocity + grad
        value -= 0.1 * velocity
    assert p.item() == pytest.approx(value)


def test_adam_first_step_is_the_learning_rate():
    p = one()
    optimizer = torch.optim.Adam([p], lr=0.1)
    (p * 5).sum().backward()
    optimizer.step()
    assert p.item() == pytest.approx(0.9)
    assert optimizer.state[p]["step"].item() == 1


def test_parameters_without_gradient_are_left_alone():
    p, q = one(), one()
    (p * 2).sum().backward()
    for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        make([p, q], lr=0.1).step()
    assert q.item() == 1.0
    assert q._version == 0


def test_learning_rate_may_change_between_steps():
    p = one()
    optimizer = torch.optim.SGD([p], lr=1.0)
    p.sum().backward()
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert p.item() == 0.75


def test_pickle_and_deepcopy():
    p = one()
    optimizer = torch.optim.AdamW([p], lr=0.1, amsgrad=True)
    p.sum().backward()
    optimizer.step()
    for again in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        (q,) = again.param_groups[0]["params"]
        assert again.state[q]["exp_avg"].item() == optimizer.state[p]["exp_avg"].item()
        assert repr(again) == repr(optimizer)


def test_closure_may_use_gradients_under_no_grad():
    p = one()
    optimizer = torch.optim.SGD([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.item() == pytest.approx(0.8)


def test_zero_dimensional_and_empty_parameters():
    for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        p, q = torch.nn.Parameter(torch.tensor(2.0)), torch.nn.Parameter(torch.zeros(0))
        optimizer = make([p, q], lr=0.5)
        (p * 3 + q.sum()).backward()
        optimizer.step()
        assert p.ndim == 0
        assert p.item() < 2.0


def test_step_in_place_keeps_memory():
    p = torch.nn.Parameter(torch.ones(3))
    array, view = p._array, p.detach()
    p.sum().backward()
    torch.optim.SGD([p], lr=0.5).step()
    assert p._array is array
    assert np.array_equal(view.numpy(), [0.5, 0.5, 0.5])


def test_clipping_leaves_small_gradients():
    p = one()
    (p * 0.5).sum().backward()
    before = p.grad
    assert torch.nn.utils.clip_grad_norm_([p], 1.0).item() == 0.5
    assert p.grad is before
    assert p.grad.item() == 0.5
    assert torch.nn.utils.clip_grad_norm_(p, 0.25).item() == 0.5
    assert p.grad.item() == pytest.approx(0.25, rel=1e-5)


def test_clipping_huge_gradients():
    p = one()
    p.grad = torch.tensor([1e30])
    assert torch.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True).item() == pytest.approx(1e30)
    assert p.grad.item() == pytest.approx(1.0)
