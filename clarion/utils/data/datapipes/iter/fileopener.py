"""Files, opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import get_file_binaries_from_pathnames

__all__ = ["FileOpenerIterDataPipe"]


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[Any]):
    """Each path with its opened file (functional name: ``open_files``)."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        super().__init__()
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe = datapipe
        self.mode = mode
        self.encoding = encoding
        self.length = length

    def __iter__(self) -> Iterator[Any]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length
