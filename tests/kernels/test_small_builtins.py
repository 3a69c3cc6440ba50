"""Builtins for small arrays (where they are compiled) beside the portable kernels: corners, strides, ties, NaN, numbers of no element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.kernels.registry import portable, raw

SHAPES = [(5,), (4, 6), (3, 4, 5), (2, 3, 2, 4)]


def _numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def _same(name: str, *args: Any) -> None:
    found, wanted = getattr(raw, name)(*args), portable(name)(*args)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, two in pairs:
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_by_their_numbers(shape: tuple[int, ...]) -> None:
    draws = np.random.default_rng(0)
    for dim in range(len(shape)):
        for less in (0, 1):
            wanted = [max(1, n - less) for n in shape]
            wanted[dim] = 7
            index, x = draws.integers(0, shape[dim], wanted), _numbers(dim, *shape)
            _same("gather", x, index, dim)
            larger = _numbers(9, *[n + less for n in wanted])
            for src in (larger, np.ascontiguousarray(larger[..., ::-1])[..., ::-1]):
                _same("scatter_add", x, index, src, dim)
                _same("scatter_add", x.astype(np.float64), index, src.astype(np.float64), dim)
        rows = draws.integers(0, shape[dim], 7)
        _same("index_select", x, rows, dim)
        for name in ("cumsum", "reverse_cumsum", "cumprod"):
            _same(name, x, dim)
            _same(name, np.broadcast_to(np.float32(0.3), shape), dim)


def test_numbers_of_no_element() -> None:
    assert raw.all_below(np.arange(5), 5)
    assert not raw.all_below(np.arange(5), 4)
    assert not raw.all_below(np.array([-1]), 4)


def test_joins_and_masks() -> None:
    x, y = _numbers(0, 3, 4, 5), _numbers(1, 3, 2, 5)
    _same("cat", [x, y], 1, None)
    _same("cat", [x.transpose(1, 0, 2), y.transpose(1, 0, 2)], 0, None)
    for dim in range(4):
        _same("stack", (x, 2 * x), dim, None)
    for value in (0.0, -0.0, np.inf, np.nan, np.array(0.5, np.float32)):
        _same("masked_fill", x, x > 0.5, value)
        _same("masked_fill", x, x[0] > 0.5, value)


@pytest.mark.parametrize("n", [1, 2, 8, 16, 17, 64, 65])
def test_short_rows_sorted(n: int) -> None:
    x = _numbers(n, 4, n)
    for rows in (x, np.floor(4 * x), np.where(x > 0.8, np.nan, x).astype(np.float32), (100 * x).astype(np.int64)):
        for downward in (False, True):
            _same("sort", rows, 1, downward)
            _same("sort_stable", rows, 1, downward)
            for k in sorted({1, min(3, n), n}):
                _same("topk", rows, k, 1, downward)


def test_a_larger_source_is_used_as_far_as_the_index_goes() -> None:
    x, index, src = torch.zeros(4, 6), torch.tensor([[0, 1], [2, 0]]), torch.ones(3, 5)
    for how in ("sum", "amax"):
        assert x.scatter_reduce(1, index, src, how).sum().item() == 4
    assert x.scatter_add(1, index, src).sum().item() == x.scatter(1, index, src).sum().item() == 4
