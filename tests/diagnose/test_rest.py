"""Late in a training hardly anything is heard: what is counted meanwhile, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import clarion as torch
from clarion import diagnose
from clarion.diagnose.session import AWAKE, DEEP, REST
from clarion.errors import DiagnosisWarning
from clarion.events import hub, subscribe


@pytest.fixture(autouse=True)
def _watched() -> Any:
    with diagnose.watching():
        yield


def _training(passes: int = 1) -> tuple[Callable[..., None], Any]:
    """A step of a small training, and its optimizer."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(16, 3), torch.randn(16, 1)

    def step(factor: float = 1.0, passes: int = passes) -> None:
        optimizer.zero_grad()
        for _ in range(passes):
            (torch.nn.functional.mse_loss(model(x), y) * factor / passes).backward()
        optimizer.step()

    return step, optimizer


def _session() -> Any:
    return diagnose._session


def test_steps_and_passes_are_counted_while_none_is_told() -> None:
    step, optimizer = _training()
    modes = set()
    for _ in range(1000):
        step()
        modes.add(_session().mode)
    assert DEEP in modes
    assert _session().steps() == optimizer._story.steps == _session().ledger.passes == 1000


def test_a_loop_that_changes_is_counted_as_it_is() -> None:
    step, _ = _training()
    while _session().mode != DEEP:
        step()
    before = _session().ledger.passes, _session().ledger.step
    for _ in range(30):
        step(passes=2)
    ledger = _session().ledger
    assert _session().steps() == before[1] + 30
    assert ledger.passes == before[0] + 60
    for _ in range(64):
        step(passes=2)
        assert _session().mode != DEEP or not ledger.pace.holds


def test_several_passes_for_each_step_are_heard_as_such() -> None:
    step, _ = _training(passes=3)
    for _ in range(400):
        step()
        assert _session().mode != DEEP
    assert _session().mode == REST
    assert (_session().ledger.step, _session().ledger.passes) == (400, 1200)


def test_a_loss_out_of_all_proportion_is_told_at_once() -> None:
    step, _ = _training()
    while _session().mode != DEEP:
        step()
    with pytest.warns(DiagnosisWarning, match="gradient-spikes"):
        step(1e6)
    assert _session().mode == AWAKE


def test_another_listener_hears_every_pass() -> None:
    step, _ = _training()
    while _session().mode != DEEP:
        step()
    heard: list[Any] = []
    stop = subscribe("backward_began", lambda *facts: heard.append(facts))
    for _ in range(20):
        step()
    stop()
    assert len(heard) == 20
    step()
    assert len(heard) == 20
    assert hub.backward_began is not None
