"""Events: what core tells those who listen, in the order in which it happens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy
import pytest

import clarion as torch
from clarion import events
from clarion.core import modes


class Listener:
    """Collects (event, arguments) of the events it was asked to listen to."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, tuple[object, ...]]] = []
        self._stops = []

    def to(self, *names: str) -> Listener:
        for name in names:
            self._stops.append(events.subscribe(name, lambda *args, name=name: self.heard.append((name, args))))
        return self

    def names(self) -> list[str]:
        return [name for name, _ in self.heard]

    def stop(self) -> None:
        for stop in self._stops:
            stop()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.stop()


def test_nobody_listens_by_default() -> None:
    assert all(getattr(events.hub, name) is None for name in events.Hub.__slots__)


def test_unknown_event_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown event 'nope'"):
        events.subscribe("nope", print)


def test_recorded_and_saved(listener: Listener) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    listener.to("recorded", "saved")
    y = x * x
    z = y.exp()
    torch.ones(2) + 1  # nothing to record
    recorded = [args for name, args in listener.heard if name == "recorded"]
    assert [type(node).__name__ for node, _, _ in recorded] == ["MulBackward0", "ExpBackward0"]
    assert recorded[0][1] == (x, x)
    assert recorded[1][2] is z
    saved = [args for name, args in listener.heard if name == "saved"]
    assert [tensor is x for _, tensor in saved] == [True, True, False]


@pytest.mark.parametrize(
    ("how", "leave"),
    [
        ("item", lambda x: x.sum().item()),
        ("detach", lambda x: x.detach()),
        ("numpy", lambda x: x.detach().numpy()),
        ("argmax", lambda x: x.argmax()),
        ("gt", lambda x: x > 0),
    ],
)
def test_values_that_leave_the_graph(listener: Listener, how: str, leave) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    listener.to("left")
    leave(x)
    expected = "detach" if how == "numpy" else how  # what leaves is the tensor that had a history
    assert expected in [args[1] for _, args in listener.heard]


def test_writes(listener: Listener) -> None:
    x, y = torch.zeros(3), torch.zeros(3)
    listener.to("wrote", "will_write")
    x.add_(1)
    y[0] = 2
    assert listener.names().count("wrote") == 2
    assert listener.heard[0][0] == "will_write"


def test_modes(listener: Listener) -> None:
    listener.to("mode")
    with torch.no_grad():
        pass
    with torch.inference_mode():
        pass
    assert [(type(mode).__name__, entered) for _, (mode, entered) in listener.heard] == [
        ("no_grad", True), ("no_grad", False), ("inference_mode", True), ("inference_mode", False),
    ]  # fmt: skip


def test_a_decorator_is_entered_at_the_call_and_names_its_function(listener: Listener) -> None:
    listener.to("mode")

    @torch.set_grad_enabled(False)
    def frozen() -> bool:
        return torch.is_grad_enabled()

    assert [entered for _, (_, entered) in listener.heard] == [True, False]  # it acts at once until it decorates
    listener.heard.clear()
    assert frozen() is False
    assert torch.is_grad_enabled()
    assert [entered for _, (_, entered) in listener.heard] == [True, False]
    assert listener.heard[0][1][0].decorates is frozen.__wrapped__


def test_a_step_of_training(listener: Listener) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    listener.to("backward_began", "backward_ended", "accumulated", "cleared", "freed")
    (w * w).sum().backward()
    w.grad = None
    names = listener.names()
    assert names[0] == "backward_began"
    assert names.index("freed") < names.index("accumulated") < names.index("backward_ended") < names.index("cleared")
    assert [args for name, args in listener.heard if name == "accumulated"] == [(w,)]


def test_silent_writes_are_told(listener: Listener) -> None:
    listener.to("silently_overwritten")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data.mul_(2)
    y.sum().backward()
    assert {args[1] for _, args in listener.heard} == {"data"}
    listener.heard.clear()
    modes.watch(True)  # looking at the values costs too much for every step
    try:
        w = torch.ones(2)
        memory = w.numpy()
        y = x * w
        memory[0] = 5
        y.sum().backward()
        out = torch.sigmoid(x)
        out.detach().numpy()[0] = 5
        out.sum().backward()
    finally:
        modes.watch(False)
    assert [args[1] for _, args in listener.heard] == ["numpy", "numpy"]


def test_memory_that_was_put_in_place_has_its_own_story(listener: Listener) -> None:
    listener.to("silently_overwritten")
    modes.watch(True)
    try:
        w = torch.nn.Parameter(torch.ones(2))
        old, new = w.detach().numpy(), numpy.ones(2, numpy.float32)
        w.data = torch.full((2,), 3.0)  # as `model.to(device)` does: nobody has this memory
        y = (w * w).sum()
        old[0] = 5
        y.backward()
        assert not listener.heard
        assert w.grad.tolist() == [6.0, 6.0]
        w.data = torch.from_numpy(new)
        y = (w * w).sum()
        new[0] = 5
        y.backward()
    finally:
        modes.watch(False)
    assert {args[1] for _, args in listener.heard} == {"from_numpy"}


def test_unsubscribing_ends_the_cost() -> None:
    stops = [events.subscribe(name, print) for name in events.Hub.__slots__]
    for stop in stops:
        stop()
        stop()  # twice is fine
    test_nobody_listens_by_default()


def test_provenance_can_be_switched_off() -> None:
    program = (
        "import clarion as torch\n"
        "y = torch.ones(2, requires_grad=True) * 2\n"
        "print(y.grad_fn.place is None, y.sum().grad_fn.place is None)\n"
    )
    for switch, expected in (("1", "False False"), ("0", "True True")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "CLARION_PROVENANCE": switch},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected
