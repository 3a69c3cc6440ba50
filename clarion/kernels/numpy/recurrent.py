"""LSTM layers over sequences of one length, turned: in a step a feature lies beside the same feature of the other sequences.

A step is small, and what counts is how its product lies and how many calls it takes. With the state as columns, `w @ h`, BLAS
takes half as long as with rows, and the parts of the gates are whole pieces of memory. Their order in a step is z i f o: the three that
go through a sigmoid lie together. What is kept of all steps lies as usual. (Backwards, turning what was kept takes what it gains.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..portable.layers.recurrent import Steps
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
    gates, cells = np.empty((len(x), 4, size), x.dtype), np.empty((len(x), size), x.dtype)
    out = np.empty((len(x), size), x.dtype)
    h, cell = np.ascontiguousarray(h0.T), np.array(c0.T, order="C")
    buffer, product = np.empty_like(work[0]), np.empty_like(cell)
    for start, _ in steps:
        now = slice(start, start + rows)
        a = work[start // rows]
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
        h = np.multiply(product, o, product)
        out[now], cells[now] = h.T, cell.T
        gates[now, :2] = a[size : 3 * size].reshape(2, size, rows).transpose(2, 0, 1)
        gates[now, 2], gates[now, 3] = z.T, o.T
        product = np.empty_like(h)
    return out, np.ascontiguousarray(h.T), np.ascontiguousarray(cell.T), gates.reshape(len(x), 4 * size), cells
