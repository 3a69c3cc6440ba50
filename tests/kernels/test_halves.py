"""Compiled conversions from and to half precision: bit for bit what the array library gives."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import clarion
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("cast"), reason="llvmlite is not installed")
HALF = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
F32 = np.dtype(np.float32)


def compiled(x, dtype):
    return registry.offers("cast")["llvm"].function(x, dtype)


def same(found, expected):
    assert found.dtype == expected.dtype
    none = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), none)
    bits = np.uint16 if found.itemsize == 2 else np.uint32
    np.testing.assert_array_equal(found.view(bits)[~none], expected.view(bits)[~none])


@pytest.mark.parametrize("kind", HALF, ids=str)
def test_every_number_is_widened(kind):
    x = np.arange(1 << 16, dtype=np.uint16).view(kind)
    same(compiled(x, F32), x.astype(np.float32))


@pytest.mark.parametrize("kind", HALF, ids=str)
def test_numbers_are_narrowed(kind):
    """Every number of the type, the middle to the next one (ties), and its neighbours; then any bits at all."""
    with np.errstate(all="ignore"):
        every = np.arange(1 << 16, dtype=np.uint16).view(kind).astype(np.float32)
        middle = (every[:-1].astype(np.float64) + every[1:]) / 2
        near = middle.astype(np.float32)
        some = np.random.default_rng(0).integers(0, 1 << 32, 100_003, np.uint32).view(np.float32)
        above, below = (np.nextafter(near, np.float32(end)) for end in (np.inf, -np.inf))
        for x in (every, near, above, below, some):
            same(compiled(x, kind), x.astype(kind))


@pytest.mark.parametrize("kind", HALF, ids=str)
def test_strides_and_shapes(kind):
    x = np.random.default_rng(0).standard_normal((40, 50)).astype("f")
    for view in (x[::2, 1:], x.T, x[:, ::-1], x[5]):
        found = compiled(view, kind)
        same(found, view.astype(kind))
        same(compiled(found, F32), found.astype(np.float32))
    assert compiled(x.T, kind).strides == x.T.astype(kind).strides


def test_other_types_are_converted_as_ever():
    x = np.ones((64, 64), np.float32)
    for array, dtype in (
        (x, "f8"),
        (x.astype("f8"), "f2"),
        (x.astype("i2"), "f4"),
        (x.astype("c8"), "f4"),
        (np.broadcast_to(x[0, 0], (64, 64)), "f2"),
    ):
        found, expected = compiled(array, np.dtype(dtype)), registry.portable("cast")(array, np.dtype(dtype))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_a_product_of_numbers_in_half_precision_has_its_gradients(kind):
    x = clarion.linspace(-2, 2, 4096, dtype=getattr(clarion, kind)).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.dtype == x.dtype
    np.testing.assert_array_equal(x.grad.float().numpy(), 2 * x.detach().float().numpy())
