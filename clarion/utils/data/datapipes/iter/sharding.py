"""The part of the samples that is this worker's."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import length_of

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Who shards; samples are dealt out to the last of them first."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe[Any]):
    """A pipe that is told how many there are, and which one it is."""

    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: Any) -> None:
        """Be part `instance_id` of so many."""
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Every n-th sample, once it is told n; until then all of them (functional name: ``sharding_filter``)."""

    def __init__(self, source_datapipe: IterDataPipe[Any], sharding_group_filter: Any = None) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self._update_num_of_instances()

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
    ) -> None:
        """Be part `instance_id` of so many; groups of different kinds multiply."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        default = SHARDING_PRIORITIES.DEFAULT
        if self.groups and (sharding_group == default) != (default in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self._update_num_of_instances()

    def _update_num_of_instances(self) -> None:
        self.num_of_instances = 1
        self.instance_id = 0
        for kind in sorted(self.groups, reverse=True):
            if self.sharding_group_filter in (None, kind):
                count, which = self.groups[kind]
                self.instance_id += self.num_of_instances * which
                self.num_of_instances *= count

    def __iter__(self) -> Iterator[Any]:
        for place, item in enumerate(self.source_datapipe):
            if place % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self) -> int:
        (length,) = length_of(self, self.source_datapipe)
        return len(range(self.instance_id, length, self.num_of_instances))
