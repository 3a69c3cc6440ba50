"""Adadelta: steps in the unit of the parameter, from averages of squared gradients and squared steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentValueError
from .checks import check_lr, check_options
from .elementwise import Advance, Elementwise
from .stateless import stateless


class Adadelta(Elementwise):
    """The gradient times the root of average squared steps over that of average squared gradients."""

    rule = "adadelta"

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ArgumentValueError(f"Invalid rho value: {rho}")
        check_options(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("square_avg", "acc_delta")

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        rho = group["rho"]
        return [counters[0] + 1], (), (rho, 1 - rho, group["eps"], read(group["lr"]))


adadelta = stateless(
    Adadelta,
    "square_avgs=square_avg acc_deltas=acc_delta state_steps=step",
    "capturable=False foreach=None differentiable=False has_complex=False",
    "lr rho eps weight_decay maximize",
)
