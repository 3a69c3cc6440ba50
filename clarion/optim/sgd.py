"""Stochastic gradient descent, with momentum and Nesterov's variant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..core.versions import INFERENCE
from ..errors import ArgumentValueError
from ..kernels import captures
from ..kernels.coo import Coo
from ..kernels.registry import raw
from ..kernels.unless import unless
from .checks import check_fused, check_fused_params
from .elementwise import Advance, Elementwise, zeros_like
from .optimizer import scalar, writable
from .stateless import stateless


class SGD(Elementwise):
    """param -= lr * gradient; with momentum, of a running sum of gradients."""

    rule = "sgd"
    takes_sparse = True
    counters = ()

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ArgumentValueError("Tensor lr must be 1-element")
        if scalar(lr) < 0.0:
            raise ArgumentValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ArgumentValueError(f"Invalid momentum value: {momentum}")
        if scalar(weight_decay) < 0.0:
            raise ArgumentValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        check_fused(defaults)
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        if group["momentum"] or group["weight_decay"] or captures.current() is not None or unless.flag is not None:
            super()._update(group, written)
            return
        params = [param for param in group["params"] if param._grad is not None]
        if group.get("fused"):
            check_fused_params(self, group, params)
        lr = -scalar(group["lr"]) if group["maximize"] else scalar(group["lr"])
        if Coo.met:
            params = [param for param in params if not self._descended_rows(param, lr, written)]
            if any(type(param._grad._array) is Coo for param in params):
                super()._update({**group, "params": params}, written)
                return
        arrays = [param._array if param._vc is not INFERENCE else writable(param) for param in params]
        raw.descend_(arrays, [param._grad._array for param in params], lr)
        written += params

    def _descended_rows(self, param: Any, lr: float, written: list[Any]) -> bool:
        """Was the gradient one of a table of which few rows were used? Then those have been updated."""
        grad = param._grad._array
        if type(grad) is not Coo or len(grad.indices) != 1:
            return False
        raw.descend_rows_(writable(param), grad.indices[0], grad.values, lr)
        written.append(param)
        return True

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _is_fresh(self, state: dict[str, Any], names: tuple[str, ...]) -> bool:
        return any(state.get(name) is None for name in names)  # without momentum there is none

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        for name in self._kept(group):
            state[name] = zeros_like(param)

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        lr, momentum = read(group["lr"]), group["momentum"]
        if not momentum:
            return [], (), (lr,)
        how = ("momentum", "nesterov") if group["nesterov"] else ("momentum",)
        if fresh:
            return [], ("first", *how), (lr, momentum)
        if not group["dampening"]:
            return [], how, (lr, momentum)
        return [], ("damped", *how), (lr, momentum, 1 - group["dampening"])


sgd = stateless(
    SGD,
    "momentum_buffer_list=momentum_buffer",
    "has_sparse_grad=False foreach=None fused=None grad_scale=None found_inf=None",
    "weight_decay momentum lr dampening nesterov maximize",
)
