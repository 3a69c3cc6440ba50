"""Indexing with `x[...]`: views for integers and slices, copies for index tensors and masks."""

from __future__ import annotations

from ..core.op import Op

select_op = Op("select", "x", "dim index", view=True)
select_op.vjp(x=lambda g, x_shape, dim, index, ops: ops.select_backward(g, x_shape, dim, index))

select_backward_op = Op("select_backward", "g", "shape dim index", node="SelectBackwardBackward0", moves=True)
select_backward_op.vjp(g=lambda g, dim, index, ops: ops.select(g, dim, index))

slice_op = Op("slice", "x", "dim start stop step", defaults=(1,), view=True)
slice_op.vjp(
    x=lambda g, x_shape, dim, start, stop, step, ops: ops.slice_backward(g, x_shape, dim, start, stop, step)
)

slice_backward_op = Op(
    "slice_backward", "g", "shape dim start stop step", node="SliceBackwardBackward0", moves=True
)
slice_backward_op.vjp(g=lambda g, dim, start, stop, step, ops: ops.slice(g, dim, start, stop, step))

alias_op = Op("alias", "x", view=True)
alias_op.vjp(x=lambda g: g)
