"""The host does not wait for the GPU: a step returns while the GPU is still busy with what came before."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
cupy = pytest.importorskip("cupy", reason="the GPU is kept busy by a kernel of CuPy's")

_SPIN = 'extern "C" __global__ void spin(long long n) { long long began = clock64(); while (clock64() - began < n); }'
BUSY = 0.2  # seconds, and a bit more


def net() -> tuple[Any, Any]:
    torch.manual_seed(0)
    made = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to("cuda")
    return made, torch.randn(32, 64).to("cuda")


def seconds(step: Callable[[], Any]) -> float:
    """How long the host takes for a step, while the GPU has other work to do first."""
    torch.cuda.synchronize()
    cupy.RawKernel(_SPIN, "spin")((1,), (1,), (np.int64(BUSY * 2.2e9),))
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def test_steps_and_clipping():
    model, x = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    for _ in range(5):
        step()
    assert max(seconds(step) for _ in range(30)) < BUSY / 2  # those that are listened to closely, too


def scaled(optimizer_class: Any, **options: Any) -> tuple[Any, Any, Any, Callable[..., None]]:
    model, x = net()
    optimizer = optimizer_class(model.parameters(), **options)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**10, growth_interval=4)

    def step(factor: float = 1.0) -> None:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).float().pow(2).mean() * factor
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return model, optimizer, scaler, step


def test_grad_scaler():
    _, _, scaler, step = scaled(torch.optim.AdamW, lr=1e-3)
    for _ in range(5):
        step()
    assert max(seconds(step) for _ in range(10)) < BUSY / 2
    assert scaler.get_scale() == 2.0**13  # 15 steps, of which every fourth makes it grow


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *[(name, {}) for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD")],
        ("SGD", {}),
        ("SGD", {"momentum": 0.9}),
        ("SGD", {"weight_decay": 0.1, "maximize": True}),
        ("Adafactor", {}),
    ],
)  # fmt: skip
def test_a_step_with_infinite_gradients_is_none(name: str, options: dict[str, Any], late: bool):
    model, optimizer, scaler, step = scaled(getattr(torch.optim, name), lr=1e-2, **options)
    for _ in range(3 if late else 0):
        step()
    before = [p.detach().clone() for p in model.parameters()]
    counted = [s["step"].item() for s in optimizer.state.values() if "step" in s]
    step(float("inf"))
    for p, was in zip(model.parameters(), before, strict=True):
        assert torch.equal(p, was)
    saved = optimizer.state_dict()["state"]
    assert [s["step"].item() for s in saved.values() if "step" in s] == counted
    assert scaler.get_scale() == 2.0**9
    for s in saved.values():
        assert all(torch.isfinite(v).all() for v in s.values() if isinstance(v, torch.Tensor))
    step()
    assert not all(torch.equal(p, was) for p, was in zip(model.parameters(), before, strict=True))


def test_pytorch_steps_the_same():
    other = pytest.importorskip("torch", reason="the comparison needs PyTorch")
    curves = []
    for t in (other, torch):
        rng = np.random.default_rng(0)
        w, x = t.tensor(rng.standard_normal((8, 8)).astype("f")), t.tensor(rng.standard_normal((16, 8)).astype("f"))
        w, x = w.to("cuda").requires_grad_(), x.to("cuda")
        optimizer = t.optim.Adam([w], lr=0.05)
        scaler = t.amp.GradScaler("cuda", init_scale=4.0, growth_interval=2)
        curve = []
        for i in range(12):
            optimizer.zero_grad()
            loss = (x @ w).pow(2).mean()
            scaler.scale(loss * (float("inf") if i in (3, 7) else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
            curve.append(loss.detach())
        curves.append([float(each) for each in curve] + [scaler.get_scale()])
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-4)
