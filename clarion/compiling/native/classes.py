"""Losses of classes as native operations: the numbers of classes become masks, and where they are valid is looked at before the program runs.

A target that is out of bounds is an error with words of its own: a program that finds one does not begin, and Python runs the steps instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.trace.graph import Untraceable
from .lowering import F32, F64, Lowered

LARGEST = 1 << 16  # scores: of more, a kernel of their own is better than a mask
_MEAN = 1  # the reduction


def _targets(space: Any, scores: Any, target: Any, ignored: int | None) -> tuple[Any, Any]:
    """A mask of the scores at the targets, and one of the targets that count."""
    if not isinstance(target, Lowered) or target.ndim != 1 or target.dtype != np.int64 or target.size == 0:
        raise Untraceable("targets of another kind")
    if len(scores) != 2 or scores[0] != target.size or target.size * scores[1] > LARGEST:
        raise Untraceable("scores of another kind")
    builder = space._b
    builder.bounded(target, scores[1], ignored)
    return builder.matches(target, None, scores), builder.matches(target, ignored, target.shape)


def class_loss(space: Any, name: str, x: Any, target: Any, weight: Any, reduction: int, ignored: int) -> Any:
    """`nll_loss`, `cross_entropy`: the loss, the softmax of the scores, and what each target counts."""
    if weight is not None or name not in ("nll_loss", "cross_entropy") or x.dtype not in (F32, F64):
        raise Untraceable("another loss of classes")
    at_target, other = _targets(space, x.shape, target, ignored)
    zero, one = x.dtype.type(0), x.dtype.type(1)
    counts = space.where(other, zero, space.full(target.shape, 1.0, x.dtype))
    found: tuple[Any, ...] = ()
    picked = space.where(at_target, x, zero).sum(-1)
    if name == "cross_entropy":
        top = x.max(-1, keepdims=True)
        e = space.exp(x - top)
        total = e.sum(-1, keepdims=True)
        found = (e / total,)
        losses = (top + space.log(total)).reshape(x.shape[0]) - picked
    else:
        losses = -picked
    losses = space.where(other, zero, losses)
    if reduction == 0:
        return (losses, *found, counts)
    if reduction != _MEAN:
        return (losses.sum(), *found, counts)
    number = counts.sum()
    share = space.where(number == zero, zero, one / number)  # where all are ignored no gradient flows
    return (losses.sum() * (one / number), *found, counts * share)


def scores_gradient(space: Any, s: Any, probs: Any, target: Any, ignored: int | None) -> Any:
    """`cross_entropy_backward`, where each target has a number."""
    if s.ndim != 1:
        raise Untraceable("one number for all targets")
    at_target, _ = _targets(space, probs.shape, target, ignored)
    each = s.reshape(s.size, 1)
    result = probs * each
    return space.where(at_target, result - each, result)


def into_targets(space: Any, s: Any, target: Any, shape: Any, ignored: int | None) -> Any:
    """Zeros, with numbers at the targets."""
    if s.ndim != 1:
        raise Untraceable("one number for all targets")
    at_target, _ = _targets(space, tuple(shape), target, ignored)
    return space.where(at_target, space.broadcast_to(s.reshape(s.size, 1), shape), s.dtype.type(0))
