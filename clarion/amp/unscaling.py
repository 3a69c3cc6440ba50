"""Gradients divided by a scale, and the scale of the next step, as functions: what scalers that libraries write themselves call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import modes
from ..core.tensor import Tensor
from ..errors import EngineError, NotSupportedError


def _amp_foreach_non_finite_check_and_unscale_(grads: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply gradients in place; `found_inf` becomes 1 if one of them is infinite or NaN, and else stays as it is."""
    for name, number in ("inv_scale", inv_scale), ("found_inf", found_inf):
        if number.numel() != 1:
            raise EngineError(f"{name} must be a 1-element tensor.")
    factor: Any = inv_scale
    with modes.no_grad():
        for grad in grads:
            if not grad.dtype.is_floating_point:
                raise NotSupportedError(
                    f"\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for '{grad.dtype.old}'"
                )
            if not grad.isfinite().all():  # type: ignore[attr-defined]
                found_inf.fill_(1)
            grad.mul_(factor.reshape(()))


def _amp_update_scale_(
    scale: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """The scale in place: smaller after an infinite gradient, larger after `growth_interval` steps without one."""
    with modes.no_grad():
        if found_inf.item():
            scale.mul_(scale_backoff_factor)
            return _counted(growth_tracker, 0, scale)
        steps = growth_tracker.item() + 1
        if steps != growth_interval:
            return _counted(growth_tracker, steps, scale)
        if math.isfinite((scale * scale_growth_factor).item()):
            scale.mul_(scale_growth_factor)
        return _counted(growth_tracker, 0, scale)


def _counted(growth_tracker: Tensor, steps: Any, scale: Tensor) -> Tensor:
    growth_tracker.fill_(steps)
    return scale
