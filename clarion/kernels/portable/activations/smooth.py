"""Activation functions with smooth bends: GELU, SiLU, Mish, softplus, GLU and the exponential units."""

from __future__ import annotations

import math
from typing import Any

from ...blocks import dropped
from ...layout import in_rows
from ...quiet import quietly
from ...registry import kernel
from ..elementwise.special import erf

_SQRT_HALF = math.sqrt(0.5)
_PHI0 = 1 / math.sqrt(2 * math.pi)
_TANH_A = math.sqrt(2 / math.pi)
_TANH_B = 0.044715


# GELU -----------------------------------------------------------------------------------------------


def _normal(xp: Any, x: Any) -> Any:
    """The normal distribution function."""
    if hasattr(xp, "ndtr"):  # a function of its own
        return xp.ndtr(x)
    return 0.5 * (1 + erf(xp, x * _SQRT_HALF))


@kernel("gelu")
def gelu(xp: Any, x: Any) -> Any:
    return x * _normal(xp, x)


@kernel("gelu_backward")
def gelu_backward(xp: Any, g: Any, x: Any) -> Any:
    return g * (_normal(xp, x) + x * (_PHI0 * xp.exp(-0.5 * x * x)))


# tanh-GELU is x * sigmoid(2a(x + bx^3)): one exponential, which is cheaper than a tanh.


@kernel("gelu_tanh")
def gelu_tanh(xp: Any, x: Any) -> Any:
    return x / (1 + xp.exp(-2 * _TANH_A * x * (1 + _TANH_B * x * x)))


@kernel("gelu_tanh_backward")
def gelu_tanh_backward(xp: Any, g: Any, x: Any) -> Any:
    s = 1 / (1 + xp.exp(-2 * _TANH_A * x * (1 + _TANH_B * x * x)))
    return g * (s + x * (s * (1 - s)) * (2 * _TANH_A + 6 * _TANH_A * _TANH_B * x * x))


# SiLU, Mish -----------------------------------------------------------------------------------------


@kernel("silu")
@quietly
def silu(xp: Any, x: Any) -> Any:
    return x / (1 + xp.exp(-x))


@kernel("silu_backward")
@quietly
def silu_backward(xp: Any, g: Any, x: Any) -> Any:
    s = 1 / (1 + xp.exp(-x))
    return g * (s * (1 + x * (1 - s)))


@kernel("mish")
@quietly
def mish(xp: Any, x: Any) -> Any:
    return x * xp.tanh(xp.log1p(xp.exp(xp.minimum(x, 20))) + xp.maximum(x - 20, 0))


# Softplus, log-sigmoid --------------------------------------------------------------------------------


@kernel("softplus")
@quietly
def softplus(xp: Any, x: Any, beta: float, threshold: float) -> Any:
    z = x * beta
    return xp.where(z > threshold, x, xp.log1p(xp.exp(z)) / beta)


@kernel("softplus_backward")
@quietly
def softplus_backward(xp: Any, g: Any, x: Any, beta: float, threshold: float) -> Any:
    z = x * beta
    return xp.where(z > threshold, g, g / (1 + xp.exp(-z)))


@kernel("softplus_bend")
@quietly
def softplus_bend(xp: Any, x: Any, beta: float, threshold: float) -> Any:
    """The second derivative."""
    z = x * beta
    s = 1 / (1 + xp.exp(-z))
    return dropped(xp, beta * s * (1 - s), z > threshold)


@kernel("logsigmoid")
@in_rows
@quietly
def logsigmoid(xp: Any, x: Any) -> Any:
    return xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x)))


# Exponential units ----------------------------------------------------------------------------------


@kernel("elu")
@quietly
def elu(xp: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return xp.where(x > 0, x * scale, xp.expm1(x * input_scale) * (alpha * scale))


@kernel("elu_backward")
@quietly
def elu_backward(xp: Any, g: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return xp.where(x <= 0, g * (xp.exp(x * input_scale) * (input_scale * alpha * scale)), g * scale)


@kernel("elu_backward_result")
def elu_backward_result(xp: Any, g: Any, out: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return xp.where(out <= 0, g * ((out + alpha * scale) * input_scale), g * scale)


for _name in ("elu_written", "celu", "celu_written"):  # the same function under PyTorch's other node names
    kernel(_name)(elu)


# Gated linear unit ----------------------------------------------------------------------------------


def _halves(x: Any, dim: int) -> tuple[Any, Any]:
    half = x.shape[dim] // 2
    before = (slice(None),) * dim
    return x[(*before, slice(half))], x[(*before, slice(half, None))]


@kernel("glu")
@quietly
def glu(xp: Any, x: Any, dim: int) -> Any:
    a, b = _halves(x, dim)
    return a / (1 + xp.exp(-b))


@kernel("glu_backward")
@quietly
def glu_backward(xp: Any, g: Any, x: Any, dim: int) -> Any:
    a, b = _halves(x, dim)
    out = xp.empty(x.shape, x.dtype)
    da, db = _halves(out, dim)
    s = 1 / (1 + xp.exp(-b))
    xp.multiply(g, s, out=da)
    xp.multiply(da, (1 - s) * a, out=db)
    return out
