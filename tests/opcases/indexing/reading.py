"""Rows of indexing: `x[...]`, `x[...] = v`, index_put, masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..row import Row

I2 = [1, 0, 1]
J2 = [2, 0, 2]
TYPES = ("int64", "bool", "float16", "complex128")


def drawn(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], list[Any]]:
    """Arrays of normal numbers."""
    return lambda rng: [rng.standard_normal(shape) for shape in shapes]


def with_index(shape: tuple[int, ...], *indices: Any) -> Callable[[np.random.Generator], list[Any]]:
    """One array of normal numbers and index arrays."""
    return lambda rng: [rng.standard_normal(shape), *[np.asarray(each) for each in indices]]


def adjoint(read: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    """`call` of a gradient that is an operation itself: the gradient of `read(t, x, *rest)` along the first argument."""

    def call(t: Any, g: Any, *rest: Any) -> Any:
        x = t.zeros(shape, dtype=g.dtype, requires_grad=True)
        return t.autograd.grad((read(t, x, *rest) * g).sum(), x, create_graph=True)[0]

    call.differentiates = True  # type: ignore[attr-defined]
    return call


def assigned(write: Callable[..., None]) -> Callable[..., Any]:
    """`call` of an assignment: `write(t, x, …)` into a copy."""

    def call(t: Any, x: Any, *rest: Any) -> Any:
        x = x.clone()
        write(t, x, *rest)
        return x

    return call


def _set_rows(t: Any, x: Any, v: Any, i: Any) -> None:
    x[i] = v


def _set_pairs(t: Any, x: Any, v: Any, i: Any, j: Any) -> None:
    x[:, i, j] = v


def _set_triples(t: Any, x: Any, v: Any, i: Any, j: Any, k: Any) -> None:
    x[i, j, k] = v


def _set_mask(t: Any, x: Any, v: Any, m: Any) -> None:
    x[m] = v


def _mask(*shape: int) -> Any:
    return (np.arange(np.prod(shape)) % 3 != 1).reshape(shape)


ROWS = [
    Row("index1", lambda t, x, i: x[i], inputs=with_index((3, 4), [2, 0, -1, 2]), ref=lambda x, i: x[i], dtypes=TYPES),
    Row(
        "index1",
        lambda t, x, i: x[:, i],
        inputs=with_index((3, 4), [[1, 3], [3, 3]]),
        ref=lambda x, i: x[:, i],
        label="inner",
    ),
    Row("index1", lambda t, x, i: x[1:, None, i], inputs=with_index((3, 4), [0, 3]), label="after views"),
    Row("index1", lambda t, x, i: x[i], inputs=with_index((3, 20), [2, 0, 2, 2]), label="wide rows"),
    Row("index2", lambda t, x, i, j: x[i, j], inputs=with_index((2, 3, 4), I2, J2), ref=lambda x, i, j: x[i, j]),
    Row("index2", lambda t, x, i, j: x[i, :, j], inputs=with_index((2, 3, 4), I2, J2), label="apart"),
    Row("index2", lambda t, x, i, j: x[:, i, j], inputs=with_index((2, 3, 4), [[1], [2]], J2), label="spread"),
    Row("index3", lambda t, x, i, j, k: x[i, j, k], inputs=with_index((2, 3, 4), I2, J2, [3, 3, 3])),
    Row(
        "index_mask", lambda t, x, m: x[m], inputs=with_index((3, 4), _mask(3, 4)), ref=lambda x, m: x[m], dtypes=TYPES
    ),
    Row("index_mask", lambda t, x, m: x[m], inputs=with_index((3, 4), _mask(3)), label="rows"),
    Row("index1_backward", adjoint(lambda t, x, i: x[i], (3, 4)), inputs=with_index((4, 4), [2, 0, 1, 2])),
    Row("index2_backward", adjoint(lambda t, x, i, j: x[i, j], (2, 3, 4)), inputs=with_index((3, 4), I2, J2)),
    Row("index3_backward", adjoint(lambda t, x, i, j, k: x[i, j, k], (2, 3, 4)), inputs=with_index((3,), I2, J2, I2)),
    Row("index_mask_backward", adjoint(lambda t, x, m: x[m], (3, 4)), inputs=with_index((8,), _mask(3, 4))),
    Row(
        "index_put1",
        assigned(_set_rows),
        inputs=lambda rng: [*drawn((3, 4), (2, 1))(rng), np.array([2, 0])],
        label="assigned",
    ),
    Row(
        "index_put1",
        lambda t, x, v, i: t.index_put(x, (i,), v, accumulate=True),
        inputs=lambda rng: [*drawn((3, 4), (4,))(rng), np.array([2, 0, 2])],
        inplace=lambda t, x, v, i: x.index_put_((i,), v, accumulate=True),
        label="accumulate",
    ),
    Row(
        "index_put2",
        lambda t, x, v, i, j: t.index_put(x, (i, j), v),
        inputs=lambda rng: [*drawn((3, 4), (2,))(rng), np.array([2, 0]), np.array([1, 1])],
        inplace=lambda t, x, v, i, j: x.index_put_((i, j), v),
    ),
    Row(
        "index_put2",
        assigned(_set_pairs),
        inputs=lambda rng: [*drawn((2, 3, 4), (1,))(rng), np.array([2, 0]), np.array([1, 1])],
        label="assigned",
    ),
    Row(
        "index_put3",
        assigned(_set_triples),
        inputs=lambda rng: [*drawn((2, 3, 4), (2,))(rng), np.array([1, 0]), np.array([2, 1]), np.array([3, 3])],
    ),
    Row("index_put_mask", assigned(_set_mask), inputs=lambda rng: [*drawn((3, 4), (8,))(rng), _mask(3, 4)]),
    Row(
        "index_put_mask",
        assigned(_set_mask),
        inputs=lambda rng: [*drawn((3, 4), ())(rng), _mask(3, 4)],
        label="one value",
    ),
    Row(
        "masked_select",
        lambda t, x, m, **k: t.masked_select(x, m, **k),
        inputs=with_index((3, 4), _mask(4)),
        out=True,
        dtypes=TYPES,
    ),
    Row(
        "masked_select_backward",
        adjoint(lambda t, x, m: t.masked_select(x, m), (3, 1)),
        inputs=with_index((9,), _mask(4)),
    ),
    Row(
        "masked_scatter",
        lambda t, x, m, s: t.masked_scatter(x, m, s),
        inputs=lambda rng: [rng.standard_normal((3, 4)), _mask(4), rng.standard_normal((2, 5))],
        inplace=lambda t, x, m, s: x.masked_scatter_(m, s),
    ),
    Row(
        "masked_scatter_backward",
        adjoint(lambda t, s, m: t.masked_scatter(t.zeros(3, 4, dtype=s.dtype), m, s), (2, 5)),
        inputs=with_index((3, 4), _mask(4)),
    ),
    Row(
        "masked_scatter_backward_backward",
        adjoint(adjoint(lambda t, s, m: t.masked_scatter(t.zeros(3, 4, dtype=s.dtype), m, s), (2, 5)), (3, 4)),
        inputs=with_index((2, 5), _mask(4)),
    ),
    Row("nonzero", lambda t, x, **k: t.nonzero(x, **k), inputs=with_index((2, 3)), grad=(), out=True, dtypes=TYPES),
    Row("nonzero", lambda t, x: t.nonzero(x, as_tuple=True), inputs=with_index((2, 3)), grad=(), label="tuple"),
]
