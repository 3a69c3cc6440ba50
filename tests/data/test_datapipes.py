"""Data pipes: samples that are mapped, filtered, shuffled, dealt out to workers and batched."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.utils.data import DataLoader, IterDataPipe, functional_datapipe
from clarion.utils.data.datapipes.iter import IterableWrapper

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def double(x: int) -> int:
    return 2 * x


def test_pipes_are_methods_of_pipes() -> None:
    @functional_datapipe("twice_in_this_test")
    class Twice(IterDataPipe):
        def __init__(self, source: IterDataPipe) -> None:
            self.source = source

        def __iter__(self):
            for x in self.source:
                yield x
                yield x

    assert list(IterableWrapper([1, 2]).twice_in_this_test().batch(3)) == [[1, 1, 2], [2]]
    del IterDataPipe.functions["twice_in_this_test"]


def test_one_iterator_is_valid() -> None:
    pipe = IterableWrapper(range(3)).map(double)
    old = iter(pipe)
    assert next(old) == 0
    assert list(pipe) == [0, 2, 4]
    with pytest.raises(RuntimeError, match="This iterator has been invalidated"):
        next(old)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_workers_share_the_samples() -> None:
    pipe = IterableWrapper(range(8)).shuffle().sharding_filter().map(double)
    torch.manual_seed(0)
    loader = DataLoader(pipe, batch_size=2, num_workers=2)
    seen = [batch.tolist() for batch in loader]
    assert sorted(x for batch in seen for x in batch) == list(range(0, 16, 2))
    assert seen != [batch.tolist() for batch in loader]  # another order in the next epoch
