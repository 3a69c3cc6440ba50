"""Datasets and random_split."""

from __future__ import annotations

import pickle

import pytest

import clarion as torch
from clarion.utils.data import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Squares(Dataset[int]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        return i * i


class Count(IterableDataset[int]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self) -> int:
        return self.n


def test_tensors() -> None:
    x, y = torch.rand(4, 3), torch.arange(4)
    dataset = TensorDataset(x, y)
    assert len(dataset) == 4
    assert dataset[2][0].tolist() == x[2].tolist()
    assert dataset[2][1].item() == 2
    assert dataset[1:3][1].tolist() == [1, 2]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(x, torch.arange(5))


def test_concat() -> None:
    both = Squares(3) + Squares(4)
    assert isinstance(both, ConcatDataset)
    assert [both[i] for i in range(len(both))] == [0, 1, 4, 0, 1, 4, 9]
    assert (both[-1], both[-7], both.cumulative_sizes) == (9, 0, [3, 7])
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-8]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Count(2)])
    with pytest.warns(FutureWarning, match="renamed"):
        both.cummulative_sizes


def test_chain() -> None:
    both = Count(2) + Count(3)
    assert isinstance(both, ChainDataset)
    assert list(both) == [0, 1, 0, 1, 2]
    assert len(both) == 5
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset([[1]]))


def test_stack() -> None:
    assert StackDataset(range(3), Squares(3))[2] == (2, 4)
    named = StackDataset(a=range(3), b=Subset(Squares(9), [2, 3, 4]))
    assert named[1] == {"a": 1, "b": 9}
    assert named.__getitems__([0, 2]) == [{"a": 0, "b": 4}, {"a": 2, "b": 16}]
    assert StackDataset(range(3), Squares(3)).__getitems__([0, 2]) == [(0, 0), (2, 4)]
    for bad, phrase in (
        (lambda: StackDataset(), "At least one dataset should be passed"),
        (lambda: StackDataset([1], a=[1]), "both types are given"),
        (lambda: StackDataset([1], [1, 2]), "Size mismatch between datasets"),
    ):
        with pytest.raises(ValueError, match=phrase):
            bad()


def test_stack_checks_nested_batches() -> None:
    class Short(Squares):
        def __getitems__(self, indices):
            return [0]

    with pytest.raises(ValueError, match="Expected 2, got 1"):
        StackDataset(Short(3)).__getitems__([0, 1])


def test_subset() -> None:
    subset = Subset(Squares(9), [5, 3])
    assert (len(subset), subset[0], subset[-1], subset.__getitems__([1, 0])) == (2, 25, 9, [9, 25])

    class Mine(Subset[int]):
        def __getitem__(self, i):
            return -1

    with pytest.raises(NotImplementedError, match="Mine overrides __getitem__ but not __getitems__"):
        Mine(Squares(3), [0])


def test_random_split_is_that_of_pytorch() -> None:
    parts = random_split(range(10), [0.3, 0.7], generator=torch.Generator().manual_seed(42))
    assert [part.indices for part in parts] == [[2, 6, 1], [8, 4, 5, 0, 9, 3, 7]]
    assert [len(part) for part in random_split(range(31), [0.5, 0.25, 0.25])] == [16, 8, 7]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        random_split(range(3), [1, 1])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(3), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 2 is 0"):
        random_split(range(2), [0.4, 0.4, 0.2])


def test_base_class() -> None:
    with pytest.raises(NotImplementedError, match="Subclasses of Dataset should implement __getitem__"):
        Dataset()[0]
    with pytest.raises(TypeError):
        len(Dataset())


@pytest.mark.parametrize(
    "dataset",
    [
        TensorDataset(torch.arange(6)),
        Squares(6),
        Squares(2) + Squares(4),
        Subset(Squares(9), [1, 2]),
        StackDataset(a=Squares(3)),
        random_split(Squares(6), [2, 4])[0],
    ],
    ids=lambda dataset: type(dataset).__name__,
)
def test_pickle(dataset: Dataset) -> None:
    again = pickle.loads(pickle.dumps(dataset))
    assert len(again) == len(dataset)
    assert str(again[1]) == str(dataset[1])
