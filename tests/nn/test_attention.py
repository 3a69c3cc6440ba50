"""Attention over long sequences: in tiles, whose scores are never kept, with the results of attention all at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import clarion as torch
from clarion.kernels.portable.layers import attention as kernels
from clarion.ops.layers import attention as ops

F = torch.nn.functional


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of a few rows, and nothing kept."""
    monkeypatch.setattr(ops, "KEPT", 0)
    monkeypatch.setattr(kernels, "TILE", 1)
    monkeypatch.setattr(kernels, "LOW", 4)


def attend(q, k, v, mask, causal, dropout=0.0):
    torch.manual_seed(4)
    leaves = [torch.tensor(a, requires_grad=True) for a in (q, k, v)]
    mask = None if mask is None else torch.tensor(mask)
    out = F.scaled_dot_product_attention(*leaves, attn_mask=mask, is_causal=causal, dropout_p=dropout)
    (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)).sum().backward()
    return [out.detach().numpy(), *[leaf.grad.numpy() for leaf in leaves]]


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("case", ["plain", "causal", "fewer keys", "mask", "bias", "nowhere"])
def test_tiles_give_what_all_at_once_gives(case, dropout, request):
    rng = np.random.default_rng(0)
    keys = 9 if case == "fewer keys" else 21
    q, k, v = (rng.standard_normal((2, 3, n, 4)) for n in (21, keys, keys))
    mask = {
        "mask": lambda: rng.random((2, 1, 21, 21)) > 0.4,
        "bias": lambda: rng.standard_normal((21, 21)),
        "nowhere": lambda: np.arange(21)[:, None] % 3 != np.zeros(21),
    }.get(case, lambda: None)()
    whole = attend(q, k, v, mask, case in ("causal", "fewer keys"), dropout)
    request.getfixturevalue("small_tiles")
    for a, b in zip(whole, attend(q, k, v, mask, case in ("causal", "fewer keys"), dropout), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12)


def test_the_result_lies_as_the_queries_do(small_tiles):
    q = torch.randn(2, 7, 3, 4).transpose(1, 2)
    assert F.scaled_dot_product_attention(q, q, q).stride() == q.stride()


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_scores_are_never_held(dropout):
    n = 3000
    q = torch.randn(1, 2, n, 8, requires_grad=True)
    tracemalloc.start()
    F.scaled_dot_product_attention(q, q, q, is_causal=True, dropout_p=dropout).sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * n * n * 4 / 2  # half of one array of all scores


def test_second_derivatives_with_dropout_in_tiles(small_tiles):
    q, k, v = (torch.randn(2, n, 4, dtype=torch.float64, requires_grad=True) for n in (5, 6, 6))

    def attended(*values):
        torch.manual_seed(1)
        return F.scaled_dot_product_attention(*values, dropout_p=0.4)

    assert torch.autograd.gradcheck(attended, (q, k, v))
    assert torch.autograd.gradgradcheck(attended, (q, k, v))
