"""Samples in batches, and batches taken apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import _check_unpickable_fn, length_of

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe[DataChunk[Any]]):
    """Batches of samples (functional name: ``batch``)."""

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
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

    def __iter__(self) -> Iterator[DataChunk[Any]]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        (length,) = length_of(self, self.datapipe)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """The samples of batches, one by one; of batches of batches with `unbatch_level` (functional name: ``unbatch``)."""

    def __init__(self, datapipe: IterDataPipe[Any], unbatch_level: int = 1) -> None:
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, level: int) -> Iterator[Any]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level != 0 and isinstance(element, list):
            for item in element:
                yield from self._dive(item, level if level == -1 else level - 1)
        elif level > 0:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            yield element


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Samples of the same key together (functional name: ``groupby``).

    group_size              a group is given out when it has so many
    guaranteed_group_size   what the largest group must have when the buffer is full
    drop_remaining          smaller ones are left out then, instead of an error
    """

    _passing = ("buffer_elements", "curr_buffer_size")

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        _check_unpickable_fn(group_key_fn)
        self.datapipe = datapipe
        self.group_key_fn = group_key_fn
        self.keep_key = keep_key
        self.max_buffer_size = buffer_size
        self.group_size = group_size
        self.guaranteed_group_size = None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining = drop_remaining
        self.wrapper_class = DataChunk
        self._begin()

    def _begin(self) -> None:
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)
        self.curr_buffer_size = 0

    def reset(self) -> None:
        self._begin()

    def _remove_biggest_key(self) -> list[Any] | None:
        """The largest group, taken out of the full buffer; None if it is too small and may be dropped."""
        key = max(self.buffer_elements, key=lambda key: len(self.buffer_elements[key]))
        group = self.buffer_elements[key]
        too_small = self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size
        if too_small and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        self.curr_buffer_size -= len(group)
        del self.buffer_elements[key]
        return None if too_small else group

    def _given(self, key: Any, group: list[Any]) -> Any:
        chunk = self.wrapper_class(group)
        return (key, chunk) if self.keep_key else chunk

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if self.group_size is not None and self.group_size == len(self.buffer_elements[key]):
                yield self._given(key, self.buffer_elements[key])
                self.curr_buffer_size -= len(self.buffer_elements[key])
                del self.buffer_elements[key]
            if self.curr_buffer_size == self.max_buffer_size:
                group = self._remove_biggest_key()
                if group is not None:
                    yield self._given(key, group)
        for key in tuple(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._given(key, group)
