"""Late in a training hardly anything is heard: what is counted meanwhile, and what ends it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import clarion as torch
from clarion import diagnose
from clarion.diagnose.books import waking
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

    def step(factor: float = 1.0, passes: int = passes, limit: float | None = None) -> None:
        optimizer.zero_grad()
        for _ in range(passes):
            (torch.nn.functional.mse_loss(model(x), y) * factor / passes).backward()
        if limit is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
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


def test_trainings_that_take_turns_rest_as_deeply_as_one() -> None:
    trainings = [_training() for _ in range(3)]
    deep = 0
    for _ in range(12):
        for step, _ in trainings:
            for _ in range(50):
                step()
                deep += _session().mode == DEEP
    assert deep > 900  # of 1,800 (none before)
    assert _session().steps() == _session().ledger.passes == 1800
    assert [optimizer._story.steps for _, optimizer in trainings] == [600, 600, 600]


def test_who_clips_is_heard_once_at_rest() -> None:
    step, _ = _training()
    for _ in range(400):
        step()
    assert hub.clipped is not None  # somebody may begin to clip
    for _ in range(400):
        step(limit=1.0)
    assert _session().resting
    assert hub.clipped is None


def test_clearing_to_zero_tells_nothing_of_its_own() -> None:
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    told: list[str] = []
    stops = [subscribe(event, lambda *facts, event=event: told.append(event)) for event in ("flagged", "mode")]
    for _ in range(3):
        optimizer.zero_grad(set_to_none=False)
        model(torch.randn(4, 3)).sum().backward()
        optimizer.step()
    for stop in stops:
        stop()
    assert told == []
    model.weight.grad.requires_grad_()
    optimizer.zero_grad(set_to_none=False)
    assert not model.weight.grad.requires_grad
    assert model.weight.grad.abs().sum() == 0


def test_who_has_waited_for_gradients_in_vain_no_longer_has_each_measured() -> None:
    step, optimizer = _training()
    for _ in range(400):
        step()
    track, measured = optimizer._story.track, []
    track.hurry(_session().steps(), 1)
    stop = subscribe("stepped", lambda _: None)  # every step is heard
    for _ in range(400):
        before = track.last
        step()
        measured.append(track.last != before)
    stop()
    assert sum(measured[:50]) > 40
    assert sum(measured[-200:]) < 20


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


def test_wakes_take_their_share_of_the_time(monkeypatch: Any) -> None:
    now = [0.0]
    monkeypatch.setattr(waking, "process_time", lambda: now[0])
    schedule = waking.Waking()
    schedule.wake(0)
    schedule.rest(192)
    assert schedule.at == 192 + waking.FIRST  # nothing is known yet
    for passes, taken in ((1_000, 10e-6), (3_000, 100e-6), (5_000, 10e-3)):
        schedule.settled(passes)
        now[0] += 100 * taken
        schedule.wake(passes + 100)
        now[0] += 8 * taken + 900e-6  # the wake itself, with what comes after it a millisecond
        schedule.rest(passes + 108)
        least = 1e-3 / (waking.SHARE * taken)
        assert schedule.at - passes - 108 == pytest.approx(min(16384, max(waking.FIRST, least)), abs=1)


@pytest.mark.parametrize("at", [700, 3_000])
def test_gradients_that_are_no_longer_cleared_are_seen_at_a_glance(monkeypatch: Any, at: int) -> None:
    monkeypatch.setattr(waking, "SHARE", 1e-9)
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x, y = torch.randn(16, 3), torch.randn(16, 1)

    def step(clear: bool) -> None:
        if clear:
            optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    for _ in range(at):
        step(True)
    with diagnose.off("gradient-spikes"), pytest.warns(DiagnosisWarning, match="stale-gradient"):
        for _ in range(160):
            step(False)


def test_losses_that_are_kept_late_are_seen_at_a_glance(monkeypatch: Any) -> None:
    monkeypatch.setattr(waking, "SHARE", 1e-9)
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    kept = []
    for i in range(1_300):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if i >= 1_000:
            kept.append(loss)
    with pytest.warns(DiagnosisWarning, match="graphs-accumulate"):
        _session().finish()


def test_a_glance_keeps_nothing_alive() -> None:
    step, optimizer = _training()
    while _session().mode != DEEP:
        step()
    for _ in range(300):
        step()
    gone = weakref.ref(optimizer), weakref.ref(optimizer.param_groups[0]["params"][0])
    del step, optimizer
    gc.collect()
    assert gone[0]() is None
    assert gone[1]() is None


def _change_at(monkeypatch: Any, at: int, early: Any, late: Any) -> None:
    """A training whose wakes are too far apart to notice a change by themselves."""
    monkeypatch.setattr(waking, "SHARE", 1e-9)
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(16, 3), torch.randint(4, (16,))
    for i in range(at + 300):
        optimizer.zero_grad()
        (early if i < at else late)(model(x), y)
        optimizer.step()


def test_a_loss_of_other_operations_is_seen_at_a_glance(monkeypatch: Any) -> None:
    cross_entropy = torch.nn.functional.cross_entropy
    with pytest.warns(DiagnosisWarning, match="softmax-twice"):
        _change_at(
            monkeypatch,
            900,
            lambda out, y: cross_entropy(out.tanh(), y).backward(),
            lambda out, y: cross_entropy(out.softmax(1), y).backward(),
        )


def test_a_graph_that_is_kept_late_is_told(monkeypatch: Any) -> None:
    cross_entropy = torch.nn.functional.cross_entropy
    with pytest.warns(DiagnosisWarning, match="graph-retained-unused"):
        _change_at(
            monkeypatch,
            900,
            lambda out, y: cross_entropy(out, y).backward(),
            lambda out, y: cross_entropy(out, y).backward(retain_graph=True),
        )
        _session().finish()
