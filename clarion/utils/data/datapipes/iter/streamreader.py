"""Files, read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["StreamReaderIterDataPipe"]


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[Any]):
    """Paths with the content of their streams, whole or in chunks (functional name: ``read_from_stream``)."""

    def __init__(self, datapipe: IterDataPipe[Any], chunk: int | None = None) -> None:
        self.datapipe = datapipe
        self.chunk = chunk

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            while content := stream.read(self.chunk):
                yield path, content
            stream.close()
