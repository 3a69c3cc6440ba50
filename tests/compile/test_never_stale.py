"""What cannot be replayed safely runs as it is written, and the reason is said with the line: never a stale answer."""

from __future__ import annotations

import itertools
import math
import os
import random
import time
import types
import warnings

import numpy as np
import pytest

import clarion as torch
from clarion._dynamo.exc import Unsupported
from clarion.compiling.function import CompileWarning, of

COUNT = 0
SCALE = 2.0
SETTINGS = {"power": 2, "names": ["a", "b"]}


def _run(function, calls=8, make=None):
    """Results of a compiled function, and of the function itself on a second copy of its surroundings."""
    fast = torch.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return fast, [fast(*(make(i) if make else (torch.arange(3.0),))) for i in range(calls)]


# What is said ----------------------------------------------------------------------------------------------


class Counter:
    def __init__(self):
        self.n = 0


counter = Counter()
history = []
numbers = iter(range(1000))


def reads_an_item(x):
    return x * x.sum().item()


def branches(x):
    return x + 1 if x.sum() > 2 else x - 1


def selects(x):
    return x[x > 1]


def counts_globally(x):
    global COUNT
    COUNT += 1
    return x * COUNT


def counts_in_an_attribute(x):
    counter.n += 1
    return x * counter.n


def appends(x):
    history.append(1)
    return x * len(history)


def iterates(x):
    return x * next(numbers)


def asks_the_clock(x):
    return x * time.perf_counter()


def draws_from_python(x):
    return x * random.random()


def draws_from_numpy(x):
    return x * int(np.random.randint(2))


def reads_by_name(x):
    return x * getattr(counter, "".join(["n"]))


def prints(x):
    print(x)
    return x * 2


def goes_through_numpy(x):
    return torch.from_numpy(x.numpy() * 2)


REFUSED = {
    reads_an_item: "a number that was read is computed with.*x.sum\\(\\).item\\(\\)",
    branches: "read on the host.*if x.sum\\(\\) > 2",
    selects: "depends on values.*x\\[x > 1\\]",
    counts_globally: "global 'COUNT' is written.*COUNT \\+= 1",
    counts_in_an_attribute: "attribute 'n'.*counter.n \\+= 1",
    appends: "history",
    iterates: "numbers is a range_iterator",
    asks_the_clock: "perf_counter\\(\\) is called",
    draws_from_python: "random\\(\\) is called",
    draws_from_numpy: "numpy.random.randint gives something else",
    reads_by_name: "getattr\\(\\) is called",
    prints: "print\\(\\) is called, with more than numbers and texts.*print\\(x\\)",
    goes_through_numpy: "read on the host|not watched",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_refused_runs_as_it_is_written_and_says_why_once(function, capsys):
    fast = torch.compile(function)
    x = torch.arange(3.0)
    with pytest.warns(CompileWarning, match=REFUSED[function]) as said:
        for _ in range(10):
            fast(x)
    assert len(said) == 1
    assert of(fast).replays == 0
    with pytest.raises(Unsupported, match=REFUSED[function].partition(".*")[0]):
        for _ in range(10):
            torch.compile(function, fullgraph=True)(x)
            strict = torch.compile(function, fullgraph=True)
            for _ in range(9):
                strict(x)


# What is watched ---------------------------------------------------------------------------------------------


def test_a_global_number_that_changes_is_seen(monkeypatch):
    fast, results = _run(lambda x: x * SCALE)
    assert of(fast).replays >= 4
    assert results[-1].tolist() == [0.0, 2.0, 4.0]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert fast(torch.arange(3.0)).tolist() == [0.0, 3.0, 6.0]
    monkeypatch.setitem(globals(), "SCALE", -0.0)
    assert math.copysign(1, fast(torch.ones(1)).item()) == -1


def test_a_dictionary_that_changes_is_seen(monkeypatch):
    fast, _ = _run(lambda x: x ** SETTINGS["power"])
    assert of(fast).replays >= 4
    monkeypatch.setitem(SETTINGS, "power", 3)
    assert fast(torch.arange(3.0)).tolist() == [0.0, 1.0, 8.0]


def test_a_closure_that_changes_is_seen():
    factor, shift = 2.0, torch.ones(3)

    def function(x):
        return x * factor + shift

    fast, results = _run(function)
    assert of(fast).replays >= 4
    factor = 5.0
    assert fast(torch.arange(3.0)).tolist() == [1.0, 6.0, 11.0]
    shift = torch.zeros(3)
    assert fast(torch.arange(3.0)).tolist() == [0.0, 5.0, 10.0]
    shift.add_(1)
    assert fast(torch.arange(3.0)).tolist() == [1.0, 6.0, 11.0]
    assert results[0].tolist() == [1.0, 3.0, 5.0]


def test_an_object_that_changes_is_seen():
    options = types.SimpleNamespace(scale=2.0, parts=[1.0, 2.0])
    fast, _ = _run(lambda x: x * options.scale + sum(options.parts))
    assert of(fast).replays >= 4
    options.parts.append(3.0)
    assert fast(torch.zeros(1)).item() == 6.0
    options.scale = 7.0
    assert fast(torch.ones(1)).item() == 13.0


def test_the_environment_is_seen(monkeypatch):
    monkeypatch.setenv("SOME_SCALE", "2")
    fast, _ = _run(lambda x: x * float(os.environ["SOME_SCALE"]))
    monkeypatch.setenv("SOME_SCALE", "5")
    assert fast(torch.ones(1)).item() == 5


def test_a_module_that_changes_is_seen():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))
    x = torch.ones(2, 3)
    fast = torch.compile(lambda: model(x).detach())
    model.eval()
    for _ in range(6):
        assert torch.allclose(fast(), model(x))
    assert of(fast).replays
    model.train()
    drawn = [fast() for _ in range(8)]
    assert any((each == 0).any() for each in drawn)
    assert len({tuple(each.flatten().tolist()) for each in drawn}) > 1
    model.eval()
    model[0].weight = torch.nn.Parameter(torch.zeros(3, 3))
    assert torch.allclose(fast()[0], model[0].bias)
    model[0].register_forward_hook(lambda *_: torch.full((2, 3), 9.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        assert (fast() == 9).all()
    model[1] = torch.nn.Identity()
    assert (torch.compile(lambda: model(x).detach())() == 9).all()


def test_a_function_that_is_replaced_is_seen(monkeypatch):
    fast, _ = _run(lambda x: torch.nn.functional.relu(x) + helper(x))
    assert of(fast).replays >= 4
    monkeypatch.setitem(globals(), "helper", lambda x: x * 100)
    assert fast(torch.ones(1)).item() == 101
    monkeypatch.setattr(torch.nn.functional, "relu", lambda x: x * 0)
    assert fast(torch.ones(1)).item() == 100


def helper(x):
    return x


def test_switches_are_seen():
    weight = torch.ones(3, requires_grad=True)
    fast = torch.compile(lambda x: (x * weight).sum())
    x = torch.arange(3.0)
    for _ in range(6):
        with torch.no_grad():
            assert not fast(x).requires_grad
    assert of(fast).replays
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        assert fast(x).requires_grad
    torch.set_default_dtype(torch.float64)
    try:
        made = torch.compile(lambda: torch.ones(2))
        assert all(made().dtype is torch.float64 for _ in range(6))
    finally:
        torch.set_default_dtype(torch.float32)
    assert made().dtype is torch.float32


def test_random_numbers_are_drawn_anew():
    def function(x):
        return x + torch.randn(3) + torch.rand_like(x) * torch.nn.functional.dropout(x, 0.5)

    x = torch.ones(3)
    torch.manual_seed(5)
    own = [function(x).tolist() for _ in range(8)]
    torch.manual_seed(5)
    fast = torch.compile(function)
    assert [fast(x).tolist() for _ in range(8)] == own
    assert of(fast).replays >= 4


def test_arguments_of_other_kinds_get_versions_of_their_own():
    def function(x, scale=1.0, names=("a",), flag=False):
        return x * scale * len(names) + (1 if flag else 0)

    fast = torch.compile(function)
    x = torch.ones(2)
    for scale, names, flag in itertools.product((1.0, 2.0), (("a",), ("a", "b")), (False, True)):
        for _ in range(5):
            assert torch.equal(fast(x, scale, names=names, flag=flag), function(x, scale, names, flag))


def test_a_number_that_is_never_the_same_ends_in_the_function_as_it_is_written():
    fast = torch.compile(lambda x, n: x * n)
    with pytest.warns(CompileWarning, match="versions of it already"):
        for n in range(40):
            assert fast(torch.ones(1), float(n)).item() == n


def test_writes_to_arguments_are_done():
    def function(x, y):
        x.add_(y)
        y[0] = x.sum()
        return x * 2

    fast = torch.compile(function)
    a, b, c, d = torch.ones(3), torch.ones(3), torch.ones(3), torch.ones(3)
    for _ in range(8):
        assert torch.equal(function(a, b), fast(c, d))
        assert torch.equal(a, c)
        assert torch.equal(b, d)
        assert a._version == c._version
    assert of(fast).replays >= 4


def test_the_same_tensor_given_twice_is_another_kind_of_call():
    def function(x, y):
        x.mul_(2)
        return x + y

    fast = torch.compile(function)
    for _ in range(6):
        assert fast(torch.ones(1), torch.ones(1)).item() == 3
    x = torch.ones(1)
    assert fast(x, x).item() == 4


def test_errors_are_the_functions_own():
    fast = torch.compile(lambda table, i: torch.nn.functional.embedding(i, table))
    table = torch.arange(6.0).reshape(3, 2)
    for _ in range(6):
        assert fast(table, torch.tensor([2, 0])).tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert of(fast).replays
    with pytest.raises(IndexError, match="out of range"):
        fast(table, torch.tensor([3, 0]))
    assert fast(table, torch.tensor([1, 1])).tolist() == [[2.0, 3.0], [2.0, 3.0]]


def test_a_compiled_function_inside_another_is_part_of_it():
    inner = torch.compile(lambda x: x * SCALE)
    outer = torch.compile(lambda x: inner(x) + 1)
    for _ in range(8):
        assert outer(torch.ones(1)).item() == 3
    assert of(outer).replays >= 4


def test_a_kind_of_call_that_can_be_replayed_is_found_among_those_that_cannot():
    """What runs as it is written again and again is looked at seldom, so that small functions do not feel it."""

    def function(x, decide):
        return (x * 2 if x.sum().item() > 0 else x * 3) if decide else x * 4

    run = torch.compile(function)
    with pytest.warns(CompileWarning):
        for i in range(80):
            np.testing.assert_array_equal(
                run(torch.full((2,), i - 40.0), True), function(torch.full((2,), i - 40.0), True)
            )
    assert of(run).unseen or of(run).vain > 32
    for i in range(40):
        np.testing.assert_array_equal(run(torch.full((2,), float(i)), False), np.full(2, 4.0 * i))
    assert of(run).replays > 5
