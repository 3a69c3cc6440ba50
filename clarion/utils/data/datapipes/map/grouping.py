"""Samples in batches."""

from __future__ import annotations

from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, MapDataPipe
from ..utils.common import length_of

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe[DataChunk[Any]]):
    """Batches of samples (functional name: ``batch``)."""

    def __init__(
        self,
        datapipe: MapDataPipe[Any],
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: type[DataChunk[Any]] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: int) -> DataChunk[Any]:
        batch: list[Any] = []
        try:
            for place in range(index * self.batch_size, (index + 1) * self.batch_size):
                batch.append(self.datapipe[place])
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self) -> int:
        (length,) = length_of(self, self.datapipe)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
