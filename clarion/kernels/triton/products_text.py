"""Small matrix products: the texts. A tile of the result is summed in float32 and rounded once."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def product(
    a, b, vector, out, m, n, k, step_a, step_b, TURNED_A: tl.constexpr, TURNED_B: tl.constexpr, BIAS: tl.constexpr,
    PRECISION: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """out = a @ b (+ a bias for each column). A turned operand lies column by column, `step` elements apart."""
    r = tl.program_id(0) * M + tl.arange(0, M)
    c = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        j = start + tl.arange(0, K)
        at_a = r[:, None] + j[None, :] * step_a if TURNED_A else r[:, None] * step_a + j[None, :]
        at_b = j[:, None] + c[None, :] * step_b if TURNED_B else j[:, None] * step_b + c[None, :]
        x = tl.load(a + at_a, mask=(r < m)[:, None] & (j < k)[None, :], other=0.0)
        y = tl.load(b + at_b, mask=(j < k)[:, None] & (c < n)[None, :], other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    if BIAS:
        total += tl.load(vector + c, mask=c < n, other=0.0).to(tl.float32)[None, :]
    at = r[:, None] * n + c[None, :]
    tl.store(out + at, total.to(out.dtype.element_ty), mask=(r < m)[:, None] & (c < n)[None, :])


@triton.jit
def linear_gradients(
    g, x, w, gx, gw, gb, rows, n, k, X: tl.constexpr, W: tl.constexpr, B: tl.constexpr, PRECISION: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Of x @ wᵀ + b, for rows × n gradients and rows × k inputs: the first programs take tiles of the gradient of x, the others
    tiles of that of w, and with its first columns the gradient of b. `g` is rounded to the type of the operands."""
    kind = w.dtype.element_ty if X else x.dtype.element_ty if W else g.dtype.element_ty
    across = tl.cdiv(k, N)
    of_x = tl.cdiv(rows, M) * across if X else 0
    program = tl.program_id(0)
    if program < of_x:
        r = (program // across) * M + tl.arange(0, M)
        c = (program % across) * N + tl.arange(0, N)
        total = tl.zeros([M, N], tl.float32)
        for start in range(0, n, N):
            j = start + tl.arange(0, N)
            up = tl.load(g + r[:, None] * n + j[None, :], mask=(r < rows)[:, None] & (j < n)[None, :], other=0.0)
            to = tl.load(w + j[:, None] * k + c[None, :], mask=(j < n)[:, None] & (c < k)[None, :], other=0.0)
            total = tl.dot(up.to(kind), to, total, input_precision=PRECISION)
        inside = (r < rows)[:, None] & (c < k)[None, :]
        tl.store(gx + r[:, None] * k + c[None, :], total.to(gx.dtype.element_ty), mask=inside)
    else:
        turn = program - of_x
        r = (turn // across) * M + tl.arange(0, M)
        c = (turn % across) * N + tl.arange(0, N)
        total = tl.zeros([M, N], tl.float32)
        sums = tl.zeros([M], tl.float32)
        for start in range(0, rows, N):
            j = start + tl.arange(0, N)
            up = tl.load(g + r[:, None] + j[None, :] * n, mask=(r < n)[:, None] & (j < rows)[None, :], other=0.0)
            up = up.to(kind)
            if B:
                sums += tl.sum(up.to(tl.float32), 1)
            if W:
                to = tl.load(x + j[:, None] * k + c[None, :], mask=(j < rows)[:, None] & (c < k)[None, :], other=0.0)
                total = tl.dot(up, to, total, input_precision=PRECISION)
        if W:
            inside = (r < n)[:, None] & (c < k)[None, :]
            tl.store(gw + r[:, None] * k + c[None, :], total.to(kind).to(gw.dtype.element_ty), mask=inside)
        if B:
            if turn % across == 0:
                tl.store(gb + r, sums.to(kind).to(gb.dtype.element_ty), mask=r < n)
