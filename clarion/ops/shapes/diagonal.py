"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

from ...core.description import normalize_dim
from ...core.dtypes import b1, int32, int64
from ...core.op import Op
from ...core.tensor import Tensor, created
from ...errors import EngineError, NotSupportedError, ShapeError
from ..faces.api import call, method, public
from ..faces.autocast import autocast
from ..faces.options import integer, place
from .parts import _check_source
from .shape import reshaped, tensor_needed

tril_op = Op("tril", "x", "diagonal", moves=True)
tril_op.vjp(x=lambda g, diagonal, ops: ops.tril(g, diagonal)).jvp("each")

triu_op = Op("triu", "x", "diagonal", moves=True)
triu_op.vjp(x=lambda g, diagonal, ops: ops.triu(g, diagonal)).jvp("each")

diagonal_op = Op("diagonal", "x", "offset dim1 dim2", view=True, traits="rearranges")
diagonal_op.vjp(x=lambda g, x_shape, offset, dim1, dim2, ops: ops.diagonal_backward(g, x_shape, offset, dim1, dim2))

diagonal_copy_op = Op(
    "diagonal_copy", "x", "offset dim1 dim2", moves=True, node="DiagonalBackward0_copy", traits="rearranges"
)
diagonal_copy_op.vjp(
    x=lambda g, x_shape, offset, dim1, dim2, ops: ops.diagonal_backward(g, x_shape, offset, dim1, dim2)
).jvp("each")

diagonal_backward_op = Op(
    "diagonal_backward", "g", "shape offset dim1 dim2", node="DiagonalBackwardBackward0", moves=True
)
diagonal_backward_op.vjp(g=lambda g, offset, dim1, dim2, ops: ops.diagonal(g, offset, dim1, dim2)).jvp("each")

diagonal_scatter_op = Op("diagonal_scatter", "x src", "offset dim1 dim2", moves=True)
diagonal_scatter_op.vjp(
    x=lambda g, offset, dim1, dim2, ops: ops.view_clear(g, ((), (diagonal_op, (offset, dim1, dim2), None)), None),
    src=lambda g, offset, dim1, dim2, ops: ops.diagonal(g, offset, dim1, dim2),
).jvp("together")

diag_embed_op = Op("diag_embed", "x", "offset dim1 dim2", moves=True)
diag_embed_op.vjp(x=lambda g, offset, dim1, dim2, ops: ops.diagonal(g, offset, dim1, dim2)).jvp("each")

trace_op = Op("trace", "x")
trace_op.vjp(x=lambda g, x_shape, ops: ops.diagonal_backward(ops.expand(g, (min(x_shape),)), x_shape, 0, 0, 1)).jvp(
    "each"
)


@public(inplace=True, out=True)
def tril(input: Any, diagonal: int = 0, *, run: Any = call) -> Tensor:
    """The lower triangle of matrices: zeros above the diagonal."""
    _need_matrices("tril", input)
    return run(tril_op, input, integer("tril", "diagonal", 2, diagonal))  # type: ignore[no-any-return]


@public(inplace=True, out=True)
def triu(input: Any, diagonal: int = 0, *, run: Any = call) -> Tensor:
    """The upper triangle of matrices: zeros below the diagonal."""
    _need_matrices("triu", input)
    return run(triu_op, input, integer("triu", "diagonal", 2, diagonal))  # type: ignore[no-any-return]


def _need_matrices(name: str, x: Any) -> None:
    if not isinstance(x, Tensor):
        raise tensor_needed(name, x)
    if x._array.ndim < 2:
        raise ShapeError(f"{name}: input tensor must have at least 2 dimensions")


def _plane(x: Any, dim1: int, dim2: int, ndim: int, name: str) -> tuple[int, int]:
    """The two dimensions of a diagonal, counted from the front."""
    if not isinstance(x, Tensor):
        raise tensor_needed(name, x)
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise EngineError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@public()
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal as a view, as the last dimension."""
    dims = _plane(input, dim1, dim2, getattr(input, "ndim", 0), "diagonal")
    return diagonal_op.call(input, offset, *dims)  # type: ignore[no-any-return]


@public(method=False, out=True)
def diagonal_copy(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of a diagonal, as the last dimension."""
    dims = _plane(input, dim1, dim2, getattr(input, "ndim", 0), "diagonal")
    return diagonal_copy_op.call(input, offset, *dims)  # type: ignore[no-any-return]


@public(out=True)
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` with a diagonal replaced by `src`."""
    dims = _plane(input, dim1, dim2, getattr(input, "ndim", 0), "diagonal_scatter")
    part = input._array.diagonal(offset, *dims).shape
    _check_source(input, src, part, "diagonal_scatter")
    return diagonal_scatter_op.call(input, src, offset, *dims)  # type: ignore[no-any-return]


@public()
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as a diagonal of otherwise zero matrices."""
    dims = _plane(input, dim1, dim2, getattr(input, "ndim", 0) + 1, "diag_embed")
    return diag_embed_op.call(input, offset, *dims)  # type: ignore[no-any-return]


@public(out=True)
def diag(input: Any, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector as its diagonal."""
    if not isinstance(input, Tensor):
        raise tensor_needed("diag", input)
    n = input._array.ndim
    if n == 1:
        return diag_embed_op.call(input, diagonal, 0, 1)  # type: ignore[no-any-return]
    if n != 2:
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    return diagonal_copy_op.call(input, diagonal, 0, 1)  # type: ignore[no-any-return]


@public()
def diagflat(input: Any, offset: int = 0) -> Tensor:
    """The matrix with all elements of `input` as its diagonal."""
    if not isinstance(input, Tensor):
        raise tensor_needed("diagflat", input)
    return diag_embed_op.call(reshaped(input, (input._array.size,)), offset, 0, 1)  # type: ignore[no-any-return]


@public()
@autocast("float32")
def trace(input: Any) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if not isinstance(input, Tensor):
        raise tensor_needed("trace", input)
    if input._array.ndim != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input._array.dtype is b1:
        raise NotSupportedError("\"trace\" not implemented for 'Bool'\nCount with x.long().trace().")
    return trace_op.call(input)  # type: ignore[no-any-return]


@method("fill_diagonal_")
def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; with `wrap`, a tall matrix gets another diagonal below each that ended."""
    shape = self._array.shape
    if len(shape) < 2:
        raise ShapeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ShapeError("all dimensions of input must be of equal length")
    steps, start, width = self.stride(), self.storage_offset(), shape[1]
    self.as_strided((min(shape),), (sum(steps),), start).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > width + 1:
        more = -(-self._array.size // (width + 1)) - min(shape)
        self.as_strided((more,), (sum(steps),), start + steps[0] * (width + 1)).fill_(fill_value)
    return self  # type: ignore[no-any-return]


def _triangle(name: str, row: int, col: int, offset: int, dtype: Any, device: Any, layout: Any) -> Tensor:
    xp = place(name, device, layout).xp
    for side, n in (("row", row), ("col", col)):
        if n < 0:
            raise EngineError(f"{side} must be non-negative, got{n}")
    kind = int64 if dtype is None else dtype
    if kind not in (int32, int64):
        raise EngineError(f"\"tril_indices\" not implemented for '{kind}'")
    return created(xp.stack(getattr(xp, name)(row, offset, col)).astype(kind.numpy))


@public(method=False)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None, **_: Any
) -> Tensor:
    """Rows and columns of the elements of a lower triangle."""
    return _triangle("tril_indices", row, col, offset, dtype, device, layout)


@public(method=False)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None, **_: Any
) -> Tensor:
    """Rows and columns of the elements of an upper triangle."""
    return _triangle("triu_indices", row, col, offset, dtype, device, layout)
