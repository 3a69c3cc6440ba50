"""Jacobians and Hessians as functions: jacrev by rows, jacfwd by columns, all of them at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import alike
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..ops.shapes.join import stack
from ..pytree import tree_flatten, tree_leaves, tree_unflatten
from .levels import Argnums, take
from .mapping import vmap
from .samples import called_once
from .transforms import pullback, pushforward


def _refuse_complex(name: str, values: Any, which: str) -> None:
    for i, value in enumerate(tree_leaves(values)):
        if isinstance(value, Tensor) and value._array.dtype.kind == "c":
            raise EngineError(
                f"{name}: Expected all {which} to be real but received complex tensor at flattened input idx: {i}"
            )


def _basis(tensors: list[Tensor]) -> list[Tensor]:
    """All vectors with a single one in them, in the shape of `tensors`, one after the other along a new dimension."""
    count = sum(t._array.size for t in tensors)
    found, begin = [], 0
    for t in tensors:
        ones = np.zeros((count, t._array.size), t._array.dtype)
        np.fill_diagonal(ones[begin:], 1)
        found.append(alike.placed(ones.reshape(count, *t._array.shape), t))
        begin += t._array.size
    return found


def _parts(rows: Any, like: list[Tensor]) -> Iterator[Any]:
    """What belongs to each of several tensors, of rows for each of their elements."""
    begin = 0
    for t in like:
        yield rows.narrow(0, begin, t._array.size)
        begin += t._array.size


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function that computes the Jacobian, by one backward pass for each element of the output."""
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacrev", args, "inputs")
        output, pull, spec, aux = pullback(func, args, argnums, has_aux)
        outputs, out_spec = tree_flatten(output)
        _refuse_complex("jacrev", outputs, "outputs")
        inputs = tree_leaves(take(args, argnums))
        basis = _basis(outputs)
        if chunk_size == 1 and len(basis[0]):  # which asks nothing of what is called
            each = [pull(tree_unflatten([x[i] for x in basis], out_spec)) for i in range(len(basis[0]))]
            rows = [stack(list(parts)) for parts in zip(*each, strict=True)]
        else:
            rows = vmap(lambda *vectors: pull(tree_unflatten(list(vectors), out_spec)), chunk_size=chunk_size)(*basis)
        columns = [list(_parts(row, outputs)) for row in rows]
        blocks = [
            tree_unflatten(
                [parts[k].reshape(out.shape + x.shape) for parts, x in zip(columns, inputs, strict=True)], spec
            )
            for k, out in enumerate(outputs)
        ]
        result = tree_unflatten(blocks, out_spec)
        return (result, aux) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The function that computes the Jacobian, by one product for each element of the inputs.

    The function itself runs once: with "different" randomness, too, all columns are of the numbers that it drew.
    """

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacfwd", args, "inputs")
        output, push, out_spec, aux = called_once(lambda: pushforward(func, args, argnums, has_aux), randomness)
        _refuse_complex("jacfwd", output, "outputs")
        inputs, spec = tree_flatten(take(args, argnums))
        columns = vmap(lambda *vectors: push(list(vectors)))(*_basis(inputs))
        blocks = [
            tree_unflatten(
                [
                    part.movedim(0, -1).reshape(out.shape + x.shape)
                    for part, x in zip(_parts(column, inputs), inputs, strict=True)
                ],
                spec,
            )
            for column, out in zip(columns, tree_leaves(output), strict=True)
        ]
        result = tree_unflatten(blocks, out_spec)
        return (result, aux) if has_aux else result

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that computes the matrix of second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)
