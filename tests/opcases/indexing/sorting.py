"""Rows of sorting, order statistics, distinct values and bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..row import Row

NUMBERS = ("int64", "uint8", "float16", "bfloat16")


def distinct(*shape: int) -> Callable[[np.random.Generator], list[Any]]:
    """Numbers far enough apart for finite differences."""

    def draw(rng: np.random.Generator) -> list[Any]:
        n = int(np.prod(shape))
        return [(rng.permutation(n).astype("float64") - n / 2).reshape(shape)]

    return draw


def integers(*shape: int, high: int = 4) -> Callable[[np.random.Generator], list[Any]]:
    """Integers with ties."""
    return lambda rng: [rng.integers(0, high, shape)]


def _sorted(x: Any) -> Any:
    return np.sort(x, -1), np.argsort(x, -1, kind="stable")


def _gaps(rng: np.random.Generator) -> list[Any]:
    x = distinct(3, 5)(rng)[0]
    x[0, 1] = x[2, 3] = np.nan
    return [x]


ROWS = [
    Row(
        "sort",
        lambda t, x, **k: t.sort(x, **k),
        inputs=distinct(3, 5),
        ref=_sorted,
        out=True,
        dtypes=("float16", "bool"),
    ),
    Row("sort", lambda t, x: t.sort(x, 0, True), inputs=distinct(4, 3), label="descending"),
    Row("sort", lambda t, x: t.sort(x, 1, descending=True), inputs=_gaps, grad=(), label="nan"),
    Row("sort_stable", lambda t, x: t.sort(x, stable=True), inputs=distinct(3, 5), ref=_sorted),
    Row("sort_stable", lambda t, x: t.sort(x, stable=True, descending=True), inputs=integers(3, 9), label="ties"),
    Row("argsort", lambda t, x: t.argsort(x), inputs=distinct(3, 5), ref=lambda x: np.argsort(x, -1), grad=()),
    Row("msort", lambda t, x, **k: t.msort(x, **k), inputs=distinct(4, 3), ref=lambda x: np.sort(x, 0), out=True),
    Row("topk", lambda t, x, **k: t.topk(x, 2, **k), inputs=distinct(3, 5), out=True),
    Row("topk", lambda t, x: t.topk(x, 3, 0, False), inputs=distinct(50, 2), label="smallest"),
    # (Few of many: in which order others are found is the host's own, and compared in tests/compare/test_order_of_equals_vs_torch.py.)
    Row("topk_unsorted", lambda t, x: t.topk(x, 1, sorted=False), inputs=distinct(2, 64)),
    Row("kthvalue", lambda t, x, **k: t.kthvalue(x, 2, **k), inputs=distinct(3, 5), out=True),
    Row("kthvalue", lambda t, x: t.kthvalue(x, 3, 0, True), inputs=distinct(4, 3), label="keepdim"),
    Row("median", lambda t, x: t.median(x), inputs=distinct(3, 4), second=False, dtypes=NUMBERS),
    Row("median_dim", lambda t, x, **k: t.median(x, 1, **k), inputs=distinct(3, 4), out=True),
    Row("median_dim", lambda t, x: t.median(x, 1), inputs=_gaps, grad=(), label="nan"),
    Row("nanmedian", lambda t, x: t.nanmedian(x), inputs=_gaps, grad=()),
    Row("nanmedian_dim", lambda t, x, **k: t.nanmedian(x, 1, True, **k), inputs=distinct(3, 4), out=True),
    Row("nanmedian_dim", lambda t, x: t.nanmedian(x, 1), inputs=_gaps, grad=(), label="nan"),
    Row("mode", lambda t, x, **k: t.mode(x, **k), inputs=distinct(3, 5), out=True),
    Row("mode", lambda t, x: t.mode(x, 0), inputs=integers(9, 3), label="ties"),
    Row("unique", lambda t, x: t.unique(x, return_inverse=True, return_counts=True), inputs=integers(3, 4)),
    Row("unique_dim", lambda t, x: t.unique(x, return_inverse=True, dim=0), inputs=integers(9, 2, high=2)),
    Row(
        "unique_consecutive",
        lambda t, x: t.unique_consecutive(x, return_inverse=True, return_counts=True),
        inputs=integers(12, high=2),
    ),
    Row("unique_consecutive", lambda t, x: t.unique_consecutive(x, dim=0), inputs=integers(9, 1, high=2), label="dim"),
    Row(
        "searchsorted",
        lambda t, edges, x, **k: t.searchsorted(edges, x, **k),
        inputs=lambda rng: [np.arange(5.0), rng.uniform(-1, 6, (3, 2))],
        ref=np.searchsorted,
        grad=(),
        out=True,
    ),
    Row(
        "searchsorted",
        lambda t, edges, x: t.searchsorted(edges, x, right=True),
        inputs=lambda rng: [np.sort(rng.integers(0, 9, (3, 6))), rng.integers(0, 9, (3, 4))],
        label="rows",
    ),
    Row(
        "bucketize",
        lambda t, x, edges, **k: t.bucketize(x, edges, **k),
        inputs=lambda rng: [rng.uniform(-1, 6, (3, 2)), np.arange(5.0)],
        ref=lambda x, edges: np.searchsorted(edges, x),
        grad=(),
        out=True,
    ),
    Row(
        "bincount",
        lambda t, x: t.bincount(x, minlength=6),
        inputs=integers(9),
        ref=lambda x: np.bincount(x, minlength=6),
    ),
    Row(
        "bincount",
        lambda t, x, w: t.bincount(x, w),
        inputs=lambda rng: [rng.integers(0, 4, 9), rng.standard_normal(9)],
        grad=(),
        label="weights",
    ),
    Row("histc", lambda t, x, **k: t.histc(x, 5, -2, 2, **k), shapes=((30,),), domain=(-3.0, 3.0), grad=(), out=True),
    Row(
        "one_hot",
        lambda t, x: t.nn.functional.one_hot(x, 5),
        inputs=integers(2, 3),
        ref=lambda x: np.eye(5, dtype="int64")[x],
    ),
    Row(
        "one_hot",
        lambda t, x: t.nn.functional.one_hot(x, t.tensor(25)),
        inputs=integers(4, 24),
        ref=lambda x: np.eye(25, dtype="int64")[x],
        label="classes in a tensor",
    ),
]
