"""Numbers that a step reads: `history.append(loss.item())` and `return loss.item()` are replayed, what depends on them is not."""

from __future__ import annotations

import math
import warnings

import pytest

import clarion as torch
from clarion.compiling.function import CompileWarning, of

from .worlds import compare

F = torch.nn.functional


class Log:
    def __init__(self):
        self.losses, self.other, self.last = [], [], 0.0

    def add(self, value):
        self.losses.append(value)


def _step(read):
    """A world: a training step that reads its loss in some way, and the list it may append to."""

    def world():
        torch.manual_seed(0)
        model, log, history = torch.nn.Linear(4, 1), Log(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            result = read(loss, log) if read is not None else history.append(loss.item())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return result

        def script(call, note):
            torch.manual_seed(1)
            for i in range(9):
                call(torch.randn(5, 4), torch.randn(5, 1) * (i + 1))
                values = [*history, *log.losses, *log.other]
                note(values, list(model.parameters()))
                assert all(type(value) is float for value in values if not isinstance(value, (tuple, torch.Tensor)))

        return step, script

    return world


def _overwritten(loss, log):
    loss = loss.detach() * 1
    before = loss.item()
    loss.mul_(3)
    log.add(before)
    return loss.item(), before


def _keeps_tensors(loss, log):
    log.losses.append(loss.detach() * 2)
    log.other.append((loss.item(), "loss"))


REPLAYED = {
    "appended": None,
    "returned": lambda loss, log: loss.item(),
    "in containers": lambda loss, log: {"loss": loss.item(), "parts": [loss.item(), (loss * 2).item()]},
    "in a method": lambda loss, log: log.add(loss.item()),
    "in an attribute": lambda loss, log: log.losses.append(loss.item()),
    "computed with": lambda loss, log: log.add(2 * loss.item() / 5 - 1 + loss.item()),
    "before a write": _overwritten,
}


@pytest.mark.parametrize("read", REPLAYED.values(), ids=REPLAYED)
def test_numbers_that_nothing_depends_on_are_read_at_each_replay(read):
    made = compare(_step(read))
    assert made.replays >= 5, made.reasons


def _branches(loss, log):
    return 1.0 if loss.item() > 0.5 else 2.0


def _keeps_count(loss, log):
    log.losses.append(loss.item())
    return len(log.losses)


def _writes_an_attribute(loss, log):
    log.last = loss.item()


def _looks_back(loss, log):
    log.losses.append(loss.item())
    return log.losses[-1]


REFUSED = {
    "a condition": _branches,
    "a function of C's": lambda loss, log: 1.0 if math.isfinite(loss.item()) else 0.0,
    "a product": lambda loss, log: loss.detach() * loss.item(),
    "a new tensor": lambda loss, log: torch.full((2,), loss.item()),
    "an option": lambda loss, log: loss.detach().clamp(max=loss.item() / 2),
    "a text": lambda loss, log: f"{loss.item():.3f}",
    "an old text": lambda loss, log: "%.3f" % loss.item(),  # noqa: UP031
    "rounded": lambda loss, log: round(loss.item(), 2),
    "counted": _keeps_count,
    "looked back at": _looks_back,
    "kept in an attribute": _writes_an_attribute,
    "kept elsewhere": lambda loss, log: log.__dict__.setdefault("kept", []).append(loss.item()),
    "as a float": lambda loss, log: float(loss.detach()),
    "with a text": _keeps_tensors,
}


@pytest.mark.parametrize("read", REFUSED.values(), ids=REFUSED)
def test_numbers_that_something_depends_on_are_not(read):
    made = compare(_step(read))
    assert made.replays == 0
    assert made.reasons


def test_an_error_leaves_plain_numbers_behind():
    history, fails = [], [False]

    def function(x):
        history.append(x.sum().item())
        if fails[0]:
            raise ValueError
        return x * 2

    fast = torch.compile(function)
    for i in range(9):
        fails[0] = i in (1, 2, 4)
        try:
            fast(torch.full((2,), float(i)))
        except ValueError:
            pass
    assert history == [2.0 * i for i in range(9)]
    assert {type(value) for value in history} == {float}


def test_the_list_may_be_another_one_later():
    history = []

    def function(x):
        history.append(x.sum().item())

    fast = torch.compile(function)
    for i in range(6):
        fast(torch.full((2,), float(i)))
    first = history
    history = []
    for i in range(6):
        fast(torch.full((2,), float(i)))
    assert first == history == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    history.clear()
    fast(torch.ones(3))
    assert history == [3.0]
    assert of(fast).replays >= 4


def test_a_number_that_is_not_finite_has_the_next_call_run_as_it_is_written():
    history = []

    def helper(x):
        return torch.log(x).sum()

    def function(x):
        history.append(helper(x).item())

    fast = torch.compile(function)
    made = of(fast)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for i in range(6):
            fast(torch.full((2,), 1.0 + i))
        before = made.replays
        fast(torch.zeros(2))
        fast(torch.ones(2))  # runs as it is written: diagnoses may look
        assert made.replays == before + 1
        fast(torch.ones(2))
    assert made.replays == before + 2
    assert history[-3:] == [-math.inf, 0.0, 0.0]


def test_numbers_are_read_where_a_class_wants_to_be_asked_first():
    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    assert (torch.ones(2).as_subclass(Asked) + 1).sum() == 4
    compiled = torch.compile(lambda x: (x * 2).sum().item())
    assert [compiled(torch.full((3,), float(k))) for k in range(5)] == [6.0 * k for k in range(5)]
    assert of(compiled).replays
