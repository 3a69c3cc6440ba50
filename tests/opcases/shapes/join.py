"""Rows of joining and splitting, triangles and diagonals, grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..row import Row

OTHER = ("float16", "bfloat16", "complex64", "int64", "bool")


def _unsplit(t: Any, a: Any, b: Any) -> Any:
    from clarion.core.namespace import OPS

    return OPS["unsplit"].call((a, None, b), (2, 6), (1, 3, 2), 1)


def _unbound(t: Any, a: Any, b: Any) -> Any:
    from clarion.core.namespace import OPS

    return OPS["unbind_backward"].call((a, None, b), (2, 3), 1)


def _diagonal_backward(t: Any, g: Any) -> Any:
    from clarion.core.namespace import OPS

    return OPS["diagonal_backward"].call(g, (3, 4), 1, 0, 1)


def _grid_product(t: Any, a: Any, b: Any) -> Any:
    first, second = t.meshgrid(a, b, indexing="ij")
    return first * second


def _on_diagonal(x: Any, src: Any) -> Any:
    out = x.copy()
    out[np.arange(3), np.arange(1, 4)] = src
    return out


ROWS = [
    Row(
        "cat",
        lambda t, a, b, **k: t.cat([a, b], -1, **k),
        ((2, 1), (2, 3)),
        lambda a, b: np.concatenate([x for x in (a, b) if x.shape != (0,)], -1),  # a plain empty tensor fits anywhere
        out=True,
        dtypes=OTHER,
        edge_shapes=(((2, 0), (2, 3)), ((0,), (2, 3))),
    ),
    Row(
        "stack",
        lambda t, a, b, **k: t.stack((a, b), 1, **k),
        ((2, 3), (2, 3)),
        lambda a, b: np.stack([a, b], 1),
        out=True,
        dtypes=OTHER,
        edge_shapes=(((0,), (0,)),),
    ),
    Row("unbind", lambda t, x: x.unbind(1)[2], ((2, 3),), lambda x: x[:, 2]),
    Row("unbind_backward", _unbound, ((2,), (2,)), lambda a, b: np.stack([a, 0 * a, b], 1)),
    Row("split", lambda t, x: x.split(2, 1)[1], ((2, 5),), lambda x: x[:, 2:4]),
    Row("split_with_sizes", lambda t, x: x.split([1, 4], 1)[1], ((2, 5),), lambda x: x[:, 1:]),
    Row("unsplit", _unsplit, ((2, 1), (2, 2)), lambda a, b: np.concatenate([a, np.zeros((2, 3)), b], 1)),
    Row("block_diag", lambda t, a, b: t.block_diag(a, b), ((2, 3), (2,)), lambda a, b: scipy.linalg.block_diag(a, b)),
    Row(
        "tril",
        lambda t, x, **k: t.tril(x, 1, **k),
        ((2, 3, 4),),
        lambda x: np.tril(x, 1),
        inplace=lambda t, x: x.tril_(1),
        out=True,
        dtypes=OTHER,
    ),
    Row(
        "triu",
        lambda t, x, **k: t.triu(x, -1, **k),
        ((2, 4, 3),),
        lambda x: np.triu(x, -1),
        inplace=lambda t, x: x.triu_(-1),
        out=True,
        dtypes=OTHER,
    ),
    Row("diagonal", lambda t, x: x.diagonal(1, 0, 2), ((3, 2, 4),), lambda x: x.diagonal(1, 0, 2)),
    Row("diagonal_copy", lambda t, x, **k: t.diag(x, -1, **k), ((3, 4),), lambda x: x.diagonal(-1), out=True),
    Row("diagonal_backward", _diagonal_backward, ((3,),), lambda g: _on_diagonal(np.zeros((3, 4)), g)),
    Row(
        "diagonal_scatter",
        lambda t, x, y, **k: t.diagonal_scatter(x, y, 1, **k),
        ((3, 4), (3,)),
        _on_diagonal,
        out=True,
    ),
    Row("diag_embed", lambda t, x: t.diag_embed(x), ((2, 3),), lambda x: x[..., None] * np.eye(3), dtypes=OTHER),
    Row("trace", lambda t, x: x.trace(), ((3, 4),), np.trace),
    Row("kron", lambda t, a, b: t.kron(a, b), ((2, 3), (2, 2)), np.kron),
    Row("meshgrid", _grid_product, ((2,), (3,)), np.outer),
    Row(
        "repeat_interleave",
        lambda t, x: x.repeat_interleave(2, dim=1),
        ((2, 3),),
        lambda x: np.repeat(x, 2, 1),
    ),
]
