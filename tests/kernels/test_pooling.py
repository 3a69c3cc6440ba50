"""Compiled pooling: what the portable kernels compute."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("max_pool2d"), reason="llvmlite is not installed")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("ksize", "stride", "padding", "dilation"),
    [
        ((2, 2), (2, 2), (0, 0), (1, 1)),
        ((3, 3), (2, 2), (1, 1), (1, 1)),
        ((3, 2), (1, 3), (1, 0), (2, 1)),
        ((5, 5), (1, 1), (2, 2), (1, 1)),
    ],
)
def test_the_largest_of_each_window(ksize, stride, padding, dilation, dtype):
    x = np.random.default_rng(0).standard_normal((4, 6, 17, 19)).astype(dtype)
    x[0, 0, 3, 4], x[1, 1], x[2] = np.nan, -np.inf, np.round(x[2])  # a NaN, nothing, and many that are equal
    size = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(x.shape[2:], ksize, stride, padding, dilation, strict=True)
    )
    arguments = (x, ksize, stride, padding, dilation, size)
    best, places = registry.offers("max_pool2d")["llvm"].function(*arguments)
    expected = registry.portable("max_pool2d")(*arguments)
    np.testing.assert_array_equal(best, expected[0])
    np.testing.assert_array_equal(places, expected[1])
    g = np.random.default_rng(1).standard_normal(best.shape).astype(dtype)
    back = registry.offers("add_at_places")["llvm"].function(g, places, x.shape, 2)
    np.testing.assert_allclose(back, registry.portable("add_at_places")(g, places, x.shape, 2), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [(1, 1), (2, 1), (6, 10)], ids=str)
def test_the_largest_of_windows_that_cover_the_input(size, dtype):
    x = np.random.default_rng(0).standard_normal((4, 6, 12, 10)).astype(dtype)
    x[0, 0, 3, 4], x[0, 0, 5, 1], x[1, 1], x[2] = np.nan, np.nan, -np.inf, np.round(x[2])
    best, places = registry.offers("adaptive_max_pool2d")["llvm"].function(x, size)
    expected = registry.portable("adaptive_max_pool2d")(x, size)
    np.testing.assert_array_equal(best, expected[0])
    np.testing.assert_array_equal(places, expected[1])


def test_what_is_not_for_it_is_declined():
    function = registry.offers("max_pool2d")["llvm"].function
    rest = ((2, 2), (2, 2), (0, 0), (1, 1), (8, 8))
    for x in (np.zeros((4, 16, 16), np.int64), np.zeros((4, 16, 16, 8), np.float32).transpose(0, 3, 1, 2)):
        assert function(x, *rest) is NotImplemented
