"""Modules, switches and optimizers that change between two calls: a compiled step does what the step itself would."""

from __future__ import annotations

import copy

import pytest

import clarion as torch

from .worlds import batch, compare, network, training, worlds

F = torch.nn.functional
WORLDS, world = worlds()


def _stages(call, note, seen, *changes, times=5):
    """Some calls, then after each change some more."""
    for change in (lambda: None, *changes):
        change()
        for _ in range(times):
            call(*batch())
            note(*seen())


# Modules and switches --------------------------------------------------------------------------------------------


@world
def parameters_that_change():
    model, _, step = training(lambda p: torch.optim.SGD(p, lr=0.1))

    def replace():
        model[0].weight = torch.nn.Parameter(torch.full((8, 6), 0.1))

    def other_memory():
        model[0].weight.data = torch.zeros(6, 8).t()

    def freeze():
        model[2].weight.requires_grad_(False)

    def script(call, note):
        _stages(call, note, lambda: list(model.parameters()), replace, other_memory, freeze)

    return step, script


@world
def parameters_that_are_frozen_with_their_gradients():
    """`zero_grad` clears what a parameter had before it was frozen: the first time, and each time after it has trained again."""
    model, _, step = training(lambda p: torch.optim.Adam(p, lr=0.05))

    def script(call, note):
        for i in range(24):
            if i % 4 == 0:
                model[0].requires_grad_(i % 8 == 0)
            call(*batch(1 + i / 9))
            note(list(model.parameters()))

    return step, script


@world
def modes_of_training():
    torch.manual_seed(0)
    # In float64: gradients of a sum through batch normalization are small differences of large numbers.
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3)).double()

    def script(call, note):
        seen = lambda: [*model.parameters(), *model.buffers()]
        changes = (
            model.eval,
            model.train,
            lambda: setattr(model[2], "p", 0.9),
            lambda: setattr(model[1], "momentum", 0.5),
        )
        _stages(lambda x, y: call(x.double()).sum().backward(), note, seen, *changes)

    return lambda x: model(x), script


@world
def hooks_that_come_and_go():
    model, called = network(), []

    def script(call, note):
        everywhere = torch.nn.modules.module.register_module_forward_hook
        for register in (
            lambda: model[1].register_forward_hook(lambda module, given, out: out * 0.5),
            lambda: model[0].weight.register_hook(lambda grad: grad * 10),
            lambda: model[0].weight.register_post_accumulate_grad_hook(lambda p: called.append(1)),
            lambda: model.register_full_backward_hook(lambda *_: called.append(2)),
            lambda: everywhere(lambda *_: called.append(3)),
        ):
            handle = None
            for i in range(8):
                handle = register() if i == 4 else handle
                call(batch()[0].requires_grad_()).sum().backward()
                note(list(model.parameters()), len(called))
            handle.remove()

    return lambda x: model(x), script


@world
def hooks_on_arguments():
    def function(x):
        (x * x).sum().backward()

    def script(call, note):
        for i in range(8):
            x = torch.ones(3, requires_grad=True)
            if i > 4:
                x.register_hook(lambda grad: grad * 10)
            call(x)
            note(x)

    return function, script


@world
def switches():
    weight = torch.ones(3, requires_grad=True)

    def script(call, note):
        for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode, torch.enable_grad):
            for _ in range(5):
                with mode():
                    result = call(torch.ones(3))
                    note(result[0].is_inference())
        torch.set_default_dtype(torch.float64)
        try:
            for _ in range(5):
                call(torch.ones(3))
        finally:
            torch.set_default_dtype(torch.float32)

    return lambda x: (x * weight, torch.zeros(2)), script


# Optimizers ------------------------------------------------------------------------------------------------------


@world
def groups_that_change():
    model = network()
    groups = [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.01}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    first, second = optimizer.param_groups

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def script(call, note):
        changes = {
            7: lambda: first.update(momentum=0.5),
            10: lambda: second.update(weight_decay=0.1),
            13: lambda: second.update(nesterov=True),
            16: lambda: optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(2))]}),
            19: lambda: first["params"].pop(0),
            22: lambda: first.update(maximize=True),
        }
        for i in range(25):
            changes.get(i, lambda: None)()
            call(*batch())
            schedule.step()
            note(list(model.parameters()))

    return step, script


@world
def states_that_are_loaded():
    model, optimizer, step = training(lambda p: torch.optim.AdamW(p, lr=0.1))

    def script(call, note):
        kept = []

        def restart():
            for state in optimizer.state.values():
                state["exp_avg"], state["step"] = torch.zeros_like(state["exp_avg"]), torch.tensor(0.0)

        changes = (
            lambda: kept.extend(copy.deepcopy([model.state_dict(), optimizer.state_dict()])),
            lambda: (model.load_state_dict(kept[0]), optimizer.load_state_dict(kept[1])),
            lambda: model.load_state_dict(kept[0], assign=True),
            optimizer.state.clear,
            restart,
        )
        _stages(call, note, lambda: list(model.parameters()), *changes)

    return step, script


@world
def gradients_that_are_kept_sometimes():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(x, y, updates):
        loss = F.cross_entropy(model(x), y) / 3
        loss.backward()
        if updates:
            optimizer.step()
            optimizer.zero_grad()
        return loss

    def script(call, note):
        for i in range(24):
            call(*batch(1 + i / 10), i % 3 == 2)
            note(list(model.parameters()))
            if i == 19:
                model[0].weight.grad = torch.ones(6, 8).t()

    return step, script


@world
def an_average_of_parameters():
    model, optimizer, _ = training(lambda p: torch.optim.Adam(p, lr=0.05))
    average = copy.deepcopy(model)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mine, new in zip(average.parameters(), model.parameters(), strict=True):
                mine.mul_(0.9).add_(new, alpha=0.1)
        return loss.detach()

    def script(call, note):
        _stages(call, note, lambda: [*model.parameters(), *average.parameters()], times=9)

    return step, script


@pytest.mark.parametrize("name", WORLDS)
def test_a_compiled_function_is_what_it_is_as_written(name):
    made = compare(WORLDS[name])
    assert made.replays, made.reasons
