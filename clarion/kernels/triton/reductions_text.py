"""Sums over any dimensions of an array with any strides: the text of the kernel."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _places(i, n1, n2, s0, s1, s2, DIMS: tl.constexpr, UNIT: tl.constexpr):
    """Where the elements with these numbers lie, counted over up to three dimensions; UNIT: the last of them is dense."""
    i = i.to(tl.int64)
    if DIMS == 1:
        return i if UNIT else i * s2
    if DIMS == 2:
        return (i // n2) * s1 + (i % n2) * s2
    return (i // (n1 * n2)) * s0 + (i // n2 % n1) * s1 + (i % n2) * s2


@triton.jit
def sums(
    x, out, kept, reduced, per, factor, k1, k2, ks0, ks1, ks2, r1, r2, rs0, rs1, rs2,
    KEPT: tl.constexpr, REDUCED: tl.constexpr, ACROSS: tl.constexpr, UNIT: tl.constexpr, KIND: tl.constexpr, K: tl.constexpr, R: tl.constexpr,
):  # fmt: skip
    """`K` results of this program's share of the summed elements, times a number. ACROSS: neighbours are neighbours among the results."""
    k = tl.program_id(0) * K + tl.arange(0, K)
    share = tl.program_id(1)
    base = _places(k, k1, k2, ks0, ks1, ks2, KEPT, ACROSS and UNIT)
    first = share * per
    last = tl.minimum(first + per, reduced)
    if ACROSS:
        total = tl.zeros([R, K], KIND)
        for start in range(first, last, R):
            r = start + tl.arange(0, R)
            off = _places(r, r1, r2, rs0, rs1, rs2, REDUCED, False)
            inside = (r < last)[:, None] & (k < kept)[None, :]
            total += tl.load(x + off[:, None] + base[None, :], mask=inside, other=0.0).to(KIND)
        found = tl.sum(total, 0)
    else:
        total = tl.zeros([K, R], KIND)
        for start in range(first, last, R):
            r = start + tl.arange(0, R)
            off = _places(r, r1, r2, rs0, rs1, rs2, REDUCED, UNIT)
            inside = (k < kept)[:, None] & (r < last)[None, :]
            total += tl.load(x + base[:, None] + off[None, :], mask=inside, other=0.0).to(KIND)
        found = tl.sum(total, 1)
    tl.store(out + share.to(tl.int64) * kept + k, (found * factor).to(out.dtype.element_ty), mask=k < kept)


@triton.jit
def all_finite(x, out, count, B: tl.constexpr):
    """`out` is 1, and becomes 0 if an element is infinite or NaN: only of those the difference from itself is not 0."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    a = tl.load(x + at, mask=at < count, other=0.0)
    a = a if a.dtype == tl.float64 else a.to(tl.float32)
    if tl.max(((a - a) != 0.0).to(tl.int32), 0) > 0:
        tl.store(out, 0)
