"""Copies and constants by several threads: the same bytes as NumPy's, whatever the layout."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

pytest.importorskip("llvmlite", reason="compiled kernels need llvmlite")
from clarion.kernels import registry
from clarion.kernels.llvm import copying

TYPES = ["float32", "float64", "int64", "int32", "int16", "bool", "complex64", "complex128"]


def some(shape, dtype):
    return np.random.default_rng(0).integers(0, 100, shape).astype(dtype)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(copying, "LEAST", 1)
    monkeypatch.setattr(copying, "_SHARE", 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_copies(dtype, at_once):
    whole = some((6, 5, 40, 70), dtype)
    for source in (
        whole,
        whole[1:, :, 3:],
        whole[:, ::2, :, 2:66],
        whole.transpose(1, 0, 2, 3),
        whole[2, 1],
        whole[::-1],
    ):
        target = np.zeros(source.shape, dtype)
        assert copying.copied(target, source)
        assert np.array_equal(target, source)
        room = np.zeros((*source.shape[:-1], source.shape[-1] + 3), dtype)
        assert copying.copied(room[..., 1:-2], source)
        assert np.array_equal(room[..., 1:-2], source)
        assert not room[..., 0].any()
        assert not room[..., -2:].any()


def test_what_is_no_copy_of_rows_is_left_alone(at_once):
    x = some((50, 60), "float32")
    for target, source in (
        (np.zeros((50, 60), "f8"), x),  # of another type
        (np.zeros((60, 50), "f4"), x.T),  # element by element
        (x[1:], x[:-1]),  # over itself
        (np.zeros((50, 60), object), x.astype(object)),
        (np.zeros((50, 60), "f4"), x[:1]),
    ):
        before = target.copy()
        assert not copying.copied(target, source)
        assert np.array_equal(target, before)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_constants(dtype, size, at_once):
    room = some(size + 2, dtype)
    target = room[1:-1]
    ends = room[0], room[-1]
    if copying.filled(target, 1):
        assert (target == 1).all()
        assert (room[0], room[-1]) == ends
    else:
        assert np.dtype(dtype).itemsize > 8


def test_large_tensors():
    x, y = clarion.randn(700, 800), clarion.randn(700, 800)
    assert np.array_equal(clarion.cat([x, y], 1).numpy(), np.concatenate([x.numpy(), y.numpy()], 1))
    assert np.array_equal(clarion.stack([x, y]).numpy(), np.stack([x.numpy(), y.numpy()]))
    assert np.array_equal(clarion.stack([x, y], -1).numpy(), np.stack([x.numpy(), y.numpy()], -1))
    assert (clarion.full((700, 800), 2.5) == 2.5).all()
    assert (clarion.ones(700, 800) == 1).all()
    assert (clarion.ones_like(x, dtype=clarion.int64) == 1).all()
    assert not clarion.zeros_like(x.t()).any()
    assert clarion.full((700, 800), True).all()
    assert clarion.full((700, 800), 1 + 2j)[-1, -1] == 1 + 2j
    copy = x.clone()
    copy[1:].copy_(x[:-1])
    assert clarion.equal(copy[1:], x[:-1])
    assert copy.fill_(3)[-1, -1] == 3
    assert not copy.zero_().any()
    shifted = x.clone()
    shifted[1:].copy_(shifted[:-1])
    assert clarion.equal(shifted[1:], x[:-1])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "?", "c8"])
@pytest.mark.parametrize("shape", [(70, 60), (3, 40, 50), (2, 3, 33, 33), (5000, 1), (1, 5000)], ids=str)
def test_triangles(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    for name in ("tril", "triu"):
        run = registry.offers(name)["llvm"].function
        for diagonal in (0, 1, -1, 7, -7, 45, -45, 10_000, -10_000):
            for form in (x, np.asfortranarray(x)):
                np.testing.assert_array_equal(run(form, diagonal), registry.portable(name)(form, diagonal))
