"""Fourier transforms of larger arrays by SciPy: what the portable kernels give, with any norm, in float32 as in float64."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry
from clarion.kernels.everywhere import has_scipy

pytestmark = pytest.mark.skipif(not has_scipy(), reason="SciPy is not installed")
CASES = {
    "fft_c2c": [(True,), (False,)], "fft_r2c": [(True,), (False,)], "fft_c2r": [(128,), (127,)],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dim", [(2,), (0, 2), (1, 2), (1, 0, 2)], ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_larger_transforms(name, dim, wide):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, 9, 65 if name == "fft_c2r" else 128))
    if name != "fft_r2c":
        x = x + 1j * rng.standard_normal(x.shape)
    given = x if wide else x.astype(np.float32 if name == "fft_r2c" else np.complex64)
    for rest in CASES[name]:
        length = np.prod([given.shape[d] for d in dim])
        if name == "fft_c2r":
            length = length // given.shape[dim[-1]] * rest[0]
        for scale in (1.0, 1 / length, 1 / np.sqrt(length)):
            offer = registry.offers(name)["numpy"]
            assert offer.accepts(given, dim, scale, *rest)
            found, expected = offer.function(given, dim, scale, *rest), registry.portable(name)(x, dim, scale, *rest)
            assert found.dtype.itemsize * (1 if wide else 2) == expected.dtype.itemsize
            np.testing.assert_allclose(found, expected, 0, (1e-14 if wide else 1e-6) * np.abs(expected).max())


def test_the_gradient_of_a_real_signal_is_that_of_all_its_spectrum():
    """Half a spectrum beside nothing: the transposed form as it is written down."""
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 8):
        g = rng.standard_normal((3, 4, size // 2 + 1)) + 1j * rng.standard_normal((3, 4, size // 2 + 1))
        padded = np.concatenate([g, np.zeros((3, 4, size - g.shape[2]))], 2)
        for dim in ((2,), (0, 2)):
            found = registry.raw.fft_r2c_backward(g, dim, 0.5, True, size)
            expected = 0.5 * np.fft.ifftn(padded, axes=dim, norm="forward").real
            np.testing.assert_allclose(found, expected, 1e-12, 1e-12)
