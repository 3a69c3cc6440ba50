"""Losses of classes, and the parts of their gradients."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from clarion.core.namespace import OPS

from ..row import Row, either, functional


def classes(shape, n, dim=1):
    """Scores and class indices for them."""

    def draw(rng):
        target = rng.integers(0, n, shape[:dim] + shape[dim + 1 :])
        return [rng.standard_normal(shape), target]

    return draw


def nll(x, target):
    return -x[np.arange(len(x)), target].mean()


def of_scores(reduction):
    """Cross entropy by the operation that keeps the scores and no probabilities."""
    name = ("none", "mean", "sum")[reduction]

    def call(t, x, target):
        if t.__name__ != "clarion":
            return t.nn.functional.cross_entropy(x, target, reduction=name)
        return OPS["cross_entropy_of_scores"].call(x, target, reduction, -100)[0]

    call.internal = True
    return call


ROWS = [
    Row("nll_loss", functional("nll_loss"), inputs=classes((4, 5), 5), ref=nll),
    Row(
        "nll_loss", functional("nll_loss", reduction="none", ignore_index=2), inputs=classes((4, 5), 5), label="ignore"
    ),
    Row("nll_loss2d", functional("nll_loss", reduction="sum"), inputs=classes((2, 5, 3), 5)),
    Row(
        "cross_entropy",
        functional("cross_entropy"),
        inputs=classes((4, 5), 5),
        ref=lambda x, t: nll(sp.log_softmax(x, 1), t),
    ),
    Row("cross_entropy", functional("cross_entropy", reduction="none"), inputs=classes((4, 5), 5), label="none"),
    Row("cross_entropy", functional("cross_entropy", ignore_index=1), inputs=classes((6, 3), 3), label="ignore"),
    Row("cross_entropy", functional("cross_entropy"), inputs=classes((5,), 5, 0), label="one"),
    Row(
        "cross_entropy", functional("cross_entropy", label_smoothing=0.2), inputs=classes((4, 5), 5), label="smoothing"
    ),
    Row("cross_entropy2d", functional("cross_entropy"), inputs=classes((2, 5, 3, 2), 5)),
]

# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row(
        "at_targets",
        either("at_targets", (-100,), lambda t, x, i: x.gather(1, i[:, None])[:, 0]),
        inputs=classes((4, 5), 5),
    ),
    Row(
        "into_targets",
        either(
            "into_targets",
            ((4, 5), -100),
            lambda t, s, i: t.zeros(4, 5, dtype=s.dtype).scatter(1, i[:, None], s[:, None]),
        ),
        inputs=lambda rng: [rng.standard_normal(4), rng.integers(0, 5, 4)],
    ),
    Row("cross_entropy_of_scores", of_scores(1), inputs=classes((4, 5), 5)),
    Row("cross_entropy_of_scores", of_scores(0), inputs=classes((4, 5), 5), label="none"),
    Row("cross_entropy_of_scores", of_scores(2), inputs=classes((4, 5), 5), label="sum"),
]
