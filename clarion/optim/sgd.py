"""Stochastic gradient descent, with momentum and Nesterov's variant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError
from .optimizer import Optimizer, number, scalar, writable


class SGD(Optimizer):
    """param -= lr * gradient; with momentum, of a running sum of gradients."""

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
        super().__init__(params, defaults)
        self._refuse_unsupported()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("nesterov", False), ("maximize", False), ("foreach", None)):
                group.setdefault(name, default)
            group.setdefault("differentiable", False)
            group.setdefault("fused", False)

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        lr = scalar(group["lr"])
        rate = -lr if group["maximize"] else lr
        plain = not group["momentum"] and not group["weight_decay"]
        multiply, subtract = np.multiply, np.subtract
        for param in group["params"]:
            grad = param._grad
            if grad is None:
                continue
            array = writable(param)
            step = grad._array
            if not plain:
                step = self._direction(group, param, array, step)
                subtract(array, multiply(step, number(lr, array.dtype)), array)
            else:
                subtract(array, multiply(step, number(rate, array.dtype)), array)
            written.append(param)

    def _direction(self, group: dict[str, Any], param: Any, array: Any, grad: Any) -> Any:
        """The gradient with weight decay and momentum."""
        kind = array.dtype
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + array * number(scalar(group["weight_decay"]), kind)
        momentum = group["momentum"]
        if not momentum:
            return grad
        state = self.state[param]
        kept = state.get("momentum_buffer")
        if kept is None:
            buffer = grad.copy()
            state["momentum_buffer"] = new_tensor(buffer)
        else:
            buffer = kept._array
            np.multiply(buffer, number(momentum, kind), out=buffer)
            dampening = group["dampening"]
            np.add(buffer, grad if not dampening else grad * number(1 - dampening, kind), out=buffer)
        return grad + buffer * number(momentum, kind) if group["nesterov"] else buffer
