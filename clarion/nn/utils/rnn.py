"""Sequences of different lengths: padded to one tensor, or packed row by row without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...core.devices import HOST, to_host, xp_of
from ...core.dtypes import i64
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError
from ...ops.faces.api import FUNCTIONS

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):
    """The fields of a PackedSequence."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """The rows of all sequences, step by step; `batch_sizes` says how many sequences reach each step.

    Sequences stand in the order of `sorted_indices`, the longest first.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence with its data moved or converted; the indices stay."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence itself: it is on the CPU."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Refused, as for a tensor."""
        return self.to(*args, **{**kwargs, "device": "cuda"})

    def pin_memory(self) -> PackedSequence:
        """The sequence with its data in pinned memory."""
        return type(self)(self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def _as(self, name: str) -> PackedSequence:
        return type(self)(getattr(self.data, name)(), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def double(self) -> PackedSequence:
        """Data as float64."""
        return self._as("double")

    def float(self) -> PackedSequence:
        """Data as float32."""
        return self._as("float")

    def half(self) -> PackedSequence:
        """Data as float16."""
        return self._as("half")

    def long(self) -> PackedSequence:
        """Data as int64."""
        return self._as("long")

    def int(self) -> PackedSequence:
        """Data as int32."""
        return self._as("int")

    def short(self) -> PackedSequence:
        """Data as int16."""
        return self._as("short")

    def char(self) -> PackedSequence:
        """Data as int8."""
        return self._as("char")

    def byte(self) -> PackedSequence:
        """Data as uint8."""
        return self._as("byte")

    @property
    def is_cuda(self) -> bool:
        """Is the data on a GPU?"""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Is the data in pinned memory?"""
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    xp = xp_of(permutation._array)
    inverse = xp.empty_like(permutation._array)
    inverse[permutation._array] = xp.arange(inverse.size)
    return new_tensor(inverse)


def _rows(batch_sizes: Any, batch: int) -> Any:
    """Where the packed rows stand among the rows of the padded steps."""
    present = HOST.xp.arange(batch) < HOST.xp.asarray(batch_sizes)[:, None]
    return HOST.xp.flatnonzero(present)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences; `enforce_sorted=False` sorts them by length first."""
    if isinstance(lengths, Tensor):
        counts = to_host(lengths._array).astype(i64)
    else:
        counts = HOST.xp.asarray(lengths, i64)
    order = None
    if not enforce_sorted:
        order = FUNCTIONS["sort"](new_tensor(counts), descending=True)[1]
        counts = counts[order._array]
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    if not input.numel():
        raise EngineError("Cannot pack empty tensors.")
    steps, batch = input.shape[:2]
    if counts.ndim != 1 or counts.size != batch:
        raise EngineError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} (batch_size={batch})"
        )
    if counts.min() <= 0:
        raise EngineError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (counts[1:] > counts[:-1]).any():
        raise EngineError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
            "not need ONNX exportability."
        )
    if counts[0] > steps:
        raise EngineError(
            f"Expected `lengths` to be at most the length of the padded sequences ({steps}), but got {counts[0]}: "
            "start + length exceeds dimension size"
        )
    batch_sizes = (counts[:, None] > HOST.xp.arange(counts[0])).sum(0)
    flat = input.reshape(steps * batch, *input.shape[2:])
    data = flat.index_select(0, new_tensor(_rows(batch_sizes, batch)).to(flat.device))  # type: ignore[attr-defined]
    return PackedSequence(data, new_tensor(batch_sizes.astype(i64)), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """(padded sequences, their lengths), in their original order."""
    sizes = sequence.batch_sizes._array
    steps = sizes.size
    if total_length is not None:
        if total_length < steps:
            raise ArgumentValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    batch = int(sizes[0])
    data = sequence.data
    padded = _placed(data, _rows(sizes, batch), (steps, batch), padding_value)
    lengths = new_tensor((sizes[:, None] > HOST.xp.arange(batch)).sum(0).astype(i64))
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths.index_select(0, sequence.unsorted_indices.cpu())  # type: ignore[attr-defined]
    return padded, lengths


def _placed(rows: Any, places: Any, shape: tuple[int, int], value: float) -> Any:
    """A tensor of `shape` filled with a value, and rows at the given places."""
    tail = rows.shape[1:]
    blank = rows.new_full((shape[0] * shape[1], *tail), value)
    return blank.index_copy(0, new_tensor(places).to(rows.device), rows).view(*shape, *tail)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Sequences of different lengths as one tensor."""
    if not isinstance(sequences, Iterable):
        raise EngineError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    found: tuple[Any, ...] = tuple(sequences)
    for each in found:
        if not isinstance(each, Tensor):
            raise ArgumentTypeError(
                f"pad_sequence(): argument 'sequences' must be tuple of Tensors, but found {type(each).__name__}"
            )
    if not found:
        raise EngineError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise EngineError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    lengths = HOST.xp.asarray([each.shape[0] for each in found])
    steps, batch = int(lengths.max()), len(found)
    along = HOST.xp.arange(steps)
    present = along < lengths[:, None] if padding_side == "right" else along >= steps - lengths[:, None]
    sample, step = HOST.xp.nonzero(present)
    places, sizes = (sample * steps + step, (batch, steps)) if batch_first else (step * batch + sample, (steps, batch))
    return _placed(FUNCTIONS["cat"](found), places, sizes, padding_value)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences without their padding."""
    along = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [along[i][:length] for i, length in enumerate(lengths._array.tolist())]


def pack_sequence(sequences: list[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    lengths = new_tensor(HOST.xp.asarray([each.shape[0] for each in sequences], i64))
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences of a PackedSequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
