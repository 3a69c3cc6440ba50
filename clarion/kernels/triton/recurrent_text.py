"""Cells of recurrent layers: the texts of the kernels. Each program takes some elements of the state of one time step.

They are the cells of kernels/portable/layers/recurrent.py: computed in float32 (float64 for float64), rounded when they are stored.
`gates` holds the gates of a time step beside each other, row by row; forward, what goes into them is overwritten by what they are.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _places(count, size, GATES: tl.constexpr, B: tl.constexpr):
    """Where elements lie: in the state, in the first of the gates, and which are there."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    return at, at // size * (GATES * size) + at % size, at < count


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def lstm(gates, before, cells, out, count, size, KIND: tl.constexpr, B: tl.constexpr):
    """Gates from what goes into them, the cell from the one before, the output."""
    at, first, inside = _places(count, size, 4, B)
    kind = gates.dtype.element_ty
    i = _sigmoid(tl.load(gates + first, mask=inside, other=0.0).to(KIND))
    f = _sigmoid(tl.load(gates + first + size, mask=inside, other=0.0).to(KIND))
    z = libdevice.tanh(tl.load(gates + first + 2 * size, mask=inside, other=0.0).to(KIND))
    o = _sigmoid(tl.load(gates + first + 3 * size, mask=inside, other=0.0).to(KIND))
    c = tl.load(before + at, mask=inside, other=0.0).to(KIND) * f + i * z
    tl.store(gates + first, i.to(kind), mask=inside)
    tl.store(gates + first + size, f.to(kind), mask=inside)
    tl.store(gates + first + 2 * size, z.to(kind), mask=inside)
    tl.store(gates + first + 3 * size, o.to(kind), mask=inside)
    tl.store(cells + at, c.to(kind), mask=inside)
    tl.store(out + at, (o * libdevice.tanh(c)).to(kind), mask=inside)


@triton.jit
def lstm_backward(
    dh, g, dc, gates, before, cells, d, count, size, OUTSIDE: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr
):
    """Gradients of what goes into the gates, and of the cell before, which takes the place of that of the cell after."""
    at, first, inside = _places(count, size, 4, B)
    kind = d.dtype.element_ty
    i = tl.load(gates + first, mask=inside, other=0.0).to(KIND)
    f = tl.load(gates + first + size, mask=inside, other=0.0).to(KIND)
    z = tl.load(gates + first + 2 * size, mask=inside, other=0.0).to(KIND)
    o = tl.load(gates + first + 3 * size, mask=inside, other=0.0).to(KIND)
    to_out = tl.load(dh + at, mask=inside, other=0.0).to(KIND)
    if OUTSIDE:
        to_out += tl.load(g + at, mask=inside, other=0.0).to(KIND)
    bent = libdevice.tanh(tl.load(cells + at, mask=inside, other=0.0).to(KIND))
    to_cell = tl.load(dc + at, mask=inside, other=0.0).to(KIND) + to_out * o * (1.0 - bent * bent)
    was = tl.load(before + at, mask=inside, other=0.0).to(KIND)
    tl.store(d + first, (to_cell * z * i * (1.0 - i)).to(kind), mask=inside)
    tl.store(d + first + size, (to_cell * was * f * (1.0 - f)).to(kind), mask=inside)
    tl.store(d + first + 2 * size, (to_cell * i * (1.0 - z * z)).to(kind), mask=inside)
    tl.store(d + first + 3 * size, (to_out * bent * o * (1.0 - o)).to(kind), mask=inside)
    tl.store(dc + at, (to_cell * f).to(kind), mask=inside)


@triton.jit
def gru(gates, hidden, before, inner, out, count, size, KIND: tl.constexpr, B: tl.constexpr):
    """Gates from both projections, the state's part of the last, the state from the one before."""
    at, first, inside = _places(count, size, 3, B)
    kind = gates.dtype.element_ty
    r = tl.load(gates + first, mask=inside, other=0.0).to(KIND)
    r = _sigmoid(r + tl.load(hidden + first, mask=inside, other=0.0).to(KIND))
    z = tl.load(gates + first + size, mask=inside, other=0.0).to(KIND)
    z = _sigmoid(z + tl.load(hidden + first + size, mask=inside, other=0.0).to(KIND))
    part = tl.load(hidden + first + 2 * size, mask=inside, other=0.0).to(KIND)
    n = libdevice.tanh(tl.load(gates + first + 2 * size, mask=inside, other=0.0).to(KIND) + part * r)
    h = tl.load(before + at, mask=inside, other=0.0).to(KIND)
    tl.store(gates + first, r.to(kind), mask=inside)
    tl.store(gates + first + size, z.to(kind), mask=inside)
    tl.store(gates + first + 2 * size, n.to(kind), mask=inside)
    tl.store(inner + at, part.to(kind), mask=inside)
    tl.store(out + at, ((h - n) * z + n).to(kind), mask=inside)


@triton.jit
def gru_backward(
    dh, g, gates, inner, before, d, d_in, count, size, OUTSIDE: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr
):
    """Gradients of both projections; of the state before, past them, in the place of that of the state after."""
    at, first, inside = _places(count, size, 3, B)
    kind = d.dtype.element_ty
    r = tl.load(gates + first, mask=inside, other=0.0).to(KIND)
    z = tl.load(gates + first + size, mask=inside, other=0.0).to(KIND)
    n = tl.load(gates + first + 2 * size, mask=inside, other=0.0).to(KIND)
    to_out = tl.load(dh + at, mask=inside, other=0.0).to(KIND)
    if OUTSIDE:
        to_out += tl.load(g + at, mask=inside, other=0.0).to(KIND)
    slope = (1.0 - z) * (1.0 - n * n) * to_out
    of_r = (slope * tl.load(inner + at, mask=inside, other=0.0).to(KIND) * r * (1.0 - r)).to(kind)
    of_z = ((tl.load(before + at, mask=inside, other=0.0).to(KIND) - n) * z * (1.0 - z) * to_out).to(kind)
    tl.store(d + first, of_r, mask=inside)
    tl.store(d_in + first, of_r, mask=inside)
    tl.store(d + first + size, of_z, mask=inside)
    tl.store(d_in + first + size, of_z, mask=inside)
    tl.store(d + first + 2 * size, (slope * r).to(kind), mask=inside)
    tl.store(d_in + first + 2 * size, slope.to(kind), mask=inside)
    tl.store(dh + at, (to_out * z).to(kind), mask=inside)


@triton.jit
def rnn(out, count, RELU: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr):
    """The state from what goes into it, in its place."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(out + at, mask=at < count, other=0.0).to(KIND)
    y = tl.maximum(x, 0.0, tl.PropagateNan.ALL) if RELU else libdevice.tanh(x)
    tl.store(out + at, y.to(out.dtype.element_ty), mask=at < count)


@triton.jit
def rnn_backward(dh, g, out, d, count, RELU: tl.constexpr, OUTSIDE: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr):
    """The gradient of what goes into the state."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < count
    to_out = tl.load(dh + at, mask=inside, other=0.0).to(KIND)
    if OUTSIDE:
        to_out += tl.load(g + at, mask=inside, other=0.0).to(KIND)
    y = tl.load(out + at, mask=inside, other=0.0).to(KIND)
    r = tl.where(y > 0.0, to_out, 0.0) if RELU else (1.0 - y * y) * to_out
    tl.store(d + at, r.to(d.dtype.element_ty), mask=inside)
