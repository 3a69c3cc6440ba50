"""Muon: momentum whose matrices are made nearly orthogonal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import new_tensor
from ..errors import ArgumentValueError, EngineError
from .checks import check_lr
from .elementwise import SMALL
from .optimizer import Optimizer, scalar, writable


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
        lr, momentum, nesterov = scalar(group["lr"]), group["momentum"], group["nesterov"]
        alike: dict[Any, list[tuple[Any, Any]]] = {}  # small matrices of one shape are made orthogonal together
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.is_complex():
                raise EngineError("Muon does not support complex parameters")
            array, grad = writable(param), param._grad._array
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = new_tensor(np.zeros_like(grad))
            buffer = state["momentum_buffer"]._array
            _between(buffer, grad, 1 - momentum, buffer)
            update = _between(grad, buffer, momentum, np.empty_like(grad)) if nesterov else buffer
            alike.setdefault((array.shape, None if array.size <= SMALL else len(written)), []).append((array, update))
            written.append(param)
        for (shape, _), pairs in alike.items():
            updates = np.array([update for _, update in pairs], np.float32)
            updates = orthogonal(updates, group["ns_coefficients"], group["ns_steps"], group["eps"])
            np.multiply(updates, np.float32(_adjusted(lr, group["adjust_lr_fn"], shape)), updates)
            for (array, _), update in zip(pairs, updates, strict=True):
                np.multiply(array, np.asarray(1 - lr * group["weight_decay"], array.dtype), array)
                np.subtract(array, update, array, casting="same_kind")


def orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """The nearest matrices with singular values near one, by Newton and Schulz's iteration, rounded as in bfloat16."""
    if steps >= 100:
        raise ArgumentValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ArgumentValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = (np.asarray(each, np.float32) for each in coefficients)
    tall = x.shape[1] > x.shape[2]
    x = _rounded(np.ascontiguousarray(_turned(x)) if tall else x)
    norm = _rounded(np.sqrt(np.einsum("nij,nij->n", x, x)))
    np.divide(x, _rounded(np.maximum(norm, np.float32(eps)))[:, None, None], x)
    _rounded(x)
    for _ in range(steps):
        gram = _rounded(x @ _turned(x))
        change = gram @ _turned(gram)  # it is symmetric, and said like this BLAS computes only half of it
        np.multiply(change, c, change)
        np.multiply(gram, b, gram)
        np.add(change, gram, change)
        following = _rounded(change) @ x
        np.multiply(x, a, x)
        np.add(following, x, following)
        x = _rounded(following)
    return _turned(x) if tall else x


def _turned(x: Any) -> Any:
    return x.transpose(0, 2, 1)


HALF_BITS, LAST, BELOW, KEPT = (np.asarray(each, np.uint32) for each in (16, 1, 0x7FFF, 0xFFFF0000))


def _rounded(array: Any) -> Any:
    """Round float32 to what bfloat16 can hold, in place: to the nearest, ties to even."""
    bits = array.view(np.uint32)
    odd = np.right_shift(bits, HALF_BITS)
    np.bitwise_and(odd, LAST, odd)
    np.add(odd, BELOW, odd)
    np.add(bits, odd, bits)
    np.bitwise_and(bits, KEPT, bits)
    return array


def _between(start: Any, end: Any, weight: float, out: Any) -> Any:
    """start + weight * (end - start), counted from the nearer end."""
    gap = np.subtract(end, start)
    if weight < 0.5:
        return np.add(start, np.multiply(gap, gap.dtype.type(weight), gap), out)
    return np.subtract(end, np.multiply(gap, gap.dtype.type(1 - weight), gap), out)


def _adjusted(lr: float, how: str | None, shape: tuple[int, ...]) -> float:
    rows, columns = shape
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
