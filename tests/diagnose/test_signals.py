"""What the program's signal handlers raise ends the program's loop, also in the midst of a diagnosis, which goes on afterwards."""

from __future__ import annotations

import functools
import signal

import pytest

import clarion as torch
from clarion import diagnose
from clarion.diagnose import signals
from clarion.diagnose.books.ledger import Ledger


class TimeIsUp(Exception):
    pass


def over(*_: object) -> None:
    raise TimeIsUp


class Callable:
    def __call__(self, *_: object) -> None:
        raise TimeIsUp

    def method(self, *_: object) -> None:
        raise TimeIsUp


HANDLERS = {
    "function": over,
    "method": Callable().method,
    "object": Callable(),
    "partial": functools.partial(functools.partial(over), 1),
}


@pytest.fixture(params=HANDLERS)
def handled(request):
    before = signal.signal(signal.SIGUSR1, HANDLERS[request.param])
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_a_handler_in_the_midst_of_a_diagnosis_ends_the_loop(handled, monkeypatch):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    alarms, steps = [5], 0
    stepped = Ledger.on_stepped

    def on_stepped(self, *args):
        if alarms == [steps]:
            alarms.clear()
            signal.raise_signal(signal.SIGUSR1)
        stepped(self, *args)

    monkeypatch.setattr(Ledger, "on_stepped", on_stepped)
    with diagnose.watching() as findings:
        with pytest.raises(TimeIsUp):
            while steps < 50:
                optimizer.zero_grad()
                model(torch.rand(4, 3)).sum().backward()
                optimizer.step()
                steps += 1
        assert steps == 5
        for _ in range(8):  # and now a mistake
            model(torch.rand(4, 3)).square().sum().backward()
            optimizer.step()
        assert not diagnose._session.failures
    assert [each.name for each in findings] == ["stale-gradient"]


def test_other_failures_are_ours(handled):
    def fails() -> None:
        raise TimeIsUp

    with pytest.raises(TimeIsUp) as caught:
        fails()
    assert not signals.of_the_program(caught.value)
    with pytest.raises(TimeIsUp) as caught:
        signal.raise_signal(signal.SIGUSR1)
    assert signals.of_the_program(caught.value)
