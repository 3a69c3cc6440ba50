"""Several tensors into one, one into several."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.dtypes import FROM_NUMPY, result_type
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, EngineError, ShapeError
from ..faces.api import public
from ..faces.strict_out import strict_out
from . import grids  # (which takes from here: its functions are there when they are called)
from .parts import slice_op
from .shape import ints, reshaped, tensor_needed


def _cat_rule(g: Any, tensors_shape: Any, dim: int, needs: Any, ops: Any) -> Any:
    grads, at = [], 0
    for shape, need in zip(tensors_shape, needs, strict=True):
        skipped = len(shape) != g.ndim  # the empty vector that stands for nothing
        n = 0 if skipped else shape[dim]
        part = ops.slice(g, dim, at, at + n, 1) if need else None
        grads.append(ops.view(part, (0,)) if skipped and need else part)
        at += n
    return grads


cat_op = Op("cat", "*tensors", "dim dtype", moves=True, traits="rearranges joins")
cat_op.vjp(_cat_rule).jvp("together")

stack_op = Op("stack", "*tensors", "dim dtype", moves=True, traits="rearranges joins")
stack_op.vjp(lambda g, dim, ops: ops.unbind(g, dim)).jvp("together")

unbind_op = Op("unbind", "x", "dim", multi_view=True, traits="rearranges")
unbind_op.vjp(x=lambda g, x_shape, dim, ops: ops.unbind_backward(_parts(g), x_shape, dim))

unbind_backward_op = Op("unbind_backward", "*parts", "shape dim", node="StackBackward0", moves=True)
unbind_backward_op.vjp(lambda g, dim, ops: ops.unbind(g, dim)).jvp("together")

split_op = Op("split", "x", "size dim", multi_view=True, traits="rearranges", saved_as={"split_size": "size"})
split_op.vjp(x=lambda g, x_shape, size, dim, ops: ops.unsplit(_parts(g), x_shape, equal_sizes(x_shape[dim], size), dim))

split_with_sizes_op = Op(
    "split_with_sizes", "x", "sizes dim", multi_view=True, traits="rearranges", saved_as={"split_sizes": "sizes"}
)
split_with_sizes_op.vjp(x=lambda g, x_shape, sizes, dim, ops: ops.unsplit(_parts(g), x_shape, sizes, dim))

unsplit_op = Op("unsplit", "*parts", "shape sizes dim", node="CatBackward0", moves=True)
unsplit_op.vjp(lambda g, sizes, dim, ops: ops.split_with_sizes(g, sizes, dim)).jvp("together")


def _block_rule(g: Any, tensors_shape: Any, needs: Any, ops: Any) -> Any:
    grads: list[Any] = []
    row = column = 0
    for shape, need in zip(tensors_shape, needs, strict=True):
        n, m = shape if len(shape) == 2 else (1, shape[0] if shape else 1)
        if need:
            block = ops.slice(ops.slice(g, 0, row, row + n, 1), 1, column, column + m, 1)
            grads.append(block if len(shape) == 2 else ops.view(block, shape))
        else:
            grads.append(None)
        row, column = row + n, column + m
    return grads


block_diag_op = Op("block_diag", "*tensors", "dtype", moves=True)
block_diag_op.vjp(_block_rule).jvp("together")


def _parts(g: Any) -> tuple[Any, ...]:
    """Gradients of all outputs; the engine hands over a single one as it is."""
    return g if type(g) is tuple else (g,)


def equal_sizes(n: int, size: int) -> tuple[int, ...]:
    """`n` in parts of `size`, the last one smaller if need be."""
    return tuple([min(size, n - i) for i in range(0, n, size)]) if n and size else (n,)


# Joining ---------------------------------------------------------------------------------------------


def tensor_list(name: str, tensors: Any, argument: str = "tensors") -> Sequence[Tensor]:
    """A tuple or list of tensors."""
    if not isinstance(tensors, (tuple, list)):
        raise ArgumentTypeError(
            f"{name}(): argument '{argument}' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    for each in tensors:
        if not isinstance(each, Tensor):
            i = next(i for i, t in enumerate(tensors) if t is each)
            raise ArgumentTypeError(f"expected Tensor as element {i} in argument 0, but got {type(each).__name__}")
    return tensors


def common_type(tensors: Sequence[Tensor]) -> Any:
    """The type to bring tensors to; None if they all have it."""
    first = tensors[0]._array.dtype
    for each in tensors:
        if each._array.dtype is not first and each._array.dtype != first:
            return result_type([t._array for t in tensors])
    return None


@public(method=False, out=True, aliases=("concat", "concatenate"))
def cat(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors one after the other along a dimension."""
    if axis is None and not modes.special:
        out: Tensor | None = cat_op.quick(tensors, dim)
        if out is not None:
            return out
    tensors = tensor_list("cat", tensors)
    if axis is not None:
        dim = axis
    if not tensors:
        raise ArgumentValueError("torch.cat(): expected a non-empty list of Tensors")
    ndim = tensors[0]._array.ndim
    if ndim == 1 and not tensors[0]._array.size:
        ndim = max([t._array.ndim for t in tensors])
        if ndim == 1 and not any(t._array.size for t in tensors):
            dim = 0  # nothing but empty tensors: PyTorch does not look at the dimension
    dim = normalize_dim(dim, ndim)
    try:
        return cat_op.call(tensors, dim, common_type(tensors))  # type: ignore[no-any-return]
    except (ValueError, TypeError) as error:  # (array libraries differ in what they raise)
        raise _cat_error(tensors, dim) or error from None


strict_out("cat", "concat", "concatenate", apart=True, any_type=True)


def _cat_error(tensors: Sequence[Tensor], dim: int) -> Exception | None:
    """Why tensors cannot be concatenated, in PyTorch's words."""
    shapes = [t._array.shape for t in tensors]
    for i, shape in enumerate(shapes):
        if not shape:
            return ShapeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    first = next((s for s in shapes if s != (0,)), (0,))
    for i, shape in enumerate(shapes):
        if shape == (0,):
            continue
        if len(shape) != len(first):
            return ShapeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        for d, (n, m) in enumerate(zip(first, shape, strict=True)):
            if n != m and d != dim:
                return ShapeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for "
                    f"tensor number {i} in the list.\nThe shapes are {[list(s) for s in shapes]}."
                )
    return None


@public(method=False, out=True)
def stack(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape along a new dimension."""
    if axis is None and not modes.special:
        out: Tensor | None = stack_op.quick(tensors, dim)
        if out is not None:
            return out
    dim = dim if axis is None else axis
    tensors = tensor_list("stack", tensors)
    if not tensors:
        raise ShapeError("stack expects a non-empty TensorList")
    first = tensors[0]._array.shape
    n = len(first) + 1
    if not -n <= dim < n:
        raise ArgumentIndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    for each in tensors:
        if each._array.shape != first:
            at = next(i for i, t in enumerate(tensors) if t is each)
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(each._array.shape)} at entry {at}"
            )
    return stack_op.call(tensors, dim + n if dim < 0 else dim, common_type(tensors))  # type: ignore[no-any-return]


def _joined(name: str, tensors: Any, prepare: Callable[[Tensor], Tensor], dim: int) -> Tensor:
    if not tensor_list(name, tensors):
        raise ShapeError(f"{name} expects a non-empty TensorList")
    return cat([prepare(each) for each in tensors], dim)  # type: ignore[no-any-return]


@public(method=False, out=True)
def hstack(tensors: Any) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along the first."""
    flat = tensor_list("hstack", tensors) and tensors[0].ndim <= 1
    return _joined("hstack", tensors, grids.atleast_1d, 0 if flat else 1)


@public(method=False, out=True, aliases=("row_stack",))
def vstack(tensors: Any) -> Tensor:
    """Tensors on top of each other: along the first dimension."""
    return _joined("vstack", tensors, grids.atleast_2d, 0)


@public(method=False, out=True)
def dstack(tensors: Any) -> Tensor:
    """Tensors behind each other: along the third dimension."""
    return _joined("dstack", tensors, grids.atleast_3d, 2)


@public(method=False, out=True)
def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns next to each other; matrices as in hstack."""
    return _joined("column_stack", tensors, lambda x: reshaped(x, (x.numel(), 1)) if x.ndim <= 1 else x, 1)


@public(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal of a large one."""
    from ..creation.from_data import tensor

    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if not given:
        return reshaped(tensor([]), (1, 0))
    for i, each in enumerate(tensor_list("block_diag", given)):
        if each.ndim > 2:
            raise ShapeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {each.ndim} dimensions"
            )
    return block_diag_op.call(given, common_type(given) or given[0]._array.dtype)  # type: ignore[no-any-return]


# Splitting -------------------------------------------------------------------------------------------


@public(method=True)
def unbind(input: Any, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """All slices along a dimension."""
    dim = dim if axis is None else axis
    if not isinstance(input, Tensor):
        raise tensor_needed("unbind", input)
    if not input._array.ndim:
        raise ArgumentIndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return unbind_op.call(input, normalize_dim(dim, input._array.ndim))  # type: ignore[no-any-return]


@public("split", method=False)
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of one size (the last may be smaller), or of the given sizes."""
    return _split(tensor, split_size_or_sections, dim)  # type: ignore[no-any-return]


@public("split", function=False)
def _split(self: Any, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    if not isinstance(self, Tensor):
        raise tensor_needed("split", self, "tensor")
    if isinstance(split_size, Tensor) and not split_size._array.ndim:
        split_size = split_size.item()  # type: ignore[attr-defined]
    if not isinstance(split_size, int):
        return split_with_sizes(self, split_size, dim)  # type: ignore[no-any-return]
    shape = self._array.shape
    if not shape:
        raise EngineError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise EngineError(f"split expects split_size be non-negative, but got split_size={split_size}")
    dim = normalize_dim(dim, len(shape))
    if split_size == 0 and shape[dim]:
        raise EngineError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {shape[dim]}")
    return split_op.call(self, split_size if shape[dim] else 0, dim)  # type: ignore[no-any-return]


@public()
def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of the given sizes."""
    sizes = ints((split_sizes,), "split_sizes")
    shape = input._array.shape
    if not shape:
        raise EngineError("split expects at least a 1-dimensional tensor")
    dim = normalize_dim(dim, len(shape))
    if any(n < 0 for n in sizes):
        raise EngineError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[dim]:
        raise EngineError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return split_with_sizes_op.call(input, sizes, dim)  # type: ignore[no-any-return]


@public()
def chunk(input: Any, chunks: int, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """At most `chunks` parts of one size (the last may be smaller)."""
    dim = dim if axis is None else axis
    if not isinstance(input, Tensor):
        raise tensor_needed("chunk", input)
    shape = input._array.shape
    if not shape:
        raise EngineError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise EngineError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = normalize_dim(dim, len(shape))
    size = -(-shape[dim] // chunks)
    if not size:
        return split_with_sizes_op.call(input, (0,) * chunks, dim)  # type: ignore[no-any-return]
    return split_op.call(input, size, dim)  # type: ignore[no-any-return]


@public()
def tensor_split(input: Any, indices_or_sections: Any = None, dim: int = 0, **named: Any) -> tuple[Tensor, ...]:
    """Parts of as equal a size as can be, or parts between indices."""
    if named:
        indices_or_sections = next(iter(named.values()))
    if not isinstance(input, Tensor):
        raise tensor_needed("tensor_split", input)
    shape = input._array.shape
    if not shape:
        raise EngineError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = normalize_dim(dim, len(shape))
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = _tensor_of_indices(indices_or_sections)
    n = shape[dim]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise EngineError(f"number of sections must be larger than 0, got {indices_or_sections}")
        small, more = divmod(n, indices_or_sections)
        ends = list(itertools.accumulate([small + (i < more) for i in range(indices_or_sections)]))
        return _between([0, *ends[:-1]], ends, input, dim)
    points = ints((indices_or_sections,), "indices")
    return _between([0, *points], [*points, n], input, dim)


def _tensor_of_indices(given: Tensor) -> Any:
    kind = FROM_NUMPY[given._array.dtype]
    if kind.numpy.kind != "i" or kind.numpy.itemsize != 8:
        raise EngineError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {kind.old}")
    if given.ndim > 1:
        raise EngineError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {given.ndim} dims"
        )
    return given._array.tolist()


def _between(starts: list[int], ends: list[int], x: Tensor, dim: int) -> tuple[Tensor, ...]:
    n = x._array.shape[dim]
    parts = []
    for start, end in zip(starts, ends, strict=True):
        begin, stop, _ = slice(start, end).indices(n)
        parts.append(slice_op.call(x, dim, begin, max(begin, stop), 1))
    return tuple(parts)


def _split_along(name: str, need: int, x: Any, given: Any, dim: int) -> tuple[Tensor, ...]:
    """hsplit, vsplit, dsplit: equal parts, or parts between indices."""
    if not isinstance(x, Tensor):
        raise tensor_needed(name, x)
    if x.ndim < need:
        raise ShapeError(
            f"torch.{name} requires a tensor with at least {need} dimension, but got a tensor with {x.ndim} dimensions!"
        )
    if isinstance(given, int) and (given == 0 or x._array.shape[dim] % given):
        raise ShapeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{x._array.shape[dim]} is not divisible by the split_size {given}!"
        )
    return tensor_split(x, given, dim)  # type: ignore[no-any-return]


@public()
def hsplit(input: Any, indices_or_sections: Any = None, **named: Any) -> tuple[Tensor, ...]:
    """Parts side by side: along the second dimension (a vector: along its first)."""
    given = next(iter(named.values())) if named else indices_or_sections
    return _split_along("hsplit", 1, input, given, 1 if getattr(input, "ndim", 0) > 1 else 0)


@public()
def vsplit(input: Any, indices_or_sections: Any = None, **named: Any) -> tuple[Tensor, ...]:
    """Parts on top of each other: along the first dimension."""
    return _split_along("vsplit", 2, input, next(iter(named.values())) if named else indices_or_sections, 0)


@public()
def dsplit(input: Any, indices_or_sections: Any = None, **named: Any) -> tuple[Tensor, ...]:
    """Parts behind each other: along the third dimension."""
    return _split_along("dsplit", 3, input, next(iter(named.values())) if named else indices_or_sections, 2)
