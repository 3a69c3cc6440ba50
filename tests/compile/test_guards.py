"""Whatever changes between two calls, a compiled function gives and leaves behind what the function itself would."""

from __future__ import annotations

import copy
import os
import threading

import numpy as np
import pytest

import clarion as torch

from .worlds import batch, compare, network, training, worlds

F = torch.nn.functional
WORLDS, world = worlds()


# Arguments -----------------------------------------------------------------------------------------------------


@world
def arguments_that_share_memory():
    def function(x, y):
        x.mul_(2)
        return x + y

    def script(call, note):
        base, x = torch.ones(8), torch.ones(4)
        for a, b in (
            (base[:4], base[2:6]),
            (base[:4], base[4:]),
            (base[:4], base[:4]),
            (x, x.view(4)),
            (x.detach(), x),
        ):
            for _ in range(5):
                call(torch.ones(4), torch.ones(4))
                call(a, b)
                note(base, x)

    return function, script


@world
def one_tensor_given_twice_and_then_two_views():
    """That two arguments are one tensor says another thing than that they lie in the same memory."""

    def function(x, y, z):
        x.add_(1)
        return x * y, y * z

    def script(call, note):
        base, x, y = torch.arange(10.0), torch.ones(4), torch.ones(4)
        first, second = base[:4], base[2:6]
        for given in ((x, x, y), (first, second, y), (first, first, second), (first, second, second), (x, y, x)):
            for _ in range(5):
                call(*given)
                note(base, x)

    return function, script


@world
def arguments_of_a_class_of_their_own():
    class Marked(torch.Tensor):
        pass

    def function(x):
        return x * 2, x

    def script(call, note):
        for kind in (torch.Tensor, Marked, torch.nn.Parameter):
            for _ in range(5):
                doubled, same = call(torch.ones(3).as_subclass(kind))
                note(type(doubled).__name__, type(same).__name__)

    return function, script


@world
def arguments_that_are_known_otherwise():
    weight = torch.ones(4)

    def function(x):
        x.mul_(2)
        return x + weight

    def script(call, note):
        for x in (torch.ones(4), weight, weight.view(4), weight.detach()):
            for _ in range(5):
                call(x)
                note(weight)

    return function, script


@world
def arguments_as_results():
    def function(x):
        return x, x * 2

    def script(call, note):
        for needs in (False, True):
            for i in range(6):
                x = torch.full((3,), float(i), requires_grad=needs)
                same, twice = call(x)
                note(same is x, same, twice)
                if needs:
                    twice.sum().backward()
                    note(x)

    return function, script


@world
def gradients_of_arguments():
    def function(x):
        (x * x).sum().backward()

    def script(call, note):
        x = torch.arange(3.0).requires_grad_()
        for i in range(12):
            call(x if i % 2 else torch.full((3,), float(i), requires_grad=True))
            note(x)
            x = x if i % 3 else x.detach().clone().requires_grad_()

    return function, script


@world
def results_that_are_one_tensor():
    def function(x):
        y = x * 2
        return y, y

    def script(call, note):
        for _ in range(6):
            a, b = call(torch.ones(3))
            a.add_(1)
            note(a is b, b)

    return function, script


@world
def results_that_share_memory():
    def function(x):
        y = x * 2
        return y, y[1:], y.t(), y.detach()

    def script(call, note):
        for _ in range(6):
            y, rows, turned, same = call(torch.ones(3, 4))
            rows.add_(1), turned.mul_(2), same[0].zero_()
            note(y, rows, turned, same)

    return function, script


@world
def results_that_are_written_inside():
    def function(x):
        y = x.clone()
        y[0].zero_()
        y.t()[1] += 1
        y.view(-1)[::2].mul_(3)
        return y, y.unsqueeze(0).expand(2, *y.shape).sum(0)

    def script(call, note):
        for _ in range(7):
            x = torch.arange(12.0).reshape(3, 4).requires_grad_()
            first, second = call(x)
            (first.sum() + second.sum()).backward()
            note(x)

    return function, script


@world
def other_strides_and_types():
    def function(x):
        return x * 2 + 1, x.sum()

    def script(call, note):
        kinds = (torch.float32, torch.float64, torch.int64, torch.float16, torch.bool, torch.complex64)
        forms = (lambda x: x.t(), lambda x: x[:, ::2], lambda x: x[:1].expand(3, 4))
        for make in (*[lambda x, k=k: x.to(k) for k in kinds], *forms):
            for _ in range(4):
                call(make(torch.arange(12.0).reshape(3, 4)))

    return function, script


@world
def numbers_that_look_alike():
    def function(x, k):
        return x * k, torch.full((2,), k)

    def script(call, note):
        for k in (1, 1.0, True, 0.0, -0.0, 2**40):
            for _ in range(4):
                call(torch.ones(2), k)

    return function, script


# Graphs ------------------------------------------------------------------------------------------------------------


@world
def states_that_are_carried_on():
    torch.manual_seed(0)
    cell = torch.nn.GRUCell(3, 4)

    def script(call, note):
        h = torch.zeros(2, 4)
        for i in range(12):
            h = call(torch.full((2, 3), i / 10), h)
            if i in (6, 10):
                h.sum().backward()
                h = h.detach()
                note(list(cell.parameters()))

    return lambda x, h: cell(x, h), script


@world
def saved_values_that_are_overwritten():
    weight = torch.ones(3, requires_grad=True)

    def script(call, note):
        def result(y, x):
            y.add_(1)

        def argument(y, x):
            x.detach().add_(1)

        def parameter(y, x):
            weight.detach().add_(1)

        for write in (result, argument, parameter):
            for _ in range(5):
                x = torch.ones(3, requires_grad=True)
                y = call(x)
                write(y, x)
                try:
                    y.sum().backward()
                except RuntimeError as error:
                    note(type(error).__name__)
                note(x.grad, weight)

    return lambda x: (x * weight).exp(), script


# Interruptions -----------------------------------------------------------------------------------------------------


@world
def errors_inside():
    weight, what = torch.ones(3, requires_grad=True), [None]

    def function(x):
        y = x * weight
        if what[0] is not None:
            raise {"value": ValueError, "interrupt": KeyboardInterrupt}[what[0]]
        return y.sum()

    def script(call, note):
        for i in range(16):
            what[0] = {1: "value", 2: "interrupt", 4: "interrupt", 9: "value"}.get(i)
            result = call(torch.ones(3))
            if not isinstance(result, str):
                result.backward()
            note(weight)

    return function, script


@world
def streams_of_random_numbers():
    own = torch.Generator().manual_seed(4)
    dropout = torch.nn.Dropout(0.5)

    def function(x):
        drawn = dropout(x) + torch.rand(4, generator=own) + torch.randperm(4)
        return drawn, torch.bernoulli(torch.full((4,), 0.5)), torch.randint(0, 9, (3,))

    def script(call, note):
        for i in range(9):
            call(torch.ones(4))
            if i == 5:
                torch.manual_seed(3)
                own.manual_seed(9)

    return function, script


# (A world that is not replayed at all would show nothing.)
NEVER_REPLAYED = {"results_that_share_memory"}


@pytest.mark.parametrize("name", WORLDS)
def test_a_compiled_function_is_what_it_is_as_written(name):
    made = compare(WORLDS[name])
    assert bool(made.replays) is (name not in NEVER_REPLAYED), made.reasons


def test_threads_get_results_of_their_own():
    model = network()
    fast = torch.compile(lambda x, total: (total.add_(1), model(x).detach())[1])
    found, totals = {}, {k: torch.zeros(1) for k in range(3)}

    def work(k):
        found[k] = [fast(torch.full((5, 6), float(k + i % 3)), totals[k]) for i in range(30)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, results in found.items():
        assert totals[k].item() == 30
        for i, result in enumerate(results):
            np.testing.assert_allclose(
                result.numpy(), model(torch.full((5, 6), float(k + i % 3))).detach().numpy(), rtol=1e-5
            )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_replays_on_its_own():
    model, _, step = training(lambda p: torch.optim.Adam(p, lr=0.1))
    fast = torch.compile(step)
    for _ in range(6):
        fast(*batch())
    saved = copy.deepcopy(model.state_dict())
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, repr([fast(*batch()).item() for _ in range(3)]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = eval(os.read(read, 10_000).decode())
    for name, value in model.state_dict().items():
        assert torch.equal(value, saved[name])  # what the child did is the child's
    np.testing.assert_allclose([fast(*batch()).item() for _ in range(3)], theirs, rtol=1e-6)


def test_hooks_that_would_see_a_part_of_a_gradient_are_refused():
    fast = torch.compile(lambda x: (x * 2, (x * 2).sin(), *_pair(x)))
    for _ in range(5):
        x = torch.ones(3, requires_grad=True)
        first, second, third, fourth = fast(x)
    with pytest.raises(RuntimeError, match="part of its gradient"):
        third.register_hook(print)
    with pytest.raises(RuntimeError, match="part of its gradient"):
        third.retain_grad()
    for tensor in (first, second, fourth):
        tensor.retain_grad()
    (first.sum() + second.sum() + fourth.sum()).backward()
    assert all(tensor.grad is not None for tensor in (x, first, second, fourth))


def _pair(x):
    y = x * 3
    return y, y.cos()


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda i: torch.ones(3).gather(0, i), [0, 2], [0, 3]),
        (lambda i: torch.zeros(3).scatter_add(0, i, torch.ones(2)), [0, 2], [0, 9]),
        (lambda i: torch.ones(3)[i], [0, -3], [0, -4]),
        (lambda i: torch.nn.functional.embedding(i, torch.ones(3, 2)), [0, 2], [0, -1]),
        (lambda i: torch.nn.functional.cross_entropy(torch.ones(2, 3), i), [0, 2], [0, 3]),
        (lambda a: torch.linalg.inv(a * torch.eye(2)), [1.0, 2.0], [1.0, 0.0]),
        (lambda a: torch.linalg.solve(a * torch.eye(2), torch.ones(2)), [1.0, 2.0], [1.0, 0.0]),
        (lambda a: torch.linalg.cholesky(a * torch.eye(2)), [1.0, 2.0], [1.0, -1.0]),
    ],
)
def test_values_that_cannot_be_computed_with_are_refused_in_the_same_words(function, good, bad):
    run = torch.compile(function)
    for _ in range(5):
        np.testing.assert_array_equal(run(torch.tensor(good)), function(torch.tensor(good)))
    with pytest.raises((RuntimeError, IndexError)) as own:
        function(torch.tensor(bad))
    for _ in range(2):
        with pytest.raises(type(own.value)) as compiled:
            run(torch.tensor(bad))
        assert type(compiled.value) is type(own.value)
        assert str(compiled.value).splitlines()[0] == str(own.value).splitlines()[0]
        np.testing.assert_array_equal(run(torch.tensor(good)), function(torch.tensor(good)))
