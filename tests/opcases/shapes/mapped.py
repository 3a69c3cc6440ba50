"""The operations on the way into `vmap` and out of it."""

from __future__ import annotations

import numpy as np

from ..row import Row


def _shared(t, x, w):
    """`w` is recorded outside, and shared by all samples."""
    return t.func.vmap(lambda a: a * w)(x)


def _common(t, x):
    """Of what all samples share one is given back."""
    return t.func.vmap(lambda a, b: b * b, in_dims=(0, None), out_dims=None)(x, x)


ROWS = [
    Row("batch", lambda t, x: t.func.vmap(lambda a: a.sin(), in_dims=1)(x), ((2, 3),), lambda x: np.sin(x).T),
    Row("unbatch", lambda t, x: t.func.vmap(lambda a: a.sin(), out_dims=1)(x), ((2, 3),), lambda x: np.sin(x).T),
    Row("unbatch_view", lambda t, x: t.func.vmap(lambda a: a[1:])(x), ((2, 3),), lambda x: x[:, 1:]),
    Row("same_for_all", _shared, ((2, 3), (3,)), lambda x, w: x * w),
    Row("sum_of_samples", _shared, ((4, 3), (3,)), lambda x, w: x * w),
    Row("common_sample", _common, ((2, 3),), lambda x: x * x),
]
