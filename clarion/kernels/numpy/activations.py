"""Activation functions: block by block in the cache, few temporaries, no branch for each element."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..blocks import blockwise
from ..everywhere import constant
from ..portable.activations.piecewise import leaky_relu_backward
from ..quiet import quietly
from ..registry import offer
from .special import erf_into

_SQRT_HALF = math.sqrt(0.5)
_PHI0 = 1 / math.sqrt(2 * math.pi)
_TANH_A = math.sqrt(2 / math.pi)
_TANH_B = 0.044715


_ZEROS = {kind: numpy.zeros((), kind) for kind in "fd"}


@offer("relu", "numpy")
def _relu(x: Any) -> Any:
    # With a number for its second operand, maximum is not vectorised; clip is, but starts slower.
    if x.size < 4096:
        zero = _ZEROS.get(x.dtype.char)  # NumPy is twice as fast with an array as with a number
        return numpy.maximum(x, 0 if zero is None else zero)
    if x.dtype.kind != "f":
        return numpy.maximum(x, 0)
    return numpy.clip(x, 0, numpy.inf)


@offer("leaky_relu_backward", "numpy")
def _leaky_relu_backward(g: Any, x: Any, slope: float) -> Any:
    """A factor of 1 or slope, without a branch for each element."""
    if not 0 <= slope <= 1:
        return leaky_relu_backward(numpy, g, x, slope)
    factor = numpy.asarray(x > 0).astype(g.dtype)
    numpy.clip(factor, slope, 1, out=factor)
    factor *= g
    return factor


@offer("gelu", "numpy")
@quietly
@blockwise
def _gelu(out: Any, x: Any) -> None:
    kind = x.dtype.char
    numpy.multiply(x, constant(numpy, _SQRT_HALF, kind), out)
    erf_into(out, out)
    out += constant(numpy, 1, kind)
    out *= constant(numpy, 0.5, kind)
    out *= x


@offer("gelu_backward", "numpy")
@quietly
@blockwise
def _gelu_backward(out: Any, g: Any, x: Any) -> None:
    kind = x.dtype.char
    numpy.multiply(x, constant(numpy, _SQRT_HALF, kind), out)
    erf_into(out, out)
    out += constant(numpy, 1, kind)
    out *= constant(numpy, 0.5, kind)
    density = numpy.multiply(x, x, numpy.empty_like(out))
    density *= constant(numpy, -0.5, kind)
    numpy.exp(density, density)
    density *= constant(numpy, _PHI0, kind)
    density *= x
    out += density
    out *= g


def _one_plus_exp(out: Any, x: Any) -> None:
    """1 + exp(-2a(x + bx^3)), into `out`."""
    numpy.multiply(x, x, out=out)
    out *= -2 * _TANH_A * _TANH_B
    out -= 2 * _TANH_A
    out *= x
    numpy.exp(out, out=out)
    out += 1


@offer("gelu_tanh", "numpy")
@quietly
@blockwise
def _gelu_tanh(out: Any, x: Any) -> None:
    _one_plus_exp(out, x)
    numpy.divide(x, out, out=out)


@offer("gelu_tanh_backward", "numpy")
@quietly
@blockwise
def _gelu_tanh_backward(out: Any, g: Any, x: Any) -> None:
    s = numpy.empty_like(out)
    _one_plus_exp(s, x)
    numpy.divide(1, s, out=s)  # NumPy's reciprocal is slower
    numpy.multiply(x, x, out=out)
    out *= 6 * _TANH_A * _TANH_B
    out += 2 * _TANH_A
    out *= x
    out *= numpy.subtract(1, s)
    out += 1
    out *= s
    out *= g


@offer("silu", "numpy")
@quietly
def _silu(x: Any) -> Any:
    r = numpy.exp(-x)
    r += constant(numpy, 1, x.dtype.char)
    return numpy.divide(x, r, r if r.ndim else None)
