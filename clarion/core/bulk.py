"""What modules, optimizers and clipping do to many tensors at once."""

from __future__ import annotations

from typing import Any

from ..events import hub
from . import modes, provenance
from .tensor import Tensor
from .versions import INFERENCE, MirroredCounter, VersionCounter


def bump(tensors: list[Any]) -> None:
    """Count a write to each tensor; all were written by the same line of the user's program.

    Whoever calls this tells what happened in larger words than `wrote`: `stepped`, `clipped`.
    """
    place = provenance.here(2)
    for tensor in tensors:
        counter = tensor._vc
        if counter is None:
            counter = tensor._vc = VersionCounter()
            counter.n, counter.place = 1, place
        elif counter.shadow_of is not None or type(counter) is MirroredCounter:
            counter.bump()
        elif counter is not INFERENCE:
            counter.n += 1
            counter.place = place


def clear_gradients(params: Any, set_to_none: bool) -> None:
    """`zero_grad` of modules and optimizers."""
    if hub.cleared is not None:
        params = list(params)
        hub.cleared(params)
    if set_to_none:
        for param in params:
            param._grad = None
        return
    for param in params:
        grad = param._grad
        if grad is None:
            continue
        if grad.grad_fn is not None:
            grad.detach_()
        elif modes.special > modes.watched or grad.requires_grad or type(grad) is not Tensor:
            grad.requires_grad_(False)  # (else nobody sees that it is said once more)
        grad.zero_()
