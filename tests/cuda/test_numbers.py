"""Operations with numbers of the host, and how exactly float32 is multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

CALLS: dict[str, Callable[[Any], Any]] = {
    "cubes": lambda x: x.pow(3),
    "powers": lambda x: x.abs() ** 2.5,
    "roots": lambda x: (x.abs() + 1) ** -0.5,
    "of a number": lambda x: 2.0**x,
    "products": lambda x: (x * 3 - 1) / 7,
    "remainders": lambda x: torch.remainder(x, 0.75) + torch.fmod(x, 0.5),
    "bounds": lambda x: x.clamp(-0.5, 0.75),
    "steps": lambda x: torch.nn.functional.leaky_relu(x, 0.1) + torch.nn.functional.elu(x, 0.7),
    "distances": lambda x: torch.nn.functional.huber_loss(x, torch.zeros_like(x), delta=0.3) + x.norm(3),
}


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("bfloat16", 2e-2), ("float16", 4e-3)]
)
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name: str, dtype: str, tolerance: float):
    torch.manual_seed(0)
    x = torch.randn(5, 7).to(getattr(torch, dtype))
    found = []
    for where in ("cpu", "cuda"):
        given = x.detach().to(where).requires_grad_()
        y = CALLS[name](given)
        y.sum().backward()
        found.append((y.detach().cpu().double().numpy(), given.grad.cpu().double().numpy(), y.dtype))
    assert found[0][2] is found[1][2]
    for a, b in zip(found[0][:2], found[1][:2], strict=True):
        assert np.abs(a - b).max() <= tolerance * np.abs(a).max()


def test_tensor_cores_multiply_float32_where_they_may():
    torch.manual_seed(0)
    a, b = torch.randn(512, 512).to("cuda"), torch.randn(512, 512).to("cuda")
    exact = (a.double() @ b.double()).float()

    def error() -> float:
        return float((a @ b - exact).abs().max() / exact.abs().max())

    assert error() < 1e-6
    torch.set_float32_matmul_precision("high")
    try:
        assert 1e-5 < error() < 5e-3
    finally:
        torch.set_float32_matmul_precision("highest")
    assert error() < 1e-6


def test_tensor_cores_convolve_float32_unless_they_may_not():
    torch.manual_seed(0)
    x, w = torch.randn(4, 64, 16, 16).to("cuda"), torch.randn(64, 64, 3, 3).to("cuda")
    exact = torch.nn.functional.conv2d(x.double(), w.double()).float()
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        assert float((torch.nn.functional.conv2d(x, w) - exact).abs().max() / exact.abs().max()) < 1e-6
    assert float((torch.nn.functional.conv2d(x, w) - exact).abs().max() / exact.abs().max()) < 5e-3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(48,), (6, 8)])
def test_a_nan_of_either_sign_is_the_largest(dtype, shape):
    torch.manual_seed(0)
    x = torch.randint(-9, 9, (48,)).to(dtype)
    x[5] = x[30] = float("nan")
    x[7] = -x[5]
    x = x.reshape(shape)
    edges = torch.arange(-8.0, 8.0).to(dtype)

    def orders(x: Any, edges: Any) -> list[Any]:
        return [
            *x.sort(-1, stable=True),
            *x.sort(-1, descending=True, stable=True),
            *x.kthvalue(3, -1),
            *x.median(-1),
            x.topk(3, -1).values,
            torch.unique(x[x == x]),
            torch.searchsorted(edges, x),
            torch.bucketize(x, edges, right=True),
        ]

    for here, there in zip(orders(x, edges), orders(x.to("cuda"), edges.to("cuda")), strict=True):
        assert here.dtype is there.dtype
        np.testing.assert_array_equal(here.double().numpy(), there.cpu().double().numpy())


@pytest.mark.parametrize("count", [3, 7, 100, 1000, 4096, 100003])
def test_means_are_rounded_as_those_of_pytorch(count: int):
    """Of equal whole numbers the sums are exact, whatever the order: what is left is how they are divided."""
    other = pytest.importorskip("torch", reason="the comparison needs PyTorch")
    for dtype in ("float32", "float64"):
        values = np.outer(np.arange(1, 30), np.ones(count)).astype(dtype)
        ours = torch.tensor(values).to("cuda").mean(1).cpu().numpy()
        theirs = other.tensor(values).to("cuda").mean(1).cpu().numpy()
        assert (ours == theirs).all()
