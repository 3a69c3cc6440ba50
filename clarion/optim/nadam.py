"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .checks import check_betas, check_lr, check_options
from .elementwise import Advance, Elementwise, far, step_count, zeros_like
from .stateless import stateless


class NAdam(Elementwise):
    """Adam that looks ahead along its momentum, which grows over time by `momentum_decay`."""

    rule = "nadam"
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

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        count, product = float(counters[0]) + 1, counters[1]
        lr, (beta1, beta2), decay = read(group["lr"]), group["betas"], group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (count * decay))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * decay))
        product = product * mu  # in the type in which it is kept, as a NumPy number or a Tensor
        # p += now * g / (sqrt(square / correction) + eps) + ahead * average / (the same), times the root above and below
        root = (1 - beta2**count) ** 0.5
        kept = product if isinstance(product, Tensor) else float(product)
        now, ahead = -lr * (1.0 - mu) / (1.0 - kept), -lr * following / (1.0 - kept * following)
        if isinstance(product, Tensor):  # rounded as PyTorch rounds up to here, and no further
            now, ahead = now.double(), ahead.double()
        numbers = (1 - beta1, beta2, 1 - beta2, group["eps"] * root, now * root, ahead * root)
        return [count, product], far(1 - beta1), numbers


nadam = stateless(
    NAdam,
    "exp_avgs=exp_avg exp_avg_sqs=exp_avg_sq mu_products=mu_product state_steps=step",
    "decoupled_weight_decay=False foreach=None capturable=False differentiable=False has_complex=False maximize=False",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)
