"""RAdam: Adam whose first steps are rectified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checks import check_betas, check_lr, check_options
from .elementwise import Advance, Elementwise, far
from .stateless import stateless


class RAdam(Elementwise):
    """Adam that scales by the average square only once enough of it has been seen."""

    rule = "radam"

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

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        count = float(counters[0]) + 1
        lr, (beta1, beta2) = read(group["lr"]), group["betas"]
        correction1, correction2 = 1 - beta1**count, 1 - beta2**count
        longest = 2 / (1 - beta2) - 1  # the length of the average of squares, at the end and now
        length = longest - 2 * count * beta2**count / correction2
        how, numbers = far(1 - beta1), (1 - beta1, beta2, 1 - beta2, -lr / correction1)
        if not length > 5.0:
            return [count], ("plain", *how), numbers
        rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
        return [count], how, (*numbers[:3], numbers[3] * correction2**0.5 * rectified, group["eps"])


radam = stateless(
    RAdam,
    "exp_avgs=exp_avg exp_avg_sqs=exp_avg_sq state_steps=step",
    "decoupled_weight_decay=False foreach=None differentiable=False capturable=False has_complex=False maximize=False",
    "beta1 beta2 lr weight_decay eps",
)
