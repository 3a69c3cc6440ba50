"""Convolutions without compiled kernels: what the portable kernels compute, however a batch is cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clarion.kernels.numpy import convolution, depthwise, pieces, planes
from clarion.kernels.registry import offers, portable

GEOMETRIES = [  # kernel, stride, padding, dilation
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 2), (2, 1), (0, 1), (1, 2)),
    ((5, 5), (3, 3), (2, 2), (1, 1)),
    ((2, 2), (3, 3), (0, 0), (1, 1)),  # places that no window meets
    ((3, 3), (1, 1), (4, 5), (1, 1)),  # more zeros than the kernel is wide
    ((2, 3), (2, 3), (1, 0), (3, 2)),
    ((3, 3), (2, 2), (1, 1), (2, 2)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
    ((5, 3), (1, 1), (0, 2), (1, 2)),  # as wide as the image, and less high
    ((4, 3), (1, 1), (6, 1), (1, 1)),  # and higher, with rows of zeros alone
    ((7,), (2,), (3,), (2,)),
]
CUTS = [  # bytes of a unit, multiplications of a block, numbers in a piece
    (1 << 20, 1000000, 32), (1 << 12, 2000, 32), (1 << 10, 50, 0),
]  # fmt: skip


@pytest.fixture(params=CUTS)
def cut(request, monkeypatch):
    """Units, blocks and pieces of other sizes, and threads for everything."""
    room, block, narrow = request.param
    monkeypatch.setattr(pieces, "ROOM", room)
    monkeypatch.setattr(pieces, "NARROW", narrow)
    for module in (pieces, planes):
        monkeypatch.setattr(module, "BLOCK", block)
    for module, value in ((depthwise, "SHARED"), (convolution, "SHARED"), (convolution, "DENSE")):
        monkeypatch.setattr(module, value, 0)
    monkeypatch.setattr(depthwise, "ROOM", room)
    monkeypatch.setattr(depthwise, "TILE", 4 if narrow else 28)
    monkeypatch.setattr(convolution, "number", lambda: 3)
    _forget()
    yield
    _forget()


def _forget():
    pieces.units.cache_clear()
    pieces._plan.cache_clear()
    planes._plan.cache_clear()


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def layouts(*shape, seed=0):
    """The same images: contiguous, with their channels last, as a part of larger ones."""
    x = draw(*shape, seed=seed)
    large = np.zeros([2 * n for n in shape])
    part = large[tuple([slice(0, None, 2)] * len(shape))]
    part[...] = x
    return x, np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1), part


def same(name, *args, lies_so=True):
    got, expected = offers(name)["numpy"].function(*args), portable(name)(*args)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.strides == expected.strides if lies_so else got.flags.c_contiguous
    np.testing.assert_allclose(got, expected, 1e-11, 1e-11)
    return got


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(("ksize", "stride", "padding", "dilation"), GEOMETRIES)
@pytest.mark.parametrize(("images", "channels", "outputs"), [(5, 3, 4), (2, 20, 9), (1, 1, 1)])
def test_the_three_kernels_and_the_layer(images, channels, outputs, ksize, stride, padding, dilation):
    size = {1: (61,), 2: (14, 11)}[len(ksize)]
    geometry, none = (stride, padding, dilation), (0,) * len(size)
    weight, bias = draw(outputs, channels, *ksize, seed=1), draw(outputs, seed=2)
    for x in layouts(images, channels, *size):
        result = same("correlate", x, weight, *geometry, 1)
        same("convolution", x, weight, bias, *geometry, False, none, 1)
        same("convolution", x, weight.swapaxes(0, 1).copy(), bias, *geometry, True, none, 1)
        for g in (*layouts(*result.shape, seed=3), np.broadcast_to(1.5, result.shape)):
            same("correlate_input", g, weight, *geometry, 1, size)
            same("correlate_weight", g, x, *geometry, 1, ksize, lies_so=False)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(("ksize", "stride", "padding", "dilation"), GEOMETRIES)
@pytest.mark.parametrize(("images", "channels"), [(5, 3), (1, 20)])
def test_channels_by_themselves(images, channels, ksize, stride, padding, dilation):
    size = {1: (61,), 2: (14, 11)}[len(ksize)]
    geometry, none = (stride, padding, dilation), (0,) * len(size)
    weight, bias = draw(channels, 1, *ksize, seed=1), draw(channels, seed=2)
    for x in layouts(images, channels, *size):
        result = same("correlate", x, weight, *geometry, channels)
        for transposed in (False, True):
            same("convolution", x, weight, bias, *geometry, transposed, none, channels)
        for g in (*layouts(*result.shape, seed=3), np.broadcast_to(1.5, result.shape)):
            same("correlate_input", g, weight, *geometry, channels, size)
            same("correlate_weight", g, x, *geometry, channels, ksize, lies_so=False)


def test_every_place_of_an_input_is_met_once():
    for n, k, stride, padding, dilation in itertools.product((1, 5, 8), (1, 2, 5), (1, 2, 3), (0, 1, 4), (1, 2, 3)):
        places = [i for each in convolution._residues(n, k, stride, padding, dilation) for i in range(n)[each.places]]
        assert sorted(places) == list(range(n))


def test_numbers_outside_of_the_images_are_never_used():
    """The memory of a thread is used again: whatever was there before must not be seen."""
    weight, geometry = draw(8, 16, 3, 3), ((1, 1), (2, 2), (1, 1), 1)
    offers("correlate")["numpy"].function(np.full((4, 16, 40, 40), np.nan), weight, *geometry)
    same("correlate", draw(4, 16, 9, 9), weight, *geometry)


def test_what_is_accepted():
    accepts = offers("correlate")["numpy"].accepts
    x, weight, geometry = np.zeros((16, 16, 32, 32)), np.zeros((16, 16, 3, 3)), ((1, 1), (1, 1), (1, 1))
    assert accepts(x, weight, *geometry, 1)
    assert accepts(x, weight[:, :1], *geometry, 16)
    assert not accepts(x, weight[:, :8], *geometry, 2)
    assert not accepts(x[:, :8], weight[:, :1], *geometry, 8)
    assert not accepts(x[:8, :, :4, :4], weight, *geometry, 1)  # too small
    assert not accepts(x.astype(np.complex128), weight.astype(np.complex128), *geometry, 1)
    assert not accepts(x, weight.astype(np.float32), *geometry, 1)
