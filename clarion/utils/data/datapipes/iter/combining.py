"""Several pipes as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import length_of
from .splitting import DemultiplexerIterDataPipe as DemultiplexerIterDataPipe
from .splitting import ForkerIterDataPipe as ForkerIterDataPipe
from .splitting import _ChildDataPipe as _ChildDataPipe

__all__ = [
    "ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe", "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]  # fmt: skip


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Any]):
    """One pipe after the other (functional name: ``concat``)."""

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(length_of(self, *self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Any]):
    """A sample of each pipe in turn, until one of them has no more (functional name: ``mux``)."""

    _passing = ("buffer",)

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        self.datapipes = datapipes
        self._begin()

    def _begin(self) -> None:
        self.buffer: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        iterators = [iter(pipe) for pipe in self.datapipes]
        while iterators:
            try:
                for iterator in iterators:
                    self.buffer.append(next(iterator))
            except StopIteration:
                self.buffer.clear()
                return
            yield from self.buffer
            self.buffer.clear()

    def __len__(self) -> int:
        return min(length_of(self, *self.datapipes)) * len(self.datapipes)

    def reset(self) -> None:
        self._begin()


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[Any]):
    """Tuples of samples, one of each pipe (functional name: ``zip``)."""

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*[iter(pipe) for pipe in self.datapipes], strict=False)

    def __len__(self) -> int:
        return min(length_of(self, *self.datapipes))
