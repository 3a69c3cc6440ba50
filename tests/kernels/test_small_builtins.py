"""Builtins for small arrays (where they are compiled) beside the portable kernels: corners, strides, ties, NaN, numbers of no element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.kernels.choosing import _before
from clarion.kernels.registry import portable, raw

SHAPES = [(5,), (4, 6), (3, 4, 5), (2, 3, 2, 4)]


def _numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def _same(name: str, *args: Any) -> None:
    found, wanted = getattr(raw, name)(*args), portable(name)(*args)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, two in pairs:
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_by_their_numbers(shape: tuple[int, ...]) -> None:
    draws = np.random.default_rng(0)
    for dim in range(len(shape)):
        for less in (0, 1):
            wanted = [max(1, n - less) for n in shape]
            wanted[dim] = 7
            index, x = draws.integers(0, shape[dim], wanted), _numbers(dim, *shape)
            _same("gather", x, index, dim)
            larger = _numbers(9, *[n + less for n in wanted])
            for src in (larger, np.ascontiguousarray(larger[..., ::-1])[..., ::-1]):
                _same("scatter_add", x, index, src, dim)
                _same("scatter_add", x.astype(np.float64), index, src.astype(np.float64), dim)
        rows = draws.integers(0, shape[dim], 7)
        _same("index_select", x, rows, dim)
        for name in ("cumsum", "reverse_cumsum", "cumprod"):
            _same(name, x, dim)
            _same(name, np.broadcast_to(np.float32(0.3), shape), dim)


def test_numbers_of_no_element() -> None:
    assert raw.all_below(np.arange(5), 5)
    assert not raw.all_below(np.arange(5), 4)
    assert not raw.all_below(np.array([-1]), 4)


def test_joins_and_masks() -> None:
    x, y = _numbers(0, 3, 4, 5), _numbers(1, 3, 2, 5)
    _same("cat", [x, y], 1, None)
    _same("cat", [x.transpose(1, 0, 2), y.transpose(1, 0, 2)], 0, None)
    for dim in range(4):
        _same("stack", (x, 2 * x), dim, None)
    for value in (0.0, -0.0, np.inf, np.nan, np.array(0.5, np.float32)):
        _same("masked_fill", x, x > 0.5, value)
        _same("masked_fill", x, x[0] > 0.5, value)


@pytest.mark.parametrize("n", [1, 2, 8, 16, 17, 64, 65])
def test_short_rows_sorted(n: int) -> None:
    x = _numbers(n, 4, n)
    for rows in (x, np.floor(4 * x), np.where(x > 0.8, np.nan, x).astype(np.float32), (100 * x).astype(np.int64)):
        for downward in (False, True):
            _same("sort", rows, 1, downward)
            _same("sort_stable", rows, 1, downward)
            for k in sorted({1, min(3, n), n}):
                _same("topk", rows, k, 1, downward)


def test_a_larger_source_is_used_as_far_as_the_index_goes() -> None:
    x, index, src = torch.zeros(4, 6), torch.tensor([[0, 1], [2, 0]]), torch.ones(3, 5)
    for how in ("sum", "amax"):
        assert x.scatter_reduce(1, index, src, how).sum().item() == 4
    assert x.scatter_add(1, index, src).sum().item() == x.scatter(1, index, src).sum().item() == 4


SIZES = ([3], [7, 8, 9], [0, 1], [100, 33], [8192, 5], [9000])  # of the arrays of a list; the last is not for builtins


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_lists_of_small_arrays(sizes: list[int], dtype: str) -> None:
    rng = np.random.default_rng(0)
    params, grads = ([rng.standard_normal(n).astype(dtype) for n in sizes] for _ in range(2))
    found, expected = (kernel(grads, 2.0) for kernel in (raw.total_norm, portable("total_norm")))
    assert type(found) is float
    assert found == pytest.approx(expected, rel=1e-6 if dtype == "float32" else 1e-14)
    others = [p.copy() for p in params]
    raw.descend_(params, grads, 0.0123)
    portable("descend_")(others, grads, 0.0123)
    for p, q in zip(params, others, strict=True):
        np.testing.assert_array_equal(p, q)


def test_descent_into_what_is_read() -> None:
    x = np.ones(8, "f")
    raw.descend_([x[1:]], [x[:-1]], 0.5)
    np.testing.assert_array_equal(x, [1, *[0.5] * 7])
    raw.descend_([x], [x], 0.5)
    np.testing.assert_array_equal(x, [0.5, *[0.25] * 7])


def test_norms_that_are_no_usual_numbers() -> None:
    for values, norm in (([1e30, 1e30], 2**0.5 * 1e30), ([np.inf, 1], np.inf), ([np.nan], np.nan)):
        np.testing.assert_allclose(raw.total_norm([np.array(values, "f")], 2.0), norm, 1e-6)
    assert raw.total_norm([np.ones((4, 4), "f").T[1:]], 2.0) == pytest.approx(12**0.5)
    assert raw.total_norm([np.ones((4, 4), "f")], 1.0) == 16


@pytest.mark.parametrize(
    "shape", [(5, 3), (1, 1), (32, 1), (100, 70), (2, 3, 4), (0, 3), (130, 9), (300, 100)], ids=str
)
def test_sums_of_few_rows_and_squared_errors(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-13)):
        x, y = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
        found, expected = (kernel(x) for kernel in (raw.sum_rows, portable("sum_rows")))
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, tolerance, 10 * tolerance)
        for name in ("mse_loss_mean", "mse_loss_sum") if x.size else ():
            for a, b in ((x, y), (x.T, y.T), (x.T, np.ascontiguousarray(y.T))):
                np.testing.assert_allclose(getattr(raw, name)(a, b), portable(name)(a, b), tolerance)


def test_squared_errors_of_two_shapes() -> None:
    x, y = np.arange(4, dtype="f")[:, None], np.arange(4, dtype="f")
    for _ in range(3):
        for a, b in ((x, y), (y, x), (y, np.array(1, "f"))):
            assert raw.mse_loss_mean(a, b) == portable("mse_loss_mean")(a, b)


def test_numbers_made_of_words() -> None:
    words = np.random.default_rng(0).integers(0, 1 << 32, 240, dtype=np.uint32)
    words[:4] = 0, 0, 0xFFFFFFFF, 0xFFFFFFFF
    for limit in (0, 1, (1 << 53) - 1, 1 << 53, 1 << 52, 12345678901234):
        for dtype in (np.float32, np.float64):
            _same("trial_factors", words, limit, np.array(1.25, dtype), (4, 30))
            _same("trial_factors", words[::2], limit, np.array(1.25, dtype), (2, 5, 6))
    for count, first in ((1, 0), (10, -3), ((1 << 28) - 1, 1 << 40), (7, -(1 << 62))):
        _same("remainders", words, count, first, (8, 30))
        _same("remainders", words[:1], count, first, ())
    chances = _numbers(3, 6, 10)
    _same("trials_each", words[:60], chances)
    for value in (0.0, 1.0, -0.0, np.nextafter(np.float32(1), np.float32(2)), -1e-30, np.nan, np.inf):
        chances[2, 3] = value
        assert raw.are_chances(chances) == portable("are_chances")(chances)


def test_few_draws_take_the_words_that_many_take() -> None:
    def drawn(draw: Any) -> Any:
        torch.manual_seed(3)
        return [*draw().tolist(), torch.rand(1).item()]

    for n in (1, 7, 64, 511):
        torch.manual_seed(3)
        whole = torch.default_generator._source.words(2 * n).astype(np.int64)
        assert drawn(lambda n=n: torch.randint(-3, 10, (n,)))[:n] == (whole[:n] % 13 - 3).tolist()
        kept = (((whole[::2] & 0x1FFFFF) << 32) | whole[1::2]) < int(np.ceil(0.7 * 2.0**53))
        found = drawn(lambda n=n: torch.nn.functional.dropout(torch.ones(n), 0.3))
        assert [value > 0 for value in found[:n]] == kept.tolist()
    with pytest.raises(RuntimeError, match="outside"):
        before = torch.get_rng_state().tolist()
        torch.bernoulli(torch.tensor([0.5, 1.5]))
    assert torch.get_rng_state().tolist() == before


def test_elements_by_pairs_of_numbers_and_what_is_added_there() -> None:
    draws = np.random.default_rng(0)
    for shape in ((5, 6), (4, 3, 2), (2, 3, 1, 4)):
        for numbers in ((7,), (2, 3)):
            i, j = (draws.integers(0, n, numbers) for n in shape[:2])
            x = _numbers(1, *shape)
            for each in (
                x,
                x.astype(np.float64),
                draws.integers(0, 9, shape),
                x[:, ::-1],
                np.broadcast_to(x[:1], shape),
            ):
                _same("index2", each, i, j, (0, 1))
            _same("index2", x, i - shape[0], j, (0, 1))
            g = _numbers(2, *numbers, *shape[2:])
            for each in (g, g.astype(np.float64), np.broadcast_to(np.float32(0.5), g.shape), g.astype(np.float16)):
                _same("index2_backward", each, i, j, shape, (0, 1))
                _same("index2_backward", each, i, j - shape[1], shape, (0, 1))
            rows = _numbers(3, *numbers, *shape[1:])
            for each in (rows, np.broadcast_to(np.float32(0.5), rows.shape)):
                _same("index1_backward", each, i, shape, (0,))
                _same("index1_backward", each, i - shape[0], shape, (0,))
    with pytest.raises(IndexError):
        raw.index2(x, i + 9, j, (0, 1))
    index, rows = draws.integers(0, 5, (3, 4)), _numbers(4, 3, 4, 6)
    for padding in (-1, 2):
        for scaled in (False, True):
            for g in (rows, rows.astype(np.float64), np.broadcast_to(np.float32(0.5), rows.shape)):
                found, wanted = (
                    kernel(g, index, 5, padding, scaled)
                    for kernel in (raw.embedding_dense_backward, portable("embedding_dense_backward"))
                )
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_parts_of_an_array() -> None:
    x = _numbers(0, 7, 5, 4)
    for dim in range(3):
        for each in (x, x.transpose(2, 0, 1), x[::-1]):
            for size in (1, 3, 9):
                _same("split", each, size, dim)
            _same("split_with_sizes", each, (0, 3, each.shape[dim] - 3), dim)
            _same("unbind", each, dim)
            assert all(part.base is not None for part in raw.unbind(each, dim))
            sizes, (first, second) = (3, each.shape[dim] - 3), raw.split_with_sizes(each, (3, each.shape[dim] - 3), dim)
            for parts in ((first, second), (None, second), (first, None)):
                _same("unsplit", parts, each.shape, sizes, dim)


@pytest.mark.parametrize("shape", SHAPES)
def test_extremes_and_their_places(shape: tuple[int, ...]) -> None:
    x = np.round(_numbers(0, *shape), 1)  # with equals
    x.reshape(-1)[::7] = np.nan
    x.reshape(-1)[1::5] = -0.0
    for dim in range(len(shape)):
        for keepdim in (False, True):
            for each in (x, x.astype(np.float64), x[..., ::-1], (x > 0.5), np.nan_to_num(x * 10).astype(np.int64)):
                _same("max_dim", each, dim, keepdim)
                _same("min_dim", each, dim, keepdim)
            places = portable("max_dim")(x, dim, keepdim)[1]
            for g in (_numbers(1, *places.shape), np.broadcast_to(np.float32(0.5), places.shape)):
                _same("place_along", g, places, shape, dim, keepdim)
                _same("place_along", g.astype(np.float64), places, shape, dim, keepdim)


@pytest.mark.parametrize("shape", [*SHAPES, (2, 3, 1, 1), (2, 1, 3, 4), (1, 1, 1, 1), (2, 3, 2, 1, 2)])
def test_frames_and_reversed_rows(shape: tuple[int, ...]) -> None:
    x, n = _numbers(0, *shape), len(shape)
    whole = (x * 9).astype(np.int64)
    for each in (x, x.astype(np.float64), whole, x > 0.5, np.asfortranarray(x), x[..., ::-1]):
        for dims in ((), (0,), (n - 1,), tuple(range(n))):
            _same("flip", each, dims)
            assert raw.flip(each, dims).strides == portable("flip")(each, dims).strides
        for widths in (((1, 2),) * n, ((0, 0),) * (n - 1) + ((3, 0),), ((-1, 1),) * n, ((0, 0),) * n):
            for value in (0, 2, 1.5) if each.dtype.kind == "f" else (0, 1):
                _same("constant_pad_nd", each, widths, value)
                found, wanted = (
                    kernel(each, widths, value) for kernel in (raw.constant_pad_nd, portable("constant_pad_nd"))
                )
                assert found.strides == wanted.strides


def test_who_took_a_kernel_early_makes_it_once() -> None:
    class Alone:
        card: Any = None
        warmed = 0

        def warm(self, *args: Any) -> None:
            self.card, self.warmed = self, self.warmed + 1

        def builtin(self, otherwise: Any) -> Any:
            return otherwise

    alone = Alone()
    early = _before(lambda x: x + 1, alone)
    assert [early(i) for i in range(3)] == [1, 2, 3]
    assert alone.warmed == 1


@pytest.mark.parametrize("n", [1, 2, 8, 9, 64, 65])
def test_the_middle_of_short_rows(n: int) -> None:
    x = _numbers(n, 3, 4, n)
    with_none = x.copy()
    with_none[1, 2, n // 2] = np.nan
    for rows in (x, np.floor(4 * x), x[..., ::-1], with_none, x.astype(np.float64), (100 * x).astype(np.int64)):
        for keepdim in (False, True):
            _same("median_dim", rows, 2, keepdim)
            _same("median_dim", rows, 0, keepdim)
            _same("median_dim", rows[0, 0], 0, keepdim)


@pytest.mark.parametrize(
    "window", [((2, 2), (2, 2), (0, 0), (1, 1)), ((3, 2), (2, 1), (1, 1), (1, 2)), ((3, 3), (1, 4), (1, 1), (2, 2))]
)
def test_the_largest_of_windows_of_small_images(window: tuple[tuple[int, int], ...]) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 9))
    x[0, 0, 2, 2], x[1, 1, 4, 4:] = np.nan, -np.inf
    for images in (x, x.astype(np.float32), np.round(x), x[0], x[0, 0], x.transpose(0, 1, 3, 2), x[..., ::2]):
        terms = zip(images.shape[-2:], *window, strict=True)
        size = tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in terms])
        _same("max_pool2d", images, *window, size)
