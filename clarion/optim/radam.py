"""RAdam: Adam whose first steps are rectified."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_betas, check_lr, check_options
from .elementwise import Elementwise, decayed_square, lerp
from .optimizer import scalar


class RAdam(Elementwise):
    """Adam that scales by the average square only once enough of it has been seen."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        count = counters[0] + 1
        lr, (beta1, beta2) = scalar(group["lr"]), group["betas"]
        correction1, correction2 = 1 - beta1**count, 1 - beta2**count
        longest = 2 / (1 - beta2) - 1  # the length of the average of squares, at the end and now
        length = longest - 2 * count * beta2**count / correction2
        numbers = (1 - beta1, beta2, 1 - beta2, -lr / correction1)
        if not length > 5.0:
            return [count], numbers
        rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
        return [count], (*numbers[:3], numbers[3] * correction2**0.5 * rectified, group["eps"])

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        rest1, beta2, rest2, rate, *eps = numbers
        average, square = kept
        lerp(average, g, rest1, a)
        decayed_square(square, beta2, g, rest2, a)
        np.multiply(average, rate, b)
        if eps:
            np.sqrt(square, a)
            np.add(a, eps[0], a)
            np.divide(b, a, b)
        np.add(p, b, p)
