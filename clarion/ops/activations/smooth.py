"""Activation functions with smooth bends: sigmoid, GELU, SiLU, Mish, softplus, exponential and gated linear units.

A derivative with a kernel of its own is an operation `…_backward(gy, x)`, linear in `gy`.
"""

from __future__ import annotations

from typing import Any

from ...core.description import normalize_dim
from ...core.inplace import inplace as write
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import EngineError, not_a_tensor
from ..elementwise.cast import check_numbers
from ..faces.api import NN_FUNCTIONAL, functional, public, with_out
from ..faces.single import faces
from ..faces.typed import TypedOp

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

sigmoid_op = Op("sigmoid", "x", elementwise=True, promote="float", traits="activation")
sigmoid_op.vjp(x=lambda g, out, ops: ops.sigmoid_backward(g, out))

sigmoid_backward_op = Op("sigmoid_backward", "gy y", elementwise=True, promote="common")
sigmoid_backward_op.vjp(gy=lambda g, y, ops: ops.sigmoid_backward(g, y), y=lambda g, gy, y: g * gy * (1 - 2 * y))
sigmoid = NN_FUNCTIONAL["sigmoid"] = faces(sigmoid_op, "1 / (1 + exp(-input)).")

# GELU -----------------------------------------------------------------------------------------------

gelu_op = TypedOp("gelu", "x", elementwise=True, traits="activation").refusing("biuc", title="GeluKernelImpl")
gelu_op.vjp(x=lambda g, x, ops: ops.gelu_backward(g, x))

gelu_backward_op = Op("gelu_backward", "gy x", node="GeluBackwardBackward0", elementwise=True)
gelu_backward_op.vjp(
    gy=lambda g, x, ops: ops.gelu_backward(g, x),
    x=lambda g, gy, x, ops: g * gy * (2 - x * x) * ops.exp(x * x * -0.5) * 0.3989422804014327,
)

gelu_tanh_op = TypedOp("gelu_tanh", "x", node="GeluBackward0", elementwise=True, traits="activation")
gelu_tanh_op.refusing("biuc", title="GeluKernelImpl").vjp(x=lambda g, x, ops: ops.gelu_tanh_backward(g, x))

gelu_tanh_backward_op = Op("gelu_tanh_backward", "gy x", node="GeluBackwardBackward0", elementwise=True)
gelu_tanh_backward_op.vjp(
    gy=lambda g, x, ops: ops.gelu_tanh_backward(g, x),
    x=lambda g, gy, x, ops: g * gy * gelu_tanh_bend(x, ops),
)

_A2 = 2 * 0.7978845608028654  # 2 sqrt(2 / pi)
_B = 0.044715


def gelu_tanh_bend(x: Any, ops: Any) -> Any:
    """The second derivative of x s(u(x)), where s is the sigmoid and u = a(x + bx^3)."""
    square = x * x
    s = ops.sigmoid(x * (square * (_A2 * _B) + _A2))
    du = square * (3 * _A2 * _B) + _A2
    ddu = x * (6 * _A2 * _B)
    return s * (1 - s) * (du * 2 + x * ddu + x * du * du * (1 - s * 2))


def gelu_face(input: Any, *, approximate: str = "none") -> Any:
    """input times the chance that a normal variable is below it (approximate='tanh': nearly that)."""
    if approximate == "none":
        return gelu_op.call(input)
    if approximate == "tanh":
        return gelu_tanh_op.call(input)
    raise EngineError("approximate argument must be either none or tanh.")


gelu = NN_FUNCTIONAL["gelu"] = with_out("gelu", gelu_face)

# SiLU, Mish -----------------------------------------------------------------------------------------

silu_op = TypedOp("silu", "x", elementwise=True, traits="activation").refusing("biu")
silu_op.vjp(x=lambda g, x, ops: ops.silu_backward(g, x))

silu_backward_op = Op("silu_backward", "gy x", elementwise=True)
silu_backward_op.vjp(
    gy=lambda g, x, ops: ops.silu_backward(g, x),
    x=lambda g, gy, x, ops: g * gy * silu_bend(x, ops.sigmoid(x)),
)


def silu_bend(x: Any, s: Any) -> Any:
    """The second derivative of x s, where s is the sigmoid of x."""
    return s * (1 - s) * (x * (1 - s * 2) + 2)


@functional()
def silu(input: Any, inplace: bool = False) -> Any:
    """input * sigmoid(input)."""
    return write(silu_op, input) if inplace else silu_op.call(input)


mish_op = TypedOp("mish", "x", elementwise=True, traits="activation").refusing("biuc")
mish_op.vjp(x=lambda g, x, ops: g * mish_slope(x, ops))


def mish_slope(x: Any, ops: Any) -> Any:
    """t + x s (1 - t^2), where t = tanh(softplus(x)) and s is the sigmoid."""
    t = ops.tanh(ops.softplus(x, 1, 20))
    return t + x * ops.sigmoid(x) * (1 - t * t)


@functional()
def mish(input: Any, inplace: bool = False) -> Any:
    """input * tanh(softplus(input))."""
    return write(mish_op, input) if inplace else mish_op.call(input)


# Softplus and log-sigmoid ---------------------------------------------------------------------------

softplus_op = TypedOp("softplus", "x", "beta threshold", elementwise=True, traits="activation size").refusing("biuc")
softplus_op.vjp(x=lambda g, x, beta, threshold, ops: ops.softplus_backward(g, x, beta, threshold))

softplus_backward_op = Op("softplus_backward", "gy x", "beta threshold", elementwise=True)
softplus_backward_op.vjp(
    gy=lambda g, x, beta, threshold, ops: ops.softplus_backward(g, x, beta, threshold),
    x=lambda g, gy, x, beta, threshold, ops: g * gy * ops.softplus_bend(x, beta, threshold),
)
softplus_bend_op = Op("softplus_bend", "x", "beta threshold", elementwise=True)
softplus_bend_op.vjp(
    x=lambda g, x, beta, threshold, out, ops: g * out * beta * (1 - ops.sigmoid(x * beta) * 2),
)


def softplus_face(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * input)) / beta; the input itself where beta * input is above the threshold."""
    if not -6e4 < beta < 6e4 or not -6e4 < threshold < 6e4:
        check_numbers(input, beta, threshold, without="biuc")
    return softplus_op.call(input, beta, threshold)


softplus = NN_FUNCTIONAL["softplus"] = with_out("softplus", softplus_face)

logsigmoid_op = TypedOp("logsigmoid", "x", node="LogSigmoidBackward0", elementwise=True, traits="activation")
logsigmoid_op.refusing("biuc", title="log_sigmoid_cpu").vjp(x=lambda g, x, ops: g * ops.sigmoid(-x))


def logsigmoid_face(input: Any) -> Any:
    """log(sigmoid(input))."""
    return logsigmoid_op.call(input)


logsigmoid = NN_FUNCTIONAL["logsigmoid"] = with_out("log_sigmoid", logsigmoid_face)

# Exponential units ----------------------------------------------------------------------------------
# Written in place, the gradient is taken from the result (PyTorch's …Backward1): no copy of the input is kept.


def elu_rule(g: Any, x: Any, alpha: float, scale: float, input_scale: float, ops: Any) -> Any:
    """From the input."""
    return ops.elu_backward(g, x, alpha, scale, input_scale)


def elu_written_rule(g: Any, out: Any, alpha: float, scale: float, input_scale: float, ops: Any) -> Any:
    """From the result, whose sign tells the sign of the input unless alpha is negative."""
    if alpha < 0:
        raise EngineError(
            "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused "
            "by calling in-place forward function with a negative slope, please call out-of-place version instead."
        )
    return ops.elu_backward_result(g, out, alpha, scale, input_scale)


def _elu_op(name: str, node: str, rule: Any) -> TypedOp:
    op = TypedOp(name, "x", "alpha scale input_scale", node=node, elementwise=True, traits="activation").refusing(
        "biuc", title="elu_cpu"
    )
    op.vjp(x=rule)
    return op


elu_op = _elu_op("elu", "EluBackward0", elu_rule)
elu_written_op = _elu_op("elu_written", "EluBackward1", elu_written_rule)
celu_op = _elu_op("celu", "CeluBackward0", elu_rule)
celu_written_op = _elu_op("celu_written", "CeluBackward1", elu_written_rule)

elu_backward_op = Op("elu_backward", "gy x", "alpha scale input_scale", node="EluBackwardBackward0", elementwise=True)
elu_backward_op.vjp(
    gy=elu_rule,
    x=lambda g, gy, x, alpha, scale, input_scale, ops: (
        g * gy * (x < 0) * ops.exp(x * (x < 0) * input_scale) * (alpha * scale * input_scale * input_scale)
    ),
)
elu_backward_result_op = Op(
    "elu_backward_result", "gy y", "alpha scale input_scale", node="EluBackwardBackward0", elementwise=True
)
elu_backward_result_op.vjp(
    gy=lambda g, y, alpha, scale, input_scale, ops: ops.elu_backward_result(g, y, alpha, scale, input_scale),
    y=lambda g, gy, y, input_scale: g * gy * (y < 0) * input_scale,
)


@functional()
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where positive, else alpha * (exp(input) - 1)."""
    if not -6e4 < alpha < 6e4:
        check_numbers(input, alpha, without="biuc")
    return elu_(input, alpha) if inplace else elu_op.call(input, alpha, 1, 1)


@functional("elu_")
def elu_(input: Any, alpha: float = 1.0) -> Any:
    """elu, in place."""
    check_numbers(input, alpha, without="biuc")
    return write(elu_written_op, input, alpha, 1, 1)


def _selu(input: Any, inplace: bool = False) -> Any:
    """elu with the constants that keep mean and variance from layer to layer."""
    return selu_(input) if inplace else elu_op.call(input, SELU_ALPHA, SELU_SCALE, 1)


selu = functional("selu")(_selu)
public("selu", method=False)(lambda input: elu_op.call(input, SELU_ALPHA, SELU_SCALE, 1))


@functional("selu_")
@public("selu_", method=False)
def selu_(input: Any) -> Any:
    """selu, in place."""
    return write(elu_written_op, input, SELU_ALPHA, SELU_SCALE, 1)


def _inverse(input: Any, alpha: float) -> float:
    if not -6e4 < alpha < 6e4:
        check_numbers(input, alpha, without="biuc")
    if alpha == 0:
        raise EngineError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return 1 / alpha


@functional()
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """elu(input / alpha) * alpha where negative: its slope has no step at 0."""
    return celu_(input, alpha) if inplace else celu_op.call(input, alpha, 1, _inverse(input, alpha))


@functional("celu_")
@public("celu_", method=False)
def celu_(input: Any, alpha: float = 1.0) -> Any:
    """celu, in place."""
    return write(celu_written_op, input, alpha, 1, _inverse(input, alpha))


public("celu", method=False)(lambda input, alpha=1.0: celu_op.call(input, alpha, 1, _inverse(input, alpha)))

# Gated linear unit ----------------------------------------------------------------------------------

glu_op = TypedOp("glu", "x", "dim", traits="activation").refusing("biuc")
glu_op.vjp(x=lambda g, x, dim, ops: ops.glu_backward(g, x, dim))

glu_backward_op = Op("glu_backward", "gy x", "dim")
glu_backward_op.vjp(lambda g, gy, x, dim, ops: glu_backward_rule(g, gy, x, dim, ops))


def glu_backward_rule(g: Any, gy: Any, x: Any, dim: int, ops: Any) -> Any:
    """The gradient is (gy s, gy a s (1 - s)) for the halves a, b of x and s = sigmoid(b)."""
    half = x.shape[dim] // 2
    before = (slice(None),) * dim
    first, second = (*before, slice(half)), (*before, slice(half, None))
    a, s = x[first], ops.sigmoid(x[second])
    ds = s * (1 - s)
    ga, gb = g[first], g[second]
    return ga * s + gb * a * ds, ops.cat([gb * gy * ds, gy * ds * (ga + gb * a * (1 - s * 2))], dim, None)


@functional()
def glu(input: Any, dim: int = -1) -> Any:
    """The first half of the input along `dim`, times the sigmoid of the second."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("glu", "input", input, 1)
    if input.ndim == 0:
        raise EngineError("glu does not support scalars because halving size must be even")
    d = normalize_dim(dim, input.ndim)
    if input._array.shape[d] % 2:
        raise EngineError(f"Halving dimension must be even, but dimension {d} is size {input._array.shape[d]}")
    return glu_op.call(input, d)
