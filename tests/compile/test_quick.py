"""The short way through a replay looks at words of memory: whatever is changed must be seen in them, or by what looks beside them."""

from __future__ import annotations

import gc
import threading
import warnings

import pytest

import clarion as torch
from clarion.compiling import words
from clarion.compiling.function import CompileWarning, of
from clarion.compiling.native.build import library
from clarion.kernels.llvm import machine
from clarion.kernels.llvm.cards import addresses

from .worlds import assert_same, compare, look

F = torch.nn.functional
# (Products alone may come from the cache where nothing can be compiled.)
SHORT = bool(machine.installed() and words.known() and library() and addresses())
SETTLED = 12  # calls after which the short way is taken


class Scale:
    """Something that a step reads."""

    factor = 1.0

    def __init__(self):
        self.own = 1.0

    def of(self, x):
        return x * self.factor * self.own


class Table(dict):
    """A dictionary of somebody's."""


class Pieces:
    """All that a step is made of, to be changed."""

    def __init__(self, optimizer=torch.optim.SGD, **options):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()
        self.model.extra = 1.0
        self.optimizer = optimizer(self.model.parameters(), lr=0.1, **options)
        self.scale = type("OwnScale", (Scale,), {"shift": 0.5})()
        self.numbers, self.table, self.special = [1.0, 2.0], {"weight": 1.0}, Table(weight=1.0)
        self.x, self.y = torch.arange(30).double().reshape(5, 6) / 30, torch.linspace(-1, 1, 15).double().reshape(5, 3)
        self.history = []
        self.space = {"torch": torch, "F": F, "factor": 1.0, "counter": 0}

    def step(self):
        model, optimizer, scale, numbers, table, special = (
            self.model, self.optimizer, self.scale, self.numbers, self.table, self.special,
        )  # fmt: skip
        x, y, history, space = self.x, self.y, self.history, self.space
        exec("def scaled(loss, k=1.0):\n    return loss * factor * k\n", space)
        scaled = space["scaled"]

        def step():
            optimizer.zero_grad()
            loss = F.mse_loss(scale.of(model(x)) + scale.shift, y) * numbers[0] * table["weight"] * special["weight"]
            loss = scaled(loss) * model.extra
            history.append(loss.item())
            loss.backward()
            optimizer.step()
            return loss

        return step


def _changed(change, optimizer=torch.optim.SGD, **options):
    """A world in which something is changed once the short way is taken."""

    def made():
        pieces = Pieces(optimizer, **options)
        step = pieces.step()

        def script(call, note):
            for _ in range(SETTLED):
                call()
            pieces.call, pieces.function = call, step
            undo = change(pieces)
            for _ in range(SETTLED):
                call()
                note(list(pieces.model.parameters()), pieces.history)
            if undo is not None:
                undo()
                for _ in range(SETTLED):
                    call()
            note(list(pieces.model.parameters()), pieces.history)

        return step, script

    return made


def _set(thing, name, value):
    before = getattr(thing, name)
    setattr(thing, name, value)
    return lambda: setattr(thing, name, before)


def _item(thing, key, value):
    before = thing[key]
    thing[key] = value
    return lambda: thing.__setitem__(key, before)


def _parameter(p):
    return next(p.model.parameters())


def _cell(p, name, value):
    cell = dict(zip(p.function.__code__.co_freevars, p.function.__closure__, strict=True))[name]
    return _set(cell, "cell_contents", value)


def _replaced_method(p):
    kind = type(p.scale)
    kind.of = lambda self, x: x * 3.0
    return lambda: delattr(kind, "of")


def _other_bases(p):
    class Other(Scale):
        factor = 4.0

    kind = type(p.scale)
    before = kind.__bases__
    kind.__bases__ = (Other,)
    return lambda: setattr(kind, "__bases__", before)


def _own_attribute_hides(p):
    p.scale.factor = 5.0
    return lambda: delattr(p.scale, "factor")


def _another_class(p):
    class Other(Scale):
        shift = 2.0

    return _set(p.scale, "__class__", Other)


def _forward(p):
    p.model[1].forward = lambda x: x * 2.0
    return lambda: delattr(p.model[1], "forward")


def _of_class(p):
    return _set(torch.nn.Tanh, "forward", lambda self, x: x + 1.0)


def _hook(register, *args):
    return lambda p: register(p)(*args).remove


def _frozen(p):
    p.model[0].weight.requires_grad_(False)
    return lambda: p.model[0].weight.requires_grad_(True)


def _other_memory(p):
    p.model[0].weight.data = torch.ones(8, 6).double()


def _other_parameter(p):
    p.model[2].bias = torch.nn.Parameter(torch.ones(3).double())


def _written(p):
    with torch.no_grad():
        p.model[0].weight.mul_(2)
        p.x.add_(1)


def _no_gradients(p):
    for each in p.model.parameters():
        each.grad = None


def _one_gradient_gone(p):
    p.model[0].bias.grad = None


def _new_group(p):
    other = torch.nn.Parameter(torch.ones(3))
    other.grad = torch.ones(3)
    p.optimizer.add_param_group({"params": [other]})


def _loaded(p):
    state = p.optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.5
    p.optimizer.load_state_dict(state)
    p.model.load_state_dict({k: v * 0.5 for k, v in p.model.state_dict().items()})


def _eager(p):
    torch.compiler.set_stance("force_eager")
    return lambda: torch.compiler.set_stance("default")


def _each_time(change):
    """A change again and again."""

    def changes(p):
        for k in range(10):
            change(p, k)
            p.call()
            p.history.append(float(k))

    return changes


CHANGES = {
    "learning_rate": lambda p: _item(p.optimizer.param_groups[0], "lr", 0.01),
    "learning_rate_of_each_step": _each_time(lambda p, k: _item(p.optimizer.param_groups[0], "lr", 0.1 / (k + 1))),
    "learning_rate_as_a_tensor": lambda p: _item(p.optimizer.param_groups[0], "lr", torch.tensor(0.3)),
    "learning_rate_tensor_written": _each_time(
        lambda p, k: (
            p.optimizer.param_groups[0]["lr"].fill_(0.1 / (k + 1))
            if k
            else _item(p.optimizer.param_groups[0], "lr", torch.tensor(0.3))
        )
    ),
    "weight_decay": lambda p: _item(p.optimizer.param_groups[0], "weight_decay", 0.5),
    "maximize": lambda p: _item(p.optimizer.param_groups[0], "maximize", True),
    "another_group": _new_group,
    "loaded": _loaded,
    "a_number_in_a_list": lambda p: _item(p.numbers, 0, 3.0),
    "a_list_that_grows": lambda p: p.numbers.extend(range(100)),
    "a_list_in_other_memory": lambda p: (p.numbers.extend(range(1000)), _item(p.numbers, 0, 2.0))[1],
    "a_list_that_is_shortened": lambda p: p.numbers.__delitem__(1),
    "a_number_in_a_dictionary": lambda p: _item(p.table, "weight", 2.0),
    "a_number_in_a_dictionary_of_somebodys": lambda p: _item(p.special, "weight", 2.0),
    "another_number_in_a_dictionary": lambda p: _item(p.table | {"other": 1}, "other", 2.0),
    "a_number_of_each_step": _each_time(lambda p, k: _item(p.table, "weight", 1.0 + k)),
    "an_unrelated_number_of_each_step": _each_time(lambda p, k: p.table.update(other=k)),
    "a_global": lambda p: _item(p.space, "factor", 2.0),
    "a_global_of_each_step": _each_time(lambda p, k: _item(p.space, "factor", 1.0 + k)),
    "an_unrelated_global_of_each_step": _each_time(lambda p, k: _item(p.space, "counter", k)),
    "a_variable": lambda p: _cell(p, "x", p.x * 2),
    "a_default": lambda p: _set(p.space["scaled"], "__defaults__", (2.0,)),
    "the_code": lambda p: _set(p.space["scaled"], "__code__", (lambda loss, k: loss * 3.0 * k).__code__),
    "an_attribute": lambda p: _set(p.scale, "own", 2.0),
    "an_attribute_of_the_class": lambda p: _set(Scale, "factor", 2.0),
    "an_attribute_of_the_own_class": lambda p: _set(type(p.scale), "shift", 2.0),
    "an_attribute_that_hides": _own_attribute_hides,
    "a_method": _replaced_method,
    "other_bases": _other_bases,
    "another_class": _another_class,
    "another_dictionary": lambda p: _set(p.scale, "__dict__", {"own": 3.0}),
    "another_dictionary_of_a_module": lambda p: _set(p.model, "__dict__", p.model.__dict__ | {"extra": 3.0}),
    "an_attribute_of_a_module": lambda p: _set(p.model, "extra", 2.0),
    "another_module": lambda p: _item(p.model, 1, torch.nn.ReLU()),
    "a_forward": _forward,
    "a_forward_of_the_class": _of_class,
    "a_function": lambda p: _set(F, "mse_loss", lambda a, b: (a - b).abs().mean()),
    "evaluating": lambda p: (p.model.eval(), lambda: p.model.train())[1],
    "frozen": _frozen,
    "other_memory": _other_memory,
    "another_parameter": _other_parameter,
    "written": _written,
    "no_gradients": _no_gradients,
    "one_gradient_gone": _one_gradient_gone,
    "a_hook": _hook(lambda p: _parameter(p).register_hook, lambda g: g * 2),
    "a_hook_after": _hook(lambda p: _parameter(p).register_post_accumulate_grad_hook, lambda leaf: leaf.grad.mul_(2)),
    "a_hook_of_a_module": _hook(lambda p: p.model[1].register_forward_hook, lambda m, a, out: out * 2),
    "a_hook_of_all_modules": _hook(
        lambda p: torch.nn.modules.module.register_module_forward_pre_hook, lambda m, args: (args[0] * 1.1,)
    ),
    "a_hook_of_the_optimizer": _hook(lambda p: p.optimizer.register_step_pre_hook, lambda o, a, k: o.zero_grad()),
    "a_hook_of_all_optimizers": _hook(
        lambda p: torch.optim.optimizer.register_optimizer_step_pre_hook, lambda o, a, k: o.zero_grad()
    ),
    "a_list_that_is_emptied": lambda p: p.history.clear(),
    "stance": _eager,
}


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
@pytest.mark.parametrize("name", CHANGES)
def test_changed(name: str, optimizer) -> None:
    compare(_changed(CHANGES[name], optimizer))


def test_the_short_way_is_taken() -> None:
    pieces = Pieces(torch.optim.SGD, momentum=0.5)
    step = torch.compile(pieces.step())
    for _ in range(SETTLED):
        step()
    assert bool(of(step).quick) is SHORT
    before = of(step).replays
    for k in range(40):  # a dictionary that is written to all the time does not keep it from being taken
        pieces.space["counter"] = k
        step()
    assert of(step).replays == before + 40
    assert bool(of(step).quick) is SHORT
    ways = of(step).quick
    for _ in range(5):
        pieces.space["counter"] = object()
        step()
    assert of(step).quick == ways


def test_a_compiled_function_inside_another_is_recorded_with_it() -> None:
    weight = torch.ones(3)
    inner = torch.compile(lambda x: x * weight)
    for _ in range(SETTLED):
        inner(torch.ones(3))
    outer = torch.compile(lambda x: inner(x) + 1)
    for k in range(SETTLED):
        assert outer(torch.full((3,), float(k))).tolist() == [k + 1.0] * 3
    weight.mul_(2)
    assert outer(torch.ones(3)).tolist() == [3.0] * 3


def test_threads_at_once() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 40), torch.nn.Tanh(), torch.nn.Linear(40, 3))

    def function(x):
        with torch.no_grad():
            return model(x).sum(1)

    step = torch.compile(function)
    wrong, inputs = [], [torch.full((5, 6), float(k)) for k in range(4)]
    expected = [function(x) for x in inputs]

    def run(k):
        for _ in range(300):
            if not torch.allclose(step(inputs[k]), expected[k], rtol=1e-4, atol=1e-5):
                wrong.append(k)

    for _ in range(SETTLED):
        step(inputs[0])
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_nothing_is_lost_or_kept() -> None:
    """Objects that compiled code makes are counted as any others."""
    pieces = Pieces(torch.optim.SGD, momentum=0.9)
    step = torch.compile(pieces.step())
    for _ in range(SETTLED):
        step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        step()
    gc.collect()
    assert len(gc.get_objects()) - before < 50
    grad = pieces.model[0].weight.grad
    assert (grad._version, grad.is_leaf, grad.requires_grad) == (0, True, False)
    grad.note = "of its own"
    step()
    assert not hasattr(pieces.model[0].weight.grad, "note")
    assert look(grad)[-2].shape == (8, 6)


def test_a_loop_that_stands_in_a_module() -> None:
    """Its variables are the module's, and change the dictionary that the step reads from with each turn."""
    text = """
import clarion as torch
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
factor, history = 1.0, []
def step():
    optimizer.zero_grad()
    loss = (weight * factor - 2).square().sum()
    history.append(loss.item())
    loss.backward()
    optimizer.step()
run = torch.compile(step) if compiles else step
for epoch in range(40):
    if epoch == 25:
        factor = 0.5
    run()
"""
    found = []
    for compiles in (False, True):
        space = {"compiles": compiles, "__name__": "loop"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            exec(compile(text, "loop.py", "exec"), space)
        found.append((space["history"], look(space["weight"])))
    assert_same(found[0][0], found[1][0])
    assert_same(found[0][1][-2], found[1][1][-2])
