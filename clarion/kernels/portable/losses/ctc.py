"""Connectionist temporal classification: all alignments of labels to steps, by dynamic programming over the batch."""

from __future__ import annotations

from typing import Any

from ...everywhere import combine_at, from_host
from ...quiet import quietly
from ...registry import kernel


def _extended(xp: Any, labels: Any, blank: int) -> tuple[Any, Any]:
    """Labels with blanks around each, and where a step may skip the blank between two different labels."""
    batch, count = labels.shape
    path = xp.full((batch, 2 * count + 1), blank, labels.dtype)
    path[:, 1::2] = labels
    skip = xp.zeros(path.shape, bool)
    skip[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    return path, skip


def _at_path(xp: Any, log_probs: Any, path: Any) -> Any:
    """The log-probability of each place of the path at each step."""
    whole = xp.broadcast_to(path[None], (log_probs.shape[0], *path.shape))
    return xp.take_along_axis(log_probs, whole, 2)


def _shifted(xp: Any, x: Any, by: int) -> Any:
    """x moved along its last dimension, with -inf where nothing comes from."""
    result = xp.full(x.shape, -xp.inf, x.dtype)
    if by > 0:
        result[:, by:] = x[:, :-by]
    else:
        result[:, :by] = x[:, -by:]
    return result


@kernel("ctc_loss")
@quietly
def ctc_loss(
    xp: Any, log_probs: Any, labels: Any, lengths: Any, label_lengths: Any, blank: int, zero_infinity: bool
) -> Any:
    """(minus log-likelihood of each row, the table of forward probabilities). Labels and lengths come from the host."""
    labels, lengths, label_lengths = (from_host(xp, each) for each in (labels, lengths, label_lengths))
    steps, batch, _ = log_probs.shape
    path, skip = _extended(xp, labels, blank)
    emit = _at_path(xp, log_probs, path)
    alpha = xp.full(emit.shape, -xp.inf, log_probs.dtype)
    if steps:
        alpha[0, :, :2] = emit[0, :, :2]
        if path.shape[1] > 1:
            alpha[0, label_lengths == 0, 1] = -xp.inf
    for t in range(1, steps):
        before = alpha[t - 1]
        jump = xp.where(skip, _shifted(xp, before, 2), -xp.inf) if path.shape[1] > 2 else -xp.inf
        alpha[t] = xp.logaddexp(xp.logaddexp(before, _shifted(xp, before, 1)), jump) + emit[t]
    rows = xp.arange(batch)
    end = 2 * label_lengths
    if not steps:
        return xp.where(label_lengths == 0, 0.0, xp.inf).astype(log_probs.dtype), alpha
    last = alpha[xp.maximum(lengths - 1, 0), rows]
    inside = xp.where(end > 0, last[rows, xp.maximum(end - 1, 0)], -xp.inf)
    likelihood = xp.logaddexp(last[rows, end], inside)
    nothing = lengths == 0
    likelihood[nothing] = xp.where(label_lengths == 0, 0.0, -xp.inf)[nothing]
    return -likelihood, alpha


@kernel("ctc_loss_backward")
@quietly
def ctc_loss_backward(
    xp: Any, g: Any, log_probs: Any, nll: Any, alpha: Any, labels: Any, lengths: Any, label_lengths: Any, blank: int,
    zero_infinity: bool,
) -> Any:  # fmt: skip
    """The gradient of the log-probabilities, which are taken to be normalized (as PyTorch does)."""
    labels, lengths, label_lengths = (from_host(xp, each) for each in (labels, lengths, label_lengths))
    steps, batch, classes = log_probs.shape
    path, skip = _extended(xp, labels, blank)
    emit = _at_path(xp, log_probs, path)
    rows, end = xp.arange(batch), 2 * label_lengths
    start = xp.full(path.shape, -xp.inf, log_probs.dtype)
    start[rows, end] = 0
    start[rows[end > 0], end[end > 0] - 1] = 0
    forth = xp.zeros(path.shape, bool)
    forth[:, :-2] = skip[:, 2:]
    seen = xp.arange(path.shape[1]) <= end[:, None]
    beta = xp.full(path.shape, -xp.inf, log_probs.dtype)
    share = xp.full((steps, batch, classes), -xp.inf, log_probs.dtype)
    places = (rows[:, None] * classes + path).reshape(-1)
    for t in range(steps - 1, -1, -1):
        jump = xp.where(forth, _shifted(xp, beta, -2), -xp.inf) if path.shape[1] > 2 else -xp.inf
        moved = xp.logaddexp(xp.logaddexp(beta, _shifted(xp, beta, -1)), jump)
        now = xp.where((lengths - 1 == t)[:, None], start, moved)
        beta = xp.where((lengths - 1 >= t)[:, None] & seen, now + emit[t], -xp.inf)
        combine_at(xp, "logaddexp", share[t].reshape(-1), places, (alpha[t] + beta).reshape(-1))
    result = xp.exp(log_probs) - xp.exp(share + nll[:, None] - log_probs)
    result *= g[:, None]
    result[xp.arange(steps)[:, None] >= lengths] = 0
    if zero_infinity:
        result[:, xp.isinf(nll)] = 0
    return result
