"""Samplers; the literal orders are PyTorch's for the same seed."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.utils.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def test_orders_are_those_of_pytorch() -> None:
    weights = [0.1, 0.9, 0.4, 0.7, 3.0, 0.6]
    torch.manual_seed(7)
    assert list(RandomSampler(range(12))) == [1, 6, 9, 2, 4, 8, 3, 5, 11, 10, 0, 7]
    assert list(RandomSampler(range(6), True, 9)) == [5, 1, 1, 5, 2, 5, 1, 2, 4]
    assert list(SubsetRandomSampler([5, 1, 8, 2])) == [2, 1, 5, 8]
    assert list(WeightedRandomSampler(weights, 8)) == [1, 4, 4, 4, 4, 4, 4, 3]
    assert list(WeightedRandomSampler(weights, 4, False)) == [2, 4, 5, 1]


def test_random() -> None:
    once = list(RandomSampler(range(9), generator=torch.Generator().manual_seed(1)))
    again = list(RandomSampler(range(9), generator=torch.Generator().manual_seed(1)))
    assert once == again
    assert sorted(once) == list(range(9))
    assert sorted(list(RandomSampler(range(4), num_samples=10))[:8]) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(RandomSampler(range(4), num_samples=10)) == 10
    assert len(set(RandomSampler(range(100), num_samples=10))) == 10


def test_batches() -> None:
    assert list(BatchSampler(SequentialSampler(range(7)), 3, False)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(BatchSampler(SequentialSampler(range(7)), 3, True)) == [[0, 1, 2], [3, 4, 5]]
    assert [len(BatchSampler(range(7), 3, last)) for last in (False, True)] == [3, 2]


def test_distributed() -> None:
    parts = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert [len(DistributedSampler(range(10), 3, 0, drop_last=last)) for last in (False, True)] == [4, 3]
    sampler = DistributedSampler(range(10), 2, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedSampler(range(3))


@pytest.mark.parametrize(
    ("make", "kind", "phrase"),
    [
        (lambda: RandomSampler([1], replacement=1), TypeError, "replacement should be a boolean value"),
        (lambda: RandomSampler([1], num_samples=0), ValueError, "num_samples should be a positive integer value"),
        (lambda: RandomSampler([]), ValueError, "but got num_samples=0"),
        (lambda: WeightedRandomSampler([1.0], True), ValueError, "num_samples should be a positive integer value"),
        (lambda: WeightedRandomSampler([1.0], 1, 1), ValueError, "replacement should be a boolean value"),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, r"weights have shape \(1, 1\)"),
        (lambda: BatchSampler([1], True, False), ValueError, "batch_size should be a positive integer value"),
        (lambda: BatchSampler([1], 1, 0), ValueError, "drop_last should be a boolean value"),
        (lambda: DistributedSampler([1], 2, 2), ValueError, "Invalid rank 2"),
        (lambda: list(Sampler()), NotImplementedError, None),
    ],
)
def test_refusals(make, kind, phrase) -> None:
    with pytest.raises(kind, match=phrase):
        make()
