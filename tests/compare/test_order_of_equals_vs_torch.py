"""Equal elements come out of `sort`, `argsort` and `topk` as out of PyTorch's; of routers with equal scores the same experts are chosen."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
TYPES = ["float32", "float64", "bfloat16", "int64", "int32", "uint8"]


def pair(shape, most, kind, missing=False):
    """The same few numbers for both libraries."""
    x = np.random.default_rng(sum(shape) + most).integers(0, most, shape)
    if missing:
        x = np.where(x == 0, np.nan, x)
    return torch.tensor(x).to(getattr(torch, kind)), clarion.tensor(x).to(getattr(clarion, kind))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(16,), (17,), (3, 100), (60, 4), (1500,)], ids=str)
@pytest.mark.parametrize("most", [1, 3, 40])
def test_sorted(most, shape, kind):
    theirs, ours = pair(shape, most, kind)
    for options in ({}, {"descending": True}, {"dim": 0}, {"stable": False}, {"stable": True, "descending": True}):
        expected, found = torch.sort(theirs, **options), clarion.sort(ours, **options)
        assert found.indices.tolist() == expected.indices.tolist(), options
        assert found.values.tolist() == expected.values.tolist()
        assert clarion.argsort(ours, **options).tolist() == torch.argsort(theirs, **options).tolist(), options


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("shape", "k"), [((8,), 2), ((24, 4), 2), ((5, 64), 1), ((3, 100), 60), ((2, 700), 10)], ids=str
)
@pytest.mark.parametrize("most", [1, 3, 40])
def test_the_largest(most, shape, k, kind):
    theirs, ours = pair(shape, most, kind)
    for options in ({}, {"largest": False}, {"sorted": False}, {"sorted": False, "largest": False}):
        expected, found = torch.topk(theirs, k, **options), clarion.topk(ours, k, **options)
        assert found.indices.tolist() == expected.indices.tolist(), options
        assert found.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(2,), (3,), (5, 5, 5), (4, 100), (700,)], ids=str)
@pytest.mark.parametrize("most", [1, 3, 40])
def test_the_kth(most, shape, kind):
    theirs, ours = pair(shape, most, kind)
    for k, dim, keepdim in ((1, -1, False), (2, -1, True), (shape[0] // 2 + 1, 0, False), (shape[0], 0, True)):
        expected, found = torch.kthvalue(theirs, k, dim, keepdim), clarion.kthvalue(ours, k, dim, keepdim)
        assert found.indices.tolist() == expected.indices.tolist(), (k, dim)
        assert found.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("n", [10, 300])
def test_numbers_that_are_missing_are_equal(n):
    theirs, ours = pair((n,), 3, "float32", missing=True)
    assert clarion.sort(ours).indices.tolist() == torch.sort(theirs).indices.tolist()
    assert clarion.topk(ours, n // 2).indices.tolist() == torch.topk(theirs, n // 2).indices.tolist()


def test_many_whole_numbers_keep_their_order():
    theirs, ours = pair((40_000,), 50, "int64")
    assert clarion.argsort(ours).tolist() == torch.argsort(theirs).tolist()
    assert clarion.argsort(ours, descending=True).tolist() == torch.argsort(theirs, descending=True).tolist()


@pytest.mark.parametrize("in_order", [True, False])
def test_gradients_go_where_they_were_found(in_order):
    results = []
    for t in (torch, clarion):
        x = t.zeros(6, 8, requires_grad=True)
        values, places = t.topk(x, 3, sorted=in_order)
        (values * t.arange(3.0)).sum().backward()
        results.append((places.tolist(), x.grad.tolist()))
    assert results[0] == results[1]
