"""A function of every sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = ["MapperMapDataPipe", "default_fn"]

T_co = TypeVar("T_co", covariant=True)


def default_fn(data: Any) -> Any:
    """The sample as it is."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[T_co]):
    """What a function makes of each sample (functional name: ``map``)."""

    def __init__(self, datapipe: MapDataPipe[Any], fn: Callable[[Any], Any] = default_fn) -> None:
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(fn)
        self.fn = fn

    def __len__(self) -> int:
        return len(self.datapipe)  # type: ignore[arg-type]

    def __getitem__(self, index: Any) -> T_co:
        return self.fn(self.datapipe[index])  # type: ignore[no-any-return]
