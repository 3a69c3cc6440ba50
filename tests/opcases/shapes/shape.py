"""Rows of shape changes, views, rearrangements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Row

OTHER = ("float16", "bfloat16", "complex64", "int64", "bool")


def _windows(x: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2]


def _chain(t: Any) -> tuple[Any, ...]:
    """A view as the engine remembers it: rows 1 and 2, transposed (clarion only)."""
    from clarion.core.namespace import OPS

    return (((), (OPS["slice"], (0, 1, 3, 1), None)), (OPS["t"], (), None))


def _internal(name: str) -> Any:
    """An internal operation of clarion, which PyTorch does not have."""

    def call(t: Any, *tensors: Any) -> Any:
        from clarion.core.namespace import OPS

        return OPS[name].call(*tensors, _chain(t), _layout(tensors[0]))

    return call


def _raw(name: str, *params: Any) -> Any:
    """A gradient that is an operation of its own, called with its parameters."""

    def call(t: Any, *tensors: Any) -> Any:
        from clarion.core.namespace import OPS

        return OPS[name].call(*tensors, *params)

    return call


def _put(part: Any) -> Any:
    out = np.zeros((4, 3), part.dtype)
    out[1:3] = part.T
    return out


def _scatter(x: Any, part: Any) -> Any:
    out = x.copy()
    out[1:3] = part.T
    return out


def _place(shape: tuple[int, ...], index: Any) -> Any:
    def ref(g: Any) -> Any:
        out = np.zeros(shape, g.dtype)
        out[index] = g
        return out

    return ref


def _replaced(index: Any) -> Any:
    def ref(x: Any, src: Any) -> Any:
        out = x.copy()
        out[index] = src
        return out

    return ref


def _unfold_backward(g: Any) -> Any:
    out = np.zeros((2, 7), g.dtype)
    for i in range(3):
        out[:, 2 * i : 2 * i + 3] += g[:, i]
    return out


def _strided_backward(g: Any) -> Any:
    out = np.zeros(6, g.dtype)
    for i in range(2):
        for j in range(3):
            out[1 + i + j] += g[i, j]
    return out.reshape(2, 3)


def _strided_ref(x: Any) -> Any:
    return np.array([[x.reshape(-1)[1 + i + j] for j in range(3)] for i in range(2)], x.dtype)


def _strided_scatter(x: Any, src: Any) -> Any:
    out = x.copy().reshape(-1)
    out[1:5:2] = src
    return out.reshape(x.shape)


STRIDED = ((2, 3), (1, 1), 1, (3, 1))

ROWS = [
    Row("view", lambda t, x: x.view(2, -1), ((3, 4),), lambda x: x.reshape(2, -1), dtypes=OTHER),
    Row("reshape", lambda t, x: x.t().reshape(2, -1), ((3, 4),), lambda x: x.T.reshape(2, -1), dtypes=OTHER),
    Row("view_dtype", lambda t, x: x.view(t.int16), ((3, 4),), lambda x: x.view(np.int16), grad=()),
    Row("expand", lambda t, x: x.expand(2, -1, 4), ((3, 1),), lambda x: np.broadcast_to(x, (2, 3, 4)), dtypes=OTHER),
    Row("sum_to", _raw("sum_to", (3, 1)), ((2, 3, 4),), lambda x: x.sum((0, 2))[:, None]),
    Row("permute", lambda t, x: x.permute(2, 0, 1), ((2, 3, 4),), lambda x: x.transpose(2, 0, 1), dtypes=OTHER),
    Row("transpose", lambda t, x: t.transpose(x, 0, -1), ((2, 3, 4),), lambda x: x.swapaxes(0, 2), dtypes=OTHER),
    Row("t", lambda t, x: x.t(), ((2, 3),), lambda x: x.T, edge_shapes=(((),), ((3,),), ((0, 3),))),
    Row("squeeze", lambda t, x: t.squeeze(x), ((1, 3, 1),), lambda x: x.squeeze(), edge_shapes=(((),), ((1, 0),))),
    Row("squeeze_dim", lambda t, x: x.squeeze(-1), ((3, 1),), lambda x: x.squeeze(-1)),
    Row("squeeze_dims", lambda t, x: x.squeeze((0, 1)), ((3, 1),), lambda x: x.squeeze(1)),
    Row("unsqueeze", lambda t, x: x.unsqueeze(-2), ((2, 3),), lambda x: x[:, None], edge_shapes=(((0, 2),),)),
    Row("alias", lambda t, x: x[...], ((2, 3),), lambda x: x),
    Row("select", lambda t, x: x.select(-1, -2), ((2, 3),), lambda x: x[:, 1], dtypes=OTHER),
    Row("select_backward", _raw("select_backward", (2, 3), 1, 1), ((2,),), _place((2, 3), (slice(None), 1))),
    Row("slice", lambda t, x: x.narrow(1, 1, 2), ((2, 4),), lambda x: x[:, 1:3], dtypes=OTHER),
    Row("slice_backward", _raw("slice_backward", (5,), 0, 1, 5, 2), ((2,),), _place((5,), slice(1, 5, 2))),
    Row("narrow_copy", lambda t, x, **k: t.narrow_copy(x, 1, 1, 2, **k), ((2, 4),), lambda x: x[:, 1:3], out=True),
    Row("unfold", lambda t, x: x.unfold(1, 3, 2), ((2, 7),), _windows),
    Row("unfold_backward", _raw("unfold_backward", (2, 7), 1, 3, 2), ((2, 3, 3),), _unfold_backward),
    Row("as_strided", lambda t, x: x.as_strided((2, 3), (1, 1), 1), ((2, 3),), _strided_ref),
    Row("as_strided_copy", _raw("as_strided_copy", *STRIDED), ((2, 3),), _strided_ref),
    Row("as_strided_backward", _raw("as_strided_backward", (2, 3), *STRIDED), ((2, 3),), _strided_backward),
    Row(
        "as_strided_scatter",
        lambda t, x, y: t.as_strided_scatter(x, y, (2,), (2,), 1),
        ((2, 3), (2,)),
        _strided_scatter,
    ),
    Row("view_take", _internal("view_take"), ((4, 3),), lambda x: x[1:3].T),
    Row("view_put", lambda t, x: _raw("view_put", _chain(t), _layout(x))(t, x), ((3, 2),), _put),
    Row("view_clear", _internal("view_clear"), ((4, 3),), lambda x: _scatter(x, np.zeros((3, 2)))),
    Row("view_scatter", _internal("view_scatter"), ((4, 3), (3, 2)), _scatter),
    Row(
        "select_scatter",
        lambda t, x, y, **k: t.select_scatter(x, y, 1, 2, **k),
        ((2, 3), (2,)),
        _replaced((slice(None), 2)),
        out=True,
    ),
    Row(
        "slice_scatter",
        lambda t, x, y, **k: t.slice_scatter(x, y, 0, 1, 5, 2, **k),
        ((5, 2), (2, 2)),
        _replaced(slice(1, 5, 2)),
        out=True,
    ),
    Row("clone", lambda t, x: x.clone(), ((2, 3),), lambda x: x, dtypes=OTHER, edge_shapes=(((),), ((0, 2),))),
    Row("flip", lambda t, x: x.flip(0, -1), ((2, 3),), lambda x: x[::-1, ::-1], dtypes=OTHER),
    Row("roll", lambda t, x: x.roll((1, -2), (0, 1)), ((2, 3),), lambda x: np.roll(x, (1, -2), (0, 1)), dtypes=OTHER),
    Row("roll", lambda t, x: t.roll(x, 2), ((2, 3),), lambda x: np.roll(x, 2), label="flat"),
    Row("rot90", lambda t, x: t.rot90(x, 1, (0, 1)), ((2, 3),), lambda x: np.rot90(x), dtypes=OTHER),
    Row("repeat", lambda t, x: x.repeat(2, 1, 3), ((2, 3),), lambda x: np.tile(x, (2, 1, 3)), dtypes=OTHER),
]


def _layout(x: Any) -> tuple[Any, ...]:
    item = x.element_size()
    return (4, 3), (3 * item, item), np.dtype(str(x.dtype).rpartition(".")[2])
