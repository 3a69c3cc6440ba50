"""What a tensor says of itself without looking at its values: shape, type, strides, place."""

from __future__ import annotations

import math
import sys
from typing import Any

from .. import errors
from ..kernels.batched.levels import refuse_layout
from ..kernels.layout import address
from ..kernels.mirrors import where_it_lies
from . import provenance
from .devices import CPU, HOST, device, kind_of, ndarray
from .dtypes import FROM_NUMPY, Size, channels_last, channels_last_3d, dtype, strided


class _Sizes(dict[tuple[int, ...], Size]):
    """Shapes that were met: to look one up takes half as long as to make it."""

    def __missing__(self, shape: tuple[int, ...]) -> Size:
        made: Size = tuple.__new__(Size, shape)
        if len(self) < 4096:
            self[shape] = made
        return made


_SIZES = _Sizes()


class Description:
    """The part of Tensor that only reads its array."""

    __slots__ = ()
    _array: Any

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return _SIZES[self._array.shape]

    @property
    def dtype(self) -> dtype:
        """The data type."""
        return FROM_NUMPY[self._array.dtype]

    @property
    def device(self) -> device:
        """Where the data lives."""
        kind = kind_of(self._array)
        return CPU if kind is HOST else kind.device(self._array)

    @property
    def layout(self) -> Any:
        """Always `strided`."""
        return strided

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return int(self._array.ndim)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self._array.nbytes)

    is_sparse = is_quantized = is_mkldnn = is_nested = is_sparse_csr = False
    is_vulkan = is_xla = is_ipu = is_maia = is_mtia = is_mps = is_xpu = False
    is_cpu: Any = property(lambda self: self.device.type == "cpu")
    is_cuda: Any = property(lambda self: kind_of(self._array).name == "cuda")
    is_meta: Any = property(lambda self: kind_of(self._array).name == "meta")
    names: Any = property(lambda self: (None,) * self.ndim)
    name: Any = None

    def dim(self) -> int:
        """Number of dimensions."""
        return int(self._array.ndim)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements."""
        return int(self._array.size)

    nelement = numel

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._array.itemsize)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        if dim is None:
            return self.shape
        return self._array.shape[normalize_dim(dim, self._array.ndim)]

    def stride(self, dim: int | None = None) -> Any:
        """Steps in elements between neighbours along each dimension."""
        array = self._array
        steps = tuple(step // array.itemsize for step in array.strides) if array.itemsize else array.strides
        if not array.size and not any(steps):  # NumPy's of an empty array; PyTorch counts dimensions of 0 as 1
            steps = tuple(math.prod(n or 1 for n in array.shape[i + 1 :]) for i in range(array.ndim))
        return steps if dim is None else steps[normalize_dim(dim, array.ndim)]

    def storage_offset(self) -> int:
        """Elements between the start of the memory and the first element."""
        return kind_of(self._array).offset(self._array) // int(self._array.itemsize)

    def data_ptr(self) -> int:
        """Address of the first element (0 for an empty tensor)."""
        array = self._array
        if type(array) is ndarray and array.size:
            return address(where_it_lies(array))
        return kind_of(array).address(where_it_lies(array)) if array.size else 0

    def is_floating_point(self) -> bool:
        """Is the type float16, bfloat16, float32 or float64?"""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Is the type complex?"""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Can the type hold negative numbers?"""
        return self.dtype.is_signed

    def get_device(self) -> int:
        """The number of the device; -1 on the CPU, which has none."""
        index = self.device.index
        return -1 if index is None else index

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Do the elements lie in order, without gaps? In the order of a memory format, if one is given."""
        array = self._array
        if memory_format is channels_last or memory_format is channels_last_3d:
            refuse_layout(array)
            if array.ndim != (4 if memory_format is channels_last else 5):
                return False
            array = array.transpose((0, *range(2, array.ndim), 1))
        return bool(array.flags.c_contiguous)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise errors.ArgumentTypeError("len() of a 0-d tensor")
        return len(self._array)


def computes(cls: Any) -> bool:
    """Does a class compute for itself (`__torch_dispatch__`)? See core/wrapped.py."""
    return not getattr(cls.__torch_dispatch__, "is_disabled", False)


def whole(value: Any) -> int | None:
    """A whole number given as one of NumPy's or as a tensor of one element; None if it is none."""
    try:
        return None if isinstance(value, bool) else int(value.__index__())
    except (AttributeError, TypeError):
        return None


def single_dim(name: str, dim: Any, ndim: int) -> int:
    """One dimension counted from the front; refuses several."""
    if isinstance(dim, (tuple, list)):
        raise errors.ArgumentTypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    return normalize_dim(dim, ndim)


def dim_of(value: Any) -> int:
    """A dimension as a number; refuses what is none."""
    found = value if type(value) is int else whole(value)
    if found is None:
        raise errors.ArgumentTypeError(f"{called()}(): argument 'dim' must be int, not {type(value).__name__}")
    return found


def called() -> str:
    """The function that the program called, of a call that is about to fail."""
    frame: Any = sys._getframe(1)
    name = ""
    while frame is not None and provenance.is_inside(frame.f_code.co_filename):
        own = frame.f_code.co_name
        name, frame = name if own in ("wrapper", "call") else own, frame.f_back
    return name.strip("_").removesuffix("_method")


def normalize_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the front; refuses one that is not there."""
    if type(dim) is not int:
        dim = dim_of(dim)
    limit: int = ndim or 1
    if not -limit <= dim < limit:
        raise errors.ArgumentIndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
        )
    return dim + limit if dim < 0 else dim  # type: ignore[no-any-return]
