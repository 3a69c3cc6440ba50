"""Recurrent layers with compiled cells: a step is a matrix product and one pass over the gates, and all steps are one call.

Sequences of one length only; packed ones, and outputs that are projected, take the portable way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..portable.layers.recurrent import Steps, _start
from ..registry import raw
from .kernel import Compiled
from .products.calls import add_product, products
from .sequences import Operand, Sequence, apart

Layer = Callable[..., Any]
rows_of = np.ascontiguousarray  # what takes another array's place must lie as that does


def _pace(steps: Steps, *arrays: Any) -> int | None:
    """How many rows it is from step to step; None where steps differ, or arrays are not of one type that has products."""
    kind = arrays[0].dtype
    for a in arrays:
        if a is not None and a.dtype != kind:
            return None
    return _equal_pace(steps) if products(kind) is not None else None


@functools.lru_cache(64)
def _equal_pace(steps: Steps) -> int | None:
    if not steps:
        return None
    first, rows = steps[0]
    pace = steps[1][0] - first if len(steps) > 1 else rows
    if any(step != (first + k * pace, rows) for k, step in enumerate(steps)) or abs(pace) != rows:
        return None
    return pace


def _parts(gates: Any, size: int) -> list[Any]:
    """The gates of a step, each as a matrix."""
    return [gates[:, k : k + size] for k in range(0, gates.shape[1], size)]


def _going(pace: int, *arrays: Any) -> list[Operand]:
    """Operands that go on from step to step: rows out of those of all steps. None is left out."""
    return [Operand(a, pace * a.strides[0]) for a in arrays if a is not None]


def _staying(*arrays: Any) -> list[Operand]:
    """Operands that every step finds in the same place."""
    return [Operand(a) for a in arrays if a is not None]


def _one_step_before(move: int, now: Any, pace: int, first: Any, turn: int) -> Operand:
    """What stood at `now` a step before; before the first step, which is this turn, `first`."""
    by_row = now.strides[0]
    return Operand(now, move * by_row, -pace * by_row, turn, first)


def _weights(
    d_in: Any,
    d_hidden: Any,
    x: Any,
    w_ih: Any,
    h0: Any,
    out: Any,
    steps: Steps,
    needs: tuple[bool, ...],
    dx: Any = None,
) -> tuple[Any, ...]:
    """Gradients of the input (unless it is there), both weights and both biases, from those of the projections."""
    bias = raw.sum_rows(d_in) if needs[3] else None
    if needs[4]:
        other = bias.copy() if d_in is d_hidden and bias is not None else raw.sum_rows(d_hidden)
    return (
        raw.mm(d_in, w_ih) if needs[0] and dx is None else dx,
        raw.fold_tn(d_in, x) if needs[1] else None,
        _of_state(d_hidden, h0, out, steps) if needs[2] else None,
        bias,
        other if needs[4] else None,
    )


def _input_too(turns: Sequence, pace: int, d: Any, w_ih: Any, now: slice) -> Any:
    """The gradient of the input, computed in each turn."""
    dx = np.empty((len(d), w_ih.shape[1]), d.dtype)
    turns.product(*_going(-pace, d[now]), w_ih, *_going(-pace, dx[now]))
    return dx


def _of_state(d: Any, h0: Any, out: Any, steps: Steps) -> Any:
    """The gradient of the state's weight: of the first step by the initial state, of all others by what came out one step before."""
    rows, all_rows = len(h0), len(steps) * len(h0)
    if all_rows == rows:
        return raw.fold_tn(d, h0)
    early, late = slice(0, all_rows - rows), slice(rows, all_rows)
    forwards = steps[0][0] == 0
    result = raw.fold_tn(d[late], out[early]) if forwards else raw.fold_tn(d[early], out[late])
    return add_product(d[:rows].T if forwards else d[all_rows - rows : all_rows].T, h0, result)


def _summed(one: Any, other: Any) -> Any:
    """The sum of two biases, either of which may be missing."""
    return other if one is None else one if other is None else one + other


# Long short-term memory -------------------------------------------------------------------------------------


def lstm_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps) -> Any:
        pace = None if w_hr is not None else _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0, c0)
        if pace is None:
            return NotImplemented
        n, size, (first, rows), h0, bias = len(x), c0.shape[1], steps[0], rows_of(h0), _summed(b_ih, b_hh)
        by_rows = apart(rows, w_ih.T, w_hh.T)
        gates = np.empty((n, 4 * size), x.dtype) if by_rows else raw.linear(x, w_ih, bias)
        cells, out = np.empty((n, size), x.dtype), np.empty((n, size), x.dtype)
        c, buffer = c0.copy(order="C"), np.empty((rows, 4 * size), x.dtype)
        now = slice(first, first + rows)
        a, projected = _parts(gates[now], size), _parts(buffer, size)
        version = cell.version((*projected, None, None, None, None, c) if by_rows else (*a, *projected, c))
        if version is None:
            return NotImplemented
        turns, gone = Sequence(rows, len(steps), by_rows), _going(pace, *a)
        if by_rows:  # the input's projections of these rows, too, and the state's are added to them
            turns.product(*_going(pace, x[now]), w_ih.T, Operand(buffer), bias=bias)
        turns.product(_one_step_before(pace, out[now], pace, h0, 0), w_hh.T, Operand(buffer), adds=by_rows)
        inputs = _staying(*projected, c) if by_rows else [*gone, *_staying(*projected, c)]
        turns.elementwise(version.plan, [*inputs, *gone, *_staying(c), *_going(pace, cells[now], out[now])])
        turns.run()
        last = steps[-1][0]
        return out, out[last : last + rows].copy(), c, gates, cells

    return run


def lstm_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any, gates: Any,
        cells: Any, needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h, g_c = g
        pace = None if w_hr is not None else _pace(steps, x, w_ih, w_hh, h0, c0, g_out, g_h, g_c)
        if pace is None:
            return NotImplemented
        size, (last, rows) = c0.shape[1], steps[-1]
        now, c0, cells = slice(last, last + rows), rows_of(c0), rows_of(cells)
        d, dh, dc = np.empty(gates.shape, gates.dtype), rows_of(_start(np, g_h, h0)), _start(np, g_c, c0)
        g_now = None if g_out is None else g_out[now]
        parts, step = _parts(gates[now], size), _parts(d[now], size)
        version = cell.version((dh, g_now, dc, *parts, c0, cells[now]))
        if version is None:
            return NotImplemented
        by_rows = apart(rows, w_ih, w_hh)
        turns = Sequence(rows, len(steps), by_rows)
        before = _one_step_before(-pace, cells[now], pace, c0, len(steps) - 1)
        going = [*_going(-pace, *parts), before, *_going(-pace, cells[now], *step)]
        turns.elementwise(version.plan, [*_staying(dh), *_going(-pace, g_now), *_staying(dc), *going, *_staying(dc)])
        turns.product(*_going(-pace, d[now]), w_hh, Operand(dh))
        dx = _input_too(turns, pace, d, w_ih, now) if by_rows and needs[0] else None
        turns.run()
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs, dx), dh, dc, None)

    return run


# Gated recurrent unit ---------------------------------------------------------------------------------------


def gru_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps) -> Any:
        pace = _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0)
        if pace is None:
            return NotImplemented
        size, (first, rows), h0 = h0.shape[1], steps[0], rows_of(h0)
        early = None if b_hh is None else np.concatenate((b_hh[: 2 * size], np.zeros(size, b_hh.dtype)))
        bias, by_rows = _summed(b_ih, early), apart(rows, w_ih.T, w_hh.T)
        gates = np.empty((len(x), 3 * size), x.dtype) if by_rows else raw.linear(x, w_ih, bias)
        inner, out = (np.empty((len(gates), size), gates.dtype) for _ in range(2))
        both, now = np.empty((2, rows, 3 * size), gates.dtype), slice(first, first + rows)
        a, hidden = _parts(gates[now], size), _parts(both[0], size)
        late = None if b_hh is None else np.broadcast_to(b_hh[2 * size :], (rows, size))
        version = cell.version((*a, *hidden, late, h0))
        if version is None:
            return NotImplemented
        turns, gone = Sequence(rows, len(steps), by_rows), _going(pace, *a)
        before = _one_step_before(pace, out[now], pace, h0, 0)
        turns.product(before, w_hh.T, Operand(both[0]))
        if by_rows:
            turns.product(*_going(pace, x[now]), w_ih.T, Operand(both[1]), bias=bias)
        inputs = _staying(*_parts(both[1], size)) if by_rows else gone
        going = _going(pace, inner[now], out[now])
        turns.elementwise(version.plan, [*inputs, *_staying(*hidden, late), before, *gone, *going])
        turns.run()
        last = steps[-1][0]
        return out, out[last : last + rows].copy(), gates, inner

    return run


def gru_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, out: Any, gates: Any, inner: Any,
        needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h = g
        pace = _pace(steps, x, w_ih, w_hh, h0, g_out, g_h)
        if pace is None:
            return NotImplemented
        size, (last, rows) = h0.shape[1], steps[-1]
        now, h0, out, dh = slice(last, last + rows), rows_of(h0), rows_of(out), rows_of(_start(np, g_h, h0))
        d, d_in = np.empty(gates.shape, gates.dtype), np.empty(gates.shape, gates.dtype)
        g_now = None if g_out is None else g_out[now]
        parts, step = _parts(gates[now], size), _parts(d[now], size)
        version = cell.version((dh, g_now, *parts, inner[now], h0))
        if version is None:
            return NotImplemented
        turns = Sequence(rows, len(steps), apart(rows, w_hh))
        before = _one_step_before(-pace, out[now], pace, h0, len(steps) - 1)
        inputs = [*_staying(dh), *_going(-pace, g_now, *parts, inner[now]), before]
        turns.elementwise(version.plan, [*inputs, *_going(-pace, *step, d_in[now, 2 * size :]), *_staying(dh)])
        turns.product(*_going(-pace, d[now]), w_hh, Operand(dh), adds=True)
        turns.run()
        d_in[:, : 2 * size] = d[:, : 2 * size]
        return (*_weights(d_in, d, x, w_ih, h0, out, steps, needs), dh)

    return run


# Elman's network --------------------------------------------------------------------------------------------


def rnn_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps, relu: bool) -> Any:
        pace = _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0)
        if pace is None:
            return NotImplemented
        (first, rows), h0, bias = steps[0], rows_of(h0), _summed(b_ih, b_hh)
        by_rows = apart(rows, w_ih.T, w_hh.T)
        out = np.empty((len(x), len(w_ih)), x.dtype) if by_rows else raw.linear(x, w_ih, bias)
        now = slice(first, first + rows)
        version = cell.version((out[now], relu))
        if version is None:
            return NotImplemented
        turns, going = Sequence(rows, len(steps), by_rows), _going(pace, out[now])
        if by_rows:
            turns.product(*_going(pace, x[now]), w_ih.T, *going, bias=bias)
        turns.product(_one_step_before(pace, out[now], pace, h0, 0), w_hh.T, *going, adds=True)
        turns.elementwise(version.plan, [*going, *going])
        turns.run()
        last = steps[-1][0]
        return out, out[last : last + rows].copy()

    return run


def rnn_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, relu: bool, out: Any, needs: tuple[bool, ...]
    ) -> Any:
        g_out, g_h = g
        pace = _pace(steps, x, w_ih, w_hh, h0, g_out, g_h)
        if pace is None:
            return NotImplemented
        last, rows = steps[-1]
        now = slice(last, last + rows)
        d, dh = np.empty(out.shape, out.dtype), rows_of(_start(np, g_h, h0))
        g_now = None if g_out is None else g_out[now]
        version = cell.version((dh, g_now, out[now], relu))
        if version is None:
            return NotImplemented
        by_rows = apart(rows, w_ih, w_hh)
        turns = Sequence(rows, len(steps), by_rows)
        turns.elementwise(version.plan, [*_staying(dh), *_going(-pace, g_now, out[now], d[now])])
        turns.product(*_going(-pace, d[now]), w_hh, Operand(dh))
        dx = _input_too(turns, pace, d, w_ih, now) if by_rows and needs[0] else None
        turns.run()
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs, dx), dh)

    return run
