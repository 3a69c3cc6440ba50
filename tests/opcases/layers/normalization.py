"""Layer and RMS norm."""

from __future__ import annotations

import numpy as np

from ..row import Row, either

ROUND = ("float16", "bfloat16")


def layer_norm(x, w=1.0, b=0.0):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def rms_norm(x, w=1.0):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.1) * w


ROWS = [
    Row("layer_norm", lambda t, x: t.nn.functional.layer_norm(x, (6,)), ((4, 6),), layer_norm, dtypes=ROUND),
    Row(
        "layer_norm",
        lambda t, x, w, b: t.nn.functional.layer_norm(x, (6,), w, b),
        ((2, 4, 6), (6,), (6,)),
        layer_norm,
        label="affine",
        edge_shapes=(((0, 6), (6,), (6,)), ((6,), (6,), (6,))),
    ),
    Row("layer_norm", lambda t, x, w: t.nn.functional.layer_norm(x, (3, 4), w), ((2, 3, 4), (3, 4)), label="2d"),
    Row("rms_norm", lambda t, x: t.nn.functional.rms_norm(x, (6,), eps=0.1), ((4, 6),), rms_norm),
    Row(
        "rms_norm",
        lambda t, x, w: t.nn.functional.rms_norm(x, (6,), w, 0.1),
        ((2, 4, 6), (6,)),
        rms_norm,
        label="weight",
    ),
    Row("normalize", lambda t, x: t.nn.functional.normalize(x, dim=1), ((3, 4),), None),
]

# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row("sum_of_rows", either("sum_of_rows", (1,), lambda t, x: x.sum((0, 1))), ((2, 3, 4),), lambda x: x.sum((0, 1))),
]
