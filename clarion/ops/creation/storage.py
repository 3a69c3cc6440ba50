"""Shape changes in place, and tensors that come to stand for other memory."""

from __future__ import annotations

import math
from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.devices import kind_of, xp_of
from ...core.dtypes import FROM_NUMPY, channels_last, channels_last_3d, preserve_format
from ...core.inplace import refuse_history, reshape_inplace, wrote
from ...core.saved import is_lent
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError
from ...kernels.layout import memory_root, strided
from ..faces.api import METHODS, method, public
from ..shapes.parts import as_strided_op, storage_bytes, striding
from ..shapes.shape import ints, squeeze_op, squeezing, tensor_needed, unsqueeze_op, unsqueezing
from ..shapes.transpose import t_op, transpose_op
from .memory import UntypedStorage, untyped_storage
from .typed_storage import LEGACY, TypedStorage, storage_of_tensor, warn_of_removal
from .uninitialised import uninitialised

# Shape changes in place ------------------------------------------------------------------------------


@method("squeeze_")
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """`squeeze` in place."""
    op, *params = squeezing(self, dim)
    number = 3 if op is squeeze_op else 4 if params and isinstance(params[0], int) else 5
    return reshape_inplace(op, self, *params, node=f"SqueezeBackward{number}")


@method("unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place."""
    return reshape_inplace(unsqueeze_op, self, unsqueezing(self, dim), node="UnsqueezeBackward1")


@method("t_")
def t_(self: Tensor) -> Tensor:
    """`t` in place."""
    if self._array.ndim > 2:
        raise ShapeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
    return reshape_inplace(t_op, self, node="TBackward1")


@method("transpose_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place."""
    n = self._array.ndim
    dims = normalize_dim(dim0, n), normalize_dim(dim1, n)
    return reshape_inplace(transpose_op, self, *dims, node="TransposeBackward1")


METHODS["swapaxes_"] = METHODS["swapdims_"] = transpose_


@public("as_strided_")
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """`as_strided` in place."""
    return reshape_inplace(
        as_strided_op, self, *striding(self, size, stride, storage_offset), node="AsStridedBackward1"
    )


# Other memory ------------------------------------------------------------------------------------------


@method("resize_")
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape over the same memory, or over larger memory whose new part is not initialised."""
    size = ints(sizes)
    if self.requires_grad and not modes.state.inference:
        raise EngineError("cannot resize variables that require grad")
    if any(n < 0 for n in size):
        raise ShapeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    array = self._array
    if array.shape == size and memory_format is None:
        return self
    if math.prod(size) >= 1 << 63:
        raise EngineError("numel: integer multiplication overflow")
    if math.prod(size) * array.itemsize >= 1 << 63:
        raise EngineError(f"Storage size calculation overflowed with sizes={list(size)}")
    if math.prod([n or 1 for n in size]) * array.itemsize >= 1 << 63:
        raise EngineError(f"Stride calculation overflowed: sizes={list(size)}")
    steps = _steps_of(size, array.itemsize, memory_format)
    need = self.storage_offset() * array.itemsize + math.prod(size) * array.itemsize
    if need > storage_bytes(self):
        if is_lent(self):
            raise EngineError("Trying to resize storage that is not resizable")
        grown = uninitialised(xp_of(array), need // array.itemsize, array.dtype)
        old = memory_root(array).reshape(-1).view(array.dtype)
        grown[: old.size] = old
        self._array = strided(grown[(need - math.prod(size) * array.itemsize) // array.itemsize :], size, steps)
    else:
        self._array = strided(array, size, steps)
    wrote(self)
    return self


def _steps_of(size: tuple[int, ...], step: int, memory_format: Any) -> tuple[int, ...]:
    """Strides in bytes of a shape without gaps, the channels last where that is asked for."""
    order = list(range(len(size)))
    if memory_format in (channels_last, channels_last_3d):
        rank = 4 if memory_format is channels_last else 5
        if len(size) != rank:
            raise EngineError(f"required rank {rank} tensor to use {memory_format} format")
        order.append(order.pop(1))
    steps = [0] * len(size)
    for dim in reversed(order):
        steps[dim] = step
        step *= max(size[dim], 1)
    return tuple(steps)


@public("resize_as_")
def resize_as_(self: Tensor, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    if not isinstance(the_template, Tensor):
        raise tensor_needed("resize_as_", the_template, "the_template")
    if memory_format is preserve_format:
        for form in (channels_last, channels_last_3d):
            if the_template.is_contiguous(memory_format=form) and not the_template.is_contiguous():
                return resize_(self, the_template._array.shape, memory_format=form)  # type: ignore[no-any-return]
        memory_format = None
    return resize_(self, the_template._array.shape, memory_format=memory_format)  # type: ignore[no-any-return]


@method()
def module_load(self: Tensor, other: Any, assign: bool = False) -> Tensor:
    """What `load_state_dict` swaps a parameter or buffer with, where `torch.__future__` asks it to swap."""
    return (other if assign else METHODS["copy_"](self, other)).detach()  # type: ignore[no-any-return]


@method("set_")
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Let this tensor stand for the memory of another one."""
    refuse_history(self, "set_")
    if source is None:
        self._array = xp_of(self._array).empty((0,), self._array.dtype)
    elif isinstance(source, Tensor):
        if source._array.dtype != self._array.dtype:
            raise EngineError(
                f"Could not set tensor of type {FROM_NUMPY[source._array.dtype].old.lower()} to a tensor of type "
                f"{FROM_NUMPY[self._array.dtype].old.lower()}"
            )
        self._array = source._array if size is None else _laid(source._array, storage_offset, size, stride)
    elif isinstance(source, (UntypedStorage, TypedStorage)):
        flat = source._storage_elements(self._array.dtype)
        self._array = flat if size is None else _laid(flat, storage_offset, size, stride)
    else:
        raise ArgumentTypeError(f"set_(): argument 'source' must be a Tensor or a storage, not {type(source).__name__}")
    wrote(self)
    return self


def _laid(array: Any, offset: int, size: Any, stride: Any) -> Any:
    size, item = ints((size,)), array.itemsize
    steps = (
        xp_of(array).empty(size, array.dtype).strides if stride is None else tuple([s * item for s in ints((stride,))])
    )
    return strided(memory_root(array).reshape(-1).view(array.dtype), size, steps, offset * item)


@method("is_set_to")
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Do both tensors show the same memory in the same way?"""
    a, b = self._array, tensor._array
    return (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype) and (
        memory_root(a) is memory_root(b) and kind_of(a).offset(a) == kind_of(b).offset(b)
    )


METHODS["untyped_storage"] = untyped_storage


@method("storage")
def storage(self: Tensor) -> TypedStorage:
    """The memory this tensor is a part of, as elements of its type."""
    warn_of_removal()
    return storage_of_tensor(self)


@method("_typed_storage")
def _typed_storage(self: Tensor) -> TypedStorage:
    return storage_of_tensor(self)


@method("storage_type")
def storage_type(self: Tensor) -> Any:
    """The old class of `storage()`."""
    return LEGACY.get(f"{self.dtype.old}Storage", TypedStorage)


@method("_fix_weakref")
def _fix_weakref(self: Tensor) -> None:
    """Nothing: weak references see a tensor that lives again."""
