"""OneCycleLR: once up and once down, for the whole training."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, one_per_group
from .cyclic import begin_momentum, cycles_beta, set_momentum


class OneCycleLR(LRScheduler):
    """From `max_lr / div_factor` up to `max_lr` and down to almost nothing, in `total_steps` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ArgumentValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        highest = one_per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for lr, group in zip(highest, optimizer.param_groups, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = cycles_beta(optimizer)
            top = one_per_group("max_momentum", optimizer, max_momentum)
            bottom = one_per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                begin_momentum(optimizer, self.use_beta1, top, bottom)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    def _anneal(self, start: Any, end: Any, share: float) -> Any:
        kind = getattr(self, "_anneal_func_type", None)
        if kind is None:  # a state dict of older versions of PyTorch holds the function itself
            return self.anneal_func(start, end, share)  # type: ignore[attr-defined]
        return self._annealing_cos(start, end, share) if kind == "cos" else self._annealing_linear(start, end, share)

    def get_lr(self) -> list[Any]:
        """The rates for this step; sets the momentum, too."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        begin, phase = 0.0, self._schedule_phases[0]
        for following in self._schedule_phases[1:]:
            if step <= phase["end_step"]:
                break
            begin, phase = phase["end_step"], following
        share = (step - begin) / (phase["end_step"] - begin)
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momentum = self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                set_momentum(group, self.use_beta1, momentum)
        return lrs


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        _check_positive("total_steps", total_steps)
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ArgumentValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    _check_positive("epochs", epochs)
    _check_positive("steps_per_epoch", steps_per_epoch)
    return epochs * steps_per_epoch


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or value <= 0:
        raise ArgumentValueError(f"Expected positive integer {name}, but got {value}")


def _phase(end: float, start_lr: str, end_lr: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
    return {
        "end_step": end,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }


def _phases(total: int, share: float, three: bool) -> list[dict[str, Any]]:
    up = _phase(float(share * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three:
        return [up, _phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    down = _phase(float(2 * share * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    return [up, down, _phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
