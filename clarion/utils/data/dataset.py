"""Datasets: what can be loaded, and ways to combine it."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...core.tensor import Tensor
from ...errors import ArgumentValueError
from ...ops.random.draws import randperm
from ...ops.random.generator import Generator, default_generator

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset",
    "random_split",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A map from keys to samples: subclasses define `__getitem__`, and `__len__` for the usual samplers.

    A subclass may define `__getitems__(indices)`, which returns the samples of a whole batch as a list.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of samples: subclasses define `__iter__`.

    Every worker process iterates over a copy of its own: split the stream by `get_worker_info()`.
    """

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of one length; a sample is the tuple of their rows."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError(
                f"Size mismatch between tensors: their first dimensions are {[tensor.size(0) for tensor in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])  # type: ignore[index]

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Datasets of one length side by side: a sample is a tuple (or, by keywords, a dict) of their samples."""

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ArgumentValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        parts = args or tuple(kwargs.values())
        if not parts:
            raise ArgumentValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ArgumentValueError(
                f"Size mismatch between datasets: their lengths are {[len(part) for part in parts]}"
            )
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [_samples(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*[_samples(dataset, indices) for dataset in self.datasets], strict=True))

    def __len__(self) -> int:
        return self._length


def _samples(dataset: Any, indices: list[Any]) -> Sequence[Any]:
    """The samples of a batch, at once where the dataset can."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    samples: Sequence[Any] = dataset.__getitems__(indices)
    if len(samples) != len(indices):
        raise ArgumentValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}\n"
            f"{type(dataset).__name__}.__getitems__ must return one sample for each index."
        )
    return samples


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other."""

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset: chain streams with ChainDataset, or with `+`"
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate([len(dataset) for dataset in sequence]))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ArgumentValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - start]  # type: ignore[no-any-return]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old, misspelled name."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", category=FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[T_co]):
    """Streams one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset only supports IterableDataset, not {type(dataset).__name__}")
            yield dataset

    def __iter__(self) -> Iterator[T_co]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum([len(dataset) for dataset in self._streams()])


class Subset(Dataset[T_co]):
    """The samples of a dataset at some indices.

    A subclass that changes `__getitem__` has to change `__getitems__` too: loaders use the latter.
    """

    dataset: Any
    indices: Sequence[Any]

    def __init__(self, dataset: Any, indices: Sequence[Any]) -> None:
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your custom "
                "logic. A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]  # type: ignore[no-any-return]
        return self.dataset[self.indices[idx]]  # type: ignore[no-any-return]

    def __getitems__(self, indices: list[Any]) -> list[T_co]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)  # type: ignore[no-any-return]
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Parts of the given lengths, or fractions of 1, of a shuffled dataset; no sample is in two of them."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ArgumentValueError(
            "Sum of input lengths does not equal the length of the input dataset!\n"
            f"{list(lengths)} add up to {sum(lengths)}; the dataset has {len(dataset)} samples."
        )
    order = randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _lengths(total: int, fractions: Sequence[float]) -> list[int]:
    """Whole numbers near the fractions; what rounding leaves over is dealt out from the first part on."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ArgumentValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths
