"""Jacobians and Hessians as functions: jacrev row by row, jacfwd column by column."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import alike
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..ops.shapes.join import stack
from ..pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten
from .levels import Argnums, take
from .transforms import pullback, pushforward


def _refuse_complex(name: str, values: Any, which: str) -> None:
    for i, value in enumerate(tree_leaves(values)):
        if isinstance(value, Tensor) and value._array.dtype.kind == "c":
            raise EngineError(
                f"{name}: Expected all {which} to be real but received complex tensor at flattened input idx: {i}"
            )


def _basis(tensors: list[Tensor]) -> Iterator[list[Tensor]]:
    """One after the other all vectors with a single one in them, in the shape of `tensors`."""
    for i, tensor in enumerate(tensors):
        for index in np.ndindex(tensor._array.shape):
            arrays = [np.zeros(t._array.shape, t._array.dtype) for t in tensors]
            arrays[i][index] = 1
            yield [alike.placed(array, t) for array, t in zip(arrays, tensors, strict=True)]


def _joined(parts: list[Tensor], like: Tensor, dim: int, shape: tuple[int, ...]) -> Any:
    """Derivatives side by side along a new dimension, as a tensor of the whole shape."""
    if not parts:
        return alike.zeros(like, shape)
    return stack(parts, dim).reshape(shape)


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
        rows = [pull(tree_unflatten(vectors, out_spec)) for vectors in _basis(outputs)]
        blocks, begin = [], 0
        for out in outputs:
            end = begin + out._array.size
            columns = [
                _joined([row[k] for row in rows[begin:end]], x, 0, tuple(out.shape) + tuple(x.shape))
                for k, x in enumerate(inputs)
            ]
            blocks.append(tree_unflatten(columns, spec))
            begin = end
        result = tree_unflatten(blocks, out_spec)
        return (result, aux) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The function that computes the Jacobian, by one product for each element of the inputs."""

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacfwd", args, "inputs")
        output, push, out_spec, aux = pushforward(func, args, argnums, has_aux)
        _refuse_complex("jacfwd", output, "outputs")
        inputs, spec = tree_flatten(take(args, argnums))
        columns = [push(vectors) for vectors in _basis(inputs)]
        blocks = [_block(k, out, inputs, spec, columns) for k, out in enumerate(tree_leaves(output))]
        result = tree_unflatten(blocks, out_spec)
        return (result, aux) if has_aux else result

    return jacobian


def _block(k: int, out: Tensor, inputs: list[Tensor], spec: TreeSpec, columns: list[list[Tensor]]) -> Any:
    """The derivatives of one output with respect to all inputs."""
    parts, begin = [], 0
    for x in inputs:
        end = begin + x._array.size
        shape = tuple(out._array.shape)
        parts.append(_joined([c[k] for c in columns[begin:end]], out, len(shape), shape + tuple(x._array.shape)))
        begin = end
    return tree_unflatten(parts, spec)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that computes the matrix of second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)
