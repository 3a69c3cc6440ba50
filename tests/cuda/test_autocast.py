"""Layers under autocast, where kernels take gradients in other types than their results have: values, gradients and what hooks see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

nn, F = torch.nn, torch.nn.functional


class Block(nn.Module):
    """A norm, a layer, a residual: under autocast float32 and bfloat16 meet at each of them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.up, self.down = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(3 * width, width, bias=False),
        )

    def forward(self, x: Any) -> Any:
        return x + self.down(F.gelu(self.up(self.norm(x)), approximate="tanh"))


def gradients(model: Any, x: Any, autocast: bool) -> list[Any]:
    x = x.clone().requires_grad_()
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
        out = model(x)
    model.zero_grad()
    (out.float() * torch.linspace(0.5, 1.5, out.numel(), device="cuda").view_as(out)).sum().backward()
    return [out, x.grad, *[p.grad for p in model.parameters()]]


def distance(a: Any, b: Any) -> float:
    a, b = a.detach().cpu().double().numpy(), b.detach().cpu().double().numpy()
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


@pytest.mark.parametrize(
    ("rows", "width"), [((4, 32), 64), ((3, 7), 40), ((1,), 16), ((64, 33), 48), ((2, 2048), 256)], ids=str
)
def test_gradients_under_autocast_are_those_of_float32(rows: tuple[int, ...], width: int):
    torch.manual_seed(0)
    model, x = nn.Sequential(Block(width), Block(width)).cuda(), torch.randn(*rows, width, device="cuda")
    exact = gradients(model, x, False)
    lowered = gradients(model, x, True)
    for a, b in zip(lowered, exact, strict=True):
        assert a.dtype == torch.float32
        assert distance(a, b) < 3e-2


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("rows", "inside", "outside"), [(512, 128, 384), (70, 40, 48), (1, 3, 5), (33, 1000, 17), (4096, 512, 512)]
)
def test_a_linear_layer(kind: Any, rows: int, inside: int, outside: int):
    torch.manual_seed(1)
    given = [torch.randn(rows, inside), torch.randn(outside, inside) / inside**0.5, torch.randn(outside)]
    g = torch.randn(rows, outside)
    here = [t.to("cuda", kind).requires_grad_() for t in given]
    exact = [t.detach().cpu().double().requires_grad_() for t in here]
    out = F.linear(*here)
    out.backward(g.to("cuda", kind))
    true = F.linear(*exact)
    true.backward(g.to(kind).double())
    bound = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[kind]
    for a, b in zip([out, *[t.grad for t in here]], [true, *[t.grad for t in exact]], strict=True):
        assert a.dtype == kind
        assert distance(a, b) < bound


def test_hooks_see_gradients_in_the_type_of_their_tensors():
    model, seen, inner = Block(32).cuda(), [], []

    def watch(module: Any, args: Any, out: Any) -> None:
        inner.append(out)
        out.register_hook(lambda g: seen.append((out.dtype, g.dtype)))

    for layer in (model.norm, model.up, model.down):
        layer.register_forward_hook(watch)
    x = torch.randn(4, 32, device="cuda", requires_grad=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = model(x)
    out.sum().backward()
    assert len(seen) == 3
    assert all(a == b for a, b in seen)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        inner.clear()
        out = model(x)
    found = torch.autograd.grad(out.sum(), inner)
    assert [g.dtype for g in found] == [t.dtype for t in inner]


def test_a_norm_s_lower_copy_is_not_taken_after_a_write():
    norm, linear = nn.LayerNorm(16).cuda(), nn.Linear(16, 4).cuda()
    x = torch.randn(8, 16, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16), torch.no_grad():
        plain = linear(norm(x) * 2)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = norm(x)
        y.mul_(2)
        found = linear(y)
    assert distance(found, plain) < 1e-6


def test_rows_of_a_table_that_are_not_there_are_nan():
    table = nn.Embedding(5, 3).cuda()
    found = table(torch.tensor([1, 7, 4], device="cuda")).detach().cpu()
    assert found.isnan().any(1).tolist() == [False, True, False]
    assert torch.equal(found[0], table.weight.detach().cpu()[1])


def test_integers_are_counted_on_the_device():
    for arguments in ((7,), (3, 20, 4), (5, -9, -3), (0,)):
        for kind in (torch.int64, torch.int32, torch.uint8) if min(arguments) >= 0 else (torch.int64, torch.int16):
            found = torch.arange(*arguments, device="cuda", dtype=kind)
            assert found.dtype == kind
            assert found.tolist() == list(range(*arguments))


IN_FLOAT32 = "acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh tan"


@pytest.mark.parametrize("name", IN_FLOAT32.split())
def test_methods_and_functions_are_cast_alike(name):
    x = torch.tensor([0.25, 0.5], device="cuda", dtype=torch.float16)
    with torch.autocast("cuda", dtype=torch.float16):
        assert getattr(x, name)().dtype is getattr(torch, name)(x).dtype is torch.float32
    assert getattr(x, name)().dtype is torch.float16


def test_operators_are_cast_like_what_they_stand_for():
    x = torch.tensor([[0.25, 0.5]], device="cuda", dtype=torch.float16)
    with torch.autocast("cuda", dtype=torch.float16):
        assert (x**2).dtype is (1 / x).dtype is (2**x).dtype is torch.float32
        assert (-x).dtype is (x + 1).dtype is (x @ x.float().t()).dtype is torch.float16
        assert torch.mv(x.float(), x[0]).dtype is torch.float16
