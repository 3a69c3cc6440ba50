"""Special functions: error function, gamma function, Bessel functions, logit."""

from __future__ import annotations

import math
from typing import Any

from ...core.description import whole
from ...errors import ArgumentTypeError, DtypeError, EngineError
from ..faces.api import call, public
from ..faces.single import faces
from ..faces.typed import TypedOp

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

erf_op = TypedOp("erf", "x", elementwise=True, promote="float").refusing("c", title="erf_vml_cpu")
erf_op.vjp(x=lambda g, x, ops: g * (ops.exp(-(x * x)) * TWO_OVER_ROOT_PI))
erf = faces(erf_op, "The error function.")

erfc_op = TypedOp("erfc", "x", elementwise=True, promote="float").refusing("c", title="erfc_vml_cpu")
erfc_op.vjp(x=lambda g, x, ops: g * (ops.exp(-(x * x)) * -TWO_OVER_ROOT_PI))
erfc = faces(erfc_op, "1 - erf(input), exact where that is small.")

erfinv_op = TypedOp("erfinv", "x", elementwise=True, promote="float").refusing("c", title="erfinv_vml_cpu")
erfinv_op.vjp(x=lambda g, x, ops: g * (ops.exp(ops.erfinv(x) ** 2) * (math.sqrt(math.pi) / 2)))
erfinv = faces(erfinv_op, "The inverse of the error function.")

lgamma_op = TypedOp("lgamma", "x", elementwise=True, promote="float").refusing("c", title="lgamma_vml_cpu")
lgamma_op.vjp(x=lambda g, x, ops: g * ops.digamma(x))
lgamma = faces(lgamma_op, "The logarithm of the absolute value of the gamma function.")

digamma_op = TypedOp("digamma", "x", elementwise=True, promote="float").refusing("c", title="digamma")
digamma_op.vjp(x=lambda g, x, ops: g * ops.polygamma(x, 1))
digamma = faces(digamma_op, "The derivative of `lgamma`.")

polygamma_op = TypedOp("polygamma", "x", "n", elementwise=True, promote="float").refusing("c", title="polygamma")
polygamma_op.vjp(x=lambda g, x, n, ops: g * ops.polygamma(x, n + 1))


@public(method=False, out=True)
def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of `digamma`."""
    return polygamma_op.call(input, checked_order(n))


@public("polygamma", function=False, inplace=True)
def polygamma_method(self: Any, n: int, *, run: Any = call) -> Any:
    """The n-th derivative of `digamma`."""
    return run(polygamma_op, self, checked_order(n))


def checked_order(n: int) -> int:
    """The order of a derivative."""
    order = whole(n)
    if order is None:
        raise ArgumentTypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if order < 0:
        raise EngineError("polygamma(n, x) does not support negative n.")
    return order


mvlgamma_op = TypedOp("mvlgamma", "x", "p", elementwise=True, promote="float").refusing("c", title="lgamma_vml_cpu")
mvlgamma_op.vjp(x=lambda g, x, p, ops: g * sum(ops.digamma(x - i / 2) for i in range(p)))


@public(inplace=True, out=True)
def mvlgamma(input: Any, p: int, *, run: Any = call) -> Any:
    """The logarithm of the gamma function of p dimensions: what normalises densities of matrices."""
    if type(p) is not int:
        raise ArgumentTypeError(f"mvlgamma(): argument 'p' (position 2) must be int, not {type(p).__name__}")
    if input._array.dtype.kind == "b":
        raise DtypeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise EngineError("p has to be greater than or equal to 1")
    return run(mvlgamma_op, input, p)


i0_op = TypedOp("i0", "x", elementwise=True, promote="float").refusing("c", title="i0_vml_cpu")
i0_op.vjp(x=lambda g, x, ops: g * ops.i1(x))
i0 = faces(i0_op, "The modified Bessel function of the first kind, of order 0.")


def i1_rule(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """i0(x) - i1(x) / x, which is 1/2 at 0 (and its own slope there 0)."""
    return g * ops.where(x == 0, 0.5, ops.i0(x) - out / (x + (x == 0)))


i1_op = TypedOp("i1", "x", node="SpecialI1Backward0", elementwise=True, promote="float").refusing("c", title="i1_cpu")
i1_op.vjp(x=i1_rule)


@public("special_i1", method=False, out=True)
def special_i1(input: Any) -> Any:
    """The modified Bessel function of the first kind, of order 1."""
    return i1_op.call(input)


logit_op = TypedOp("logit", "x", "eps", elementwise=True, promote="float").refusing("c")
logit_op.vjp(x=lambda g, x, eps, ops: ops.logit_backward(g, x, eps))

# g / (x (1 - x)) inside [eps, 1 - eps]; its own slope is that twice, times 2x - 1.
logit_backward_op = TypedOp("logit_backward", "gy x", "eps", node="LogitBackwardBackward0", elementwise=True)
logit_backward_op.vjp(
    gy=lambda g, x, eps, ops: ops.logit_backward(g, x, eps),
    x=lambda g, gy, x, eps, ops: ops.logit_backward(g * ops.logit_backward(gy, x, eps) * (x * 2 - 1), x, eps),
)


@public(inplace=True, out=True)
def logit(input: Any, eps: float | None = None, *, run: Any = call) -> Any:
    """log(x / (1 - x)), with x first moved into [eps, 1 - eps]."""
    return run(logit_op, input, None if eps is None else float(eps))
