"""Switches of `torch.save` and `torch.load`: checksums, how files are mapped, the byte order of files that do not say it."""

from __future__ import annotations

import contextlib
import enum
import mmap
from collections.abc import Iterator
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError

# (Windows has no such flags: there these stand for themselves.)
MAP_SHARED, MAP_PRIVATE = getattr(mmap, "MAP_SHARED", 1), getattr(mmap, "MAP_PRIVATE", 2)


class LoadEndianness(enum.Enum):
    """The order of bytes in files that have no record of it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options:
    endianness: LoadEndianness | None = None
    checksums: bool = True
    mapping: int = MAP_PRIVATE
    without_data: bool = False


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """The order of bytes in files that have no record of it; None stands for little."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise ArgumentTypeError("Invalid argument type in function set_default_load_endianness")
    _Options.endianness = endianness


def get_default_load_endianness() -> LoadEndianness | None:
    """The order of bytes in files that have no record of it."""
    return _Options.endianness


def set_crc32_options(compute_crc32: bool) -> None:
    """Does `save` compute checksums? Without them other programs that read zip files complain."""
    _Options.checksums = compute_crc32


def get_crc32_options() -> bool:
    """Does `save` compute checksums?"""
    return _Options.checksums


class set_default_mmap_options:
    """How `load(mmap=True)` maps files: MAP_PRIVATE, or MAP_SHARED, with which writes reach the file. Also for `with`."""

    def __init__(self, flags: int) -> None:
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ArgumentValueError(
                f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self._before = _Options.mapping
        _Options.mapping = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _Options.mapping = self._before


def get_default_mmap_options() -> int:
    """How `load(mmap=True)` maps files."""
    return _Options.mapping


@contextlib.contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Inside, `save` leaves room for the bytes of storages, and does not write them: a file to be filled later."""
    before, _Options.without_data = _Options.without_data, True
    try:
        yield
    finally:
        _Options.without_data = before


def writes_data() -> bool:
    """Does `save` write the bytes of storages?"""
    return not _Options.without_data


def byte_order(native: Any) -> bytes:
    """The order of bytes of a file that has no record of it."""
    if _Options.endianness is LoadEndianness.NATIVE:
        return str(native).encode()
    return b"big" if _Options.endianness is LoadEndianness.BIG else b"little"
