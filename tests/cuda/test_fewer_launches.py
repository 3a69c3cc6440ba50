"""Kernels that do the work of several launches: their gradients are the CPU's, and nobody's memory is written over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

F = torch.nn.functional
SHAPES = [
    (10, 10, True, None),
    (16, 24, False, None),
    (64, 64, True, None),
    (33, 20, False, "bool"),
    (20, 20, False, "added"),
]
SHAPES += [(130, 130, True, None), (70, 100, False, "bool")]  # more than one tile


def compare(expected: Any, found: Any, tolerance: float = 2e-5) -> None:
    for a, b in zip(expected, found, strict=True):
        a, b = a.detach().float().numpy(), b.detach().float().cpu().numpy()
        assert np.abs(a - b).max() <= tolerance * np.abs(a).max()


@pytest.mark.parametrize(("queries", "keys", "causal", "kind"), SHAPES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("bfloat16", 3e-2)])
def test_attention(queries: int, keys: int, causal: bool, kind: Any, dtype: str, tolerance: float):
    torch.manual_seed(0)
    q, k, v = [torch.randn(2, 3, n, 32).to(getattr(torch, dtype)) for n in (queries, keys, keys)]
    mask = None
    if kind == "bool":
        mask = (torch.rand(queries, keys) > 0.4) | torch.ones(queries, 1, dtype=torch.bool)
    elif kind == "added":
        mask = torch.randn(2, 1, queries, keys).to(getattr(torch, dtype))
    g = torch.randn(2, 3, queries, 32)

    def gradients(where: str) -> list[Any]:
        there = [x.float() if where == "cpu" else x.to(where) for x in (q, k, v)]
        there = [x.requires_grad_() for x in there]
        m = mask if mask is None or where != "cpu" or kind == "bool" else mask.float()
        out = F.scaled_dot_product_attention(*there, attn_mask=None if m is None else m.to(where), is_causal=causal)
        return [out, *torch.autograd.grad(out, there, g.to(where).to(out.dtype))]

    compare(gradients("cpu"), gradients("cuda"), tolerance)


def test_dropout_inside_attention():
    torch.manual_seed(0)
    q, k, v = [torch.randn(2, 3, 200, 32).to("cuda").requires_grad_() for _ in range(3)]

    def run(p: float, seed: int = 1) -> Any:
        torch.manual_seed(seed)
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return [out.detach(), *torch.autograd.grad(out, (q, k, v), torch.ones_like(out))]

    first, again, other = run(0.3), run(0.3), run(0.3, 2)
    for a, b, c in zip(first, again, other, strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)
    mean = sum(run(0.3, seed)[0] for seed in range(200)) / 200
    assert float((mean - run(0.0)[0]).abs().mean()) < 0.05  # dropout leaves the mean as it is
    captured = torch.cuda.graph(
        lambda: F.scaled_dot_product_attention(q.detach(), k.detach(), v.detach(), dropout_p=0.3)
    )
    drawn = [captured().clone() for _ in range(5)]
    assert not torch.equal(drawn[-1], drawn[-2])  # every replay draws for itself


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("rows", [6, 5000])
def test_a_norm_adds_to_the_gradient_that_goes_past_it(hooked: bool, rows: int):
    def gradients(where: str) -> list[Any]:
        torch.manual_seed(0)
        x, w, b = [torch.randn(*shape).to(where).requires_grad_() for shape in ((rows, 24), (24,), (24,))]
        seen: list[Any] = []
        h = x * 2
        if hooked:
            h.register_hook(seen.append)
        y = h + F.gelu(F.layer_norm(h, (24,), w, b))
        y = y + F.layer_norm(y, (24,)) * 3
        y.backward(torch.randn(rows, 24).to(where))
        return [x.grad, w.grad, b.grad, *seen]

    compare(gradients("cpu"), gradients("cuda"))


def test_weights_that_a_graph_still_needs_stay_as_they_were():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    x = torch.randn(4, 8).to("cuda")

    def loss() -> Any:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return net(x).float().sum()

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    step()
    step()
    expected = torch.autograd.grad(loss(), list(net.parameters()))
    kept = loss()
    for _ in range(3):
        step()
    compare(
        [g.cpu() for g in expected], torch.autograd.grad(kept, list(net.parameters())), 0.0
    )  # the weights as they were cast then


def test_views_of_what_is_not_contiguous():
    whole = torch.arange(48.0).reshape(2, 4, 6).to("cuda")
    part = whole[:, :, :4]
    assert part.view(2, 4, 2, 2).tolist() == whole.cpu()[:, :, :4].view(2, 4, 2, 2).tolist()
    part.view(2, 4, 2, 2).zero_()
    assert whole[:, :, :4].abs().max() == 0
    assert whole[0, 0, 5] == 5
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        part.view(2, 16)
