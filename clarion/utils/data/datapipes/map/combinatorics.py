"""Samples in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, TypeVar

from ...sampler import fresh_seed
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]

T_co = TypeVar("T_co", covariant=True)


class ShufflerIterDataPipe(IterDataPipe[T_co]):
    """All samples, in another order each time (functional name: ``shuffle``)."""

    def __init__(self, datapipe: MapDataPipe[T_co], *, indices: list[Any] | None = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices  # type: ignore[arg-type]
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()
        self._shuffled_indices = self.indices

    def set_shuffle(self, shuffle: bool = True) -> ShufflerIterDataPipe[T_co]:
        """Shuffle, or leave the order."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> ShufflerIterDataPipe[T_co]:
        """The seed of the next iteration."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[T_co]:
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
        else:
            while self._shuffled_indices:
                yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        if self._enabled and self._seed is None:
            self._seed = fresh_seed(None)
        self._rng.seed(self._seed)
        self._seed = None
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)  # type: ignore[arg-type]


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
