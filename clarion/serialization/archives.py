"""PyTorch's archives by hand: the classes and helpers with which programs read and write single records of a checkpoint."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .api import _folder, opened
from .options import get_crc32_options
from .zipreader import ZipReader
from .zipwriter import ZipWriter


class PyTorchFileReader:
    """The records of an archive: a path, or a file that can be read from."""

    def __init__(self, file: Any) -> None:
        self._opened = opened(file)
        self._archive = ZipReader(self._opened.__enter__())

    def has_record(self, name: str) -> bool:
        """Is there a record of this name?"""
        return name in self._archive

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        return self._archive.read(name)

    def get_record_offset(self, name: str) -> int:
        """Where in the file the bytes of a record begin."""
        return self._archive.begin(name)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return self._archive.names()

    def _close(self) -> None:
        self._opened.__exit__(None, None, None)


class PyTorchFileWriter:
    """An archive that is written record by record: to a path, or to anything that has `write`."""

    def __init__(self, file: Any, compute_crc32: bool = True, *_: Any) -> None:
        path = os.fspath(file) if isinstance(file, str | os.PathLike) else None
        self._own = None if path is None else open(path, "wb")  # noqa: SIM115 (closed at the end of the archive)
        self._folder = _folder(path)
        self._writer = ZipWriter((self._own or file).write, self._folder, compute_crc32)
        self._names: list[str] = []

    def archive_name(self) -> str:
        """The folder in which all records are."""
        return self._folder

    def get_all_written_records(self) -> list[str]:
        """The names of the records so far."""
        return list(self._names)

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Add a record: the first `size` bytes of bytes, of a text or of a storage."""
        if isinstance(data, str):
            data = data.encode()
        elif hasattr(data, "untyped"):
            data = bytes(data.untyped())
        self._names.append(name)
        self._writer.record(name, memoryview(data).cast("B")[:size])

    def write_record_metadata(self, name: str, size: int) -> None:
        """Add a record of `size` bytes that somebody will fill in."""
        self.write_record(name, bytes(size), size)

    def write_end_of_file(self) -> None:
        """The directory: the archive is complete."""
        for name, text in (
            ("version", "3\n"),
            ("byteorder", sys.byteorder),
            (".data/serialization_id", uuid.uuid4().hex),
        ):
            if name not in self._names:
                self.write_record(name, text, len(text))
        self._writer.close()
        if self._own is not None:
            self._own.close()


def open_file_like(name_or_buffer: Any, mode: str) -> AbstractContextManager[Any]:
    """A path, opened, or a file as it is, for a block."""
    if "r" not in mode and "w" not in mode:
        raise RuntimeError(f"Expected 'r' or 'w' in mode but got {mode}")
    return opened(name_or_buffer) if "r" in mode else _writable(name_or_buffer, mode)


@contextmanager
def _writable(name_or_buffer: Any, mode: str) -> Iterator[Any]:
    if isinstance(name_or_buffer, str | os.PathLike):
        with open(name_or_buffer, mode) as file:
            yield file
    else:
        yield name_or_buffer
        name_or_buffer.flush()


@contextmanager
def open_zipfile_reader(name_or_buffer: Any) -> Iterator[PyTorchFileReader]:
    """The records of an archive, for a block."""
    reader = PyTorchFileReader(name_or_buffer)
    try:
        yield reader
    finally:
        reader._close()


@contextmanager
def open_zipfile_writer(name_or_buffer: Any) -> Iterator[PyTorchFileWriter]:
    """An archive that is complete at the end of the block."""
    writer = PyTorchFileWriter(name_or_buffer, get_crc32_options())
    yield writer
    writer.write_end_of_file()
    if hasattr(name_or_buffer, "flush"):
        name_or_buffer.flush()
