"""A store in a file, for processes that see the same one. What is done to it is written behind what was done before."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, BinaryIO

from ..errors import ArgumentTypeError
from .stores import Store, Table, _bytes, _number

_SET, _DELETE, _APPEND = range(3)
_HEAD = struct.Struct("<BII")  # what was done, length of the name, length of the value
_WORKERS = "efcount/"


class FileStore(Store):
    """A store in a file. With a number of workers the file is taken away by the last of them that leaves."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        self._workers = world_size
        self._table, self._read = Table(), 0
        if world_size >= 0:
            self.add(_WORKERS, 1)
        weakref.finalize(self, _leave, file_name, world_size >= 0)

    def _change(self, key: str, make: Callable[[bytes | None], tuple[int, bytes] | None]) -> None:
        """Write what `make` makes of the value that is there now, while nobody else writes."""
        with _locked(self.path, exclusive=True) as file:
            self._follow(file)
            done = make(self._table.values.get(key))
            if done is not None:
                _write(file, done[0], key, done[1])
                self._follow(file)

    def _do(self, what: int, key: str, value: bytes = b"") -> None:
        self._change(key, lambda now: (what, value))

    def _look(self) -> dict[str, bytes]:
        with _locked(self.path, exclusive=False) as file:
            self._follow(file)
        return self._table.values

    def _follow(self, file: BinaryIO) -> None:
        """Do what others have written since the last look."""
        self._read = _replay(file, self._table, self._read)

    def set(self, key: str, value: Any) -> None:
        """Put a value under a name."""
        self._do(_SET, key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value under a name; waits for it."""
        if not self._in_time([key], self._timeout):
            raise RuntimeError(f"Timeout waiting for key: {key} after {self._timeout // timedelta(milliseconds=1)} ms")
        return self._table.values[key]

    def add(self, key: str, amount: int) -> int:
        """Add to a number."""
        if not hasattr(amount, "__index__"):
            raise ArgumentTypeError(f"add(): incompatible function arguments: an int, not {type(amount).__name__}")
        self._change(key, lambda now: (_SET, str(_number(now or b"0") + int(amount)).encode()))
        return int(self._table.values[key])

    def append(self, key: str, value: Any) -> None:
        """Put bytes behind those that are there."""
        self._do(_APPEND, key, _bytes(value, "append"))

    def check(self, keys: list[str]) -> bool:
        """Are all these names there?"""
        there = self._look()
        return all(key in there for key in keys)

    def compare_set(self, key: str, expected_value: Any, desired_value: Any) -> bytes:
        """Put a value where the expected one is; what is there now."""
        expected, desired = _bytes(expected_value), _bytes(desired_value)
        fits = lambda now: now == expected or (now is None and not expected)  # noqa: E731
        self._change(key, lambda now: (_SET, desired) if fits(now) else None)
        return self._table.values.get(key, expected)

    def delete_key(self, key: str) -> bool:
        """Take a name out."""
        self._do(_DELETE, key)
        return True

    def num_keys(self) -> int:
        """How many names there are; the number of workers is one."""
        return len(self._look())

    def list_keys(self) -> list[str]:
        """The names."""
        return list(self._look())

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until all these names are there."""
        if not self._in_time(keys, timeout or self._timeout):
            raise RuntimeError("Wait timeout")

    def _in_time(self, keys: list[str], timeout: timedelta) -> bool:
        end = time.monotonic() + timeout.total_seconds()
        while not self.check(keys):
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def clone(self) -> FileStore:
        """The same file."""
        return FileStore(self.path, self._workers)


def _replay(file: BinaryIO, table: Table, at: int) -> int:
    """Do what is written from a place on; the place of the end."""
    file.seek(at)
    text, here = file.read(), 0
    while here + _HEAD.size <= len(text):
        what, name_size, size = _HEAD.unpack_from(text, here)
        here += _HEAD.size
        name, value = text[here : here + name_size].decode(), text[here + name_size : here + name_size + size]
        here += name_size + size
        if what == _SET:
            table.set(name, value)
        elif what == _DELETE:
            table.delete(name)
        else:
            table.append(name, value)
    return at + here


def _write(file: BinaryIO, what: int, key: str, value: bytes) -> None:
    file.seek(0, os.SEEK_END)
    name = key.encode()
    file.write(_HEAD.pack(what, len(name), len(value)) + name + value)
    file.flush()


@contextlib.contextmanager
def _locked(path: str, exclusive: bool) -> Iterator[BinaryIO]:
    """The file, while nobody else writes to it."""
    file_number = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    with os.fdopen(file_number, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield file


def _leave(path: str, counted: bool) -> None:
    """A worker is done with the file: the last one takes it away."""
    if not counted or not os.path.exists(path):
        return
    with _locked(path, exclusive=True) as file:
        table = Table()
        _replay(file, table, 0)
        left = int(table.values.get(_WORKERS, b"1")) - 1
        _write(file, _SET, _WORKERS, str(left).encode())
        if left <= 0:
            os.unlink(path)
