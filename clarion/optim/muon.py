"""Muon: momentum whose matrices are made nearly orthogonal."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..core.devices import xp_of
from ..core.dtypes import bf16
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.flat import laid_like, stacked
from ..kernels.registry import raw
from ..kernels.threads import number
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
        alike: dict[Any, list[Member]] = {}  # small matrices of one shape are updated together
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.is_complex():
                raise EngineError("Muon does not support complex parameters")
            array, grad = writable(param), param._grad._array
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(param._grad)
            member = Member(array, grad, state["momentum_buffer"]._array)
            small = array.size <= SMALL
            key = tuple([(type(each), each.dtype) for each in member]) if small else len(written)
            alike.setdefault((array.shape, key), []).append(member)
            written.append(param)
        waiting: dict[tuple[int, ...], list[Ready]] = {}
        for (shape, _), members in alike.items():
            arrays, grads, buffers = zip(*members, strict=True)
            p, g, momentum = _one(arrays), _one(grads), _one(buffers)
            raw.muon_between(momentum, g, 1 - group["momentum"], momentum)
            _back(momentum, buffers)
            update = momentum
            if nesterov:
                update = raw.muon_between(g, momentum, group["momentum"], laid_like(g, g.dtype))
            updates = raw.muon_normalized(update, group["eps"])
            if not nesterov and momentum.dtype == bf16:
                momentum[...] = updates  # in PyTorch, too: nothing is converted, so that nothing is copied before
                _back(momentum, buffers)
            ready = waiting.setdefault(shape, [])
            ready.append(Ready(arrays, p, updates))
            if len(arrays) > 1 or len(ready) == number():  # of large ones each thread takes one
                _finish(group, lr, waiting.pop(shape))
        for ready in waiting.values():
            _finish(group, lr, ready)


class Ready(NamedTuple):
    """Parameters of one shape, as they lie and as one array, and their updates, which are to be made orthogonal."""

    arrays: tuple[Any, ...]
    p: Any
    updates: Any


def _finish(group: dict[str, Any], lr: Any, ready: list[Ready]) -> None:
    """Make updates of one shape orthogonal, and add them."""
    every = ready[0].updates if len(ready) == 1 else xp_of(ready[0].p).concatenate([each.updates for each in ready])
    every = raw.muon_orthogonal(every, group["ns_coefficients"], group["ns_steps"])
    rate = _adjusted(lr, group["adjust_lr_fn"], every.shape[1:])
    first = 0
    for arrays, p, updates in ready:
        raw.muon_add_(p, every[first : first + len(updates)], 1 - lr * group["weight_decay"], rate)
        _back(p, arrays)
        first += len(updates)


class Member(NamedTuple):
    """The memory of a parameter, of its gradient and of its momentum."""

    array: Any
    grad: Any
    momentum: Any


def _one(matrices: tuple[Any, ...]) -> Any:
    """Matrices as one array: a view of the only one, else a copy of all."""
    return matrices[0][None] if len(matrices) == 1 else stacked(matrices)


def _back(one: Any, matrices: tuple[Any, ...]) -> None:
    """Write the result to where the matrices lie, if it is not there."""
    if len(matrices) > 1:
        for place, result in zip(matrices, one, strict=True):
            place[...] = result


def _adjusted(lr: float, how: str | None, shape: tuple[int, ...]) -> float:
    rows, columns = shape
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
