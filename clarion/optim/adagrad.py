"""Adagrad: steps scaled by the sum of all squared gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, new_tensor
from .checks import check_fused, check_lr, check_options
from .elementwise import Elementwise, step_count
from .optimizer import scalar


class Adagrad(Elementwise):
    """What has moved much moves less."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_options(lr_decay=lr_decay, weight_decay=weight_decay)
        check_options(initial_accumulator_value=initial_accumulator_value, eps=eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        check_fused(defaults)
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                self._begin(group, param, self.state[param])

    def share_memory(self) -> None:
        """Memory is shared between threads as it is."""

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        array = param._array
        value = self.defaults["initial_accumulator_value"]
        state["step"] = step_count(0.0)
        state["sum"] = new_tensor(np.full_like(array, complex(value, value) if array.dtype.kind == "c" else value))

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        count = counters[0] + 1
        return [count], (group["eps"], -scalar(group["lr"]) / (1 + (count - 1) * group["lr_decay"]))

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        eps, rate = numbers
        (total,) = kept
        np.multiply(g, g, a)
        np.add(total, a, total)
        np.sqrt(total, a)
        np.add(a, eps, a)
        np.multiply(g, rate, b)
        np.divide(b, a, b)
        np.add(p, b, p)
