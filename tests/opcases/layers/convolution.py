"""Convolutions: strides, padding, dilation, groups, transposed forms, and the operations their gradients are made of."""

from __future__ import annotations

import itertools

import numpy as np

from clarion.core.namespace import OPS

from ..row import Row

HALF = ("float16", "bfloat16")


def correlated(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """The definition, one window after the other."""
    n = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * n])
    size = [(m - dilation * (k - 1) - 1) // stride + 1 for m, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *size), np.result_type(x, w))
    inside, outside = x.shape[1] // groups, w.shape[0] // groups
    for place in itertools.product(*map(range, size)):
        window = tuple(
            slice(p * stride, p * stride + dilation * (k - 1) + 1, dilation)
            for p, k in zip(place, w.shape[2:], strict=True)
        )
        seen = x[(slice(None), slice(None), *window)]
        for o in range(w.shape[0]):
            part = seen[:, o // outside * inside : (o // outside + 1) * inside]
            out[(slice(None), o, *place)] = (part * w[o]).sum(axis=tuple(range(1, part.ndim)))
    return out if b is None else out + b.reshape(-1, *[1] * n)


def spread(x, w, b=None, stride=1, padding=0, extra=0):
    """The definition of the transposed form: every value puts a kernel."""
    n = w.ndim - 2
    size = [(m - 1) * stride + k + extra for m, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    out = np.zeros((x.shape[0], w.shape[1], *size))
    for place in itertools.product(*map(range, x.shape[2:])):
        window = tuple(slice(p * stride, p * stride + k) for p, k in zip(place, w.shape[2:], strict=True))
        value = x[(slice(None), slice(None), *place)]
        out[(slice(None), slice(None), *window)] += np.einsum("nc,co...->no...", value, w)
    inside = tuple(slice(padding, m - padding) for m in size)
    out = out[(slice(None), slice(None), *inside)]
    return out if b is None else out + b.reshape(-1, *[1] * n)


def conv(name, *args, **fixed):
    return lambda t, *xs: getattr(t.nn.functional, name)(*xs, *args, **fixed)


def inner(name, *params):
    """An operation that only gradients use."""

    def call(t, *xs):
        return OPS[name].call(*xs, *params)

    call.internal = True
    return call


def weight_gradient(g, x):
    return np.einsum("nol,nckl->ock", g, np.lib.stride_tricks.sliding_window_view(x, g.shape[2], 2))


def same(x, w):
    return correlated(np.pad(x, ((0, 0), (0, 0), (1, 2))), w)


ROWS = [
    Row("convolution", conv("conv1d"), ((2, 3, 7), (4, 3, 3), (4,)), correlated, label="1d", dtypes=(*HALF, "complex64"),
        edge_shapes=(((0, 3, 7), (4, 3, 3), (4,)),)),
    Row("convolution", conv("conv2d", stride=2, padding=1), ((2, 2, 5, 6), (3, 2, 3, 3), (3,)),
        lambda x, w, b: correlated(x, w, b, 2, 1), label="2d"),
    Row("convolution", conv("conv2d"), ((2, 3, 4, 5), (4, 3, 1, 1)), correlated, label="1x1"),
    Row("convolution", conv("conv2d", groups=2), ((2, 4, 4, 4), (6, 2, 2, 2), (6,)),
        lambda x, w, b: correlated(x, w, b, groups=2), label="groups"),
    Row("convolution", conv("conv2d", padding=1, groups=3, stride=2), ((2, 3, 4, 5), (6, 1, 3, 3), (6,)),
        lambda x, w, b: correlated(x, w, b, 2, 1, groups=3), label="depthwise"),
    Row("convolution", conv("conv1d", padding=1, groups=2), ((2, 2, 24), (4, 1, 3), (4,)),
        lambda x, w, b: correlated(x, w, b, padding=1, groups=2), label="depthwise-flat", dtypes=("complex64",)),
    Row("convolution", conv("conv2d", dilation=2), ((1, 2, 6, 5), (2, 2, 3, 2)),
        lambda x, w: correlated(x, w, dilation=2), label="dilated"),
    Row("convolution", conv("conv1d", padding="same"), ((2, 2, 6), (3, 2, 4)), same, label="same"),
    Row("convolution", conv("conv2d", padding=1, groups=2), ((4, 4, 3, 5), (2, 2, 3, 3), (2,)),
        lambda x, w, b: correlated(x, w, b, padding=1, groups=2), label="rows-of-all-images"),
    Row("convolution", conv("conv1d", groups=2), ((2, 4, 24), (6, 2, 3), (6,)),
        lambda x, w, b: correlated(x, w, b, groups=2), label="flat"),
    Row("convolution", conv("conv1d", padding=1, dilation=2), ((2, 2, 32), (2, 2, 3)),
        lambda x, w: correlated(x, w, padding=1, dilation=2), label="flat-dilated"),
    Row("convolution", conv("conv3d", padding=1, stride=2), ((1, 2, 3, 4, 3), (2, 2, 2, 3, 2), (2,)),
        lambda x, w, b: correlated(x, w, b, 2, 1), label="3d"),
    Row("convolution", conv("conv_transpose1d", stride=2, padding=1, output_padding=1), ((2, 3, 4), (3, 2, 3), (2,)),
        lambda x, w, b: spread(x, w, b, 2, 1, 1), label="transposed-1d"),
    Row("convolution", conv("conv_transpose2d", stride=2), ((2, 3, 3, 2), (3, 2, 3, 2), (2,)),
        lambda x, w, b: spread(x, w, b, 2), label="transposed-2d"),
    Row("convolution", conv("conv_transpose2d", groups=2), ((1, 4, 3, 2), (4, 2, 2, 2)), label="transposed-groups"),
    Row("convolution", conv("conv_transpose2d", groups=3, stride=2), ((1, 3, 3, 2), (3, 1, 2, 2)),
        label="transposed-depthwise"),
    Row("convolution", conv("conv_transpose3d"), ((1, 2, 2, 3, 2), (2, 2, 2, 2, 1), (2,)), spread, label="transposed-3d"),
    Row("correlate", inner("correlate", (1,), (1,), (1,), 1), ((2, 2, 5), (3, 2, 3)),
        lambda x, w: correlated(x, w, padding=1)),
    Row("correlate_input", inner("correlate_input", (2,), (1,), (1,), 1, (6,)), ((2, 3, 3), (3, 2, 3)),
        lambda x, w: spread(x, w, None, 2, 1, 1)),
    Row("correlate_weight", inner("correlate_weight", (1,), (0,), (1,), 1, (3,)), ((2, 3, 4), (2, 2, 6)), weight_gradient),
]  # fmt: skip
