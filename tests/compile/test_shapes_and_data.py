"""Functions and models on data of all kinds: layouts, aliases, containers, masks, random streams, and what is rebound outside."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import clarion as torch
from clarion import nn
from clarion.utils.checkpoint import checkpoint

from .worlds import batch, compare, network, worlds

F = torch.nn.functional
WORLDS, world = worlds()
SCALE = torch.ones(3)
TABLE = {"shift": torch.zeros(3), "power": 2}


def _fields(count=8, *, needs=False):
    torch.manual_seed(5)
    return [torch.randn(4, 3, requires_grad=needs) for _ in range(count)]


@world
def recurrent_layers_and_their_states():
    torch.manual_seed(0)
    model, head = nn.LSTM(3, 5, num_layers=2, batch_first=True, dropout=0.2), nn.Linear(5, 2)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=0.02)

    def step(x, y, state):
        optimizer.zero_grad()
        out, (h, c) = model(x, state)
        loss = F.mse_loss(head(out[:, -1]), y)
        loss.backward()
        optimizer.step()
        return loss, (h.detach(), c.detach())

    def script(call, note):
        state = None
        for i in range(12):
            made = call(torch.arange(24.0).reshape(2, 4, 3) / (10 + i), torch.ones(2, 2), state)
            state = made[1] if i % 3 else None
            note(list(model.parameters()))

    return step, script


def _classes(ignored):
    """Batches without a target that is ignored come first, then some with, one with nothing else, and one without again."""
    model = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        scores = model(x)
        loss = F.cross_entropy(scores, y, ignore_index=ignored) + F.nll_loss(
            scores.log_softmax(1), y, ignore_index=ignored
        )
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for i, x in enumerate(_fields(14)):
            y = torch.tensor([0, 3, 2, i % 4])
            y[: (0, 1, 3, 4)[(i - 5) % 4 if 5 <= i < 12 else 0]] = ignored
            call(x, y)
            note([model.weight.detach().nan_to_num(), model.weight.grad])

    return step, script


@world
def targets_that_are_ignored_come_later():
    return _classes(-100)


@world
def the_last_class_is_what_is_ignored():
    return _classes(-1)


@world
def attention_with_masks():
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def step(x, padding, causal):
        optimizer.zero_grad()
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1) if causal else None
        out, weights = layer(x, x, x, key_padding_mask=padding, attn_mask=mask)
        loss = out.square().mean()
        loss.backward()
        optimizer.step()
        return loss, weights.detach()

    def script(call, note):
        for i in range(14):
            padding = torch.zeros(2, 5, dtype=torch.bool)
            padding[1, 3 + i % 2 :] = True
            call(torch.arange(80.0).reshape(2, 5, 8) / 40 - i / 10, padding if i < 9 else None, i % 4 == 0)
            note(list(layer.parameters()))

    return step, script


@world
def scaled_products_with_masks_of_numbers():
    def function(q, k, bias):
        out = F.scaled_dot_product_attention(q, k, k, attn_mask=bias)
        (out * out).sum().backward()
        return out.detach()

    def script(call, note):
        torch.manual_seed(2)
        for i in range(8):
            q, k = torch.randn(2, 2, 4, 3, requires_grad=True), torch.randn(2, 2, 5, 3, requires_grad=True)
            bias = torch.randn(4, 5) if i % 2 else torch.zeros(4, 5).masked_fill(torch.rand(4, 5) > 0.7, -torch.inf)
            bias[:, 0] = 0
            call(q, k, bias)
            note(q, k)

    return function, script


@world
def a_transformer_layer():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True, norm_first=True)

    def script(call, note):
        for i in range(12):
            layer.train(i % 6 < 4)
            x = (torch.arange(80.0).reshape(2, 5, 8) / 40 - i / 10).requires_grad_()
            call(x).square().sum().backward()
            note(x, list(layer.parameters()))

    return lambda x: layer(x), script


@world
def parts_that_are_computed_again():
    model = network()

    def function(x):
        return checkpoint(model, x, use_reentrant=False)

    def script(call, note):
        for i in range(8):
            x = batch(1 + i)[0].requires_grad_()
            call(x).sum().backward()
            note(x, list(model.parameters()))

    return function, script


@world
def arguments_that_are_written():
    def function(x, total, row):
        x[:, 0].mul_(2)
        x += row
        total.add_(x.sum(0))
        return x.t() @ x

    def script(call, note):
        total = torch.zeros(3)
        for i, x in enumerate(_fields(12)):
            given = x if i % 3 else x.t().contiguous().t()
            call(given, total, total if i == 9 else torch.ones(3))
            note(given, total)

    return function, script


@world
def layouts_of_all_kinds():
    def function(x):
        y = x.transpose(0, 1).reshape(-1) + x.flatten()
        return y, x.mean(0), x[1:, ::2].contiguous(), x.stride()[0] * x.sum()

    def script(call, note):
        base = torch.arange(96.0).reshape(8, 12) / 50
        for form in (
            lambda b: b[:4, :3],
            lambda b: b[::2, ::4],
            lambda b: b.t()[:4, :3],
            lambda b: b[:1, :3].expand(4, 3),
        ):
            for i in range(5):
                call(form(base + i))

    return function, script


@world
def views_as_results():
    def function(x):
        y = x * 2
        return (
            y[::2],
            y.sum(0)[None],
            (x + 1).t(),
            x.exp()[:, None, 1:],
            x.mean().expand(2, 2),
            x.log1p().t().unsqueeze(1),
        )

    def script(call, note):
        for i in range(6):
            call(torch.arange(12.0).reshape(4, 3) + i)
            call((torch.arange(12.0).reshape(4, 3) / (i + 1)).requires_grad_())

    return function, script


@world
def dictionaries_of_tensors():
    class Pair(NamedTuple):
        first: torch.Tensor
        second: torch.Tensor

    def function(given):
        x = given["x"] * given.get("scale", 1.0)
        return {"sum": x.sum(), "parts": [x[:2], x[2:] * 2][1:], "pair": Pair(x + 1, x * x), "name": given["name"]}

    def script(call, note):
        for i, x in enumerate(_fields(16)):
            given = {"x": x, "name": "a" if i < 10 else "b"}
            if i % 4 == 0:
                given["scale"] = 0.5
            call(given)

    return function, script


@world
def lists_of_tensors():
    def function(tensors, weights):
        total = sum(w * t for w, t in zip(weights, tensors, strict=True))
        return torch.stack(tensors).mean(0) - total, torch.cat([t.detach() for t in reversed(tensors)])

    def script(call, note):
        for i in range(15):
            fields = _fields(2 + i % 2, needs=True)
            first, _ = call(fields, [0.5, 2.0, 1.0][: len(fields)])
            first.square().sum().backward()
            note(fields)

    return function, script


@world
def tensors_that_are_rebound():
    factor = torch.full((3,), 2.0)

    def function(x):
        return x * factor * SCALE + TABLE["shift"] ** TABLE["power"]

    def script(call, note):
        global SCALE
        nonlocal factor
        before = SCALE
        try:
            for i, x in enumerate(_fields(24)):
                if i == 5:
                    SCALE = torch.full((3,), 3.0)
                if i == 8:
                    SCALE.mul_(2)
                if i == 11:
                    factor = factor.double()
                if i == 15:
                    TABLE["shift"] = torch.ones(3)
                if i == 19:
                    TABLE["shift"].add_(1)
                call(x)
        finally:
            SCALE, TABLE["shift"] = before, torch.zeros(3)

    return function, script


@world
def shapes_that_alternate():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        x, y = batch()
        for i in range(24):
            n = (5, 3, 1, 4)[i % 4 if i > 8 else i % 2]
            call(x[:n], y[:n])
            note(list(model.parameters()))

    return step, script


@world
def random_numbers_of_many_kinds():
    own = torch.Generator().manual_seed(1)

    def function(x):
        noise = torch.randn(4, 3, generator=own)
        kept = torch.rand_like(x) > 0.3
        mixed = torch.where(kept, x + noise, torch.zeros_like(x).uniform_(-1, 1))
        return (
            F.dropout(mixed, 0.2),
            torch.randperm(5),
            torch.multinomial(torch.ones(4), 2),
            x.clone().normal_(generator=own),
        )

    def script(call, note):
        for i, x in enumerate(_fields(10)):
            call(x)
            if i == 6:
                state = torch.get_rng_state()
                call(x)
                torch.set_rng_state(state)
                own.manual_seed(3)

    return function, script


@world
def numbers_of_pythons_that_change():
    settings = type("Settings", (), {"rate": 0.1, "layers": (1, 2), "flags": {"bias": True}, "mode": "sum"})()

    def function(x):
        y = x * settings.rate
        for k in settings.layers:
            y = y.tanh() * k
        if settings.flags["bias"]:
            y = y + 1
        return getattr(torch, settings.mode)(y)

    def script(call, note):
        for i, x in enumerate(_fields(24)):
            if i == 5:
                settings.rate = 0.7
            if i == 10:
                settings.layers = (1, 2, 3)
            if i == 15:
                settings.flags["bias"] = False
            if i == 20:
                settings.mode = "mean"
            call(x)

    return function, script


@world
def gradients_that_are_asked_for():
    weight = torch.linspace(0.1, 1, 3).requires_grad_()

    def function(x):
        y = (x * weight).sin().sum()
        (g,) = torch.autograd.grad(y, weight)
        return y.detach(), g * 2

    def script(call, note):
        for x in _fields(8):
            call(x)
            note(weight)

    return function, script


@world
def gradients_of_gradients():
    weight = torch.linspace(0.1, 1, 3).requires_grad_()

    def function(x):
        y = (x * weight).sin().sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        penalty = (g.norm(2, 1) - 1).square().mean()
        penalty.backward()
        return penalty.detach()

    def script(call, note):
        for x in _fields(8, needs=True):
            call(x)
            note(weight, x)
            weight.grad = None

    return function, script


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x.clamp(min=0) * scale

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, g * ctx.scale, g * 0.01), None


@world
def functions_with_gradients_of_their_own():
    def function(x, scale):
        return Double.apply(x, scale) + Double.apply(-x, 0.5)

    def script(call, note):
        for i, x in enumerate(_fields(14, needs=True)):
            call(x, 2.0 if i < 8 else 3.0).sum().backward()
            note(x)

    return function, script


@world
def blocks_without_gradients():
    model = network()

    def function(x):
        with torch.no_grad():
            center = model(x).mean(0)
        with torch.enable_grad():
            y = model(x) - center
        with torch.set_grad_enabled(False):
            z = y * 2
        return y, z, center

    def script(call, note):
        for i in range(8):
            y, z, center = call(batch(1 + i)[0])
            note(y.requires_grad, z.requires_grad, center.requires_grad)
            y.square().sum().backward()
            note(list(model.parameters()))

    return function, script


@world
def numbers_beside_tensors():
    def function(x, k, name, flag=None, *rest, power=2):
        y = x**power + k
        return y if flag is None else (y, name, [flag, *rest])

    def script(call, note):
        for i, x in enumerate(_fields(20)):
            call(x, i // 8, "a", *([None] if i % 2 else [True, 3]), power=2 if i < 12 else 3)

    return function, script


@world
def whole_numbers_and_masks():
    def function(x, labels):
        hot = F.one_hot(labels, 3).to(x.dtype)
        right = x.argmax(1) == labels
        top = x.topk(2, 1)
        return (x * hot).sum(), right.float().mean(), right.sum(), top.values, top.indices, labels.bincount(minlength=3)

    def script(call, note):
        for i, x in enumerate(_fields(8)):
            call(x, (torch.arange(4) * (i + 1)) % 3)

    return function, script


@world
def complex_numbers_and_half_precision():
    def function(x):
        wave = torch.fft.rfft(x, dim=1)
        return wave.abs().sum(), (wave * 1j).imag, x.half() * 2, x.bfloat16().sum().float(), x.double().std(1)

    def script(call, note):
        for x in _fields(8):
            call(x)

    return function, script


@pytest.mark.parametrize("name", WORLDS)
def test_a_compiled_function_is_what_it_is_as_written(name):
    compare(WORLDS[name])
