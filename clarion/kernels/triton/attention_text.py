"""Attention in tiles: the texts of the kernels. Scores are never written to memory; see attention.py for how they are called.

Each program takes one tile of queries (or of keys, for their gradients) of one head, and walks over the other side. `lse` is
the (natural) logarithm of the sum of exponentials of each query's scores: with it the backward pass computes probabilities
anew. Inside, exponentials are of base 2: `scale2` is the scale times log2(e).
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _scores(
    q,
    k,
    rows,
    columns,
    queries,
    keys,
    scale2,
    mask,
    mask_row,
    mask_column,
    CAUSAL: tl.constexpr,
    MASK: tl.constexpr,
    EDGE: tl.constexpr,
):
    """Scores of a tile in base 2, -inf where a query may not look."""
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale2
    if MASK == 1:  # a number is added
        at = mask + rows[:, None] * mask_row + columns[None, :] * mask_column
        inside = (rows[:, None] < queries) & (columns[None, :] < keys)
        s += tl.load(at, mask=inside, other=0.0).to(tl.float32) * 1.4426950408889634
    if MASK == 2:  # True: may look
        at = mask + rows[:, None] * mask_row + columns[None, :] * mask_column
        inside = (rows[:, None] < queries) & (columns[None, :] < keys)
        s = tl.where(tl.load(at, mask=inside, other=0) != 0, s, -float("inf"))
    if CAUSAL:
        s = tl.where(rows[:, None] >= columns[None, :], s, -float("inf"))
    if EDGE:
        s = tl.where(columns[None, :] < keys, s, -float("inf"))
    return s


@triton.jit
def _kept(seed, head, rows, columns, keys, p):
    """Which probabilities dropout keeps: decided by seed and place alone, so that the backward pass draws the same.

    (`attention_noise` in kernels/portable/layers/attention.py says what is drawn.)
    """
    place = (rows[:, None].to(tl.int64) * keys + columns[None, :]).to(tl.uint32)
    return tl.rand(seed + head.to(tl.int64) * 7919, place) >= p


@triton.jit
def forward(
    q,
    k,
    v,
    out,
    lse,
    mask,
    ticket,
    p,
    scale2,
    queries,
    keys,
    heads,
    q_batch,
    q_head,
    q_row,
    k_batch,
    k_head,
    k_row,
    v_batch,
    v_head,
    v_row,
    o_batch,
    o_head,
    o_row,
    mask_batch,
    mask_head,
    mask_row,
    mask_column,
    CAUSAL: tl.constexpr,
    MASK: tl.constexpr,
    DROP: tl.constexpr,
    D: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """The result and `lse` of one tile of M queries."""
    seed = 0
    if DROP:
        seed = tl.load(ticket)
    tile, which = tl.program_id(0), tl.program_id(1)
    batch, head = which // heads, which % heads
    rows, columns, d = tile * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q += batch.to(tl.int64) * q_batch + head.to(tl.int64) * q_head
    k += batch.to(tl.int64) * k_batch + head.to(tl.int64) * k_head
    v += batch.to(tl.int64) * v_batch + head.to(tl.int64) * v_head
    mask += batch.to(tl.int64) * mask_batch + head.to(tl.int64) * mask_head
    here = tl.load(q + rows[:, None] * q_row + d[None, :], mask=rows[:, None] < queries, other=0.0)
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    sums = tl.zeros([M, D], tl.float32)
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, (tile + 1) * M)
    whole = 0  # keys that every query of the tile may see, and that are there
    if MASK == 0:
        whole = (end // N) * N
        if CAUSAL:
            whole = tl.minimum(whole, ((tile * M) // N) * N)
    for start in range(0, whole, N):
        there = start + columns
        kt = tl.load(k + there[:, None] * k_row + d[None, :])
        s = tl.dot(here, tl.trans(kt), input_precision="ieee") * scale2
        new = tl.maximum(top, tl.max(s, 1))
        e = tl.exp2(s - new[:, None])
        shrink = tl.exp2(top - new)
        total = total * shrink + tl.sum(e, 1)
        if DROP:
            e = tl.where(_kept(seed, which, rows, there, keys, p), e / (1.0 - p), 0.0)
        vt = tl.load(v + there[:, None] * v_row + d[None, :])
        sums = tl.dot(e.to(vt.dtype), vt, sums * shrink[:, None], input_precision="ieee")
        top = new
    for start in range(whole, end, N):
        there = start + columns
        kt = tl.load(k + there[:, None] * k_row + d[None, :], mask=there[:, None] < keys, other=0.0)
        s = _scores(here, kt, rows, there, queries, keys, scale2, mask, mask_row, mask_column, CAUSAL, MASK, True)
        new = tl.maximum(top, tl.max(s, 1))
        safe = tl.where(new == -float("inf"), 0.0, new)  # a query that may look nowhere
        e = tl.exp2(s - safe[:, None])
        shrink = tl.exp2(top - safe)
        total = total * shrink + tl.sum(e, 1)
        if DROP:
            e = tl.where(_kept(seed, which, rows, there, keys, p), e / (1.0 - p), 0.0)
        vt = tl.load(v + there[:, None] * v_row + d[None, :], mask=there[:, None] < keys, other=0.0)
        sums = tl.dot(e.to(vt.dtype), vt, sums * shrink[:, None], input_precision="ieee")
        top = new
    total = tl.where(total == 0.0, 1.0, total)
    sums = sums / total[:, None]
    tl.store(
        lse + which.to(tl.int64) * queries + rows, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < queries
    )
    out += batch.to(tl.int64) * o_batch + head.to(tl.int64) * o_head
    tl.store(out + rows[:, None] * o_row + d[None, :], sums.to(out.dtype.element_ty), mask=rows[:, None] < queries)


@triton.jit
def dots(
    g, out, delta, queries, heads, g_batch, g_head, g_row, o_batch, o_head, o_row, D: tl.constexpr, M: tl.constexpr
):
    """Of each query: gradient times result, summed. The backward pass takes it off every gradient of a probability."""
    tile, which = tl.program_id(0), tl.program_id(1)
    batch, head = which // heads, which % heads
    rows, d = tile * M + tl.arange(0, M), tl.arange(0, D)
    g += batch.to(tl.int64) * g_batch + head.to(tl.int64) * g_head
    out += batch.to(tl.int64) * o_batch + head.to(tl.int64) * o_head
    inside = rows[:, None] < queries
    a = tl.load(g + rows[:, None] * g_row + d[None, :], mask=inside, other=0.0).to(tl.float32)
    b = tl.load(out + rows[:, None] * o_row + d[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(delta + which.to(tl.int64) * queries + rows, tl.sum(a * b, 1), mask=rows < queries)


@triton.jit
def _key_step(
    first, q, g, lse, delta, kt, vt, dk, dv, there, d, queries, keys, scale2, mask, mask_row, mask_column,
    q_row, g_row, seed, p, which, CAUSAL: tl.constexpr, MASK: tl.constexpr, DROP: tl.constexpr, EDGE: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """What M queries add to the gradients of a tile of keys and values. Scores are held with a row for each key: products need no transposes."""
    rows = first + tl.arange(0, M)
    inside = rows < queries
    if EDGE:
        qt = tl.load(q + rows[:, None] * q_row + d[None, :], mask=inside[:, None], other=0.0)
        gt = tl.load(g + rows[:, None] * g_row + d[None, :], mask=inside[:, None], other=0.0)
        top = tl.load(lse + rows, mask=inside, other=float("inf")) * 1.4426950408889634
        top = tl.where(top == -float("inf"), 0.0, top)
        less = tl.load(delta + rows, mask=inside, other=0.0)
    else:
        qt = tl.load(q + rows[:, None] * q_row + d[None, :])
        gt = tl.load(g + rows[:, None] * g_row + d[None, :])
        top = tl.load(lse + rows) * 1.4426950408889634
        less = tl.load(delta + rows)
    s = tl.dot(kt, tl.trans(qt), input_precision="ieee") * scale2
    if MASK != 0:
        at = mask + rows[None, :] * mask_row + there[:, None] * mask_column
        known = inside[None, :] & (there[:, None] < keys)
        if MASK == 1:
            s += tl.load(at, mask=known, other=0.0).to(tl.float32) * 1.4426950408889634
        else:
            s = tl.where(tl.load(at, mask=known, other=0) != 0, s, -float("inf"))
    if CAUSAL:
        s = tl.where(rows[None, :] >= there[:, None], s, -float("inf"))
    if EDGE:
        s = tl.where(there[:, None] < keys, s, -float("inf"))
    probs = tl.exp2(s - top[None, :])
    gp = tl.dot(vt, tl.trans(gt), input_precision="ieee")
    used = probs
    if DROP:
        kept = tl.trans(_kept(seed, which, rows, there, keys, p))
        used = tl.where(kept, probs / (1.0 - p), 0.0)
        gp = tl.where(kept, gp / (1.0 - p), 0.0)
    dv = tl.dot(used.to(gt.dtype), gt, dv, input_precision="ieee")
    gs = probs * (gp - less[None, :])
    dk = tl.dot(gs.to(qt.dtype), qt, dk, input_precision="ieee")
    return dk, dv


@triton.jit
def backward_keys(
    q,
    k,
    v,
    g,
    gk,
    gv,
    lse,
    delta,
    mask,
    ticket,
    p,
    scale,
    scale2,
    queries,
    keys,
    heads,
    q_batch,
    q_head,
    q_row,
    k_batch,
    k_head,
    k_row,
    v_batch,
    v_head,
    v_row,
    g_batch,
    g_head,
    g_row,
    gk_batch,
    gk_head,
    gk_row,
    gv_batch,
    gv_head,
    gv_row,
    mask_batch,
    mask_head,
    mask_row,
    mask_column,
    CAUSAL: tl.constexpr,
    MASK: tl.constexpr,
    DROP: tl.constexpr,
    D: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """Gradients of one tile of N keys and values."""
    seed = 0
    if DROP:
        seed = tl.load(ticket)
    tile, which = tl.program_id(0), tl.program_id(1)
    batch, head = which // heads, which % heads
    b64, h64 = batch.to(tl.int64), head.to(tl.int64)
    there, d = tile * N + tl.arange(0, N), tl.arange(0, D)
    q += b64 * q_batch + h64 * q_head
    k += b64 * k_batch + h64 * k_head
    v += b64 * v_batch + h64 * v_head
    g += b64 * g_batch + h64 * g_head
    mask += b64 * mask_batch + h64 * mask_head
    lse += which.to(tl.int64) * queries
    delta += which.to(tl.int64) * queries
    present = there[:, None] < keys
    kt = tl.load(k + there[:, None] * k_row + d[None, :], mask=present, other=0.0)
    vt = tl.load(v + there[:, None] * v_row + d[None, :], mask=present, other=0.0)
    dk = tl.zeros([N, D], tl.float32)
    dv = tl.zeros([N, D], tl.float32)
    start = 0
    if CAUSAL:
        start = ((tile * N) // M) * M
    open_from = queries  # from here to `open_to`, queries are there and see all keys of the tile
    open_to = queries
    if MASK == 0:
        if (tile + 1) * N <= keys:
            open_from = 0
            if CAUSAL:
                open_from = tl.minimum((((tile + 1) * N + M - 2) // M) * M, queries)
            open_to = tl.maximum(open_from, (queries // M) * M)
    for first in range(start, open_from, M):
        dk, dv = _key_step(
            first, q, g, lse, delta, kt, vt, dk, dv, there, d, queries, keys, scale2, mask, mask_row, mask_column,
            q_row, g_row, seed, p, which, CAUSAL, MASK, DROP, True, M,
        )  # fmt: skip
    for first in range(open_from, open_to, M):
        dk, dv = _key_step(
            first, q, g, lse, delta, kt, vt, dk, dv, there, d, queries, keys, scale2, mask, mask_row, mask_column,
            q_row, g_row, seed, p, which, False, 0, DROP, False, M,
        )  # fmt: skip
    for first in range(open_to, queries, M):
        dk, dv = _key_step(
            first, q, g, lse, delta, kt, vt, dk, dv, there, d, queries, keys, scale2, mask, mask_row, mask_column,
            q_row, g_row, seed, p, which, CAUSAL, MASK, DROP, True, M,
        )  # fmt: skip
    gk += b64 * gk_batch + h64 * gk_head
    gv += b64 * gv_batch + h64 * gv_head
    tl.store(gk + there[:, None] * gk_row + d[None, :], (dk * scale).to(gk.dtype.element_ty), mask=present)
    tl.store(gv + there[:, None] * gv_row + d[None, :], dv.to(gv.dtype.element_ty), mask=present)


@triton.jit
def backward_queries(
    q,
    k,
    v,
    g,
    gq,
    lse,
    delta,
    mask,
    ticket,
    p,
    scale,
    scale2,
    queries,
    keys,
    heads,
    q_batch,
    q_head,
    q_row,
    k_batch,
    k_head,
    k_row,
    v_batch,
    v_head,
    v_row,
    g_batch,
    g_head,
    g_row,
    gq_batch,
    gq_head,
    gq_row,
    mask_batch,
    mask_head,
    mask_row,
    mask_column,
    CAUSAL: tl.constexpr,
    MASK: tl.constexpr,
    DROP: tl.constexpr,
    D: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """Gradients of one tile of M queries."""
    seed = 0
    if DROP:
        seed = tl.load(ticket)
    tile, which = tl.program_id(0), tl.program_id(1)
    batch, head = which // heads, which % heads
    b64, h64 = batch.to(tl.int64), head.to(tl.int64)
    rows, d = tile * M + tl.arange(0, M), tl.arange(0, D)
    q += b64 * q_batch + h64 * q_head
    k += b64 * k_batch + h64 * k_head
    v += b64 * v_batch + h64 * v_head
    g += b64 * g_batch + h64 * g_head
    mask += b64 * mask_batch + h64 * mask_head
    inside = rows < queries
    qt = tl.load(q + rows[:, None] * q_row + d[None, :], mask=inside[:, None], other=0.0)
    gt = tl.load(g + rows[:, None] * g_row + d[None, :], mask=inside[:, None], other=0.0)
    top = tl.load(lse + which.to(tl.int64) * queries + rows, mask=inside, other=float("inf")) * 1.4426950408889634
    top = tl.where(top == -float("inf"), 0.0, top)
    less = tl.load(delta + which.to(tl.int64) * queries + rows, mask=inside, other=0.0)
    dq = tl.zeros([M, D], tl.float32)
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, (tile + 1) * M)
    whole = 0  # keys that every query of the tile may see, and that are there
    if MASK == 0:
        whole = (end // N) * N
        if CAUSAL:
            whole = tl.minimum(whole, ((tile * M) // N) * N)
    for first in range(0, whole, N):
        there = first + tl.arange(0, N)
        kt = tl.load(k + there[:, None] * k_row + d[None, :])
        vt = tl.load(v + there[:, None] * v_row + d[None, :])
        s = tl.dot(qt, tl.trans(kt), input_precision="ieee") * scale2
        probs = tl.exp2(s - top[:, None])
        gp = tl.dot(gt, tl.trans(vt), input_precision="ieee")
        if DROP:
            gp = tl.where(_kept(seed, which, rows, there, keys, p), gp / (1.0 - p), 0.0)
        gs = probs * (gp - less[:, None])
        dq = tl.dot(gs.to(kt.dtype), kt, dq, input_precision="ieee")
    for first in range(whole, end, N):
        there = first + tl.arange(0, N)
        present = there[:, None] < keys
        kt = tl.load(k + there[:, None] * k_row + d[None, :], mask=present, other=0.0)
        vt = tl.load(v + there[:, None] * v_row + d[None, :], mask=present, other=0.0)
        s = _scores(qt, kt, rows, there, queries, keys, scale2, mask, mask_row, mask_column, CAUSAL, MASK, True)
        probs = tl.exp2(s - top[:, None])
        gp = tl.dot(gt, tl.trans(vt), input_precision="ieee")
        if DROP:
            gp = tl.where(_kept(seed, which, rows, there, keys, p), gp / (1.0 - p), 0.0)
        gs = probs * (gp - less[:, None])
        dq = tl.dot(gs.to(kt.dtype), kt, dq, input_precision="ieee")
    gq += b64 * gq_batch + h64 * gq_head
    tl.store(gq + rows[:, None] * gq_row + d[None, :], (dq * scale).to(gq.dtype.element_ty), mask=inside[:, None])


@triton.jit
def backward_whole(
    q, k, v, g, out, gq, gk, gv, lse, mask, ticket, p, scale, scale2, queries, keys, heads,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row, g_batch, g_head, g_row, o_batch, o_head, o_row,
    gq_batch, gq_head, gq_row, gk_batch, gk_head, gk_row, gv_batch, gv_head, gv_row, mask_batch, mask_head, mask_row, mask_column,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, DROP: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """All gradients of one head whose queries and keys fit into one tile each: nothing is computed twice, in one launch."""
    seed = 0
    if DROP:
        seed = tl.load(ticket)
    which = tl.program_id(0)
    batch, head = (which // heads).to(tl.int64), (which % heads).to(tl.int64)
    rows, there, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    inside, present = rows < queries, there < keys
    at_q = batch * q_batch + head * q_head + rows[:, None] * q_row + d[None, :]
    at_g = batch * g_batch + head * g_head + rows[:, None] * g_row + d[None, :]
    at_o = batch * o_batch + head * o_head + rows[:, None] * o_row + d[None, :]
    at_k = batch * k_batch + head * k_head + there[:, None] * k_row + d[None, :]
    at_v = batch * v_batch + head * v_head + there[:, None] * v_row + d[None, :]
    qt = tl.load(q + at_q, mask=inside[:, None], other=0.0)
    gt = tl.load(g + at_g, mask=inside[:, None], other=0.0)
    ot = tl.load(out + at_o, mask=inside[:, None], other=0.0)
    kt = tl.load(k + at_k, mask=present[:, None], other=0.0)
    vt = tl.load(v + at_v, mask=present[:, None], other=0.0)
    top = tl.load(lse + which.to(tl.int64) * queries + rows, mask=inside, other=float("inf")) * 1.4426950408889634
    top = tl.where(top == -float("inf"), 0.0, top)
    less = tl.sum(gt.to(tl.float32) * ot.to(tl.float32), 1)
    mask += batch * mask_batch + head * mask_head
    s = _scores(qt, kt, rows, there, queries, keys, scale2, mask, mask_row, mask_column, CAUSAL, MASK, True)
    probs = tl.exp2(s - top[:, None])
    gp = tl.dot(gt, tl.trans(vt), input_precision="ieee")
    used = probs
    if DROP:
        kept = _kept(seed, which, rows, there, keys, p)
        used = tl.where(kept, probs / (1.0 - p), 0.0)
        gp = tl.where(kept, gp / (1.0 - p), 0.0)
    gs = (probs * (gp - less[:, None])).to(qt.dtype)
    dv = tl.dot(tl.trans(used.to(gt.dtype)), gt, input_precision="ieee")
    dk = tl.dot(tl.trans(gs), qt, input_precision="ieee") * scale
    dq = tl.dot(gs, kt, input_precision="ieee") * scale
    at_q = batch * gq_batch + head * gq_head + rows[:, None] * gq_row + d[None, :]
    at_k = batch * gk_batch + head * gk_head + there[:, None] * gk_row + d[None, :]
    at_v = batch * gv_batch + head * gv_head + there[:, None] * gv_row + d[None, :]
    tl.store(gq + at_q, dq.to(gq.dtype.element_ty), mask=inside[:, None])
    tl.store(gk + at_k, dk.to(gk.dtype.element_ty), mask=present[:, None])
    tl.store(gv + at_v, dv.to(gv.dtype.element_ty), mask=present[:, None])
