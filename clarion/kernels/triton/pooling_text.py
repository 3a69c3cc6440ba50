"""Pooling: the texts of the kernels. Images are (outer, depth, height, width, inner) in memory: `inner` are the channels where they lie side
by side, and 1 where each has its own plane.

A program takes some elements of the result. Windows are of one size (K, with distances S between them, padding P, and distances D inside
them), or, ADAPTIVE, as many as the result has elements, which cover the input. Everything is computed in float32 (float64 for float64).
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _apart(at, inner, depth, height, width):
    """(outer, depth, height, width, inner) of elements."""
    c, left = at % inner, at // inner
    x, left = left % width, left // width
    y, left = left % height, left // height
    return left // depth, left % depth, y, x, c


@triton.jit
def _window(o, n, size, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, ADAPTIVE: tl.constexpr):
    """Where a window begins, and how many places it has."""
    if ADAPTIVE:
        start = o * n // size
        places = ((o + 1) * n + size - 1) // size - start
    else:
        start = o * S - P
        places = o * 0 + K
    return start, places


@triton.jit
def _counted(
    o, n, size, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, ADAPTIVE: tl.constexpr, PADDED: tl.constexpr
):
    """How many elements of a window count for its mean in one dimension."""
    start, places = _window(o, n, size, K, S, P, ADAPTIVE)
    if not ADAPTIVE:
        end = tl.minimum(start + K, n + P)
        places = end - start if PADDED else tl.minimum(end, n) - tl.maximum(start, 0)
    return places


@triton.jit
def _first_inside(start, D: tl.constexpr):
    return start + (tl.maximum(-start, 0) + D - 1) // D * D


@triton.jit
def _tap(
    number, z0, y0, x0, nz, ny, nx, depth, height, width, KY: tl.constexpr, KX: tl.constexpr, DZ: tl.constexpr, DY: tl.constexpr,
    DX: tl.constexpr,
):  # fmt: skip
    """One place of a window: whether it is one and inside the image, and where in the plane."""
    i, j, k = number // (KY * KX), number // KX % KY, number % KX
    z, y, x = z0 + i * DZ, y0 + j * DY, x0 + k * DX
    met = (i < nz) & (j < ny) & (k < nx) & (z >= 0) & (y >= 0) & (x >= 0) & (z < depth) & (y < height) & (x < width)
    return met, (z * height + y) * width + x


@triton.jit
def max_pool(
    x, out, places, count, inner, idepth, iheight, iwidth, depth, height, width, KZ: tl.constexpr, KY: tl.constexpr,
    KX: tl.constexpr, SZ: tl.constexpr, SY: tl.constexpr, SX: tl.constexpr, PZ: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr,
    DZ: tl.constexpr, DY: tl.constexpr, DX: tl.constexpr, ADAPTIVE: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """The largest of each window, and its place in the plane. The first such counts; of NaN, which is larger than all, the last."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < count
    o, oz, oy, ox, c = _apart(at, inner, depth, height, width)
    z0, nz = _window(oz, idepth, depth, KZ, SZ, PZ, ADAPTIVE)
    y0, ny = _window(oy, iheight, height, KY, SY, PY, ADAPTIVE)
    x0, nx = _window(ox, iwidth, width, KX, SX, PX, ADAPTIVE)
    best = tl.full([B], float("-inf"), KIND)
    place = (_first_inside(z0, DZ) * iheight + _first_inside(y0, DY)) * iwidth + _first_inside(x0, DX)
    plane = o * (idepth * iheight * iwidth)
    for number in range(KZ * KY * KX):
        met, here = _tap(number, z0, y0, x0, nz, ny, nx, idepth, iheight, iwidth, KY, KX, DZ, DY, DX)
        met = met & inside
        v = tl.load(x + (plane + here) * inner + c, mask=met, other=float("-inf")).to(KIND)
        better = met & ((v > best) | (v != v))
        best = tl.where(better, v, best)
        place = tl.where(better, here, place)
    tl.store(out + at, best.to(out.dtype.element_ty), mask=inside)
    tl.store(places + at, place.to(tl.int64), mask=inside)


@triton.jit
def avg_pool(
    x, out, count, inner, idepth, iheight, iwidth, depth, height, width, divisor, KZ: tl.constexpr, KY: tl.constexpr,
    KX: tl.constexpr, SZ: tl.constexpr, SY: tl.constexpr, SX: tl.constexpr, PZ: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr,
    DZ: tl.constexpr, DY: tl.constexpr, DX: tl.constexpr, ADAPTIVE: tl.constexpr, PADDED: tl.constexpr, GIVEN: tl.constexpr,
    KIND: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """The sum of each window over the number of its elements, or over a GIVEN number."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < count
    o, oz, oy, ox, c = _apart(at, inner, depth, height, width)
    z0, nz = _window(oz, idepth, depth, KZ, SZ, PZ, ADAPTIVE)
    y0, ny = _window(oy, iheight, height, KY, SY, PY, ADAPTIVE)
    x0, nx = _window(ox, iwidth, width, KX, SX, PX, ADAPTIVE)
    total = tl.zeros([B], KIND)
    plane = o * (idepth * iheight * iwidth)
    for number in range(KZ * KY * KX):
        met, here = _tap(number, z0, y0, x0, nz, ny, nx, idepth, iheight, iwidth, KY, KX, DZ, DY, DX)
        total += tl.load(x + (plane + here) * inner + c, mask=met & inside, other=0.0).to(KIND)
    if GIVEN:
        total = total / divisor
    else:
        counted = _counted(oz, idepth, depth, KZ, SZ, PZ, ADAPTIVE, PADDED)
        counted *= _counted(oy, iheight, height, KY, SY, PY, ADAPTIVE, PADDED)
        counted *= _counted(ox, iwidth, width, KX, SX, PX, ADAPTIVE, PADDED)
        total = total / counted.to(KIND)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _first_window(
    z, n, size, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, D: tl.constexpr, ADAPTIVE: tl.constexpr
):
    """The first window that may reach an element."""
    if ADAPTIVE:
        first = z * size // n
    else:
        first = (tl.maximum(z + P - (K - 1) * D, 0) + S - 1) // S
    return first


@triton.jit
def _reaches(o, z, n, size, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, ADAPTIVE: tl.constexpr):
    """Is there this window, and does it begin no later than the element?"""
    start, _ = _window(o, n, size, K, S, P, ADAPTIVE)
    return (o < size) & (start <= z)


@triton.jit
def pool_backward(
    g, places, out, count, inner, idepth, iheight, iwidth, depth, height, width, divisor, CZ: tl.constexpr, CY: tl.constexpr,
    CX: tl.constexpr, KZ: tl.constexpr, KY: tl.constexpr, KX: tl.constexpr, SZ: tl.constexpr, SY: tl.constexpr, SX: tl.constexpr,
    PZ: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr, DZ: tl.constexpr, DY: tl.constexpr, DX: tl.constexpr,
    ADAPTIVE: tl.constexpr, LARGEST: tl.constexpr, PADDED: tl.constexpr, GIVEN: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """What each element of the input gets of the windows that reach it, at most CZ x CY x CX: of those whose LARGEST it was, or its
    share of their mean."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < count
    o, z, y, x, c = _apart(at, inner, idepth, iheight, iwidth)
    z0 = _first_window(z, idepth, depth, KZ, SZ, PZ, DZ, ADAPTIVE)
    y0 = _first_window(y, iheight, height, KY, SY, PY, DY, ADAPTIVE)
    x0 = _first_window(x, iwidth, width, KX, SX, PX, DX, ADAPTIVE)
    own = (z * iheight + y) * iwidth + x
    total = tl.zeros([B], KIND)
    for number in range(CZ * CY * CX):
        a, b, e = z0 + number // (CY * CX), y0 + number // CX % CY, x0 + number % CX
        met = inside & _reaches(a, z, idepth, depth, KZ, SZ, PZ, ADAPTIVE)
        met = met & _reaches(b, y, iheight, height, KY, SY, PY, ADAPTIVE)
        met = met & _reaches(e, x, iwidth, width, KX, SX, PX, ADAPTIVE)
        here = (((o * depth + a) * height + b) * width + e) * inner + c
        if LARGEST:
            met = met & (tl.load(places + here, mask=met, other=-1) == own)
        share = tl.load(g + here, mask=met, other=0.0).to(KIND)
        if GIVEN:
            share = share / divisor
        elif not LARGEST:
            counted = _counted(a, idepth, depth, KZ, SZ, PZ, ADAPTIVE, PADDED)
            counted *= _counted(b, iheight, height, KY, SY, PY, ADAPTIVE, PADDED)
            counted *= _counted(e, iwidth, width, KX, SX, PX, ADAPTIVE, PADDED)
            share = tl.where(met, share / tl.where(met, counted, 1).to(KIND), 0.0)
        total += share
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)
