"""Pooling and norms of images on the GPU, in both layouts: values and gradients are the CPU's, and they lie as the CPU's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

F = torch.nn.functional
POOLS: dict[str, Callable[[Any], Any]] = {
    "largest": lambda x: F.max_pool2d(x, 2),
    "largest, overlapping": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "largest, apart": lambda x: F.max_pool2d(x, (2, 3), (3, 1), (1, 0), (1, 2)),
    "largest, adaptive": lambda x: F.adaptive_max_pool2d(x, (3, 7)),
    "mean": lambda x: F.avg_pool2d(x, 2),
    "mean, overlapping": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "mean, without padding": lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
    "mean, over a number": lambda x: F.avg_pool2d(x, 3, 2, divisor_override=5),
    "mean, adaptive": lambda x: F.adaptive_avg_pool2d(x, (3, 7)),
    "mean, more windows than elements": lambda x: F.adaptive_avg_pool2d(x, (20, 3)),
    "area": lambda x: F.interpolate(x, size=(5, 4), mode="area"),
    "groups": lambda x: F.group_norm(x, 2, torch.linspace(1, 2, 6).to(x), torch.linspace(-1, 1, 6).to(x)),
    "groups without weights": lambda x: F.group_norm(x, 3),
    "instances": lambda x: F.instance_norm(x),
}


def gradient(call: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    x = x.requires_grad_()
    y = call(x)
    (y * torch.linspace(-1, 1, y.numel()).to(y).view(y.shape)).sum().backward()
    return y.detach(), x.grad


@pytest.mark.parametrize("layout", ["contiguous_format", "channels_last"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("name", POOLS)
def test_values_gradients_and_layouts(name: str, dtype: str, tolerance: float, layout: str):
    torch.manual_seed(0)
    x = torch.randn(2, 6, 11, 13).to(getattr(torch, dtype)).to(memory_format=getattr(torch, layout))
    expected, found = gradient(POOLS[name], x.clone()), gradient(POOLS[name], x.to("cuda"))
    for a, b in zip(expected, found, strict=True):
        assert b.stride() == a.stride()
        a, b = a.double().numpy(), b.cpu().double().numpy()
        assert np.abs(a - b).max() <= tolerance * np.abs(a).max()


@pytest.mark.parametrize("shape", [(3, 9, 8), (2, 3, 9), (2, 2, 5, 6, 7), (2, 3, 1, 1)])
def test_other_shapes(shape: tuple[int, ...]):
    torch.manual_seed(0)
    x = torch.randn(*shape)
    calls = {
        3: [
            lambda x: F.max_pool1d(x, 3, 2, 1),
            lambda x: F.avg_pool1d(x, 3, 2, 1),
            lambda x: F.adaptive_avg_pool1d(x, 4),
        ]
    }
    calls[5] = [lambda x: F.max_pool3d(x, 2), lambda x: F.avg_pool3d(x, 2, 1, 1), lambda x: F.adaptive_max_pool3d(x, 3)]
    calls[4] = [lambda x: F.max_pool2d(x, 1), lambda x: F.adaptive_avg_pool2d(x, 2)]
    for call in [*calls[len(shape)], lambda x: F.group_norm(x, 1) if x.dim() > 3 else x * 1]:
        for a, b in zip(gradient(call, x.clone()), gradient(call, x.to("cuda")), strict=True):
            np.testing.assert_allclose(b.cpu().numpy(), a.numpy(), rtol=1e-5, atol=1e-5)


def test_places_of_what_is_no_number():
    x = torch.randn(1, 1, 6, 6)
    x[0, 0, 1, 1], x[0, 0, 2:4, 2:4], x[0, 0, 4, 4] = float("nan"), -float("inf"), float("inf")
    values, places = F.max_pool2d(x, 2, return_indices=True)
    there = F.max_pool2d(x.to("cuda"), 2, return_indices=True)
    assert torch.equal(there[1].cpu(), places)
    np.testing.assert_array_equal(there[0].cpu().numpy(), values.numpy())


def test_large_groups_and_weights():
    torch.manual_seed(0)
    norm = torch.nn.GroupNorm(2, 8)
    for size in (8, 100, 180):  # in registers, in several turns, more than a program's
        x = torch.randn(2, 8, size, size) * 3 + 1
        found = []
        for where in ("cpu", "cuda"):
            norm.to(where).zero_grad()
            given = x.detach().to(where).requires_grad_()
            norm(given).pow(3).mean().backward()
            found.append([t.grad.cpu().numpy() for t in (given, norm.weight, norm.bias)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * np.abs(a).max())
