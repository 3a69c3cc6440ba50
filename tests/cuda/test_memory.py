"""The books of GPU memory: what is free is lent again, what somebody holds is not, whoever holds it."""

from __future__ import annotations

import threading

import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)


def test_books_know_what_is_free():
    before = torch.cuda.memory_allocated()
    kept = [torch.zeros(1000, device="cuda") for _ in range(100)]
    assert torch.cuda.memory_allocated() - before == 100 * 4096
    del kept[::2]
    assert torch.cuda.memory_allocated() - before == 50 * 4096
    view = kept[0][10:20]
    kept.clear()
    assert torch.cuda.memory_allocated() - before == 4096
    del view
    assert torch.cuda.memory_allocated() == before
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before


def test_what_somebody_holds_is_not_lent_again():
    held = []
    for i in range(400):
        x = torch.full((300,), float(i), device="cuda")
        if i % 3 == 0:
            held.append((i, x[7:] if i % 2 else x.reshape(3, 100)))
        del x
    assert len({value.data_ptr() // 512 for _, value in held}) == len(held)
    assert all(value.min().item() == value.max().item() == i for i, value in held)


def test_blocks_are_used_again():
    def work() -> None:
        kept = [torch.ones(64, 64, device="cuda") for _ in range(20)]
        while kept:
            kept.pop().mul(2).add(1)

    for _ in range(50):
        work()
    held = torch.cuda.memory_reserved()
    for _ in range(500):
        work()
    assert torch.cuda.memory_reserved() == held
    stay = [torch.ones(64, 64, device="cuda") for _ in range(30)]
    for _ in range(200):
        work()
    assert all(each.sum().item() == 4096 for each in stay)
    before = torch.cuda.memory_allocated()
    stay.clear()
    assert before - torch.cuda.memory_allocated() == 30 * 64 * 64 * 4
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < held


def test_other_streams_have_read_what_is_lent_again():
    side = torch.cuda.Stream()
    found = []
    for i in range(50):
        x = torch.full((1000,), float(i), device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        x.record_stream(side)
        del x
        torch.full((1000,), -1.0, device="cuda")
        found.append(y)
    torch.cuda.synchronize()
    assert [(y.min().item(), y.max().item()) for y in found] == [(i + 1.0, i + 1.0) for i in range(50)]


def on_four_threads(work):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_share_the_shelves():
    wrong = []

    def work(number: int) -> None:
        kept = []
        for i in range(300):
            kept.append((torch.full((200,), float(number * 1000 + i), device="cuda"), number * 1000 + i))
            if i % 3 == 2:
                value, expected = kept.pop(0)
                if value.sum().item() != 200.0 * expected:
                    wrong.append(expected)

    on_four_threads(work)
    assert not wrong


def test_threads_prepare_the_same_launch_at_once():
    begins, wrong = threading.Barrier(4), []

    def work(number: int) -> None:
        for n in range(3000, 3060):  # each size is prepared anew
            x = torch.full((n, 5), float(number), device="cuda")
            begins.wait()
            sums = [x.sum(0)[0].item() for _ in range(5)]
            if sums != [float(number * n)] * 5:
                wrong.append((n, number, sums))

    on_four_threads(work)
    assert not wrong
