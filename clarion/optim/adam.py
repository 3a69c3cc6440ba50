"""Adam: steps scaled by running averages of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from .checks import check_betas, check_fused, check_lr, check_options
from .elementwise import Advance, Elementwise, far
from .stateless import stateless


class Adam(Elementwise):
    """Adam; with `decoupled_weight_decay` it is AdamW."""

    rule = "adam"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        together = bool(foreach and not capturable)
        if isinstance(lr, Tensor) and together:
            raise ArgumentValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check_options(eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        _check_tensor_betas(betas, together)
        defaults = {
            "lr": lr,
            "betas": tuple(beta.squeeze() if isinstance(beta, Tensor) else beta for beta in betas),  # type: ignore[attr-defined]
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        check_fused(defaults)
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ("exp_avg", "exp_avg_sq")
        return (*names, "max_exp_avg_sq") if group["amsgrad"] else names

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        count = counters[0] + 1
        beta1, beta2 = map(read, group["betas"])
        # p -= lr / (1 - beta1^t) * average / (sqrt(square) / root + eps), multiplied above and below by the root
        root = (1 - beta2**count) ** 0.5
        rate = -read(group["lr"]) / (1 - beta1**count) * root
        how = ("amsgrad", *far(1 - beta1)) if group["amsgrad"] else far(1 - beta1)
        return [count], how, (1 - beta1, beta2, 1 - beta2, group["eps"] * root, rate)


def _check_tensor_betas(betas: tuple[Any, Any], together: bool) -> None:
    tensors = [isinstance(beta, Tensor) for beta in betas]
    if not (all(tensors) or all(isinstance(beta, float) for beta in betas)):
        raise ArgumentValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas if all(tensors) else ()):
        if together:
            raise ArgumentValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if beta.numel() != 1:
            raise ArgumentValueError(f"Tensor betas[{i}] must be 1-element")


adam = stateless(
    Adam,
    "exp_avgs=exp_avg exp_avg_sqs=exp_avg_sq max_exp_avg_sqs=max_exp_avg_sq state_steps=step",
    "foreach=None capturable=False differentiable=False fused=None grad_scale=None found_inf=None has_complex=False decoupled_weight_decay=False",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)
