"""Compiled kernels that are called directly, without NumPy in between: NOTE [Direct calls] in kernels/llvm/direct.py."""

from __future__ import annotations

import copy
import sys
import threading

import numpy as np
import pytest

import clarion
from clarion.events import hub
from clarion.kernels import registry
from clarion.kernels.llvm import cards, machine
from clarion.kernels.llvm.cards import VERSIONS

from .test_compiled import EACH, FORMS, ROWS, agree
from .test_offers import arguments, filled

pytestmark = pytest.mark.skipif(
    not machine.installed() or not cards.available(), reason="kernels cannot be called directly here"
)


class Otherwise:
    """What a kernel is not for."""

    def __init__(self):
        self.calls = []

    def __call__(self, *args, **out):
        self.calls.append((args, out))
        return "otherwise"


@pytest.fixture
def directly():
    """A kernel as a builtin function, warm for the arguments that are given, and where everything else goes."""

    def make(name, *args):
        kernel = copy.copy(registry._offers[name]["llvm"].function)
        kernel.known, kernel.card, kernel.ready = {}, None, lambda: None
        kernel.warm(*args)
        otherwise = Otherwise()
        return kernel.builtin(otherwise), otherwise, kernel

    return make


@pytest.mark.parametrize("name", EACH)
def test_agrees_with_the_portable_kernel(name, directly):
    plain = registry.portable(name)
    for dtype in ("float32", "float64"):
        for form in arguments(name):
            call, otherwise, _ = directly(name, *filled(name, form, (2, 3), dtype))
            assert call is not None, f"{name} {form} cannot be compiled"
            for shape in ((1,), (1, 1), (3, 5), (2, 33), (2, 3, 4, 5), (400, 103)):
                args = filled(name, form, shape, dtype)
                with np.errstate(all="ignore"):
                    agree(call(*args), plain(*args), dtype, f"{dtype} {shape} {form}")
            assert not otherwise.calls


@pytest.mark.parametrize("name", ROWS)
def test_rows_agree_with_the_portable_kernel(name, directly):
    plain = registry.portable(name)
    for dtype in ("float32", "float64"):
        for form in arguments(name):
            if form[-1] == 0:
                continue
            call, otherwise, _ = directly(name, *filled(name, form, (2, 3), dtype))
            for shape in ((1, 1), (3, 5), (5, 33), (300, 48), (6, 5000)):
                args = filled(name, form, shape, dtype)
                with np.errstate(all="ignore"):
                    agree(call(*args), plain(*args), dtype, f"{dtype} {shape} {form}")
            assert not otherwise.calls


@pytest.mark.parametrize("ndim", [3, 4])
def test_rows_of_any_number_of_dimensions(ndim, directly):
    x = np.random.default_rng(0).random((2, 3, 4, 5)[-ndim:]).astype("f4")
    weight = np.arange(x.shape[-1]).astype("f4")
    call, otherwise, _ = directly("layer_norm", x, weight, weight, 1, 1e-5)
    agree(call(x, weight, weight, 1, 1e-5), registry.portable("layer_norm")(x, weight, weight, 1, 1e-5), "float32", "")
    assert not otherwise.calls
    call(x[0], weight, weight, 1, 1e-5)  # of another number of dimensions: another version
    assert otherwise.calls


# What goes elsewhere -------------------------------------------------------------------------------------


@pytest.fixture
def add(directly):
    x = np.ones((3, 4), np.float32)
    return directly("add", x, x)


@pytest.mark.parametrize("form", ["turned", "backwards"])
def test_strides_go_to_the_general_kernel(form, add):
    x = np.random.default_rng(0).random((3, 4)).astype("f4")
    call, otherwise, _ = add
    given = FORMS[form](x)
    assert call(x, given) == "otherwise"
    assert otherwise.calls[0][0][1] is given


def test_arrays_that_are_spread_or_sliced_are_brought_together(add):
    """What is spread or sliced, as long as the result lies as the array library would have it."""
    call, otherwise, _ = add
    rng = np.random.default_rng(0)
    x, row, column, cube, large = (rng.random(s).astype("f4") for s in ((8, 8), 8, (8, 1), (2, 8, 8), (80, 80)))
    for a, b in (
        (x, row), (row, x), (x, column), (column, x), (cube, x), (cube, row), (cube, column), (cube, cube[:, :1]),
        (x, np.broadcast_to(column, (8, 8))), (x, np.broadcast_to(row, (8, 8))), (x, cube[1, :, :]), (x, large[:8, 3:11]),
        (x[:, :4].copy(), x[:, ::2]), (cube, np.broadcast_to(column, (2, 8, 8))), (column, row), (x[:, 1:4], x[:, :3]), (large, large[0]),
    ):  # fmt: skip
        got, expected = call(a, b), a + b
        np.testing.assert_array_equal(got, expected)
        assert got.strides == expected.strides
    assert not otherwise.calls
    for a, b in (
        (x, x.T),
        (x.T, x.T),
        (x[:, ::-1], x),
        (x, x[:2]),
    ):
        assert call(a, b) == "otherwise"


def test_shapes_types_and_numbers_of_arguments_go_to_the_general_kernel(add):
    call, otherwise, _ = add
    x = np.ones((3, 4), np.float32)
    swapped = x.astype(x.dtype.newbyteorder())
    for args in (
        (x, x.astype("f8")), (x.astype("f8"), x), (x, swapped), (x, x[:2]),
        (x, 1.0), (x, None), (x,), (x, x, x), (), (x, np.ma.array(x)), (x[:0], x[:0]), (x, np.float32(1)),
    ):  # fmt: skip
        assert call(*args) == "otherwise"
        assert otherwise.calls[-1][0] == args or otherwise.calls[-1][0][0] is args[0]
    assert call(x, x, other=1) == "otherwise"
    assert otherwise.calls[-1][1] == {"other": 1}


def test_numbers_and_gradients_that_are_one_number(add):
    call, otherwise, _ = add
    x, one = np.random.default_rng(0).random((3, 5)).astype("f4"), np.asarray(2, np.float32)
    for args in ((x, one), (one, x), (np.broadcast_to(one, (3, 5)), x), (x, np.broadcast_to(one, (3, 5))), (one, one)):
        np.testing.assert_array_equal(call(*args), args[0] + args[1])
    assert not otherwise.calls
    assert type(call(one, one)) is np.ndarray
    spread = np.broadcast_to(one, (3, 5))
    assert call(spread, spread) == "otherwise"  # stays one number


def test_writes_into_what_is_given(add):
    call, otherwise, _ = add
    x, y, out = (np.random.default_rng(k).random(100).astype("f4") for k in range(3))
    expected = x + y
    assert call(x, y, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert call(x, y, out=x) is x
    np.testing.assert_array_equal(x, expected)
    assert not otherwise.calls
    fixed = np.zeros(100, np.float32)
    fixed.flags.writeable = False
    for target in (fixed, np.zeros(99, np.float32), np.zeros(100), np.zeros(200, np.float32)[::2], None, [out]):
        assert call(x, y, out=target) == "otherwise"
    shifted = np.zeros(101, np.float32)
    assert call(shifted[:100], y, out=shifted[1:]) == "otherwise"  # it would read what it has written
    neighbours = np.zeros(200, np.float32)
    assert call(neighbours[:100], y, out=neighbours[100:]) is not None
    assert otherwise.calls[-1][1]["out"].base is shifted


def test_parameters_are_told_apart(directly):
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("f4")
    call, _, kernel = directly("leaky_relu", x, 0.2)
    np.testing.assert_allclose(call(x, float("0.2")), np.where(x > 0, x, x * np.float32(0.2)))
    assert call(x, 0.3) == "otherwise"
    kernel.warm(x, 0.3)
    np.testing.assert_allclose(call(x, 0.3), np.where(x > 0, x, x * np.float32(0.3)))
    for slope in np.linspace(1, 2, 2 * VERSIONS):
        kernel.warm(x, float(slope))
    assert call(x, 2.0) == "otherwise"  # a card has an end


# Life ------------------------------------------------------------------------------------------------------


def test_references_are_counted(add):
    call, otherwise, _ = add
    x, out, one = np.ones((3, 4), np.float32), np.empty((3, 4), np.float32), np.ones(3, np.float32)
    float32 = x.dtype
    things, shared = (x, out, one), (float32, None)  # what others use, too, changes by a few
    before, about = ([sys.getrefcount(thing) for thing in each] for each in (things, shared))
    for _ in range(100):
        call(x, x)
        call(x, x, out=out)
        call(x, one)
    otherwise.calls.clear()
    assert [sys.getrefcount(thing) for thing in things] == before
    np.testing.assert_allclose([sys.getrefcount(thing) for thing in shared], about, atol=50)
    assert sys.getrefcount(call(x, x)) == 1 + 1 - (sys.version_info >= (3, 14))


def test_an_exception_of_the_general_kernel_comes_through(directly):
    x = np.ones(3, np.float32)
    _, _, kernel = directly("add", x, x)

    def refuses(*args, **out):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kernel.builtin(refuses)(x)


def test_errors_are_told(directly, monkeypatch):
    told = []
    x = np.ones(20, np.float32)
    call, _, _ = directly("log", x)
    monkeypatch.setattr(hub, "float_error", told.append)
    call(x)
    assert told == []
    x[3], x[4] = 0, -1
    call(x)
    assert sorted(told) == ["divide by zero", "invalid value"]

    def refuses(kind):
        raise FloatingPointError(kind)

    monkeypatch.setattr(hub, "float_error", refuses)
    with pytest.raises(FloatingPointError):
        call(x)


def test_threads_call_at_once(add):
    call, _, _ = add
    x = np.random.default_rng(0).random(300_000).astype("f4")
    expected, results = x + x, []
    several = [threading.Thread(target=lambda: results.extend(call(x, x) for _ in range(5))) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert len(results) == 20
    for result in results:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", [name for name in EACH if registry._offers[name]["llvm"].function.heat > 1])
def test_what_takes_over_later_has_the_same_bits(name, directly):
    """NOTE [Warming up]: a program that does the same thing twice gets the same numbers twice."""
    small = next(offer for offer in registry.chain(name) if not offer.least).function
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for form in arguments(name):
            for scale in (1e-3, 1.0, 50.0):
                args = filled(name, form, (40, 33), dtype)
                shifted = [
                    a * rng.choice([-scale, scale], a.shape).astype(dtype)
                    if isinstance(a, np.ndarray) and a.ndim
                    else a
                    for a in args
                ]
                call, _, _ = directly(name, *shifted)
                with np.errstate(all="ignore"):
                    np.testing.assert_array_equal(call(*shifted), small(*shifted), f"{dtype} {form}")


# Products of small matrices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "sizes", [(8, 8, 8), (1, 1, 1), (3, 5, 7), (8, 16, 32), (17, 33, 19), (1, 100, 3), (33, 2, 33)]
)
def test_products(sizes, dtype):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, y, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (n,)))
    batch = np.stack([x, x * 2])
    w, raw = np.ascontiguousarray(y.T), registry.raw
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-12}
    for got, expected in (
        (raw.fold_mm(x, y), x @ y), (raw.matmul(x, y), x @ y), (raw.mm(x, y), x @ y), (raw.fold_mm(batch, y), batch @ y),
        (raw.fold_nt(x, w), x @ y), (raw.matmul_nt(x, w), x @ y), (raw.fold_nt(batch, w), batch @ y),
        (raw.fold_tn(np.ascontiguousarray(x.T), y), x @ y), (raw.matmul_tn(np.ascontiguousarray(x.T), y), x @ y),
        (raw.linear(x, w, b), x @ y + b), (raw.linear(x, w, None), x @ y), (raw.linear_rows(batch, w, b), batch @ y + b),
        (raw.fold_mm(x.T.copy().T, y), x @ y), (raw.mm(x, w.T), x @ y), (raw.mm(x.T.copy().T, w.T), x @ y), (raw.fold_nt(x, y.T), x @ y),
        (raw.fold_tn(x.T, y), x @ y), (raw.linear(x, y.T, b), x @ y + b), (raw.fold_mm(batch, w.T), batch @ y), (raw.mm(x[::-1], y), x[::-1] @ y),
        (raw.fold_mm(np.ascontiguousarray(batch.T).T, y), batch @ y), (raw.mm(x, np.repeat(y, 2, 1)[:, ::2]), x @ y), (raw.linear(x[:0], w, b), (x @ y)[:0]), (raw.matmul(batch, batch.mT), batch @ batch.mT),
        (raw.fold_tn(batch, batch @ y), np.tensordot(batch, batch @ y, ((0, 1), (0, 1)))),
    ):  # fmt: skip
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, **close)
    assert type(raw.linear) is type(len)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", [(3,), (1,), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize("sizes", [(8, 8, 8), (1, 1, 1), (3, 5, 7), (17, 33, 19), (1, 30, 3), (33, 2, 33)])
def test_products_of_batches(sizes, batch, dtype):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((*batch, *shape)).astype(dtype) for shape in ((m, k), (k, n)))
    raw, right, close = registry.raw, x @ y, {"rtol": 1e-4, "atol": 1e-5}
    turned_x, turned_y = (np.ascontiguousarray(each.swapaxes(-1, -2)) for each in (x, y))
    gaps = np.repeat(x, 2, axis=-1)[..., ::2]
    for got, expected in (
        (raw.bmm(x, y), right), (raw.matmul(x, y), right), (raw.matmul_nt(x, turned_y), right), (raw.matmul_tn(turned_x, y), right),
        (raw.matmul(turned_x.swapaxes(-1, -2), y), right), (raw.matmul_nt(x, y.swapaxes(-1, -2)), right),
        (raw.matmul_tn(x.swapaxes(-1, -2), turned_y.swapaxes(-1, -2)), right),
        (raw.bmm(gaps, y), right), (raw.matmul(x, turned_y.swapaxes(-1, -2)), right), (raw.matmul(x[:1], y[:1]), right[:1]),
        (raw.matmul(x[:0], y[:0]), right[:0]), (raw.matmul(x[..., :0, :], y), right[..., :0, :]), (raw.matmul(x, y[..., :0]), right[..., :0]),
        (raw.matmul(x[..., :0], y[..., :0, :]), 0 * right), (raw.matmul(x[:1], y), x[:1] @ y),
    ):  # fmt: skip
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, **close)
    assert type(raw.bmm) is type(len)


def test_products_that_do_not_fit_are_refused_as_ever():
    x, y = np.ones((2, 3), np.float32), np.ones((4, 5), np.float32)
    for call in (registry.raw.fold_mm, registry.raw.fold_nt, registry.raw.fold_tn, registry.raw.matmul):
        with pytest.raises(ValueError):
            call(x, y)
    for other in (np.ones((2, 5, 6), np.float32), np.ones((3, 4, 5), np.float32)):
        with pytest.raises(ValueError):
            registry.raw.matmul(np.ones((2, 3, 4), np.float32), other)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        clarion.ones(2, 3) @ clarion.ones(4, 5)


# In programs -------------------------------------------------------------------------------------------------


def test_a_program_that_calls_often_calls_directly():
    x, w = clarion.rand(4, 4, requires_grad=True), clarion.rand(4, 4)
    expected = None
    for _ in range(700):
        x.grad = None
        (x * w).tanh().sum().backward()
        expected = x.grad if expected is None else expected
    assert type(registry.bind("tanh")) is type(len)
    np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-6)


@pytest.fixture
def take():
    """Rows of a table as a builtin function, and where everything else goes."""
    otherwise = Otherwise()
    return cards.Take("embedding").called(otherwise), otherwise


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_rows_of_a_small_table_are_taken(take, dtype):
    call, otherwise = take
    for width in (0, 1, 7, 64):
        table = np.arange(9 * width).reshape(9, width).astype(dtype)
        for shape in ((), (0,), (1,), (5,), (2, 3), (2, 0, 3), (4, 1, 2)):
            numbers = np.random.default_rng(0).integers(0, 9, shape)
            found = call(table, numbers, -1, False)
            assert found.flags.c_contiguous
            assert found.flags.owndata
            np.testing.assert_array_equal(found, table[numbers], strict=True)
    assert not otherwise.calls


def test_other_tables_and_numbers_go_elsewhere(take):
    call, otherwise = take
    table, numbers = np.ones((4, 6), np.float32), np.array([1, 2])
    others = [
        (table, np.array([1, 4])),
        (table, np.array([-1])),
        (table[:, ::2], numbers),
        (table.T, numbers),
        (table, np.array([0, 1, 2, 3])[::2]),
        (table, numbers.astype(np.int32)),
        (table, numbers.astype(">i8")),
        (table.astype(np.float16), numbers),
        (table[0], numbers),
        (table, [1, 2]),
        (table.view(np.recarray), numbers),
        (table, np.zeros(1 << 14, np.int64)),
    ]
    for args in others:
        assert call(*args) == "otherwise"
    assert call(table) == "otherwise"
    assert call(table, numbers, scale=1) == "otherwise"
    assert len(otherwise.calls) == len(others) + 2


def test_taking_rows_keeps_count_of_references(take):
    call, _ = take
    table, numbers = np.ones((4, 6), np.float32), np.array([1, 2])
    before = [sys.getrefcount(x) for x in (table, numbers, table.dtype)]
    for _ in range(100):
        call(table, numbers)
    assert [sys.getrefcount(x) for x in (table, numbers, table.dtype)] == before
