"""From the records of a file to objects: storages by key, and the two unpicklers."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.creation.memory import UntypedStorage
from ..ops.creation.typed_storage import TypedStorage, typed_storage_of
from . import options, unpickler
from .failures import FileDamagedError
from .locations import LoadedStorage
from .names import clarion_value
from .storages import BY_NAME, StorageKind
from .zipreader import ZipReader

Restore = Callable[[Any, str], Any]


def text_of(value: Any) -> str:
    """A name inside the file; Python 2 wrote them as bytes."""
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if type(value) is not str:
        raise FileDamagedError("a storage of the file has no name or no location")
    return value


def checked_storage(data: tuple[Any, ...], parts: int) -> tuple[StorageKind, str, str, int]:
    """Kind, key, location and number of elements of a storage that a pickle refers to."""
    if len(data) != parts or not isinstance(data[1], StorageKind):
        raise FileDamagedError("the pickle refers to something that is no storage")
    kind, key, location, count = data[1], text_of(data[2]), text_of(data[3]), data[4]
    if type(count) is not int or count < 0:
        raise FileDamagedError(f"the storage {key[:40]!r} has no number of elements")
    return kind, key, location, count


def clean(array: Any, swap: bool) -> Any:
    """Bytes of a file as elements: in this machine's order, and truth values that are 0 or 1 (NumPy counts on it)."""
    if swap:
        array = array.byteswap()
    if array.dtype == np.bool_ and array.size:
        raw = array.view(np.uint8)
        if raw.max() > 1:
            np.not_equal(raw, 0, out=array)
    return array


def moved(array: Any, kind: StorageKind, location: str, restore: Restore) -> TypedStorage:
    """A storage after `map_location` had its say."""
    found = restore(LoadedStorage(array), location)
    root = found._root if isinstance(found, UntypedStorage) else array
    return typed_storage_of(root, kind.dtype.numpy)


class ZipStorages:
    """Storages of an archive, read when the pickle first names them."""

    def __init__(self, archive: ZipReader, restore: Restore) -> None:
        self._archive, self._restore = archive, restore
        self._loaded: dict[str, TypedStorage] = {}
        order = archive.read("byteorder") if "byteorder" in archive else options.byte_order(sys.byteorder)
        if order not in (b"little", b"big"):
            raise FileDamagedError(f"Unknown endianness type: {order[:20]!r}")
        self._swap = order.decode() != sys.byteorder

    def __call__(self, data: Any) -> TypedStorage:
        """The storage a persistent id names."""
        kind, key, location, count = checked_storage(data, 5)
        known = self._loaded.get(key)
        need = count * kind.dtype.itemsize
        size = self._archive.size(f"data/{key}") if known is None else known._root.nbytes
        if size != need:
            raise FileDamagedError(
                f"the storage data/{key[:40]} has {size} bytes, but {count} elements of {kind.dtype} need {need}"
            )
        if known is None:
            array = clean(self._archive.array(f"data/{key}", kind.dtype.numpy), self._swap)
            known = self._loaded[key] = moved(array, kind, location, self._restore)
        return known if known.dtype is kind.dtype else typed_storage_of(known._root, kind.dtype.numpy)


def trusted_unpickler(module: Any, file: Any, persistent_load: Callable[[Any], Any], options: dict[str, Any]) -> Any:
    """An unpickler for files that are trusted: any class, PyTorch's as clarion's."""

    class Trusted(module.Unpickler):  # type: ignore[misc]
        def find_class(self, mod_name: str, name: str) -> Any:
            if f"{mod_name}.{name}" in BY_NAME or mod_name == "torch" or mod_name.startswith("torch."):
                return clarion_value(mod_name, name)
            return super().find_class(mod_name, name)

        def persistent_load(self, pid: Any) -> Any:
            return persistent_load(pid)

    return Trusted(file, **options)


def load_zip(archive: ZipReader, restore: Restore, module: Any, options: dict[str, Any]) -> Any:
    """The object in an archive; `module` is None for `weights_only=True`."""
    storages, data = ZipStorages(archive, restore), archive.read("data.pkl")
    if module is None:
        return unpickler.Unpickler(data, storages, options["encoding"]).load()

    def persistent_load(pid: Any) -> Any:
        if not isinstance(pid, tuple) or not pid or text_of(pid[0]) != "storage":
            raise FileDamagedError("the pickle refers to something that is no storage")
        return storages(pid)

    return trusted_unpickler(module, io.BytesIO(data), persistent_load, options).load()
