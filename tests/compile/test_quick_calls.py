"""The short way through a replay, and what surrounds a call: switches, arguments, results."""

from __future__ import annotations

import pytest

import clarion as torch

from .test_quick import SETTLED, Pieces
from .worlds import compare, worlds

WORLDS, world = worlds()


# What surrounds the call ---------------------------------------------------------------------------------------


class _Doubling(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 2 if getattr(func, "__name__", "") == "tanh" else result


@world
def switches_around_the_call():
    torch.manual_seed(0)
    model, x = torch.nn.Linear(6, 3), torch.arange(30.0).reshape(5, 6)

    def function():
        return torch.tanh(model(x)).sum().float()

    def script(call, note):
        for _ in range(3):
            for around in (
                torch.enable_grad, torch.no_grad, torch.inference_mode, _Doubling,
                lambda: torch.autocast("cpu", torch.bfloat16), lambda: torch.device("cpu"),
            ):  # fmt: skip
                with around():
                    for _ in range(6):
                        call()

    return function, script


@world
def default_types():
    def function():
        return torch.ones(3) * torch.tensor(2.0)

    def script(call, note):
        for _ in range(3):
            for kind in (torch.float32, torch.float64):
                torch.set_default_dtype(kind)
                for _ in range(6):
                    call()
        torch.set_default_dtype(torch.float32)

    return function, script


# Arguments -------------------------------------------------------------------------------------------------------


@world
def arguments():
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.ones(4, 4))
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def function(x, y):
        optimizer.zero_grad()
        loss = ((x @ weight - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def script(call, note):
        x, y = torch.arange(16.0).reshape(4, 4) / 16, torch.ones(4, 4)
        pairs = [
            (x, y), (x.t(), y), (x, x), (x, x.view(4, 4)), (x.double(), y.double()), (x, torch.tensor(1.0)),
            (weight.detach(), y), (x, weight.data), (weight, y), (x, y.requires_grad_()), (x, 2.0), (x, 2),
        ]  # fmt: skip
        for a, b in (*pairs, *pairs):
            for _ in range(7):
                call(a, b)
                call(x.clone(), torch.ones(4, 4))
                note(weight, a)

    return function, script


@world
def arguments_that_lie_in_what_is_written():
    memory = torch.zeros(12)
    kept = memory[4:8]

    def function(x):
        kept.add_(x)
        kept.mul_(x + 1)
        return kept.sum()

    def script(call, note):
        for _ in range(SETTLED):
            call(torch.full((4,), 0.1))
        for start in (0, 2, 4, 6, 8):
            for _ in range(4):
                call(torch.from_numpy(memory.detach().numpy())[start : start + 4])
                note(memory)

    return function, script


@world
def results_that_are_kept():
    pieces = Pieces(torch.optim.SGD, momentum=0.9)
    kept = []

    def script(call, note):
        for _ in range(2 * SETTLED):
            kept.append(call())
            kept.append([p.grad for p in pieces.model.parameters()])
        note(kept, pieces.history)
        kept[-1][0].add_(1)
        kept[-2].detach().add_(1)
        note(kept[-1][0]._version, kept[-2]._version, kept)

    return pieces.step(), script


@world
def numbers_that_are_not_finite():
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    x, history = torch.ones(3), []

    def function():
        optimizer.zero_grad()
        loss = torch.log(weight * x).sum()
        history.append(loss.item())
        loss.backward()
        optimizer.step()

    def script(call, note):
        for k in range(30):
            if k == SETTLED:
                with torch.no_grad():
                    x.fill_(0)
            if k == SETTLED + 5:
                with torch.no_grad():
                    x.fill_(1), weight.fill_(1)
            call()
            note(weight, [f"{each}" for each in history])

    return function, script


@pytest.mark.parametrize("name", WORLDS)
def test_worlds(name: str) -> None:
    compare(WORLDS[name])
