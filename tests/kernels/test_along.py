"""Softmax and its kin along any dimension: what the portable kernels give, infinities and NaN included."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("softmax"), reason="llvmlite is not installed")


def _drawn(shape, dtype):
    x = 10 * np.random.default_rng(0).standard_normal(shape).astype(dtype)
    yield x
    some = x.copy()
    some.flat[[5, 17, 40]] = np.inf, -np.inf, np.nan
    yield some
    some = x.copy()
    some[:, 0] = -np.inf
    yield some


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax", "amax", "amin"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(16, 32, 32), (3, 5, 7), (2, 300, 4), (40, 50), (2, 3, 4, 33), (9, 1000, 70)], ids=str
)
def test_along_a_dimension_that_is_not_the_last(name, dtype, shape):
    kernel = registry.offers(name)["llvm"].function
    for x in _drawn(shape, dtype):
        for dim in range(len(shape) - 1):
            for how in ((dim,),) if "softmax" in name else (((dim,), False), ((dim,), True)):
                found = kernel(x, *how)
                assert found is not NotImplemented
                assert found.flags.c_contiguous
                with np.errstate(all="ignore"):
                    expected = registry.portable(name)(x.astype(np.float64), *how)
                tolerance = 4e-6 if dtype is np.float32 else 1e-13
                np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=f"{dim}")
