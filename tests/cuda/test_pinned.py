"""Page-locked memory, and copies that nobody waits for."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.utils.data import DataLoader, TensorDataset

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)


def test_pinned_memory_is_copied_without_waiting():
    x = torch.randn(1 << 16)
    there = x.pin_memory()
    assert there.is_pinned()
    assert not x.is_pinned()
    assert there.pin_memory() is there
    assert there.view(256, 256)[3:5].is_pinned()
    sent = [there.to("cuda", non_blocking=True), there.cuda(non_blocking=True), x.to("cuda", non_blocking=True)]
    assert all(torch.equal(each.cpu(), x) for each in sent)


def test_memory_that_is_on_its_way_is_not_used_again():
    found = []
    for i in range(50):
        found.append(torch.full((1 << 18,), float(i)).pin_memory().to("cuda", non_blocking=True))
    assert [each.max().item() for each in found] == [each.min().item() for each in found] == list(range(50))


def test_loaders_pin_their_batches():
    data = TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))
    for x, y in DataLoader(data, batch_size=2, pin_memory=True):
        assert x.is_pinned()
        assert y.is_pinned()
        assert torch.equal(x.to("cuda", non_blocking=True).cpu(), x)


def test_new_tensors_can_be_pinned():
    for made in (torch.empty(3, 4, pin_memory=True), torch.zeros(5, pin_memory=True, dtype=torch.int32)):
        assert made.is_pinned()
        assert made.device.type == "cpu"
    assert torch.zeros(5, pin_memory=True).tolist() == [0.0] * 5
    assert not torch.empty(3).is_pinned()
