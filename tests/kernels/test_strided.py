"""Compiled kernels on operands that broadcast or lie apart: what NumPy computes, bit for bit, in contiguous results."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
from clarion.kernels import registry

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("add"), reason="llvmlite is not installed")

SHAPES = [
    ((40, 1, 2), (13, 2)), ((40, 1, 4), (1, 13, 4)), ((64, 1), (20,)), ((3, 1, 5, 1), (7, 1, 6)), ((100, 3), (100, 1)),
    ((7, 1, 3), (1, 9, 3)), ((2, 3, 4, 5), (3, 1, 5)), ((700,), (700,)), ((33, 1), (1, 600)), ((1, 1, 8), (5, 6, 8)), ((50, 40), (40,)),
    ((2, 1, 2, 1, 2), (1, 3, 1, 3, 1)), ((9, 1, 2), (1, 1)),
]  # fmt: skip


@pytest.fixture(scope="module")
def kernels():
    """The builtin functions, warm."""
    x = np.ones(40000, np.float32)
    for kind in (np.float32, np.float64):
        y = x.astype(kind)
        for name in ("add", "mul", "maximum", "lt", "exp"):
            for _ in range(700 if name != "exp" else 3):
                getattr(registry.raw, name)(*([y[:64]] if name == "exp" else [y[:64], y[:64]]))
            for _ in range(8):
                getattr(registry.raw, name)(*([y] if name == "exp" else [y, y]))
    return registry.raw


def apart(shape, dtype, step, seed):
    """An array of this shape whose last dimension goes in steps; `step` 0: adjacent ones."""
    draw = np.random.default_rng(seed).standard_normal
    if not step:
        return draw(shape).astype(dtype)
    return draw((*shape[:-1], shape[-1] * step + 1)).astype(dtype)[..., 1 : 1 + shape[-1] * step : step]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [(0, 0), (2, 0), (0, 4), (3, 2), (4, 4)])
@pytest.mark.parametrize(("left", "right"), SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_what_numpy_computes(kernels, left, right, steps, dtype, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x, y = apart(left, dtype, steps[0], 1), apart(right, dtype, steps[1], 2)
        for name, own in (("add", np.add), ("mul", np.multiply), ("maximum", np.maximum), ("lt", np.less)):
            for a, b in ((x, y), (y, x)):
                got, expected = getattr(kernels, name)(a, b), own(a, b)
                np.testing.assert_array_equal(got, expected)
                assert got.dtype == expected.dtype
                assert got.strides == expected.strides
    finally:
        torch.set_num_threads(before)


def test_into_an_array(kernels):
    for left, right in SHAPES:
        x, y = apart(left, np.float32, 0, 1), apart(right, np.float32, 2, 2)
        out = np.empty(np.broadcast_shapes(left, right), np.float32)
        assert kernels.add(x, y, out=out) is out
        np.testing.assert_array_equal(out, x + y)
        if out.shape == left:
            expected = x * y
            assert kernels.mul(x, y, out=x) is x
            np.testing.assert_array_equal(x, expected)


def test_what_is_read_while_it_is_written(kernels):
    """The result lies where an operand does, but otherwise: as if all had been read before."""
    for read in (lambda x: x[:1], lambda x: x[:, :1], lambda x: x[::-1], lambda x: x[1:2]):
        x = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
        expected = x + read(x).copy()
        kernels.add(x, read(x), out=x)
        np.testing.assert_array_equal(x, expected)


def test_other_orders_and_empty_ones(kernels):
    x = np.random.default_rng(0).standard_normal((30, 40, 2)).astype(np.float32)
    for a, b in ((x.T, x[0].T[:, :, None]), (x.transpose(1, 0, 2), x[:, 0]), (x[::-1], x[:1]), (x[:, :0], x[:, :1])):
        if a.shape[-1] == b.shape[-1] or 1 in (a.shape[-1], b.shape[-1]):
            np.testing.assert_array_equal(kernels.add(a, b), a + b)


def test_many_elements(kernels):
    x = np.random.default_rng(0).standard_normal((700, 1, 3)).astype(np.float32)
    y = np.random.default_rng(1).standard_normal((1, 301, 3)).astype(np.float32)
    np.testing.assert_array_equal(kernels.mul(x, y), x * y)
    z = np.random.default_rng(2).standard_normal((200_001, 2)).astype(np.float32)
    np.testing.assert_array_equal(kernels.mul(z[:, 0], z[:, 1]), z[:, 0] * z[:, 1])
    np.testing.assert_array_equal(kernels.exp(z[:, 1]), kernels.exp(np.ascontiguousarray(z[:, 1])))
