"""Compiled functions on the GPU: the work of a call is captured and replayed; what cannot be replayed runs as it is written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.compiling.function import of

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

F = torch.nn.functional


def training(wrap: Any, dropout: float = 0.0, amp: bool = False, scheduler: bool = True) -> tuple[list[float], Any]:
    """Losses and weights of a short training, whose step is wrapped; and the step."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(20, 64), torch.nn.GELU(), torch.nn.Dropout(dropout), torch.nn.LayerNorm(64), torch.nn.Linear(64, 4)
    ).to("cuda")  # fmt: skip
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    rates = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
    rng = np.random.default_rng(0)
    batches = [
        (torch.tensor(rng.standard_normal((n, 20)).astype("f")).to("cuda"), torch.tensor(rng.integers(0, 4, n)).to("cuda"))
        for n in [32] * 12 + [16] * 5 + [32] * 3
    ]  # fmt: skip

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=amp):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        return loss

    run = wrap(step)
    losses = []
    for x, y in batches:
        losses.append(run(x, y).detach())
        if scheduler:
            rates.step()
    found = [loss.item() for loss in losses] + [p.detach().abs().sum().item() for p in net.parameters()]
    found += [p.grad.abs().sum().item() for p in net.parameters()]
    found += [float(state["step"]) for state in optimizer.state.values()]
    return found, run


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3}, {"amp": True}])
def test_a_step_is_captured_and_gives_the_same(options: dict[str, Any]):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is said: it is compiled
        found, run = training(torch.compile, **options)
    expected, _ = training(lambda step: step, **options)
    np.testing.assert_allclose(found, expected, rtol=2e-5 if not options.get("amp") else 5e-3)
    assert of(run).replays >= 10
    ready = [v.ready for versions in of(run).versions.values() for v in versions if v.ready is not None]
    assert len(ready) == 2  # one for each size
    assert ready[0].made_of() == "captured on the GPU, in one launch"


def test_check_compares():
    found, run = training(lambda step: torch.compile(step, check=True))
    expected, _ = training(lambda step: step)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    assert of(run).replays >= 10


def refused(function: Any, *args: Any) -> str:
    run = torch.compile(function)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(6):
            run(*args)
    assert of(run).replays == 0
    return "\n".join(str(each.message) for each in said if "runs as it is written" in str(each.message))


def test_what_the_host_takes_part_in_runs_as_it_is_written():
    w = torch.randn(4, device="cuda", requires_grad=True)
    x = torch.randn(4, device="cuda")

    def reads(x: Any) -> Any:
        return (x * 2).sum().item()

    def branches(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else x * 3

    def brings(x: Any) -> Any:
        return x + torch.randn(4).to("cuda")

    def keeps_a_graph(x: Any) -> Any:
        return (w * x).sum()

    def of_the_host(x: Any) -> Any:
        return x * host

    host = torch.tensor(2.0)
    for function, why in (
        (reads, "read on the host"),
        (branches, "read on the host"),
        (brings, "brought to the GPU"),
        (keeps_a_graph, "graph of its own"),
        (of_the_host, "of the host"),
    ):
        said = refused(function, x)
        assert why in said, (function.__name__, said)
        assert "test_compile.py" in said


def test_results_and_gradients_are_not_overwritten():
    w = torch.nn.Parameter(torch.arange(4.0, device="cuda"))

    def step(x: Any) -> Any:
        w.grad = None
        loss = (w * w * x).sum()
        loss.backward()
        return loss, w.grad * 1

    run = torch.compile(step)
    kept = []
    for i in range(12):
        loss, doubled = run(torch.full((4,), float(i), device="cuda"))
        kept.append((i, loss, doubled, w.grad if i % 3 == 0 else None))
    for i, loss, doubled, grad in kept:
        assert loss.item() == 14.0 * i
        assert doubled.tolist() == [0.0, 2.0 * i, 4.0 * i, 6.0 * i]
        assert grad is None or grad.tolist() == doubled.tolist()


def test_what_the_function_reads_is_watched():
    net = torch.nn.Linear(3, 3).to("cuda")
    box = {"factor": 1.0}

    def call(x: Any) -> Any:
        with torch.no_grad():
            return net(x) * box["factor"]

    run = torch.compile(call)
    x = torch.randn(2, 3, device="cuda")
    for _ in range(5):
        assert torch.equal(run(x), call(x))
    box["factor"] = 3.0
    assert torch.equal(run(x), call(x))
    net.weight.data = torch.ones(3, 3, device="cuda")
    for _ in range(5):
        assert torch.equal(run(x), call(x))
    with torch.no_grad():
        net.weight.mul_(2)
    assert torch.equal(run(x), call(x))
    y = run(x)
    assert torch.equal(run(2 * x), call(2 * x))
    assert torch.equal(y, call(x))


def test_gradients_that_pile_up():
    w = torch.nn.Parameter(torch.ones(3, device="cuda"))

    def call(x: Any) -> None:
        (w * x).sum().backward()

    run = torch.compile(call)
    for i in range(9):
        run(torch.full((3,), float(i), device="cuda"))
    assert w.grad.tolist() == [36.0] * 3
    w.grad = None
    for i in range(9):
        run(torch.full((3,), float(i), device="cuda"))
    assert w.grad.tolist() == [36.0] * 3
