"""Parts of a model whose two passes are captured: values and gradients are those of the part as it is written."""

from __future__ import annotations

import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

F, nn = torch.nn.functional, torch.nn


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4)).to("cuda")


def losses(net: nn.Module, steps: int = 6) -> list[float]:
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    found = []
    for _ in range(steps):
        x, y = torch.randn(16, 8, device="cuda"), torch.randn(16, 4, device="cuda")
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_a_module_trains_as_it_would():
    expected = losses(model())
    net = model()
    graphed = torch.cuda.make_graphed_callables(net, (torch.randn(16, 8, device="cuda"),))
    assert graphed is net
    assert losses(graphed) == pytest.approx(expected, rel=1e-4)


def test_in_another_mode_a_module_runs_as_it_is_written():
    net = torch.cuda.make_graphed_callables(model(), (torch.randn(16, 8, device="cuda"),)).eval()
    assert net(torch.ones(3, 8, device="cuda")).shape == (3, 4)


def test_several_functions_and_gradients_of_their_arguments():
    def first(a, b):
        return torch.tanh(a @ b), a.sum()

    def second(x):
        return (x * x).sin()

    sample = torch.randn(5, 5, device="cuda", requires_grad=True), torch.randn(5, 5, device="cuda", requires_grad=True)
    made = torch.cuda.make_graphed_callables((first, second), (sample, (sample[0],)))

    def run(one, two):
        torch.manual_seed(3)
        a, b = (torch.randn(5, 5, device="cuda", requires_grad=True) for _ in range(2))
        y, total = one(a, b)
        (two(y).sum() + 3 * total).backward()
        return a.grad, b.grad

    for _ in range(2):
        for g, expected in zip(run(*made), run(first, second), strict=True):
            torch.testing.assert_close(g, expected)


def test_arguments_that_are_no_tensors_are_refused():
    with pytest.raises(RuntimeError, match="must contain only Tensors"):
        torch.cuda.make_graphed_callables(lambda x, n: x * n, (torch.ones(2, device="cuda"), 3))
