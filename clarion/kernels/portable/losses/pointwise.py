"""Losses. `reduction`: 0 keeps every element, 1 takes the mean, 2 the sum (PyTorch's numbers)."""

from __future__ import annotations

from typing import Any

from ....errors import ArgumentIndexError, NotSupportedError
from ...blocks import in_range
from ...quiet import quietly
from ...registry import kernel


def reduced(xp: Any, loss: Any, reduction: int) -> Any:
    """All elements, their mean, or their sum."""
    if reduction == 0:
        return loss
    total = xp.add.reduce(loss, axis=None)
    return total / loss.size if reduction == 1 else total


def difference(xp: Any, x: Any, y: Any, name: str) -> Any:
    """x - y, of floats only: PyTorch has these losses for no other type."""
    d = xp.subtract(x, y)
    if d.dtype.kind != "f":
        raise NotSupportedError(f'"{name}" not implemented for integers and complex numbers (got {d.dtype})')
    return d


# Losses of pairs -----------------------------------------------------------------------------------


@kernel("mse_loss")
def mse_loss(xp: Any, x: Any, y: Any) -> Any:
    d = difference(xp, x, y, "mse_cpu")
    return xp.multiply(d, d, out=d if d.ndim else None)


@kernel("mse_loss_mean")
@quietly
def mse_loss_mean(xp: Any, x: Any, y: Any) -> Any:
    d = difference(xp, x, y, "mse_cpu").reshape(-1)
    return xp.dot(d, d) / d.size


@kernel("mse_loss_sum")
def mse_loss_sum(xp: Any, x: Any, y: Any) -> Any:
    d = difference(xp, x, y, "mse_cpu").reshape(-1)
    return xp.dot(d, d)


@kernel("mse_loss_backward")
def mse_loss_backward(xp: Any, x: Any, y: Any, gy: Any, n: Any) -> Any:
    return (x - y) * (gy * 2 / n)


@kernel("smooth_l1_loss")
@quietly
def smooth_l1_loss(xp: Any, x: Any, y: Any, reduction: int, beta: float) -> Any:
    d = xp.abs(difference(xp, x, y, "smooth_l1_cpu"))
    return reduced(xp, xp.where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction)


@kernel("huber_loss")
@quietly
def huber_loss(xp: Any, x: Any, y: Any, reduction: int, delta: float) -> Any:
    d = xp.abs(difference(xp, x, y, "huber_cpu"))
    return reduced(xp, xp.where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta), reduction)


@kernel("clip_unit")
def clip_unit(xp: Any, x: Any) -> Any:
    """x between -1 and 1: the slope of the smooth losses."""
    return xp.clip(x, -1, 1)


@kernel("inside_unit")
def inside_unit(xp: Any, x: Any) -> Any:
    return (xp.abs(x) < 1).astype(x.dtype)


@kernel("binary_cross_entropy")
@quietly
def binary_cross_entropy(xp: Any, x: Any, y: Any, weight: Any, reduction: int) -> Any:
    # Logarithms stop at -100, as PyTorch's: a probability of 0 gives a large loss, not an infinite one.
    loss = (y - 1) * xp.maximum(xp.log1p(-x), -100) - y * xp.maximum(xp.log(x), -100)
    return reduced(xp, loss if weight is None else loss * weight, reduction)


@kernel("bernoulli_variance")
def bernoulli_variance(xp: Any, x: Any) -> Any:
    """x * (1 - x), but never 0, for dividing by."""
    return xp.maximum(x * (1 - x), 1e-12)


@kernel("clipped_log")
@quietly
def clipped_log(xp: Any, x: Any) -> Any:
    return xp.maximum(xp.log(x), -100)


@kernel("binary_cross_entropy_with_logits")
@quietly
def binary_cross_entropy_with_logits(xp: Any, x: Any, y: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    soft = softplus_plain(xp, -x)
    if pos_weight is not None:
        soft = soft * ((pos_weight - 1) * y + 1)
    loss = (1 - y) * x + soft
    return reduced(xp, loss if weight is None else loss * weight, reduction)


@kernel("softplus_plain")
@quietly
def softplus_plain(xp: Any, x: Any) -> Any:
    """log(1 + exp(x)), without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


@kernel("soft_margin_loss")
@quietly
def soft_margin_loss(xp: Any, x: Any, y: Any, reduction: int) -> Any:
    return reduced(xp, softplus_plain(xp, -x * y), reduction)


# Classification ------------------------------------------------------------------------------------
# Class scores have shape (classes), (batch, classes) or (batch, classes, ...); targets the same without the classes.


def class_dim(x: Any) -> int:
    return 0 if x.ndim == 1 else 1


def check_targets(xp: Any, target: Any, ignore_index: int, classes: int) -> Any:
    """Targets that are all valid indices, and (if some are ignored) which of them count."""
    if not target.size or (ignore_index < 0 and in_range(target, classes)):
        return target, None
    low, high = int(target.min()), int(target.max())
    if low >= 0 and high < classes and not low <= ignore_index <= high:
        return target, None
    counts = target != ignore_index
    safe = xp.where(counts, target, 0)
    for bad in (int(safe.min()), int(safe.max())):
        if not 0 <= bad < classes:
            raise ArgumentIndexError(
                f"Target {bad} is out of bounds.\n"
                f"There are {classes} classes, numbered from 0 to {classes - 1}; ignore_index is {ignore_index}."
            )
    return safe, None if counts.all() else counts


def row_weights(xp: Any, x: Any, target: Any, counts: Any, weight: Any, reduction: int) -> Any:
    """How much each target counts in the (reduced) loss: one number where all count alike."""
    if weight is None and counts is None:
        return xp.asarray(1 / max(target.size, 1) if reduction == 1 and target.size else 1, x.dtype)
    each = xp.ones(target.shape, x.dtype) if weight is None else weight.take(target)
    if counts is not None:
        each = each * counts
    if reduction != 1:
        return each
    share = each / xp.add.reduce(each, axis=None)
    # Where all are ignored the mean is NaN, but no gradient flows.
    return share if counts is None or counts.any() else xp.zeros_like(share)


def pick(xp: Any, x: Any, target: Any) -> Any:
    """x at the target class of every element."""
    if x.ndim == 2 and x.size:
        rows, classes = x.shape
        return x.take(target + xp.arange(0, rows * classes, classes))
    dim = class_dim(x)
    return xp.take_along_axis(x, xp.expand_dims(target, dim), dim).squeeze(dim)


def add_at_targets(xp: Any, x: Any, target: Any, value: Any) -> None:
    """x[target] += value, in place (every element has one target: nothing repeats)."""
    if x.ndim == 2:
        x[xp.arange(x.shape[0]), target] += value
        return
    dim = class_dim(x)
    places = xp.expand_dims(target, dim)
    old = xp.take_along_axis(x, places, dim)
    xp.put_along_axis(x, places, old + xp.expand_dims(xp.broadcast_to(value, target.shape), dim), dim)


def weighted(xp: Any, loss: Any, row: Any, counts: Any, reduction: int) -> Any:
    """The loss of every element, times what it counts, reduced."""
    if counts is None and row.ndim == 0 and reduction and loss.size:
        return xp.add.reduce(loss, axis=None) * row.item()
    loss = loss * row
    if counts is not None:
        loss = xp.where(counts, loss, loss.dtype.type(0))
    if reduction == 0:
        return loss
    if reduction == 1 and not loss.size:
        return xp.asarray(xp.nan, loss.dtype)
    total = xp.add.reduce(loss, axis=None)
    if reduction == 1 and counts is not None and not counts.any():
        return xp.asarray(xp.nan, loss.dtype)
    return total


@kernel("nll_loss")
@quietly
def nll_loss(xp: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """The loss, and how much each target counts in it."""
    safe, counts = check_targets(xp, target, ignore_index, x.shape[class_dim(x)])
    row = row_weights(xp, x, safe, counts, weight, reduction)
    return weighted(xp, -pick(xp, x, safe), row, counts, reduction), row


BLOCK = 65536  # scores of a block of rows that stays in the cache from the first step to the last


def softmax_blocks(xp: Any, x: Any, dim: int) -> Any:
    """The softmax of the scores, and the logarithm of what it was divided by."""
    probs = xp.empty(x.shape, x.dtype)
    log_total = xp.empty(x.shape[:dim] + x.shape[dim + 1 :], x.dtype)
    step = max(BLOCK * x.shape[0] // x.size, 1) if dim and x.size > 2 * BLOCK else max(x.shape[0], 1)
    for i in range(0, x.shape[0], step):
        part = slice(i, i + step)
        source, target = x[part], probs[part]
        top = source.max(dim, keepdims=True)
        xp.subtract(source, top, out=target)
        xp.exp(target, out=target)
        total = xp.add.reduce(target, axis=dim, keepdims=True)
        target /= total
        xp.add(top, xp.log(total), out=total)
        if dim:
            log_total[part] = total.squeeze(dim)
        else:
            log_total[...] = total[0]
    return probs, log_total


@kernel("softmax_and_total")
@quietly
def softmax_and_total(xp: Any, x: Any, dim: int) -> Any:
    """The same as an expression."""
    top = xp.max(x, axis=dim, keepdims=True)
    e = xp.exp(x - top)
    total = xp.sum(e, axis=dim, keepdims=True)
    return e / total, (top + xp.log(total)).squeeze(dim)


@kernel("softmax_and_loss")
@quietly
def softmax_and_loss(xp: Any, x: Any, target: Any) -> Any:
    """The softmax of rows of scores, and the loss of each row against the number of its class, which is a column."""
    top = xp.max(x, axis=1, keepdims=True)
    e = xp.exp(x - top)
    total = xp.sum(e, axis=1, keepdims=True)
    return e / total, (top + xp.log(total) - xp.take_along_axis(x, target, 1)).squeeze(1)


def class_loss(
    xp: Any, softmax: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> tuple[Any, Any, Any]:
    """The loss of class scores, with the softmax of the scores and how much each target counts.

    Only the scores at the targets go through the logarithm; the softmax is all that backward needs.
    """
    dim = class_dim(x)
    safe, counts = check_targets(xp, target, ignore_index, x.shape[dim])
    row = row_weights(xp, x, safe, counts, weight, reduction)
    if not x.size:
        return weighted(xp, xp.zeros(target.shape, x.dtype), row, counts, reduction), x.copy(), row
    probs, log_total = softmax(xp, x, dim)
    loss = log_total - pick(xp, x, safe)
    return weighted(xp, loss, row, counts, reduction), probs, row


@kernel("cross_entropy")
@quietly
def cross_entropy(xp: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return class_loss(xp, softmax_blocks, x, target, weight, reduction, ignore_index)


@kernel("cross_entropy_backward")
def cross_entropy_backward(xp: Any, s: Any, probs: Any, target: Any, ignore_index: int) -> Any:
    """(softmax - one_hot(target)) * s, where s has one number per target, or one for all."""
    dim = class_dim(probs)
    spread = xp.expand_dims(s, dim) if s.ndim or probs.ndim == 1 else s
    result = probs * spread
    if target.size:
        add_at_targets(xp, result, safe_targets(xp, target, ignore_index), -s)
    return result


def safe_targets(xp: Any, target: Any, ignore_index: int | None) -> Any:
    """Targets that are valid indices; None says that nothing is ignored."""
    return target if ignore_index is None else xp.where(target == ignore_index, 0, target)


@kernel("at_targets")
def at_targets(xp: Any, x: Any, target: Any, ignore_index: int) -> Any:
    """x at the target classes (anything where they are ignored: that counts 0)."""
    return pick(xp, x, safe_targets(xp, target, ignore_index))


@kernel("into_targets")
def into_targets(xp: Any, s: Any, target: Any, shape: tuple[int, ...], ignore_index: int) -> Any:
    """Zeros of a shape, with s at the target classes."""
    result = xp.zeros(shape, s.dtype)
    if target.size:
        add_at_targets(xp, result, safe_targets(xp, target, ignore_index), s)
    return result


# The same for scores with further dimensions: PyTorch names their nodes differently.
kernel("nll_loss2d")(nll_loss)
kernel("cross_entropy2d")(cross_entropy)


@kernel("cross_entropy_of_scores")
@quietly
def cross_entropy_of_scores(xp: Any, x: Any, target: Any, reduction: int, ignore_index: int) -> Any:
    """The loss of rows of scores, the log-sum-exp of each row, and the weight of each in the loss."""
    wanted = target != ignore_index
    top = xp.max(x, axis=1, keepdims=True)
    lse = (top + xp.log(xp.sum(xp.exp(x - top), axis=1, keepdims=True)))[:, 0]
    score = xp.take_along_axis(x, xp.where(wanted, target, 0)[:, None], axis=1)[:, 0]
    row = wanted.astype(x.dtype)
    if reduction == 1:
        row = row / xp.sum(row)
    loss = xp.where(wanted, lse - score, x.dtype.type(0))
    return (loss if reduction == 0 else xp.sum(loss * row)), lse, row


@kernel("cross_entropy_of_scores_backward")
@quietly
def cross_entropy_of_scores_backward(
    xp: Any, g: Any, x: Any, target: Any, lse: Any, row: Any, ignore_index: int
) -> Any:
    """Gradient of the scores: softmax, less 1 at the target, times the row's weight."""
    factor = (g * row)[:, None]
    wanted = (target != ignore_index)[:, None]
    classes = xp.arange(x.shape[1])
    return (xp.exp(x - lse[:, None]) - (classes == target[:, None])) * xp.where(wanted, factor, factor.dtype.type(0))
