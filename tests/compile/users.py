"""Programs as people write them with `torch.compile`: each takes the library and its `compile`, and gives what can be seen afterwards."""

from __future__ import annotations

import contextlib
import copy
import io
from collections import namedtuple
from collections.abc import Callable
from typing import Any

Program = Callable[[Any, Any], list[Any]]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


def _classifier(t: Any, dropout: float = 0.0) -> Any:
    t.manual_seed(0)
    nn = t.nn
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 3))


@program
def batches_of_many_sizes(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t)
    fast, optimizer, losses = compile(model), t.optim.SGD(model.parameters(), lr=0.1), []
    for size in (4, 4, 4, 4, 3, 4, 3, 3, 3, 7, 4, 1, 1, 1, 1):
        optimizer.zero_grad()
        loss = t.nn.functional.cross_entropy(fast(t.randn(size, 8)), t.randint(0, 3, (size,)))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *model.parameters()]


@program
def training_and_evaluation_in_turns(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t, 0.5)
    model.insert(1, t.nn.BatchNorm1d(16))
    fast, optimizer, seen = compile(model), t.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(3):
        fast.train()
        for _ in range(5):
            optimizer.zero_grad()
            fast(t.randn(6, 8)).square().mean().backward()
            optimizer.step()
        fast.eval()
        with t.no_grad():
            seen += [fast(t.randn(6, 8)) for _ in range(3)]
    return [*seen, *model.state_dict().values()]


@program
def containers_and_keywords(t: Any, compile: Any) -> list[Any]:
    pair = namedtuple("pair", "first second")

    @compile
    def heads(x: Any, *, scale: float = 1.0, names: Any = ("a", "b")) -> Any:
        hidden = x.tanh() * scale
        return {name: hidden + i for i, name in enumerate(names)}, pair(hidden.sum(), [None, "text", 3])

    seen: list[Any] = []
    for i in range(8):
        x = t.randn(3, requires_grad=True)
        named, both = heads(x, scale=1.0 if i < 4 else 2.0, names=("a", "b") if i < 6 else ("only",))
        (both.first + sum(value.sum() for value in named.values())).backward()
        seen += [list(named), *[value.detach() for value in named.values()], both.second, x.grad]
    return seen


@program
def statistics_in_buffers(t: Any, compile: Any) -> list[Any]:
    class Centered(t.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", t.zeros(4))
            self.register_buffer("count", t.tensor(0))
            self.weight = t.nn.Parameter(t.ones(4))

        def forward(self, x: Any) -> Any:
            if self.training:
                with t.no_grad():
                    self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
                    self.count += 1
            return (x - self.mean) * self.weight

    model = Centered()
    fast, seen = compile(model), []
    for i in range(9):
        model.train(i % 4 != 3)
        y = fast(t.randn(5, 4))
        y.sum().backward()
        seen += [y.detach(), model.mean.clone(), model.count.clone()]
    return [*seen, model.weight.grad]


@program
def parts_of_a_model(t: Any, compile: Any) -> list[Any]:
    nn = t.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = compile(nn.Linear(4, 8))
            self.blocks = nn.ModuleList([compile(nn.Linear(8, 8)) for _ in range(2)])
            self.last = nn.Linear(8, 1)

        def forward(self, x: Any) -> Any:
            hidden = self.first(x).relu()
            for block in self.blocks:
                hidden = hidden + block(hidden).tanh()
            return self.last(hidden)

    t.manual_seed(3)
    model = Net()
    optimizer, losses = t.optim.SGD(model.parameters(), lr=0.05), []
    for _ in range(8):
        optimizer.zero_grad()
        loss = model(t.randn(6, 4)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *model.parameters()]


@program
def values_that_are_printed_and_decide(t: Any, compile: Any) -> list[Any]:
    @compile
    def f(x: Any) -> Any:
        y = x * 2
        print("mean", round(y.mean().item(), 3))
        y = y + 1 if y.sum().item() > 0 else y - 1
        return y.exp()

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        seen = [f(t.randn(3)) for _ in range(8)]
    return [*seen, said.getvalue()]


@program
def a_loss_with_options(t: Any, compile: Any) -> list[Any]:
    @compile
    def criterion(scores: Any, y: Any, smoothing: float, weight: Any) -> Any:
        loss = t.nn.functional.cross_entropy(scores, y, weight=weight, label_smoothing=smoothing)
        return loss + 0.01 * scores.logsumexp(1).square().mean()

    model = _classifier(t)
    optimizer, weight, losses = t.optim.RMSprop(model.parameters()), t.tensor([1.0, 2.0, 0.5]), []
    for i in range(10):
        optimizer.zero_grad()
        y = t.randint(0, 3, (5,))
        loss = criterion(model(t.randn(5, 8)), y, 0.1 if i < 6 else 0.0, weight if i % 2 else None)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


@program
def an_update_and_its_schedule(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t)
    optimizer = t.optim.Adam(model.parameters(), lr=0.01)
    schedule, losses = t.optim.lr_scheduler.StepLR(optimizer, 3, 0.5), []

    @compile
    def update() -> None:
        optimizer.step()

    for _ in range(10):
        optimizer.zero_grad()
        loss = model(t.randn(4, 8)).square().mean()
        loss.backward()
        update()
        schedule.step()
        losses.append(loss.detach())
    return [*losses, *model.parameters()]


@program
def functions_inside_of_functions(t: Any, compile: Any) -> list[Any]:
    @compile
    def inner(x: Any, k: int) -> Any:
        return x.sin() * k

    @compile
    def outer(x: Any, k: int) -> Any:
        return inner(x, k) + inner(x * 2, k + 1)

    seen: list[Any] = []
    for i in range(8):
        x = t.randn(3, requires_grad=True)
        y = outer(x, i % 2)
        y.sum().backward()
        seen += [y.detach(), x.grad, inner(t.ones(3), 2)]
    return seen


@program
def values_of_python_that_change(t: Any, compile: Any) -> list[Any]:
    state, steps, shift = {"temperature": 1.0, "on": True}, [0], 1

    @compile
    def f(x: Any) -> Any:
        y = x / state["temperature"]
        return (y.softmax(0) if state["on"] else y) * steps[0] + shift

    seen = []
    for i in range(14):
        state["temperature"] = 2.0 if 5 <= i < 12 else 1.0
        state["on"] = not 7 <= i < 12
        steps[0] = 3 if 9 <= i < 12 else 0
        shift = 10 if i >= 11 else 1
        seen.append(f(t.randn(3)))
    return seen


@program
def gradients_gathered_over_batches(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t, 0.2)
    optimizer = t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)

    @compile
    def part(x: Any, y: Any, scale: float) -> Any:
        loss = t.nn.functional.cross_entropy(model(x), y) * scale
        loss.backward()
        return loss.detach()

    seen: list[Any] = []
    for i in range(12):
        seen.append(part(t.randn(4, 8), t.randint(0, 3, (4,)), 0.5))
        if i % 2:
            seen.append(t.nn.utils.clip_grad_norm_(model.parameters(), 0.5))
            optimizer.step()
            optimizer.zero_grad(set_to_none=i % 4 == 1)
    return [*seen, *model.parameters()]


@program
def a_cache_that_is_written(t: Any, compile: Any) -> list[Any]:
    keys = t.zeros(2, 6, 4)

    @compile
    def step(x: Any, place: Any, window: Any) -> Any:
        keys.index_copy_(1, place, x[:, None])
        window[:, 1:] = window[:, :-1].clone()
        window[:, 0] = x.sum(1)
        return (keys * (t.arange(6)[None, :, None] <= place)).sum((1, 2))

    window, seen = t.zeros(2, 3), []
    for i in range(6):
        seen += [step(t.randn(2, 4), t.tensor([i]), window), window.clone()]
    return [*seen, keys]


@program
def a_little_gpt(t: Any, compile: Any) -> list[Any]:
    nn, F = t.nn, t.nn.functional

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places, self.drop = nn.Embedding(20, 16), nn.Embedding(8, 16), nn.Dropout(0.1)
            self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
            self.head = nn.Linear(16, 20, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, tokens: Any, targets: Any = None) -> Any:
            batch, length = tokens.shape
            x = self.tokens(tokens) + self.places(t.arange(length))
            parts = [z.view(batch, length, 2, 8).transpose(1, 2) for z in self.qkv(self.norm(x)).split(16, dim=2)]
            y = F.scaled_dot_product_attention(*parts, is_causal=True)
            scores = self.head(x + self.drop(self.out(y.transpose(1, 2).reshape(batch, length, 16))))
            if targets is None:
                return scores, None
            return scores, F.cross_entropy(scores.view(-1, 20), targets.view(-1), ignore_index=-1)

    t.manual_seed(5)
    model = Net()
    fast, optimizer, losses = compile(model), t.optim.SGD(model.parameters(), lr=0.1), []
    for i in range(9):
        tokens = t.randint(0, 20, (3, 8))
        targets = tokens.roll(-1, 1)
        targets[:, 8 - i % 3 :] = -1  # some batches are padded
        _, loss = fast(tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *model.parameters()]


@program
def a_state_that_is_handed_on(t: Any, compile: Any) -> list[Any]:
    t.manual_seed(7)
    layer, head = t.nn.LSTM(4, 6, batch_first=True), t.nn.Linear(6, 2)

    @compile
    def f(x: Any, state: Any) -> Any:
        y, (h, c) = layer(x, state)
        return head(y), (h.detach(), c.detach())

    state, seen = None, []
    for _ in range(7):
        y, state = f(t.randn(2, 3, 4), state)
        y.square().sum().backward()
        seen += [y.detach(), *state]
    return [*seen, *[p.grad for p in layer.parameters()]]


@program
def weights_frozen_loaded_and_replaced(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t)
    fast, kept, seen = compile(model), copy.deepcopy(model.state_dict()), []
    for i in range(16):
        if i == 4:
            model[0].requires_grad_(False)
        if i == 7:
            model[0].weight.requires_grad_(True)
        if i == 9:
            model.load_state_dict({name: value * 2 for name, value in kept.items()})
        if i == 11:
            model[3].weight = t.nn.Parameter(t.ones(3, 16))
        if i == 13:
            model[1] = t.nn.Tanh()
        model.zero_grad()
        y = fast(t.randn(3, 8))
        y.sum().backward()
        seen += [y.detach(), *[p.grad for p in model.parameters()]]
    return seen


@program
def mixed_precision_around_a_model(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t)
    fast, seen = compile(model), []
    for i in range(9):
        with t.autocast("cpu", dtype=t.bfloat16, enabled=i % 3 != 2):
            y = fast(t.randn(4, 8))
        y.float().sum().backward()
        seen += [str(y.dtype).split(".")[-1], y.detach().float()]
    return [*seen, *[p.grad for p in model.parameters()]]


@program
def with_and_without_gradients(t: Any, compile: Any) -> list[Any]:
    model = _classifier(t)
    fast, seen = compile(model), []
    for i in range(12):
        x = t.randn(2, 8)
        with (t.inference_mode, t.no_grad, t.enable_grad)[i % 3]():
            y = fast(x)
        if i % 3 == 2:
            y.sum().backward()
        seen += [y.detach().clone(), y.requires_grad, y.is_inference()]
    return [*seen, *[p.grad for p in model.parameters()]]
