"""Rows of a table by index."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.devices import xp_of
from ...core.inplace import refuse_history, wrote
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, DtypeError, EngineError
from ...kernels.portable.layers.embedding import renorm_rows
from ..faces.api import functional, public
from ..faces.options import tensor_argument

embedding_op = Op(
    "embedding",
    "weight indices",
    "padding_idx scale_grad_by_freq",
    saved_as={"indices": "indices"},
    saved_constants={"sparse": False},
)
embedding_op.vjp(
    weight=lambda g, weight_shape, indices, padding_idx, scale_grad_by_freq, ops: ops.embedding_dense_backward(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )
).jvp("each")


def _back_through_dense(g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool, ops: Any) -> Any:
    picked = ops.embedding(g, indices, -1, False)
    if padding_idx >= 0:
        picked = ops.zero_rows_at(picked, indices, padding_idx)
    return picked / ops.index_counts(indices, rows) if scale_grad_by_freq else picked


embedding_dense_backward_op = Op("embedding_dense_backward", "g indices", "rows padding_idx scale_grad_by_freq")
embedding_dense_backward_op.vjp(g=_back_through_dense).jvp("each")

# The same with a gradient that holds the rows that were used only.
sparse_embedding_op = Op(
    "sparse_embedding",
    "weight indices",
    "padding_idx scale_grad_by_freq",
    node="EmbeddingBackward0",
    saved_as={"indices": "indices"},
    saved_constants={"sparse": True},
)


def _sparse_rule(g: Any, weight_shape: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool, ops: Any) -> Any:
    if isinstance(g, Tensor):  # under create_graph, where gradients are dense
        return ops.embedding_dense_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)
    return ops.embedding_sparse_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)


sparse_embedding_op.vjp(weight=_sparse_rule)

zero_rows_at_op = Op("zero_rows_at", "x indices", "row", node="MaskedFillBackward0")
zero_rows_at_op.vjp(x=lambda g, indices, row, ops: ops.zero_rows_at(g, indices, row))

Op("index_counts", "indices", "rows", differentiable=False)


@functional()
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` that `input` names."""
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        wrong = input if not isinstance(input, Tensor) else weight
        raise ArgumentTypeError(f"embedding(): argument must be Tensor, not {type(wrong).__name__}")
    rows = weight._array.shape[0] if weight._array.ndim else 0
    if padding_idx is None:
        padding = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    else:
        padding = padding_idx % rows
    if weight._array.ndim != 2:
        raise EngineError("'weight' must be 2-D")
    if input._array.dtype.kind not in "iu" or input._array.dtype.itemsize < 4:
        raise DtypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input.dtype.old}Tensor instead (while checking arguments for embedding)"
        )
    if max_norm is not None and input._array.size:
        embedding_renorm(weight, input, max_norm, norm_type)
    if sparse and weight.is_leaf and weight.requires_grad and modes.recording():
        return sparse_embedding_op.call(weight, input, padding, scale_grad_by_freq)
    return embedding_op.call(weight, input, padding, scale_grad_by_freq)


@public("embedding", method=False)
def _embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    return embedding(indices, weight, None if padding_idx == -1 else padding_idx, None, 2.0, scale_grad_by_freq, sparse)


def embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale rows whose norm exceeds `max_norm`, in the table itself; not recorded."""
    embedding_op.kernel(weight._array, indices._array, -1, False)  # refuses bad indices before anything is written
    renorm_rows(xp_of(weight._array), weight._array, indices._array, max_norm, norm_type)
    wrote(weight)


@public("embedding_renorm_", method=False)
def _embedding_renorm(weight: Any, indices: Any, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows that `indices` name down to a norm of `max_norm`, in the table itself."""
    refuse_history(tensor_argument("embedding_renorm_", weight), "embedding_renorm_")
    embedding_renorm(weight, indices, max_norm, norm_type)
    return weight  # type: ignore[no-any-return]
