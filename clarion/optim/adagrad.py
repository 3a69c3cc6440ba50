"""Adagrad: steps scaled by the sum of all squared gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .checks import check_fused, check_lr, check_options
from .elementwise import Advance, Elementwise, filled_like, step_count
from .stateless import stateless


class Adagrad(Elementwise):
    """What has moved much moves less."""

    rule = "adagrad"
    takes_sparse = True

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
        """Let other processes see the sums."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        state["step"] = step_count(0.0)
        state["sum"] = filled_like(param, self.defaults["initial_accumulator_value"])

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        count = float(counters[0]) + 1
        return [count], (), (group["eps"], -read(group["lr"]) / (1 + (count - 1) * group["lr_decay"]))


adagrad = stateless(
    Adagrad,
    "state_sums=sum state_steps=step",
    "fused=None grad_scale=None found_inf=None has_sparse_grad=False foreach=None differentiable=False has_complex=False",
    "lr weight_decay lr_decay eps maximize",
)
