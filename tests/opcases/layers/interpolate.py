"""Resampling, folding, shuffling of pixels and channels."""

from __future__ import annotations

import numpy as np

from clarion.core.namespace import OPS

from ..row import Row

HALF = ("float16", "bfloat16")
LINE, IMAGE, VOLUME = ((2, 3, 5),), ((2, 2, 3, 4),), ((1, 2, 2, 3, 2),)


def call(name, *args, **fixed):
    return lambda t, x: getattr(t.nn.functional, name)(x, *args, **fixed)


def sized(mode, size=None, **fixed):
    return call("interpolate", size, mode=mode, **fixed)


def chosen(x, sizes, shift=0.0):
    """The nearest neighbour in every dimension."""
    for i, size in enumerate(sizes):
        axis = x.ndim - len(sizes) + i
        x = x.take(np.floor((np.arange(size) + shift) * x.shape[axis] / size).astype(int), axis)
    return x


def lines(x, sizes, align=False):
    """Linear in every dimension, by NumPy's own interpolation."""
    for i, size in enumerate(sizes):
        axis = x.ndim - len(sizes) + i
        n = x.shape[axis]
        at = np.arange(size)
        at = at * (n - 1) / max(size - 1, 1) if align else (at + 0.5) * n / size - 0.5
        x = np.apply_along_axis(lambda v: np.interp(at, np.arange(n), v), axis, x)
    return x


def widely(x, sizes):
    """Linear weights as wide as the step between outputs, which is larger than 1."""
    for i, size in enumerate(sizes):
        axis = x.ndim - len(sizes) + i
        step = x.shape[axis] / size
        away = np.abs(np.arange(x.shape[axis]) + 0.5 - step * (np.arange(size)[:, None] + 0.5)) / step
        weights = np.clip(1 - away, 0, None)
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ (weights / weights.sum(1, keepdims=True)).T, -1, axis)
    return x


def folded(x):
    """2 × 2 windows, one apart, padded by 1, added up again to 3 × 4."""
    n, rows, _ = x.shape
    out = np.zeros((n, rows // 4, 5, 6))
    columns = x.reshape(n, rows // 4, 2, 2, 4, 5)
    for i in range(2):
        for j in range(2):
            out[:, :, i : i + 4, j : j + 5] += columns[:, :, i, j]
    return out[:, :, 1:-1, 1:-1]


def unfolded(x):
    seen = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))  # N C H W i j
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(x.shape[0], x.shape[1] * 4, np.prod(seen.shape[2:4]))


def shuffled(x):
    n, c, h, w = x.shape
    return x.reshape(n, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // 4, 2 * h, 2 * w)


def unshuffled(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


def dealt(x):
    return x[:, [0, 3, 1, 4, 2, 5]]


def inner(name, *params):
    """An operation that only gradients use."""

    def run(t, *xs):
        return OPS[name].call(*xs, *params)

    run.internal = True
    return run


ROWS = [
    Row("upsample_nearest1d", sized("nearest", 8), LINE, lambda x: chosen(x, (8,)), dtypes=HALF),
    Row("upsample_nearest2d", sized("nearest", (5, 2)), IMAGE, lambda x: chosen(x, (5, 2)), dtypes=HALF,
        edge_shapes=(((0, 2, 3, 4),),)),
    Row("upsample_nearest2d", sized("nearest", scale_factor=2.5), IMAGE, label="scale"),
    Row("upsample_nearest3d", sized("nearest", scale_factor=2), VOLUME, lambda x: chosen(x, (4, 6, 4))),
    Row("upsample_nearest_exact1d", sized("nearest-exact", 7), LINE, lambda x: chosen(x, (7,), 0.5)),
    Row("upsample_nearest_exact2d", sized("nearest-exact", (5, 2)), IMAGE, lambda x: chosen(x, (5, 2), 0.5)),
    Row("upsample_nearest_exact3d", sized("nearest-exact", (3, 2, 5)), VOLUME, lambda x: chosen(x, (3, 2, 5), 0.5)),
    Row("upsample_linear1d", sized("linear", 8), LINE, lambda x: lines(x, (8,)), dtypes=HALF),
    Row("upsample_linear1d", sized("linear", 3, align_corners=True), LINE, lambda x: lines(x, (3,), True), label="aligned"),
    Row("upsample_bilinear2d", sized("bilinear", (5, 7)), IMAGE, lambda x: lines(x, (5, 7)), dtypes=HALF),
    Row("upsample_bilinear2d", sized("bilinear", scale_factor=1.7), IMAGE, label="scale"),
    Row("upsample_trilinear3d", sized("trilinear", (3, 2, 4)), VOLUME, lambda x: lines(x, (3, 2, 4))),
    Row("upsample_bicubic2d", sized("bicubic", (5, 3)), IMAGE, dtypes=HALF),
    Row("upsample_bicubic2d", sized("bicubic", (5, 3), align_corners=True), IMAGE, label="aligned"),
    Row("upsample_bilinear2d_aa", sized("bilinear", (2, 3), antialias=True), ((2, 2, 5, 7),), lambda x: widely(x, (2, 3))),
    Row("upsample_bilinear2d_aa", sized("bilinear", (2, 9), antialias=True, align_corners=True), ((2, 2, 5, 7),),
        label="aligned"),
    Row("upsample_bicubic2d_aa", sized("bicubic", (2, 9), antialias=True), ((2, 2, 5, 7),)),
    Row("upsample_lanczos2d_aa", sized("lanczos", (3, 4), antialias=True), ((2, 2, 7, 9),)),
    Row("resample_backward", inner("resample_backward", (3,), "nearest", (None,), False), ((2, 6),),
        lambda g: g.reshape(2, 3, 2).sum(-1)),
    Row("im2col", call("unfold", 2), IMAGE, unfolded, dtypes=(*HALF, "complex64"), edge_shapes=(((0, 2, 3, 4),),)),
    Row("im2col", call("unfold", (2, 1), 2, 1, 2), IMAGE, label="dilated"),
    Row("col2im", call("fold", (3, 4), 2, padding=1), ((2, 8, 20),), folded, dtypes=HALF),
    Row("pixel_shuffle", call("pixel_shuffle", 2), ((2, 8, 2, 3),), shuffled, dtypes=("int64", *HALF)),
    Row("pixel_unshuffle", call("pixel_unshuffle", 2), ((2, 2, 4, 6),), unshuffled, dtypes=("int64", *HALF)),
    Row("channel_shuffle", call("channel_shuffle", 2), ((2, 6, 2, 2),), dealt, dtypes=("int64", *HALF)),
]  # fmt: skip
