"""A function of one sample, called once for each of them: for what cannot be given to it all at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import alike
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.batched.levels import RANDOM
from ..ops.random.generator import generators
from ..ops.shapes.join import stack
from ..pytree import TreeSpec, tree_flatten, tree_unflatten


def mapped(
    name: str, func: Callable[..., Any], values: list[Any], dims: list[int | None], spec: TreeSpec, size: int, out_dims: Any,
    randomness: str, kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """The results of all samples, stacked."""
    from .mapping import out_places

    if size == 0:
        return _empty(name, func, values, dims, spec, out_dims, kwargs)
    results, out_spec = [], None
    for i in range(size):
        sample = [x if d is None else _sample(x, d, i) for x, d in zip(values, dims, strict=True)]
        output = _called(
            functools.partial(func, *tree_unflatten(sample, spec), **kwargs), randomness, i == 0, i == size - 1
        )
        flat, out_spec = tree_flatten(output)
        results.append(flat)
    places = out_places(name, out_dims, output, out_spec)
    columns = zip(*results, strict=True)
    joined = [_joined(name, list(column), place) for column, place in zip(columns, places, strict=True)]
    return tree_unflatten(joined, out_spec)


def _called(call: Callable[[], Any], randomness: str, first: bool, last: bool) -> Any:
    """One sample, with the random numbers that are asked for."""
    if randomness == "different" or (randomness == "error" and not first):
        return call()
    before = [(generator, generator.get_state()) for generator in generators]
    output = call()
    drawn = [pair for pair in before if not np.array_equal(pair[1]._array, pair[0].get_state()._array)]
    if drawn and (randomness == "error" or not last):  # ("same": the next sample draws the same)
        for generator, state in drawn:
            generator.set_state(state)
    if drawn and randomness == "error":
        raise EngineError(RANDOM)
    return output


def called_once(call: Callable[[], Any], randomness: str) -> Any:
    """What runs once for all samples, where random numbers have to be asked for."""
    return _called(call, randomness, True, True)


def _sample(value: Any, dim: int, i: int) -> Any:
    """One sample of a tensor, or of another library's collection of tensors that takes part (it has `_add_batch_dim`)."""
    return value.select(dim, i) if isinstance(value, Tensor) else value[(slice(None),) * dim + (i,)]


def _joined(name: str, column: list[Any], place: int | None) -> Any:
    first = column[0]
    if place is None:
        if isinstance(first, Tensor) and not all(
            np.array_equal(alike.values(first), alike.values(x), equal_nan=True) for x in column
        ):
            raise ArgumentValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return first
    if not isinstance(first, Tensor):
        raise ArgumentValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(first)}. Did you mean to set out_dims= "
            "to None for output?"
        )
    return stack(column, place)


def _empty(
    name: str, func: Callable[..., Any], values: list[Any], dims: list[int | None], spec: TreeSpec, out_dims: Any,
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """A batch without samples: a sample of zeros says what the results look like."""
    from .mapping import out_places

    sample = [
        x if d is None else alike.zeros(x, (*x._array.shape[:d], *x._array.shape[d + 1 :]))
        for x, d in zip(values, dims, strict=True)
    ]
    output = func(*tree_unflatten(sample, spec), **kwargs)
    flat, out_spec = tree_flatten(output)
    joined = []
    for value, place in zip(flat, out_places(name, out_dims, output, out_spec), strict=True):
        whole = _joined(name, [value], place)
        joined.append(whole if place is None else whole.narrow(place, 0, 0))
    return tree_unflatten(joined, out_spec)
