"""The kernel calls that a row of the table makes, forward and backward, with their arguments as they were."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import clarion as torch
from clarion.core.general_call import numbers32, numbers64
from clarion.kernels import registry
from clarion.kernels.layout import blank
from clarion.kernels.random import Generator

from ..opcases import Row
from ..rowtools import draw, leaves, results

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


@contextmanager
def watching() -> Iterator[list[Call]]:
    """The calls of portable kernels that are made meanwhile: name, arguments as they were before, keywords."""
    made: list[Call] = []
    known = registry._libraries["numpy"]
    registry._libraries["numpy"] = registry.Library("numpy", known.array_type, known.xp, ("watched",))

    def watched(name: str, kernel: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            before = name, keep(args), keep(kwargs)
            result = kernel(*args, **kwargs)
            made.append(before)  # a call that was refused is no call
            return result

        return call

    for name in registry.names():
        writes = registry.portable_writes(name)
        registry.offer(name, "watched", watched(name, registry.portable(name)), writes=writes)
    try:
        yield made
    finally:
        registry._libraries["numpy"] = known
        registry.withdraw("watched")


def run(row: Row, dtype: str = "float64") -> None:
    """A row, forward and backward."""
    torch.manual_seed(0)
    made = leaves(torch, row, draw(row), dtype)
    outs = [out for out in results(row.call(torch, *made)) if isinstance(out, torch.Tensor)]
    roots = [out for out in outs if out.requires_grad]
    if roots:
        torch.autograd.backward(roots, [torch.ones_like(out) for out in roots])


class Number:
    """A Python number among the operands. It reaches NumPy's kernels as a 0-dim array, and others as a scalar."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def keep(value: Any) -> Any:
    """A copy of arrays, in the strides that they have; numbers (0-dim arrays that are remembered) as Number."""
    if isinstance(value, np.ndarray):
        remembered = (
            (numbers32 if value.dtype == np.float32 else numbers64).get(value.item()) if not value.ndim else None
        )
        return Number(value) if remembered is value else copied(value)
    if isinstance(value, np.generic):  # what NumPy's arithmetic makes of arrays without dimensions
        return np.asarray(value)
    if type(value) in (tuple, list):
        return type(value)(map(keep, value))
    if isinstance(value, (Generator, np.random.BitGenerator)):
        return copy.deepcopy(value)
    return {key: keep(each) for key, each in value.items()} if type(value) is dict else value


def copied(array: np.ndarray) -> np.ndarray:
    """A copy with the same strides."""
    if min(array.strides, default=0) < 0:
        return array.copy()
    out = blank((array.shape, array.strides, array.dtype))
    out[...] = array
    return out


def as_numpy(value: Any) -> Any:
    if isinstance(value, Number):
        return value.array
    return type(value)(map(as_numpy, value)) if type(value) in (tuple, list) else value


def compare(got: Any, expected: Any, name: str, rtol: float, atol: float) -> None:
    """Values and shapes of one result, or of several."""
    if type(expected) in (tuple, list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            compare(one, other, name, rtol, atol)
    elif expected is not None:
        assert np.shape(got) == np.shape(expected), name
        np.testing.assert_allclose(got, expected, rtol, atol, err_msg=name)
