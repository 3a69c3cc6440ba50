"""Samples in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sized
from typing import Any, TypeVar

from ...sampler import Sampler, SequentialSampler, fresh_seed
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import length_of

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]

T_co = TypeVar("T_co", covariant=True)


class SamplerIterDataPipe(IterDataPipe[T_co]):
    """The keys that a sampler gives for a pipe."""

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        sampler: type[Sampler[Any]] = SequentialSampler,
        sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        super().__init__()
        self.datapipe = datapipe
        self.sampler_args = sampler_args or ()
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return length_of(self, self.sampler)[0]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe[T_co]):
    """Samples in another order each time, as far as they fit into a buffer (functional name: ``shuffle``)."""

    def __init__(self, datapipe: IterDataPipe[T_co], *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        super().__init__()
        self._buffer: list[T_co] = []
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

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
            yield from self.datapipe
            return
        for sample in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                place = self._rng.randint(0, len(self._buffer) - 1)
                drawn, self._buffer[place] = self._buffer[place], sample
                yield drawn
            else:
                self._buffer.append(sample)
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        return length_of(self, self.datapipe)[0]

    def reset(self) -> None:
        self._buffer = []
        if self._enabled:
            if self._seed is None:
                self._seed = fresh_seed(None)
            self._rng.seed(self._seed)
            self._seed = None
