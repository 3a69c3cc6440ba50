"""Adam: steps scaled by running averages of the gradient and of its square."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import default_float, f64
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError
from .optimizer import Optimizer, number, scalar, writable


class Adam(Optimizer):
    """Adam; with `decoupled_weight_decay` it is AdamW."""

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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ArgumentValueError("Tensor lr must be 1-element")
        _check(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": tuple(scalar(beta) for beta in betas),
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
        super().__init__(params, defaults)
        self._refuse_unsupported()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("amsgrad", "maximize", "capturable", "differentiable", "decoupled_weight_decay"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)
            group.setdefault("fused", None)
            for param in group["params"]:
                kept = self.state.get(param)
                if kept and not isinstance(kept["step"], Tensor):
                    kept["step"] = _step_count(float(kept["step"]))

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        lr, eps, decay = scalar(group["lr"]), group["eps"], scalar(group["weight_decay"])
        beta1, beta2 = group["betas"]
        decoupled = group["decoupled_weight_decay"]
        for param in group["params"]:
            if param._grad is None:
                continue
            array, grad = writable(param), param._grad._array
            kind = array.dtype
            state = self.state[param]
            if not state:
                _begin(state, array, group["amsgrad"])
            state["step"]._array += 1
            count = float(state["step"]._array)
            if group["maximize"]:
                grad = -grad
            if decay:
                if decoupled:
                    np.multiply(array, number(1 - lr * decay, kind), out=array)
                else:
                    grad = grad + array * number(decay, kind)
            average, square = state["exp_avg"]._array, state["exp_avg_sq"]._array
            scratch = _average(average, grad, beta1, kind)
            _average_square(square, grad, beta2, kind, scratch)
            if group["amsgrad"]:
                largest = state["max_exp_avg_sq"]._array
                np.maximum(largest, square, out=largest)
                square = largest
            # param -= lr / (1 - beta1^t) * average / (sqrt(square) / sqrt(1 - beta2^t) + eps)
            np.sqrt(square.real if kind.kind == "c" else square, out=scratch)
            np.divide(scratch, np.asarray((1 - beta2**count) ** 0.5, kind), out=scratch)
            np.add(scratch, number(eps, kind), out=scratch)
            np.divide(average, scratch, out=scratch)
            np.multiply(scratch, np.asarray(lr / (1 - beta1**count), kind), out=scratch)
            np.subtract(array, scratch, out=array)
            written.append(param)


def _average(average: Any, grad: Any, beta: float, kind: Any) -> Any:
    """average += (grad - average) * (1 - beta); gives the array it used for it."""
    scratch = np.subtract(grad, average)
    scratch = np.multiply(scratch, number(1 - beta, kind), out=scratch if scratch.ndim else None)
    np.add(average, scratch, out=average)
    return np.asarray(scratch)


def _average_square(square: Any, grad: Any, beta: float, kind: Any, scratch: Any) -> None:
    """square = beta * square + (1 - beta) * grad * conj(grad)."""
    np.multiply(square, number(beta, kind), out=square)
    np.multiply(grad, grad.conj() if kind.kind == "c" else grad, out=scratch)
    np.multiply(scratch, number(1 - beta, kind), out=scratch)
    np.add(square, scratch, out=square)


def _begin(state: dict[str, Any], array: Any, amsgrad: bool) -> None:
    state["step"] = _step_count(0.0)
    state["exp_avg"] = new_tensor(np.zeros_like(array))
    state["exp_avg_sq"] = new_tensor(np.zeros_like(array))
    if amsgrad:
        state["max_exp_avg_sq"] = new_tensor(np.zeros_like(array))


def _step_count(value: float) -> Tensor:
    """The number of steps, in float32 as PyTorch keeps it (float64 where that is the default)."""
    return new_tensor(np.asarray(value, f64 if default_float() is f64 else np.float32))


def _check(lr: Any, betas: tuple[Any, Any], eps: float, weight_decay: Any) -> None:
    if not scalar(lr) >= 0.0:
        raise ArgumentValueError(f"Invalid learning rate: {lr}")
    if not eps >= 0.0:
        raise ArgumentValueError(f"Invalid epsilon value: {eps}")
    for i, beta in enumerate(betas):
        if not 0.0 <= scalar(beta) < 1.0:
            raise ArgumentValueError(f"Invalid beta parameter at index {i}: {beta}")
    if not scalar(weight_decay) >= 0.0:
        raise ArgumentValueError(f"Invalid weight_decay value: {weight_decay}")
