"""What functions do beside computing: whatever they write, set, draw or leave behind, a compiled one has done the same after each call."""

from __future__ import annotations

import collections
import gc
import random
import warnings

import numpy as np
import pytest

import clarion as torch
from clarion import events
from clarion.compiling.function import CompileWarning, of
from clarion.utils.checkpoint import checkpoint

from .worlds import compare, look

nn = torch.nn
EFFECTS = {}


def effect(function):
    EFFECTS[function.__name__] = function
    return function


class Around:
    """Things that a function can write to."""

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
        self.layer, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.generator = torch.Generator().manual_seed(1)
        self.weight, self.memory, self.cell = nn.Parameter(torch.ones(2)), torch.zeros(2), [torch.zeros(2)]
        self.array, self.shared = np.zeros(2), self.memory.numpy()
        self.count, self.ends, self.kinds = collections.Counter(), collections.deque(maxlen=3), set()
        self.notes, self.sums = {}, collections.defaultdict(int)

    def seen(self):
        modules = (self.model, self.layer, self.norm)
        tensors = [each for module in modules for each in (*module.parameters(), *module.buffers())]
        plain = [
            dict(self.count),
            list(self.ends),
            sorted(self.kinds),
            self.notes,
            dict(self.sums),
            self.array.tolist(),
        ]
        switches = [torch.is_grad_enabled(), torch.get_default_dtype(), self.model.training, len(self.optimizer.state)]
        drawn = [torch.rand(1), torch.rand(1, generator=self.generator), random.random()]
        rate = self.optimizer.param_groups[0]["lr"]
        return [*tensors, self.weight, self.memory, self.cell[0], *plain, *switches, *drawn, rate]


@effect
def seeds(x, around):
    torch.manual_seed(0)
    return torch.rand(2) + x


@effect
def seeds_its_own_generator(x, around):
    around.generator.manual_seed(0)
    return torch.rand(2, generator=around.generator) + x


@effect
def forks_the_generator(x, around):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        drawn = torch.rand(2)
    return x + drawn


@effect
def draws_twice_from_one_state(x, around):
    state = torch.get_rng_state()
    first = torch.rand(2)
    torch.set_rng_state(state)
    return x + first - torch.rand(2)


@effect
def computes_again_with_the_same_random_numbers(x, around):
    y = checkpoint(around.model, x * around.weight, use_reentrant=False)
    y.sum().backward()
    return y.detach()


@effect
def draws_into_a_weight(x, around):
    nn.init.normal_(around.layer.weight)
    nn.init.uniform_(around.layer.bias)
    return x @ around.layer.weight.detach()


@effect
def leaves_grad_mode_off(x, around):
    torch.set_grad_enabled(False)
    return x * around.weight


@effect
def leaves_another_type(x, around):
    torch.set_default_dtype(torch.float64)
    return torch.zeros(2)


@effect
def changes_the_rate(x, around):
    around.optimizer.param_groups[0]["lr"] *= 0.9
    return x * 1


@effect
def counts(x, around):
    around.count["a"] += 1
    around.sums["b"] += 2
    return x * around.count["a"]


@effect
def fills_a_queue(x, around):
    around.ends.append(1.0)
    around.kinds.add(len(around.ends))
    return x * len(around.ends)


@effect
def notes_something(x, around):
    around.notes.update(n=around.notes.get("n", 0) + 1)
    around.notes["gone"] = 1
    del around.notes["gone"]
    return x * around.notes["n"]


@effect
def evaluates_in_between(x, around):
    around.model.eval()
    y = around.model(x).detach()
    around.model.train()
    return y


@effect
def switches_training(x, around):
    around.model.train(not around.model.training)
    return around.model(x).detach()


@effect
def replaces_a_tensor_in_a_list(x, around):
    around.cell[0] = around.cell[0] + x
    return around.cell[0] * 1


@effect
def puts_in_other_memory(x, around):
    around.weight.data = around.weight.data * 2
    return x * around.weight.detach()


@effect
def writes_through_data(x, around):
    around.weight.data.mul_(2)
    around.layer.bias.data.copy_(x * 3)
    return around.weight.detach() * 1


@effect
def writes_through_numpy(x, around):
    around.memory.add_(x)
    around.shared[0] = 7
    around.array[0] += 1
    return around.memory * float(around.array[0])


@effect
def sets_a_gradient(x, around):
    around.weight.grad = x * 2
    return x * 1


@effect
def changes_a_gradient(x, around):
    (around.weight * x).sum().backward()
    around.weight.grad.mul_(2)
    around.weight.grad.data.clamp_(max=9.5)
    return around.weight.grad.clone()


@effect
def drops_a_gradient(x, around):
    (around.weight * x).sum().backward()
    del around.weight.grad
    around.layer(x).sum().backward()
    around.layer.zero_grad()
    return x * 1


@effect
def freezes(x, around):
    around.weight.requires_grad_(not around.weight.requires_grad)
    return (x * around.weight).detach()


@effect
def adds_a_buffer(x, around):
    around.layer.register_buffer(f"b{len(list(around.layer.buffers()))}", x * 1)
    return x * 1


@effect
def loads_weights(x, around):
    around.layer.load_state_dict({"weight": torch.eye(2) * x[0], "bias": x})
    return around.layer(x).detach()


@effect
def forgets_statistics(x, around):
    around.norm.reset_running_stats()
    around.norm(torch.stack([x, x * 2]))
    return around.norm.running_mean * 1, around.norm.num_batches_tracked * 1


@effect
def forgets_the_optimizers_state(x, around):
    around.optimizer.zero_grad()
    around.model[0](x).sum().backward()
    around.optimizer.step()
    around.optimizer.state.clear()
    return x * 1


@effect
def hooks_and_unhooks(x, around):
    handle = around.weight.register_hook(lambda grad: grad * 3)
    (around.weight * x).sum().backward()
    handle.remove()
    found = around.weight.grad.clone()
    around.weight.grad = None
    return found


@effect
def writes_to_what_it_is_given(x, around):
    x.detach().add_(1)
    x[0] = 5
    y = x.view(2)
    y += 1
    return y * 2


@effect
def requires_a_gradient_of_what_it_is_given(x, around):
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad * 1


@effect
def catches_an_error(x, around):
    try:
        return x.reshape(7)
    except RuntimeError:
        return x * 3


@effect
def seeds_pythons_numbers(x, around):
    random.seed(0)
    return x * random.random()


@pytest.mark.parametrize("name", EFFECTS)
def test_what_is_left_behind_is_the_same(name):
    def world():
        random.seed(1)
        around = Around()
        function = EFFECTS[name]

        def script(call, note):
            for i in range(9):
                x = torch.full((2,), 1.0 + i, dtype=torch.float32)
                call(x)
                seen = look(around.seen())
                torch.set_grad_enabled(True)
                torch.set_default_dtype(torch.float32)
                note(x, seen)

        return lambda x: function(x, around), script

    made = compare(world)
    assert made.replays or made.reasons


def test_a_call_whose_recording_is_given_up_lays_its_results_out_as_ever():
    """`one_hot` looks at values: what is computed after it meets arrays of both kinds."""

    def function(x):
        return (x * 1).t().contiguous().t() + torch.nn.functional.one_hot(torch.tensor([0, 3]), 4).sum(0)

    x = torch.arange(12.0).view(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        compiled = torch.compile(function)
        assert {compiled(x).stride() for _ in range(4)} == {function(x).stride()} == {(1, 3)}


def test_who_listens_to_the_collector_is_no_part_of_the_function():
    """A diagnosis may collect while a call is recorded: what other libraries have hung there runs then, and not for the user."""
    told = []

    def listens(phase, facts):
        told.append(phase)

    diagnosis = {"gc": gc}
    exec(compile("def collects(*_): gc.collect(0)", torch.diagnose.__file__, "exec"), diagnosis)
    weight = torch.ones(3, requires_grad=True)

    def step(x):
        weight.grad = None
        loss = (weight * x).sum()
        loss.backward()
        return loss

    fast = torch.compile(step)
    gc.callbacks.append(listens)
    leave = events.subscribe("backward_began", diagnosis["collects"])
    try:
        for _ in range(2):  # the calls that are looked at
            fast(torch.ones(3))
    finally:
        gc.callbacks.remove(listens)
        leave()
    for _ in range(4):
        fast(torch.ones(3))
    assert told
    assert not of(fast).reasons
    assert of(fast).replays
