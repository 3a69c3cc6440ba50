"""A sparse matrix times a dense one: what products of sparse tensors end in."""

from __future__ import annotations

from typing import Any

from ...core.op import Op


def _values_grad(g: Any, rows: Any, columns: Any, dense: Any, ops: Any) -> Any:
    return ops.sum(ops.index_select(g, rows, 0) * ops.index_select(dense, columns, 0), (1,), False)


coo_mm_op = Op("coo_mm", "values rows columns dense", "count", node="SparseAddmmBackward0", traits="product")
coo_mm_op.vjp(
    values=_values_grad,
    dense=lambda g, values, rows, columns, dense_shape, ops: ops.coo_mm(values, columns, rows, g, dense_shape[0]),
)
