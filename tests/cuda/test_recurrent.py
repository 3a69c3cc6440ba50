"""Recurrent layers on the GPU: values and gradients are the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)


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
