"""`vmap`: a function of one sample, for a batch of them.

The function is called once for each sample, and its results are stacked. The numbers are those of PyTorch, which rewrites
every operation for the whole batch instead; the speed is not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import alike
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..ops.random.generator import generators
from ..ops.shapes.join import stack
from ..pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_structure, tree_unflatten

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that maps `func` over a dimension of its arguments (None: the same for all), and stacks the results."""
    if randomness not in ("error", "different", "same"):
        raise EngineError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        name = _name(func)
        _check_out_dims(name, out_dims)
        values, dims, spec = _inputs(name, in_dims, args)
        size = _batch_size(values, dims)
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
        places = _out_places(name, out_dims, output, out_spec)
        columns = zip(*results, strict=True)
        joined = [_join(name, list(column), place) for column, place in zip(columns, places, strict=True)]
        return tree_unflatten(joined, out_spec)

    return mapped


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
        raise EngineError(_RANDOM)
    return output


# What goes in ----------------------------------------------------------------------------------------------


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[int | None], TreeSpec]:
    """All leaves of the arguments, and for each the dimension that is mapped over."""
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ArgumentValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ArgumentValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    values, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ArgumentValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_structure(in_dims)} but inputs has structure {spec}."
        )
    return values, [_in_dim(call, dim, value) for dim, value in zip(dims, values, strict=True)], spec


def _in_dim(call: str, dim: Any, value: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ArgumentValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(value, Tensor) and not hasattr(value, "_add_batch_dim"):
        raise ArgumentValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(value)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    rank = value.ndim
    if not -rank <= dim < rank:
        raise ArgumentValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so expected "
            f"in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _sample(value: Any, dim: int, i: int) -> Any:
    """One sample of a tensor, or of another library's collection of tensors that takes part (it has `_add_batch_dim`)."""
    return value.select(dim, i) if isinstance(value, Tensor) else value[(slice(None),) * dim + (i,)]


def _batch_size(values: list[Any], dims: list[int | None]) -> int:
    sizes = [value.shape[dim] for value, dim in zip(values, dims, strict=True) if dim is not None]
    if not sizes:
        raise ArgumentValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ArgumentValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return int(sizes[0])


def _name(func: Any) -> str:
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


# What comes out --------------------------------------------------------------------------------------------


def _check_out_dims(name: str, out_dims: Any) -> None:
    for dim in tree_leaves(out_dims):
        if not isinstance(dim, int) and dim is not None:
            raise ArgumentValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                "representing where in the outputs the vmapped dimension should appear."
            )


def _out_places(name: str, out_dims: Any, output: Any, spec: Any) -> list[int | None]:
    """Where the mapped dimension goes, for each output."""
    if isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    places = _broadcast_to_and_flatten(out_dims, spec)
    if places is None:
        raise ArgumentValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {tree_structure(out_dims)} but outputs has structure {spec}."
        )
    return places


def _join(name: str, column: list[Any], place: int | None) -> Any:
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
    sample = [
        x if d is None else alike.zeros(x, (*x._array.shape[:d], *x._array.shape[d + 1 :]))
        for x, d in zip(values, dims, strict=True)
    ]
    output = func(*tree_unflatten(sample, spec), **kwargs)
    flat, out_spec = tree_flatten(output)
    joined = []
    for value, place in zip(flat, _out_places(name, out_dims, output, out_spec), strict=True):
        whole = _join(name, [value], place)
        joined.append(whole if place is None else whole.narrow(place, 0, 0))
    return tree_unflatten(joined, out_spec)
