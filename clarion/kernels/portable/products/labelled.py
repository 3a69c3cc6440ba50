"""Sums of products of two arrays whose dimensions carry labels, through matrix products."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from ...layout import in_rows
from ...quiet import quietly
from ...registry import kernel, raw
from ..reductions.statistics import vector_norm

Labels = tuple[int, ...]


class _Order(NamedTuple):
    """In which order an operand's dimensions are taken, and how many of them become the batch, the rows and the columns."""

    dims: tuple[int, ...] | None  # None: as they are
    counts: tuple[int, int, int]


def _order(labels: Labels, *groups: list[int]) -> _Order:
    dims = tuple(labels.index(label) for group in groups for label in group)
    batch, rows, columns = groups
    return _Order(None if dims == tuple(range(len(dims))) else dims, (len(batch), len(rows), len(columns)))


class _Plan(NamedTuple):
    """How both operands are arranged, whether the second's matrices are taken as they lie, and how their product is turned."""

    left: _Order
    right: _Order
    turned: bool  # the second operand has its columns before what is summed over
    back: tuple[int, ...] | None
    swapped: bool  # the second operand's rows come first in the result


@functools.lru_cache(1024)
def _plan(sx: Labels, sy: Labels, so: Labels) -> _Plan:
    batch = [label for label in so if label in sx and label in sy]
    rows = [label for label in so if label not in sy]
    columns = [label for label in so if label not in sx]
    summed = [label for label in sx if label not in so]
    found = batch + rows + columns
    back = tuple(found.index(label) for label in so)
    turned = _order(sy, batch, columns, summed)
    as_it_lies = turned.dims is None and bool(columns)
    return _Plan(
        _order(sx, batch, rows, summed),
        turned if as_it_lies else _order(sy, batch, summed, columns),
        as_it_lies,
        None if back == tuple(range(len(back))) else back,
        bool(rows) and bool(columns) and so.index(columns[-1]) < so.index(rows[0]),
    )


def _matrices(x: Any, order: _Order) -> tuple[Any, tuple[int, ...]]:
    """An operand as a batch of matrices, and its shape in that order."""
    if order.dims is not None:
        x = x.transpose(order.dims)
    batch, rows, columns = order.counts
    shape = x.shape
    if rows == 1 and columns == 1:
        return x, shape
    sizes = math.prod(shape[batch : batch + rows]), math.prod(shape[batch + rows :])
    return x.reshape((*shape[:batch], *sizes)), shape


@kernel("contract")
def contract(xp: Any, x: Any, y: Any, sx: Labels, sy: Labels, so: Labels) -> Any:
    """Every label of x stands in y or in the result, and every label of y in x or in the result."""
    plan = _plan(sx, sy, so)
    if plan.swapped:
        x, y, plan = y, x, _plan(sy, sx, so)
    (a, shape_a), (b, shape_b) = _matrices(x, plan.left), _matrices(y, plan.right)
    batch, rows, _ = plan.left.counts
    second = plan.right.counts[1]
    if plan.turned:
        product = raw.matmul_nt(a, b) if batch else raw.mm_nt(a, b)
        columns = shape_b[batch : batch + second]
    else:
        product = raw.matmul(a, b) if batch else raw.mm(a, b)
        columns = shape_b[batch + second :]
    if rows != 1 or len(columns) != 1:
        product = product.reshape((*shape_a[: batch + rows], *columns))  # none: a number
    return product if plan.back is None else product.transpose(plan.back)


@kernel("cross")
def cross(xp: Any, x: Any, y: Any, dim: int) -> Any:
    x, y = xp.broadcast_arrays(x, y)
    x0, x1, x2 = xp.moveaxis(x, dim, 0)
    y0, y1, y2 = xp.moveaxis(y, dim, 0)
    return xp.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axis=dim)


@kernel("euclidean_dist")
@quietly
def euclidean_dist(xp: Any, x: Any, y: Any) -> Any:
    """The same for p = 2 by one product: |x|^2 - 2 x y + |y|^2, which loses some digits where rows are near to each other."""

    def beside(a: Any, *columns: Any) -> Any:
        return xp.concatenate([a, *columns], axis=-1)

    of_x, of_y = (raw.sum(a * a, (a.ndim - 1,), True) for a in (x, y))
    product = raw.matmul_nt(beside(x * -2, of_x, xp.ones_like(of_x)), beside(y, xp.ones_like(of_y), of_y))
    return xp.sqrt(xp.maximum(product, 0))


@kernel("cdist")
@in_rows
def cdist(xp: Any, x: Any, y: Any, p: float) -> Any:
    """Norms of the differences of all pairs of rows."""
    return vector_norm(xp, x[..., :, None, :] - y[..., None, :, :], p, (max(x.ndim, y.ndim),), False)
