"""Recurrent layers with compiled cells: a step is a matrix product and one pass over the gates, and all steps are one call.

Sequences of one length only; packed ones, and outputs that are projected, take the portable way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import threads
from ..portable.layers.recurrent import Steps, _start
from ..registry import raw
from .kernel import Compiled
from .products.calls import add_product, products
from .sequences import Sequence, apart, one_turn_before, operand, parts

Layer = Callable[..., Any]
_MOST = 64  # sequences that a kernel keeps
rows_of = np.ascontiguousarray  # what takes another array's place must lie as that does


def _pace(steps: Steps, *arrays: Any) -> int | None:
    """How many rows it is from step to step; None where steps differ or are of no rows, or arrays are not of one type that
    has products."""
    kind = arrays[0].dtype
    for a in arrays:
        if a is not None and (a.dtype != kind or not a.size):
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
    if one is not None and other is not None:
        return one + other
    found = other if one is None else one
    return None if found is None else rows_of(found)


class Written:
    """The sequences of one kernel, each written once for the shapes and strides of its arrays."""

    def __init__(self) -> None:
        self.known: dict[Any, Sequence | None] = {}

    def find(self, arrays: list[Any], about: tuple[Any, ...], write: Callable[[], Sequence | None]) -> Sequence | None:
        """The sequence for such arrays; `about` is whatever else it depends on."""
        key = (*about, threads.number(), arrays[0].dtype.char, *[x.strides for x in arrays])
        if key in self.known:
            return self.known[key]
        made = write()
        if len(set(map(id, arrays))) == len(arrays):  # else two arguments that are one array would stay one
            if len(self.known) == _MOST:
                self.known.clear()
            self.known[key] = made
        return made


# Long short-term memory -------------------------------------------------------------------------------------


def lstm_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""
    written = Written()

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps) -> Any:
        pace = None if w_hr is not None else _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0, c0)
        if pace is None:
            return NotImplemented
        n, size, (first, rows), h0, bias = len(x), c0.shape[1], steps[0], rows_of(h0), _summed(b_ih, b_hh)
        w_in, w_state = w_ih.T, w_hh.T
        by_rows = apart(rows, w_in, w_state)
        gates = np.empty((n, 4 * size), x.dtype) if by_rows else raw.linear(x, w_ih, bias)
        cells, out = np.empty((n, size), x.dtype), np.empty((n, size), x.dtype)
        c, buffer = c0.copy(order="C"), np.empty((rows, 4 * size), x.dtype)

        def write() -> Sequence | None:
            version = cell.version((*[x] * 4, *[None if by_rows else x] * 4, x))
            if version is None:
                return None
            turns = Sequence(rows, len(steps), by_rows, arrays)
            of_gates, sums, of_c = parts(operand(gates, pace, first), size, 4), operand(buffer), operand(c)
            after = operand(out, pace, first)
            if by_rows:  # the input's projections of these rows, too, and the state's are added to them
                turns.product(operand(x, pace, first), w_in, sums, bias=bias)
            turns.product(one_turn_before(after, pace, h0, 0), w_state, sums, adds=by_rows)
            inputs = [*([] if by_rows else of_gates), *parts(sums, size, 4), of_c]
            turns.elementwise(version.plan, size, [*inputs, *of_gates, of_c, operand(cells, pace, first), after])
            return turns

        arrays = [x, w_in, w_state, h0, gates, cells, out, c, buffer, *([] if bias is None else [bias])]
        turns = written.find(arrays, (x.shape, size, pace, len(steps), first), write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        last = steps[-1][0]
        return out, out[last : last + rows].copy(), c, gates, cells

    return run


def lstm_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""
    written = Written()

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any, gates: Any,
        cells: Any, needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h, g_c = g
        by_row = w_hr is None and gates.ndim == 2  # (NumPy's own kernel keeps them otherwise)
        pace = _pace(steps, x, w_ih, w_hh, h0, c0, g_out, g_h, g_c) if by_row else None
        if pace is None:
            return NotImplemented
        size, (last, rows) = c0.shape[1], steps[-1]
        c0, cells = rows_of(c0), rows_of(cells)
        d, dh, dc = np.empty(gates.shape, gates.dtype), rows_of(_start(np, g_h, h0)), _start(np, g_c, c0)
        by_rows = apart(rows, w_ih, w_hh)
        dx = np.empty(x.shape, x.dtype) if by_rows and needs[0] else None

        def write() -> Sequence | None:
            version = cell.version((dh, g_out, dc, *[gates] * 4, c0, cells))
            if version is None:
                return None
            turns = Sequence(rows, len(steps), by_rows, arrays)
            of_dh, of_dc, of_d = operand(dh), operand(dc), operand(d, -pace, last)
            given = [] if g_out is None else [operand(g_out, -pace, last)]
            after = operand(cells, -pace, last)
            before = one_turn_before(after, pace, c0, len(steps) - 1)
            kept = [*parts(operand(gates, -pace, last), size, 4), before, after]
            turns.elementwise(version.plan, size, [of_dh, *given, of_dc, *kept, *parts(of_d, size, 4), of_dc])
            turns.product(of_d, w_hh, of_dh)
            if dx is not None:
                turns.product(of_d, w_ih, operand(dx, -pace, last))
            return turns

        arrays = [d, dh, dc, gates, cells, c0, w_hh]
        arrays += [each for each in (g_out, *((dx, w_ih) if dx is not None else ())) if each is not None]
        about = (x.shape, size, pace, len(steps), last, g_out is None, dx is None)
        turns = written.find(arrays, about, write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs, dx), dh, dc, None)

    return run


# Gated recurrent unit ---------------------------------------------------------------------------------------


def gru_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""
    written = Written()

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps) -> Any:
        pace = _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0)
        if pace is None:
            return NotImplemented
        size, (first, rows), h0 = h0.shape[1], steps[0], rows_of(h0)
        early = None if b_hh is None else np.concatenate((b_hh[: 2 * size], np.zeros(size, b_hh.dtype)))
        w_in, w_state = w_ih.T, w_hh.T
        bias, by_rows = _summed(b_ih, early), apart(rows, w_in, w_state)
        gates = np.empty((len(x), 3 * size), x.dtype) if by_rows else raw.linear(x, w_ih, bias)
        inner, out = (np.empty((len(gates), size), gates.dtype) for _ in range(2))
        both = np.empty((2, rows, 3 * size), gates.dtype)
        late = None if b_hh is None else np.broadcast_to(b_hh[2 * size :], (rows, size))

        def write() -> Sequence | None:
            version = cell.version((*[x] * 6, late, h0))
            if version is None:
                return None
            turns = Sequence(rows, len(steps), by_rows, arrays)
            of_gates = parts(operand(gates, pace, first), size, 3)
            after, of_input, of_state = operand(out, pace, first), operand(arrays[6]), operand(arrays[7])
            before = one_turn_before(after, pace, h0, 0)
            turns.product(before, w_state, of_state)
            if by_rows:
                turns.product(operand(x, pace, first), w_in, of_input, bias=bias)
            inputs = [*(parts(of_input, size, 3) if by_rows else of_gates), *parts(of_state, size, 3)]
            inputs += [before] if late is None else [operand(late), before]
            turns.elementwise(version.plan, size, [*inputs, *of_gates, operand(inner, pace, first), after])
            return turns

        arrays = [x, w_in, w_state, h0, gates, inner, both[0], both[1], out]
        arrays += [each for each in (bias, late) if each is not None]
        about = (x.shape, size, pace, len(steps), first, bias is None, late is None)
        turns = written.find(arrays, about, write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        last = steps[-1][0]
        return out, out[last : last + rows].copy(), gates, inner

    return run


def gru_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""
    written = Written()

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, out: Any, gates: Any, inner: Any,
        needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h = g
        pace = _pace(steps, x, w_ih, w_hh, h0, g_out, g_h)
        if pace is None:
            return NotImplemented
        size, (last, rows) = h0.shape[1], steps[-1]
        h0, out, dh = rows_of(h0), rows_of(out), rows_of(_start(np, g_h, h0))
        d, d_in = np.empty(gates.shape, gates.dtype), np.empty(gates.shape, gates.dtype)

        def write() -> Sequence | None:
            version = cell.version((dh, g_out, *[gates] * 3, inner, h0))
            if version is None:
                return None
            turns = Sequence(rows, len(steps), apart(rows, w_hh), arrays)
            of_dh, of_d, of_in = operand(dh), operand(d, -pace, last), operand(late, -pace, last)
            given = [] if g_out is None else [operand(g_out, -pace, last)]
            before = one_turn_before(operand(out, -pace, last), pace, h0, len(steps) - 1)
            kept = [*parts(operand(gates, -pace, last), size, 3), operand(inner, -pace, last), before]
            turns.elementwise(version.plan, size, [of_dh, *given, *kept, *parts(of_d, size, 3), of_in, of_dh])
            turns.product(of_d, w_hh, of_dh, adds=True)
            return turns

        late = d_in[:, 2 * size :]
        arrays = [d, dh, late, gates, inner, out, h0, w_hh, *([] if g_out is None else [g_out])]
        turns = written.find(arrays, (x.shape, size, pace, len(steps), last), write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        d_in[:, : 2 * size] = d[:, : 2 * size]
        return (*_weights(d_in, d, x, w_ih, h0, out, steps, needs), dh)

    return run


# Elman's network --------------------------------------------------------------------------------------------


def rnn_layer(cell: Compiled) -> Layer:
    """The layer, with a compiled cell."""
    written = Written()

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps, relu: bool) -> Any:
        pace = _pace(steps, x, w_ih, w_hh, b_ih, b_hh, h0)
        if pace is None:
            return NotImplemented
        (first, rows), h0, bias = steps[0], rows_of(h0), _summed(b_ih, b_hh)
        w_in, w_state = w_ih.T, w_hh.T
        by_rows = apart(rows, w_in, w_state)
        out = np.empty((len(x), len(w_ih)), x.dtype) if by_rows else raw.linear(x, w_ih, bias)

        def write() -> Sequence | None:
            version = cell.version((out, relu))
            if version is None:
                return None
            turns, after = Sequence(rows, len(steps), by_rows, arrays), operand(out, pace, first)
            if by_rows:
                turns.product(operand(x, pace, first), w_in, after, bias=bias)
            turns.product(one_turn_before(after, pace, h0, 0), w_state, after, adds=True)
            turns.elementwise(version.plan, out.shape[1], [after, after])
            return turns

        arrays = [x, w_in, w_state, h0, out, *([] if bias is None else [bias])]
        turns = written.find(arrays, (x.shape, out.shape, pace, len(steps), first, relu), write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        last = steps[-1][0]
        return out, out[last : last + rows].copy(), out[:0], out[:0]

    return run


def rnn_layer_backward(cell: Compiled) -> Layer:
    """Its gradients."""
    written = Written()

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, relu: bool, out: Any, notes: Any, space: Any,
        needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h = g
        pace = _pace(steps, x, w_ih, w_hh, h0, g_out, g_h)
        if pace is None:
            return NotImplemented
        last, rows = steps[-1]
        d, dh = np.empty(out.shape, out.dtype), rows_of(_start(np, g_h, h0))
        by_rows = apart(rows, w_ih, w_hh)
        dx = np.empty(x.shape, x.dtype) if by_rows and needs[0] else None

        def write() -> Sequence | None:
            version = cell.version((dh, g_out, out, relu))
            if version is None:
                return None
            turns = Sequence(rows, len(steps), by_rows, arrays)
            of_dh, of_d, after = operand(dh), operand(d, -pace, last), operand(out, -pace, last)
            given = [] if g_out is None else [operand(g_out, -pace, last)]
            turns.elementwise(version.plan, out.shape[1], [of_dh, *given, after, of_d])
            turns.product(of_d, w_hh, of_dh)
            if dx is not None:
                turns.product(of_d, w_ih, operand(dx, -pace, last))
            return turns

        arrays = [d, dh, out, w_hh]
        arrays += [each for each in (g_out, *((dx, w_ih) if dx is not None else ())) if each is not None]
        about = (x.shape, out.shape, pace, len(steps), last, relu, g_out is None, dx is None)
        turns = written.find(arrays, about, write)
        if turns is None:
            return NotImplemented
        turns.run(arrays)
        return (*_weights(d, d, x, w_ih, h0, out, steps, needs, dx), dh)

    return run
