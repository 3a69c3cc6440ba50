"""Shape changes in place, and the memory behind a tensor."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.devices import kind_of, xp_of
from ...core.dtypes import FROM_NUMPY, channels_last, channels_last_3d, preserve_format, uint8
from ...core.inplace import refuse_history, reshape_inplace, wrote
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError
from ...kernels import shared
from ...kernels.layout import memory_root, strided
from ...kernels.shared import bytes_of_file
from ..faces.api import METHODS, method, public
from ..shapes.parts import as_strided_op, storage_bytes, striding
from ..shapes.shape import ints, squeeze_op, squeezing, tensor_needed, unsqueeze_op, unsqueezing
from ..shapes.transpose import t_op, transpose_op
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


@method("as_strided_")
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
    if math.prod(size) * array.itemsize >= 1 << 63:
        raise EngineError("numel: integer multiplication overflow")
    steps = _steps_of(size, array.itemsize, memory_format)
    need = self.storage_offset() * array.itemsize + math.prod(size) * array.itemsize
    if need > storage_bytes(self):
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
    elif isinstance(source, UntypedStorage):
        flat = source._root.reshape(-1).view(self._array.dtype)
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


class UntypedStorage:
    """The memory that a tensor is a part of, in bytes."""

    __slots__ = ("_root",)

    def __init__(self, root: Any) -> None:
        self._root = root

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return kind_of(self._root).address(self._root)

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return kind_of(self._root).device(self._root)

    def nbytes(self) -> int:
        """Number of bytes."""
        return int(self._root.nbytes)

    size = __len__ = nbytes

    def is_shared(self) -> bool:
        """Is the memory shared with other processes?"""
        return shared.find(self._root) is not None

    @property
    def is_cuda(self) -> bool:
        """Is it a GPU's?"""
        return self.device.type == "cuda"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def tolist(self) -> list[int]:
        """All bytes."""
        found: list[int] = self._root.reshape(-1, order="A").view(uint8.numpy).tolist()
        return found

    def __getitem__(self, index: Any) -> Any:
        found = self._root.reshape(-1, order="A").view(uint8.numpy)[index]
        return type(self)(found) if isinstance(index, slice) else found.tolist()

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read as they are needed; what is written reaches the file only if it is shared."""
        return cls(bytes_of_file(filename, shared, nbytes))

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage(self._root)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class TypedStorage(UntypedStorage):
    """The memory that a tensor is a part of, in elements of its type."""

    __slots__ = ("_kind",)

    def __init__(self, root: Any, kind: Any) -> None:
        super().__init__(root)
        self._kind = kind

    @property
    def dtype(self) -> Any:
        """Type of the elements."""
        return FROM_NUMPY[self._kind]

    def _flat(self) -> Any:
        return self._root.reshape(-1, order="A").view(self._kind)

    def size(self) -> int:
        """Number of elements."""
        return int(self._root.nbytes // self._kind.itemsize)

    __len__ = size

    def tolist(self) -> list[Any]:
        """All elements."""
        found: list[Any] = self._flat().tolist()
        return found

    def __getitem__(self, index: Any) -> Any:
        return self._flat()[index].tolist()

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage(self._root)

    def __repr__(self) -> str:
        return f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


@method("untyped_storage")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory this tensor is a part of."""
    return UntypedStorage(memory_root(self._array))


@method("storage")
def storage(self: Tensor) -> TypedStorage:
    """The memory this tensor is a part of, as elements of its type."""
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
        "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
        "tensor.untyped_storage() instead of tensor.storage()",
        UserWarning,
        stacklevel=2,
    )
    return TypedStorage(memory_root(self._array), self._array.dtype)


@method("_typed_storage")
def _typed_storage(self: Tensor) -> TypedStorage:
    return TypedStorage(memory_root(self._array), self._array.dtype)


@method("storage_type")
def storage_type(self: Tensor) -> type:
    """The class of `storage()`."""
    return TypedStorage
