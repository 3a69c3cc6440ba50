"""RMSprop: the gradient over the root of its average square."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_lr, check_options
from .elementwise import Elementwise, decayed_square, lerp
from .optimizer import scalar


class RMSprop(Elementwise):
    """With `centered`, the square is taken about the average gradient: the variance."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("momentum", 0)
            group.setdefault("centered", False)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        return ("square_avg", *momentum, *(("grad_avg",) if group["centered"] else ()))

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        alpha = group["alpha"]
        momentum = (group["momentum"],) if group["momentum"] > 0 else ()
        return [counters[0] + 1], (alpha, 1 - alpha, group["eps"], scalar(group["lr"]), *momentum)

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        alpha, rest, eps, lr, *momentum = numbers
        square = kept[0]
        decayed_square(square, alpha, g, rest, a)
        if len(kept) > 1 + len(momentum):
            average = kept[-1]
            lerp(average, g, rest, a)
            np.multiply(average, average, a)
            square = np.subtract(square, a, a)
        np.sqrt(square, a)
        np.add(a, eps, a)
        if momentum:
            buffer = kept[1]
            np.multiply(buffer, momentum[0], buffer)
            np.divide(g, a, a)
            np.add(buffer, a, buffer)
            np.multiply(buffer, lr, b)
        else:
            np.multiply(g, lr, b)
            np.divide(b, a, b)
        np.subtract(p, b, p)
