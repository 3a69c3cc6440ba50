"""Numbers sorted together with their places: the order of the portable kernel."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("shape", [(1000,), (37, 100), (3, 4, 5)], ids=str)
def test_sort(shape, kind, descending):
    x = np.random.default_rng(0).integers(-50, 50, shape).astype(kind)
    if kind is np.float32:
        x.reshape(-1)[[3, 5, 7, 11, 13, 17]] = [np.nan, np.inf, -np.inf, -0.0, 0.0, -np.nan]
    args = (x, x.ndim - 1, descending)
    for name in ("sort", "sort_stable"):
        values, places = registry._offers[name]["numpy"].function(*args)
        expected = registry.portable(name)(*args)
        np.testing.assert_array_equal(places, expected[1])
        np.testing.assert_array_equal(values, expected[0])
    expected = registry.portable("sort")(*args)
    np.testing.assert_array_equal(registry._offers["argsort"]["numpy"].function(*args), expected[1])


def test_other_types_and_dimensions_are_declined():
    sort = registry._offers["sort"]["numpy"].function
    x = np.zeros((8, 8), np.float32)
    assert sort(x, 0, False) is NotImplemented
    assert sort(x.astype(np.float64), 1, False) is NotImplemented
    assert sort(x.T[1:], 1, False) is NotImplemented


@pytest.mark.parametrize("low", [0, -30, 10**12])
@pytest.mark.parametrize("shape", [(1,), (70,), (30, 40)], ids=str)
def test_whole_numbers_that_lie_near_are_counted(shape, low):
    x = low + np.random.default_rng(0).integers(0, 50, shape)
    found, inverse, counts = registry.portable("unique")(x)
    expected = np.unique(x, return_inverse=True, return_counts=True)
    for one, other in zip(
        (found, inverse.reshape(-1), counts), (expected[0], expected[1].reshape(-1), expected[2]), strict=True
    ):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.int64
    assert inverse.shape == shape


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_the_median_of_all(n, dtype):
    x = np.random.default_rng(0).standard_normal(n).astype(dtype)
    assert registry.portable("median")(x) == np.sort(x)[(n - 1) // 2]
    x[n // 2] = np.nan
    assert np.isnan(registry.portable("median")(x))
    assert n == 1 or registry.portable("nanmedian")(x) == np.sort(x)[max(n - 2, 0) // 2]
