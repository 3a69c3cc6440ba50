"""Recurrent layers on the GPU: values and gradients are the CPU's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)


@pytest.fixture(autouse=True)
def exactly():
    """float32 without the short way of the tensor cores, which PyTorch takes too unless it is told otherwise."""
    before, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
    yield
    torch.backends.cudnn.allow_tf32 = before


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "RNN relu", "LSTM packed", "GRU packed", "LSTM projected"])
def test_layers(kind: str, bias: bool, bidirectional: bool):
    name, _, how = kind.partition(" ")
    options: dict[str, Any] = {"num_layers": 2, "bias": bias, "bidirectional": bidirectional}
    options |= {"nonlinearity": "relu"} if how == "relu" else {"proj_size": 4} if how == "projected" else {}

    def gradients(where: str) -> list[Any]:
        torch.manual_seed(0)
        net = getattr(torch.nn, name)(12, 8, **options).to(where)
        x = torch.randn(5, 4, 12).to(where).requires_grad_()
        given: Any = x
        if how == "packed":
            given = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 4, 2, 1]))
        out, state = net(given)
        if how == "packed":
            out = torch.nn.utils.rnn.pad_packed_sequence(out)[0]
        states = list(state) if isinstance(state, tuple) else [state]
        total = sum(
            (each * torch.linspace(-1, 1, each.numel()).to(where).view_as(each)).sum() for each in [out, *states]
        )
        total.backward()
        return [out, *states, x.grad, *[p.grad for p in net.parameters()]]

    for a, b in zip(gradients("cpu"), gradients("cuda"), strict=True):
        np.testing.assert_allclose(b.detach().cpu().numpy(), a.detach().numpy(), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float16", 2e-2), ("bfloat16", 8e-2)])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_types(kind: str, dtype: str, tolerance: float):
    torch.manual_seed(0)
    net = getattr(torch.nn, kind)(128, 128, num_layers=2).to(getattr(torch, dtype))
    x = torch.randn(6, 5, 128).to(getattr(torch, dtype))

    def gradients(where: str) -> list[Any]:
        here = copy.deepcopy(net).to(where)
        given = x.detach().to(where).requires_grad_()
        out, _ = here(given)
        out.float().pow(2).mean().backward()
        return [out, given.grad, *[p.grad for p in here.parameters()]]

    for a, b in zip(gradients("cpu"), gradients("cuda"), strict=True):
        a, b = a.detach().double().numpy(), b.detach().cpu().double().numpy()
        assert np.abs(a - b).max() <= tolerance * np.abs(a).max()


def test_states_frozen_weights_and_second_derivatives():
    torch.manual_seed(0)
    net = torch.nn.LSTM(6, 8, bidirectional=True).double()
    net.weight_hh_l0.requires_grad_(False)
    x, state = torch.randn(4, 3, 6).double(), [torch.randn(2, 3, 8).double() for _ in range(2)]

    def found(where: str) -> list[Any]:
        here = copy.deepcopy(net).to(where)
        given, first, second = [t.detach().to(where).requires_grad_() for t in (x, *state)]
        out, (h, c) = here(given, (first, second))
        (g,) = torch.autograd.grad((h * c).sum() + out.sum(), given, create_graph=True)
        g.pow(2).sum().backward()
        return [out, h, c, g, given.grad, first.grad, second.grad, here.bias_hh_l0_reverse.grad]

    for a, b in zip(found("cpu"), found("cuda"), strict=True):
        np.testing.assert_allclose(b.detach().cpu().numpy(), a.detach().numpy(), rtol=1e-8, atol=1e-10)


def test_a_training_step_is_captured():
    torch.manual_seed(0)
    net = torch.nn.GRU(16, 32, num_layers=2).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(7, 4, 16).to("cuda")

    def step(given: Any) -> Any:
        optimizer.zero_grad()
        loss = net(given)[0].pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    plain = [float(step(x)) for _ in range(8)]
    torch.manual_seed(0)
    net.load_state_dict(torch.nn.GRU(16, 32, num_layers=2).state_dict())
    captured = torch.cuda.graph(step)
    np.testing.assert_allclose([float(captured(x)) for _ in range(8)], plain, rtol=1e-4)


def test_autocast_and_captures():
    torch.manual_seed(0)
    net = torch.nn.LSTM(16, 16, batch_first=True).to("cuda")
    x = torch.randn(4, 6, 16).to("cuda")
    plain = net(x)[0].detach()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        low = net(x)[0].detach()
    assert float((low.float() - plain).abs().max()) < 3e-2
    captured = torch.cuda.graph(lambda given: net(given)[0].detach())
    for _ in range(4):
        found = captured(x)
    assert torch.allclose(found, plain, atol=1e-5)
