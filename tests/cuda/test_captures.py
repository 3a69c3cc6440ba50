"""Captured steps: random numbers go on from replay to replay, as they would without a capture; memory is given back."""

from __future__ import annotations

import gc

import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

F = torch.nn.functional


def test_dropout_goes_on_from_replay_to_replay():
    x = torch.ones(3000, device="cuda")

    def step() -> torch.Tensor:
        return F.dropout(x, 0.25) + F.dropout(x, 0.5)

    torch.manual_seed(5)
    plain = [step().cpu() for _ in range(6)]
    torch.manual_seed(5)
    captured = torch.cuda.graph(step)
    found = [captured().cpu() for _ in range(6)]
    assert all(torch.equal(a, b) for a, b in zip(plain, found, strict=True))
    assert not torch.equal(plain[4], plain[5])
    assert torch.equal(step(), _after(x, step, 6))


def _after(x: torch.Tensor, step, steps: int) -> torch.Tensor:
    """What a plain program draws after so many steps."""
    torch.manual_seed(5)
    for _ in range(steps):
        step()
    return step()


def test_a_graph_that_is_captured_by_hand_draws_nothing_until_it_is_replayed():
    x = torch.ones(1000, device="cuda")
    F.dropout(x, 0.5)
    torch.manual_seed(3)
    first, second = F.dropout(x, 0.5), F.dropout(x, 0.5)
    torch.manual_seed(3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = F.dropout(x, 0.5)
    graph.replay()
    assert torch.equal(out, first)
    graph.replay()
    assert torch.equal(out, second)


def test_memory_of_a_graph_goes_with_it():
    x = torch.ones(1 << 20, device="cuda", requires_grad=True)

    def step() -> torch.Tensor:
        x.grad = None
        loss = (x * 2).exp().log().sum()
        loss.backward()
        return loss.detach()

    captured = torch.cuda.graph(step)
    for _ in range(4):
        loss = captured()
    assert loss.item() == pytest.approx(2 * (1 << 20), rel=1e-4)
    held = torch.cuda.memory_reserved()
    x.grad = None
    del captured, loss
    gc.collect()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() <= held - (8 << 20)


def test_scores_become_their_gradient_only_if_nobody_sees_them():
    target = torch.arange(64, device="cuda") % 10
    weight = torch.randn(10, 16, device="cuda", requires_grad=True)
    x = torch.randn(64, 16, device="cuda")

    def gradient(keep: list) -> torch.Tensor:
        weight.grad = None
        scores = F.linear(x, weight)
        if keep is not None:
            keep += [scores, scores.detach().clone()]
        F.cross_entropy(scores.view(-1, 10), target).backward()
        return weight.grad

    kept: list = []
    alone, seen = gradient(None), gradient(kept)
    assert torch.equal(alone, seen)
    assert torch.equal(kept[0], kept[1])
    scores = F.linear(x, weight)
    loss = F.cross_entropy(scores.view(-1, 10), target)
    del scores
    weight.grad = None
    loss.backward(retain_graph=True)
    first = weight.grad.clone()
    loss.backward()
    assert torch.allclose(weight.grad, 2 * first)


def test_weights_cast_together_have_the_gradients_of_weights_cast_one_by_one():
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).cuda()
    x = torch.randn(8, 16, device="cuda")
    found = []
    for _ in range(3):  # the first region casts one by one, the others together
        model.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).float().square().mean()
        loss.backward()
        found.append([p.grad.clone() for p in model.parameters()])
    for grads in found[1:]:
        for a, b in zip(found[0], grads, strict=True):
            assert b.dtype is torch.float32
            assert torch.equal(a, b)


def test_half_precision_convolutions_agree_with_single_ones():
    for shape, weight, options in (
        ((4, 8, 12, 12), (16, 8, 3, 3), {"padding": 1}),
        ((4, 8, 12, 12), (16, 8, 1, 1), {"stride": 2}),
        ((2, 8, 13, 9), (8, 8, 3, 3), {"padding": 2, "dilation": 2}),
    ):
        x = torch.randn(*shape, device="cuda").to(memory_format=torch.channels_last).requires_grad_()
        w = (torch.randn(*weight, device="cuda") / 8).requires_grad_()
        wide = F.conv2d(x, w, **options)
        wide.square().mean().backward()
        expected = [x.grad.clone(), w.grad.clone()]
        x.grad = w.grad = None
        half = F.conv2d(x.bfloat16(), w.bfloat16(), **options)
        half.float().square().mean().backward()
        assert torch.allclose(half.float(), wide, rtol=0.05, atol=0.05)
        for a, b in zip((x.grad, w.grad), expected, strict=True):
            assert torch.allclose(a, b, rtol=0.05, atol=0.05 * b.abs().max().item())
