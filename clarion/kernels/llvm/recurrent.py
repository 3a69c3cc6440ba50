"""Recurrent layers with compiled cells: a step is a matrix product and one pass over the gates, and all steps are one call.

Sequences of one length only; packed ones, and outputs that are projected, take the portable way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..portable.layers.recurrent import Steps, _start
from ..registry import raw
from .kernel import Compiled
from .products.calls import products
from .sequences import Sequence

Layer = Callable[..., Any]
rows_of = np.ascontiguousarray  # what takes another array's place must lie as that does


def _pace(steps: Steps, *arrays: Any) -> int | None:
    """How many rows it is from step to step; None where steps differ, or arrays are not of one type that has products."""
    if not steps:
        return None
    (first, rows), kind = steps[0], arrays[0].dtype
    pace = steps[1][0] - first if len(steps) > 1 else rows
    if any(step != (first + k * pace, rows) for k, step in enumerate(steps)) or abs(pace) != rows:
        return None
    if any(a is not None and a.dtype != kind for a in arrays):
        return None
    return pace if products(kind) is not None else None


def _parts(gates: Any, size: int) -> list[Any]:
    """The gates of a step, each as a matrix."""
    return [gates[:, k : k + size] for k in range(0, gates.shape[1], size)]


def _going(pace: int, *arrays: Any) -> list[tuple[Any, int]]:
    """Operands that go on from step to step: rows out of those of all steps. None is left out."""
    return [(a, pace * a.strides[0]) for a in arrays if a is not None]


def _staying(*arrays: Any) -> list[tuple[Any, int]]:
    """Operands that every step finds in the same place."""
    return [(a, 0) for a in arrays if a is not None]


def _weights(
    d_in: Any, d_hidden: Any, x: Any, w_ih: Any, h0: Any, out: Any, steps: Steps, needs: tuple[bool, ...]
) -> tuple[Any, ...]:
    """Gradients of the input, both weights and both biases, from those of the projections."""
    bias = raw.sum_rows(d_in) if needs[3] else None
    if needs[4]:
        other = bias.copy() if d_in is d_hidden and bias is not None else raw.sum_rows(d_hidden)
    return (
        raw.mm(d_in, w_ih) if needs[0] else None,
        raw.fold_tn(d_in, x) if needs[1] else None,
        raw.fold_tn(d_hidden, _before(h0, out, steps)) if needs[2] else None,
        bias,
        other if needs[4] else None,
    )


def _before(h0: Any, out: Any, steps: Steps) -> Any:
    """The state before each step: those after, one step on."""
    rows, after = len(h0), out[: len(steps) * len(h0)]
    return np.concatenate((h0, after[:-rows]) if steps[0][0] == 0 else (after[rows:], h0))


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
        h0, gates = rows_of(h0), raw.linear(x, w_ih, _summed(b_ih, b_hh))
        (n, _), size, (first, rows) = gates.shape, c0.shape[1], steps[0]
        cells, out = np.empty((n, size), gates.dtype), np.empty((n, size), gates.dtype)
        c, buffer = c0.copy(order="C"), np.empty((rows, 4 * size), gates.dtype)
        now = slice(first, first + rows)
        a, hidden = _parts(gates[now], size), _parts(buffer, size)
        version = cell.version((*a, *hidden, c))
        if version is None:
            return NotImplemented
        turns, gone = Sequence(), _going(pace, *a)
        turned = np.ascontiguousarray(w_hh.T)  # once: every step would do so
        product = turns.product(h0, turned, buffer, pace * out.strides[0])
        results = (*gone, *_staying(c), *_going(pace, cells[now], out[now]))
        turns.elementwise(version.plan, [*gone, *_staying(*hidden, c), *results])
        turns.run(1)
        product.put(0, out[now])
        turns.run(len(steps) - 1)
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
        before = c0 if len(steps) == 1 else cells[last - pace : last - pace + rows]
        version = cell.version((dh, g_now, dc, *parts, before, cells[now]))
        if version is None:
            return NotImplemented
        turns = Sequence()
        inputs = [*_staying(dh), *_going(-pace, g_now), *_staying(dc), *_going(-pace, *parts, before, cells[now])]
        pass_ = turns.elementwise(version.plan, [*inputs, *_going(-pace, *step), *_staying(dc)])
        turns.product(d[now], w_hh, dh, -pace * d.strides[0])
        turns.run(len(steps) - 1)
        pass_.put(len(inputs) - 2, c0)
        turns.run(1)
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs), dh, dc, None)

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
        gates = raw.linear(x, w_ih, _summed(b_ih, early))
        inner, out = (np.empty((len(gates), size), gates.dtype) for _ in range(2))
        buffer, now = np.empty((rows, 3 * size), gates.dtype), slice(first, first + rows)
        a, hidden = _parts(gates[now], size), _parts(buffer, size)
        late = None if b_hh is None else np.broadcast_to(b_hh[2 * size :], (rows, size))
        version = cell.version((*a, *hidden, late, h0))
        if version is None:
            return NotImplemented
        turns, gone = Sequence(), _going(pace, *a)
        product = turns.product(h0, np.ascontiguousarray(w_hh.T), buffer, pace * out.strides[0])
        inputs = [*gone, *_staying(*hidden, late), (h0, pace * out.strides[0])]
        pass_ = turns.elementwise(version.plan, [*inputs, *gone, *_going(pace, inner[now], out[now])])
        turns.run(1)
        product.put(0, out[now])
        pass_.put(len(inputs) - 1, out[now])
        turns.run(len(steps) - 1)
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
        before = h0 if len(steps) == 1 else out[last - pace : last - pace + rows]
        parts, step = _parts(gates[now], size), _parts(d[now], size)
        version = cell.version((dh, g_now, *parts, inner[now], before))
        if version is None:
            return NotImplemented
        turns = Sequence()
        inputs = [*_staying(dh), *_going(-pace, g_now, *parts, inner[now], before)]
        pass_ = turns.elementwise(version.plan, [*inputs, *_going(-pace, *step, d_in[now, 2 * size :]), *_staying(dh)])
        turns.product(d[now], w_hh, dh, -pace * d.strides[0], adds=True)
        turns.run(len(steps) - 1)
        pass_.put(len(inputs) - 1, h0)
        turns.run(1)
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
        h0, out = rows_of(h0), raw.linear(x, w_ih, _summed(b_ih, b_hh))
        first, rows = steps[0]
        now, buffer = slice(first, first + rows), np.empty((rows, out.shape[1]), out.dtype)
        version = cell.version((out[now], buffer, relu))
        if version is None:
            return NotImplemented
        turns = Sequence()
        product = turns.product(h0, np.ascontiguousarray(w_hh.T), buffer, pace * out.strides[0])
        turns.elementwise(version.plan, [*_going(pace, out[now]), *_staying(buffer), *_going(pace, out[now])])
        turns.run(1)
        product.put(0, out[now])
        turns.run(len(steps) - 1)
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
        turns = Sequence()
        turns.elementwise(version.plan, [*_staying(dh), *_going(-pace, g_now, out[now], d[now])])
        turns.product(d[now], w_hh, dh, -pace * d.strides[0])
        turns.run(len(steps))
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs), dh)

    return run
