"""Forward rules of the operations met most often: cheaper than what forward.py finds for itself. Loaded by forward_ad.

Elementwise operations and views need none.
"""

from __future__ import annotations

from typing import Any

from ..core.namespace import OPS
from .layers.normalization import _over as over

# The tangent is the operation itself with one of its inputs replaced by its tangent, summed over these.
_EACH = """
    mm fold_mm mm_nt fold_nt fold_tn matmul matmul_nt matmul_tn bmm mv vecmat dot outer cross contract
    clone flip roll rot90 repeat reshape sum_to sum_rows sum_of_rows cast
    sum_all sum mean_all mean cumsum reverse_cumsum tril triu trace diag_embed diagonal_copy narrow_copy
    select_backward slice_backward diagonal_backward unfold_backward view_take view_put view_clear
    gather gather_backward index_select index_select_backward take take_backward pick_along place_along
    index1 index1_backward index2 index2_backward index3 index3_backward
    index_mask index_mask_backward masked_select masked_select_backward
    embedding embedding_dense_backward at_targets into_targets
    reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d circular_pad
"""
# The tangent is the operation itself on the tangents of all inputs.
_TOGETHER = """
    cat stack block_diag unbind_backward unsplit where lerp add_scaled sub_scaled rsub_scaled copy
    select_scatter slice_scatter diagonal_scatter as_strided_scatter view_scatter scatter_add index_add index_copy
"""

for _name in _EACH.split():
    OPS[_name].jvp("each")
for _name in _TOGETHER.split():
    OPS[_name].jvp("together")


def _plus(*parts: Any) -> Any:
    """The sum of the parts that are there."""
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _linear(dx: Any, dw: Any, db: Any, x: Any, w: Any, ops: Any) -> Any:
    of_x = None if dx is None else ops.linear(dx, w, None)
    of_w = None if dw is None else ops.linear(x, dw, None)
    return _plus(of_x, of_w, db)


def _addmm(dx: Any, dmat1: Any, dmat2: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, ops: Any) -> Any:
    product = _plus(None if dmat1 is None else ops.mm(dmat1, mat2), None if dmat2 is None else ops.mm(mat1, dmat2))
    return _plus(None if dx is None else dx * beta, None if product is None else product * alpha)


def _log_softmax(dx: Any, out: Any, dim: int, ops: Any) -> Any:
    return dx - ops.sum(ops.exp(out) * dx, (dim,), True) if out.ndim else dx * 0


def _normalized(dx: Any, dweight: Any, dbias: Any, weight: Any, normal: Any, scale: Any, mean: Any) -> Any:
    """Layer norm and RMS norm: (x - mean) * scale * weight + bias; `mean` takes it, of what is centered."""
    d_normal = d_scale = None
    if dx is not None:
        along = mean(dx * normal)
        d_normal = (dx - normal * along) * scale
        d_scale = -(scale * scale * along)
    of_x = d_normal if weight is None or d_normal is None else d_normal * weight
    return _plus(of_x, None if dweight is None else normal * dweight, dbias), d_normal, d_scale


def _layer_norm(
    dx: Any, dweight: Any, dbias: Any, weight: Any, normal: Any, rstd: Any, ndim: int, ops: Any
) -> Any:  # fmt: skip
    def mean(x: Any) -> Any:
        return over(x, ndim, ops)

    return _normalized(None if dx is None else dx - mean(dx), dweight, dbias, weight, normal, rstd, mean)


def _rms_norm(dx: Any, dweight: Any, weight: Any, normal: Any, rrms: Any, ndim: int, ops: Any) -> Any:
    return _normalized(dx, dweight, None, weight, normal, rrms, lambda x: over(x, ndim, ops))


OPS["linear"].jvp(_linear)
OPS["layer_norm"].jvp(_layer_norm)
OPS["rms_norm"].jvp(_rms_norm)
OPS["linear_rows"].jvp(_linear)
OPS["addmm"].jvp(_addmm)
OPS["softmax"].jvp(lambda dx, out, dim, ops: ops.softmax_backward(dx, out, dim))
OPS["log_softmax"].jvp(_log_softmax)
OPS["masked_fill"].jvp(lambda dx, mask, ops: None if dx is None else ops.masked_fill(dx, mask, 0))
OPS["constant_pad_nd"].jvp(lambda dx, widths, ops: ops.constant_pad_nd(dx, widths, 0))
OPS["index_fill"].jvp(lambda dx, index, dim, ops: ops.index_fill(dx, index, dim, 0))
