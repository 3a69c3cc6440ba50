"""Who keeps a tensor, and which line carries it into the next step."""

from __future__ import annotations

import gc
import linecache
import weakref
from collections import deque
from typing import Any

import pytest

import clarion as torch
from clarion.diagnose.graph.holders import Holder, Live, holders
from clarion.diagnose.graph.reach import birth, reachable
from clarion.diagnose.source.assignments import carrying_line

at_module_level: list[Any] = []


def made() -> Any:
    return torch.ones(2, requires_grad=True) * 2


def names(tensor: Any) -> list[str]:
    return [holder.text for holder in holders([tensor]) if holder.name != "tensor"]  # not the one of this function


def test_variable_and_list() -> None:
    losses = [made()]
    assert names(losses[0])[0] == "the list `losses` in test_variable_and_list()"
    kept = losses[0]
    assert "`kept` in test_variable_and_list()" in names(kept)


def test_module_level_attribute_and_closure() -> None:
    class Meter:
        def __init__(self) -> None:
            self.total = made()

    def closure() -> Any:
        def log() -> Any:
            return inner

        inner = made()
        return log

    at_module_level.append(made())
    meter, log = Meter(), closure()
    try:
        assert names(at_module_level[0])[0] == "the list `at_module_level` at module level"
    finally:
        at_module_level.clear()
    assert names(meter.total)[0] == "`total` of Meter"
    assert names(log())[0] == "`inner` in a closure of log()"


def test_bounded_deque() -> None:
    recent = deque([made()], maxlen=7)
    assert next(holders([recent[0]])).limit == 7


def test_looking_keeps_nothing_alive() -> None:
    value = made()
    gone = weakref.ref(value)
    assert names(value)
    del value
    gc.collect()
    assert gone() is None


def test_a_chain_is_held_by_its_end() -> None:
    first = made()
    total = ((first + 1) + 2) * 3
    node = first._edge
    del first
    live = Live()
    assert live.top(node) is total._edge
    held = live.holder(node)
    assert held is not None
    assert held.name == "total"


def test_reachable_stops_at_what_is_older() -> None:
    old = made() + 1
    young = (old * 2).sum()
    assert len(list(reachable([young]))) == 4
    assert {type(n).__name__ for n in reachable([young], old._edge.seq - 1)} == {"SumBackward0", "MulBackward0"}


def test_birth_counts_the_marks_before() -> None:
    marks = [-10, -25, -40]
    assert [birth(seq, marks) for seq in (-5, -12, -30, -41)] == [0, 1, 2, 3]


PROGRAM = """
def train(cell, chunks):
    h = zeros()
    for x in chunks:
        if x is None:
            h = h.detach()
        out, h_new = cell(x, h)
        loss(out)
        h = h_new
    return h

class Tracker:
    def __init__(self):
        self.position = None
    def correct(self, predicted):
        self.position = mix(predicted, self.position)

averages = {}
def update(name, value):
    averages[name] = 0.9 * averages[name] + value
"""


@pytest.mark.parametrize(
    ("holder", "line"),
    [
        (Holder("h", scope="train"), 9),
        (Holder("h_new", scope="train"), None),  # assigned before it is read
        (Holder("position", owner=object), 16),
        (Holder("averages", container=dict), 20),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_line_that_carries(holder: Any, line: int | None) -> None:
    file = f"<carrying {holder.name}>"
    linecache.cache[file] = (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), file)
    if holder.scope is not None:
        module = compile(PROGRAM, file, "exec")
        holder = Holder(
            holder.name, scope=next(c for c in module.co_consts if getattr(c, "co_name", "") == holder.scope)
        )
    assert carrying_line(holder, None, {file}) == (None if line is None else (file, line))
