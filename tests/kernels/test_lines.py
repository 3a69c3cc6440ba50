"""Kernels along a dimension, copies in another order, groups and losses: compiled as portable, on arrays of some thousand elements."""

import itertools

import numpy as np
import pytest

from clarion.kernels import registry
from clarion.kernels.llvm import lines, tables

pytest.importorskip("llvmlite", reason="compiled kernels need llvmlite")
RNG = np.random.default_rng(0)
SHAPES = [(7001,), (90, 77), (3, 40, 50), (4, 1, 2000), (1, 130, 41)]


def offered(name):
    found = registry.offers(name).get("llvm")
    if found is None:
        pytest.skip("nothing is compiled here")
    return found.function


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["cumsum", "reverse_cumsum", "cumprod"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scans(shape, name, dtype):
    x = RNG.uniform(-1.5, 1.5, shape).astype(dtype)
    x[..., 0] = -0.0
    for form in (x, np.asfortranarray(x)):
        for dim in range(x.ndim):
            expected = registry.portable(name)(form, dim)
            np.testing.assert_array_equal(offered(name)(form, dim), expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "?"])
@pytest.mark.parametrize("shape", SHAPES)
def test_elements_by_their_numbers(monkeypatch, shape, dtype):
    monkeypatch.setattr(lines, "FEW", 1)
    x = (100 * RNG.standard_normal(shape)).astype(dtype)
    for dim in range(x.ndim):
        index = RNG.integers(0, shape[dim], (*shape[:dim], 9, *shape[dim + 1 :]))
        np.testing.assert_array_equal(offered("gather")(x, index, dim), registry.portable("gather")(x, index, dim))
        g = (100 * RNG.standard_normal(index.shape)).astype(dtype)
        calls = [("scatter", (x, index, g, dim)), ("scatter_value", (x, index, dim, 3))]
        if dtype != "?":
            calls.append(("scatter_add", (x, index, g, dim)))
        if dtype in ("f4", "f8"):
            calls.append(("gather_backward", (g, index, shape, dim)))
        for name, args in calls:
            expected = registry.portable(name)(*args)
            np.testing.assert_array_equal(offered(name)(*args), expected)
            if args[0] is x:
                place = x.copy()
                assert offered(name)(place, *args[1:], out=place) is place
                np.testing.assert_array_equal(place, expected)
        for wrong in (shape[dim], -1):
            bad = index.copy()
            bad.reshape(-1)[-1] = wrong
            assert offered("gather")(x, bad, dim) is NotImplemented
            assert offered("scatter")(x, bad, g, dim) is NotImplemented


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "?"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_numbers_for_all_lines(monkeypatch, shape, dtype):
    monkeypatch.setattr(lines, "FEW", 1)
    monkeypatch.setattr(tables, "LEAST", 1)
    x = (100 * RNG.standard_normal(shape)).astype(dtype)
    for dim in range(1, x.ndim):
        for count in (1, 9, 35):
            index = RNG.integers(0, shape[dim], count)
            for name, args in (
                ("index_select", (x, index, dim)),
                ("index1", (x, index.reshape(1, -1), (dim,))),
            ):
                np.testing.assert_array_equal(offered(name)(*args), registry.portable(name)(*args))
            for wrong in (-1, shape[dim]):
                beyond = index.copy()
                beyond[-1] = wrong
                assert offered("index_select")(x, beyond, dim) is NotImplemented
            if dtype in ("f4", "f8"):
                rows = RNG.standard_normal((*shape[:dim], count, *shape[dim + 1 :])).astype(dtype)
                one, two = x.copy(), x.copy()
                assert offered("add_rows")(one, dim, index, rows) is None
                registry.portable("add_rows")(two, dim, index, rows)
                np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("count", [1, 31, 32, 70_001])
def test_numbers_outside(count):
    index = RNG.integers(0, 50, count)
    assert offered("all_below")(index, 50)
    for wrong in (50, -1):
        for place in (0, count // 2, -1):
            index[place], kept = wrong, index[place]
            assert not offered("all_below")(index, 50)
            index[place] = kept


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_copies_in_another_order(dtype):
    whole = np.arange(5 * 18 * 9 * 34).reshape(5, 18, 9, 34).astype(dtype)
    for order in itertools.permutations(range(4)):
        for x in (whole.transpose(order), whole[1:, :, 2:, 1:].transpose(order), whole[..., ::2].transpose(order)):
            found = offered("clone")(x, "C")
            assert found.flags.c_contiguous
            np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("weighted", [True, False])
def test_group_norm(weighted, dtype):
    x, g = (RNG.standard_normal((3, 12, 11, 13)).astype(dtype) for _ in range(2))
    weight, bias = (RNG.standard_normal(12).astype(dtype) if weighted else None for _ in range(2))
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype == "f4" else {"rtol": 1e-11, "atol": 1e-12}
    found, expected = (
        run(x, weight, bias, 4, 1e-5) for run in (offered("group_norm"), registry.portable("group_norm"))
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **close)
    needs = (True, weighted, weighted)
    args = (g, x, weight, *expected[1:], 4, needs)
    name = "group_norm_backward"
    for a, b in zip(offered(name)(*args), registry.portable(name)(*args), strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            np.testing.assert_allclose(a, b, **close)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_losses(reduction, dtype):
    x, y, weight = (RNG.uniform(0.01, 0.99, (80, 90)).astype(dtype) for _ in range(3))
    close = {"rtol": 2e-6 if dtype == "f4" else 1e-12}
    for name, args in (
        ("smooth_l1_loss", (x, y, reduction, 0.5)),
        ("huber_loss", (x, y, reduction, 0.5)),
        ("soft_margin_loss", (x, y, reduction)),
        ("binary_cross_entropy", (x, y, weight, reduction)),
        ("binary_cross_entropy_with_logits", (x, y, None, weight, reduction)),
    ):
        np.testing.assert_allclose(offered(name)(*args), registry.portable(name)(*args), **close, err_msg=name)
