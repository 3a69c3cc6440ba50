"""LSTM layers over sequences of one length, turned: in a step a feature lies beside the same feature of the other sequences.

A step is small, and what counts is how its product lies and how many calls it takes. With the state as columns, `w @ h`, BLAS
takes half as long as with rows, and the parts of the gates are whole pieces of memory; the input, and a row of ones for the bias,
stand above the state, so that a step is one product. What is kept lies as it was computed, a gate of all steps after the
other, and is given out as (step, sequence, gate, feature): reshaped it is what the other kernels keep.
"""

from __future__ import annotations

import functools
from itertools import repeat
from typing import Any

import numpy as np

from ..portable.layers.recurrent import Steps
from ..quiet import quietly
from ..registry import offer

_ONE = {kind: np.ones((), kind) for kind in "fd"}


def _one_length(*args: Any) -> bool:
    """Has every step all sequences, step after step or back, and are all arrays of one type that NumPy computes in?

    Outputs are not projected.
    """
    *arrays, projection, steps = args
    kind, rows = arrays[0].dtype, arrays[-1].shape[0]
    if projection is not None or kind.char not in _ONE or any(a is not None and a.dtype != kind for a in arrays):
        return False
    return bool(rows and steps) and steps in _regular(len(steps), rows)


@functools.lru_cache(64)
def _regular(count: int, rows: int) -> tuple[Steps, Steps]:
    forwards = tuple([(k * rows, rows) for k in range(count)])
    return forwards, forwards[::-1]


def _turned(x: Any, rows: int) -> Any:
    """(steps * rows, features) as (steps, features, rows), nothing copied."""
    return x.reshape(-1, rows, x.shape[1]).swapaxes(1, 2)


def _weight(w_ih: Any, b_ih: Any, b_hh: Any, w_hh: Any) -> Any:
    """Both weights and the biases beside each other, the gates that are sigmoids first: they get the sign that its exponential needs."""
    width, size, one = w_ih.shape[1], w_hh.shape[1], _ONE[w_hh.dtype.char]
    bias = np.zeros((4 * size, 1), w_hh.dtype)
    for each in (b_ih, b_hh):
        if each is not None:
            bias[:, 0] += each
    weight = np.empty((4, size, width + 1 + size), w_hh.dtype)
    for part, begin, end in ((w_ih, 0, width), (bias, width, width + 1), (w_hh, width + 1, None)):
        i_f_z_o, i_f_o_z = part.reshape(4, size, -1), weight[:, :, begin:end]
        np.multiply(i_f_z_o[:2], -one, i_f_o_z[:2])
        np.multiply(i_f_z_o[3], -one, i_f_o_z[2])
        i_f_o_z[3] = i_f_z_o[2]
    return weight.reshape(4 * size, -1)


@offer("lstm_layer", "numpy", accepts=_one_length)
@quietly
def lstm_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps) -> Any:
    """Outputs, last state and cell; then gates and cells of all steps."""
    (rows, size), width, count, kind = c0.shape, x.shape[1], len(steps), x.dtype
    one, weight, way = _ONE[kind.char], _weight(w_ih, b_ih, b_hh, w_hh), _way(steps)
    inputs = np.empty((count + 1, width + 1 + size, rows), kind)  # in the order of processing
    inputs[:count, :width], inputs[:count, width] = _turned(x, rows)[way], 1
    states = inputs[:, width + 1 :]
    states[0] = h0.T
    gates, cells = np.empty((4, count, size, rows), kind), np.empty((count, size, rows), kind)
    sums, product = np.empty((4, size, rows), kind), np.empty((size, rows), kind)
    whole, sigmoids, candidate = sums.reshape(4 * size, rows), sums[:3], sums[3]
    cell = c0.T
    for now, i, f, z, o, place, h in zip(inputs, *gates[:, way], cells[way], states[1:], strict=False):
        np.matmul(weight, now, whole)
        np.exp(sigmoids, sigmoids)
        np.add(sigmoids, one, sigmoids)
        for each, gate in zip(sigmoids, (i, f, o), strict=True):
            np.divide(one, each, gate)
        np.tanh(candidate, z)
        np.multiply(i, z, product)
        cell = np.multiply(cell, f, place)
        np.add(cell, product, cell)
        np.multiply(np.tanh(cell, product), o, h)
    out = np.ascontiguousarray(states[1:][way].swapaxes(1, 2)).reshape(len(x), size)
    kept = gates.transpose(1, 3, 0, 2), cells.swapaxes(1, 2)
    return out, np.ascontiguousarray(h.T), np.ascontiguousarray(cell.T), *kept


def _way(steps: Steps) -> slice:
    """Steps in the order of processing, of those in order."""
    return slice(None) if steps[0][0] == 0 else slice(None, None, -1)


def _as_kept_here(*args: Any) -> bool:
    """Are these the gates of the kernel above, and the gradients of their type?"""
    gates = args[9]
    return gates.ndim == 4 and all(g is None or g.dtype == gates.dtype for g in args[0])


@offer("lstm_layer_backward", "numpy", accepts=_as_kept_here)
@quietly
def lstm_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any,
    gates: Any, cells: Any, needs: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    (rows, size), count, forwards, kind = c0.shape, len(steps), steps[0][0] == 0, x.dtype
    gates, cells = gates.transpose(2, 0, 3, 1), cells.swapaxes(1, 2)
    d, through = _slopes(gates, cells, _before(c0.T, cells, forwards))  # the loop turns slopes into gradients
    g_out = repeat(None) if g[0] is None else np.ascontiguousarray(_turned(g[0], rows))[_way(steps)][::-1]
    dh, dc = (np.zeros((size, rows), kind) if each is None else np.array(each.T, order="C") for each in g[1:])
    back, product = np.ascontiguousarray(w_hh.T), np.empty_like(dh)
    parts = through, d[:, :3], d[:, 3], d.reshape(count, 4 * size, rows), gates[1]
    each = zip(g_out, *[part[_way(steps)][::-1] for part in parts], strict=False)
    for from_out, to_cell, inner, last, whole, forget in each:
        if from_out is not None:
            np.add(dh, from_out, dh)
        np.add(dc, np.multiply(dh, to_cell, product), dc)
        np.multiply(inner, dc, inner)
        np.multiply(last, dh, last)
        np.multiply(dc, forget, dc)
        np.matmul(back, whole, dh)
    d = np.ascontiguousarray(_rows(d.reshape(count, 4 * size, rows)).T).view(x.dtype).reshape(4 * size, len(x))
    before = _before(h0, out.reshape(count, rows, size), forwards).reshape(out.shape) if needs[2] else None
    bias = np.matmul(d, np.ones(len(x), x.dtype)) if needs[3] or needs[4] else None
    return (
        np.matmul(d.T, w_ih) if needs[0] else None,
        np.matmul(d, x) if needs[1] else None,
        np.matmul(d, before) if needs[2] else None,
        bias if needs[3] else None,
        bias.copy() if needs[4] else None,
        np.ascontiguousarray(dh.T),
        np.ascontiguousarray(dc.T),
        None,
    )


def _rows(x: Any) -> Any:
    """The last dimension as one element, which NumPy copies whole."""
    return x.view(np.dtype((np.void, x.shape[-1] * x.itemsize)))[..., 0]


def _before(first: Any, after: Any, forwards: bool) -> Any:
    """What each step began with: the initial state, or what the step before it ended with."""
    result = np.empty_like(after)
    if forwards:
        result[0], result[1:] = first, after[:-1]
    else:
        result[-1], result[:-1] = first, after[1:]
    return result


def _slopes(gates: Any, cells: Any, before: Any) -> tuple[Any, Any]:
    """Derivatives of the cell by what goes into the first three gates, of the output by what goes into the last, step by step; then
    of the output by the cell. `before` is overwritten."""
    i, f, z, o = gates
    one, bent, room = _ONE[cells.dtype.char], np.tanh(cells), np.empty_like(cells)
    count, size, rows = cells.shape
    # A row more: what is read in steps of a power of two falls into few places of the cache.
    slopes = np.empty((count, 4 * size + 1, rows), cells.dtype)[:, : 4 * size].reshape(count, 4, size, rows)
    for gate, factor, slope in ((i, z, slopes[:, 0]), (f, before, slopes[:, 1]), (o, bent, slopes[:, 3])):
        np.subtract(one, gate, room)
        np.multiply(room, gate, room)
        np.multiply(room, factor, slope)
    for value, factor, slope in ((z, i, slopes[:, 2]), (bent, o, before)):
        np.multiply(value, value, room)
        np.subtract(one, room, room)
        np.multiply(room, factor, slope)
    return slopes, before
