"""Copies: the same elements, in another order, or several times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.description import normalize_dim
from ...core.devices import xp_of
from ...core.dtypes import FROM_NUMPY, channels_last, channels_last_3d, contiguous_format, preserve_format
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.batched.levels import Mapped, refuse_layout
from ..faces.api import FUNCTIONS, method, public, with_numpys_names
from ..faces.options import integer
from . import shape as shapes  # (which takes from here: its functions are there when they are called)

clone_op = Op("clone", "x", "order", defaults=("K",), moves=True, traits="rearranges reshapes")
clone_op.vjp(x=lambda g: g).jvp("each")

flip_op = Op("flip", "x", "dims", moves=True, traits="rearranges")
flip_op.vjp(x=lambda g, dims, ops: ops.flip(g, dims)).jvp("each")

roll_op = Op("roll", "x", "shifts dims", moves=True, traits="rearranges")
roll_op.vjp(x=lambda g, shifts, dims, ops: ops.roll(g, tuple([-s for s in shifts]), dims)).jvp("each")

rot90_op = Op("rot90", "x", "k dims", moves=True, traits="rearranges")
rot90_op.vjp(x=lambda g, k, dims, ops: ops.rot90(g, -k, dims)).jvp("each")


def _repeat_rule(g: Any, x_shape: Any, repeats: Any, ops: Any) -> Any:
    """Every repetition as a dimension of its own, and those summed."""
    extra = len(repeats) - len(x_shape)
    sizes = (1,) * extra + tuple(x_shape)
    apart = ops.reshape(g, tuple([n for pair in zip(repeats, sizes, strict=True) for n in pair]))
    if repeats:
        apart = ops.sum(apart, tuple(range(0, 2 * len(repeats), 2)), False)
    return ops.view(apart, x_shape)


repeat_op = Op("repeat", "x", "repeats", traits="rearranges")
repeat_op.vjp(x=_repeat_rule).jvp("each")


# Copies ----------------------------------------------------------------------------------------------


def _order(x: Tensor, memory_format: Any) -> str:
    """The order of elements in memory that a memory format asks for."""
    if memory_format is None or memory_format is preserve_format:
        return "K"
    if memory_format is contiguous_format:
        return "C"
    rank = {channels_last: 4, channels_last_3d: 5}.get(memory_format)
    if rank is None:
        raise EngineError(f"unsupported memory format option {memory_format}")
    if isinstance(x._array, Mapped):
        raise EngineError(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format or "
            f"torch.contiguous_format (got {'ChannelsLast' if rank == 4 else 'ChannelsLast3d'})"
        )
    if x._array.ndim != rank:
        raise ShapeError(f"required rank {rank} tensor to use {memory_format.name.removeprefix('torch.')} format")
    return "channels_last"


@public()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that gradients flow through."""
    return clone_op.call(input, "K" if memory_format is None else _order(input, memory_format))  # type: ignore[no-any-return]


@method()
def contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """The tensor itself if its elements lie in order, else a copy in which they do."""
    if memory_format is contiguous_format:
        return self if self._array.flags.c_contiguous else clone_op.call(self, "C")
    if memory_format is preserve_format:
        raise EngineError("preserve memory format is unsupported by the contiguous operator")
    refuse_layout(self._array)
    order = _order(self, memory_format)
    dims = (0, *range(2, self._array.ndim), 1)
    return self if self._array.transpose(dims).flags.c_contiguous else clone_op.call(self, order)


# Other orders ----------------------------------------------------------------------------------------


@public("flip", method=False)
def flip(input: Tensor, dims: Any) -> Tensor:
    """The order of elements reversed along dimensions."""
    return _flip(input, dims)  # type: ignore[no-any-return]


@method("flip")
def _flip(self: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    if not dims and not kwargs:
        raise ArgumentTypeError('flip() missing 1 required positional arguments: "dims"')
    return flip_op.call(self, shapes.unique_dims(shapes.ints(kwargs["dims"] if kwargs else dims), self._array.ndim))  # type: ignore[no-any-return]


@public()
def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse order."""
    if input.ndim < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip_op.call(input, (1,))  # type: ignore[no-any-return]


@public()
def flipud(input: Tensor) -> Tensor:
    """The rows in reverse order."""
    if input.ndim < 1:
        raise ShapeError("Input must be >= 1-d.")
    return flip_op.call(input, (0,))  # type: ignore[no-any-return]


@public()
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along dimensions; what falls off one end comes in at the other."""
    alone = isinstance(shifts, int) or (isinstance(shifts, Tensor) and not shifts._array.ndim)
    moves, axes = shapes.ints((shifts,) if alone else shifts), shapes.ints(_some(dims))
    if not moves:
        raise EngineError("`shifts` required")
    if len(moves) != len(axes) and not (len(moves) == 1 and not axes):
        raise EngineError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(axes)}")
    if axes and not input._array.ndim:
        raise ArgumentIndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    return roll_op.call(input, moves, tuple([normalize_dim(d, input.ndim) for d in axes]))  # type: ignore[no-any-return]


def _some(dims: Any) -> Any:
    return () if dims is None else (dims,) if isinstance(dims, int) else dims


@public()
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Rotated by k times 90 degrees in the plane of two dimensions."""
    dims = tuple(dims)
    if len(dims) != 2:
        raise EngineError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    n = input._array.ndim
    if n < 2:
        raise EngineError(f"expected total dims >= 2, but got total dims = {n}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == n:
        raise EngineError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return rot90_op.call(input, integer("rot90", "k", 2, k), tuple([normalize_dim(d, n) for d in dims]))  # type: ignore[no-any-return]


# Repetition ------------------------------------------------------------------------------------------


@method()
def repeat(self: Tensor, *repeats: Any, **kwargs: Any) -> Tensor:
    """The tensor several times along each dimension."""
    if not repeats and not kwargs:
        raise ArgumentTypeError('repeat() missing 1 required positional arguments: "repeats"')
    counts = shapes.ints((kwargs["repeats"],) if kwargs else repeats, "repeats")
    if len(counts) < self._array.ndim:
        raise ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(n < 0 for n in counts):
        raise ShapeError(f"Trying to create tensor with negative dimension {min(counts)}: {list(counts)}")
    return repeat_op.call(self, counts)  # type: ignore[no-any-return]


@public("tile", method=False)
def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor several times along each dimension, the last ones if fewer are given."""
    return _tile(input, dims)  # type: ignore[no-any-return]


@method("tile")
def _tile(self: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    counts = shapes.ints((kwargs["dims"],) if kwargs else dims, "dims")
    return repeat(self, (1,) * (self._array.ndim - len(counts)) + counts)  # type: ignore[no-any-return]


@public()
@with_numpys_names
def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element (or slice along `dim`) several times, one after the other."""
    if not isinstance(input, Tensor):
        raise shapes.tensor_needed("repeat_interleave", input)
    if repeats is None:
        return new_tensor(_positions(input, output_size))
    if isinstance(repeats, Tensor):
        return _interleave(input, repeats, dim, output_size)
    if repeats < 0:
        raise EngineError("Repeats must be non-negative")
    if dim is None:
        input, dim = FUNCTIONS["flatten"](input), 0
    x: Any = input
    shape = x._array.shape
    dim = normalize_dim(dim, len(shape))
    if output_size is not None and output_size != repeats * (shape[dim] if shape else 1):
        raise EngineError(
            f"repeat_interleave: Invalid output_size, expected {repeats * shape[dim]} but got {output_size}"
        )
    if not shape:
        x, shape = shapes.view_as_shape(x, (1,)), (1,)
    wide = shapes.expanded(x.unsqueeze(dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return shapes.view_as_shape(clone_op.call(wide, "C"), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))


def _positions(repeats: Tensor, output_size: int | None) -> Any:
    """0 repeats[0] times, 1 repeats[1] times, …"""
    array = repeats._array
    if array.ndim != 1:
        raise EngineError("repeat_interleave only accept 1D vector as repeat")
    if array.dtype.kind not in "iu" or array.itemsize < 4:
        raise NotSupportedError(f"\"repeat_interleave_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    if array.size and array.min() < 0:
        raise EngineError("repeats can not be negative")
    if output_size is not None and output_size != array.sum():
        raise EngineError("allocated size does not match required size")
    xp = xp_of(array)
    if output_size is not None and repeats.is_meta:
        return xp.empty(output_size, array.dtype)
    return xp.repeat(xp.arange(array.size, dtype=array.dtype), array)


def _interleave(x: Tensor, repeats: Tensor, dim: int | None, output_size: int | None) -> Tensor:
    if repeats._array.ndim > 1:
        raise EngineError("repeats must be 0-dim or 1-dim tensor")
    if dim is None:
        x, dim = FUNCTIONS["flatten"](x), 0
    dim = normalize_dim(dim, x._array.ndim)
    n = x._array.shape[dim] if x._array.ndim else 1
    if repeats._array.size == 1:
        repeats = new_tensor(xp_of(repeats._array).broadcast_to(repeats._array.reshape(-1), (n,)))
    elif repeats._array.size != n:
        raise EngineError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._array.shape[0]} and input.size({dim}) = {n}"
        )
    where = new_tensor(_positions(repeats, output_size))
    return FUNCTIONS["index_select"](x, dim, where)  # type: ignore[no-any-return]
