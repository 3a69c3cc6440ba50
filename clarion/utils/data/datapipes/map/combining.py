"""Several pipes as one."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]


def _checked(datapipes: tuple[Any, ...]) -> tuple[Any, ...]:
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    if not all(isinstance(pipe, Sized) for pipe in datapipes):
        raise TypeError("Expected all inputs to be `Sized`")
    return datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe[Any]):
    """One pipe after the other (functional name: ``concat``)."""

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index: int) -> Any:
        rest = index
        for pipe in self.datapipes:
            if rest < len(pipe):
                return pipe[rest]
            rest -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe[Any]):
    """Tuples of samples, one of each pipe (functional name: ``zip``)."""

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        found = []
        for pipe in self.datapipes:
            try:
                found.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(found)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))
