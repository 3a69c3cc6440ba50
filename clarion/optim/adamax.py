"""Adamax: Adam with the largest gradient in place of the average square."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_betas, check_lr, check_options
from .elementwise import Elementwise, lerp
from .optimizer import scalar


class Adamax(Elementwise):
    """Steps scaled by a decaying maximum of the gradient's magnitude."""

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

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        count = counters[0] + 1
        beta1, beta2 = group["betas"]
        return [count], (1 - beta1, beta2, group["eps"], -scalar(group["lr"]) / (1 - beta1**count))

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        rest1, beta2, eps, rate = numbers
        average, largest = kept
        lerp(average, g, rest1, a)
        np.multiply(largest, beta2, largest)
        np.abs(g, a)
        np.add(a, eps, a)
        np.maximum(largest, a, out=largest)
        np.multiply(average, rate, b)
        np.divide(b, largest, b)
        np.add(p, b, p)
