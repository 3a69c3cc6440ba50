"""Kernels that take a tensor row by row: the texts. A row is read once and stays in registers, or is walked through in blocks.

Everything is computed in float32 (float64 for float64) and rounded once, whatever the type in memory.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def layer_norm(
    x, weight, bias, out, low, normal, rstd, n, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr, LOW: tl.constexpr,
    B: tl.constexpr,
):  # fmt: skip
    """One row: the result (with LOW in a second type, too), the normalized row, and 1 / its standard deviation."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    inside = at < n
    kind = rstd.dtype.element_ty
    a = tl.load(x + row * n + at, mask=inside, other=0.0).to(kind)
    a = tl.where(inside, a - tl.sum(a, 0) / n, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(a * a, 0) / n + eps)
    a = a * scale
    tl.store(normal + row * n + at, a.to(normal.dtype.element_ty), mask=inside)
    tl.store(rstd + row, scale)
    if WEIGHT:
        a = a * tl.load(weight + at, mask=inside, other=0.0).to(kind)
    if BIAS:
        a = a + tl.load(bias + at, mask=inside, other=0.0).to(kind)
    tl.store(out + row * n + at, a.to(out.dtype.element_ty), mask=inside)
    if LOW:
        tl.store(low + row * n + at, a.to(low.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_backward(
    g, weight, normal, rstd, before, out, shares, out_weight, out_bias, counter, rows, n, per,
    WEIGHT: tl.constexpr, BEFORE: tl.constexpr, SUMS: tl.constexpr, LAST: tl.constexpr, CENTERED: tl.constexpr, P: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """`per` rows: the gradient of the input, and this program's share of those of weight and bias.

    With BEFORE, the gradient is added to one that is there. With LAST, the program that ends last adds the shares up: `counter` says who that is, and is 0 again in the end.
    """
    program = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    inside = at < n
    kind = rstd.dtype.element_ty
    w = tl.full([B], 1.0, kind)
    if WEIGHT:
        w = tl.load(weight + at, mask=inside, other=0.0).to(kind)
    gw = tl.zeros([B], kind)
    gb = tl.zeros([B], kind)
    for row in range(program * per, tl.minimum((program + 1) * per, rows)):
        gr = tl.load(g + row * n + at, mask=inside, other=0.0).to(kind)
        nr = tl.load(normal + row * n + at, mask=inside, other=0.0).to(kind)
        if SUMS:
            gw += gr * nr
            gb += gr
        up = gr * w
        r = up - nr * (tl.sum(up * nr, 0) / n)
        if CENTERED:
            r = r - tl.sum(tl.where(inside, up, 0.0), 0) / n
        r = r * tl.load(rstd + row)
        if BEFORE:
            r += tl.load(before + row * n + at, mask=inside, other=0.0).to(kind)
        tl.store(out + row * n + at, r.to(out.dtype.element_ty), mask=inside)
    if SUMS:
        second = shares + tl.num_programs(0) * n  # those of the bias, behind those of the weight
        tl.store(shares + program * n + at, gw, mask=inside)
        tl.store(second + program * n + at, gb, mask=inside)
    if LAST:
        tl.debug_barrier()
        count = tl.num_programs(0)
        if tl.atomic_add(counter, 1, sem="acq_rel") == count - 1:
            gw = tl.zeros([B], kind)
            gb = tl.zeros([B], kind)
            for start in range(0, count, P):
                r = start + tl.arange(0, P)
                here = r[:, None] * n + at[None, :]
                there = (r < count)[:, None] & inside[None, :]
                gw += tl.sum(tl.load(shares + here, mask=there, other=0.0, cache_modifier=".cg"), 0)
                gb += tl.sum(tl.load(second + here, mask=there, other=0.0, cache_modifier=".cg"), 0)
            tl.store(out_weight + at, gw.to(out_weight.dtype.element_ty), mask=inside)
            tl.store(out_bias + at, gb.to(out_bias.dtype.element_ty), mask=inside)
            tl.atomic_xchg(counter, 0)


@triton.jit
def two_sums(first, out_first, out_second, rows, n, P: tl.constexpr, C: tl.constexpr):
    """The sums over the rows of two matrices that lie one behind the other, of a block of columns."""
    second = first + rows * n
    c = tl.program_id(0) * C + tl.arange(0, C)
    kind = first.dtype.element_ty
    a = tl.zeros([P, C], kind)
    b = tl.zeros([P, C], kind)
    for start in range(0, rows, P):
        r = start + tl.arange(0, P)
        inside = (r < rows)[:, None] & (c < n)[None, :]
        at = r[:, None] * n + c[None, :]
        a += tl.load(first + at, mask=inside, other=0.0)
        b += tl.load(second + at, mask=inside, other=0.0)
    tl.store(out_first + c, tl.sum(a, 0).to(out_first.dtype.element_ty), mask=c < n)
    tl.store(out_second + c, tl.sum(b, 0).to(out_second.dtype.element_ty), mask=c < n)


@triton.jit
def rms_norm(x, weight, out, normal, rrms, n, eps, WEIGHT: tl.constexpr, B: tl.constexpr):
    """One row: the result, the row divided by its root mean square, and 1 / that."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    inside = at < n
    kind = rrms.dtype.element_ty
    a = tl.load(x + row * n + at, mask=inside, other=0.0).to(kind)
    scale = 1.0 / tl.sqrt(tl.sum(a * a, 0) / n + eps)
    a = a * scale
    tl.store(normal + row * n + at, a.to(normal.dtype.element_ty), mask=inside)
    tl.store(rrms + row, scale)
    if WEIGHT:
        a = a * tl.load(weight + at, mask=inside, other=0.0).to(kind)
    tl.store(out + row * n + at, a.to(out.dtype.element_ty), mask=inside)


@triton.jit
def softmax(x, out, n, LOG: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr):
    """One row: softmax, or its logarithm."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    out += row * n
    at = tl.arange(0, B)
    top = tl.full([B], -float("inf"), KIND)
    total = tl.zeros([B], KIND)
    for start in range(0, n, B):
        a = tl.load(x + start + at, mask=start + at < n, other=-float("inf")).to(KIND)
        new = tl.maximum(top, a)
        safe = tl.where(new == -float("inf"), 0.0, new)
        total = total * tl.exp(top - safe) + tl.exp(a - safe)
        top = new
    most = tl.max(top, 0)
    whole = tl.sum(total * tl.exp(tl.where(top == -float("inf"), -float("inf"), top - most)), 0)
    for start in range(0, n, B):
        inside = start + at < n
        a = tl.load(x + start + at, mask=inside, other=0.0).to(KIND) - most
        r = a - tl.log(whole) if LOG else tl.exp(a) / whole
        tl.store(out + start + at, r.to(out.dtype.element_ty), mask=inside)


@triton.jit
def softmax_backward(g, y, out, n, LOG: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr):
    """One row of the gradient of softmax, or of its logarithm."""
    row = tl.program_id(0).to(tl.int64)
    g += row * n
    y += row * n
    out += row * n
    at = tl.arange(0, B)
    total = tl.zeros([B], KIND)
    for start in range(0, n, B):
        inside = start + at < n
        a = tl.load(g + start + at, mask=inside, other=0.0).to(KIND)
        if not LOG:
            a = a * tl.load(y + start + at, mask=inside, other=0.0).to(KIND)
        total += a
    s = tl.sum(total, 0)
    for start in range(0, n, B):
        inside = start + at < n
        a = tl.load(g + start + at, mask=inside, other=0.0).to(KIND)
        b = tl.load(y + start + at, mask=inside, other=0.0).to(KIND)
        r = a - tl.exp(b) * s if LOG else (a - s) * b
        tl.store(out + start + at, r.to(out.dtype.element_ty), mask=inside)


@triton.jit
def cross_entropy(x, target, loss, lse, n, ignore, KIND: tl.constexpr, B: tl.constexpr):
    """One row of scores: log-sum-exp, and the loss of its target class (0 if it is ignored, NaN if there is no such class)."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    at = tl.arange(0, B)
    top = tl.full([B], -float("inf"), KIND)
    total = tl.zeros([B], KIND)
    for start in range(0, n, B):
        a = tl.load(x + start + at, mask=start + at < n, other=-float("inf")).to(KIND)
        new = tl.maximum(top, a)
        safe = tl.where(new == -float("inf"), 0.0, new)
        total = total * tl.exp(top - safe) + tl.exp(a - safe)
        top = new
    most = tl.max(top, 0)
    whole = most + tl.log(tl.sum(total * tl.exp(tl.where(top == -float("inf"), -float("inf"), top - most)), 0))
    tl.store(lse + row, whole)
    t = tl.load(target + row)
    wanted = t != ignore
    known = wanted & (t >= 0) & (t < n)
    score = tl.load(x + tl.where(known, t, 0)).to(KIND)
    tl.store(loss + row, tl.where(known, whole - score, tl.where(wanted, float("nan"), 0.0)))


@triton.jit
def reduced_loss(loss, target, row, total, rows, ignore, MEAN: tl.constexpr, SUM: tl.constexpr, B: tl.constexpr):
    """By one program: the weight of each row in the loss, and (with SUM) the loss itself."""
    at = tl.arange(0, B)
    kind = loss.dtype.element_ty
    count = tl.zeros([B], kind)
    if MEAN:
        for start in range(0, rows, B):
            here = start + at
            count += tl.where(tl.load(target + here, mask=here < rows, other=ignore) != ignore, 1.0, 0.0)
    share = 1.0 / tl.sum(count, 0) if MEAN else 1.0
    summed = tl.zeros([B], kind)
    for start in range(0, rows, B):
        here = start + at
        inside = here < rows
        wanted = tl.load(target + here, mask=inside, other=ignore) != ignore
        weight = tl.where(wanted, share, 0.0)
        tl.store(row + here, weight, mask=inside)
        if SUM:
            summed += tl.load(loss + here, mask=inside, other=0.0)
    if SUM:
        # (The loss of no row at all is 0 / 0.)
        tl.store(total, tl.sum(summed, 0) / tl.sum(count, 0) if MEAN else tl.sum(summed, 0))


@triton.jit
def cross_entropy_backward(
    g, x, target, lse, row_weight, out, n, ignore, SHARED: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr
):
    """One row of the gradient of the scores: (softmax - one at the target) times the row's factor. `out` may be `x`."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    out += row * n
    at = tl.arange(0, B)
    t = tl.load(target + row)
    factor = tl.load(row_weight + row).to(KIND)
    factor = factor * tl.load(g + (0 if SHARED else row)).to(KIND)
    factor = tl.where(t == ignore, 0.0, factor)
    whole = tl.load(lse + row)
    for start in range(0, n, B):
        inside = start + at < n
        p = tl.exp(tl.load(x + start + at, mask=inside, other=-float("inf")).to(KIND) - whole)
        p = tl.where(start + at == t, p - 1.0, p) * factor
        tl.store(out + start + at, p.to(out.dtype.element_ty), mask=inside)


@triton.jit
def embedding(table, indices, out, rows, n, B: tl.constexpr):
    """The row of the table that one index names; NaN if there is none."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.load(indices + row).to(tl.int64)
    known = (place >= 0) & (place < rows)
    at = tl.program_id(1) * B + tl.arange(0, B)
    a = tl.load(table + place * n + at, mask=known & (at < n), other=float("nan"))
    tl.store(out + row * n + at, a, mask=at < n)


@triton.jit
def counted(out, start, step, count, B: tl.constexpr):
    """start, start + step, …"""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(out + at, (start + at * step).to(out.dtype.element_ty), mask=at < count)


@triton.jit
def embedding_backward(g, indices, out, n, padding, B: tl.constexpr):
    """One row of `g`, added to the row of the table that its index names."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.load(indices + row)
    if place != padding:
        at = tl.program_id(1) * B + tl.arange(0, B)
        a = tl.load(g + row * n + at, mask=at < n, other=0.0).to(out.dtype.element_ty)
        tl.atomic_add(out + place * n + at, a, mask=at < n)


@triton.jit
def cast(x, out, n, B: tl.constexpr):
    """Elements in another type."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n).to(out.dtype.element_ty), mask=at < n)
