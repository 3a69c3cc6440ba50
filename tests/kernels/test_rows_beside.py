"""Elementwise kernels whose operands are spread over whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry
from clarion.kernels.spreading import with_short_rows

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


@pytest.mark.parametrize("name", ["add", "mul", "addcmul"])
@pytest.mark.parametrize("order", [(2, 1, 0), (0, 2, 1), (2, 0, 1)], ids=str)
def test_arrays_that_lie_differently(name, order):
    """Large ones are laid as the first of them before: the same numbers, where the first one has them."""
    rng = np.random.default_rng(0)
    kernel = registry._offers[name]["llvm"].function
    for kind in (np.float32, np.float64):
        x = rng.uniform(0.5, 2, (40, 41, 42)).astype(kind)
        shape = x.transpose(order).shape
        other = rng.uniform(0.5, 2, shape).astype(kind)
        rest = (other, 0.5) if name == "addcmul" else ()
        for pair in ((x.transpose(order), other), (other, x.transpose(order))):
            got = kernel(*pair, *rest)
            np.testing.assert_array_equal(got, registry.portable(name)(*pair, *rest))
            assert got.strides == pair[0].strides


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9])
def test_short_rows_are_spread_out(n, dtype):
    """Boxes beside boxes: copied row by row, the same numbers; whatever does not fit is left to NumPy."""
    rng = np.random.default_rng(0)
    a, b = ((100 * rng.standard_normal((count, 9))).astype(dtype) for count in (60, 50))
    for x, y in (
        (a[:, None, :n], b[None, :, :n]),
        (b[None, :, -n:], a[:, None, -n:]),
        (np.ascontiguousarray(a[:, None, :n]), np.ascontiguousarray(b[None, :, :n])),
        (np.broadcast_to(a[:, None, :n], (60, 50, n)).copy(), b[None, :, :n]),
        (a[:, None, :n], b[None, :, ::-1][..., :n]),
        (a[:, None, :n], b[None, :, :1]),
    ):
        for one, other in zip(with_short_rows(x, y), (x, y), strict=True):
            np.testing.assert_array_equal(
                np.broadcast_to(one, (60, 50, one.shape[-1])), np.broadcast_to(other, (60, 50, other.shape[-1]))
            )
        found, expected = registry.raw.maximum(x, y), np.maximum(x, y)
        np.testing.assert_array_equal(found, expected)
        assert found.strides == expected.strides
    with pytest.raises(ValueError, match="broadcast"):
        registry.raw.maximum(a[:, None, :2].repeat(2, 1), b[None, :, :2])


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("softmax", 1),
        ("log_softmax", 1),
        ("softmax_backward", 2),
        ("log_softmax_backward", 2),
        ("softmax_and_total", 1),
    ],
)
def test_softmax_is_compiled(name, count):
    """What asks for a size cannot be traced, and would be left to NumPy without a word."""
    rows = registry.offers(name)["llvm"].function
    assert rows.version((*[np.ones((4, 8), np.float32)] * count, 1)) is not None
