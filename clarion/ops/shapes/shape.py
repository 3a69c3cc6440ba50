"""Other shapes for the same elements: views wherever PyTorch gives views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core import modes, provenance
from ...core.description import called, normalize_dim, whole
from ...core.devices import ndarray
from ...core.dtypes import COMPLEX, FROM_NUMPY, NumpyNumber, meant
from ...core.dtypes import dtype as DType
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError, not_a_tensor
from ...kernels.mirrors import mirror_of
from ..faces.api import method, public
from .rearrange import clone_op

Sizes = tuple[int, ...]

view_op = Op("view", "x", "shape", view=True, traits="rearranges reshapes")
view_op.vjp(x=lambda g, x_shape, ops: ops.reshape(g, x_shape))

# A fresh copy in another shape. Called by name (`ops.reshape`) it is a view where that is possible.
reshape_op = Op("reshape", "x", "shape", node="UnsafeViewBackward0", moves=True, traits="rearranges reshapes")
reshape_op.vjp(x=lambda g, x_shape, ops: ops.reshape(g, x_shape)).jvp("each")
unsafe_view = reshape_op.call

view_dtype_op = Op("view_dtype", "x", "dtype", view=True, differentiable=False)

expand_op = Op("expand", "x", "shape", view=True, traits="rearranges reshapes")
expand_op.vjp(x=lambda g, x_shape, ops: ops.sum_to(g, x_shape))

sum_to_op = Op("sum_to", "x", "shape", node="SumBackward1", moves=True)
sum_to_op.vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape)).jvp("each")

squeeze_op = Op("squeeze", "x", view=True, traits="rearranges reshapes")
squeeze_op.vjp(x=lambda g, x_shape, ops: ops.view(g, x_shape))

squeeze_dim_op = Op("squeeze_dim", "x", "dim", view=True, node="SqueezeBackward1", traits="rearranges reshapes")
squeeze_dim_op.vjp(x=lambda g, x_shape, ops: ops.view(g, x_shape))

squeeze_dims_op = Op("squeeze_dims", "x", "dims", view=True, node="SqueezeBackward2", traits="rearranges reshapes")
squeeze_dims_op.vjp(x=lambda g, x_shape, ops: ops.view(g, x_shape))

unsqueeze_op = Op("unsqueeze", "x", "dim", view=True, traits="rearranges reshapes")
unsqueeze_op.vjp(x=lambda g, x_shape, ops: ops.view(g, x_shape))


# Arguments -----------------------------------------------------------------------------------------


def tensor_needed(name: str, value: Any, argument: str = "input", position: int = 1) -> ArgumentTypeError:
    """An argument that should have been a Tensor."""
    return not_a_tensor(name, argument, value, position)


def ints(values: tuple[Any, ...], name: str = "size") -> Sizes:
    """Sizes or dimensions given one by one, as one tuple or as one list."""
    for n in values:
        if type(n) is not int:
            break
    else:
        return tuple(values)
    if len(values) == 1 and not isinstance(values[0], int):
        values = values[0]
        if isinstance(values, (Tensor, NumpyNumber, ndarray)) and values.ndim == 0:
            values = (values,)
    try:
        sizes = tuple([n if type(n) is int else whole(n) for n in values])
    except TypeError:
        sizes = (None,)
    if None in sizes:
        raise ArgumentTypeError(f"{called()}(): argument '{name}' must be tuple of ints, but got {values!r}")
    return sizes  # type: ignore[return-value]


def infer(size: Sizes, numel: int) -> Sizes:
    """Sizes with -1 filled in; they must hold `numel` elements."""
    known, unknown = 1, None
    for i, n in enumerate(size):
        if n == -1:
            if unknown is not None:
                raise ShapeError(f"only one dimension can be inferred\nThe shape asked for is {list(size)}.")
            unknown = i
        elif n < 0:
            raise ShapeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
        else:
            known *= n
    if unknown is None:
        if known == numel:
            return size
    elif known == 0 and numel == 0:
        raise ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 can "
            "be any value and is ambiguous"
        )
    elif known and numel % known == 0:
        return (*size[:unknown], numel // known, *size[unknown + 1 :])
    raise ShapeError(
        f"shape '{list(size)}' is invalid for input of size {numel}\nAt {provenance.text(provenance.here())}"
    )


# view, reshape, flatten ------------------------------------------------------------------------------


def view_as_shape(x: Tensor, size: Sizes) -> Tensor:
    """A view of the same elements, or PyTorch's refusal."""
    if size and min(size) < 0:
        size = infer(size, x._array.size)
    try:
        result: Tensor = view_op.call(x, size)
        return result
    except ValueError:
        infer(size, x._array.size)
    raise ShapeError(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        f"contiguous subspaces). Use .reshape(...) instead.\nThe tensor has shape {list(x._array.shape)} and strides "
        f"{list(x.stride())}; the view would be {list(size)}. At {provenance.text(provenance.here())}"
    )


def reshaped(x: Tensor, size: Sizes) -> Tensor:
    """A view of the same elements if their order in memory allows it, else a copy."""
    quick = view_op.quick if not modes.special else view_op.quick_in_mode()
    out: Tensor | None = quick(x, size)
    if out is not None:
        return out
    array = x._array
    if size == (-1,):
        size = (array.size,)
    elif size and min(size) < 0:
        size = infer(size, array.size)
    try:
        result: Tensor = view_op.call(x, size)
    except ValueError:
        size = infer(size, array.size)
        result = unsafe_view(clone_op.call(x, "C"), size)
    return result


reshape_op.call = reshaped


@method()
def view(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """The same memory with another shape or another type."""
    if dtype is None:
        quick = view_op.quick if not modes.special else view_op.quick_in_mode()
        out: Tensor | None = quick(self, size)
        if out is not None:
            return out
    if size == (-1,):
        size = (self._array.size,)
    elif len(size) == 1 and type(size[0]) is not int:
        dtype = kind if isinstance(kind := meant(size[0]), DType) else None
        if dtype is None:
            size = ints(size)
    elif not size and dtype is None:
        raise ArgumentTypeError(
            "view() received an invalid combination of arguments - got (), but expected one of:\n * (torch.dtype dtype)\n"
            " * (tuple of ints size)\n"
        )
    if dtype is not None:
        return _view_dtype(self, meant(dtype))
    try:
        return view_as_shape(self, size)
    except TypeError:
        ints(size)
        raise


def _view_dtype(x: Tensor, kind: DType) -> Tensor:
    array, new = x._array, kind.numpy
    if mirror_of(array) is not None and new != array.dtype:
        word = "conjugate" if array.dtype in COMPLEX else "negative"
        raise EngineError(
            f"torch.Tensor.view is not supported for {word} view tensors when converting to a different dtype."
        )
    if array.itemsize == new.itemsize:
        return _with_bits_of(x, new)
    pair = f"to view {FROM_NUMPY[array.dtype].old} as {FROM_NUMPY[new].old} (different element sizes)"
    if array.ndim == 0:
        raise ShapeError(f"self.dim() cannot be 0 {pair}")
    if array.shape[-1] != 1 and x.stride(-1) != 1:
        raise ShapeError(f"self.stride(-1) must be 1 {pair}, but got {x.stride(-1)}")
    ratio = new.itemsize // array.itemsize
    if ratio > 1 and array.shape[-1] % ratio:
        raise ShapeError(f"self.size(-1) must be divisible by {ratio} {pair}, but got {array.shape[-1]}")
    if ratio > 1 and x.storage_offset() % ratio:
        raise ShapeError(f"self.storage_offset() must be divisible by {ratio} {pair}, but got {x.storage_offset()}")
    for dim, step in enumerate(x.stride()[:-1] if ratio > 1 else ()):
        if step % ratio:
            raise ShapeError(f"self.stride({dim}) must be divisible by {ratio} {pair}, but got {step}")
    return _with_bits_of(x, new)


def _with_bits_of(x: Tensor, kind: Any) -> Tensor:
    """The same memory and the same count of writes; but no view, as in PyTorch: no gradient goes through bits."""
    out: Tensor = view_dtype_op.call(x, kind)
    out._view = None
    return out


def reshape(input: Any, *shape: Any) -> Tensor:
    """The same elements in another shape: a view where possible, else a copy."""
    if not isinstance(input, Tensor):
        raise tensor_needed("reshape", input)
    return reshaped(input, ints(shape, "shape"))


@public("reshape", method=False)
def _reshape(input: Any, shape: Sequence[int]) -> Tensor:
    """The same elements in another shape: a view where possible."""
    return reshape(input, shape)


@method("reshape")
def _reshape_method(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    quick = view_op.quick if not modes.special else view_op.quick_in_mode()
    out: Tensor | None = quick(self, sizes if shape is None else shape)
    if out is not None:
        return out
    return reshaped(self, ints(sizes if shape is None else tuple(shape), "shape"))


@method()
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`self` in the shape of `other`."""
    if not isinstance(other, Tensor):
        raise tensor_needed("reshape_as", other, "other")
    return reshaped(self, other._array.shape)


@method()
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`self` viewed in the shape of `other`."""
    if not isinstance(other, Tensor):
        raise tensor_needed("view_as", other, "other")
    return view_as_shape(self, other._array.shape)


@public()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim … end_dim as one."""
    if not isinstance(input, Tensor):
        raise tensor_needed("flatten", input)
    shape = input._array.shape
    if start_dim == 0 and end_dim == -1 and len(shape) > 1:
        return reshaped(input, (input._array.size,))
    first, last = normalize_dim(start_dim, len(shape)), normalize_dim(end_dim, len(shape))
    if first > last:
        raise ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshaped(input, (1,))
    if first == last:
        return input
    return reshaped(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@public()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return view_as_shape(
        input if input.is_contiguous() else clone_op.call(input, "C"), (-1,) if input.numel() else (0,)
    )


@public()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several."""
    sizes = ints((sizes,))
    if not sizes:
        raise ShapeError("unflatten: sizes must be non-empty")
    shape = input._array.shape
    dim = normalize_dim(dim, len(shape))
    if not shape:
        return view_as_shape(input, sizes)
    try:
        new = infer(sizes, shape[dim])
    except ShapeError as error:
        if "is invalid for" not in str(error):
            raise
        raise ShapeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the "
            "input tensor"
        ) from None
    return view_as_shape(input, (*shape[:dim], *new, *shape[dim + 1 :]))


# Dimensions of size one ------------------------------------------------------------------------------


@public()
def squeeze(input: Any, dim: Any = None, *, axis: Any = None) -> Tensor:
    """Without the dimensions of size one, or without those of them that are given."""
    quick = squeeze_dim_op.quick if not modes.special else squeeze_dim_op.quick_in_mode()
    out: Tensor | None = quick(input, dim)
    if out is not None:
        return out
    if not isinstance(input, Tensor):
        raise tensor_needed("squeeze", input)
    op, *params = squeezing(input, axis if dim is None else dim)
    return op.call(input, *params)  # type: ignore[no-any-return]


def squeezing(x: Tensor, dim: Any) -> tuple[Any, ...]:
    """The operation that `squeeze(dim)` means, and its parameters."""
    if dim is None:
        return (squeeze_op,)
    n = x._array.ndim
    if isinstance(dim, (tuple, list)):
        return squeeze_dims_op, unique_dims(dim, n)
    return squeeze_dim_op, normalize_dim(dim, n)


def unique_dims(dims: Sequence[int], ndim: int) -> Sizes:
    """Dimensions counted from the front; none may come twice."""
    found = tuple([normalize_dim(d, ndim) for d in dims])
    if len(set(found)) != len(found):
        twice = next(d for i, d in enumerate(found) if d in found[:i])
        raise EngineError(f"dim {twice} appears multiple times in the list of dims")
    return found


@public()
def unsqueeze(input: Any, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """With one more dimension of size one."""
    quick = unsqueeze_op.quick if not modes.special else unsqueeze_op.quick_in_mode()
    out: Tensor | None = quick(input, dim)
    if out is not None:
        return out
    if not isinstance(input, Tensor):
        raise tensor_needed("unsqueeze", input)
    return unsqueeze_op.call(input, unsqueezing(input, axis if dim is None else dim))  # type: ignore[no-any-return]


def unsqueezing(x: Tensor, dim: Any) -> int:
    """Where the new dimension goes."""
    return normalize_dim(dim, x._array.ndim + 1)


# Stretching ------------------------------------------------------------------------------------------


def expanded(x: Tensor, size: Sizes) -> Tensor:
    """`x` stretched to `size`, where -1 keeps a size."""
    shape = x._array.shape
    if shape == size:
        return expand_op.call(x, size)  # type: ignore[no-any-return]
    extra = len(size) - len(shape)
    if extra < 0:
        raise ShapeError(
            f"expand(torch.{FROM_NUMPY[x._array.dtype].old}Tensor{{{list(shape)}}}, size={list(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    if size[extra:] == shape and min(size) >= 0:
        return expand_op.call(x, size)  # type: ignore[no-any-return]
    new = list(size)
    for i, n in enumerate(size):
        if i < extra:
            if n < 0:
                raise ShapeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
                )
        elif n == -1:
            new[i] = shape[i - extra]
        elif n != shape[i - extra] and (shape[i - extra] != 1 or n < 0):
            raise ShapeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({shape[i - extra]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    return expand_op.call(x, tuple(new))  # type: ignore[no-any-return]


@method()
def expand(self: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """Dimensions of size one stretched without copying; -1 keeps a size."""
    quick = expand_op.quick if not modes.special else expand_op.quick_in_mode()
    out: Tensor | None = quick(self, sizes if size is None else size)
    if out is not None:
        return out
    return expanded(self, ints(sizes if size is None else tuple(size)))


@method()
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`self` stretched to the shape of `other`."""
    if not isinstance(other, Tensor):
        raise tensor_needed("expand_as", other, "other")
    return expanded(self, other._array.shape)


@public()
def broadcast_to(input: Tensor, *size: Any) -> Tensor:
    """`input` stretched to a shape."""
    return expanded(input, ints(size))
