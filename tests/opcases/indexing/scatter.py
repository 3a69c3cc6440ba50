"""Rows of gather, scatter, the index_* family, take and put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..row import Row
from .reading import adjoint

ALONG = np.array([[0, 2, 1, 0], [2, 0, 1, 1]])
ROWS_TWICE = np.array([2, 0, 2])
TYPES = ("int64", "float16", "complex128")


def scattered(index: Any = ALONG, shape: tuple[int, ...] = (3, 4)) -> Callable[[np.random.Generator], list[Any]]:
    """x, an index, and a source of its shape."""
    return lambda rng: [rng.standard_normal(shape), index, rng.standard_normal(index.shape)]


def rows(shape: tuple[int, ...] = (3, 4), dim: int = 0) -> Callable[[np.random.Generator], list[Any]]:
    """x, a vector of indices, and a source with one slice for each."""
    source = (*shape[:dim], len(ROWS_TWICE), *shape[dim + 1 :])
    return lambda rng: [rng.standard_normal(shape), ROWS_TWICE, rng.standard_normal(source)]


def _zeros_meet(rng: np.random.Generator) -> list[Any]:
    source = rng.standard_normal((2, 4))
    source[0, 0] = source[1, 1] = 0
    return [rng.standard_normal((3, 4)), ALONG, source]


def _reduce(reduce: str, include_self: bool = True) -> Callable[..., Any]:
    return lambda t, x, i, s, **k: t.scatter_reduce(x, 0, i, s, reduce, include_self=include_self, **k)


def _reduce_rows(reduce: str, include_self: bool = True) -> Callable[..., Any]:
    return lambda t, x, i, s, **k: t.index_reduce(x, 0, i, s, reduce, include_self=include_self, **k)


def _product_gradient(t: Any, x: Any, i: Any, s: Any) -> Any:
    s = s if s.requires_grad else s.detach().requires_grad_(True)
    return t.autograd.grad(t.scatter_reduce(x, 0, i, s, "prod").sum(), s, create_graph=True)[0]


_product_gradient.differentiates = True  # type: ignore[attr-defined]


ROWS = [
    Row(
        "gather",
        lambda t, x, i, **k: t.gather(x, 0, i, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ALONG],
        ref=lambda x, i: np.take_along_axis(x, i, 0),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "gather",
        lambda t, x, i: t.gather(x, -1, i),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ALONG],
        label="part",
    ),
    Row(
        "gather_backward",
        adjoint(lambda t, x, i: t.gather(x, 0, i), (3, 4)),
        inputs=lambda rng: [rng.standard_normal((2, 4)), ALONG],
    ),
    Row(
        "scatter",
        lambda t, x, i, s, **k: t.scatter(x, 0, i, s, **k),
        inputs=scattered(np.array([[0, 2, 1, 0]])),
        inplace=lambda t, x, i, s: x.scatter_(0, i, s),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "scatter_value",
        lambda t, x, i, **k: t.scatter(x, 0, i, 2.0, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ALONG],
        inplace=lambda t, x, i: x.scatter_(0, i, 2.0),
        out=True,
    ),
    Row(
        "scatter_add",
        lambda t, x, i, s, **k: t.scatter_add(x, 0, i, s, **k),
        inputs=scattered(),
        inplace=lambda t, x, i, s: x.scatter_add_(0, i, s),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "scatter_combine",
        lambda t, x, i, s: t.scatter(x, 0, i, s, reduce="multiply"),
        inputs=scattered(),
        inplace=lambda t, x, i, s: x.scatter_(0, i, s, reduce="multiply"),
        grad=(),
    ),
    Row(
        "scatter_combine",
        lambda t, x, i, s: t.scatter(x, 0, i, 2.0, reduce="add"),
        inputs=scattered(),
        grad=(),
        label="number",
    ),
    Row("scatter_reduce_mean", _reduce("sum"), inputs=scattered(), out=True, label="sum"),
    Row("scatter_reduce_mean", _reduce("mean"), inputs=scattered(), label="mean"),
    Row("scatter_reduce_mean", _reduce("mean", False), inputs=scattered(), label="mean without self"),
    Row("scatter_reduce", _reduce("prod"), inputs=scattered(), label="prod"),
    Row("scatter_reduce", _reduce("prod", False), inputs=scattered(), label="prod without self"),
    Row("scatter_reduce", _reduce("prod"), inputs=_zeros_meet, second=False, label="prod with zeros"),
    Row("scatter_reduce", _reduce("amax"), inputs=scattered(), label="amax"),
    Row("scatter_reduce", _reduce("amin", False), inputs=scattered(), label="amin without self"),
    Row("meeting_count", _reduce("mean"), inputs=scattered()),
    Row("meeting_shares", _reduce("amin"), inputs=scattered()),
    Row("lone_zero", _reduce("prod"), inputs=_zeros_meet, second=False),
    Row("no_second_zero", _product_gradient, inputs=scattered(), second=False),
    Row("no_second_zero_backward", _product_gradient, inputs=scattered(), second=False),
    Row("index_reduce_mean", _reduce_rows("mean"), inputs=rows()),
    Row("index_reduce", _reduce_rows("prod"), inputs=rows(), label="prod"),
    Row("index_reduce", _reduce_rows("amax", False), inputs=rows(), label="amax without self"),
    Row(
        "index_select",
        lambda t, x, i, **k: t.index_select(x, 1, i, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ROWS_TWICE],
        ref=lambda x, i: x.take(i, 1),
        out=True,
        dtypes=(*TYPES, "bool"),
    ),
    Row(
        "index_select_backward",
        adjoint(lambda t, x, i: t.index_select(x, 0, i), (3, 4)),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ROWS_TWICE],
    ),
    Row(
        "index_add",
        lambda t, x, i, s, **k: t.index_add(x, 0, i, s, alpha=2, **k),
        inputs=rows(),
        inplace=lambda t, x, i, s: x.index_add_(0, i, s, alpha=2),
        out=True,
        dtypes=TYPES,
    ),
    Row("index_add", lambda t, x, i, s: t.index_add(x, 1, i, s), inputs=rows((2, 4, 2), 1), label="inner"),
    Row(
        "index_copy",
        lambda t, x, i, s, **k: t.index_copy(x, 0, i, s, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ROWS_TWICE[:2], rng.standard_normal((2, 4))],
        inplace=lambda t, x, i, s: x.index_copy_(0, i, s),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "index_fill",
        lambda t, x, i: t.index_fill(x, 1, i, 2.0),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ROWS_TWICE],
        inplace=lambda t, x, i: x.index_fill_(1, i, 2.0),
    ),
    Row(
        "index_fill_tensor",
        lambda t, x, i, v: t.index_fill(x, 1, i, v),
        inputs=lambda rng: [rng.standard_normal((3, 4)), ROWS_TWICE, rng.standard_normal(())],
        inplace=lambda t, x, i, v: x.index_fill_(1, i, v),
    ),
    Row(
        "take",
        lambda t, x, i, **k: t.take(x, i, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), np.array([[0, -1], [5, 5]])],
        ref=lambda x, i: x.take(i),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "take_backward",
        adjoint(lambda t, x, i: t.take(x, i), (3, 4)),
        inputs=lambda rng: [rng.standard_normal((2, 2)), np.array([[0, 11], [5, 5]])],
    ),
    Row(
        "put",
        lambda t, x, i, s: t.put(x, i, s),
        inputs=scattered(np.array([0, -1, 5])),
        inplace=lambda t, x, i, s: x.put_(i, s),
        dtypes=TYPES,
    ),
    Row(
        "put",
        lambda t, x, i, s: t.put(x, i, s, accumulate=True),
        inputs=scattered(np.array([0, -1, 0])),
        inplace=lambda t, x, i, s: x.put_(i, s, accumulate=True),
        label="accumulate",
    ),
    Row(
        "take_along_dim",
        lambda t, x, i, **k: t.take_along_dim(x, i, 1, **k),
        inputs=lambda rng: [rng.standard_normal((3, 4)), np.array([[3, 0, 0]])],
        out=True,
    ),
]
