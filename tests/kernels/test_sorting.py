"""Numbers sorted together with their places: the order of the portable kernel, which is stable."""

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
    values, places = registry._offers["sort"]["numpy"].function(*args)
    expected = registry.portable("sort")(*args)
    np.testing.assert_array_equal(places, expected[1])
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(registry._offers["argsort"]["numpy"].function(*args), expected[1])


def test_other_types_and_dimensions_are_declined():
    sort = registry._offers["sort"]["numpy"].function
    x = np.zeros((8, 8), np.float32)
    assert sort(x, 0, False) is NotImplemented
    assert sort(x.astype(np.float64), 1, False) is NotImplemented
    assert sort(x.T[1:], 1, False) is NotImplemented
