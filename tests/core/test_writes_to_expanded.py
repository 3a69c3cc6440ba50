"""Writes to tensors whose elements share memory: filling some of them is allowed, with PyTorch's warning."""

from __future__ import annotations

import pytest

import clarion as torch


def test_masked_fill_of_an_expanded_tensor_warns_and_fills():
    row = torch.tensor([1.0, -1.0])
    wide = row.expand(2, 2)
    with pytest.warns(UserWarning, match="Use of masked_fill_ on expanded tensors is deprecated") as told:
        wide.masked_fill_(wide > 0, 0.5)
    assert row.tolist() == [0.5, -1.0]
    assert told[0].filename == __file__


def test_index_fill_of_an_expanded_tensor_warns_and_fills():
    row = torch.tensor([1.0, -1.0])
    with pytest.warns(UserWarning, match="Use of index_fill_ on expanded tensors is deprecated"):
        row.expand(2, 2).index_fill_(1, torch.tensor([0]), 3.0)
    assert row.tolist() == [3.0, -1.0]


def test_a_view_taken_under_no_grad_says_what_its_base_says_now():
    base = torch.ones(2, requires_grad=True) * 2
    with torch.no_grad():
        view = base[:1]
    used = view.expand(2)
    assert view.requires_grad
    assert used.requires_grad
    base.detach_()
    assert not view.requires_grad
