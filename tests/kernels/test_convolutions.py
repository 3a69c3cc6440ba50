"""Compiled convolutions: what the portable kernels compute, in any layout, in any process and thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import clarion as torch
from clarion.kernels import registry
from clarion.kernels.llvm.convolutions import calls
from tests.kernels.test_products import run

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("mm"), reason="llvmlite is not installed")


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape, dtype)


def close(name, *args):
    """What is offered is what the portable kernel computes, which does so in float64."""
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in args]
    got, expected = registry.offers(name)["llvm"].function(*args), registry.portable(name)(*wide)
    assert got is not NotImplemented, name
    assert got.dtype == args[0].dtype
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, 1e-5, 3e-6 * np.abs(expected).max(), err_msg=name)
    return got


GEOMETRIES = [  # kernel, stride, padding, dilation
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 2), (2, 1), (0, 1), (1, 2)),
    ((5, 5), (3, 3), (2, 2), (1, 1)),
    ((2, 2), (3, 3), (0, 0), (1, 1)),  # places that no window meets
    ((3, 3), (1, 1), (4, 5), (1, 1)),  # more zeros than the kernel is wide
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
    ((7,), (2,), (3,), (2,)),
    ((2, 3, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("ksize", "stride", "padding", "dilation"), GEOMETRIES)
def test_depthwise_convolutions(ksize, stride, padding, dilation, dtype):
    x = draw(12, 16, *{1: (300,), 2: (22, 19), 3: (12, 9, 7)}[len(ksize)], dtype=dtype)
    weight = draw(16, 1, *ksize, dtype=dtype)
    geometry = (stride, padding, dilation, 16)
    out = close("correlate", x, weight, *geometry)
    g = draw(*out.shape, seed=1, dtype=dtype)
    close("correlate_input", g, weight, *geometry, x.shape[2:])
    close("correlate_weight", g, x, *geometry, ksize)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("ksize", "stride", "padding", "dilation"), [each for each in GEOMETRIES if len(each[0]) < 3])
@pytest.mark.parametrize("channels", [3, 40, 81])
def test_depthwise_convolutions_by_channels(monkeypatch, ksize, stride, padding, dilation, channels, dtype):
    """With short rows, and where the channels of an image lie together."""
    monkeypatch.setattr(calls, "LEAST", 1)
    for size, last in (((8, 7), False), ((9, 31), True)):
        x = draw(3, *size[: len(ksize)], channels, dtype=dtype)
        x = np.moveaxis(x, -1, 1) if last else np.ascontiguousarray(np.moveaxis(x, -1, 1))
        weight, bias = draw(channels, 1, *ksize, seed=1, dtype=dtype), draw(channels, seed=2, dtype=dtype)
        geometry = (stride, padding, dilation)
        if any(n + 2 * p <= d * (k - 1) for n, k, p, d in zip(x.shape[2:], ksize, padding, dilation, strict=True)):
            continue
        close("convolution", x, weight, bias, *geometry, False, (0,) * len(ksize), channels)
        out = close("correlate", x, weight, *geometry, channels)
        g = draw(*out.shape, seed=3, dtype=dtype)
        g = np.moveaxis(np.ascontiguousarray(np.moveaxis(g, 1, -1)), -1, 1) if last else g
        close("correlate_input", g, weight, *geometry, channels, x.shape[2:])


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 5), (17, 31)])
@pytest.mark.parametrize("images", [1, 9])
def test_pixel_by_pixel_with_a_bias(images, size):
    x, weight, bias = draw(images, 130, *size), draw(190, 130, 1, 1, seed=1), draw(190, seed=2)
    for each in (x, np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)):
        close("convolution", each, weight, bias, (1, 1), (0, 0), (1, 1), False, (0, 0), 1)


SIZES = [  # images, channels, channels of results, size
    (5, 16, 70, (4, 4)), (19, 20, 5, (7, 5)), (3, 64, 64, (8, 8)), (9, 16, 96, (3,)), (2, 9, 33, (17, 30)), (9, 8, 16, (1, 45)),
    (30, 3, 20, (40, 2)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 1, 1), (3, 2, 1), (4, 1, 2), (1, 2, 0), (7, 1, 3)])
@pytest.mark.parametrize(("images", "channels", "out", "size"), SIZES)
def test_tiles_of_channels_and_of_results(monkeypatch, images, channels, out, size, kernel, stride, padding, dtype):
    """Whichever is chosen: contiguous images, and those whose channels lie together."""
    geometry = tuple((each,) * len(size) for each in (stride, padding, 1))
    x, weight = draw(images, channels, *size, dtype=dtype), draw(out, channels, *(kernel,) * len(size), dtype=dtype)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    bias, none = draw(out, seed=2, dtype=dtype), (0,) * len(size)
    for direct in (True, False):
        monkeypatch.setattr(
            calls, "_is_direct", lambda made, *_, direct=direct: direct and made.size[1] % made.height == 0
        )
        for images_ in (x, last):
            result = close("correlate", images_, weight, *geometry, 1)
            g = draw(*result.shape, seed=1, dtype=dtype)
            close("correlate_input", g, weight, *geometry, 1, size)
            close("correlate_weight", g, images_, *geometry, 1, weight.shape[2:])
        close("convolution", x, weight, bias, *geometry[:2], geometry[2], False, none, 1)


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize(("ksize", "stride", "padding", "dilation"), GEOMETRIES)
def test_convolutions_and_their_gradients(ksize, stride, padding, dilation, groups):
    x = draw(3, 16, *{1: (300,), 2: (22, 19), 3: (12, 9, 7)}[len(ksize)])
    weight = draw(40, 16 // groups, *ksize)
    geometry = (stride, padding, dilation, groups)
    out = close("correlate", x, weight, *geometry)
    g = draw(*out.shape, seed=1)
    close("correlate_input", g, weight, *geometry, x.shape[2:])
    close("correlate_weight", g, x, *geometry, ksize)
    bias, none = draw(40), (0,) * len(ksize)
    close("convolution", x, weight, bias, stride, padding, dilation, False, none, groups)
    turned = draw(16, 40 // groups, *ksize)
    close("convolution", x, turned, bias, stride, padding, dilation, True, none, groups)


def test_blocks_of_rows():
    """An image too large for one slab, and one image for all threads."""
    x, weight = draw(1, 64, 90, 40), draw(6, 64, 3, 3)
    geometry = ((1, 1), (1, 1), (1, 1), 1)
    g = close("correlate", x, weight, *geometry)
    close("correlate_input", g, weight, *geometry, (90, 40))
    close("correlate_weight", g, x, *geometry, (3, 3))


@pytest.mark.parametrize("images", [1, 4, 7])
def test_shares_of_images(images):
    """Threads that have as many images as others, or more, or none."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        x, weight, geometry = draw(images, 16, 20, 18), draw(40, 16, 3, 3), ((2, 1), (1, 1), (1, 1), 1)
        g = draw(*close("correlate", x, weight, *geometry).shape, seed=1)
        close("correlate_weight", g, x, *geometry, (3, 3))
    finally:
        torch.set_num_threads(before)


def test_images_in_any_layout():
    x, weight = draw(2, 19, 19, 8).transpose(0, 3, 1, 2), draw(14, 3, 3, 8).transpose(0, 3, 1, 2)
    geometry = ((1, 1), (1, 1), (1, 1), 1)
    out = close("correlate", x, weight, *geometry)
    assert out.strides == registry.portable("correlate")(x, weight, *geometry).strides
    assert out.transpose(0, 2, 3, 1).flags.c_contiguous  # channels stay last
    close("correlate_input", out, weight, *geometry, (19, 19))
    close("correlate_weight", out, x, *geometry, (3, 3))
    g = np.broadcast_to(np.float32(1), (2, 14, 19, 19))  # the gradient of a sum
    close("correlate_input", g, weight, *geometry, (19, 19))
    close("correlate_weight", g, x, *geometry, (3, 3))
    close("correlate", draw(2, 16, 40, 40)[:, ::2, ::-2, 1:20], weight, *geometry)


def test_float64():
    x, weight = draw(2, 8, 20, 20, dtype=np.float64), draw(15, 8, 3, 3, dtype=np.float64)
    geometry = ((2, 2), (1, 1), (1, 1), 1)
    got = registry.offers("correlate")["llvm"].function(x, weight, *geometry)
    np.testing.assert_allclose(got, registry.portable("correlate")(x, weight, *geometry), 1e-12, 1e-12)


def test_what_is_not_for_it_is_declined():
    geometry = ((1, 1), (1, 1), (1, 1), 1)
    for x, weight in [
        (draw(1, 1, 4, 4), draw(1, 1, 3, 3)),  # too small
        (draw(2, 8, 20, 20), draw(8, 8, 3, 3, dtype=np.float64)),
        (draw(0, 8, 20, 20), draw(8, 8, 3, 3)),
        (draw(2, 8, 20, 20).astype(np.complex64), draw(8, 8, 3, 3).astype(np.complex64)),
    ]:
        assert registry.offers("correlate")["llvm"].function(x, weight, *geometry) is NotImplemented


def test_a_training_step_uses_it():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.ConvTranspose2d(8, 5, 4, 2)]
    model, x = torch.nn.Sequential(*layers), torch.randn(8, 3, 32, 32)

    def gradients():
        model.zero_grad()
        model(x).square().sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    fast = gradients()
    names = ("correlate_input", "correlate_weight", "convolution")
    kept = {name: registry.offers(name)["llvm"] for name in names}
    for name in names:
        registry.withdraw("llvm", name)
    try:
        plain = gradients()
    finally:
        for name, offer in kept.items():
            registry.offer(name, "llvm", offer.function, offer.accepts, offer.writes, offer.least)
    for one, other in zip(fast, plain, strict=True):
        assert torch.allclose(one, other, 1e-4, 1e-3)
        assert not torch.equal(one, other)  # another order of additions: it did come from elsewhere


def test_a_forked_process_convolves_too():
    assert run(
        """
        import os
        import clarion as torch
        conv2d = torch.nn.functional.conv2d
        x = torch.randn(4, 8, 40, 40)
        before = conv2d(x, x[..., :3, :3])
        pid = os.fork()
        if pid == 0:
            os._exit(0 if torch.equal(conv2d(x, x[..., :3, :3]), before) else 1)
        print(os.waitpid(pid, 0)[1], torch.equal(conv2d(x, x[..., :3, :3]), before))
        """,
        OMP_NUM_THREADS="2",
    ) == ["0", "True"]


def test_several_threads_at_once():
    x = torch.randn(4, 8, 40, 40)
    conv2d = torch.nn.functional.conv2d
    expected = conv2d(x, x[..., :3, :3])
    wrong = []

    def convolve():
        for _ in range(20):
            if not torch.equal(conv2d(x, x[..., :3, :3]), expected):
                wrong.append(1)

    threads = [threading.Thread(target=convolve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("channels", "size", "kernel"), [
    (1, (50, 20), (3, 20)), (5, (50, 20), (4, 20)), (24, (6, 5), (6, 5)), (9, (1, 30), (1, 30)), (30, (9,), (9,)), (3, (4, 6, 5), (4, 3, 5)),
])  # fmt: skip
def test_kernels_as_long_as_the_image(channels, size, kernel, dtype):
    """They have one place there, and the gradient by the input is no convolution of an image of zeros."""
    x, weight = draw(6, channels, *size, dtype=dtype), draw(24, channels, *kernel, dtype=dtype)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    geometry = tuple((each,) * len(size) for each in (1, 0, 1))
    for images in (x, last):
        out = close("correlate", images, weight, *geometry, 1)
        g = draw(*out.shape, seed=1, dtype=dtype)
        close("correlate_input", g, weight, *geometry, 1, size)
        close("correlate_weight", g, images, *geometry, 1, kernel)
        bias = draw(24, seed=2, dtype=dtype)
        got = registry.offers("convolution")["llvm"].function(images, weight, bias, *geometry, False, (0,), 1)
        np.testing.assert_allclose(got, out + bias.reshape(-1, *(1,) * len(size)), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "kernel", "stride", "padding", "dilation"), [
    ((4, 4), (3, 3), (1, 1), (1, 1), (1, 1)), ((5, 6), (3, 3), (2, 2), (1, 1), (1, 1)), ((7, 7), (3, 3), (2, 3), (0, 2), (2, 1)),
    ((9,), (4,), (1,), (2,), (1,)), ((2, 2), (3, 3), (1, 1), (1, 1), (1, 1)),
])  # fmt: skip
def test_few_pixels_beside_many_weights(size, kernel, stride, padding, dilation, dtype):
    """Weights are read as they lie: contiguous ones, and those whose channels lie together."""
    from clarion.kernels.llvm.convolutions import few

    x, weight = draw(2, 192, *size, dtype=dtype), draw(384, 192, *kernel, dtype=dtype)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(weight, 1, -1)), -1, 1)
    for images, weights in ((x, weight), (last, weight), (x, turned)):
        out = close("correlate", images, weights, stride, padding, dilation, 1)
        assert few.is_for(weights, 2, out.shape[2:])
        g = draw(*out.shape, seed=1, dtype=dtype)
        close("correlate_input", g, weights, stride, padding, dilation, 1, size)
        bias = draw(384, seed=2, dtype=dtype)
        got = registry.offers("convolution")["llvm"].function(
            images, weights, bias, stride, padding, dilation, False, (0,), 1
        )
        np.testing.assert_allclose(got, out + bias.reshape(-1, *(1,) * len(size)), 1e-5, 1e-5)
