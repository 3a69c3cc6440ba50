"""Compiled conversions from and to half precision: bit for bit what the array library gives."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import clarion
from clarion.kernels import halved, registry
from clarion.kernels.llvm import in_half
from clarion.kernels.llvm.products.calls import products_of_pairs

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


@pytest.mark.parametrize("kind", HALF, ids=str)
def test_into_memory_that_is_there(kind):
    into = registry.offers("cast_into")["llvm"].function
    x = np.random.default_rng(0).standard_normal((40, 50)).astype("f")
    for view in (x, x[::2, 1:], x.T):
        narrow, wide = np.zeros(view.shape, kind), np.zeros(view.shape, np.float32)
        same(into(view, narrow), view.astype(kind))
        same(into(narrow, wide), narrow.astype(np.float32))
    assert into(x, np.zeros(x.shape)) is NotImplemented


@pytest.mark.parametrize("shape", [(3, 100_000), (100_000, 3)], ids=str)
def test_what_was_expanded_is_converted_into_rows(shape):
    x = clarion.randn(100_000, 1)
    x = (x.t() if shape[0] == 3 else x).expand(shape)
    for kind in (clarion.float16, clarion.bfloat16):
        found = x.to(kind)
        assert found.stride() == (shape[1], 1)
        found[0, 0] = 5.0  # it has its own memory
        assert found[1, 1] == x[1, 1].to(kind)
        assert found.float()[2].tolist() == x[2].to(kind).float().tolist()


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


# Kernels that take half precision as it stands ------------------------------------------------------------

PARAMETERS = {
    "leaky_relu": (0.2,), "leaky_relu_backward": (0.2,), "hardtanh": (-0.8, 0.8), "nan_to_num": (0.0, 3e38, -3e38), "hardtanh_backward": (-0.8, 0.8), "softshrink": (0.5,),
    "hardshrink": (0.5,), "shrink_backward": (0.5,), "threshold": (0.7, 2.0), "addcmul": (0.5,), "addcdiv": (0.5,),
    "softplus": (1, 20), "softplus_backward": (1, 20), "softplus_bend": (1, 20), "softmax": (1,), "softmax_backward": (1,),
    "log_softmax": (1,), "log_softmax_backward": (1,), "sum": ((1,), True), "mean": ((1,), False), "layer_norm": (1, 1e-5),
    "rms_norm": (1, 1e-5),
    **dict.fromkeys(("elu", "elu_written", "celu", "celu_written", "elu_backward", "elu_backward_result"), (0.7, 1.1, 0.9)),
}  # fmt: skip
SEVERAL = {
    "softmax_backward": 2, "log_softmax_backward": 2, "layer_norm": 3, "rms_norm": 2, "elu_backward": 2, "elu_backward_result": 2,
    "softplus_backward": 2, "leaky_relu_backward": 2, "hardtanh_backward": 2, "shrink_backward": 2, "descended": 3,
}  # fmt: skip
# They have one value per row, or a boolean.
APART = {"softmax_and_total", "softmax_and_loss", "layer_norm_backward", "rms_norm_backward", "where"}
ELEMENTS = (
    sorted(name for name, kernel in halved.KERNELS.items() if isinstance(kernel, in_half.InHalf))
    if halved.KERNELS
    else []
)


def arguments(name, kind):
    from clarion.core.namespace import OPS

    count = SEVERAL[name] if name in SEVERAL else len(OPS[name].inputs) if name in OPS else 2
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 2, (64, 49)).astype(kind) for _ in range(count)]
    if name in ("layer_norm", "rms_norm"):
        arrays[1:] = [a[0] for a in arrays[1:]]
    return *arrays, *PARAMETERS.get(name, ())


@pytest.mark.parametrize("kind", HALF, ids=str)
@pytest.mark.parametrize("name", [name for name in ELEMENTS if name not in APART])
def test_kernels_in_half_round_once(name, kind):
    args = arguments(name, kind)
    found = halved.KERNELS[name](*args)
    assert found is not NotImplemented
    wide = [a.astype(F32) if isinstance(a, np.ndarray) else a for a in args]
    expected = registry.portable(name)(*wide)
    for got, exact in zip(*[x if type(x) is tuple else (x,) for x in (found, expected)], strict=True):
        if exact.dtype == bool:
            np.testing.assert_array_equal(got, exact)
            continue
        assert got.dtype == kind
        assert got.shape == exact.shape
        ulp = 2.0**-8 if kind == HALF[1] else 2.0**-11
        np.testing.assert_allclose(got.astype(F32), exact, 1.01 * ulp, 1e-6)


@pytest.mark.parametrize("kind", HALF, ids=str)
def test_strides_of_kernels_in_half(kind):
    x = np.random.default_rng(0).standard_normal((80, 90)).astype(kind)
    wide = x.astype(F32)
    add = halved.KERNELS["add"]
    for a, b in ((x[::2, 1:], wide[::2, 1:]), (x.T, wide.T), (x[:, ::-1], wide[:, ::-1])):
        same(add(a, a[:1]), (b + b[:1]).astype(kind))
    number = np.asarray(1.25, F32)
    same(halved.KERNELS["mul"](x, number), (wide * number).astype(kind))


FORMS = {
    "fold_mm": lambda x, y: (x, y), "fold_nt": lambda x, y: (x, y.T.copy()), "fold_tn": lambda x, y: (x.T.copy(), y),
    "mm": lambda x, y: (x.T.copy().T, y.T.copy().T), "linear": lambda x, y: (x, y.T.copy(), y[0].copy()),
    "matmul": lambda x, y: (x.reshape(2, -1, x.shape[1]), np.stack([y, y[:, ::-1]])),
    "matmul_nt": lambda x, y: (x.reshape(2, -1, x.shape[1]), np.stack([y.T, y.T])),
    "matmul_tn": lambda x, y: (x.reshape(1, 2, -1, x.shape[1]).swapaxes(-1, -2).copy(), np.stack([y, y])[None]),
}  # fmt: skip


@pytest.mark.skipif(products_of_pairs() is None, reason="the processor does not multiply bfloat16")
@pytest.mark.parametrize("sizes", [(64, 64, 64), (130, 70, 66), (66, 258, 34)], ids=str)
@pytest.mark.parametrize("name", FORMS)
def test_products_of_bfloat16(name, sizes):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(shape).astype(HALF[1]) for shape in ((m, k), (k, n)))
    args = FORMS[name](x, y)
    found = halved.KERNELS[name](*args)
    exact = registry.portable(name)(*[a.astype(np.float64) for a in args])
    assert found.dtype == HALF[1]
    np.testing.assert_allclose(found.astype(np.float64), exact, 2.0**-8, 1e-4)


def test_odd_products_are_left_to_float32():
    assert clarion.ones(65, 65, dtype=clarion.bfloat16).mm(clarion.ones(65, 65, dtype=clarion.bfloat16))[3, 4] == 65


@pytest.mark.skipif(products_of_pairs() is None, reason="the processor has no instruction for it")
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("sizes", "geometry"),
    [
        ((3, 6, 40, (9, 8), (3, 3)), ((1, 1), (1, 1), (1, 1))), ((2, 32, 20, (17, 33), (3, 2)), ((2, 1), (0, 1), (1, 2))),
        ((5, 16, 34, (6, 6), (1, 1)), ((1, 1), (0, 0), (1, 1))), ((6, 16, 26, (60,), (5,)), ((3,), (2,), (1,))),
        ((4, 3, 33, (12, 11), (3, 3)), ((1, 2), (1, 1), (1, 1))),
    ],
)  # fmt: skip
def test_convolutions_of_bfloat16(sizes, geometry, last):
    """Products are exact in float32, and sums are rounded once more at the end."""
    images, channels, out, size, ksize = sizes
    rng, bfloat16 = np.random.default_rng(0), HALF[1]
    drawn = [rng.standard_normal(shape) for shape in ((images, channels, *size), (out, channels, *ksize), (out,))]
    x, weight, bias = (each.astype(np.float32).astype(bfloat16) for each in drawn)
    if last:
        x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    wide = [each.astype(np.float64) for each in (x, weight, bias)]
    dims = len(size)

    def compare(found, expected):
        assert found.dtype == bfloat16
        np.testing.assert_allclose(found.astype(np.float64), expected, 2**-8, 1e-4 * np.abs(expected).max())

    expected = registry.portable("convolution")(*wide, *geometry, False, (0,) * dims, 1)
    compare(halved.KERNELS["convolution"](x, weight, bias, *geometry, False, (0,) * dims, 1), expected)
    g = rng.standard_normal(expected.shape).astype(np.float32).astype(bfloat16)
    expected = registry.portable("correlate_input")(g.astype(np.float64), wide[1], *geometry, 1, size)
    compare(halved.KERNELS["correlate_input"](g, weight, *geometry, 1, size), expected)
    expected = registry.portable("correlate_weight")(g.astype(np.float64), wide[0], *geometry, 1, ksize)
    compare(halved.KERNELS["correlate_weight"](g, x, *geometry, 1, ksize), expected)
