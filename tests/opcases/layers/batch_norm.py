"""Batch, instance, group and local response normalization."""

from __future__ import annotations

import numpy as np

from ..row import Row

HALF = ("float16", "bfloat16")
IMAGES = (3, 4, 2, 3)
AFFINE = (IMAGES, (4,), (4,))
POSITIVE = ((-2.0, 2.0), (-1.0, 1.0), (0.5, 2.0))


def along(v, x):
    """(C,) against (N, C, …)."""
    return v.reshape(-1, *[1] * (x.ndim - 2))


def normalized(x, axes, w=None, b=None):
    out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    return out if w is None else out * along(w, x) + along(b, x)


def trained(t, x, w=None, b=None):
    return t.nn.functional.batch_norm(x, None, None, w, b, training=True)


def evaluated(t, x, mean, var, w=None, b=None):
    return t.nn.functional.batch_norm(x, mean, var, w, b)


def grouped(x, w, b, groups=2):
    rows = x.reshape(x.shape[0], groups, np.prod(x.shape[1:]) // groups)
    return normalized(rows, 2).reshape(x.shape) * along(w, x) + along(b, x)


def neighbours(x):
    square = np.pad(x * x, ((0, 0), (1, 1), (0, 0)))
    mean = (square[:, :-2] + square[:, 1:-1] + square[:, 2:]) / 3
    return x / (1 + 1e-4 * mean) ** 0.75


ROWS = [
    Row("batch_norm", trained, AFFINE, lambda x, w, b: normalized(x, (0, 2, 3), w, b), dtypes=HALF),
    Row("batch_norm", trained, ((5, 3),), lambda x: normalized(x, (0, *range(2, x.ndim))), label="2d", edge_shapes=(((4, 3, 7),), ((0, 3, 2),))),
    Row("batch_norm", evaluated, (IMAGES, (4,), (4,)), lambda x, m, v: (x - along(m, x)) / np.sqrt(along(v, x) + 1e-5),
        POSITIVE, grad=(0,), label="eval"),
    Row("batch_norm", evaluated, (IMAGES, (4,), (4,), (4,), (4,)), domain=(*POSITIVE, (-1.0, 1.0), (-1.0, 1.0)),
        grad=(0, 3, 4), label="eval-affine"),
    Row("instance_norm", lambda t, x, w, b: t.nn.functional.instance_norm(x, weight=w, bias=b), AFFINE,
        lambda x, w, b: normalized(x, (2, 3), w, b)),
    Row("group_norm", lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b), AFFINE, grouped, dtypes=HALF,
        edge_shapes=(((0, 4, 2), (4,), (4,)), ((3, 4), (4,), (4,)))),
    Row("group_norm", lambda t, x: t.nn.functional.group_norm(x, 1), ((2, 3, 4),), lambda x: normalized(x, (1, 2)),
        label="plain"),
    Row("local_response_norm", lambda t, x: t.nn.functional.local_response_norm(x, 3), ((2, 4, 3),), neighbours),
]  # fmt: skip
