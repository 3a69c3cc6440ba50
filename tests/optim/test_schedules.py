"""Schedules: warnings, refusals, tensors as learning rates; averaged models."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import clarion as torch
from clarion.optim import lr_scheduler as schedules
from clarion.optim import swa_utils

from .runs import two_groups


def test_order_of_steps():
    optimizer = two_groups(torch)
    schedule = schedules.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
        quiet = schedules.StepLR(two_groups(torch), 1)
        quiet.optimizer.step()
        quiet.step()


def test_step_that_was_replaced():
    optimizer = two_groups(torch)
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden after learning rate scheduler initialization"):
        schedule.step()


def test_warnings_of_use():
    schedule = schedules.ExponentialLR(two_groups(torch), 0.5)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()
    schedule.optimizer.step()
    with pytest.warns(UserWarning, match=r"The epoch parameter in `scheduler.step\(\)` was not necessary"):
        schedule.step(3)
    assert schedule.get_last_lr() == [0.5**4, 0.2 * 0.5**3]


def test_own_schedule():
    class Third(schedules.LRScheduler):
        def get_lr(self):
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    optimizer = two_groups(torch)
    schedule = Third(optimizer)
    optimizer.step()
    schedule.step()
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.1]
    assert set(schedule.state_dict()) >= {"base_lrs", "last_epoch", "_step_count", "_last_lr"}
    with pytest.raises(NotImplementedError):
        schedules.LRScheduler(optimizer)


def test_resuming():
    optimizer = two_groups(torch)
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified in param_groups"):
        schedules.StepLR(optimizer, 1, last_epoch=3)
    first = schedules.StepLR(optimizer, 2, gamma=0.5)
    for _ in range(3):
        optimizer.step()
        first.step()
    second = schedules.StepLR(optimizer, 2, gamma=0.5, last_epoch=first.last_epoch)
    assert second.last_epoch == 4
    assert second.base_lrs == [0.5, 0.2]


def test_tensors_are_written_in_place():
    p = torch.nn.Parameter(torch.zeros(1))
    lr = torch.tensor(0.5)
    optimizer = torch.optim.SGD([p], lr=lr)
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is lr
    assert lr.item() == 0.25
    assert schedule.base_lrs[0].item() == 0.5


PLATEAU = "SequentialLR does not support `ReduceLROnPlateau` scheduler"
REFUSED = [
    (TypeError, "int is not an Optimizer", lambda o: schedules.StepLR(3, 1)),
    (ValueError, "Expected 2 lr_lambdas, but got 1", lambda o: schedules.LambdaLR(o, [abs])),
    (TypeError, "lr_lambda should be a function, but got int", lambda o: schedules.MultiplicativeLR(o, 3)),
    (ValueError, "Constant multiplicative factor expected", lambda o: schedules.ConstantLR(o, 2.0)),
    (ValueError, "Starting multiplicative factor expected", lambda o: schedules.LinearLR(o, 0.0)),
    (ValueError, "Ending multiplicative factor expected", lambda o: schedules.LinearLR(o, 0.5, 2.0)),
    (ValueError, "Expected positive integer T_0, but got 0", lambda o: schedules.CosineAnnealingWarmRestarts(o, 0)),
    (ValueError, "Expected integer T_mult >= 1", lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 0)),
    (ValueError, "max_lr must have the same length", lambda o: schedules.CyclicLR(o, 0.1, [0.2])),
    (ValueError, "mode is invalid and scale_fn is None", lambda o: schedules.CyclicLR(o, 0.1, 0.2, mode="x")),
    (ValueError, "You must define either total_steps OR", lambda o: schedules.OneCycleLR(o, 0.1)),
    (ValueError, "Expected positive integer total_steps", lambda o: schedules.OneCycleLR(o, 0.1, -1)),
    (ValueError, "Expected positive integer epochs", lambda o: schedules.OneCycleLR(o, 0.1, None, 0, 1)),
    (ValueError, "Expected float between 0 and 1 pct_start", lambda o: schedules.OneCycleLR(o, 0.1, 9, pct_start=2)),
    (ValueError, "anneal_strategy must be one of", lambda o: schedules.OneCycleLR(o, 0.1, 9, anneal_strategy="x")),
    (ValueError, "Factor should be < 1.0.", lambda o: schedules.ReduceLROnPlateau(o, factor=1.0)),
    (ValueError, "mode x is unknown!", lambda o: schedules.ReduceLROnPlateau(o, "x")),
    (ValueError, "threshold mode x is unknown!", lambda o: schedules.ReduceLROnPlateau(o, threshold_mode="x")),
    (ValueError, "expected 2 min_lrs, got 1", lambda o: schedules.ReduceLROnPlateau(o, min_lr=[0.1])),
    (ValueError, "expects at least one scheduler", lambda o: schedules.SequentialLR(o, [], [])),
    (ValueError, "expects at least one scheduler to be chained", lambda o: schedules.ChainedScheduler([])),
    (ValueError, PLATEAU, lambda o: schedules.SequentialLR(o, [schedules.ReduceLROnPlateau(o)], [])),
    (ValueError, "one more than the number of", lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 1)], [1])),
    (
        ValueError,
        "expects all schedulers to belong to the same optimizer",
        lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 1), schedules.StepLR(two_groups(torch), 1)]),
    ),
    (ValueError, "anneal_epochs must be equal or greater than 0", lambda o: swa_utils.SWALR(o, 0.1, -1)),
    (ValueError, "Invalid decay value 2", lambda o: swa_utils.get_ema_multi_avg_fn(2)),
]


@pytest.mark.parametrize(("error", "phrase", "make"), REFUSED)
def test_refused(error, phrase, make):
    with pytest.raises(error, match=phrase):
        make(two_groups(torch))


def test_cycles_need_a_momentum():
    optimizer = torch.optim.Rprop([torch.nn.Parameter(torch.zeros(1))])
    with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
        schedules.CyclicLR(optimizer, 0.1, 0.2)
    with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
        schedules.OneCycleLR(optimizer, 0.1, 10)


def test_one_cycle_ends():
    schedule = schedules.OneCycleLR(two_groups(torch), 0.1, total_steps=2)
    schedule.optimizer.step()
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match=r"Tried to step 3 times\. The specified number of total steps is 2"):
        schedule.step()


def test_averaged_model():
    model = torch.nn.Linear(2, 1, bias=False)
    averaged = swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model.weight.fill_(value)
        averaged.update_parameters(model)
    np.testing.assert_allclose(averaged.module.weight.detach().numpy(), [[3.0, 3.0]])
    assert averaged.n_averaged.item() == 3
    assert averaged(torch.ones(1, 2)).item() == pytest.approx(6.0)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa_utils.AveragedModel(model, avg_fn=max, multi_avg_fn=max)


def test_moving_average_of_whole_numbers():
    mean, new = torch.tensor([4, 8]), torch.tensor([8, 8])
    swa_utils.get_ema_multi_avg_fn(0.5)([mean], [new], 1)
    assert mean.tolist() == [6, 8]
    with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
        swa_utils.get_swa_multi_avg_fn()([mean], [new], 1)


class _BatchNorm(torch.nn.Module):
    """Stands for all kinds of batch normalisation."""

    def __init__(self):
        super().__init__()
        self.momentum = 0.1
        self.reset_running_stats()

    def reset_running_stats(self):
        self.seen = []

    def forward(self, x):
        self.seen.append((x.mean().item(), self.momentum, self.training))
        return x


class Norm(_BatchNorm):
    pass


def test_update_bn():
    model = torch.nn.Sequential(Norm())
    model(torch.ones(2))
    model.eval()
    swa_utils.update_bn([torch.zeros(2), (torch.ones(2), "label")], model)
    assert model[0].seen == [(0.0, None, True), (1.0, None, True)]
    assert model[0].momentum == 0.1
    assert not model.training
    swa_utils.update_bn(iter([1]), torch.nn.Linear(1, 1))  # nothing to compute
