"""Totals of small arrays over dimensions (a builtin, where it is compiled) beside the portable kernels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.events import subscribe
from clarion.kernels.registry import portable, raw

SHAPES = [(), (1,), (7,), (4, 6), (1, 5), (6, 1), (3, 4, 5), (2, 1, 3, 4), (40, 90), (70, 70)]
TYPES = ["float32", "float64", "int64", "bool", "int32", "float16"]


def _arrays(shape: tuple[int, ...], dtype: str) -> list[Any]:
    draws = np.random.default_rng(len(shape))
    x = draws.standard_normal(shape) * 3
    x = (x > 0.5 if dtype == "bool" else x.astype(dtype)) if shape else np.asarray(x, dtype)
    found = [x, np.zeros_like(x), np.full_like(x, 0.1 if x.dtype.kind == "f" else 1)]
    if x.ndim > 1:
        found += [np.ascontiguousarray(x.T).T, x[::-1], np.broadcast_to(x[:1], shape)]
    if x.dtype.kind == "f" and x.size > 2:
        special = x.copy()
        special.reshape(-1)[[0, x.size // 2, -1]] = np.nan, np.inf, -0.0
        found.append(special)
    return found


def _dims(ndim: int) -> list[tuple[int, ...] | None]:
    every = [dims for n in range(1, ndim + 1) for dims in itertools.permutations(range(ndim), n)]
    return [None, *every]


def _compare(name: str, exact: bool, *args: Any) -> None:
    with np.errstate(all="ignore"):
        found, wanted = getattr(raw, name)(*args), np.asarray(portable(name)(*args))
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), (name, args[1:])
    if exact:
        np.testing.assert_array_equal(found, wanted)
    else:
        x = np.asarray(args[0])
        unit = {"float32": 2e-6, "float16": 5e-3}.get(x.dtype.name, 1e-13)
        reach = unit * (np.nanmax(np.abs(np.where(np.isfinite(x), x, 0)), initial=1) + 1) * np.sqrt(max(x.size, 1))
        np.testing.assert_allclose(found, wanted, rtol=unit * 4, atol=reach)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_totals(shape: tuple[int, ...], dtype: str) -> None:
    for x, dims, keepdim in itertools.product(_arrays(shape, dtype), _dims(len(shape)), (False, True)):
        rows = dims is not None and x.ndim - 1 not in dims and list(dims) == sorted(dims)
        _compare("sum", x.dtype.kind in "biu" or (rows and x.size < 4096), x, dims, keepdim)
        if x.size:
            _compare("amax", True, x, dims, keepdim)
            _compare("amin", True, x, dims, keepdim)
        if x.dtype.kind == "f" and x.dtype.itemsize > 2:
            _compare("mean", False, x, dims, keepdim)
            for correction in (0, 1, 1.0, 2):
                _compare("var", False, x, dims, correction, keepdim)
                _compare("std", False, x, dims, correction, keepdim)
        if x.dtype.kind == "b":
            _compare("any", True, x, dims, keepdim)
            _compare("all", True, x, dims, keepdim)
    for x in _arrays(shape, dtype):
        _compare("sum_all", x.dtype.kind in "biu", x)


def test_what_is_true_is_one_whatever_its_byte() -> None:
    mask = np.array([[0, 2, 255], [0, 0, 4]], np.uint8).view(np.bool_)
    for given, wanted in (((0,), [0, 1, 2]), ((1,), [2, 1]), (None, 3)):
        np.testing.assert_array_equal(raw.sum(mask, given, False), wanted)
    assert raw.sum_all(mask) == 3
    np.testing.assert_array_equal(raw.any(mask, (0,), False).view(np.uint8), [0, 1, 1])
    np.testing.assert_array_equal(raw.all(mask, (1,), False).view(np.uint8), [0, 0])


def test_equal_numbers_do_not_vary_and_few_say_nothing() -> None:
    x = torch.full((37, 3), 0.1)
    assert x.var(0).tolist() == x.std(0).tolist() == [0, 0, 0]
    assert x[:1].std(0).isnan().all()
    assert x[:1].var(0, unbiased=False).tolist() == [0, 0, 0]


def test_a_sum_that_is_too_large_is_told() -> None:
    x, heard = np.full((2, 3), 3e38, np.float32), []
    kernel = raw.sum
    if type(kernel).__name__ != "builtin_function_or_method":
        pytest.skip("nothing is compiled here: NumPy warns")
    kernel(x[:1], (0,), False)
    stop = subscribe("float_error", heard.append)
    try:
        raw.amax(np.array([[np.nan, 1], [2, np.inf]], np.float32), (0,), False)
        raw.sum(x[:1], (0,), False)
        assert heard == []
        raw.sum(x, (0,), False)
        assert heard == ["overflow"]
    finally:
        stop()
