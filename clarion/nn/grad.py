"""`torch.nn.grad`: the gradients of convolutions, computed by themselves."""

from __future__ import annotations

from typing import Any

from ..ops.layers.convolution import correlate_input_op, correlate_weight_op


def _each(value: Any, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def _of_input(n: int) -> Any:
    def gradient(
        input_size: Any,
        weight: Any,
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        geometry = (_each(stride, n), _each(padding, n), _each(dilation, n), groups)
        return correlate_input_op.call(grad_output, weight, *geometry, tuple(input_size)[2:])

    gradient.__name__ = gradient.__qualname__ = f"conv{n}d_input"
    gradient.__doc__ = f"The gradient of `conv{n}d` with respect to its input, which has the size `input_size`."
    return gradient


def _of_weight(n: int) -> Any:
    def gradient(
        input: Any,
        weight_size: Any,
        grad_output: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        geometry = (_each(stride, n), _each(padding, n), _each(dilation, n), groups)
        return correlate_weight_op.call(grad_output, input, *geometry, tuple(weight_size)[2:])

    gradient.__name__ = gradient.__qualname__ = f"conv{n}d_weight"
    gradient.__doc__ = f"The gradient of `conv{n}d` with respect to its weight, which has the size `weight_size`."
    return gradient


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
