"""Losses of classes, for all samples at once: their rows are the rows of one loss."""

from __future__ import annotations

from typing import Any

from .. import registry
from ..registry import raw
from .array import Batched, deepest, one_by_one, spread, wrapped
from .table import rule


def _rows(x: Any, target: Any, weight: Any, ignore_index: Any, level: Any) -> tuple[Any, Any] | None:
    """The scores of all samples as rows of one matrix, and their targets; None where samples have to be looked at one by one."""
    if weight is not None or x.ndim not in (1, 2) or target.ndim != x.ndim - 1 or not level.size or not x.size:
        return None
    scores, targets = spread(x, level), spread(target, level)
    if (
        type(targets) is Batched
        or type(scores) is Batched
        or (ignore_index is not None and (targets == ignore_index).any())
    ):
        return None
    return scores.reshape(-1, x.shape[-1]), targets.reshape(-1)


def _reduced(loss: Any, x: Any, reduction: int, level: Any) -> tuple[Any, Any]:
    """The losses of rows reduced for each sample, and what each of them counts."""
    count = x.shape[0] if x.ndim == 2 else 1
    loss = loss.reshape((level.size, count) if x.ndim == 2 else (level.size,))
    share = loss.dtype.type(1 / count if reduction == 1 else 1)
    if reduction and x.ndim == 2:
        loss = (raw.mean if reduction == 1 else raw.sum)(loss, (1,), False)
    return Batched(loss, level, True), wrapped(share, level, False)


@rule("cross_entropy")
def _cross_entropy(x: Any, target: Any, weight: Any, reduction: int, ignore_index: Any) -> Any:
    level = deepest((x, target, weight))
    rows = _rows(x, target, weight, ignore_index, level)
    if rows is None:
        return one_by_one(registry.bind("cross_entropy"), (x, target, weight, reduction, ignore_index))
    loss, probs, _ = raw.cross_entropy(*rows, None, 0, ignore_index)
    out, row = _reduced(loss, x, reduction, level)
    return out, Batched(probs.reshape(level.size, *x.shape), level, True), row


@rule("nll_loss")
def _nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore_index: Any) -> Any:
    level = deepest((x, target, weight))
    rows = _rows(x, target, weight, ignore_index, level)
    if rows is None:
        return one_by_one(registry.bind("nll_loss"), (x, target, weight, reduction, ignore_index))
    loss, _ = raw.nll_loss(*rows, None, 0, ignore_index)
    return _reduced(loss, x, reduction, level)


def _of_rows(s: Any, target: Any, level: Any) -> Any:
    """A number for each row: its own, or that of its sample."""
    data = spread(s, level)
    if not s.ndim and target.ndim:
        data = data.reshape(level.size, 1).repeat(target.shape[0], axis=1)
    return data.reshape(-1)


@rule("cross_entropy_backward")
def _cross_entropy_backward(s: Any, probs: Any, target: Any, ignore_index: Any) -> Any:
    level = deepest((s, probs, target))
    rows = _rows(probs, target, None, None, level)
    if rows is None or type(spread(s, level)) is Batched:
        return one_by_one(registry.bind("cross_entropy_backward"), (s, probs, target, ignore_index))
    found = raw.cross_entropy_backward(_of_rows(s, target, level), *rows, ignore_index)
    return Batched(found.reshape(level.size, *probs.shape), level, True)


@rule("into_targets")
def _into_targets(s: Any, target: Any, shape: tuple[int, ...], ignore_index: Any) -> Any:
    level = deepest((s, target))
    simple = len(shape) in (1, 2) and target.ndim == len(shape) - 1 and level.size and 0 not in shape
    if not simple or type(spread(s, level)) is Batched or type(spread(target, level)) is Batched:
        return one_by_one(registry.bind("into_targets"), (s, target, shape, ignore_index))
    targets = spread(target, level).reshape(-1)
    found = raw.into_targets(_of_rows(s, target, level), targets, (targets.size, shape[-1]), ignore_index)
    return Batched(found.reshape(level.size, *shape), level, True)
