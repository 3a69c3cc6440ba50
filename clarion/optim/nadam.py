"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .checks import check_betas, check_lr, check_options
from .elementwise import Elementwise, decayed_square, lerp, step_count, zeros_like
from .optimizer import scalar


class NAdam(Elementwise):
    """Adam that looks ahead along its momentum, which grows over time by `momentum_decay`."""

    counters = ("step", "mu_product")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_options(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        state["step"] = step_count(0.0)
        state["mu_product"] = step_count(1.0)
        state["exp_avg"] = zeros_like(param)
        state["exp_avg_sq"] = zeros_like(param)

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        count, product = counters[0] + 1, counters[1]
        lr, (beta1, beta2), decay = scalar(group["lr"]), group["betas"], group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (count * decay))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * decay))
        product = product * mu  # in the type in which it is kept, as a NumPy number
        # p += now * g / (sqrt(square / correction) + eps) + ahead * average / (the same), times the root above and below
        root = (1 - beta2**count) ** 0.5
        kept = float(product)
        now, ahead = -lr * (1.0 - mu) / (1.0 - kept), -lr * following / (1.0 - kept * following)
        return [count, product], (1 - beta1, beta2, 1 - beta2, group["eps"] * root, now * root, ahead * root)

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        rest1, beta2, rest2, eps, now, ahead = numbers
        average, square = kept
        lerp(average, g, rest1, a)
        decayed_square(square, beta2, g, rest2, a)
        np.multiply(g, now, b)
        np.multiply(average, ahead, a)
        np.add(b, a, b)
        np.sqrt(square, a)
        np.add(a, eps, a)
        np.divide(b, a, b)
        np.add(p, b, p)
