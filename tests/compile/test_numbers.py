"""Numbers that a step reads: `history.append(loss.item())` and `return loss.item()` are replayed, what depends on them is not."""

from __future__ import annotations

import math
import warnings

import numpy as np
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
                assert all(type(value) in (float, tuple, list, torch.Tensor) for value in values)

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


def _counts(loss, log):
    count = (loss.detach() * torch.arange(4) > 1).sum().item()
    both = count + count * 2
    return count, {"both": both}, (torch.arange(3) + (loss > 1)).sum().item()


def _tells(loss, log):
    name, value = "loss", loss.item()
    text = f"the {name} is {value:.4f}, twice {2 * value:8.3f} and {loss.detach() * 3:.1e}"
    log.other.append((text, 1))
    return text


REPLAYED = {
    "appended": None,
    "returned": lambda loss, log: loss.item(),
    "in containers": lambda loss, log: {"loss": loss.item(), "parts": [loss.item(), (loss * 2).item()]},
    "in a method": lambda loss, log: log.add(loss.item()),
    "in an attribute": lambda loss, log: log.losses.append(loss.item()),
    "computed with": lambda loss, log: log.add(2 * loss.item() / 5 - 1 + loss.item()),
    "before a write": _overwritten,
    "with a text": _keeps_tensors,
    "as a float": lambda loss, log: float(loss.detach()),
    "as a float of a float": lambda loss, log: log.add(float(loss.item()) + float(loss.detach() * 2)),
    "as a whole number": lambda loss, log: (int(loss.detach() * 100), int(loss.item() * 10)),
    "whole": _counts,
    "rounded": lambda loss, log: (round(loss.item(), 2), round(loss.item())),
    "listed": lambda loss, log: log.other.append((loss.detach() * torch.arange(3)).tolist()),
    "listed, one": lambda loss, log: (loss.tolist(), [each.item() for each in (loss, loss * 2)]),
    "as an array": lambda loss, log: (loss.detach() * torch.ones(2)).numpy(),
    "as a text": lambda loss, log: f"{loss.item():.3f}",
    "as a longer text": _tells,
    "printed": lambda loss, log: print("loss", loss.item(), f"or {loss:.2f}", sep=": "),
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


def _chooses(loss, log):
    count = (loss.detach() * torch.arange(4) > 1).sum().item()
    return 1.0 if count else 2.0


def _first(values, place):
    return values[place]


def _shares(loss, log):
    doubled = loss.detach() * torch.ones(2)
    values = doubled.numpy()
    return values, doubled


REFUSED = {
    "a condition": _branches,
    "a function of C's": lambda loss, log: 1.0 if math.isfinite(loss.item()) else 0.0,
    "a product": lambda loss, log: loss.detach() * loss.item(),
    "a new tensor": lambda loss, log: torch.full((2,), loss.item()),
    "an option": lambda loss, log: loss.detach().clamp(max=loss.item() / 2),
    "a text that is used": lambda loss, log: f"{loss.item():.3f}".replace(".", ","),
    "a text that is asked for": lambda loss, log: 1.0 if f"{loss.item():.3f}".startswith("0.1") else 2.0,
    "a width": lambda loss, log: f"{3:{int(loss.item() * 10) + 1}}",
    "a text of another text": lambda loss, log: f"{loss.item()!s} is it",
    "an index": lambda loss, log: [1.0, 2.0, 3.0][(loss > 1).long().item()],
    "a place": lambda loss, log: torch.arange(3.0)[(loss > 1).long().item()],
    "a part": lambda loss, log: [1.0, 2.0, 3.0][: (loss > 1).long().item()],
    "a range": lambda loss, log: [1.0 for _ in range((loss > 1).long().item())],
    "a repetition": lambda loss, log: [1.0] * (loss > 1).long().item(),
    "a whole condition": _chooses,
    "given on": lambda loss, log: log.add([loss.item()]) or _first([1.0, 2.0], (loss > 1).long().item()),
    "an array that is used": lambda loss, log: (loss.detach() * torch.ones(2)).numpy() * 2,
    "an array that is shared": _shares,
    "an element of a list": lambda loss, log: (loss.detach() * torch.ones(2)).tolist()[0],
    "truth": lambda loss, log: (loss > 1).item(),
    "of NumPy's": lambda loss, log: loss.detach() * np.float64(loss.item()),
    "an old text": lambda loss, log: "%.3f" % loss.item(),  # noqa: UP031
    "counted": _keeps_count,
    "looked back at": _looks_back,
    "kept in an attribute": _writes_an_attribute,
    "kept elsewhere": lambda loss, log: log.__dict__.setdefault("kept", []).append(loss.item()),
}


@pytest.mark.parametrize("read", REFUSED.values(), ids=REFUSED)
def test_numbers_that_something_depends_on_are_not(read):
    made = compare(_step(read))
    assert made.replays == 0
    assert made.reasons


def test_what_is_printed_is_printed_at_each_replay(capsys):
    def function(x):
        print("sum", x.sum().item(), flush=True)
        print(f"{x.sum():.2f} of {len(x)} and {x.max().item():.1f}", end=";\n")
        total = x.sum()
        print(f"{total:.2f}", (x > 2).sum().item(), float(total) / 2)

    fast = torch.compile(function)
    with pytest.warns(CompileWarning, match="a text, which may tell a number"):  # len(x) might be one
        for i in range(7):
            function(torch.full((3,), float(i)))
            own = capsys.readouterr().out
            fast(torch.full((3,), float(i)))
            assert capsys.readouterr().out == own
    assert of(fast).replays == 0
    fast = torch.compile(lambda x: print(f"{x.sum():.2f}", (x > 2).sum().item(), float(x.max()) / 2, sep="|"))
    for i in range(7):
        fast(torch.full((3,), float(i)))
        assert capsys.readouterr().out == f"{3.0 * i:.2f}|{3 * (i > 2)}|{i / 2}\n"
    assert of(fast).replays >= 3


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
