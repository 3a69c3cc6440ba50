"""ASGD: stochastic gradient descent that also keeps the average of its path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .checks import check_lr, check_options
from .elementwise import Advance, Elementwise, count_type, step_count, zeros_like
from .optimizer import scalar
from .stateless import stateless


class ASGD(Elementwise):
    """The average, from step `t0` on, is in the state under `ax`."""

    rule = "asgd"
    counters = ("step", "eta", "mu")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("ax",)

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        state["step"] = step_count(0.0)
        state["eta"] = step_count(scalar(group["lr"]))
        state["mu"] = step_count(1.0)
        state["ax"] = zeros_like(param)

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        step, eta, mu = map(float, counters)
        step += 1
        lr, lambd = scalar(group["lr"]), group["lambd"]
        later = lr / (1 + lambd * lr * step) ** group["alpha"]
        how, share = ((), ()) if mu == 1 else (("averaging",), (mu,))
        real = count_type().type  # both are computed in the type of counters, whatever they are kept in
        return [step, real(later), real(1 / max(1, step - group["t0"]))], how, (1 - lambd * eta, eta, *share)


asgd = stateless(
    ASGD,
    "axs=ax mus=mu etas=eta state_steps=step",
    "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
    "lambd lr t0 alpha weight_decay",
)
