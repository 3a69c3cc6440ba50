"""Muon: matrices that are made nearly orthogonal."""

from __future__ import annotations

from typing import Any

from ...registry import kernel, raw

LARGE = 4096  # elements of a matrix whose products are worth a margin


@kernel("muon_normalized")
def normalized(xp: Any, updates: Any, eps: float) -> Any:
    """Matrices of one shape over their norms, in an array of their own, rounded as in bfloat16."""
    x = xp.array(updates, xp.float32, order="C")
    _rounded(xp, x)
    norm = _rounded(xp, xp.sqrt(xp.einsum("nij,nij->n", x, x)))
    xp.divide(x, _rounded(xp, xp.maximum(norm, xp.float32(eps)))[:, None, None], x)
    return _rounded(xp, x)


@kernel("muon_orthogonal")
def orthogonal(xp: Any, x: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """The nearest matrices with singular values near one, rounded as in bfloat16. `x` is overwritten."""
    a, b, c = (float(xp.float32(each)) for each in coefficients)
    tall = x.shape[1] > x.shape[2]
    x = xp.ascontiguousarray(_turned(x)) if tall else x
    x = _iterated(xp, x, a, b, c, steps)
    return _turned(x) if tall else x


# The first two products are symmetric: BLAS computes half of them, and NumPy copies it to the other half, which takes long
# where rows lie a power of two apart. Hence large ones have a margin; it is computed with the rest, and stays zero.
MARGIN = 16


def _iterated(xp: Any, x: Any, a: float, b: float, c: float, steps: int) -> Any:
    """Newton and Schulz's iteration in two places for each matrix, which are taken in turns: `x` is one of them."""
    count, rows, columns = x.shape
    margin = MARGIN if rows * columns > LARGE else 0
    wide_gram, wide_change = xp.zeros((2, count, rows, rows + margin), xp.float32)
    gram, change = wide_gram[:, :, :rows], wide_change[:, :, :rows]
    following = xp.empty_like(x)
    for _ in range(steps):
        _product(xp, x, _turned(x), gram)
        _rounded(xp, wide_gram, wide_change)
        _product(xp, gram, _turned(gram), change)
        xp.multiply(wide_change, c, wide_change)
        raw.multiply_add(wide_gram, b, wide_change, wide_change)
        _rounded(xp, wide_change, wide_gram)
        _product(xp, change, x, following)
        raw.multiply_add(x, a, following, following)
        x, following = _rounded(xp, following, x), x
    return x


# NOTE [Rounding of Muon]: PyTorch iterates in bfloat16: every product is summed in float32, scaled and added there, and
# rounded once. Rounded differently, the iteration, which magnifies small singular values, is soon somewhere else; rounded
# at the same places it stays bit for bit while the sums do. Products of up to 4096 multiplications PyTorch sums in a loop
# of its own, which is followed here; larger ones go to a library whose order depends on the processor.
OWN_LOOP = 16 * 16 * 16
LANES = 4


def _product(xp: Any, x: Any, y: Any, out: Any) -> None:
    """x @ y, small ones summed in PyTorch's order: each fourth term in a sum of its own, and what is left in the first."""
    count, rows, inner = x.shape
    if rows * inner * y.shape[2] > OWN_LOOP:
        raw.matmul_into(x, y, out)
        return
    whole = inner - inner % LANES
    left = x[:, :, :whole].reshape(count, rows, whole // LANES, LANES).transpose(3, 0, 1, 2)
    right = y[:, :whole].reshape(count, whole // LANES, LANES, y.shape[2]).transpose(2, 0, 1, 3)
    first, second, third, fourth = xp.ascontiguousarray(left) @ xp.ascontiguousarray(right)
    for i in range(whole, inner):
        first += x[:, :, i, None] * y[:, i, None]
    xp.add((first + second) + third, fourth, out)


@kernel("multiply_add")
def multiply_add(xp: Any, x: Any, factor: Any, y: Any, to: Any) -> Any:
    """x * factor + y into `to`, rounded once as processors do it: in float64 the product is exact."""
    exact = xp.multiply(x, factor, dtype=xp.float64)
    return xp.add(exact, y, to, dtype=xp.float64, casting="same_kind")


def _turned(x: Any) -> Any:
    return x.transpose(0, 2, 1)


def _rounded(xp: Any, array: Any, scratch: Any = None) -> Any:
    """Round float32 to what bfloat16 can hold, in place: to the nearest, ties to even. `scratch` is overwritten."""
    bits = array.view(xp.uint32)
    odd = xp.right_shift(bits, 16, None if scratch is None else scratch.view(xp.uint32))
    xp.bitwise_and(odd, 1, odd)
    xp.add(odd, 0x7FFF, odd)
    xp.add(bits, odd, bits)
    xp.bitwise_and(bits, 0xFFFF0000, bits)
    return array


@kernel("muon_between")
def between(xp: Any, start: Any, end: Any, weight: float, to: Any) -> Any:
    """start + weight * (end - start) into `to`, counted from the nearer end."""
    number = computed_in(xp, start)
    nearer, factor = (start, number(weight)) if weight < 0.5 else (end, number(weight) - number(1))
    return raw.multiply_add(xp.subtract(end, start, dtype=number), factor, nearer, to)


@kernel("muon_add_")
def add(xp: Any, p: Any, update: Any, keep: float, rate: float) -> None:
    """p = keep * p - rate * update."""
    number = computed_in(xp, p)
    xp.multiply(p, number(keep), p, dtype=number, casting="same_kind")
    raw.multiply_add(update, -number(rate), p, p)


def computed_in(xp: Any, array: Any) -> Any:
    """The type that PyTorch computes in: half precision is only how numbers are kept."""
    return array.dtype.type if array.itemsize > 2 else xp.float32
