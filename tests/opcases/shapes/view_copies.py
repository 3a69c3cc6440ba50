"""Copies of what views show, and parts that are not watched."""

from __future__ import annotations

import numpy as np

from ..row import Row

M = ((3, 4),)
THIN = ((3, 1, 4),)
KINDS = ("int64", "bool", "float16", "complex64")


def _pairs(x):
    return np.stack([x.real, x.imag], -1)


def _complex(*shape):
    return lambda rng: [rng.standard_normal(shape) + 1j * rng.standard_normal(shape)]


ROWS = [
    Row("view_copy", lambda t, x, **k: t.view_copy(x, (2, -1), **k), M, lambda x: x.reshape(2, 6), out=True, dtypes=KINDS),
    Row("expand_copy", lambda t, x, **k: t.expand_copy(x, (2, 3, 4), **k), ((3, 1),), lambda x: np.broadcast_to(x, (2, 3, 4)), out=True),
    Row("permute_copy", lambda t, x, **k: t.permute_copy(x, (2, 0, 1), **k), ((2, 3, 4),), lambda x: x.transpose(2, 0, 1), out=True, dtypes=KINDS),
    Row("transpose_copy", lambda t, x: t.transpose_copy(x, 0, 1), M, lambda x: x.T, dtypes=KINDS),
    Row("t_copy", lambda t, x: t.t_copy(x), M, lambda x: x.T, edge_shapes=(((),), ((3,),))),
    Row("squeeze_copy", lambda t, x: t.squeeze_copy(x), THIN, np.squeeze),
    Row("squeeze_dim_copy", lambda t, x: t.squeeze_copy(x, 1), THIN, np.squeeze, edge_shapes=(((2, 3),),)),
    Row("squeeze_dims_copy", lambda t, x: t.squeeze_copy(x, (0, 1)), THIN, np.squeeze),
    Row("unsqueeze_copy", lambda t, x: t.unsqueeze_copy(x, 1), M, lambda x: x[:, None], dtypes=KINDS),
    Row("select_copy", lambda t, x: t.select_copy(x, 1, -1), M, lambda x: x[:, -1]),
    Row("slice_copy", lambda t, x, **k: t.slice_copy(x, 1, 1, None, 2, **k), M, lambda x: x[:, 1::2], out=True),
    Row("unfold_copy", lambda t, x: t.unfold_copy(x, 1, 2, 1), M, lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 1)),
    Row("alias_copy", lambda t, x: t.alias_copy(x), M, lambda x: x, dtypes=KINDS),
    Row("view_as_complex_copy", lambda t, x: t.view_as_complex_copy(x), ((3, 2),), lambda x: x[..., 0] + 1j * x[..., 1], grad=()),
    Row("view_as_real_copy", lambda t, x: t.view_as_real_copy(x), inputs=_complex(2, 3), ref=_pairs),
    Row("split_copy", lambda t, x: t.split_copy(x, 2, 1), ((2, 5),), lambda x: tuple(np.split(x, [2, 4], 1)), dtypes=KINDS),
    Row("split_with_sizes_copy", lambda t, x: t.split_with_sizes_copy(x, [1, 4], 1), ((2, 5),), lambda x: tuple(np.split(x, [1], 1))),
    Row("unbind_copy", lambda t, x: t.unbind_copy(x, 1), M, lambda x: tuple(x.T), dtypes=KINDS),
    Row("unbind_copy", lambda t, x: t.unbind_copy(x, 1)[2], M, lambda x: x[:, 2], label="one of them"),
    Row("unsafe_split", lambda t, x: t.unsafe_split(x, 2), ((5, 2),), lambda x: tuple(np.split(x, [2, 4]))),
    Row("unsafe_split", lambda t, x: x.unsafe_chunk(2, 1), ((2, 5),), lambda x: tuple(np.split(x, [3], 1)), label="chunk"),
    Row("unsafe_split_with_sizes", lambda t, x: x.unsafe_split_with_sizes([1, 4]), ((5, 2),), lambda x: tuple(np.split(x, [1]))),
]  # fmt: skip
