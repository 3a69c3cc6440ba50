"""Activation functions made of straight pieces; `dropped` stops a gradient where a piece is flat."""

from __future__ import annotations

from typing import Any

from ...blocks import dropped
from ...layout import in_rows
from ...quiet import quietly
from ...registry import kernel


@kernel("relu")
def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, 0)


@kernel("relu_backward")
def relu_backward(xp: Any, g: Any, out: Any) -> Any:
    return dropped(xp, g, out <= 0)


@kernel("leaky_relu")
@quietly
def leaky_relu(xp: Any, x: Any, slope: float) -> Any:
    if 0 < slope <= 1:
        return xp.maximum(x, x * slope)
    return xp.where(x > 0, x, x * slope)


@kernel("leaky_relu_backward")
@quietly
def leaky_relu_backward(xp: Any, g: Any, x: Any, slope: float) -> Any:
    return xp.where(x > 0, g, g * slope)


kernel("leaky_relu_written")(leaky_relu)
kernel("rrelu_mean")(leaky_relu)


@kernel("prelu")
@quietly
def prelu(xp: Any, x: Any, weight: Any) -> Any:
    return xp.where(x > 0, x, weight * x)


@kernel("prelu_backward")
@quietly
def prelu_backward(xp: Any, g: Any, x: Any, weight: Any) -> tuple[Any, Any]:
    return xp.where(x > 0, g, weight * g), dropped(xp, x * g, x > 0)


@kernel("threshold")
def threshold(xp: Any, x: Any, limit: float, value: float) -> Any:
    return xp.where(x <= limit, x.dtype.type(value), x)


kernel("threshold_written")(threshold)


@kernel("threshold_backward")
def threshold_backward(xp: Any, g: Any, x: Any, limit: float) -> Any:
    return dropped(xp, g, x <= limit)


@kernel("hardtanh")
def hardtanh(xp: Any, x: Any, low: float, high: float) -> Any:
    if x.dtype.kind in "iu":
        low, high = int(low), int(high)
    return xp.clip(x, low, high)


@kernel("hardtanh_backward")
def hardtanh_backward(xp: Any, g: Any, x: Any, low: float, high: float) -> Any:
    return dropped(xp, g, ~((x > low) & (x < high)))


@kernel("hardsigmoid")
def hardsigmoid(xp: Any, x: Any) -> Any:
    return xp.clip(x + 3, 0, 6) / 6


@kernel("hardswish")
@quietly
def hardswish(xp: Any, x: Any) -> Any:
    return x * xp.clip(x + 3, 0, 6) / 6


@kernel("hardswish_backward")
@quietly
def hardswish_backward(xp: Any, g: Any, x: Any) -> Any:
    return dropped(xp, xp.where(x >= 3, g, g * (x / 3 + 0.5)), x <= -3)


@kernel("softshrink")
@quietly
def softshrink(xp: Any, x: Any, lambd: float) -> Any:
    return x - xp.clip(x, -lambd, lambd)


@kernel("hardshrink")
def hardshrink(xp: Any, x: Any, lambd: float) -> Any:
    return dropped(xp, x, (x >= -lambd) & (x <= lambd))


@kernel("shrink_backward")
def shrink_backward(xp: Any, g: Any, x: Any, lambd: float) -> Any:
    return dropped(xp, g, (x >= -lambd) & (x <= lambd))


@kernel("rrelu")
@in_rows
@quietly
def rrelu(xp: Any, x: Any, noise: Any) -> Any:
    """`noise`: the slope of every element, 1 where x is positive."""
    return x * noise
