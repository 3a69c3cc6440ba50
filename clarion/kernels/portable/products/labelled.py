"""Sums of products of two arrays whose dimensions carry labels, through matrix products."""

from __future__ import annotations

from typing import Any

from ...layout import in_rows
from ...registry import kernel
from ..reductions.statistics import vector_norm
from .matmul import blas_ready

Labels = tuple[int, ...]


def _arranged(x: Any, labels: Labels, *groups: list[int]) -> Any:
    """Dimensions in the order of the first group, then each further group as one dimension."""
    order = [labels.index(label) for group in groups for label in group]
    x = x.transpose(order) if order != list(range(x.ndim)) else x
    n = len(groups[0])
    shape = list(x.shape[:n])
    for group in groups[1:]:
        size = 1
        for each in x.shape[n : n + len(group)]:
            size *= each
        shape.append(size)
        n += len(group)
    return x.reshape(shape)


@kernel("contract")
@in_rows
def contract(xp: Any, x: Any, y: Any, sx: Labels, sy: Labels, so: Labels) -> Any:
    """Every label of x stands in y or in the result, and every label of y in x or in the result."""
    batch = [label for label in so if label in sx and label in sy]
    rows = [label for label in so if label not in sy]
    columns = [label for label in so if label not in sx]
    summed = [label for label in sx if label not in so]
    a, b = _arranged(x, sx, batch, rows, summed), _arranged(y, sy, batch, summed, columns)
    product = xp.matmul(blas_ready(xp, a), blas_ready(xp, b)) if batch else a.dot(b)
    sizes = dict(zip(sx, x.shape, strict=True)) | dict(zip(sy, y.shape, strict=True))
    order = batch + rows + columns
    product = product.reshape([sizes[label] for label in order])
    return product.transpose([order.index(label) for label in so]) if order != list(so) else product


@kernel("cross")
def cross(xp: Any, x: Any, y: Any, dim: int) -> Any:
    x, y = xp.broadcast_arrays(x, y)
    x0, x1, x2 = xp.moveaxis(x, dim, 0)
    y0, y1, y2 = xp.moveaxis(y, dim, 0)
    return xp.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axis=dim)


@kernel("cdist")
def cdist(xp: Any, x: Any, y: Any, p: float) -> Any:
    """Norms of the differences of all pairs of rows."""
    return vector_norm(xp, x[..., :, None, :] - y[..., None, :, :], p, (max(x.ndim, y.ndim),), False)
