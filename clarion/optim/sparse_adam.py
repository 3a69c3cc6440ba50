"""SparseAdam: Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from .checks import check_betas
from .optimizer import Optimizer, scalar


class SparseAdam(Optimizer):
    """Takes sparse gradients only. clarion's gradients are all dense, so that every step that finds one refuses it."""

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
        if any(param._grad is not None for param in group["params"]):
            raise EngineError(
                "SparseAdam does not support dense gradients, please consider Adam instead\n"
                "All gradients of clarion are dense: those of embeddings, too."
            )
