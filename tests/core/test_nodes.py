"""A call that is written out for an operation fills its node as the general way does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.core import calls, general_call, overriding, written
from clarion.core.namespace import OPS
from clarion.core.recording import make_node
from clarion.core.tensor import Tensor
from clarion.core.versions import VersionCounter
from clarion.events import subscribe
from tests.opcases import ROWS
from tests.rowtools import draw, leaves


def _guarded(node: Any) -> list[Any]:
    """The arrays (or counters) whose writes a node watches."""
    if isinstance(node.out_guard, VersionCounter):
        return [node.out_guard]
    return [guard[0] for guard in node.out_guard or ()]


def _check(node: Any, inputs: Any, out: Tensor) -> None:
    """What a listener hears of a fresh node: make the same once more, by loops."""
    op = type(node).op
    if op.variadic or op.name.startswith("view_"):
        return
    outs = (out,) if len(op.outputs) == 1 else None
    mask = sum(1 << i for i, edge in enumerate(node.edges) if edge is not None)
    params = tuple(node.saved[len(inputs) : len(inputs) + len(op.params)]) if op.params else ()
    if outs is None:
        return
    again = make_node(op, tuple(inputs), params, outs, mask)
    assert len(node.edges) == len(again.edges)
    assert all(a is b for a, b in zip(node.edges, again.edges, strict=True)), op.name
    assert (node.nrs or (0,) * len(inputs))[: len(inputs)] == (again.nrs or (0,) * len(inputs)), op.name
    kept = op.keep(mask)
    for position, named in enumerate(kept):
        if named:
            a, b = node.saved[position], again.saved[position]
            same = a is b or (np.ndim(a) == 0 and not isinstance(a, Tensor) and np.array_equal(a, b)) or a == b
            assert same, (op.name, position)
    if op.uses_shapes:
        assert list(node.saved[len(op.layout) :]) == list(again.saved[len(op.layout) :]), op.name
    assert bool(_guarded(node)) == bool(_guarded(again)), op.name
    assert (node.versions or (0,) * len(inputs)) == (again.versions or (0,) * len(inputs)), op.name
    for edge, fix, other in zip(node.edges, node.fix or again.fix or (), again.fix or node.fix or (), strict=False):
        if edge is not None and fix is not None and other is not None:
            assert fix == other, op.name
    if (
        again.fix is not None and node.fix is None
    ):  # nothing to bring back: every gradient has its input's shape already
        assert all(edge is None or meta == (out._array.shape, out._array.dtype) or op.pair is not None or not op.broadcast
                   for edge, meta in zip(again.edges, again.fix, strict=True)), op.name  # fmt: skip
    assert node.code is not None
    assert node.hooks is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_written_call_fills_its_node_as_make_node_does(row):
    heard = []

    def listen(node: Any, inputs: Any, out: Tensor) -> None:
        heard.append(node)
        _check(node, inputs, out)

    unsubscribe = subscribe("recorded", listen)
    try:
        made = leaves(torch, row, draw(row))
        row.call(torch, *made)
    finally:
        unsubscribe()
    wanted = any(t.requires_grad for t in made) and row.op in OPS and OPS[row.op].differentiable
    assert heard or not wanted or row.op in ("transfer",)  # to where it is already


def test_every_operation_is_called_by_a_text():
    """There is one builder of calls: others go the general way, or (reshape) choose between two."""
    texts = (written._unwritten.__code__.co_filename, "<call of ")
    for name, op in OPS.items():
        code = overriding.own_form(op.call).__code__
        assert code.co_filename.startswith(texts) or "general_call" in code.co_names or name == "reshape", name
    assert calls.pick_call(OPS["exp"]).__globals__["general_call"] is general_call.general_call
