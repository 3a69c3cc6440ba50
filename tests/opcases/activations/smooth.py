"""Rows of the activation functions and of softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from ..elementwise.unary import EDGES, ROUND, SHAPES, derivative, named, written
from ..row import Row

PAIR = ((3, 4), (3, 4))
BIG = ((200, 100), (200, 100))  # more than one block of the blockwise kernels


def functional(name: str, *args: Any) -> Callable[..., Any]:
    """`t.nn.functional.name(x, *args)`."""
    return lambda t, x, **kw: getattr(t.nn.functional, name)(x, *args, **kw)


def inplace(name: str, *args: Any) -> Callable[..., Any]:
    """`t.nn.functional.name(x, *args, inplace=True)`."""
    return lambda t, x: getattr(t.nn.functional, name)(x, *args, inplace=True)


def row(name: str, ref: Any, *args: Any, op: str = "", label: str = "", writes: bool = True, **more: Any) -> Row:
    """A function of `nn.functional` with arguments."""
    options = {"dtypes": ROUND, "edge_shapes": EDGES, "label": label} | more
    if writes:
        options["inplace"] = inplace(name, *args)
    return Row(op or name, functional(name, *args), SHAPES, ref, **options)


def backward(op: str, name: str, *args: Any, ref: Any = None, shapes: Any = PAIR, label: str = "", **more: Any) -> Row:
    """The gradient of a function, by its own operation."""
    return Row(op, derivative(functional(name, *args)), shapes, ref, label=label, **more)


def writing(name: str, *args: Any) -> Callable[..., Any]:
    """The in-place form on a copy, so that it can be differentiated."""
    return lambda t, x: getattr(t.nn.functional, name)(x.clone(), *args)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def normal_cdf(x: Any) -> Any:
    return 0.5 * (1 + sp.erf(x / np.sqrt(2)))


def gelu_slope(x: Any, g: Any) -> Any:
    return g * (normal_cdf(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def silu_slope(x: Any, g: Any) -> Any:
    s = sigmoid(x)
    return g * s * (1 + x * (1 - s))


def softplus_slope(t: Any, x: Any) -> Any:
    return derivative(functional("softplus"))(t, x, t.ones_like(x))


def elu(x: Any, alpha: float = 1.0, scale: float = 1.0, inner: float = 1.0) -> Any:
    return scale * np.where(x > 0, x, alpha * np.expm1(x * inner))


def glu(x: Any) -> Any:
    half = x.shape[-1] // 2
    return x[..., :half] * sigmoid(x[..., half:])


def prelu(x: Any, w: Any) -> Any:
    along = [1] * x.ndim
    if x.ndim > 1:
        along[1] = -1
    return np.where(x > 0, x, w.reshape(along) * x)


def tanh_face(t: Any, x: Any) -> Any:
    return t.nn.functional.gelu(x, approximate="tanh")


SELU = (1.6732632423543772, 1.0507009873554805)

ROWS = [
    Row("sigmoid", named("sigmoid"), SHAPES, sigmoid, inplace=written("sigmoid"), out=True,
        dtypes=(*ROUND, "int64", "bool", "complex128"), edge_shapes=(*EDGES, ((200, 100),))),
    Row("sigmoid_backward", derivative(named("sigmoid")), PAIR, lambda x, g: g * sigmoid(x) * (1 - sigmoid(x))),
    Row("tanh_backward", derivative(named("tanh")), PAIR, lambda x, g: g / np.cosh(x) ** 2),
    row("gelu", lambda x: x * normal_cdf(x), writes=False),
    backward("gelu_backward", "gelu", ref=gelu_slope),
    backward("gelu_backward", "gelu", ref=gelu_slope, shapes=BIG, label="large", second=False, grad=()),
    Row("gelu_tanh", tanh_face, SHAPES, gelu_tanh, dtypes=ROUND, edge_shapes=(*EDGES, ((200, 100),))),
    Row("gelu_tanh_backward", derivative(tanh_face), PAIR),
    Row("gelu_tanh_backward", derivative(tanh_face), BIG, label="large", second=False, grad=()),
    row("silu", lambda x: x * sigmoid(x)),
    backward("silu_backward", "silu", ref=silu_slope),
    backward("silu_backward", "silu", ref=silu_slope, shapes=BIG, label="large", second=False, grad=()),
    row("mish", lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    row("softplus", lambda x: np.log1p(np.exp(x)), writes=False),
    row("softplus", lambda x: np.where(3 * x > 2, x, np.log1p(np.exp(3 * x)) / 3), 3, 2, label="beta", writes=False),
    backward("softplus_backward", "softplus", ref=lambda x, g: g * sigmoid(x)),
    Row("softplus_bend", derivative(softplus_slope), PAIR,
        lambda x, g: g * sigmoid(x) * (1 - sigmoid(x)), second=False),
    row("logsigmoid", lambda x: np.log(sigmoid(x)), writes=False),
    row("elu", elu),
    row("elu", lambda x: elu(x, 0.5), 0.5, label="alpha"),
    row("selu", lambda x: elu(x, *SELU), op="elu", label="selu"),
    row("celu", lambda x: elu(x, 2.0, 1.0, 0.5), 2.0),
    Row("elu_written", writing("elu_", 0.5), SHAPES, lambda x: elu(x, 0.5)),
    Row("celu_written", writing("celu_", 0.5), SHAPES, lambda x: elu(x, 0.5, 1.0, 2.0)),
    backward("elu_backward", "elu", ref=lambda x, g: g * np.where(x > 0, 1, np.exp(x))),
    Row("elu_backward_result", derivative(writing("elu_")), PAIR, lambda x, g: g * np.where(x > 0, 1, np.exp(x))),
    row("glu", glu, writes=False, edge_shapes=(((0, 4),), ((2, 4, 6),))),
    Row("glu_backward", derivative(functional("glu")), ((3, 4), (3, 2))),
    # Straight pieces
    row("relu", lambda x: np.maximum(x, 0), dtypes=(*ROUND, "int64", "uint8")),
    backward("relu_backward", "relu", ref=lambda x, g: g * (x > 0)),
    row("leaky_relu", lambda x: np.where(x > 0, x, 0.2 * x), 0.2),
    Row("leaky_relu_written", writing("leaky_relu_", 0.2), SHAPES, lambda x: np.where(x > 0, x, 0.2 * x)),
    backward("leaky_relu_backward", "leaky_relu", 0.2, ref=lambda x, g: np.where(x > 0, g, 0.2 * g)),
    Row("prelu", lambda t, x, w: t.prelu(x, w), ((2, 3, 4), (3,)),
        prelu, edge_shapes=(((5,), (1,)), ((), (1,)), ((0, 3), (3,)))),
    Row("prelu_backward", derivative(lambda t, x: t.prelu(x, t.full((1,), 0.3, dtype=x.dtype))),
        PAIR, lambda x, g: np.where(x > 0, g, 0.3 * g)),
    Row("rrelu_mean", functional("rrelu", 0.1, 0.5), SHAPES, lambda x: np.where(x > 0, x, 0.3 * x),
        inplace=inplace("rrelu", 0.1, 0.5)),
    Row("rrelu", functional("rrelu", 0.25, 0.25, True), SHAPES, lambda x: np.where(x > 0, x, 0.25 * x)),
    row("threshold", lambda x: np.where(x > 0.1, x, 20), 0.1, 20, dtypes=(*ROUND, "int64")),
    Row("threshold_written", writing("threshold_", 0.1, 20), SHAPES, lambda x: np.where(x > 0.1, x, 20)),
    backward("threshold_backward", "threshold", 0.1, 20, ref=lambda x, g: g * (x > 0.1)),
    row("hardtanh", lambda x: np.clip(x, -0.5, 1), -0.5, 1),
    row("relu6", lambda x: np.clip(x, 0, 6), op="hardtanh", label="relu6", dtypes=(*ROUND, "int64", "uint8")),
    backward("hardtanh_backward", "hardtanh", ref=lambda x, g: g * (np.abs(x) < 1)),
    row("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, domain=(-4.0, 4.0)),
    row("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, domain=(-4.0, 4.0)),
    backward("hardswish_backward", "hardswish"),
    row("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), writes=False),
    row("hardshrink", lambda x: np.where(np.abs(x) > 0.5, x, 0), writes=False),
    backward("shrink_backward", "softshrink", ref=lambda x, g: g * (np.abs(x) > 0.5)),
    row("softsign", lambda x: x / (1 + np.abs(x)), writes=False),
    row("tanhshrink", lambda x: x - np.tanh(x), writes=False),
]  # fmt: skip


def large(rng: Any) -> tuple[Any, ...]:
    """Values whose exponentials overflow, and rows without a largest value."""
    x = rng.standard_normal((4, 5)) * 500
    x[0], x[1, 2] = -2000, -np.inf
    return (x,)


SOFT_EDGES = (((0, 3),), ((3, 0),), ((5, 1),))

ROWS += [
    Row("softmax", lambda t, x, **kw: t.softmax(x, -1, **kw), ((3, 4),), lambda x: sp.softmax(x, -1) if x.size else x, out=True,
        dtypes=ROUND, edge_shapes=SOFT_EDGES),
    Row("softmax", lambda t, x: t.softmax(x, 1), ((2, 3, 4),), lambda x: sp.softmax(x, 1), label="inner"),
    Row("softmax", lambda t, x: t.softmax(x, 0), ((),), np.ones_like, label="scalar"),
    Row("softmax", lambda t, x: x.softmax(-1), inputs=large, ref=lambda x: sp.softmax(x, -1), grad=(), label="large"),
    Row("softmax_backward", derivative(lambda t, x: t.softmax(x, 1)), PAIR),
    Row("softmax_backward", derivative(lambda t, x: t.softmax(x, 0)), PAIR, label="first"),
    Row("log_softmax", lambda t, x, **kw: t.log_softmax(x, -1, **kw), ((3, 4),), lambda x: sp.log_softmax(x, -1) if x.size else x,
        out=True, dtypes=ROUND, edge_shapes=SOFT_EDGES),
    Row("log_softmax", lambda t, x: t.log_softmax(x, 1), ((2, 3, 4),), lambda x: sp.log_softmax(x, 1), label="inner"),
    Row("log_softmax", lambda t, x: x.log_softmax(-1), inputs=large, ref=lambda x: sp.log_softmax(x, -1), grad=(),
        label="large"),
    Row("log_softmax_backward", derivative(lambda t, x: t.log_softmax(x, 1)), PAIR),
    Row("log_softmax_backward", derivative(lambda t, x: t.log_softmax(x, 0)), PAIR, label="first"),
    Row("softmin", functional("softmin", 1), ((3, 4),), lambda x: sp.softmax(-x, 1)),
    Row("logsumexp", lambda t, x, **kw: t.logsumexp(x, 1, **kw), ((3, 4),), lambda x: sp.logsumexp(x, 1), out=True,
        dtypes=(*ROUND, "int64")),
    Row("logsumexp", lambda t, x: x.logsumexp((0, 2), keepdim=True), ((2, 3, 4),),
        lambda x: sp.logsumexp(x, (0, 2), keepdims=True), label="dims"),
    Row("logsumexp", lambda t, x: x.logsumexp(-1), inputs=large, ref=lambda x: sp.logsumexp(x, -1), grad=(),
        label="large"),
]  # fmt: skip
