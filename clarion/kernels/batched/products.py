"""Products of matrices and vectors, for all samples at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import registry
from ..registry import raw
from .array import Batched, aligned, broadcast, deepest, is_of, one_by_one, varying, wrapped
from .table import rule


def _matrices(a: Any, b: Any) -> Any:
    """(…, n, k) and (…, k, m): where only one is summed over, it is no sum."""
    if a.shape[-1] == 1:
        return raw.mul(a, b)
    return _with_batches("matmul")(a, b)


def _rows(x: Any) -> Any:
    """All dimensions but the last as one, of a sample."""
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@rule("fold_mm", "mm")
def fold_mm(x: Any, y: Any) -> Any:
    """(…, k) and (k, n) → (…, n)."""
    level = deepest((x, y))
    if not varying(y, level):
        y = y.data if is_of(y, level) else y
        return x.like(raw.fold_mm(x.data, y)) if is_of(x, level) else wrapped(raw.fold_mm(x, y), level, False)
    found = Batched(_matrices(aligned(_rows(x), level, 2), y.data), level, True)
    return found if x.ndim == 2 else found.reshape(*x.shape[:-1], y.shape[1])


@rule("fold_nt", "mm_nt")
def fold_nt(x: Any, y: Any) -> Any:
    """(…, k) and (n, k) → (…, n)."""
    level = deepest((x, y))
    if not varying(y, level):
        y = y.data if is_of(y, level) else y
        return x.like(raw.fold_nt(x.data, y)) if is_of(x, level) else wrapped(raw.fold_nt(x, y), level, False)
    if x.ndim == 1 and varying(x, level):  # one row for each sample
        return Batched(raw.matmul(x.data[:, None], y.data.swapaxes(-1, -2))[:, 0], level, True)
    data = aligned(_rows(x), level, 2)
    found = Batched(
        _matrices(data, y.data.swapaxes(-1, -2)) if data.shape[-1] == 1 else raw.matmul_nt(*_in_threes(data, y.data)),
        level,
        True,
    )
    return found if x.ndim == 2 else found.reshape(*x.shape[:-1], y.shape[0])


def _in_threes(a: Any, b: Any) -> tuple[Any, Any]:
    return (a if a.ndim == 3 else a[None]), (b if b.ndim == 3 else b[None])


@rule("fold_tn")
def fold_tn(x: Any, y: Any) -> Any:
    """(…, k) and (…, n) → (k, n), summed over all leading dimensions."""
    level = deepest((x, y))
    if not varying(x, level) and not varying(y, level):
        return wrapped(raw.fold_tn(*[each.data if is_of(each, level) else each for each in (x, y)]), level, False)
    a, b = aligned(_rows(x), level, 2), aligned(_rows(y), level, 2)
    if a.shape[-2] == 1:
        return Batched(raw.mul(a.swapaxes(-1, -2), b), level, True)
    return Batched(raw.matmul_tn(*_in_threes(a, b)), level, True)


@rule("linear", "linear_rows")
def _linear(x: Any, w: Any, b: Any) -> Any:
    level = deepest((x, w, b))
    if not varying(w, level) and not varying(b, level) and is_of(x, level):
        w, b = (each.data if is_of(each, level) else each for each in (w, b))
        return x.like((raw.linear if x.data.ndim == 2 else raw.linear_rows)(x.data, w, b))
    out = fold_nt(x, w) if is_of(x, level) or is_of(w, level) else raw.fold_nt(x, w)
    return out if b is None else broadcast(registry.bind("add"), (out, b))


@rule("matmul", "bmm")
def product_of_batches(x: Any, y: Any) -> Any:
    """Matrices whose batches broadcast."""
    level = deepest((x, y))
    if x.ndim == 2 and y.ndim == 2 and not varying(y, level):
        return fold_mm(x, y)
    return broadcast(_matrices, (x, y))


@rule("matmul_nt")
def _matmul_nt(x: Any, y: Any) -> Any:
    level = deepest((x, y))
    if x.ndim == 2 and y.ndim == 2 and not varying(y, level):
        return fold_nt(x, y)
    return broadcast(_with_batches("matmul_nt"), (x, y))


@rule("matmul_tn")
def _matmul_tn(x: Any, y: Any) -> Any:
    return broadcast(_with_batches("matmul_tn"), (x, y))


def _with_batches(raw_name: str) -> Callable[..., Any]:
    """A product of matrices that have as many batches before them as each other."""

    def run(a: Any, b: Any) -> Any:
        while a.ndim < b.ndim:
            a = a[None]
        while b.ndim < a.ndim:
            b = b[None]
        return getattr(raw, raw_name)(a, b)

    return run


@rule("mv", "vecmat", "dot")
def product(x: Any, y: Any) -> Any:
    """Of vectors and matrices, as NumPy's `dot`."""
    level = deepest((x, y))
    if x.ndim == 2 and y.ndim == 2:
        return fold_mm(x, y)
    if x.ndim == 1 and y.ndim == 2:
        return fold_mm(x, y) if not varying(y, level) else _first(product_of_batches(_unsqueezed(x, 0), y), 1)
    if x.ndim == 2 and y.ndim == 1:
        if not varying(x, level):
            return fold_nt(y, x)
        return _last(product_of_batches(x, _unsqueezed(y, 1)))
    if x.ndim == 1 and y.ndim == 1:
        a, b = aligned(x, level, 1), aligned(y, level, 1)
        if a.ndim == b.ndim == 2:
            return Batched(raw.matmul(a[:, None], b[:, :, None])[:, 0, 0], level, True)
        if a.ndim == b.ndim == 1:
            return wrapped(raw.dot(a, b), level, False)
        return Batched(raw.mv(a, b) if a.ndim == 2 else raw.mv(b, a), level, True)
    return one_by_one(lambda a, b: a.dot(b), (x, y))


def _unsqueezed(x: Any, dim: int) -> Any:
    return x[None] if dim == 0 else x[:, None]


def _first(x: Any, _: int) -> Any:
    return x[0]


def _last(x: Any) -> Any:
    return x[..., 0]


@rule("vdot")
def _vdot(x: Any, y: Any) -> Any:
    return product(x.conj(), y) if x.dtype.kind == "c" else product(x, y)


@rule("contract")
def _contract(x: Any, y: Any, sx: Any, sy: Any, so: Any) -> Any:
    level = deepest((x, y))
    label = 1 + max((*sx, *sy, *so), default=0)
    given = [each.data if is_of(each, level) else each for each in (x, y)]
    if not varying(x, level) and not varying(y, level):
        return wrapped(raw.contract(*given, sx, sy, so), level, False)
    sx = (label, *sx) if varying(x, level) else sx
    sy = (label, *sy) if varying(y, level) else sy
    return Batched(raw.contract(*given, sx, sy, (label, *so)), level, True)
