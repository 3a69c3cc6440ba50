"""Discrete Fourier transforms along dimensions: complex to complex, real to complex, complex to real.

Each is linear, and each has its transposed form here, so that they differentiate one another. `scale` multiplies the
sum without any normalization.
"""

from __future__ import annotations

from typing import Any

from ...registry import kernel, raw

Dims = tuple[int, ...]


def scaled(x: Any, scale: float) -> Any:
    """What was made here, multiplied in place."""
    if scale != 1:
        x *= x.real.dtype.type(scale)
    return x


@kernel("fft_c2c")
def fft_c2c(xp: Any, x: Any, dim: Dims, scale: float, forward: bool) -> Any:
    if not dim or not x.size:
        return x.copy()
    return scaled(xp.fft.fftn(x, axes=dim) if forward else xp.fft.ifftn(x, axes=dim, norm="forward"), scale)


@kernel("fft_r2c")
def fft_r2c(xp: Any, x: Any, dim: Dims, scale: float, onesided: bool) -> Any:
    """All of the spectrum, or of its last dimension only the half that is not a mirror image."""
    if not x.size:
        shape = list(x.shape)
        shape[dim[-1]] = shape[dim[-1]] // 2 + 1 if onesided else shape[dim[-1]]
        return xp.zeros(shape, xp.result_type(x.dtype, xp.complex64))
    return scaled(xp.fft.rfftn(x, axes=dim) if onesided else xp.fft.fftn(x, axes=dim), scale)


@kernel("fft_c2r")
def fft_c2r(xp: Any, x: Any, dim: Dims, scale: float, size: int) -> Any:
    """The real signal, `size` elements along the last dimension, of half a spectrum; the other half is its mirror image."""
    sizes = [x.shape[d] for d in dim[:-1]] + [size]
    if not x.size:
        shape = list(x.shape)
        shape[dim[-1]] = size
        return xp.zeros(shape, x.real.dtype)
    return scaled(xp.fft.irfftn(x, s=sizes, axes=dim, norm="forward"), scale)


@kernel("fft_r2c_backward")
def fft_r2c_backward(xp: Any, g: Any, dim: Dims, scale: float, onesided: bool, size: int) -> Any:
    """From the gradient of a spectrum to that of the real signal, which had `size` elements along the last dimension."""
    if not onesided:
        return xp.ascontiguousarray(raw.fft_c2c(g, dim, scale, False).real)
    counted, front, last = g.copy(), (slice(None),) * dim[-1], dim[-1]  # c2r counts twice what has a mirror image
    twice = size - g.shape[last]
    for alone in (slice(0, 1), slice(1 + twice, None)):
        counted[(*front, alone)] *= 2
    return raw.fft_c2r(counted, dim, scale / 2, size)


@kernel("fft_c2r_backward")
def fft_c2r_backward(xp: Any, g: Any, dim: Dims, scale: float) -> Any:
    """From the gradient of a real signal to that of half its spectrum: what has a mirror image counts twice."""
    found = raw.fft_r2c(g, dim, 2 * scale, True)
    front, last = (slice(None),) * dim[-1], dim[-1]
    twice = g.shape[last] - found.shape[last]
    for alone in (slice(0, 1), slice(1 + twice, None)):
        found[(*front, alone)] *= 0.5
    return found
