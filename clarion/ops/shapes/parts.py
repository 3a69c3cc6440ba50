"""Parts of a tensor as views, copies with such a part replaced, and views by strides."""

from __future__ import annotations

from typing import Any

from ...core.description import normalize_dim
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, EngineError, ShapeError
from ...kernels.batched.levels import Mapped
from ...kernels.layout import memory_root
from ..faces.api import public
from .shape import ints, tensor_needed

alias_op = Op("alias", "x", view=True, traits="rearranges reshapes")
alias_op.vjp(x=lambda g: g)

select_op = Op("select", "x", "dim index", view=True, traits="rearranges")
select_op.vjp(x=lambda g, x_shape, dim, index, ops: ops.select_backward(g, x_shape, dim, index))

select_backward_op = Op("select_backward", "g", "shape dim index", node="SelectBackwardBackward0", moves=True)
select_backward_op.vjp(g=lambda g, dim, index, ops: ops.select(g, dim, index)).jvp("each")

slice_op = Op(
    "slice", "x", "dim start stop step", defaults=(1,), view=True, traits="rearranges", saved_as={"end": "stop"}
)
slice_op.vjp(x=lambda g, x_shape, dim, start, stop, step, ops: ops.slice_backward(g, x_shape, dim, start, stop, step))

slice_backward_op = Op("slice_backward", "g", "shape dim start stop step", node="SliceBackwardBackward0", moves=True)
slice_backward_op.vjp(g=lambda g, dim, start, stop, step, ops: ops.slice(g, dim, start, stop, step)).jvp("each")

narrow_copy_op = Op("narrow_copy", "x", "dim start stop", moves=True, traits="rearranges")
narrow_copy_op.vjp(x=lambda g, x_shape, dim, start, stop, ops: ops.slice_backward(g, x_shape, dim, start, stop, 1)).jvp(
    "each"
)

unfold_op = Op("unfold", "x", "dim size step", view=True, traits="rearranges", saved_as={"dimension": "dim"})
unfold_op.vjp(x=lambda g, x_shape, dim, size, step, ops: ops.unfold_backward(g, x_shape, dim, size, step))

unfold_backward_op = Op("unfold_backward", "g", "shape dim size step", node="UnfoldBackwardBackward0")
unfold_backward_op.vjp(g=lambda g, dim, size, step, ops: ops.unfold(g, dim, size, step)).jvp("each")

# `offset` counts from the input's first element, `layout` is its strides: gradients meet where memory is shared.
as_strided_op = Op(
    "as_strided",
    "x",
    "size stride offset layout",
    view=True,
    traits="rearranges",
    saved_as={"storage_offset": "offset"},
)
as_strided_op.vjp(
    x=lambda g, x_shape, size, stride, offset, layout, ops: ops.as_strided_backward(
        g, x_shape, size, stride, offset, layout
    )
)

as_strided_backward_op = Op("as_strided_backward", "g", "shape size stride offset layout", moves=True)
as_strided_backward_op.vjp(
    g=lambda g, size, stride, offset, layout, ops: ops.as_strided_copy(g, size, stride, offset, layout)
)

as_strided_copy_op = Op(
    "as_strided_copy", "x", "size stride offset layout", node="AsStridedBackward0_copy", moves=True, traits="rearranges"
)
as_strided_copy_op.vjp(
    x=lambda g, x_shape, size, stride, offset, layout, ops: ops.as_strided_backward(
        g, x_shape, size, stride, offset, layout
    )
)

# What the engine needs for views whose base was written: `chain` says how a view is taken from a tensor that
# lies in memory as `layout` says (see core/inplace.py).
view_take_op = Op("view_take", "x", "chain layout", moves=True)
view_take_op.vjp(x=lambda g, chain, layout, ops: ops.view_put(g, chain, layout)).jvp("each")

view_put_op = Op("view_put", "part", "chain layout", moves=True)
view_put_op.vjp(part=lambda g, chain, layout, ops: ops.view_take(g, chain, layout)).jvp("each")

view_clear_op = Op("view_clear", "x", "chain layout", moves=True)
view_clear_op.vjp(x=lambda g, chain, layout, ops: ops.view_clear(g, chain, layout)).jvp("each")

view_scatter_op = Op("view_scatter", "x part", "chain layout", moves=True)
view_scatter_op.vjp(
    x=lambda g, chain, layout, ops: ops.view_clear(g, chain, layout),
    part=lambda g, chain, layout, ops: ops.view_take(g, chain, layout),
).jvp("together")

select_scatter_op = Op("select_scatter", "x src", "dim index", moves=True)
select_scatter_op.vjp(
    x=lambda g, dim, index, ops: ops.view_clear(g, ((), (select_op, (dim, index), None)), None),
    src=lambda g, dim, index, ops: ops.select(g, dim, index),
).jvp("together")

slice_scatter_op = Op("slice_scatter", "x src", "dim start stop step", moves=True)
slice_scatter_op.vjp(
    x=lambda g, dim, start, stop, step, ops: ops.view_clear(g, ((), (slice_op, (dim, start, stop, step), None)), None),
    src=lambda g, dim, start, stop, step, ops: ops.slice(g, dim, start, stop, step),
).jvp("together")

as_strided_scatter_op = Op("as_strided_scatter", "x src", "size stride offset layout", moves=True)
as_strided_scatter_op.vjp(
    x=lambda g, size, stride, offset, layout, ops: ops.view_clear(
        g, ((), (as_strided_op, (size, stride, offset, layout), None)), _layout(g, layout)
    ),
    src=lambda g, size, stride, offset, layout, ops: ops.as_strided_copy(g, size, stride, offset, layout),
).jvp("together")


def _layout(g: Any, layout: tuple[int, ...]) -> tuple[Any, ...]:
    """Where the elements of a gradient would lie if it had the strides of its tensor."""
    return tuple(g.shape), tuple([s * g.itemsize for s in layout]), None


# Parts -----------------------------------------------------------------------------------------------


@public()
def select(input: Any, dim: int, index: int) -> Tensor:
    """The slice at one index of a dimension."""
    if not isinstance(input, Tensor):
        raise tensor_needed("select", input)
    return select_op.call(input, *selecting(input, dim, index))  # type: ignore[no-any-return]


def selecting(x: Tensor, dim: int, index: int) -> tuple[int, int]:
    """Dimension and index counted from the front."""
    shape = x._array.shape
    if not shape:
        raise ArgumentIndexError("select() cannot be applied to a 0-dim tensor.")
    dim = normalize_dim(dim, len(shape))
    n = shape[dim]
    if not -n <= index < n:
        raise ArgumentIndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    return dim, int(index) + n if index < 0 else int(index)


@public()
def narrow(input: Any, dim: int, start: Any, length: int) -> Tensor:
    """`length` slices of a dimension, from `start` on."""
    dim, start, stop = narrowing(input, dim, start, length)
    return slice_op.call(input, dim, start, stop, 1)  # type: ignore[no-any-return]


@public(out=True)
def narrow_copy(input: Any, dim: int, start: int, length: int) -> Tensor:
    """A copy of `length` slices of a dimension, from `start` on."""
    if isinstance(input, Tensor) and dim >= input._array.ndim > 0:
        raise ShapeError(
            f"Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false. (dim is {dim})"
        )
    return narrow_copy_op.call(input, *narrowing(input, dim, start, length))  # type: ignore[no-any-return]


def narrowing(x: Any, dim: int, start: Any, length: int) -> tuple[int, int, int]:
    """Dimension, start and stop counted from the front."""
    if not isinstance(x, Tensor):
        raise tensor_needed("narrow", x)
    shape = x._array.shape
    if not shape:
        raise EngineError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise EngineError("narrow(): length must be non-negative.")
    if isinstance(start, Tensor):
        if start.ndim or start._array.dtype.kind not in "iu":
            raise EngineError("start must be an 0-dim integral Tensor.")
        start = int(start._array)
    dim = normalize_dim(dim, len(shape))
    n = shape[dim]
    if not -n <= start <= n:
        raise ArgumentIndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    if start < 0:
        start += n
    if start + length > n:
        raise ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return dim, start, start + length


@public(function=False)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` elements along a dimension, `step` apart, as a view."""
    shape = self._array.shape
    dim = normalize_dim(dimension, len(shape))
    n = shape[dim] if shape else 1
    if size < 0:
        raise EngineError(f"size is {size} but must be >= 0")
    if size > n:
        raise ShapeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise EngineError(f"step is {step} but must be > 0")
    return unfold_op.call(self, dim, size, step)  # type: ignore[no-any-return]


# Copies with a part replaced --------------------------------------------------------------------------


def _check_source(x: Any, src: Any, part: tuple[int, ...], name: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise tensor_needed(name, x)
    if not isinstance(src, Tensor):
        raise tensor_needed(name, src, "src", 2)
    if src._array.shape != part:
        raise ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._array.shape)}, slice size = "
            f"{list(part)}"
        )
    return x


@public(out=True)
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Tensor:
    """A copy of `input` with one slice of a dimension replaced by `src`."""
    dim, index = selecting(input, dim, index)
    shape = input._array.shape
    _check_source(input, src, shape[:dim] + shape[dim + 1 :], "select_scatter")
    return select_scatter_op.call(input, src, dim, index)  # type: ignore[no-any-return]


@public(out=True)
def slice_scatter(
    input: Any, src: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of `input` with `input[start:end:step]` along a dimension replaced by `src`."""
    shape = input._array.shape
    dim = normalize_dim(dim, len(shape))
    if step <= 0:
        raise EngineError("slice step must be positive")
    begin, stop, _ = slice(start, end, step).indices(shape[dim])
    stop = max(begin, stop)
    part = (*shape[:dim], len(range(begin, stop, step)), *shape[dim + 1 :])
    _check_source(input, src, part, "slice_scatter")
    return slice_scatter_op.call(input, src, dim, begin, stop, step)  # type: ignore[no-any-return]


# Views by strides --------------------------------------------------------------------------------------


def striding(x: Any, size: Any, stride: Any, storage_offset: int | None) -> tuple[Any, ...]:
    """Parameters of `as_strided`, checked against the memory there is."""
    if not isinstance(x, Tensor):
        raise tensor_needed("as_strided", x)
    size, stride = ints((size,)), ints((stride,), "stride")
    if len(size) != len(stride):
        if isinstance(x._array, Mapped):  # PyTorch's own words inside of `vmap`
            raise ShapeError(
                f"Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got size {list(size)} and stride "
                f"{list(stride)}"
            )
        raise ShapeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise EngineError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    own = x.storage_offset()
    offset = own if storage_offset is None else storage_offset
    if offset < 0:
        raise EngineError(f"Tensor: invalid storage offset {offset}")
    item = x._array.itemsize
    last = -1 if 0 in size else sum([(n - 1) * s for n, s in zip(size, stride, strict=True)])
    if isinstance(x._array, Mapped) and last >= 0:
        _stay_inside(x, size, stride, own, offset, last)
    have = storage_bytes(x)
    if last >= 0 and (offset + last + 1) * item > have:
        raise EngineError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {(offset + last + 1) * item} are out of bounds for storage of size {have}"
        )
    if last < 0:  # of nothing it does not matter where it lies
        offset = min(offset, have // item)
    return size, stride, offset - own, x.stride()


def _stay_inside(x: Any, size: Any, stride: Any, own: int, offset: int, last: int) -> None:
    """Beyond one sample lies the next one: what is not the sample's own memory is refused."""
    reach = 1 + sum([(n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)]) if x._array.size else 0
    if offset < own or offset + last + 1 > own + reach:
        raise EngineError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access memory outside of `tensor`. `result` can "
            f"access some memory in range [{offset}, {offset + last + 1}], but `tensor` can only access some memory in range "
            f"[{own}, {own + reach}]. This is not supported inside of vmap, please try to rewrite the `as_strided` call as a "
            "sequence of PyTorch view operations"
        )


def storage_bytes(x: Tensor) -> int:
    """Bytes of the memory that `x` is a part of."""
    return int(memory_root(x._array).nbytes)


@public()
def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory behind `input` with any shape and strides."""
    return as_strided_op.call(input, *striding(input, size, stride, storage_offset))  # type: ignore[no-any-return]


@public(out=True)
def as_strided_scatter(input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of `input` with the view `as_strided(input, …)` replaced by `src`."""
    params = striding(input, size, stride, storage_offset)
    _check_source(input, src, params[0], "as_strided_scatter")
    return as_strided_scatter_op.call(input, src, *params)  # type: ignore[no-any-return]
