"""Compiled batch normalization: what the portable kernel computes, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("batch_norm"), reason="llvmlite is not installed")
BOTH = ("batch_norm", "batch_norm_backward")


@pytest.mark.parametrize("shape", [(16, 32, 7, 7), (3, 5, 40, 41), (64, 10), (2, 3, 2000), (1, 4, 3)], ids=str)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_batch_norm(shape, affine, dtype, rtol):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape) * 2 + 3).astype(dtype), rng.standard_normal(shape).astype(dtype)
    weight, bias = (rng.standard_normal(shape[1]).astype(dtype) if affine else None for _ in range(2))
    forward, backward = (registry.offers(name)["llvm"].function for name in BOTH)
    exact, exact_backward = (registry.portable(name) for name in BOTH)

    def wide(a):
        return None if a is None else a.astype(np.float64)

    got = forward(x, weight, bias, None, None, True, 1e-5)
    expected = exact(wide(x), wide(weight), wide(bias), None, None, True, 1e-5)
    _, mean, rstd = got
    got += backward(g, x, weight, mean, rstd, True, (True, True, True))
    expected += exact_backward(wide(g), wide(x), wide(weight), *expected[1:], True, (True, True, True))
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b, rtol, 10 * rtol * np.abs(b).max())


def test_what_is_not_for_it_is_declined():
    x = np.ones((2, 3, 4), np.float32)
    forward, backward = (registry.offers(name)["llvm"].function for name in BOTH)
    assert forward(x, None, None, x[0, :, 0], x[0, :, 0], False, 1e-5) is NotImplemented
    assert forward(x.transpose(0, 2, 1), None, None, None, None, True, 1e-5) is NotImplemented
    assert forward(x.astype(np.float16), None, None, None, None, True, 1e-5) is NotImplemented
    mean = np.ones(3, np.float64)
    assert backward(x, x, None, mean, mean, True, (True, True, True)) is NotImplemented
