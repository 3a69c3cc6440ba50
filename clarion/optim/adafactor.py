"""Adafactor: the average square of a matrix kept as one row and one column, steps relative to the parameter."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from .checks import check_lr
from .elementwise import step_count
from .optimizer import Optimizer, scalar, writable


class Adafactor(Optimizer):
    """Needs memory for the sum of a matrix's sides in place of their product."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is: ")
        if not beta2_decay <= 0.0:
            raise ArgumentValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ArgumentValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ArgumentValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ArgumentValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ArgumentValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for param in group["params"]:
                kept = self.state.get(param)
                if kept and not isinstance(kept["step"], Tensor):
                    kept["step"] = step_count(float(kept["step"]))

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        lr, decay, (eps1, eps2) = scalar(group["lr"]), group["weight_decay"], group["eps"]
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.is_complex():
                raise EngineError("Adafactor does not support complex parameters")
            array, grad = writable(param), param._grad._array
            if eps1 is None:  # of the group's first type, for all: as PyTorch does
                eps1 = float(ml_dtypes.finfo(array.dtype).eps)  # type: ignore[no-untyped-call]
            state = self.state[param]
            if not state:
                _begin(state, grad)
            step = state["step"]._array
            count = step.item() + 1
            step[()] = count
            length = max(array.size, 1) ** 0.5
            rate = max(eps2, _norm(array) / length) * min(lr, 1 / count**0.5)
            if decay:
                np.multiply(array, np.asarray(1 - lr * decay, array.dtype), array)
            update = self._scaled(state, grad, count ** group["beta2_decay"], eps1)
            rate /= max(1.0, _norm(update) / (length * group["d"]))
            np.multiply(update, np.asarray(rate if group["maximize"] else -rate, update.dtype), update)
            np.add(array, update, array, casting="same_kind")
            written.append(param)

    def _scaled(self, state: dict[str, Any], grad: Any, weight: float, eps: float) -> Any:
        """The gradient over the root of its average square."""
        kind = grad.dtype if grad.itemsize > 2 else np.dtype(np.float32)  # half precision computes in single
        room = self._room(grad.shape, kind)
        if grad.ndim > 1:
            full = grad.astype(kind, copy=False)
            rows, columns = state["row_var"]._array, state["col_var"]._array
            _toward(rows, np.einsum("...ij,...ij->...i", full, full)[..., None] / grad.shape[-1], weight)
            _toward(columns, np.einsum("...ij,...ij->...j", full, full)[..., None, :] / grad.shape[-2], weight)
            mean = np.maximum(rows.mean(axis=-2, keepdims=True, dtype=kind), kind.type(eps))
            np.multiply(rows.astype(kind, copy=False) / mean, columns.astype(kind, copy=False), room)
        else:
            np.multiply(grad, grad, room, dtype=kind)
            _toward(state["variance"]._array, room, weight)
            room[...] = state["variance"]._array
        np.maximum(room, kind.type(eps * eps), out=room)
        np.sqrt(room, room)
        np.divide(grad, room, room)
        return room

    def _room(self, shape: tuple[int, ...], kind: Any) -> Any:
        """An array to compute in, kept from step to step."""
        rooms = self.__dict__.setdefault("_rooms", {})
        found = rooms.get((shape, kind))
        if found is None:
            found = rooms[shape, kind] = np.empty(shape, kind)
        return found


def _begin(state: dict[str, Any], grad: Any) -> None:
    state["step"] = step_count(0.0)
    if grad.ndim > 1:
        state["row_var"] = new_tensor(np.zeros((*grad.shape[:-1], 1), grad.dtype))
        state["col_var"] = new_tensor(np.zeros((*grad.shape[:-2], 1, grad.shape[-1]), grad.dtype))
    else:
        state["variance"] = new_tensor(np.zeros_like(grad))


def _toward(start: Any, end: Any, weight: float) -> None:
    """start += weight * (end - start), counted from the nearer end."""
    if weight < 0.5:
        start[...] = start + (end - start) * end.dtype.type(weight)
    else:
        start[...] = end - (end - start) * end.dtype.type(1 - weight)


def _norm(array: Any) -> float:
    flat = array.reshape(-1)
    if flat.itemsize == 2:
        flat = flat.astype(np.float32)
    return math.sqrt(np.dot(flat, flat))
