"""Samplers: in which order the samples of a dataset are taken.

The numbers drawn, and when they are drawn, are PyTorch's: the same seed gives the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ...core.dtypes import float64, int64
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError
from ...ops.creation.factories import empty
from ...ops.creation.from_data import as_tensor
from ...ops.random.draws import multinomial, randint, randperm
from ...ops.random.generator import Generator

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
    "WeightedRandomSampler",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)

_CHUNK = 32  # how many numbers PyTorch draws at a time with replacement


def fresh_seed(generator: Generator | None = None) -> int:
    """A random 63-bit number: what `torch.empty((), dtype=torch.int64).random_(generator=generator)` draws."""
    return int(empty((), dtype=int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """An iterable of keys of a dataset (or, as batch sampler, of lists of keys)."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, …"""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order of all indices; with replacement, independent random indices."""

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise ArgumentTypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            hint = "\nThe dataset is empty: there is nothing to shuffle." if num_samples is None else ""
            raise ArgumentValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}{hint}"
            )

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives; a dataset may grow between passes."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(fresh_seed())
        if self.replacement:
            for _ in range(wanted // _CHUNK):
                yield from randint(n, (_CHUNK,), generator=generator).tolist()
            yield from randint(n, (wanted % _CHUNK,), generator=generator).tolist()
        else:
            for _ in range(wanted // n):
                yield from randperm(n, generator=generator).tolist()
            yield from randperm(n, generator=generator).tolist()[: wanted % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Random indices, each with a probability in proportion to its weight."""

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if not _positive_integer(num_samples):
            raise ArgumentValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ArgumentValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ArgumentValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Indices of another sampler in lists of `batch_size`."""

    sampler: Any

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not _positive_integer(batch_size):
            raise ArgumentValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ArgumentValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices, size = iter(self.sampler), self.batch_size
        while batch := list(itertools.islice(indices, size)):
            if len(batch) < size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size


def _positive_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
