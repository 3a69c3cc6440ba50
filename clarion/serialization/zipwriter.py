"""Writing PyTorch's archive: a zip of stored records whose data begins at multiples of 64 bytes.

The layout is that of PyTorch's own writer, byte for byte where a reader may compute with it: PyTorch finds records
by adding up sizes (`torch.utils.serialization.config.load.calculate_storage_offsets`).
"""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

ALIGNMENT = 64
_BIG = 0xFFFFFFFF
_UTF8, _DESCRIPTOR = 1 << 11, 1 << 3
_DATE = 0x21  # 1980-01-01: the same tensors give the same file
_SMALL = 64 << 10
_CHUNK = 4 << 20


class _Record(NamedTuple):
    name: bytes
    flags: int
    crc: int
    size: int
    start: int


class ZipWriter:
    """Appends records to anything that has `write`; never seeks."""

    def __init__(self, write: Callable[[Any], Any], folder: str, checksums: bool = True) -> None:
        self._write, self._checksums = write, checksums
        self._folder = folder
        self._at = 0
        self._waiting = bytearray()  # small pieces, written together
        self._records: list[_Record] = []

    def record(self, name: str, data: Any) -> None:
        """Add a record; `data` is bytes or a flat memoryview of bytes."""
        full = f"{self._folder}/{name}".encode()
        data = memoryview(data)
        size, start = data.nbytes, self._at
        flags = _UTF8 | (_DESCRIPTOR if size else 0)
        extra = _large([size, size] if size >= _BIG else [], start)
        begin = start + 30 + len(full) + len(extra) + 4
        extra += struct.pack("<2sH", b"FB", -begin % ALIGNMENT) + b"Z" * (-begin % ALIGNMENT)
        self._put(
            struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 0, flags, 0, 0, _DATE, 0, 0, 0, len(full), len(extra))
            + full
            + extra
        )
        crc = self._put_summed(data)
        if size:
            wide = size >= _BIG or start >= _BIG
            self._put(struct.pack("<4sIQQ" if wide else "<4sIII", b"PK\7\x08", crc, size, size))
        self._records.append(_Record(full, flags, crc, size, start))

    def close(self) -> None:
        """Write the directory; the archive is complete."""
        begin = self._at
        for name, flags, crc, size, start in self._records:
            extra = _large([size, size] if size >= _BIG else [], start)
            shown, place = min(size, _BIG), min(start, _BIG)
            head = struct.pack(
                "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 0, 0, flags, 0, 0, _DATE, crc, shown, shown, len(name), len(extra), 0, 0, 0, 0, place
            )  # fmt: skip
            self._put(head + name + extra)
        length, count = self._at - begin, len(self._records)
        if count >= 0xFFFF or begin >= _BIG or length >= _BIG:
            here = self._at
            self._put(struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, begin))
            self._put(struct.pack("<4sIQI", b"PK\6\7", 0, here, 1))
        few = min(count, 0xFFFF)
        self._put(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, few, few, min(length, _BIG), min(begin, _BIG), 0))
        self._push(self._waiting)

    def _put_summed(self, data: memoryview) -> int:
        """Write data and return its checksum; for large data the two go on at the same time."""
        if not self._checksums:
            self._put(data)
            return 0
        if len(data) < _CHUNK:
            self._put(data)
            return zlib.crc32(data)
        sums: list[int] = []
        thread = threading.Thread(target=lambda: sums.append(zlib.crc32(data)))
        try:
            thread.start()
        except RuntimeError:  # the program is ending: no new threads
            self._put(data)
            return zlib.crc32(data)
        try:
            self._put(data)
        finally:
            thread.join()
        return sums[0]

    def _put(self, data: Any) -> None:
        self._at += len(data)
        if len(data) < _SMALL:
            self._waiting += data
            if len(self._waiting) < _CHUNK:
                return
            data = b""
        self._push(self._waiting)
        self._waiting = bytearray()
        self._push(data)

    def _push(self, data: Any) -> None:
        while len(data):
            written = self._write(data)
            if type(written) is not int or written == len(data):
                return
            if written <= 0:
                raise OSError("the file takes no more bytes")
            data = memoryview(data)[written:]  # an unbuffered file may take less than it was given


def _large(sizes: list[int], start: int) -> bytes:
    """The extra field for numbers of more than 32 bits."""
    numbers = sizes + ([start] if start >= _BIG else [])
    return struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
