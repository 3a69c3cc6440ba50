"""Special functions against SciPy's, far out and at the ends; and without SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import clarion as torch
from clarion.kernels import everywhere

RNG = np.random.default_rng(0)
REAL = np.concatenate(
    [
        RNG.normal(size=300) * 3,
        RNG.uniform(-40, 40, 300),
        [0.0, -0.0, 1, -1, 30, -30, 100, 1e9, np.inf, -np.inf, np.nan],
    ]
)
SHARE = np.concatenate([RNG.uniform(0, 1, 300), 10.0 ** -RNG.uniform(0, 290, 200), [0, 1, 0.5, -1, 2, np.nan]])
ORDER = np.concatenate([RNG.uniform(0.01, 20, 300), 10 ** RNG.uniform(-2, 3, 200), [0, 0, 1, 1, np.inf, 2, -1, 1, 1e5]])
BOUND = np.concatenate([np.abs(ORDER[:500] * (1 + RNG.normal(size=500) / 2)), [0, 1, 0, np.inf, 3, -1, 2, np.nan, 1e5]])
EXPONENT = np.concatenate([RNG.uniform(1.01, 30, 300), [1, 0.5, 2, 2, 3, 2, 3, 2.5]])
BASE = np.concatenate([RNG.uniform(0.01, 50, 300), [1, 1, 0, -3, -0.5, -0.5, -7.25, -0.5]])

CASES = {
    "erfcx": (REAL,),
    "ndtr": (REAL,),
    "log_ndtr": (REAL,),
    "ndtri": (SHARE,),
    "entr": (REAL,),
    "i0e": (np.concatenate([REAL, RNG.uniform(500, 5000, 100)]),),
    "i1e": (REAL,),
    "xlog1py": (REAL, np.resize(SHARE, REAL.shape)),
    "zeta": (EXPONENT, BASE),
    "gammainc": (ORDER, BOUND),
    "gammaincc": (ORDER, BOUND),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_scipy(name):
    arrays = CASES[name]
    found = getattr(torch.special, name)(*map(torch.from_numpy, arrays)).numpy()
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(*arrays)
    # (Below 1e-300 float64 has fewer digits.)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("name", ["gammainc", "ndtri", "i0e"])
def test_keeps_single_precision(name):
    arrays = [torch.tensor([0.3, 0.7]) for _ in CASES[name]]
    assert getattr(torch.special, name)(*arrays).dtype is torch.float32


@pytest.fixture
def no_scipy(monkeypatch):
    everywhere.special.cache_clear()
    monkeypatch.setattr(everywhere, "has_scipy", lambda: False)
    yield
    everywhere.special.cache_clear()


def test_without_scipy_few_functions_are_missing(no_scipy):
    x = torch.tensor([0.5, 1.5])
    for name in ("bessel_y0", "modified_bessel_k0", "airy_ai"):
        with pytest.raises(NotImplementedError, match=r"pip install clarion\[scipy\]"):
            getattr(torch.special, name)(x)
    assert torch.special.gammainc(x, x).shape == (2,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logarithms_of_whole_powers_are_whole(dtype):
    exponents = torch.arange(-4, 5, dtype=dtype)
    tens = torch.tensor([float(f"1e{n}") for n in range(-4, 5)], dtype=dtype)
    assert tens.log10().tolist() == exponents.tolist()
    assert (2**exponents).log2().tolist() == exponents.tolist()
