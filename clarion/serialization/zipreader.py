"""Reading PyTorch's archive. Nothing a file says about itself is believed before it was checked.

Records are never unpacked to the disk, so their names can do no harm; they are stored, not compressed, and together
no larger than the file, so that a small file cannot ask for much memory.
"""

from __future__ import annotations

import mmap
import struct
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from ..core.provenance import warn_user
from ..errors import NotSupportedError
from .failures import FileDamagedError

_CHUNK = 4 << 20
_READER = "PytorchStreamReader failed"


def is_zip(file: IO[bytes]) -> bool:
    """Does a zip archive begin where the file stands?"""
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    return head == b"PK\3\4"


class ZipReader:
    """The records of one archive by name, without the folder they are in."""

    def __init__(self, file: IO[bytes], mapped: mmap.mmap | None = None) -> None:
        self._file = file
        self._length = file.seek(0, 2)
        self._mapped = mapped
        infos = self._directory()
        folder, slash, _ = infos[0].filename.partition("/") if infos else ("", "", "")
        if not slash:
            raise FileDamagedError(f"{_READER} reading zip archive: archive does not contain any files in a folder")
        prefix = len(folder) + 1
        self._infos = {info.filename[prefix:]: info for info in infos if info.filename.startswith(folder + "/")}
        if len({info.filename for info in infos}) != len(infos):
            raise FileDamagedError("two records of the archive have the same name: it was tampered with or is damaged")
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
                raise NotSupportedError(
                    f"the record {info.filename[:60]!r} is compressed or encrypted; checkpoints hold stored records only"
                )
        if sum(info.file_size for info in infos) > self._length:
            raise FileDamagedError(
                "the records of the archive claim to hold more bytes than the file has: it was truncated, or made to "
                "exhaust memory"
            )

    def _directory(self) -> list[zipfile.ZipInfo]:
        try:
            with zipfile.ZipFile(self._file) as archive:
                return archive.infolist()
        except (
            zipfile.BadZipFile,
            ValueError,
            OverflowError,
            EOFError,
            NotImplementedError,
            IndexError,
            struct.error,
            OSError,
        ) as error:
            raise FileDamagedError(
                f"{_READER} reading zip archive: failed finding central directory\n"
                f"The file is truncated or damaged ({error}): its table of contents, which is at the end, cannot be read."
            ) from None

    def names(self) -> list[str]:
        """All records."""
        return list(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def size(self, name: str) -> int:
        """Bytes of a record."""
        return self._info(name).file_size

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._infos.get(name)
        if info is None:
            raise FileDamagedError(f"{_READER} locating file {name}: file not found")
        return info

    def _begin(self, name: str) -> tuple[int, int, int]:
        """Where the data of a record begins, its size and its checksum."""
        info = self._info(name)
        self._file.seek(max(info.header_offset, 0))
        head = self._file.read(30)
        if info.header_offset < 0 or len(head) < 30 or head[:4] != b"PK\3\4":
            raise FileDamagedError(f"{_READER} reading file {name}: its header is not where the archive says")
        begin = info.header_offset + 30 + sum(struct.unpack("<HH", head[26:30]))
        if begin + info.file_size > self._length:
            raise FileDamagedError(f"{_READER} reading file {name}: it reaches beyond the end of the file")
        return begin, info.file_size, info.CRC

    def read(self, name: str) -> bytes:
        """A small record."""
        begin, size, crc = self._begin(name)
        self._file.seek(begin)
        data = self._file.read(size)
        if len(data) != size:
            raise FileDamagedError(f"{_READER} reading file {name}: the file ended while it was read")
        self._compare(name, zlib.crc32(data), crc)
        return data

    def begin(self, name: str) -> int:
        """Where in the file the data of a record begins."""
        return self._begin(name)[0]

    def array(self, name: str, kind: Any) -> Any:
        """A record as a flat array: mapped if the archive is, else read and compared with its checksum."""
        begin, size, crc = self._begin(name)
        count = size // kind.itemsize
        if self._mapped is not None and begin % kind.alignment == 0:
            return np.frombuffer(self._mapped, np.uint8, size, begin).view(kind) if size else np.empty(0, kind)
        array = np.empty(count, kind)
        if size:
            self._compare(name, self._fill(memoryview(array.view(np.uint8).data), begin), crc)
        return array

    def _fill(self, target: memoryview, begin: int) -> int:
        """Read into memory; returns the checksum, taken while the bytes are in the cache."""
        self._file.seek(begin)
        readinto = getattr(self._file, "readinto", None)
        crc = done = 0
        while done < len(target):
            part = target[done : done + _CHUNK]
            if readinto is not None:
                got = readinto(part)
            else:
                data = self._file.read(len(part))
                got = len(data)
                part[:got] = data
            if not got:
                raise FileDamagedError("the file ended while it was read")
            crc = zlib.crc32(part[:got], crc)
            done += got
        return crc

    def _compare(self, name: str, found: int, crc: int) -> None:
        """PyTorch does not look: the bytes are taken as they are, and the difference is told."""
        if found != crc and crc:  # 0: written without checksums
            warn_user(
                f"{name} of the checkpoint does not have the checksum that it was written with: the file was changed, or is damaged."
            )
