"""Padding."""

from __future__ import annotations

import numpy as np

from ..row import Row, either

ROUND = ("float16", "bfloat16")


def pad(shape, widths, mode, ref_mode, **more):
    numpy_widths = [(0, 0)] * (len(shape) - len(widths) // 2) + list(zip(widths[::2], widths[1::2], strict=True))[::-1]
    name = {"reflect": "reflection_pad", "replicate": "replication_pad"}[mode] + f"{len(widths) // 2}d"
    return Row(
        name,
        lambda t, x: t.nn.functional.pad(x, widths, mode),
        (shape,),
        lambda x: np.pad(x, numpy_widths, mode=ref_mode),
        dtypes=ROUND,
        **more,
    )


ROWS = [
    Row(
        "constant_pad_nd",
        lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 3), value=1.5),
        ((2, 3, 4),),
        lambda x: np.pad(x, ((0, 0), (0, 3), (1, 2)), constant_values=1.5),
        dtypes=("float16", "bfloat16", "int64", "bool", "complex128"),
    ),
    Row("constant_pad_nd", lambda t, x: t.nn.functional.pad(x, (-1, 2)), ((2, 4),), None, label="negative"),
    pad((2, 5), (1, 2), "reflect", "reflect"),
    pad((2, 4, 5), (1, 2, 3, 0), "reflect", "reflect"),
    pad((2, 4, 5, 3), (1, 2, 3, 0, 1, 1), "reflect", "reflect"),
    pad((2, 5), (1, 7), "replicate", "edge"),
    pad((2, 4, 5), (1, 2, 3, 0), "replicate", "edge"),
    pad((2, 4, 5, 3), (1, 2, 3, 0, 1, 1), "replicate", "edge"),
    Row(
        "circular_pad",
        lambda t, x: t.nn.functional.pad(x, (1, 2), "circular"),
        ((2, 5),),
        lambda x: np.pad(x, ((0, 0), (1, 2)), mode="wrap"),
    ),
]

# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row(
        "pad_by_copy_backward",
        either(
            "pad_by_copy_backward",
            ((2, 5), ((0, 0), (1, 2)), "replicate"),
            lambda t, g: t.ops.aten.replication_pad1d_backward(g, t.zeros(2, 5, dtype=g.dtype), (1, 2)),
        ),
        ((2, 8),),
    ),
]
