"""SparseAdam: Adam for sparse gradients."""

from __future__ import annotations

import math
from typing import Any

from ..core import modes
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.registry import raw
from .checks import check_betas
from .elementwise import zeros_like
from .optimizer import Optimizer, scalar, writable


class SparseAdam(Optimizer):
    """Takes sparse gradients only, and changes only the rows that they name."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ArgumentValueError("Tensor lr must be 1-element")
        if not scalar(lr) > 0.0:
            raise ArgumentValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ArgumentValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        groups = enumerate(self.param_groups)
        complexes = [[i, j] for i, group in groups for j, param in enumerate(group["params"]) if param.is_complex()]
        if complexes:
            raise ArgumentValueError(
                f"Complex params at indices {complexes}: SparseAdam does not support complex parameters"
            )

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        beta1, beta2 = group["betas"]
        for param in group["params"]:
            grad = param._grad
            if grad is None:
                continue
            if not grad.is_sparse:
                raise EngineError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[param]
            if not state:
                state |= {"step": 0, "exp_avg": zeros_like(param), "exp_avg_sq": zeros_like(param)}
            state["step"] += 1
            grad = -grad if group["maximize"] else grad
            if not grad._nnz():
                continue
            size = math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"]) * scalar(group["lr"])
            found = grad._array
            if len(found.indices) == 1:
                arrays = [writable(each) for each in (param, state["exp_avg"], state["exp_avg_sq"])]
                raw.adam_rows_(*arrays, found.indices[0], found.values, (1 - beta1, 1 - beta2), group["eps"], size)
                written.append(param)
                continue
            grad = grad.coalesce()
            places, values = tuple(grad.indices().unbind(0)), grad.values()
            mean, square = state["exp_avg"][places], state["exp_avg_sq"][places]
            mean = mean + (values - mean) * (1 - beta1)
            square = square + (values.pow(2) - square) * (1 - beta2)
            state["exp_avg"][places], state["exp_avg_sq"][places] = mean, square
            with modes.no_grad():
                param[places] = param[places] - mean / (square.sqrt() + group["eps"]) * size
