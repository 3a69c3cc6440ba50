"""Rows of `torch.masked`: what a mask shows is reduced or normalised."""

from __future__ import annotations

import numpy as np

from ..row import Row

MASK = [[True, False, True, True], [True, True, False, True], [False, True, True, False]]


def _masked(name, *args, **options):
    """The function of this name, with the mask and without it."""

    def call(t, x):
        function = getattr(t.masked, name)
        return function(x, *args, mask=t.tensor(MASK, device=x.device), **options), function(x, *args, **options)

    return call


def _reference(function, fill):
    shown = np.array(MASK)
    return lambda x: (function(np.where(shown, x, fill)), function(x))


def _row(name, *args, ref=None, grad=None, label="", **options):
    return Row(f"masked_{name}", _masked(name, *args, **options), ((3, 4),), ref, (0.3, 2.0), grad=grad, label=label)


ROWS = [
    _row("sum", 1, ref=_reference(lambda x: x.sum(1), 0)),
    _row("sum", keepdim=True, label="all", ref=_reference(lambda x: x.sum(keepdims=True), 0)),
    _row("prod", (0, 1), ref=_reference(np.prod, 1)),
    _row("amax", 0, ref=_reference(lambda x: x.max(0), -np.inf)),
    _row("amin", 0, ref=_reference(lambda x: x.min(0), np.inf)),
    _row("argmax", 1, grad=()),
    _row("argmin", 1, grad=()),
    _row("mean", 1),
    _row("median", 1),
    _row("norm", 3.0, 1),
    _row("logsumexp", 1),
    _row("var", 1, unbiased=False),
    _row("std", 1, correction=0.5),
    _row("cumsum", 1, ref=_reference(lambda x: x.cumsum(1), 0)),
    _row("cumprod", 1, ref=_reference(lambda x: x.cumprod(1), 1)),
    _row("softmax", 1),
    _row("softmin", 1),
    _row("normalize", 2.0, 1),
    Row(
        "masked_logaddexp",
        lambda t, x, y: t.masked.logaddexp(x, y, input_mask=t.tensor(MASK, device=x.device)),
        ((3, 4), (3, 4)),
        second=False,
    ),  # NaN at -inf, as PyTorch's
]
