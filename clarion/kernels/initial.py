"""Initial values of parameters that more than one draw makes, as PyTorch computes them: arrays of the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import random as draws
from .permutation import randperm


def dirac(shape: tuple[int, ...], groups: int) -> Any:
    """Kernels of convolutions that pass their input through."""
    per_group = shape[0] // groups
    channels = np.arange(min(per_group, shape[1]))
    values = np.zeros(shape)
    middle = tuple(n // 2 for n in shape[2:])
    for group in range(groups):
        values[(group * per_group + channels, channels, *middle)] = 1
    return values


def orthogonal(gen: Any, shape: tuple[int, ...], dtype: Any, gain: float) -> Any:
    """Rows (or columns, if they are fewer) that stand at right angles."""
    rows = shape[0]
    flat = draws.normal(gen, (rows, int(np.prod(shape)) // rows), dtype, 0, 1)
    wide = rows < flat.shape[1]
    q, r = np.linalg.qr(flat.T if wide else flat)
    q = q * np.sign(np.diagonal(r))
    return (q.T if wide else q).reshape(shape) * gain


def sparse(array: Any, zeros: int) -> Any:
    """The matrix with `zeros` zeros in each column, at random places."""
    for column in range(array.shape[1]):
        array[randperm(draws.default_generator, array.shape[0])[:zeros], column] = 0
    return array


def truncated_normal(gen: Any, shape: tuple[int, ...], dtype: Any, mean: float, std: float, a: float, b: float) -> Any:
    """Normal numbers; what falls outside [a, b] is drawn again."""
    low, high = dtype.type(a), dtype.type(b)
    result = draws.normal(gen, shape, dtype, mean, std)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            return result
        result = np.where(outside, draws.normal(gen, shape, dtype, mean, std), result)


def rejected_uniforms(gen: Any, shape: tuple[int, ...], dtype: Any, mean: float, std: float, a: float, b: float) -> Any:
    """The same from uniform candidates, taken with the density's probability: for bounds that few normals meet."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    result = np.empty(shape, dtype)
    pending = np.ones(shape, bool)
    while pending.any():
        candidates = draws.uniform(gen, shape, dtype, a, b)
        result = np.where(pending, candidates, result)
        log_density = ((candidates - mean) / std) ** 2 * -0.5 - log_peak
        with np.errstate(divide="ignore"):
            pending &= np.log(draws.uniform(gen, shape, dtype, 0.0, 1.0)) > log_density
    return result
