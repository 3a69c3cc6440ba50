"""Recurrent layers over batches of equal lengths, where they are not cuDNN's (cuda/recurrent.py): for each time step one product and one
cell, each launched as prepared.

What does not depend on the order of steps is one product for all of them. Packed sequences and projections of the state take the portable
kernels (kernels/portable/layers/recurrent.py), which say what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy
import triton.language as tl

from ..cuda.arrays import new
from ..cuda.cublaslt import plan_for
from ..cuda.products import fold_mm, fold_tn, linear
from ..cuda.recurrent import takes
from ..registry import offer, raw
from . import recurrent_text as text
from .build import FLOATS, Kernel, Launch
from .rows import _kept

_lstm, _lstm_backward = Kernel(text.lstm), Kernel(text.lstm_backward)
_gru, _gru_backward = Kernel(text.gru), Kernel(text.gru_backward)
_rnn, _rnn_backward = Kernel(text.rnn), Kernel(text.rnn_backward)
_BLOCK = 256


class At:
    """Rows of an array, as launches and products ask for them: a real view would take longer than the launch."""

    __slots__ = ("dtype", "ptr")

    def __init__(self, array: Any, row: int) -> None:
        self.dtype, self.ptr = array.dtype, array.data.ptr + row * array.strides[0]

    @property
    def data(self) -> At:
        """Itself: it knows where it is."""
        return self


def _equal(steps: Any) -> bool:
    """Are all steps of the same number of rows, side by side, in order or backwards?"""
    rows = steps[0][1]
    order = steps if steps[0][0] == 0 else steps[::-1]
    return all(step == (i * rows, rows) for i, step in enumerate(order))


def _fits(x: Any, h0: Any, steps: Any, *others: Any) -> bool:
    kinds = {each.dtype for each in (x, h0, *others) if each is not None}
    return (
        x.dtype in FLOATS
        and not takes(x)
        and len(kinds) == 1
        and bool(steps)
        and h0.size > 0
        and x.size > 0
        and h0.nbytes % 16 == 0
        and _equal(steps)
    )


def _launch(kernel: Kernel, like: Any, gates: int, **modes: Any) -> Launch:
    """The launch of a cell for states like this one."""
    count, size = like.size, like.shape[1]
    kind = tl.float64 if like.itemsize == 8 else tl.float32
    numbers = (count, size) if gates > 1 else (count,)
    make = partial(Launch, kernel, (-(-count // _BLOCK),), numbers, KIND=kind, B=_BLOCK, **modes)
    return _kept((id(kernel), like.shape, like.dtype, tuple(modes.values())), make)  # type: ignore[no-any-return]


def _rows(array: Any) -> Any:
    return cupy.ascontiguousarray(array)


def _projected(x: Any, weight: Any, first: Any, second: Any = None) -> Any:
    """All projections of the input at once."""
    bias = first if second is None else second if first is None else raw.add(first, second)
    x, weight = _rows(x), _rows(weight)
    return raw.fold_nt(x, weight) if bias is None else linear(x, weight, _rows(bias))


def _walk(first: Any, after: Any, steps: Any) -> Iterator[tuple[int, Any]]:
    """Each step in order: its first row, and where the state before it lies."""
    before: Any = first
    for start, _ in steps:
        yield start, before
        before = At(after, start)


def _back(first: Any, after: Any, steps: Any) -> Iterator[tuple[int, Any]]:
    """The same from the last step to the first."""
    for (start, _), (earlier, _) in zip(steps[:0:-1], steps[-2::-1], strict=True):
        yield start, At(after, earlier)
    yield steps[0][0], first


def _states_before(first: Any, after: Any, steps: Any) -> Any:
    """The state before each step, in the order of the rows."""
    rows = steps[0][1]
    if steps[0][0] == 0:
        return cupy.concatenate([first, after[:-rows]]) if len(steps) > 1 else first
    return cupy.concatenate([after[rows:], first])


def _last(out: Any, steps: Any) -> Any:
    start, rows = steps[-1]
    return out[start : start + rows].copy()


def _start(g: Any, like: Any) -> Any:
    """The gradient of the last state, as memory to be written to."""
    return cupy.zeros_like(like, order="C") if g is None else cupy.array(g, like.dtype, order="C")


def _of_weights(d_in: Any, d_hidden: Any, x: Any, before: Any, w_ih: Any, needs: Any) -> tuple[Any, ...]:
    """Gradients of the input, both weights and both biases, from those of the projections."""
    of_in = raw.sum_rows(d_in) if needs[3] or needs[4] else None
    of_hidden = of_in if d_hidden is d_in else raw.sum_rows(d_hidden) if needs[4] else None
    return (
        fold_mm(d_in, _rows(w_ih)) if needs[0] else None,
        fold_tn(d_in, _rows(x)) if needs[1] else None,
        fold_tn(d_hidden, before) if needs[2] else None,
        of_in if needs[3] else None,
        (of_hidden.copy() if needs[3] and of_hidden is of_in else of_hidden) if needs[4] else None,
    )


# Long short-term memory -------------------------------------------------------------------------------


def _accepts_lstm(
    x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any
) -> bool:  # fmt: skip
    return w_hr is None and _fits(x, h0, steps, w_ih, w_hh, b_ih, b_hh, c0)


@offer("lstm_layer", "triton", accepts=_accepts_lstm)
def lstm_layer(
    x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any
) -> Any:  # fmt: skip
    """Outputs, last state and cell; then gates and cells of all steps."""
    gates = _projected(x, w_ih, b_ih, b_hh)
    h0, c0, turned = _rows(h0), _rows(c0), _rows(w_hh).T
    cells, out = (
        new((len(gates), c0.shape[1]), gates.dtype),
        new((len(gates), h0.shape[1]), gates.dtype),
    )
    product, cell = plan_for(h0, turned, gates[: len(h0)]), _launch(_lstm, c0, 4)
    for (start, h), (_, c) in zip(_walk(h0, out, steps), _walk(c0, cells, steps), strict=True):
        now = At(gates, start)
        product.run(h, turned, now, beta=1.0)
        cell.run(now, c, At(cells, start), At(out, start))
    return out, _last(out, steps), _last(cells, steps), gates, cells


def _accepts_lstm_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any, *_: Any
) -> bool:  # fmt: skip
    return w_hr is None and _fits(x, h0, steps, w_ih, w_hh, c0)


@offer("lstm_layer_backward", "triton", accepts=_accepts_lstm_backward)
def lstm_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any, out: Any, gates: Any, cells: Any, needs: Any
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    g_out, g_h, g_c = g
    h0, c0, w_hh = _rows(h0), _rows(c0), _rows(w_hh)
    outside = _rows(g_out.astype(out.dtype, copy=False)) if g_out is not None else None
    d, dh, dc = cupy.empty_like(gates), _start(g_h, h0), _start(g_c, c0)
    product = plan_for(d[: len(h0)], w_hh, dh)
    cell = _launch(_lstm_backward, c0, 4, OUTSIDE=outside is not None)
    for start, before in _back(c0, cells, steps):
        now = At(d, start)
        given = dh if outside is None else At(outside, start)
        cell.run(dh, given, dc, At(gates, start), before, At(cells, start), now)
        product.run(now, w_hh, dh)
    five = _of_weights(d, d, x, _states_before(h0, out, steps) if needs[2] else None, w_ih, needs)
    return (*five, dh, dc, None)


# Gated recurrent unit ---------------------------------------------------------------------------------


def _accepts_gru(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any) -> bool:
    return _fits(x, h0, steps, w_ih, w_hh, b_ih, b_hh)


@offer("gru_layer", "triton", accepts=_accepts_gru)
def gru_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any) -> Any:
    """Outputs and last state; then gates and the state's part of the last of them at all steps."""
    gates = _projected(x, w_ih, b_ih)
    h0, turned, bias = _rows(h0), _rows(w_hh).T, None if b_hh is None else _rows(b_hh)
    inner, out = (
        new((len(gates), h0.shape[1]), gates.dtype),
        new((len(gates), h0.shape[1]), gates.dtype),
    )
    hidden = new((len(h0), gates.shape[1]), gates.dtype)
    product, cell = plan_for(h0, turned, hidden, "" if bias is None else "bias"), _launch(_gru, h0, 3)
    for start, h in _walk(h0, out, steps):
        product.run(h, turned, hidden, bias)
        cell.run(At(gates, start), hidden, h, At(inner, start), At(out, start))
    return out, _last(out, steps), gates, inner


def _accepts_gru_backward(g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, *_: Any) -> bool:
    return _fits(x, h0, steps, w_ih, w_hh)


@offer("gru_layer_backward", "triton", accepts=_accepts_gru_backward)
def gru_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, out: Any, gates: Any, inner: Any, needs: Any
) -> Any:
    """Gradients of all inputs."""
    g_out, g_h = g
    h0, w_hh = _rows(h0), _rows(w_hh)
    outside = _rows(g_out.astype(out.dtype, copy=False)) if g_out is not None else None
    d, d_in, dh = cupy.empty_like(gates), cupy.empty_like(gates), _start(g_h, h0)
    product = plan_for(d[: len(h0)], w_hh, dh)
    cell = _launch(_gru_backward, h0, 3, OUTSIDE=outside is not None)
    for start, before in _back(h0, out, steps):
        now = At(d, start)
        given = dh if outside is None else At(outside, start)
        cell.run(dh, given, At(gates, start), At(inner, start), before, now, At(d_in, start))
        product.run(now, w_hh, dh, beta=1.0)
    return (*_of_weights(d_in, d, x, _states_before(h0, out, steps) if needs[2] else None, w_ih, needs), dh)


# Elman's network --------------------------------------------------------------------------------------


def _accepts_rnn(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any, relu: bool) -> bool:
    return _fits(x, h0, steps, w_ih, w_hh, b_ih, b_hh)


@offer("rnn_layer", "triton", accepts=_accepts_rnn)
def rnn_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any, relu: bool) -> Any:
    """Outputs and last state."""
    out = _projected(x, w_ih, b_ih, b_hh)
    h0, turned = _rows(h0), _rows(w_hh).T
    product, cell = plan_for(h0, turned, out[: len(h0)]), _launch(_rnn, h0, 1, RELU=relu)
    for start, h in _walk(h0, out, steps):
        now = At(out, start)
        product.run(h, turned, now, beta=1.0)
        cell.run(now)
    return out, _last(out, steps), out[:0], out[:0]


def _accepts_rnn_backward(g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, *_: Any) -> bool:
    return _fits(x, h0, steps, w_ih, w_hh)


@offer("rnn_layer_backward", "triton", accepts=_accepts_rnn_backward)
def rnn_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, relu: bool, out: Any, notes: Any, space: Any, needs: Any
) -> Any:
    """Gradients of all inputs."""
    g_out, g_h = g
    h0, w_hh = _rows(h0), _rows(w_hh)
    outside = _rows(g_out.astype(out.dtype, copy=False)) if g_out is not None else None
    d, dh = cupy.empty_like(out), _start(g_h, h0)
    product = plan_for(d[: len(h0)], w_hh, dh)
    cell = _launch(_rnn_backward, h0, 1, RELU=relu, OUTSIDE=outside is not None)
    for start, _ in steps[::-1]:
        now = At(d, start)
        cell.run(dh, dh if outside is None else At(outside, start), At(out, start), now)
        product.run(now, w_hh, dh)
    return (*_of_weights(d, d, x, _states_before(h0, out, steps) if needs[2] else None, w_ih, needs), dh)
