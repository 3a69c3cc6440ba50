"""`torch.multiprocessing`: processes that see the same memory."""

from __future__ import annotations

import pytest

import clarion as torch
import clarion.multiprocessing as mp


def _train(rank, model, queue, read):
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        x = torch.randn(16, 4)
        optimizer.zero_grad()
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        optimizer.step()
    queue.put(torch.full((3,), float(rank)))
    read.wait(60)  # memory that was sent lives as long as its sender


def _write(rank, shared):
    shared[rank] = rank + 1.0


def _fail(rank):
    if rank == 1:
        raise KeyError("on purpose")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_train_one_model(method):
    context = mp.get_context(method)
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1).share_memory()
    assert model.weight.is_shared()
    queues, read = [context.Queue() for _ in range(2)], context.Event()
    workers = [context.Process(target=_train, args=(rank, model, queues[rank], read)) for rank in range(2)]
    for worker in workers:
        worker.start()
    found = [queue.get(timeout=60).tolist() for queue in queues]
    read.set()
    for worker in workers:
        worker.join()
    assert found == [[0.0] * 3, [1.0] * 3]
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert (model.weight - 1).abs().max() < 0.1  # what they learned is here


def test_spawn():
    shared = torch.zeros(2).share_memory_()
    mp.spawn(_write, (shared,), nprocs=2)
    assert shared.tolist() == [1.0, 2.0]
    with pytest.raises(
        mp.ProcessRaisedException, match=r"Process 1 terminated with the following error:(.|\n)*on purpose"
    ):
        mp.spawn(_fail, nprocs=2, start_method="fork")


def test_what_is_shared():
    x = torch.arange(6.0)
    view, other = x[2:], x[:2]
    with pytest.raises(NotImplementedError, match="share the base before taking views"):
        view.share_memory_()
    assert not x.is_shared()
    del other
    view.share_memory_()
    view[0] = 9.0
    assert x.is_shared()
    assert x.tolist() == [0.0, 1.0, 9.0, 3.0, 4.0, 5.0]
    shared = torch.ones(2, 3, dtype=torch.bfloat16).share_memory_()
    assert shared.is_shared()
    assert shared[1].is_shared()
    assert shared.dtype is torch.bfloat16
    assert shared.tolist() == [[1.0] * 3] * 2


def test_what_is_sent():
    queue = mp.Queue()
    view, nothing = torch.arange(6.0).view(2, 3), torch.empty(2, 3, device="meta")
    queue.put(view)
    queue.put(nothing)
    there, blank = queue.get(timeout=60), queue.get(timeout=60)
    view[0, 0] = 9.0  # a view that is sent moves with its base: both sides see what is written
    assert (there[0, 0].item(), view._base.is_shared()) == (9.0, True)
    assert (blank.is_meta, blank.shape, blank.dtype) == (True, (2, 3), torch.float32)
