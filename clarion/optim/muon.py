"""Muon: momentum whose matrices are made nearly orthogonal."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import bf16
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.flat import filled_like
from ..kernels.registry import raw
from .checks import check_lr
from .elementwise import SMALL, zeros_like
from .optimizer import Optimizer, writable


class Muon(Optimizer):
    """For the matrices of hidden layers; vectors and embeddings belong to another optimizer."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is: ")
        if not momentum >= 0.0:
            raise ArgumentValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ArgumentValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ArgumentValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ArgumentValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        lr, nesterov = group["lr"], group["nesterov"]
        if group["ns_steps"] >= 100:
            raise ArgumentValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ArgumentValueError("Coefficients must be a tuple of exactly 3 values")
        if isinstance(lr, Tensor):  # a number of its own type: what is computed from it is rounded to that
            lr = lr._array.reshape(())[()]
        alike: dict[Any, list[tuple[Any, Any]]] = {}  # small matrices of one shape are made orthogonal together
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.is_complex():
                raise EngineError("Muon does not support complex parameters")
            array, grad = writable(param), param._grad._array
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(param._grad)
            buffer = state["momentum_buffer"]._array
            raw.muon_between(buffer, grad, 1 - group["momentum"], buffer)
            update = buffer
            if nesterov:
                update = raw.muon_between(grad, buffer, group["momentum"], filled_like(grad, 0))
            alike.setdefault((array.shape, None if array.size <= SMALL else len(written)), []).append((array, update))
            written.append(param)
        for (shape, _), pairs in alike.items():
            updates = raw.muon_normalized([update for _, update in pairs], group["eps"])
            for (_, momentum), update in zip(pairs, updates, strict=True):
                if not nesterov and momentum.dtype == bf16:
                    momentum[...] = update  # in PyTorch, too: nothing is converted, so that nothing is copied before
            updates = raw.muon_orthogonal(updates, group["ns_coefficients"], group["ns_steps"])
            rate = _adjusted(lr, group["adjust_lr_fn"], shape)
            for (array, _), update in zip(pairs, updates, strict=True):
                raw.muon_add_(array, update, 1 - lr * group["weight_decay"], rate)


def _adjusted(lr: float, how: str | None, shape: tuple[int, ...]) -> float:
    rows, columns = shape
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
