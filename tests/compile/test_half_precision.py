"""Mixed precision in compiled steps: autocast inside of them, and around them."""

from __future__ import annotations

import pytest

import clarion as torch

from .worlds import batch, compare, network, worlds

F = torch.nn.functional
WORLDS, world = worlds()


@world
def mixed_precision_inside():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for _ in range(8):
            call(*batch())
            note(list(model.parameters()))

    return step, script


@world
def mixed_precision_around():
    model = network()

    def step(x):
        return model(x).float()

    def script(call, note):
        for i in range(12):
            x, y = batch(1 + i / 5)
            model.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=i % 4 != 3):
                out = call(x)
                loss = F.cross_entropy(out, y)
            loss.backward()
            note(list(model.parameters()))

    return step, script


@world
def parameters_and_momentum_in_half_precision():
    model = network().to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        for _ in range(14):
            x, y = batch()
            call(x.to(torch.bfloat16), y)
            note([each.detach().float() for each in model.parameters()])

    return step, script


@pytest.mark.parametrize("name", WORLDS)
def test_a_compiled_step_is_what_it_is_as_written_and_is_replayed(name):
    assert compare(WORLDS[name]).replays > 4
