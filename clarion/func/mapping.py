"""`vmap`: a function of one sample, for a batch of them.

Inside the function tensors look like one sample and hold all of them (core/batching.py), so it is called once. What takes part without
being such a tensor (another library's collection of tensors, tensors on other devices) is mapped sample by sample (samples.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core import batching
from ..core.batching import batch_op, inside, new_level, unbatch_op, unbatch_view_op
from ..core.devices import HOST
from ..core.tensor import Tensor
from ..errors import ArgumentIndexError, ArgumentValueError, EngineError
from ..kernels.batched.array import Batched, is_of, varying
from ..ops.random.generator import generators
from ..ops.shapes.join import cat
from ..pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_structure, tree_unflatten
from . import samples


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
    if chunk_size is not None and not (chunk_size is None or chunk_size > 0):
        raise ArgumentValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        name = _name(func)
        _check_out_dims(name, out_dims)
        values, dims, spec = _inputs(name, in_dims, args)
        size = _batch_size(values, dims)
        if chunk_size is not None and chunk_size < size:
            return _in_chunks(name, func, values, dims, spec, size, out_dims, randomness, kwargs, chunk_size)
        return _mapped(name, func, values, dims, spec, size, out_dims, randomness, kwargs)

    return mapped


def _mapped(
    name: str, func: Callable[..., Any], values: list[Any], dims: list[int | None], spec: TreeSpec, size: int, out_dims: Any,
    randomness: str, kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    if not all(d is None or _can_be_batched(x) for x, d in zip(values, dims, strict=True)):
        return samples.mapped(name, func, values, dims, spec, size, out_dims, randomness, kwargs)
    level = new_level(size, randomness)
    given = [x if d is None else batch_op.call(x, level, d) for x, d in zip(values, dims, strict=True)]
    arrays = [None if d is None else x._array for x, d in zip(given, dims, strict=True)]
    with inside(level):
        output = func(*tree_unflatten(given, spec), **kwargs)
    flat, out_spec = tree_flatten(output)
    places = out_places(name, out_dims, output, out_spec)
    known = {
        id(x): (value, d)
        for x, value, d, array in zip(given, values, dims, arrays, strict=True)
        if d is not None and x._array is array
    }
    results = []
    for x, place in zip(flat, places, strict=True):
        value, dim = known.get(id(x), (None, None))
        # (An argument that comes back, written to or not, is what it was made of; not one that was turned by `t_()` or its like.)
        results.append(value if dim is not None and dim == place else _given_back(name, x, level, place))
    return tree_unflatten(results, out_spec)


def _can_be_batched(x: Any) -> bool:
    array = x._array if isinstance(x, Tensor) else None
    while type(array) is Batched:
        array = array.data
    return type(array) is HOST.array


def _given_back(name: str, value: Any, level: Any, place: int | None) -> Any:
    """A result for the caller, with the samples along a dimension."""
    if place is None:
        if not isinstance(value, Tensor) or not is_of(value._array, level):
            return value
        if varying(value._array, level):
            raise ArgumentValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batching.common_op.call(value, level)
    if not isinstance(value, Tensor):
        raise ArgumentValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did you mean to set out_dims= "
            "to None for output?"
        )
    ndim = value.ndim + 1
    if not -ndim <= place < ndim:
        raise ArgumentIndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {place})"
        )
    if not is_of(value._array, level):
        whole: Any = value
        shape = (*value.shape[: place % ndim], level.size, *value.shape[place % ndim :])
        return whole.unsqueeze(place).expand(shape)
    # (A result that is no view of anything is no view outside either.)
    return (unbatch_op if value._view is None else unbatch_view_op).call(value, level, place % ndim)


def restore_vmap(func: Callable[..., Any], in_dims: Any, batch_size: int, randomness: str) -> Callable[..., Any]:
    """`vmap` that gives (results, where the samples lie in each): what `generate_vmap_rule` and libraries build rules of."""

    def inner(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        values, spec = tree_flatten(args)
        dims = _broadcast_to_and_flatten(in_dims, spec) or []
        level = new_level(batch_size, randomness)
        given = [x if d is None else batch_op.call(x, level, d % x.ndim) for x, d in zip(values, dims, strict=True)]
        with inside(level):
            output = func(*tree_unflatten(given, spec), **kwargs)
        flat, out_spec = tree_flatten(output)
        places = [x._array.place if isinstance(x, Tensor) and varying(x._array, level) else None for x in flat]
        outs = [_given_back("", x, level, place) for x, place in zip(flat, places, strict=True)]
        return tree_unflatten(outs, out_spec), tree_unflatten(places, out_spec)

    return inner


def _in_chunks(
    name: str, func: Callable[..., Any], values: list[Any], dims: list[int | None], spec: TreeSpec, size: int, out_dims: Any,
    randomness: str, kwargs: dict[str, Any], chunk_size: int,
) -> Any:  # fmt: skip
    """Some samples at a time: what is computed needs less memory."""
    states = [(generator, generator.get_state()) for generator in generators] if randomness == "same" else []
    parts = []
    for begin in range(0, size, chunk_size):
        count = min(chunk_size, size - begin)
        given = [x if d is None else x.narrow(d, begin, count) for x, d in zip(values, dims, strict=True)]
        for generator, state in states:  # each part draws the same
            generator.set_state(state)
        output = _mapped(name, func, given, dims, spec, count, out_dims, randomness, kwargs)
        parts.append(tree_flatten(output)[0])
    out_spec = tree_structure(output)
    places = out_places(name, out_dims, output, out_spec)
    columns = zip(*parts, strict=True)
    joined = [column[0] if d is None else cat(list(column), d) for column, d in zip(columns, places, strict=True)]
    return tree_unflatten(joined, out_spec)


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


def out_places(name: str, out_dims: Any, output: Any, spec: Any) -> list[int | None]:
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
