"""The memory behind tensors: which tensors share it when saving, and what it is called in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.devices import HOST, kind_of
from ..core.dtypes import ALL, FROM_NUMPY, dtype, uint8
from ..errors import EngineError
from ..kernels.layout import memory_root
from ..ops.faces.options import flat_memory

# PyTorch has no storage class for the newer types: they are saved as bytes, and the tensor says its type.
_UNNAMED = frozenset(("uint16", "uint32", "uint64"))


class StorageKind:
    """`torch.FloatStorage` and the like: in files they say the type of the elements."""

    __slots__ = ("dtype", "module", "name")

    def __init__(self, name: str, element: dtype, module: str = "torch") -> None:
        self.name, self.dtype, self.module = name, element, module

    def __repr__(self) -> str:
        return f"{self.module}.{self.name}"


UNTYPED = StorageKind("UntypedStorage", uint8, "torch.storage")
KINDS = {d: StorageKind(f"{d.old}Storage", d) for d in ALL if d.name not in _UNNAMED}
BY_NAME = {f"torch.{kind.name}": kind for kind in KINDS.values()} | {
    "torch.storage.UntypedStorage": UNTYPED,
    "torch.UntypedStorage": UNTYPED,
}


class Saved:
    """One memory that goes into the file: `key` names it, `flat` is its elements in the order of memory."""

    __slots__ = ("address", "count", "flat", "key", "kind", "location", "root")

    def __init__(self, key: str, root: Any, flat: Any, kind: StorageKind, location: str = "cpu") -> None:
        self.key, self.root, self.flat, self.kind, self.location = key, root, flat, kind, location
        self.address = flat.__array_interface__["data"][0]
        self.count = flat.nbytes // kind.dtype.itemsize

    def bytes(self) -> memoryview:
        """All bytes, without a copy."""
        return memoryview(self.flat.view(np.uint8))


class SavedStorages:
    """Gives every memory a key; tensors that share memory get the same one."""

    def __init__(self) -> None:
        self.all: list[Saved] = []
        self._by_root: dict[int, Saved] = {}

    def place(self, array: Any) -> tuple[Saved, int, tuple[int, ...]]:
        """The memory an array is saved in, and its offset and strides there, in elements."""
        if kind_of(array) is not HOST:
            return self._from_device(array)
        saved = self.memory(array, FROM_NUMPY[array.dtype])
        if saved is None or any(step < 0 or step % array.itemsize for step in array.strides):
            return self._copied(array)
        ahead = array.__array_interface__["data"][0] - saved.address if array.size else 0
        offset, rest = divmod(ahead, array.itemsize)
        if rest or saved.flat.nbytes % array.itemsize:
            return self._copied(array)
        return saved, offset, tuple([step // array.itemsize for step in array.strides])

    def memory(self, array: Any, element: dtype) -> Saved | None:
        """The memory behind an array, as elements of a type: all that show it must agree about that."""
        root = _owner(array)
        saved = self._by_root.get(id(root))
        if saved is None or (saved.kind.dtype is not _saved_as(element.numpy).dtype and not root.size):
            return self._add(root, element)
        if saved.kind.dtype is not _saved_as(element.numpy).dtype:
            raise EngineError(
                "Cannot save multiple tensors or storages that view the same data as different types\n"
                f"One shows it as {saved.kind.dtype}, another as {element}; save a clone() of one of them."
            )
        return saved

    def _from_device(self, array: Any) -> tuple[Saved, int, tuple[int, ...]]:
        """The same for memory of a device, which is brought to the host."""
        kind = kind_of(array)
        root = array if array.base is None else array.base
        if not root.flags.c_contiguous or root.dtype != array.dtype:
            root = array = array.copy()
        saved = self._by_root.get(id(root))
        if saved is None:
            flat = kind.to_host(root).reshape(-1)
            saved = Saved(str(len(self.all)), root, flat, _saved_as(array.dtype), str(kind.device(root)))
            self.all.append(saved)
            self._by_root[id(root)] = saved
        offset = (kind.address(array) - kind.address(root)) // array.itemsize
        return saved, offset, tuple([step // array.itemsize for step in array.strides])

    def _add(self, root: Any, element: dtype) -> Saved | None:
        flat = flat_memory(root)
        if flat.size and not np.may_share_memory(flat, root):
            return None  # memory with gaps, lent by somebody else
        saved = Saved(str(len(self.all)), root, flat, _saved_as(element.numpy))
        self.all.append(saved)
        self._by_root[id(root)] = saved
        return saved

    def _copied(self, array: Any) -> tuple[Saved, int, tuple[int, ...]]:
        copy = np.ascontiguousarray(array).reshape(array.shape)
        saved = Saved(str(len(self.all)), array, copy.reshape(-1), _saved_as(array.dtype))
        self.all.append(saved)
        return saved, 0, tuple([step // array.itemsize for step in copy.strides])


def _saved_as(numpy_type: Any) -> StorageKind:
    return KINDS.get(FROM_NUMPY[numpy_type], UNTYPED)


def _owner(array: Any) -> Any:
    """The array whose memory this is; `as_strided` puts an object that is no array between the two."""
    root = memory_root(array)
    while isinstance(getattr(root.base, "base", None), np.ndarray) and hasattr(root.base, "__array_interface__"):
        root = memory_root(root.base.base)
    return root
