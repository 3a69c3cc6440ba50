"""Recurrent layers: one direction of one layer over a whole sequence, forward and backward.

NOTE [Steps]: the rows of all time steps stand below each other in one matrix, as in a PackedSequence. `steps` lists
(first row, number of rows) in the order of processing; a batch of equal lengths is the case where all numbers are
equal. The state has a row for each sequence, longest first: a step changes its first rows. Hence sequences that end
early keep their last state, and, backwards, those that start late keep the initial one until then.
"""

from __future__ import annotations

from typing import Any

from ...quiet import quietly
from ...registry import kernel, raw

Steps = tuple[tuple[int, int], ...]


def _sigmoid_into(xp: Any, x: Any) -> None:
    x *= x.dtype.type(
        -1
    )  # (NumPy 2.4's `negative` writes wrong numbers where both arrays have some strides: a single column)
    xp.exp(x, out=x)
    x += x.dtype.type(1)
    xp.reciprocal(x, out=x)


def _projected(xp: Any, x: Any, weight: Any, *biases: Any) -> Any:
    """All input projections at once."""
    result = xp.matmul(x, weight.T)
    for bias in biases:
        if bias is not None:
            result += bias
    return result


def _before(xp: Any, first: Any, after: Any, steps: Steps) -> Any:
    """The state before each step, from the initial one and those after each step."""
    result = xp.empty((after.shape[0], first.shape[1]), after.dtype)
    state = first.copy()
    for start, rows in steps:
        result[start : start + rows] = state[:rows]
        state[:rows] = after[start : start + rows]
    return result


def _of_weights(xp: Any, d_in: Any, d_hidden: Any, x: Any, h_before: Any, w_ih: Any, needs: Any) -> tuple[Any, ...]:
    """Gradients of the input, both weights and both biases, from those of the projections."""
    return (
        xp.matmul(d_in, w_ih) if needs[0] else None,
        xp.matmul(d_in.T, x) if needs[1] else None,
        xp.matmul(d_hidden.T, h_before) if needs[2] else None,
        d_in.sum(0) if needs[3] else None,
        d_hidden.sum(0) if needs[4] else None,
    )


def _start(xp: Any, g: Any, like: Any) -> Any:
    """The gradient of the last state, as a buffer."""
    return xp.zeros(like.shape, like.dtype) if g is None else xp.array(g, like.dtype)


# Long short-term memory -------------------------------------------------------------------------------


@kernel("lstm_cell")
@quietly
def lstm_cell(xp: Any, i: Any, f: Any, z: Any, o: Any, hi: Any, hf: Any, hz: Any, ho: Any, c: Any) -> Any:
    """One step as an expression: the four gates from both projections (or from their sums, and None), the cell (twice: kept, and for the
    next step), the output."""
    if hi is not None:
        i, f, z, o = i + hi, f + hf, z + hz, o + ho
    i, f, o = (1 / (1 + xp.exp(-a)) for a in (i, f, o))
    z = xp.tanh(z)
    c = c * f + i * z
    return i, f, z, o, c, c, o * xp.tanh(c)


@kernel("lstm_gated")
def lstm_gated(xp: Any, gates: Any, c: Any) -> Any:
    """One step of what nobody differentiates: output and cell from what goes into the gates, which stand side by side.
    (Of all gates together a function is quicker than of parts, which lie apart.)"""
    n = c.shape[1]
    bent = raw.sigmoid(gates)
    c = bent[:, n : 2 * n] * c + bent[:, :n] * raw.tanh(gates[:, 2 * n : 3 * n].copy())
    return bent[:, 3 * n :] * raw.tanh(c), c


@kernel("lstm_cell_backward")
@quietly
def lstm_cell_backward(
    xp: Any, dh: Any, g: Any, dc: Any, i: Any, f: Any, z: Any, o: Any, before: Any, after: Any
) -> Any:
    """Gradients of what goes into the gates, and of the cell before: from those of the output (from the next step, and
    from outside or None) and of the cell after."""
    dh = dh if g is None else dh + g
    bent = xp.tanh(after)
    dc = dc + dh * (o * (1 - bent * bent))
    slopes = z * i * (1 - i), before * f * (1 - f), i * (1 - z * z), bent * o * (1 - o)
    return slopes[0] * dc, slopes[1] * dc, slopes[2] * dc, slopes[3] * dh, dc * f


@kernel("lstm_layer")
@quietly
def lstm_layer(
    xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps
) -> Any:
    """Outputs, last state and cell; then what the backward pass needs: gates and cells of all steps."""
    gates = _projected(xp, x, w_ih, b_ih, b_hh)
    n, size = gates.shape[0], c0.shape[1]
    cells, out = xp.empty((n, size), gates.dtype), xp.empty((n, h0.shape[1]), gates.dtype)
    h, c, turned = h0.copy(), c0.copy(), w_hh.T
    buffer, small = xp.empty((len(h0), 4 * size), gates.dtype), xp.empty((len(h0), size), gates.dtype)
    for start, rows in steps:
        a, tmp = gates[start : start + rows], small[:rows]
        a += xp.matmul(h[:rows], turned, out=buffer[:rows])
        _sigmoid_into(xp, a[:, : 2 * size])
        candidate = a[:, 2 * size : 3 * size]
        xp.tanh(candidate, out=candidate)
        _sigmoid_into(xp, a[:, 3 * size :])
        cell = c[:rows]
        cell *= a[:, size : 2 * size]
        cell += xp.multiply(a[:, :size], candidate, out=tmp)
        cells[start : start + rows] = cell
        xp.tanh(cell, out=tmp)
        tmp *= a[:, 3 * size :]
        h[:rows] = tmp if w_hr is None else xp.matmul(tmp, w_hr.T)
        out[start : start + rows] = h[:rows]
    return out, h, c, gates, cells


@kernel("lstm_layer_backward")
@quietly
def lstm_layer_backward(
    xp: Any, g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Steps, out: Any,
    gates: Any, cells: Any, needs: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Gradients of all inputs. What does not depend on the order of steps is computed for all of them at once."""
    g_out, g_h, g_c = g
    size = c0.shape[1]
    gates, cells = gates.reshape(len(out), 4 * size), cells.reshape(len(out), size)  # they may come step by step
    i, f, z, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
    bent = xp.tanh(cells)
    d = xp.empty_like(gates)  # the slopes of the gates; the loop turns them into gradients
    d[:, :size] = z * i * (1 - i)
    d[:, size : 2 * size] = _before(xp, c0, cells, steps) * f * (1 - f)
    d[:, 2 * size : 3 * size] = i * (1 - z * z)
    d[:, 3 * size :] = bent * o * (1 - o)
    through = o * (1 - bent * bent)
    dh, dc = _start(xp, g_h, h0), _start(xp, g_c, c0)
    all_dh = None if w_hr is None else xp.empty_like(out)
    for start, rows in reversed(steps):
        now = slice(start, start + rows)
        if g_out is not None:
            dh[:rows] += g_out[now]
        dht, cell, step = dh[:rows], dc[:rows], d[now]
        if all_dh is not None:
            all_dh[now] = dht
            dht = xp.matmul(dht, w_hr)
        cell += dht * through[now]
        inner = step.reshape(rows, 4, size)[:, :3]
        inner *= cell[:, None, :]
        step[:, 3 * size :] *= dht
        cell *= f[now]
        xp.matmul(step, w_hh, out=dh[:rows])
    five = _of_weights(xp, d, d, x, _before(xp, h0, out, steps) if needs[2] else None, w_ih, needs)
    d_hr = None if all_dh is None else xp.matmul(all_dh.T, o * bent)
    return (*five, dh, dc, d_hr)


# Gated recurrent unit ---------------------------------------------------------------------------------


@kernel("gru_cell")
@quietly
def gru_cell(xp: Any, r: Any, z: Any, n: Any, hr: Any, hz: Any, hn: Any, bias: Any, h: Any) -> Any:
    """One step as an expression: the three gates from both projections, the state's part of the last, the state."""
    inner = hn if bias is None else hn + bias
    r, z = (1 / (1 + xp.exp(-(a + b))) for a, b in ((r, hr), (z, hz)))
    n = xp.tanh(n + inner * r)
    return r, z, n, inner, (h - n) * z + n


@kernel("gru_gated")
def gru_gated(xp: Any, projected: Any, hidden: Any, h: Any) -> Any:
    """The state after one step of what nobody differentiates, from both projections."""
    n = h.shape[1]
    r_z = raw.sigmoid(projected[:, : 2 * n] + hidden[:, : 2 * n])
    new = raw.tanh(projected[:, 2 * n :] + r_z[:, :n] * hidden[:, 2 * n :])
    return (h - new) * r_z[:, n:] + new


@kernel("gru_cell_backward")
@quietly
def gru_cell_backward(xp: Any, dh: Any, g: Any, r: Any, z: Any, n: Any, inner: Any, before: Any) -> Any:
    """Gradients of the state's three projections, of the input's last, and of the state before, past the projections."""
    dh = dh if g is None else dh + g
    slope = (1 - z) * (1 - n * n) * dh
    return slope * inner * r * (1 - r), (before - n) * z * (1 - z) * dh, slope * r, slope, dh * z


@kernel("gru_layer")
@quietly
def gru_layer(xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps) -> Any:
    """Outputs and last state; then gates (reset, update, new) and the state's part of `new` at all steps."""
    gates = _projected(xp, x, w_ih, b_ih)
    n, size = gates.shape[0], h0.shape[1]
    inner, out = xp.empty((n, size), gates.dtype), xp.empty((n, size), gates.dtype)
    h, turned, buffer = h0.copy(), w_hh.T, xp.empty((len(h0), 3 * size), gates.dtype)
    for start, rows in steps:
        a, state = gates[start : start + rows], h[:rows]
        hidden = xp.matmul(state, turned, out=buffer[:rows])
        if b_hh is not None:
            hidden += b_hh
        both = a[:, : 2 * size]
        both += hidden[:, : 2 * size]
        _sigmoid_into(xp, both)
        inner[start : start + rows] = last = hidden[:, 2 * size :]
        new = a[:, 2 * size :]
        last *= a[:, :size]
        new += last
        xp.tanh(new, out=new)
        state -= new
        state *= a[:, size : 2 * size]
        state += new
        out[start : start + rows] = state
    return out, h, gates, inner


@kernel("gru_layer_backward")
@quietly
def gru_layer_backward(
    xp: Any, g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, out: Any, gates: Any, inner: Any,
    needs: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    g_out, g_h = g
    size = h0.shape[1]
    r, z, n = (gates[:, k * size : (k + 1) * size] for k in range(3))
    h_before = _before(xp, h0, out, steps)
    slope = (1 - z) * (1 - n * n)  # of the state by what goes into the tanh
    d = xp.empty_like(gates)  # slopes by the state's projection; the loop turns them into gradients
    d[:, :size] = slope * inner * r * (1 - r)
    d[:, size : 2 * size] = (h_before - n) * z * (1 - z)
    d[:, 2 * size :] = slope * r
    dh = _start(xp, g_h, h0)
    for start, rows in reversed(steps):
        now, state = slice(start, start + rows), dh[:rows]
        if g_out is not None:
            state += g_out[now]
        slope[now] *= state
        step = d[now].reshape(rows, 3, size)
        step *= state[:, None, :]
        state *= z[now]
        state += xp.matmul(d[now], w_hh)
    d_in = d.copy()
    d_in[:, 2 * size :] = slope
    return (*_of_weights(xp, d_in, d, x, h_before, w_ih, needs), dh)


# Elman's network --------------------------------------------------------------------------------------


@kernel("rnn_cell")
def rnn_cell(xp: Any, x: Any, relu: bool) -> Any:
    """One step as an expression of the sum of both projections."""
    return xp.maximum(x, x.dtype.type(0)) if relu else xp.tanh(x)


@kernel("rnn_cell_backward")
def rnn_cell_backward(xp: Any, dh: Any, g: Any, out: Any, relu: bool) -> Any:
    """The gradient of what goes into the cell."""
    dh = dh if g is None else dh + g
    return xp.where(out > 0, dh, xp.zeros_like(dh)) if relu else (1 - out * out) * dh


@kernel("rnn_layer")
@quietly
def rnn_layer(xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Steps, relu: bool) -> Any:
    """Outputs and last state; the backward pass needs nothing else (a library's may: kernels/cuda/recurrent.py)."""
    out = _projected(xp, x, w_ih, b_ih, b_hh)
    h, turned = h0.copy(), w_hh.T
    for start, rows in steps:
        a = out[start : start + rows]
        a += xp.matmul(h[:rows], turned)
        if relu:
            xp.maximum(a, a.dtype.type(0), out=a)
        else:
            xp.tanh(a, out=a)
        h[:rows] = a
    return out, h, out[:0], out[:0]


@kernel("rnn_layer_backward")
@quietly
def rnn_layer_backward(
    xp: Any, g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Steps, relu: bool, out: Any,
    notes: Any, space: Any, needs: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    g_out, g_h = g
    d = (out > 0).astype(out.dtype) if relu else 1 - out * out
    dh = _start(xp, g_h, h0)
    for start, rows in reversed(steps):
        now, state = slice(start, start + rows), dh[:rows]
        if g_out is not None:
            state += g_out[now]
        d[now] *= state
        xp.matmul(d[now], w_hh, out=state)
    h_before = _before(xp, h0, out, steps) if needs[2] else None
    return (*_of_weights(xp, d, d, x, h_before, w_ih, needs), dh)
