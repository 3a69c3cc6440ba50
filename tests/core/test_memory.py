"""Backward frees what the forward pass saved, as it goes: its peak is hardly above where it begins."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

import clarion as torch

MB = 1_000_000


def residual(x: torch.Tensor) -> torch.Tensor:
    """Every step is used twice, so that gradients are summed on the way."""
    for _ in range(40):
        x = x + x.sin() * 0.5
    return x


def plain(x: torch.Tensor) -> torch.Tensor:
    for _ in range(40):
        x = x.exp() * 0.1
    return x


@pytest.mark.parametrize("network", [residual, plain], ids=["residual", "plain"])
def test_backward_frees_as_it_goes(network: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.ones(250_000, requires_grad=True)  # 1 MB
    tracemalloc.start()
    try:
        y = network(x)
        begun, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        y.sum().backward()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert begun > 35 * MB  # what the graph holds
    assert peak - begun < 6 * MB
    assert after < 5 * MB  # the result and the gradient
