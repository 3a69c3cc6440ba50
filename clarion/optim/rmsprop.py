"""RMSprop: the gradient over the root of its average square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checks import check_lr, check_options
from .elementwise import Advance, Elementwise, far
from .stateless import stateless


class RMSprop(Elementwise):
    """With `centered`, the square is taken about the average gradient: the variance."""

    rule = "rmsprop"

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

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        alpha = group["alpha"]
        how, momentum = (("momentum",), (group["momentum"],)) if group["momentum"] > 0 else ((), ())
        if group["centered"]:
            how += ("centered", *far(1 - alpha))
        return [counters[0] + 1], how, (alpha, 1 - alpha, group["eps"], read(group["lr"]), *momentum)


rmsprop = stateless(
    RMSprop,
    "square_avgs=square_avg grad_avgs=grad_avg momentum_buffer_list=momentum_buffer state_steps=step",
    "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
    "lr alpha eps weight_decay momentum centered",
)
