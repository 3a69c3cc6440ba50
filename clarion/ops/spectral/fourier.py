"""Discrete Fourier transforms: what `torch.fft` shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.dtypes import COMPLEX, FROM_NUMPY, HALF, INEXACT, c64, default_float, f32, promote_pair
from ...core.op import Op
from ...core.tensor import Tensor, created
from ...errors import ArgumentIndexError, DtypeError, EngineError, not_a_tensor
from ..creation.factories import take_options
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL
from ..faces.autocast import autocast
from ..faces.options import put

fft_c2c_op = Op("fft_c2c", "x", "dim scale forward", node="FftC2CBackward0", conj=False)
fft_c2c_op.vjp(x=lambda g, dim, scale, forward, ops: ops.fft_c2c(g, dim, scale, not forward))

fft_r2c_op = Op("fft_r2c", "x", "dim scale onesided", node="FftR2CBackward0", conj=False)
fft_r2c_op.vjp(
    x=lambda g, x_shape, dim, scale, onesided, ops: ops.fft_r2c_backward(g, dim, scale, onesided, x_shape[dim[-1]])
)
fft_r2c_backward_op = Op("fft_r2c_backward", "x", "dim scale onesided size", node="RealBackward0", conj=False)
fft_r2c_backward_op.vjp(x=lambda g, dim, scale, onesided, ops: ops.fft_r2c(g, dim, scale, onesided))

fft_c2r_op = Op("fft_c2r", "x", "dim scale size", node="FftC2RBackward0", conj=False)
fft_c2r_op.vjp(x=lambda g, dim, scale, ops: ops.fft_c2r_backward(g, dim, scale))
fft_c2r_backward_op = Op("fft_c2r_backward", "x", "dim scale", node="FftR2CBackward0", conj=False)
fft_c2r_backward_op.vjp(x=lambda g, x_shape, dim, scale, ops: ops.fft_c2r(g, dim, scale, x_shape[dim[-1]]))

# Arguments -----------------------------------------------------------------------------------------------


_REAL_ONLY = {
    "rfftn": "rfftn expects a real-valued input tensor, but got",
    "ihfftn": "Only supports floating-point dtypes, but found:",
}


def _prepared(name: str, input: Any, want: str) -> Any:
    """The input as a floating tensor; `want` is 'real', 'complex' (real ones are converted) or 'any'."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(f"fft_{name}", "input", input, 1)
    kind = input._array.dtype
    if kind in COMPLEX and want == "real":
        raise DtypeError(
            f"{_REAL_ONLY.get(name, f'{name} expects a real input tensor, but got')} {FROM_NUMPY[kind].old}"
        )
    if kind in HALF:
        raise DtypeError(f"Unsupported dtype {FROM_NUMPY[kind].old}")
    if kind not in INEXACT:
        kind = default_float()
    if want == "complex":
        kind = promote_pair(kind, c64)
    return input if kind == input._array.dtype else input.to(FROM_NUMPY[kind])


def _dimension(dim: int, ndim: int) -> int:
    if not ndim:
        raise ArgumentIndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise ArgumentIndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return dim % ndim


def _plan(input: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The dimensions to transform, and their sizes; -1 stands for the input's own."""
    shape = input._array.shape
    ndim = len(shape)
    s = (s,) if isinstance(s, int) else s
    if dim is not None:
        dims = tuple(_dimension(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim))
        if len(set(dims)) < len(dims):
            raise EngineError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise EngineError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > ndim:
            raise EngineError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dims = tuple(range(ndim - len(s), ndim))
    else:
        dims = tuple(range(ndim))
    return dims, [shape[d] for d in dims] if s is None else [int(n) for n in s]


def _checked(shape: tuple[int, ...], dims: tuple[int, ...], sizes: list[int]) -> list[int]:
    sizes = [shape[d] if n == -1 else n for d, n in zip(dims, sizes, strict=True)]
    for n in sizes:
        _positive(n)
    return sizes


def _positive(n: int) -> int:
    if n < 1:
        raise EngineError(f"Invalid number of data points ({n}) specified")
    return n


def _scale(norm: str | None, forward: bool, count: int) -> float:
    if norm not in (None, "forward", "backward", "ortho"):
        raise EngineError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if (norm == "forward") == forward else 1.0


def _resized(input: Any, dims: tuple[int, ...], sizes: list[int]) -> Any:
    """The input cut off, or continued by zeros, at the end of the dimensions."""
    pad = [0] * (2 * input._array.ndim)
    for d, n in zip(dims, sizes, strict=True):
        have = input._array.shape[d]
        if n < have:
            input = input.narrow(d, 0, n)
        pad[2 * (input._array.ndim - 1 - d) + 1] = max(n - have, 0)
    return NN_FUNCTIONAL["pad"](input, pad) if any(pad) else input


# One dimension ---------------------------------------------------------------------------------------------


def _one(name: str, input: Any, n: int | None, dim: int) -> tuple[Any, int]:
    """The input with `n` elements along one dimension, and which that is."""
    at = _dimension(dim, input._array.ndim)
    n = _positive(input._array.shape[at] if n is None else n)
    return _resized(input, (at,), [n]), at


def _from_real(input: Any, dim: tuple[int, ...], norm: str | None, forward: bool, onesided: bool) -> Any:
    count = math.prod(input._array.shape[d] for d in dim)
    found = fft_r2c_op.call(input, dim, _scale(norm, forward, count), onesided)
    return found if forward else found.conj()


def _complex(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    input, at = _one(name, _prepared(name, input, "any"), n, dim)
    if input._array.dtype not in COMPLEX:
        return _from_real(input, (at,), norm, forward, False)
    return fft_c2c_op.call(input, (at,), _scale(norm, forward, input._array.shape[at]), forward)


@autocast("float32")
def fft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The discrete Fourier transform along one dimension."""
    return _complex("fft", input, n, dim, norm, True)


@autocast("float32")
def ifft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `fft`."""
    return _complex("ifft", input, n, dim, norm, False)


def _half(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    input, at = _one(name, _prepared(name, input, "real"), n, dim)
    return _from_real(input, (at,), norm, forward, True)


@autocast("float32")
def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """`fft` of a real signal: the half of it that is not a mirror image."""
    return _half("rfft", input, n, dim, norm, True)


@autocast("float32")
def ihfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `hfft`."""
    return _half("ihfft", input, n, dim, norm, False)


def _to_real(name: str, input: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    input = _prepared(name, input, "complex")
    at = _dimension(dim, input._array.ndim)
    size = _positive(2 * (input._array.shape[at] - 1) if n is None else n)
    if n is not None:
        input = _resized(input, (at,), [n // 2 + 1])
    return fft_c2r_op.call(input.conj() if forward else input, (at,), _scale(norm, forward, size), size)


@autocast("float32")
def irfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `rfft`; `n` says whether the signal had an odd number of elements."""
    return _to_real("irfft", input, n, dim, norm, False)


@autocast("float32")
def hfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """`fft` of a signal of which half is given, the other half being its mirror image: a real spectrum."""
    return _to_real("hfft", input, n, dim, norm, True)


# Several dimensions ------------------------------------------------------------------------------------------


def _complex_many(name: str, input: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    input = _prepared(name, input, "complex")
    dims, sizes = _plan(input, s, dim)
    sizes = _checked(input._array.shape, dims, sizes)
    return fft_c2c_op.call(_resized(input, dims, sizes), dims, _scale(norm, forward, math.prod(sizes)), forward)


@autocast("float32")
def fftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The discrete Fourier transform along several dimensions, all of them if nothing is said."""
    return _complex_many("fftn", input, s, dim, norm, True)


@autocast("float32")
def ifftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `fftn`."""
    return _complex_many("ifftn", input, s, dim, norm, False)


def _real_plan(name: str, input: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    dims, sizes = _plan(input, s, dim)
    if not dims:
        raise EngineError(f"{name} must transform at least one axis")
    return dims, sizes


@autocast("float32")
def rfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """`fftn` of a real signal: of its last dimension the half that is not a mirror image."""
    input = _prepared("rfftn", input, "real")
    dims, sizes = _real_plan("rfftn", input, s, dim)
    sizes = _checked(input._array.shape, dims, sizes)
    return _from_real(_resized(input, dims, sizes), dims, norm, True, True)


def ihfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `hfftn`."""
    input = _prepared("ihfftn", input, "real")
    dims, sizes = _real_plan("ihfftn", input, s, dim)
    sizes = _checked(input._array.shape, dims, sizes)
    half = _from_real(_resized(input, dims, sizes), dims[-1:], norm, False, True)
    if len(dims) == 1:
        return half
    return fft_c2c_op.call(half, dims[:-1], _scale(norm, False, math.prod(sizes[:-1])), False)


def _half_spectrum(name: str, input: Any, s: Any, dim: Any) -> tuple[Any, tuple[int, ...], list[int]]:
    """The spectrum with the elements that the wanted sizes need, the dimensions, and the sizes."""
    input = _prepared(name, input, "complex")
    dims, sizes = _real_plan(name, input, s, dim)
    have = input._array.shape[dims[-1]]
    last = 2 * (have - 1) if s is None or sizes[-1] == -1 else sizes[-1]
    _positive(last)
    needed = _checked(input._array.shape, dims, [*sizes[:-1], last // 2 + 1])
    return _resized(input, dims, needed), dims, [*needed[:-1], last]


@autocast("float32")
def irfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `rfftn`."""
    input, dims, sizes = _half_spectrum("irfftn", input, s, dim)
    return fft_c2r_op.call(input, dims, _scale(norm, False, math.prod(sizes)), sizes[-1])


def hfftn(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """`fftn` of a signal of which half is given, the other half being its mirror image: a real spectrum."""
    input, dims, sizes = _half_spectrum("hfftn", input, s, dim)
    if len(dims) > 1:
        input = fft_c2c_op.call(input, dims[:-1], _scale(norm, True, math.prod(sizes[:-1])), True)
    return fft_c2r_op.call(input.conj(), dims[-1:], _scale(norm, True, sizes[-1]), sizes[-1])


# Frequencies -------------------------------------------------------------------------------------------------


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """The frequencies of `fft`: 0 and up, then the negative ones."""
    return _frequencies("fft_fftfreq", [*range((n + 1) // 2), *range(-(n // 2), 0)], n, d, options)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """The frequencies of `rfft`."""
    return _frequencies("fft_rfftfreq", range(n // 2 + 1), n, d, options)


def _frequencies(name: str, numbers: Sequence[int], n: int, d: float, options: dict[str, Any]) -> Any:
    kind, requires_grad, out, where = take_options(name, options)
    step = math.inf if n * d == 0 else 1.0 / (n * d)
    wide = f32 if kind in HALF else kind
    xp = where.xp
    array = xp.multiply(xp.asarray(numbers, kind), xp.asarray(step, wide), dtype=wide).astype(kind)
    return created(array, requires_grad) if out is None else put(name, out, array, warn=True)


def _shifted(input: Any, dim: Any, back: int) -> Any:
    dims = range(input._array.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [_dimension(d, input._array.ndim) for d in dims]
    if not dims:
        return input.clone()
    return FUNCTIONS["roll"](input, [(input._array.shape[d] + back) // 2 for d in dims], dims)


def fftshift(input: Any, dim: Any = None) -> Any:
    """The zero frequency moved to the middle."""
    return _shifted(input, dim, 0)


def ifftshift(input: Any, dim: Any = None) -> Any:
    """The inverse of `fftshift`."""
    return _shifted(input, dim, 1)
