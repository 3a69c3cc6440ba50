"""Adafactor: the average square of a matrix kept as one row and one column, steps relative to the parameter."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from ..core.dtypes import f32
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.flat import beside, filled_like
from ..kernels.registry import raw
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
            kept = tuple(state[name]._array for name in (("row_var", "col_var") if grad.ndim > 1 else ("variance",)))
            limits = (eps1, eps2, group["d"], 1 / count**0.5)
            rate = -lr if group["maximize"] else lr
            raw.adafactor_(array, grad, kept, self._room(grad), count ** group["beta2_decay"], rate, decay, limits)
            written.append(param)

    def _room(self, grad: Any) -> Any:
        """An array to compute in, kept from step to step; half precision computes in single."""
        rooms = self.__dict__.setdefault("_rooms", {})
        kind = grad.dtype if grad.itemsize > 2 else f32
        found = rooms.get((grad.shape, kind))
        if found is None:
            found = rooms[grad.shape, kind] = beside(grad, grad.size, kind).reshape(grad.shape)
        return found


def _begin(state: dict[str, Any], grad: Any) -> None:
    state["step"] = step_count(0.0)
    if grad.ndim > 1:
        state["row_var"] = new_tensor(filled_like(grad[..., :1], 0))
        state["col_var"] = new_tensor(filled_like(grad[..., :1, :], 0))
    else:
        state["variance"] = new_tensor(filled_like(grad, 0))
