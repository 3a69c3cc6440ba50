"""Recurrent layers."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

from ...core.tensor import Tensor
from ...errors import EngineError
from ...ops.faces.api import FUNCTIONS
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .linear import empty_parameter
from .module import Module

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_LAYERS = {
    "LSTM": FUNCTIONS["lstm"],
    "GRU": FUNCTIONS["gru"],
    "RNN_TANH": FUNCTIONS["rnn_tanh"],
    "RNN_RELU": FUNCTIONS["rnn_relu"],
}


def _check_sizes(
    bias: Any, batch_first: Any, input_size: Any, hidden_size: Any, num_layers: int, dropout: Any, proj_size: int
) -> None:
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:  # type: ignore[operator]
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _mixed() -> bool:
    """Is autocast on? Then types are its business."""
    from ...amp.settings import is_autocast_enabled

    return is_autocast_enabled("cpu")


class RNNBase(Module):
    """What recurrent layers share: their weights and the forms of input they take."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    ]  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_sizes(bias, batch_first, input_size, hidden_size, num_layers, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            columns = input_size if layer == 0 else self._state_size * self._directions
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_weights(f"l{layer}{suffix}", columns, dtype, device)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    def _add_weights(self, suffix: str, columns: int, dtype: Any, device: Any) -> None:
        rows = _GATES[self.mode] * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, columns), "weight_hh": (rows, self._state_size)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        self._all_weights.append([f"{name}_{suffix}" for name in shapes])
        for name, shape in shapes.items():
            setattr(self, f"{name}_{suffix}", empty_parameter(shape, dtype, device))

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _state_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def _flat_weights(self) -> list[Any]:
        params = {} if self._asks else self._parameters
        return [params[name] if name in params else getattr(self, name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """The weights are known by their names alone; whoever sets the list has set them, or sets them by it."""
        for name, weight in zip(self._flat_weights_names, weights, strict=True):
            if getattr(self, name) is not weight:
                self._parameters.pop(name, None)
                setattr(self, name, weight)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: only a GPU computes faster with weights that lie side by side."""

    def reset_parameters(self) -> None:
        """Draw new values: uniform within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # Checks --------------------------------------------------------------------------------------

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Refuse inputs of another type or shape than the weights'."""
        wanted = self._flat_weights[0].dtype
        if input.dtype != wanted and not _mixed():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({wanted}). Convert input: input.to({wanted}), "
                f"or convert model: model.to({input.dtype})"
            )
        dims = 2 if batch_sizes is not None else 3
        if input.dim() != dims:
            raise EngineError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise EngineError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _expected(self, input: Any, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes._array[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        return self.num_layers * self._directions, batch, size

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of the state."""
        return self._expected(input, batch_sizes, self._state_size)

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a state of another shape."""
        if hx.shape != expected_hidden_size:
            raise EngineError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Refuse what does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state in another order of the sequences."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # Running -------------------------------------------------------------------------------------

    def _zeros(self, input: Any, batch_sizes: Any) -> Any:
        return input.new_zeros(self.get_expected_hidden_size(input, batch_sizes))

    def _batched_state(self, hx: Any, batched: bool) -> Any:
        """A given state with its batch dimension."""
        word, dims = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
        if hx.dim() != dims:
            raise EngineError(f"For {word} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")
        return hx if batched else hx.unsqueeze(1)

    def _without_batch(self, hidden: Any) -> Any:
        return hidden.squeeze(1)

    def _compute(self, first: tuple[Any, ...], hx: Any) -> tuple[Any, Any]:
        """(output, last state) of the layers."""
        rest = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        last = (self.batch_first,) if len(first) == 1 else ()
        out, *hidden = _LAYERS[self.mode](*first, hx, self._flat_weights, *rest, *last)
        return out, hidden[0] if len(hidden) == 1 else tuple(hidden)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """(output, last state). The input is padded, unbatched, or a PackedSequence, and so is the output."""
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            hx = self._zeros(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, batch_sizes)
            out, hidden = self._compute((data, batch_sizes), hx)
            return PackedSequence(out, batch_sizes, order, back), self.permute_hidden(hidden, back)
        if input.dim() not in (2, 3):
            word = " tensor" if self.mode.startswith("RNN") else ""
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D{word} instead")
        batched = input.dim() == 3
        at = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(at)
        hx = self._zeros(input, None) if hx is None else self._batched_state(hx, batched)
        self.check_forward_args(input, hx, None)
        out, hidden = self._compute((input,), hx)
        return (out, hidden) if batched else (out.squeeze(at), self._without_batch(hidden))

    def extra_repr(self) -> str:
        """Sizes and what differs from the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        for name, default in (*defaults.items(), ("bidirectional", False)):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """Elman's network: tanh or relu of the linear form of input and state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            kind, args = args[3], (*args[:3], *args[4:])
        else:
            kind = kwargs.pop("nonlinearity", "tanh")
        if kind not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{kind}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = kind
        super().__init__(f"RNN_{kind.upper()}", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory. Its state is a pair: (state, cell)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of the cell."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Refuse what does not fit."""
        self.check_input(input, batch_sizes)
        sizes = (self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes))
        for i, size in enumerate(sizes):
            self.check_hidden_size(hidden[i], size, f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state in another order of the sequences."""
        return hx if permutation is None else tuple([t.index_select(1, permutation) for t in hx])

    def _zeros(self, input: Any, batch_sizes: Any) -> Any:
        cell = input.new_zeros(self.get_expected_cell_size(input, batch_sizes))
        return super()._zeros(input, batch_sizes), cell

    def _batched_state(self, hx: Any, batched: bool) -> Any:
        h, c = hx
        word, dims = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
        if h.dim() != dims or c.dim() != dims:
            raise EngineError(
                f"For {word} input, hx and cx should also be {dims}-D but got ({h.dim()}-D, {c.dim()}-D) tensors"
            )
        return (h, c) if batched else (h.unsqueeze(1), c.unsqueeze(1))

    def _without_batch(self, hidden: Any) -> Any:
        return tuple([t.squeeze(1) for t in hidden])


# Cells ---------------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """What the cells share: one step, with weights of its own."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = empty_parameter((rows, input_size), dtype, device)
        self.weight_hh = empty_parameter((rows, hidden_size), dtype, device)
        self.register_parameter("bias_ih", empty_parameter((rows,), dtype, device) if bias else None)
        self.register_parameter("bias_hh", empty_parameter((rows,), dtype, device) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values: uniform within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """Sizes and what differs from the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        kind = self.__dict__.get("nonlinearity", "tanh")
        return text if kind == "tanh" else f"{text}, nonlinearity={kind}"

    def _check_dim(self, what: str, t: Any) -> None:
        if t.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {t.dim()}D instead")

    def _zero_state(self, input: Any) -> Any:
        return input.new_zeros((input.size(0), self.hidden_size))

    def _step(self, name: str, input: Any, hx: Any) -> Any:
        """One step of a cell with a single state."""
        self._check_dim("input", input)
        if hx is not None:
            self._check_dim("hidden", hx)
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = self._zero_state(input)
        elif not batched:
            hx = hx.unsqueeze(0)
        result = FUNCTIONS[name](input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """The next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise EngineError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, hx)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """The next state."""
        return self._step("gru_cell", input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The next state and cell."""
        self._check_dim("input", input)
        for i, each in enumerate(hx or ()):
            self._check_dim(f"hx[{i}]", each)
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = self._zero_state(input)
            hx = (zeros, zeros)
        elif not batched:
            hx = tuple([t.unsqueeze(0) for t in hx])
        h, c = FUNCTIONS["lstm_cell"](input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
