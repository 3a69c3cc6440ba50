"""LSTM layers over sequences of one length, turned: a feature lies beside the same feature of the other sequences.

A step is small, and what counts is how its product lies and how many calls it takes. With the state as columns, `w @ h`, BLAS
takes half as long as with rows, and the parts of the gates are whole pieces of memory. Their order in a step is z i f o: the three that
go through a sigmoid lie together. What is kept of all steps lies in the usual order, (features, steps * sequences), seen turned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..blocks import ones
from ..portable.layers.recurrent import Steps, _start
from ..quiet import quietly
from ..registry import offer

_ONE = {kind: np.ones((), kind) for kind in "fd"}


def _in_order(parts: Any, size: int) -> Any:
    """Rows of the gates i f z o as z i f o."""
    return np.concatenate((parts[2 * size : 3 * size], parts[: 2 * size], parts[3 * size :]))


def _one_length(*args: Any) -> bool:
    """Has every step all sequences, and are all arrays of one type that NumPy computes in? Outputs are not projected."""
    *arrays, projection, steps = args
    kind, rows = arrays[0].dtype, arrays[-1].shape[0]
    if projection is not None or kind.char not in _ONE or any(a is not None and a.dtype != kind for a in arrays):
        return False
    return bool(rows and steps) and all(count == rows for _, count in steps)


def _places(steps: Steps, rows: int) -> list[int]:
    """Which step of the sequence is processed first, second, …"""
    return [start // rows for start, _ in steps]


def _turned(x: Any, rows: int) -> Any:
    """(steps * rows, features) as (steps, features, rows), nothing copied."""
    return x.reshape(-1, rows, x.shape[1]).swapaxes(1, 2)


@offer("lstm_layer", "numpy", accepts=_one_length)
@quietly
def lstm_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps) -> Any:
    """Outputs, last state and cell; then gates and cells of all steps."""
    rows, size = c0.shape
    one = _ONE[x.dtype.char]
    # What goes into a sigmoid is computed with the opposite sign, as its exponential needs it.
    sign = np.repeat(np.asarray([1, -1], x.dtype), [size, 3 * size])[:, None]
    state_weight = _in_order(w_hh, size) * sign
    work = np.matmul(_in_order(w_ih, size) * sign, _turned(x, rows))
    for bias in (b_ih, b_hh):
        if bias is not None:
            work += _in_order(bias, size)[:, None] * sign
    gates, cells = np.empty((4, size, len(work), rows), x.dtype), np.empty((size, len(work), rows), x.dtype)
    out = np.empty((len(work), size, rows), x.dtype)
    h, cell = np.ascontiguousarray(h0.T), np.array(c0.T, order="C")
    buffer, product = np.empty_like(work[0]), np.empty_like(cell)
    for t in _places(steps, rows):
        a = work[t]
        a += np.matmul(state_weight, h, buffer)
        z, three = a[:size], a[size:]
        np.tanh(z, z)
        np.exp(three, three)
        np.add(three, one, three)
        np.divide(one, three, three)
        i, f, o = three.reshape(3, size, rows)
        np.multiply(cell, f, cell)
        np.add(cell, np.multiply(i, z, product), cell)
        np.tanh(cell, product)
        h = np.multiply(product, o, out[t])
        cells[:, t] = cell
        gates[:2, :, t] = three[: 2 * size].reshape(2, size, rows)
        gates[2, :, t] = z
        gates[3, :, t] = o
    flat = np.ascontiguousarray(out.swapaxes(1, 2)).reshape(len(x), size)
    last, cell = np.ascontiguousarray(h.T), np.ascontiguousarray(cell.T)
    return flat, last, cell, gates.reshape(4 * size, len(x)).T, cells.reshape(size, len(x)).T


def _one_length_backward(g: Any, *args: Any) -> bool:
    """The same, with gradients in front, and behind what forward has computed."""
    x, w_ih, w_hh, h0, c0, w_hr, steps, *kept, _ = args
    return _one_length(x, w_ih, w_hh, *g, *kept, h0, c0, w_hr, steps)


@offer("lstm_layer_backward", "numpy", accepts=_one_length_backward)
@quietly
def lstm_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any, gates: Any, cells: Any,
    needs: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    (g_out, g_h, g_c), (rows, size), places = g, c0.shape, _places(steps, len(c0))
    every = _by_steps(gates, 4, rows)
    d, through = _slopes(every, _by_steps(cells, 1, rows)[:, 0], c0.T, places)
    dh, dc = np.ascontiguousarray(_start(np, g_h, h0).T), np.ascontiguousarray(_start(np, g_c, c0).T)
    upstream = None if g_out is None else np.ascontiguousarray(_turned(g_out, rows))
    weight, part = w_hh.T, np.empty_like(dh)
    for t in reversed(places):
        step = d[t]
        if upstream is not None:
            dh += upstream[t]
        dc += np.multiply(dh, through[t], part)
        inner, last = step[:3], step[3]
        inner *= dc
        last *= dh
        dc *= every[t, 1]
        np.matmul(weight, step.reshape(4 * size, rows), dh)
    flat = np.ascontiguousarray(d.transpose(1, 2, 0, 3)).reshape(4 * size, len(x))
    bias = flat.dot(ones(len(x), flat.dtype.char)) if needs[3] or needs[4] else None
    return (
        np.matmul(flat.T, w_ih) if needs[0] else None,
        np.matmul(flat, x) if needs[1] else None,
        np.matmul(flat, _states_before(out, h0, places)) if needs[2] else None,
        bias if needs[3] else None,
        bias.copy() if needs[3] and needs[4] else bias if needs[4] else None,
        np.ascontiguousarray(dh.T),
        np.ascontiguousarray(dc.T),
        None,
    )


def _states_before(out: Any, h0: Any, places: list[int]) -> Any:
    """The state before each step, one row for each sequence."""
    rows, size = h0.shape
    after, before = out.reshape(-1, rows, size), np.empty((len(places), rows, size), out.dtype)
    before[places[0]] = h0
    before[places[1:]] = after[places[:-1]]
    return before.reshape(out.shape)


def _by_steps(kept: Any, count: int, rows: int) -> Any:
    """What is kept, (steps * rows, count * features), as (steps, count, features, rows)."""
    turned = kept.T.reshape(count, kept.shape[1] // count, kept.shape[0] // rows, rows)
    return np.ascontiguousarray(turned.transpose(2, 0, 1, 3))


def _slopes(gates: Any, cells: Any, first: Any, places: list[int]) -> tuple[Any, Any]:
    """How gates and cells react to what goes into them; the loop turns the gates' into gradients."""
    i, f, z, o = (gates[:, k] for k in range(4))
    one = _ONE[cells.dtype.char]
    d = np.empty(gates.shape, gates.dtype)
    bent, part = np.tanh(cells), np.empty_like(cells)
    before = np.empty_like(cells)
    before[places[0]] = first
    before[places[1:]] = cells[places[:-1]]
    for gate, factor, slope in ((i, z, d[:, 0]), (f, before, d[:, 1]), (o, bent, d[:, 3])):
        np.subtract(one, gate, part)
        np.multiply(part, gate, part)
        np.multiply(part, factor, slope)
    np.multiply(z, z, part)
    np.subtract(one, part, part)
    np.multiply(part, i, d[:, 2])
    np.multiply(bent, bent, bent)
    np.subtract(one, bent, bent)
    np.multiply(bent, o, bent)
    return d, bent
