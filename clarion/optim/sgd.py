"""Stochastic gradient descent, with momentum and Nesterov's variant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from .checks import check_fused
from .elementwise import Elementwise, zeros_like
from .optimizer import number, scalar, writable


class SGD(Elementwise):
    """param -= lr * gradient; with momentum, of a running sum of gradients."""

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
        if group["momentum"] or group["weight_decay"]:
            super()._update(group, written)
            return
        # Two calls for each parameter: neither gathering them nor walking in pieces would be faster.
        lr = scalar(group["lr"])
        rate = -lr if group["maximize"] else lr
        multiply, subtract = np.multiply, np.subtract
        for param in group["params"]:
            grad = param._grad
            if grad is not None:
                array = writable(param)
                subtract(array, multiply(grad._array, number(rate, array.dtype)), array)
                written.append(param)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _is_fresh(self, state: dict[str, Any], names: tuple[str, ...]) -> bool:
        return any(state.get(name) is None for name in names)  # without momentum there is none

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        for name in self._kept(group):
            state[name] = zeros_like(param)

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        lr, momentum = scalar(group["lr"]), group["momentum"]
        share = 1 if fresh else 1 - group["dampening"]  # the first gradient becomes the sum as it is
        return [], (lr, momentum, share, *((momentum,) if group["nesterov"] else ()))

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        lr, momentum, share, *nesterov = numbers
        if kept:
            buffer = kept[0]
            np.multiply(buffer, momentum, buffer)
            np.add(buffer, g if share.item() == 1 else np.multiply(g, share, a), buffer)
            g = np.add(g, np.multiply(buffer, momentum, a), a) if nesterov else buffer
        np.subtract(p, np.multiply(g, lr, b), p)
