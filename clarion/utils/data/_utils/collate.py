"""Samples into batches: `default_collate`, `default_convert`, and the table that `collate` goes by."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....core.dtypes import float64
from ....core.tensor import Tensor, created
from ....errors import ArgumentTypeError, EngineError
from ....ops.creation.from_data import as_tensor, tensor
from ....ops.shapes.join import stack

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # NumPy's types of which no tensor can be made

CollateMap = dict[Any, Callable[..., Any]]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_collate(batch: Any) -> Any:
    """A list of samples into one batch: tensors are stacked, containers keep their structure.

    Tensors, NumPy arrays and numbers become a tensor with a new first dimension (a Python float gives
    float64); strings and bytes stay lists; mappings and named tuples keep their type, tuples become lists.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Like `default_collate`, with a table of one's own: from a type of samples to the function that batches them."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        function = collate_fn_map.get(kind)
        if function is None:
            function = next((fn for types, fn in collate_fn_map.items() if isinstance(first, types)), None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like_mapping(
            first, {key: collate([each[key] for each in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if isinstance(first, Sequence):
        named = isinstance(first, tuple) and hasattr(first, "_fields")
        if not named and any(len(each) != len(first) for each in batch):
            raise EngineError(
                "each element in list of batch should be of equal size\n"
                f"The lengths are {[len(each) for each in batch]}: pad the samples, or batch them with a collate_fn."
            )
        columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=False)]
        return kind(*columns) if named else _like_sequence(first, columns)
    raise ArgumentTypeError(default_collate_err_msg_format.format(kind))


def default_convert(data: Any) -> Any:
    """NumPy arrays, anywhere in a structure, into tensors; everything else as it is (tuples become lists)."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind is np.ndarray and data.dtype.kind in "SUO":
            return data
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*[default_convert(each) for each in data])
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(each) for each in data])
    return data


def _like_mapping(example: Any, values: dict[Any, Any]) -> Any:
    """Values in a mapping like the example; a copy of it where it can be changed, for what else it carries."""
    try:
        if isinstance(example, MutableMapping):
            clone = copy.copy(example)
            clone.update(values)
            return clone
        return type(example)(values)
    except TypeError:  # a mapping with a constructor or update() of its own kind
        return values


def _like_sequence(example: Any, values: list[Any]) -> Any:
    """Values in a sequence like the example; for a tuple a list, as PyTorch has always done."""
    if isinstance(example, tuple) or type(example) is list:
        return values
    try:
        if isinstance(example, MutableSequence):
            clone = copy.copy(example)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return type(example)(values)
    except TypeError:  # e.g. range
        return values


# The table: one function per kind of sample -----------------------------------------------------------------


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack tensors."""
    for each in batch:
        if type(each) is not Tensor or each._rg:
            return stack(batch if isinstance(batch, (list, tuple)) else list(batch))
    joined = stack_arrays([each._array for each in batch])
    return stack(list(batch)) if joined is None else created(joined)


def stack_arrays(arrays: list[Any]) -> Any:
    """What `np.stack` gives, in a quarter of its time; None where types or shapes differ."""
    first = arrays[0]
    shape, kind = first.shape, first.dtype
    for each in arrays:
        if each.shape != shape or each.dtype is not kind:
            return None
    if not shape:
        return np.array(arrays, kind)
    return np.concatenate(arrays).reshape((len(arrays), *shape))


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stack NumPy arrays."""
    if batch[0].dtype.kind in "SUO":
        raise ArgumentTypeError(default_collate_err_msg_format.format(batch[0].dtype))
    if collate_fn_map is default_collate_fn_map and default_collate_fn_map[Tensor] is collate_tensor_fn:
        # Ordinary arrays are stacked as they are; what may be refused or warned of goes one by one.
        if all(type(each) is np.ndarray and each.flags.carray for each in batch):
            joined = stack_arrays(batch)
            if joined is not None:
                return as_tensor(joined)
    return collate([as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """NumPy numbers, which keep their type."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Python floats, which are float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Python ints and bools."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Strings and bytes stay as they are."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
