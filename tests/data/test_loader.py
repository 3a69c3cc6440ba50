"""DataLoader in the main process; the literal orders are PyTorch's for the same seed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import clarion as torch
from clarion.utils.data import DataLoader, IterableDataset, Subset, TensorDataset
from clarion.utils.data._utils.collate import default_collate_fn_map

from ..without_gpu import without_gpu


class Count(IterableDataset[int]):
    def __init__(self, n: int, says: int | None = None) -> None:
        self.n = n
        self.says = n if says is None else says

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self) -> int:
        return self.says


def batches(loader: DataLoader) -> list:
    return [batch.tolist() for batch in loader]


def test_orders_are_those_of_pytorch() -> None:
    torch.manual_seed(7)
    loader = DataLoader(range(10), 4, True)
    assert batches(loader) == [[3, 2, 7, 8], [6, 1, 5, 9], [0, 4]]
    loader = DataLoader(range(10), 4, True)
    assert batches(loader) == [[1, 3, 5, 2], [8, 9, 6, 7], [4, 0]]


def test_batches() -> None:
    assert batches(DataLoader(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert batches(DataLoader(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert batches(DataLoader(range(9), 2, sampler=[5, 3, 1])) == [[5, 3], [1]]
    assert batches(DataLoader(range(9), batch_sampler=[[5, 3], [1]])) == [[5, 3], [1]]
    assert list(DataLoader(range(3), None)) == [0, 1, 2]
    assert list(DataLoader(range(5), 2, collate_fn=sum)) == [1, 5, 4]
    assert batches(DataLoader(Count(5), 2)) == [[0, 1], [2, 3], [4]]
    assert batches(DataLoader(Count(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(2), None)) == [0, 1]


def test_lengths() -> None:
    assert len(DataLoader(range(5), 2)) == 3
    assert len(DataLoader(range(5), 2, drop_last=True)) == 2
    assert len(DataLoader(range(5), None)) == 5
    assert len(DataLoader(Count(5), 2)) == 3
    assert len(DataLoader(Count(5), 2, drop_last=True)) == 2


def test_a_stream_longer_than_it_said() -> None:
    loader = DataLoader(Count(3, says=2), None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset .* was reported to be 2.*but 3 samples"):
        list(loader)


def rows(dataset, indices, **options) -> list:
    return list(DataLoader(dataset, 4, sampler=indices, **options))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.int16])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_tensors_are_what_single_rows_give(dtype, turned) -> None:
    x = torch.randn(6, 6).to(dtype)
    dataset = TensorDataset(x.t() if turned else x, torch.arange(6))
    indices = [4, -1, 0, np.int64(3), 2]
    for each in (dataset, Subset(Subset(dataset, [5, 4, 3, 2, 1, 0]), [1, 2, 3, 4, 0])):
        quick = rows(each, indices)
        slow = rows(each, indices, collate_fn=lambda batch: torch.utils.data.default_collate(batch))
        for ours, theirs in zip(quick, slow, strict=True):
            assert isinstance(ours, list)
            for a, b in zip(ours, theirs, strict=True):
                assert a.dtype is b.dtype
                assert a.tolist() == b.tolist()
                assert a.is_contiguous()


def test_rows_of_tensors_outside() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 0 with size 3"):
        rows(TensorDataset(torch.arange(3)), [1, 9])


def test_rows_of_tensors_keep_their_graph() -> None:
    x = torch.arange(4.0, requires_grad=True)
    (batch,) = rows(TensorDataset(x), [3, 1])[0]
    batch.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_subclasses_and_tables_are_obeyed() -> None:
    class Doubled(TensorDataset):
        def __getitem__(self, i):
            return tuple([each * 2 for each in super().__getitem__(i)])

    assert rows(Doubled(torch.arange(4)), [3])[0][0].tolist() == [6]
    before = default_collate_fn_map[torch.Tensor]
    default_collate_fn_map[torch.Tensor] = lambda batch, *, collate_fn_map: "mine"
    try:
        assert rows(TensorDataset(torch.arange(4)), [3]) == [["mine"]]
    finally:
        default_collate_fn_map[torch.Tensor] = before


def test_batches_can_be_written_to() -> None:
    x = torch.zeros(4)
    for (batch,) in DataLoader(TensorDataset(x), 2):
        batch += 1
    assert x.tolist() == [0.0] * 4


@without_gpu
def test_pin_memory_is_accepted() -> None:
    loader = DataLoader(range(2), pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert batches(loader) == [[0], [1]]


@pytest.mark.parametrize(
    ("options", "kind", "phrase"),
    [
        ({"num_workers": -1}, ValueError, "num_workers option should be non-negative"),
        ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor option could only be specified in multiprocessing"),
        ({"prefetch_factor": -1, "num_workers": 1}, ValueError, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, ValueError, "persistent_workers option needs num_workers > 0"),
        ({"sampler": [0], "shuffle": True}, ValueError, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "batch_sampler option is mutually exclusive with"),
        ({"batch_size": None, "drop_last": True}, ValueError, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, ValueError, "batch_size should be a positive integer value"),
        ({"multiprocessing_context": "fork"}, ValueError, "can only be used with multi-process loading"),
        ({"multiprocessing_context": "x", "num_workers": 1}, ValueError, "should specify a valid start method in"),
        ({"multiprocessing_context": 3, "num_workers": 1}, TypeError, "should be a valid context object or a string"),
    ],
)
def test_refusals(options, kind, phrase) -> None:
    with pytest.raises(kind, match=phrase):
        DataLoader([1], **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}])
def test_refusals_of_a_stream(options) -> None:
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified"):
        DataLoader(Count(3), **options)


def test_what_is_fixed() -> None:
    loader = DataLoader([1])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(loader))
    with pytest.raises(AssertionError, match="requires timeout == 0"):
        iter(DataLoader([1], timeout=1))
    assert [batch.tolist() for batch in pickle.loads(pickle.dumps(loader))] == [[1]]


def test_module_paths() -> None:
    from clarion.utils.data.dataloader import DataLoader as a
    from clarion.utils.data.dataset import Subset as b
    from clarion.utils.data.distributed import DistributedSampler as c
    from clarion.utils.data.sampler import RandomSampler as d

    data = torch.utils.data
    assert (a, b, c, d) == (data.DataLoader, data.Subset, data.DistributedSampler, data.RandomSampler)
    assert data.get_worker_info() is None
