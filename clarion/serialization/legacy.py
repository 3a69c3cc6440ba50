"""The format before PyTorch 1.6: pickles one after the other, then the storages."""

from __future__ import annotations

import io
import pickle
import struct
import sys
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from ..errors import EngineError, NotSupportedError
from ..ops.creation.typed_storage import TypedStorage, typed_storage_of
from . import unpickler
from .failures import FileDamagedError
from .loading import Restore, checked_storage, clean, moved, text_of, trusted_unpickler
from .pickler import dump
from .rebuild import storages_come_later
from .storages import Saved, SavedStorages

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def _no_storage(pid: Any) -> Any:
    raise FileDamagedError("the head of the file refers to a storage")


class _Pickles:
    """Reads pickles one after the other."""

    def __init__(self, file: IO[bytes], module: Any, options: dict[str, Any]) -> None:
        self._file, self._begin = file, file.tell()
        self.data = file.read()
        self.at = 0
        self._module, self._options = module, options

    def next(self, persistent_load: Callable[[Any], Any] = _no_storage) -> Any:
        """The next object."""
        if self.at >= len(self.data):
            raise EOFError("Ran out of input")
        if self._module is None:
            machine = unpickler.Unpickler(self.data, persistent_load, self._options["encoding"], self.at)
            found = machine.load()
            self.at = machine.at
            return found
        stream = io.BytesIO(self.data)
        stream.seek(self.at)
        found = trusted_unpickler(self._module, stream, persistent_load, self._options).load()
        self.at = stream.tell()
        return found

    def leave(self, at: int) -> None:
        """Leave the file behind what was read: more may follow."""
        self._file.seek(self._begin + at)


class _Storages:
    """Storages are made when the pickle names them, and filled when they come."""

    def __init__(self, room: int, restore: Restore) -> None:
        self._room, self._restore = room, restore
        self.all: dict[str, TypedStorage] = {}
        self._parts: dict[str, TypedStorage] = {}

    def __call__(self, pid: Any) -> Any:
        """What a persistent id names."""
        if not isinstance(pid, tuple) or not pid:
            raise FileDamagedError("the pickle refers to something that is no storage")
        if text_of(pid[0]) == "module" and len(pid) > 1:  # a class, with its source code
            return pid[1]
        kind, key, location, count = checked_storage(pid, 6)
        known = self.all.get(key)
        if known is None:
            self._room -= count * kind.dtype.itemsize
            if self._room < 0:
                raise FileDamagedError("the storages of the file claim to hold more bytes than the file has")
            known = self.all[key] = moved(np.zeros(count, kind.dtype.numpy), kind, location, self._restore)
        return known if pid[5] is None else self._part(known, pid[5])

    def _part(self, storage: TypedStorage, part: Any) -> TypedStorage:
        """A part of a storage, as PyTorch before 0.4 wrote them: its key, where it begins, its length."""
        if not (isinstance(part, tuple) and len(part) == 3 and all(type(n) is int and n >= 0 for n in part[1:])):
            raise FileDamagedError("the file holds a view of a storage that does not say where it lies")
        key, begin, length = text_of(part[0]), *part[1:]
        if begin + length > storage.size():
            raise FileDamagedError("the file holds a view that reaches beyond its storage")
        if key not in self._parts:
            self._parts[key] = typed_storage_of(storage._root[begin : begin + length], storage._kind)
        return self._parts[key]


def load_legacy(file: IO[bytes], restore: Restore, module: Any, options: dict[str, Any]) -> Any:
    """The object in a file of the old format."""
    pickles = _Pickles(file, module, options)
    if pickles.data[257:262] == b"ustar":
        raise NotSupportedError(
            "this is a tar archive, the format of PyTorch before 0.1.10: load and save it again with PyTorch"
        )
    if pickles.next() != MAGIC_NUMBER:
        raise EngineError("Invalid magic number; corrupt file?")
    version = pickles.next()
    if version != PROTOCOL_VERSION:
        raise EngineError(f"Invalid protocol version: {str(version)[:40]}")
    machine = pickles.next()
    little = machine.get("little_endian", True) if isinstance(machine, dict) else True
    storages = _Storages(len(pickles.data), restore)
    with storages_come_later() as finish:
        result = pickles.next(storages)
        keys = pickles.next()
        data, at = memoryview(pickles.data), pickles.at
        for key in keys if isinstance(keys, list) else [None]:
            storage = storages.all.get(text_of(key))
            if storage is None:
                raise FileDamagedError(f"the file holds a storage {text_of(key)[:40]!r} that nothing refers to")
            at = _fill(storage, data, at, swap=little != (sys.byteorder == "little"), little=bool(little))
        finish()
    pickles.leave(at)
    return result


def _fill(storage: TypedStorage, data: memoryview, at: int, swap: bool, little: bool) -> int:
    root = storage._root
    if at + 8 + root.nbytes > len(data):
        raise FileDamagedError("the file ends before its storages do: it is truncated")
    (count,) = struct.unpack("<q" if little else ">q", data[at : at + 8])
    if count != root.size:
        raise FileDamagedError(f"a storage of the file has {count} elements, but {root.size} were announced")
    at += 8
    root[:] = clean(np.frombuffer(data[at : at + root.nbytes], np.uint8).view(root.dtype).copy(), swap)
    return at + int(root.nbytes)


def save_legacy(value: Any, file: IO[bytes], module: Any, protocol: int) -> None:
    """Write the old format, for programs that cannot read the new one."""
    body, storages = io.BytesIO(), SavedStorages()

    def storage_id(saved: Saved) -> tuple[Any, ...]:
        return "storage", saved.kind, saved.key, "cpu", saved.count, None

    dump(value, body, module, protocol, storages, storage_id)
    sizes = {"short": 2, "int": 4, "long": struct.calcsize("=l")}
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(head, file, protocol)
    file.write(body.getvalue())
    ordered = sorted(storages.all, key=lambda saved: saved.key)
    pickle.dump([saved.key for saved in ordered], file, protocol)
    for saved in ordered:
        file.write(struct.pack("=q", saved.count))
        file.write(saved.bytes())
