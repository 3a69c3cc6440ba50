"""Recurrent layers: each direction of each layer is one operation over the whole sequence.

NOTE [Steps of Tensors]: the gradient of a layer is a kernel of its own. Where it must be differentiated once more, the
layer is run again step by step with ordinary operations, and their gradients are taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.backward import gradients
from ...core.dtypes import HALF
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import DtypeError, EngineError, not_a_tensor
from ...kernels.registry import RawNamespace
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL, public
from ..faces.autocast import autocast

# One step (where nothing is recorded, its gates are one operation) ---------------------------------


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    return NN_FUNCTIONAL["linear"](x, weight, bias)


lstm_gated_op = Op("lstm_gated", "gates c", outputs="h cell", traits="recurrent")
gru_gated_op = Op("gru_gated", "projected hidden h", traits="recurrent")


def lstm_step(projected: Any, state: tuple[Any, Any], w_hh: Any, b_hh: Any, w_hr: Any = None) -> tuple[Any, Any]:
    """State and cell after one step; `projected` is the input's part of the gates."""
    h, c = state
    gates = projected + _linear(h, w_hh, b_hh)
    if not modes.recording():
        h, c = lstm_gated_op.call(gates, c)
        return (h if w_hr is None else _linear(h, w_hr, None)), c
    i, f, candidate, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * candidate.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if w_hr is None else _linear(h, w_hr, None)), c


def gru_step(projected: Any, h: Any, w_hh: Any, b_hh: Any) -> Any:
    """The state after one step."""
    hidden = _linear(h, w_hh, b_hh)
    if not modes.recording():
        return gru_gated_op.call(projected, hidden, h)
    i_r, i_z, i_n = projected.chunk(3, 1)
    h_r, h_z, h_n = hidden.chunk(3, 1)
    new = (i_n + (i_r + h_r).sigmoid() * h_n).tanh()
    return (h - new) * (i_z + h_z).sigmoid() + new


def rnn_step(projected: Any, h: Any, w_hh: Any, b_hh: Any, relu: bool) -> Any:
    """The state after one step."""
    a = projected + _linear(h, w_hh, b_hh)
    return a.relu() if relu else a.tanh()


# A whole layer, step by step -----------------------------------------------------------------------


def _by_steps(step: Callable[..., Any], projected: Any, states: list[Any], steps: Any) -> tuple[Any, ...]:
    """Outputs and last states; see NOTE [Steps] in the kernels."""
    cat = FUNCTIONS["cat"]
    outs: dict[int, Any] = {}
    for start, rows in steps:
        now = step(projected[start : start + rows], *[s[:rows] for s in states])
        now = now if isinstance(now, tuple) else (now,)
        outs[start] = now[0]
        states = [new if rows == old.shape[0] else cat((new, old[rows:])) for new, old in zip(now, states, strict=True)]
    return (cat([outs[start] for start in sorted(outs)]) if outs else projected[:, : states[0].shape[1]], *states)


def _differentiated(g: tuple[Any, ...], inputs: list[Any], needs: Any, run: Callable[..., Any]) -> tuple[Any, ...]:
    """Gradients of the layer `run(*inputs)` by those of its steps, recorded."""
    with modes.enable_grad():
        # Stand-ins: gradients are taken with respect to this use of the inputs, and their hooks stay silent.
        used = [None if t is None else _stand_in(t) for t in inputs]
        pairs = [(out, grad) for out, grad in zip(run(*used), g, strict=True) if grad is not None]
        wanted = [t for t, need in zip(used, needs, strict=True) if need]
        found = iter(
            gradients([p[0] for p in pairs], wanted, [p[1] for p in pairs], create_graph=True, allow_unused=True)
        )
    return tuple([next(found) if need else None for need in needs])


def _stand_in(t: Any) -> Any:
    return t.view_as(t) if t.requires_grad else t.detach()._requiring()


# Operations ----------------------------------------------------------------------------------------


def _lstm_rule(
    g: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any, out: Any,
    gates: Any, cells: Any, needs: Any, ops: Any,
) -> Any:  # fmt: skip
    g = g[:3]
    if isinstance(ops, RawNamespace):
        return ops.lstm_layer_backward(g, x, w_ih, w_hh, h0, c0, w_hr, steps, out, gates, cells, needs)

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any) -> tuple[Any, ...]:
        def step(projected: Any, h: Any, c: Any) -> Any:
            return lstm_step(projected, (h, c), w_hh, b_hh, w_hr)

        return _by_steps(step, _linear(x, w_ih, b_ih), [h0, c0], steps)

    return _differentiated(g, [x, w_ih, w_hh, b_ih, b_hh, h0, c0, w_hr], needs, run)


lstm_layer_op = Op(
    "lstm_layer", "x w_ih w_hh b_ih? b_hh? h0 c0 w_hr?", "steps", outputs="out h c gates cells", grad_outputs=(0, 1, 2),
    node="LstmBackward0", traits="layer recurrent",
)  # fmt: skip
lstm_layer_op.vjp(_lstm_rule)


def _gru_rule(
    g: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any, out: Any, gates: Any, inner: Any,
    needs: Any, ops: Any,
) -> Any:  # fmt: skip
    g = g[:2]
    if isinstance(ops, RawNamespace):
        return ops.gru_layer_backward(g, x, w_ih, w_hh, h0, steps, out, gates, inner, needs)

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any) -> tuple[Any, ...]:
        return _by_steps(lambda a, h: gru_step(a, h, w_hh, b_hh), _linear(x, w_ih, b_ih), [h0], steps)

    return _differentiated(g, [x, w_ih, w_hh, b_ih, b_hh, h0], needs, run)


gru_layer_op = Op(
    "gru_layer", "x w_ih w_hh b_ih? b_hh? h0", "steps", outputs="out h gates inner", grad_outputs=(0, 1),
    node="GruBackward0", traits="layer recurrent",
)  # fmt: skip
gru_layer_op.vjp(_gru_rule)


def _rnn_rule(
    g: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any, relu: bool, out: Any, notes: Any,
    space: Any, needs: Any, ops: Any,
) -> Any:  # fmt: skip
    g = g[:2]
    if isinstance(ops, RawNamespace):
        return ops.rnn_layer_backward(g, x, w_ih, w_hh, h0, steps, relu, out, notes, space, needs)

    def run(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any) -> tuple[Any, ...]:
        return _by_steps(lambda a, h: rnn_step(a, h, w_hh, b_hh, relu), _linear(x, w_ih, b_ih), [h0], steps)

    return _differentiated(g, [x, w_ih, w_hh, b_ih, b_hh, h0], needs, run)


rnn_layer_op = Op(
    "rnn_layer", "x w_ih w_hh b_ih? b_hh? h0", "steps relu", outputs="out h notes space", grad_outputs=(0, 1),
    node="RnnBackward0", traits="layer recurrent",
)  # fmt: skip
rnn_layer_op.vjp(_rnn_rule)


# Layers and directions -----------------------------------------------------------------------------


@functools.lru_cache(64)
def _equal_steps(length: int, batch: int) -> tuple[tuple[int, int], ...]:
    return tuple([(t * batch, batch) for t in range(length)])


def _packed_steps(batch_sizes: Any) -> tuple[tuple[int, int], ...]:
    steps, start = [], 0
    for rows in batch_sizes._array.tolist():
        steps.append((start, rows))
        start += rows
    return tuple(steps)


def _weights_of(params: Any, has_biases: bool, projected: bool, count: int) -> list[tuple[Any, ...]]:
    """(w_ih, w_hh, b_ih, b_hh, w_hr) of each direction of each layer."""
    each = 2 + 2 * bool(has_biases) + projected
    if len(params) != each * count:
        raise EngineError("got an incorrect number of RNN parameters")
    found = []
    for i in range(count):
        part = list(params[i * each : (i + 1) * each])
        w_hr = part.pop() if projected else None
        found.append((*part, *(None,) * (4 - len(part)), w_hr))
    return found


Layer = Callable[[Any, tuple[Any, ...], list[Any], Any], tuple[Any, ...]]


def _lstm_layer(x: Any, weights: tuple[Any, ...], states: list[Any], steps: Any) -> tuple[Any, ...]:
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    out: tuple[Any, ...] = lstm_layer_op.call(x, w_ih, w_hh, b_ih, b_hh, *states, w_hr, steps)
    return out[:3]


def _gru_layer(x: Any, weights: tuple[Any, ...], states: list[Any], steps: Any) -> tuple[Any, ...]:
    out: tuple[Any, ...] = gru_layer_op.call(x, *weights[:4], *states, steps)
    return out[:2]


def _tanh_layer(x: Any, weights: tuple[Any, ...], states: list[Any], steps: Any) -> tuple[Any, ...]:
    out: tuple[Any, ...] = rnn_layer_op.call(x, *weights[:4], *states, steps, False)
    return out[:2]


def _relu_layer(x: Any, weights: tuple[Any, ...], states: list[Any], steps: Any) -> tuple[Any, ...]:
    out: tuple[Any, ...] = rnn_layer_op.call(x, *weights[:4], *states, steps, True)
    return out[:2]


def _stacked(
    layer: Layer, x: Any, steps: Any, hx: list[Any], params: Any, has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """All layers over the rows `x`: outputs, and the last states of all layers and directions."""
    directions = 2 if bidirectional else 1
    projected = layer is _lstm_layer and hx[0]._array.shape[2] != hx[1]._array.shape[2]
    weights = _weights_of(params, has_biases, projected, num_layers * directions)
    _check_types(x, hx, weights)
    last: list[list[Any]] = [[] for _ in hx]
    for number in range(num_layers):
        outs = []
        for direction in range(directions):
            at = number * directions + direction
            order = steps if direction == 0 else steps[::-1]
            out, *states = layer(x, weights[at], [h[at] for h in hx], order)
            outs.append(out)
            for kept, state in zip(last, states, strict=True):
                kept.append(state)
        x = outs[0] if directions == 1 else FUNCTIONS["cat"](outs, 1)
        if dropout > 0 and train and number < num_layers - 1:
            x = NN_FUNCTIONAL["dropout"](x, dropout, True)
    if layer is not _lstm_layer and x.requires_grad and directions == 1:
        x = x.clone()  # the layer keeps its outputs, but they are the caller's to write to, as in PyTorch
    return x, [FUNCTIONS["stack"](kept) for kept in last]


def _check_types(x: Any, hx: list[Any], weights: list[tuple[Any, ...]]) -> None:
    kind = x._array.dtype
    for t in (*hx, *[w for each in weights for w in each if w is not None]):
        if t._array.dtype != kind:
            raise DtypeError(
                f"Input and hidden tensors and parameters of a recurrent layer must have the same dtype: the input is "
                f"{x.dtype}, another one {t.dtype}. mat1 and mat2 must have the same dtype"
            )


def _run(layer: Layer, input: Any, hx: Any, rest: tuple[Any, ...], packed: Any) -> tuple[Any, ...]:
    """PyTorch's arguments (input, state, parameters, has_biases, layers, …) to rows and back."""
    if packed is not None:
        params, has_biases, num_layers, dropout, train, bidirectional = rest
        out, last = _stacked(
            layer, input, _packed_steps(packed), hx, params, has_biases, num_layers, dropout, train, bidirectional
        )
        return (out, *last)
    params, has_biases, num_layers, dropout, train, bidirectional, batch_first = rest
    if input.dim() != 3:
        raise EngineError(f"input must have 3 dimensions, got {input.dim()}")
    if batch_first:
        input = input.transpose(0, 1)
    length, batch, size = input._array.shape
    if length == 0:
        raise EngineError("Expected sequence length to be larger than 0 in RNN")
    rows = input.reshape(length * batch, size)
    steps = _equal_steps(length, batch)
    out, last = _stacked(layer, rows, steps, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    out = out.view(length, batch, out._array.shape[1])
    return (out.transpose(0, 1) if batch_first else out, *last)


@public(method=False)
@autocast("lower")
def lstm(*args: Any) -> tuple[Any, ...]:
    """(output, last state, last cell) of LSTM layers; of padded `input`, or of packed `data` with `batch_sizes`."""
    if isinstance(args[1], Tensor):
        data, batch_sizes, hx, *rest = args
        return _run(_lstm_layer, data, _pair(hx), tuple(rest), batch_sizes)
    input, hx, *rest = args
    return _run(_lstm_layer, input, _pair(hx), tuple(rest), None)


def _pair(hx: Any) -> list[Any]:
    if len(hx) != 2:
        raise EngineError("lstm expects two hidden states")
    return list(hx)


def _is_low(input: Any, *rest: Any) -> bool:
    """A GRU keeps the type of its input."""
    return input._array.dtype in HALF


def _declare(name: str, layer: Layer, when: Callable[..., bool] | None = None) -> Callable[..., Any]:
    @autocast("lower", when=when)
    def function(*args: Any) -> tuple[Any, ...]:
        if len(args) > 2 and isinstance(args[2], Tensor):
            data, batch_sizes, hx, *rest = args
            return _run(layer, data, [hx], tuple(rest), batch_sizes)
        input, hx, *rest = args
        return _run(layer, input, [hx], tuple(rest), None)

    function.__name__ = name
    function.__doc__ = (
        f"(output, last state) of {name} layers; of padded `input`, or of packed `data` with `batch_sizes`."
    )
    return public(name, method=False)(function)


gru = _declare("gru", _gru_layer, when=_is_low)
rnn_tanh = _declare("rnn_tanh", _tanh_layer)
rnn_relu = _declare("rnn_relu", _relu_layer)


# Cells ---------------------------------------------------------------------------------------------


def _check_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, gates: int, number: int = 0) -> None:
    for name, t in (("input", input), ("hx", hx)):
        if not isinstance(t, Tensor):
            raise not_a_tensor("cell", name, t)
    size, columns = w_hh._array.shape[1], w_ih._array.shape[1]
    if input._array.shape[1] != columns:
        raise EngineError(f"input has inconsistent input_size: got {input._array.shape[1]} expected {columns}")
    if hx._array.shape[1] != size:
        raise EngineError(f"hidden{number} has inconsistent hidden_size: got {hx._array.shape[1]}, expected {size}")
    if hx._array.shape[0] != input._array.shape[0]:
        raise EngineError(
            f"Input batch size {input._array.shape[0]} doesn't match hidden{number} batch size {hx._array.shape[0]}"
        )


@public(method=False)
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> tuple[Any, Any]:
    """State and cell of an LSTM after one step."""
    h, c = _pair(hx)
    _check_cell(input, h, w_ih, w_hh, 4)
    _check_cell(input, c, w_ih, w_hh, 4, 1)
    return lstm_step(_linear(input, w_ih, b_ih), (h, c), w_hh, b_hh)


@public(method=False)
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """The state of a GRU after one step."""
    _check_cell(input, hx, w_ih, w_hh, 3)
    return gru_step(_linear(input, w_ih, b_ih), hx, w_hh, b_hh)


@public(method=False)
def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """tanh of the linear form of input and state."""
    _check_cell(input, hx, w_ih, w_hh, 1)
    return rnn_step(_linear(input, w_ih, b_ih), hx, w_hh, b_hh, False)


@public(method=False)
def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """relu of the linear form of input and state."""
    _check_cell(input, hx, w_ih, w_hh, 1)
    return rnn_step(_linear(input, w_ih, b_ih), hx, w_hh, b_hh, True)
