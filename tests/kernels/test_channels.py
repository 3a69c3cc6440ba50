"""Compiled batch normalization: what the portable kernel computes, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("batch_norm"), reason="llvmlite is not installed")
BOTH = ("batch_norm", "batch_norm_backward")


SHAPES = [(16, 32, 7, 7), (3, 5, 40, 41), (64, 10), (130, 300), (50, 33, 1), (2, 3, 2000), (1, 4, 3)]


def last(a):
    """The same numbers, with the channels side by side."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1)


def wide(a):
    return None if a is None else a.astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, last], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_batch_norm(shape, affine, training, layout, dtype, rtol):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape) * 2 + 3).astype(dtype), rng.standard_normal(shape).astype(dtype)
    x = layout(x)  # the gradient comes as it likes
    weight, bias = (rng.standard_normal(shape[1]).astype(dtype) if affine else None for _ in range(2))
    running = (None, None)
    if not training:
        running = (rng.standard_normal(shape[1]).astype(dtype), rng.random(shape[1]).astype(dtype))
    forward, backward = (registry.offers(name)["llvm"].function for name in BOTH)
    exact, exact_backward = (registry.portable(name) for name in BOTH)
    got = forward(x, weight, bias, *running, training, 1e-5)
    expected = exact(wide(x), wide(weight), wide(bias), *map(wide, running), training, 1e-5)
    _, mean, rstd = got
    got += backward(g, x, weight, mean, rstd, training, (True, True, True))
    expected += exact_backward(wide(g), wide(x), wide(weight), *expected[1:], training, (True, True, True))
    if len(shape) == 3:
        assert got[0].flags.c_contiguous
        assert got[3].flags.c_contiguous
    elif min(shape) > 1:
        assert got[0].strides == got[3].strides == x.strides
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b, rtol, 10 * rtol * np.abs(b).max())


def test_what_is_not_for_it_is_declined():
    x = np.ones((2, 3, 4), np.float32)
    forward, backward = (registry.offers(name)["llvm"].function for name in BOTH)
    assert forward(x[:, :, ::2], None, None, None, None, True, 1e-5) is NotImplemented
    assert forward(x.astype(np.float16), None, None, None, None, True, 1e-5) is NotImplemented
    mean = np.ones(3, np.float64)
    assert forward(x, None, None, mean, mean, False, 1e-5) is NotImplemented
    assert backward(x, x, None, mean, mean, True, (True, True, True)) is NotImplemented
