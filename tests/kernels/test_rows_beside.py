"""Elementwise kernels whose operands are spread over whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("add"), reason="llvmlite is not installed")


@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "lt", "addcmul"])
@pytest.mark.parametrize("shape", [(300, 200), (7, 50, 130), (4000, 33)], ids=str)
def test_rows_and_numbers_beside_whole_arrays(monkeypatch, name, shape):
    """One row for all, a number for each row, or both: on several threads, with the results of NumPy's broadcasting."""
    rng = np.random.default_rng(0)
    kernel = registry._offers[name]["llvm"].function
    monkeypatch.setattr(kernel, "spread", {})  # (a process makes so many versions and no more)
    for kind in (np.float32, np.float64):
        x = rng.uniform(0.5, 2, shape).astype(kind)
        row, numbers = x[(0,) * (x.ndim - 1)].copy(), x[..., :1]
        for others in [(row, numbers), (numbers, row)] if name == "addcmul" else [(row,), (row[None],), (numbers,)]:
            rest = (0.5,) if name == "addcmul" else ()
            made = len(kernel.spread)
            got = kernel(x, *others, *rest)
            assert got is not NotImplemented
            assert len(kernel.spread) >= made
            assert any(kernel.spread.values())
            np.testing.assert_array_equal(got, registry.portable(name)(x, *others, *rest))
