"""From an index, or a list of them, to collated data: the same in the main process and in workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.devices import xp_of
from ....core.tensor import Tensor, created
from ..dataset import Subset, TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map

_INTEGERS = frozenset([int, np.int64])


class DatasetKind:
    """The two kinds of datasets."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> _MapDatasetFetcher | _IterableDatasetFetcher:
        """What loads data from a dataset of this kind."""
        if kind == DatasetKind.Iterable:
            return _IterableDatasetFetcher(dataset, auto_collation, collate_fn, drop_last)
        return _MapDatasetFetcher(dataset, auto_collation, collate_fn)


class _MapDatasetFetcher:
    """Loads from a dataset that maps keys to samples."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any]) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn

    def fetch(self, index: Any) -> Any:
        """One batch, or one sample where batches are not made here."""
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        if self.collate_fn is default_collate and default_collate_fn_map[Tensor] is collate_tensor_fn:
            rows = rows_of_tensors(dataset, index)
            if rows is not None:
                return rows
        if getattr(dataset, "__getitems__", None):
            return self.collate_fn(dataset.__getitems__(index))
        return self.collate_fn([dataset[i] for i in index])


def rows_of_tensors(dataset: Any, indices: Any) -> list[Tensor] | None:
    """The batch of a TensorDataset (or of a Subset of one) in one step per tensor; None if it is something else.

    The result is what collating single rows gives. Subclasses may change what a sample is: they go row by row.
    """
    while type(dataset) is Subset:
        try:
            indices = [dataset.indices[i] for i in indices]
        except (IndexError, TypeError):  # said better by the ordinary way
            return None
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or not indices or not _INTEGERS.issuperset(map(type, indices)):
        return None
    for tensor in dataset.tensors:
        if type(tensor) is not Tensor or tensor._rg:
            return None
    try:
        return [created(tensor._array.take(xp_of(tensor._array).asarray(indices), 0)) for tensor in dataset.tensors]
    except (IndexError, ValueError):
        return None


class _IterableDatasetFetcher:
    """Loads from a stream."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.samples = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index: Any) -> Any:
        """The next samples, as many as there are entries in `index`; StopIteration at the end of the stream."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.samples))
        batch = []
        for _ in index:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate_fn(batch)
