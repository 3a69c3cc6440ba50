"""Pooling: the largest, the mean, adaptive windows, the p-norm, and back from the largest."""

from __future__ import annotations

import itertools

import numpy as np

from clarion.core.namespace import OPS

from ..row import Row

HALF = ("float16", "bfloat16")
IMAGE = ((2, 3, 5, 6),)
BATCHES = (((0, 3, 5, 6),), ((3, 5, 6),))


def pool(name, *args, **fixed):
    return lambda t, x, **more: getattr(t.nn.functional, name)(x, *args, **fixed, **more)


def windows(x, n, k, s, p, fill):
    """Every window of the last n dimensions, (…, *L, *K)."""
    if p:
        x = np.pad(x, [(0, 0)] * (x.ndim - n) + [(p, p)] * n, constant_values=fill)
    axes = tuple(range(x.ndim - n, x.ndim))
    seen = np.lib.stride_tricks.sliding_window_view(x, (k,) * n, axes)
    return seen[(Ellipsis, *[slice(None, None, s)] * n, *[slice(None)] * n)]


def largest(n, k, s, p=0):
    return lambda x: windows(x, n, k, s, p, -np.inf).max(axis=tuple(range(-n, 0)))


def mean(n, k, s, p=0):
    return lambda x: windows(x, n, k, s, p, 0).mean(axis=tuple(range(-n, 0)))


def adaptive(reduce, *sizes):
    """The definition of adaptive windows, one after the other."""

    def ref(x):
        n = len(sizes)
        shape = x.shape[-n:]
        out = np.empty((*x.shape[:-n], *sizes))
        for place in itertools.product(*map(range, sizes)):
            window = tuple(
                slice(i * m // s, -((-(i + 1) * m) // s)) for i, m, s in zip(place, shape, sizes, strict=True)
            )
            out[(Ellipsis, *place)] = reduce(x[(Ellipsis, *window)], axis=tuple(range(-n, 0)))
        return out

    return ref


def apart(*shape):
    """Values no two of which are close: finite differences do not change which is the largest."""

    def make(rng):
        return [rng.permutation(np.prod(shape)).reshape(shape) / 7.0]

    return make


def with_places(*shape, plane):
    """Values, and places that differ."""

    def make(rng):
        rows = [rng.permutation(plane)[: np.prod(shape[2:])] for _ in range(shape[0] * shape[1])]
        return [rng.standard_normal(shape), np.stack(rows).reshape(shape)]

    return make


def inner(name, *params):
    """An operation that only gradients use."""

    def call(t, *xs):
        return OPS[name].call(*xs, *params)

    call.internal = True
    return call


def put(x, places, shape):
    out = np.zeros((*x.shape[:2], np.prod(shape)))
    np.put_along_axis(out, places.reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), 2)
    return out.reshape(*x.shape[:2], *shape)


def taken(x, places):
    flat = np.take_along_axis(x.reshape(*x.shape[:2], -1), places.reshape(*x.shape[:2], -1), 2)
    return flat.reshape(places.shape)


def spread(g):
    """The gradient of means of 2 × 2 windows."""
    return np.repeat(np.repeat(g, 2, -1), 2, -2) / 4


def places_in(rng):
    return [rng.standard_normal((2, 1, 3, 4)), *with_places(2, 1, 2, 2, plane=12)(rng)[1:]]


ROWS = [
    Row("max_pool2d", pool("max_pool2d", 2), inputs=apart(2, 3, 5, 6), ref=largest(2, 2, 2), dtypes=(*HALF, "int64"),
        edge_shapes=BATCHES),
    Row("max_pool2d", pool("max_pool2d", 3, 2, 1), inputs=apart(2, 3, 5, 6), ref=largest(2, 3, 2, 1), label="overlapping"),
    Row("max_pool2d", pool("max_pool2d", 2, 2, 0, 2, True), inputs=apart(2, 2, 6, 5), label="dilated-ceil"),
    Row("max_pool2d", pool("max_pool2d", 2, return_indices=True), inputs=apart(2, 3, 4, 6), label="indices"),
    Row("max_pool2d", pool("max_pool1d", 3, 2), inputs=apart(2, 3, 7), ref=largest(1, 3, 2), label="1d"),
    Row("max_pool3d", pool("max_pool3d", 2, padding=1), inputs=apart(1, 2, 3, 4, 4), ref=largest(3, 2, 2, 1)),
    Row("adaptive_max_pool2d", pool("adaptive_max_pool2d", (2, 4)), inputs=apart(2, 2, 5, 6),
        ref=adaptive(np.max, 2, 4), dtypes=HALF),
    Row("adaptive_max_pool2d", pool("adaptive_max_pool2d", (3, 2), return_indices=True), inputs=apart(2, 2, 6, 4),
        label="even"),
    Row("adaptive_max_pool2d", pool("adaptive_max_pool1d", 3), inputs=apart(2, 2, 7), ref=adaptive(np.max, 3), label="1d"),
    Row("adaptive_max_pool3d", pool("adaptive_max_pool3d", (2, None, 1)), inputs=apart(1, 2, 3, 2, 4),
        ref=adaptive(np.max, 2, 2, 1)),
    Row("avg_pool2d", pool("avg_pool2d", 2), IMAGE, mean(2, 2, 2), dtypes=HALF, edge_shapes=BATCHES),
    Row("avg_pool2d", pool("avg_pool2d", 3, 2, 1), IMAGE, mean(2, 3, 2, 1), label="padded"),
    Row("avg_pool2d", pool("avg_pool2d", 3, 2, 1, True, False), IMAGE, label="ceil-without-padding"),
    Row("avg_pool2d", pool("avg_pool2d", 2, divisor_override=3), IMAGE, lambda x: mean(2, 2, 2)(x) * 4 / 3, label="divisor"),
    Row("avg_pool2d", pool("avg_pool1d", 3, 1), ((2, 3, 6),), mean(1, 3, 1), label="1d"),
    Row("avg_pool3d", pool("avg_pool3d", 2, 1), ((1, 2, 3, 4, 3),), mean(3, 2, 1)),
    Row("avg_pool_backward", inner("avg_pool_backward", (4, 6), (2, 2), (2, 2), (0, 0), True, None), ((2, 2, 2, 3),), spread),
    Row("adaptive_avg_pool2d", pool("adaptive_avg_pool2d", (2, 4)), IMAGE, adaptive(np.mean, 2, 4), dtypes=HALF),
    Row("adaptive_avg_pool2d", pool("adaptive_avg_pool1d", 4), ((2, 3, 7),), adaptive(np.mean, 4), label="1d"),
    Row("adaptive_avg_pool2d", pool("adaptive_avg_pool2d", 7), ((2, 2, 3, 4),), adaptive(np.mean, 7, 7), label="larger"),
    Row("adaptive_avg_pool2d", pool("adaptive_avg_pool2d", 1), IMAGE, adaptive(np.mean, 1, 1), label="one"),
    Row("adaptive_avg_pool3d", pool("adaptive_avg_pool3d", (2, 1, 3)), ((1, 2, 3, 4, 4),), adaptive(np.mean, 2, 1, 3)),
    Row("lp_pool2d", pool("lp_pool2d", 3, 2), IMAGE, lambda x: mean(2, 2, 2)(x**3 * 4) ** (1 / 3), (0.2, 2.0)),
    Row("lp_pool1d", pool("lp_pool1d", 2, 2, stride=1), ((2, 3, 6),), lambda x: mean(1, 2, 1)(x**2 * 2) ** 0.5),
    Row("max_unpool2d", lambda t, x, i: t.nn.functional.max_unpool2d(x, i, 2), inputs=with_places(2, 2, 2, 3, plane=24),
        ref=lambda x, i: put(x, i, (4, 6))),
    Row("max_unpool2d", lambda t, x, i: t.nn.functional.max_unpool1d(x, i, 2, output_size=(7,)),
        inputs=with_places(2, 2, 3, plane=7), ref=lambda x, i: put(x, i, (7,)), label="1d"),
    Row("max_unpool3d", lambda t, x, i: t.nn.functional.max_unpool3d(x, i, 2), inputs=with_places(1, 2, 2, 1, 2, plane=32),
        ref=lambda x, i: put(x, i, (4, 2, 4))),
    Row("take_at_places", inner("take_at_places", 2), inputs=places_in, ref=taken),
    Row("add_at_places", inner("add_at_places", (2, 2, 4, 6), 2), inputs=with_places(2, 2, 2, 3, plane=24),
        ref=lambda x, i: put(x, i, (4, 6))),
]  # fmt: skip
