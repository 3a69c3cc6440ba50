"""Recurrent layers with compiled cells: a step is a matrix product and one pass over the gates.

Sequences of one length only; packed ones, and outputs that are projected, take the portable way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..portable.layers.recurrent import Steps, _before, _start
from ..registry import raw
from .kernel import Compiled

Cell = Callable[..., Any]


def _even(steps: Steps, *arrays: Any) -> bool:
    """Have all steps as many rows, and all arrays one type?"""
    rows, kind = steps[0][1], arrays[0].dtype
    return all(n == rows for _, n in steps) and all(a is None or a.dtype == kind for a in arrays)


def _parts(gates: Any, start: int, rows: int, size: int) -> list[Any]:
    """The gates of a step, each as a matrix."""
    step = gates[start : start + rows]
    return [step[:, k : k + size] for k in range(0, step.shape[1], size)]


def _weights(d: Any, x: Any, h_before: Callable[[], Any], w_ih: Any, needs: tuple[bool, ...]) -> tuple[Any, ...]:
    """Gradients of the input, both weights and both biases, from those of the gates."""
    bias = raw.sum_rows(d) if needs[3] or needs[4] else None
    return (
        raw.mm(d, w_ih) if needs[0] else None,
        raw.fold_tn(d, x) if needs[1] else None,
        raw.fold_tn(d, h_before()) if needs[2] else None,
        bias if needs[3] else None,
        bias if not needs[3] or bias is None else bias.copy() if needs[4] else None,
    )


def lstm_layer(cell: Compiled) -> Cell:
    """The layer, with a compiled cell."""

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps) -> Any:
        if w_hr is not None or not steps or not _even(steps, x, w_ih, w_hh, b_ih, b_hh, h0, c0):
            return NotImplemented
        gates = raw.linear(x, w_ih, b_ih if b_hh is None else b_hh if b_ih is None else b_ih + b_hh)
        (n, _), size, rows = gates.shape, c0.shape[1], steps[0][1]
        cells, out = np.empty((n, size), gates.dtype), np.empty((n, size), gates.dtype)
        h, c, turned = h0, c0.copy(), np.ascontiguousarray(w_hh.T)  # turned once: BLAS would do so in every step
        buffer = np.empty((rows, 4 * size), gates.dtype)
        hidden = _parts(buffer, 0, rows, size)
        for start, _ in steps:
            np.matmul(h, turned, out=buffer)
            a, h = _parts(gates, start, rows, size), out[start : start + rows]
            if cell(*a, *hidden, c, out=(*a, c, cells[start : start + rows], h)) is NotImplemented:
                return NotImplemented
        return out, h.copy(), c, gates, cells

    return run


def lstm_layer_backward(cell: Compiled) -> Cell:
    """Its gradients."""

    def run(
        g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any, gates: Any,
        cells: Any, needs: tuple[bool, ...],
    ) -> Any:  # fmt: skip
        g_out, g_h, g_c = g
        if w_hr is not None or not steps or not _even(steps, x, w_ih, w_hh, h0, c0, g_out, g_h, g_c):
            return NotImplemented
        size, rows = c0.shape[1], steps[0][1]
        d, dh, dc = np.empty_like(gates), _start(np, g_h, h0), _start(np, g_c, c0)
        starts = [start for start, _ in steps]
        for k in range(len(starts) - 1, -1, -1):
            start = starts[k]
            before = cells[starts[k - 1] : starts[k - 1] + rows] if k else c0
            g_now = None if g_out is None else g_out[start : start + rows]
            parts = _parts(gates, start, rows, size)
            step = _parts(d, start, rows, size)
            done = cell(dh, g_now, dc, *parts, before, cells[start : start + rows], out=(*step, dc))
            if done is NotImplemented:
                return NotImplemented
            np.matmul(d[start : start + rows], w_hh, out=dh)
        five = _weights(d, x, lambda: _before(np, h0, out, steps), w_ih, needs)
        return (*five, dh, dc, None)

    return run
