"""Rprop: a step size for each element, which only the sign of the gradient changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError
from .checks import check_lr
from .elementwise import Elementwise, step_count, zeros_like
from .optimizer import scalar


class Rprop(Elementwise):
    """Steps grow while the gradient keeps its sign, and shrink where it turned."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ArgumentValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("prev", "step_size")

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        array, lr = param._array, scalar(group["lr"])
        state["step"] = step_count(0.0)
        state["prev"] = zeros_like(param)
        state["step_size"] = new_tensor(np.full_like(array, complex(lr, lr) if array.dtype.kind == "c" else lr))

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        return [counters[0] + 1], (*group["etas"], *group["step_sizes"], 0, 1)

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        minus, plus, least, most, zero, one = numbers
        before, size = kept
        np.multiply(g, before, a)
        np.sign(a, a)
        # Masks are slow, so the factor of the step size is a sum: plus for 1, one for 0, minus for -1, exactly.
        np.maximum(a, zero, out=b)
        np.subtract(a, b, before)  # -1 where the sign turned
        np.multiply(b, plus, b)
        np.multiply(a, a, a)
        np.subtract(a, one, a)
        np.subtract(b, a, b)
        np.multiply(before, minus, a)
        np.subtract(b, a, b)
        np.multiply(size, b, size)
        np.maximum(size, least, out=size)
        np.minimum(size, most, out=size)
        # Where the sign turned there is no step, and no memory of the gradient: its bits are cleared.
        whole, sign_bit = (np.int32, 31) if before.itemsize == 4 else (np.int64, 63)
        bits = before.view(whole)
        np.right_shift(bits, sign_bit, bits)
        np.invert(bits, bits)
        np.bitwise_and(bits, g.view(whole), bits)
        np.sign(before, a)
        np.multiply(a, size, a)
        np.subtract(p, a, p)
