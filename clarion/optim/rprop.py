"""Rprop: a step size for each element, which only the sign of the gradient changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from .checks import check_lr
from .elementwise import Advance, Elementwise, filled_like, step_count, zeros_like
from .optimizer import scalar
from .stateless import stateless


class Rprop(Elementwise):
    """Steps grow while the gradient keeps its sign, and shrink where it turned."""

    rule = "rprop"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ArgumentValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("prev", "step_size")

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        state["step"] = step_count(0.0)
        state["prev"] = zeros_like(param)
        state["step_size"] = filled_like(param, scalar(group["lr"]))

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        return [counters[0] + 1], (), (*group["etas"], *group["step_sizes"])


rprop = stateless(
    Rprop,
    "prevs=prev step_sizes=step_size state_steps=step",
    "foreach=None capturable=False maximize=False differentiable=False has_complex=False",
    "step_size_min step_size_max etaminus etaplus",
)
