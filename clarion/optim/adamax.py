"""Adamax: Adam with the largest gradient in place of the average square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checks import check_betas, check_lr, check_options
from .elementwise import Advance, Elementwise, far
from .stateless import stateless


class Adamax(Elementwise):
    """Steps scaled by a decaying maximum of the gradient's magnitude."""

    rule = "adamax"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_inf")

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        count = float(counters[0]) + 1
        beta1, beta2 = group["betas"]
        numbers = (1 - beta1, beta2, group["eps"], -read(group["lr"]) / (1 - beta1**count))
        return [count], far(1 - beta1), numbers


adamax = stateless(
    Adamax,
    "exp_avgs=exp_avg exp_infs=exp_inf state_steps=step",
    "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
    "eps beta1 beta2 lr weight_decay",
)
