"""Checks of options that optimizers share; the phrases are PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from .optimizer import scalar


def check_lr(lr: Any, phrase: str = "Invalid learning rate: ") -> None:
    """The learning rate: a number or a Tensor of one element, not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ArgumentValueError("Tensor lr must be 1-element")
    if not scalar(lr) >= 0.0:
        raise ArgumentValueError(f"{phrase}{lr}")


def check_options(**options: Any) -> None:
    """Options that must not be negative; `eps` is called epsilon in the message, the others by their names."""
    for name, value in options.items():
        if not scalar(value) >= 0.0:
            raise ArgumentValueError(f"Invalid {'epsilon' if name == 'eps' else name} value: {value}")


def check_betas(betas: Any) -> None:
    """The rates of two running averages."""
    for i, beta in enumerate(betas[:2]):
        if not 0.0 <= scalar(beta) < 1.0:
            raise ArgumentValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_fused(options: Mapping[str, Any]) -> None:
    """`fused` excludes the other ways to compute a step (here all are one)."""
    if options.get("fused"):
        if options.get("differentiable"):
            raise EngineError("`fused` does not support `differentiable`")
        if options.get("foreach"):
            raise EngineError("`fused` and `foreach` cannot be `True` together.")


FUSED_ON = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def check_fused_params(optimizer: Any, group: Mapping[str, Any], params: list[Tensor]) -> None:
    """Where `fused` steps are asked for, the first parameter that takes one says whether they can be."""
    if group.get("fused") and params and "_fused_checked" not in optimizer.__dict__:
        param = params[0]
        if not param.is_floating_point() or param.device.type not in FUSED_ON:
            raise EngineError(
                f"`fused=True` requires all the params to be floating point Tensors of supported devices: {FUSED_ON} but "
                f"{param.dtype} and {param.device.type}"
            )
        optimizer.__dict__["_fused_checked"] = True
