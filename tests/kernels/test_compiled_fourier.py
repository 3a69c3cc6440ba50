"""Fourier transforms that are compiled: along the last dimension, of powers of two."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("fft_r2c"), reason="llvmlite is not installed")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("n", [512, 1024, 2048, 8192])
def test_compiled_transforms_of_powers_of_two(n, wide):
    """Forward, back, and of real signals: within a few roundings of what float64 gives, whatever the norm, and however rows lie."""
    rng, kinds = np.random.default_rng(n), (np.float64, np.complex128) if wide else (np.float32, np.complex64)
    real = rng.standard_normal((3, 5, n))
    spectrum = rng.standard_normal((3, 5, n // 2 + 1)) + 1j * rng.standard_normal((3, 5, n // 2 + 1))
    number = real + 1j * rng.standard_normal(real.shape)
    for name, given, rest in (
        ("fft_r2c", real, (True,)), ("fft_c2r", spectrum, (n,)), ("fft_c2c", number, (True,)), ("fft_c2c", number, (False,)),
    ):  # fmt: skip
        x = given.astype(kinds[given.dtype.kind == "c"])
        for rows, scale in ((x, 1.0), (x[:, ::2], 1 / n), (x.swapaxes(0, 1), n**-0.5)):
            found = registry.offers(name)["llvm"].function(rows, (2,), scale, *rest)
            expected = registry.portable(name)(rows.astype(given.dtype), (2,), scale, *rest)
            assert found.shape == expected.shape
            assert found.dtype.itemsize * (1 if wide else 2) == expected.dtype.itemsize
            np.testing.assert_allclose(found, expected, 0, (2e-15 if wide else 5e-7) * np.abs(expected).max())


def test_the_ends_of_half_a_spectrum_are_real():
    """They have no imaginary parts, and those that are given do not count."""
    forward, back = (registry.offers(name)["llvm"].function for name in ("fft_r2c", "fft_c2r"))
    x = np.random.default_rng(0).standard_normal((4, 1024))
    found = forward(x, (1,), 1.0, True)
    assert not found[:, [0, -1]].imag.any()
    found[:, 0] += 5j
    found[:, -1] -= 3j
    np.testing.assert_allclose(back(found, (1,), 1 / 1024, 1024), x, 0, 1e-14)


@pytest.mark.parametrize(
    ("shape", "dim"), [((4, 1000), (1,)), ((1024, 4), (0,)), ((64, 64), (0, 1)), ((256, 16), (1,))], ids=str
)
def test_other_transforms_are_left_to_others(shape, dim):
    """Other lengths, other dimensions, and rows that are too short."""
    assert registry.offers("fft_r2c")["llvm"].function(np.zeros(shape), dim, 1.0, True) is NotImplemented
