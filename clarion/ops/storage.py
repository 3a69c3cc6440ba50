"""The memory behind tensors (`storage()`), the old tensor types, and what asks where memory lies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtypes import ALL, CPU, FROM_NUMPY, Size, device, dtype, uint8
from ..core.tensor import Tensor, created, memory_root
from ..errors import ArgumentTypeError, ArgumentValueError
from .api import FUNCTIONS, method
from .fromdata import array_of
from .options import flat_memory, size_of


class TypedStorage:
    """A tensor's whole memory as a flat row of elements."""

    def __init__(self, array: Any) -> None:
        root = memory_root(array)
        self._root = root
        self._flat = flat_memory(root)

    @property
    def dtype(self) -> dtype:
        """Type of the elements."""
        return FROM_NUMPY[self._flat.dtype]

    @property
    def device(self) -> device:
        """Always the CPU."""
        return CPU

    is_cuda = False

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return int(self._root.__array_interface__["data"][0]) if self._root.size else 0

    def nbytes(self) -> int:
        """Bytes of the whole memory."""
        return int(self._flat.nbytes)

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._flat.itemsize)

    def size(self) -> int:
        """Number of elements."""
        return int(self._flat.size)

    __len__ = size

    def tolist(self) -> list[Any]:
        """The elements."""
        return [_plain(value) for value in self._flat.tolist()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return TypedStorage(self._flat[index].copy())
        return _plain(self._flat[index].item())

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._root)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and type(self) is type(other) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    def __repr__(self) -> str:
        values = "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[torch.storage.{type(self).__name__}(dtype={self.dtype}, device=cpu) of size {self.size()}]"


class UntypedStorage(TypedStorage):
    """A tensor's whole memory as bytes."""

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        self._flat = self._flat.view(np.uint8)

    @property
    def dtype(self) -> dtype:
        """Bytes."""
        return uint8

    def __repr__(self) -> str:
        values = "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[torch.storage.UntypedStorage(device=cpu) of size {self.size()}]"


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, complex)) else float(value)


FUNCTIONS.update(TypedStorage=TypedStorage, UntypedStorage=UntypedStorage)


@method()
def storage(self: Tensor) -> TypedStorage:
    """The memory behind the tensor, in elements."""
    return TypedStorage(self._array)


@method()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory behind the tensor, in bytes."""
    return UntypedStorage(self._array)


@method("share_memory_")
def share_memory_(self: Tensor) -> Tensor:
    """Accepted; clarion moves nothing: memory stays in this process (and in those it forks, as a copy)."""
    return self


@method()
def is_shared(self: Tensor) -> bool:
    """Is the memory shared with other processes? Never."""
    return False


@method()
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Accepted; there is no page-locked memory on the CPU alone."""
    return self


@method()
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Is the memory page-locked? Never."""
    return False


# The old types: torch.FloatTensor and the like ------------------------------------------------------------


class _TypeMeta(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype; calling one makes a tensor of it."""

    numpy: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value._array.dtype == cls.numpy

    def __call__(cls, *args: Any, **options: Any) -> Tensor:
        return legacy(cls.numpy, args, options)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def legacy(kind: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    """`FloatTensor()`, `FloatTensor(2, 3)`, `FloatTensor([1, 2])`, `FloatTensor(tensor)`, and `x.new(...)`."""
    device(options.pop("device", "cpu"))
    if options:
        raise ArgumentTypeError(f"new() received an unexpected keyword argument {next(iter(options))!r}")
    if not args:
        return created(np.empty(0, kind))
    if len(args) == 1 and not isinstance(args[0], (int, np.integer, Size)):
        value = args[0]
        if isinstance(value, Tensor):
            if value._array.dtype != kind:
                raise ArgumentTypeError(
                    f"expected {FROM_NUMPY[kind].old}Tensor (got {FROM_NUMPY[value._array.dtype].old}Tensor)"
                )
            return value.detach()
        return created(array_of(value, kind))
    return created(np.empty(size_of("new", args), kind))


@method("new")
def new(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """The old constructor, in this tensor's type: sizes, a sequence, or nothing."""
    return legacy(self._array.dtype, args, options)


_OLD_TYPES: dict[str, dtype] = {}
for _kind in ALL:
    if not _kind.old.startswith(("UInt", "Complex")):
        _title = f"{_kind.old}Tensor"
        _OLD_TYPES[f"torch.{_title}"] = _kind
        FUNCTIONS[_title] = _TypeMeta(_title, (), {"numpy": _kind.numpy, "dtype": _kind, "is_cuda": False})


@method("type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **_: Any) -> Any:
    """The old name of the type ('torch.FloatTensor'), or the tensor converted to another type."""
    if dtype is None:
        return f"torch.{self.dtype.old}Tensor"
    if isinstance(dtype, str):
        if dtype not in _OLD_TYPES:
            raise ArgumentValueError(f"invalid type: '{dtype}'")
        dtype = _OLD_TYPES[dtype]
    elif isinstance(dtype, _TypeMeta):
        dtype = dtype.dtype  # type: ignore[attr-defined]
    return self.to(dtype)
