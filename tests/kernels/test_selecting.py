"""The first few numbers of rows, images resampled, and numbers that change places: compiled beside portable."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("topk_stable"), reason="llvmlite is not installed")


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("n", "k"), [(1000, 10), (100, 3), (64, 8), (5000, 200), (33, 1)])
def test_topk(n, k, largest):
    rng = np.random.default_rng(0)
    x = rng.integers(-50, 50, (37, n)).astype(np.float32) / 7
    x[3, 5], x[4, :3], x[5, ::2] = np.nan, [np.inf, -np.inf, -0.0], -0.0
    for kind in (np.float32, np.float64):
        array = x.astype(kind)
        values, places = registry._offers["topk_stable"]["llvm"].function(array, k, 1, largest)
        expected = registry.portable("sort_stable")(array, 1, largest)
        np.testing.assert_array_equal(places, expected[1][:, :k])  # of equal numbers the first
        np.testing.assert_array_equal(values, expected[0][:, :k])


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("n", "k"), [(64, 1), (131, 2), (1000, 15), (20000, 200)])
@pytest.mark.parametrize("dim", [0, 1])
def test_of_equals_a_heap_leaves_those_that_it_leaves_step_by_step(n, k, largest, dim):
    rng = np.random.default_rng(n)
    x = (rng.integers(-20, 20, (9, n)) / 7).astype(np.float32)
    x[3, rng.integers(0, n, 30)], x[4, ::2], x[5, ::3], x[6] = np.nan, -0.0, np.inf, 1.0
    ranks = np.where(
        np.isnan(x), np.inf if largest else -np.inf, x.astype(np.float64) if largest else -x.astype(np.float64)
    )
    ranks = np.unique(
        np.stack([-ranks, np.where(np.isnan(x), 0, 1)]).transpose(1, 2, 0).reshape(-1, 2), axis=0, return_inverse=True
    )[1]
    elements = (ranks.reshape(x.shape).astype(np.int64) << 32) | np.arange(n)
    expected = np.array([registry.portable("exchanged")(row[None], k, True)[0, :k] & 0xFFFFFFFF for row in elements])
    laid = x if dim else np.ascontiguousarray(x.T)
    values, places = registry._offers["topk"]["llvm"].function(laid, k, dim, largest)
    np.testing.assert_array_equal(places if dim else places.T, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(laid, places, dim))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic", "area", "linear-aa"])
@pytest.mark.parametrize("size", [(11, 50), (70, 9), (40, 40), (33, 21)], ids=str)
def test_images_are_resampled(mode, size):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 5, 33, 40))
    g = rng.standard_normal((3, 5, *size))
    args = (mode, (None, None), False)
    got = registry._offers["upsample_bilinear2d"]["llvm"].function(x, size, *args)
    np.testing.assert_allclose(got, registry.portable("upsample_bilinear2d")(x, size, *args), 1e-12, 1e-12)
    got = registry._offers["resample_backward"]["llvm"].function(g, (33, 40), *args)
    np.testing.assert_allclose(got, registry.portable("resample_backward")(g, (33, 40), *args), 1e-12, 1e-12)


@pytest.mark.parametrize("n", [65, 1000, 100_000])
def test_numbers_change_places(n):
    targets = np.arange(n)
    targets[:-1] += np.random.default_rng(0).integers(0, n, n - 1) % np.arange(n, 1, -1)
    np.testing.assert_array_equal(
        registry._offers["swapped"]["llvm"].function(targets), registry.portable("swapped")(targets)
    )


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_along_other_dimensions(dim, largest):
    x = np.random.default_rng(0).standard_normal((60, 50, 40)).astype(np.float32)
    found = registry.offers("topk_stable")["llvm"].function(x, 5, dim, largest)
    for one, other in zip(found, registry.portable("topk_stable")(x, 5, dim, largest), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.flags.c_contiguous


@pytest.mark.parametrize("k", [0, 1, 3, 40, 250])
@pytest.mark.parametrize("most", [1, 3, 300])
def test_equals_are_exchanged(most, k):
    rng = np.random.default_rng(k)
    x = rng.integers(0, most, (5, 300))
    x[3] = np.r_[np.arange(150), np.arange(150)[::-1]]  # the median of three is no good choice
    elements = x << 32 | np.arange(300)
    for in_order in (True, False):
        found = registry._offers["exchanged"]["llvm"].function(elements, k, in_order)
        np.testing.assert_array_equal(found, registry.portable("exchanged")(elements, k, in_order))
