"""Pooling to a given size: as many windows as asked for, which cover the input."""

from __future__ import annotations

import math
from typing import Any

from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentValueError, EngineError, ShapeError, not_a_tensor
from ...kernels.layout import as_image, channels_last
from ..faces.api import FUNCTIONS, functional, public
from ..faces.autocast import autocast
from .pooling import at_places, refuse_types

Sizes = tuple[int, ...]


def _refuse_nothing(name: str, x_shape: Sizes, sizes: Sizes) -> None:
    """There is no gradient of a pooling to no windows at all."""
    if 0 in sizes:
        shape = [*x_shape[: -len(sizes)], *sizes]
        raise ShapeError(
            f"{name}_backward(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has "
            f"sizes {shape} with dimension {len(shape) - len(sizes) + sizes.index(0)} being empty"
        )


def _max_op(n: int) -> Op:
    op = Op(
        f"adaptive_max_pool{n}d", "x", "output_size", outputs="out indices", node=f"AdaptiveMaxPool{n}DBackward0",
        saved_as={"result1": "indices"}, traits="pools fused",
    )  # fmt: skip

    def back(g: Any, indices: Any, x_shape: Sizes, output_size: Sizes, ops: Any) -> Any:
        _refuse_nothing(op.name, x_shape, output_size)
        return at_places(g, indices, x_shape, n, None, ops)

    return op.vjp(x=back)


def _avg_op(n: int) -> Op:
    op = Op(
        f"adaptive_avg_pool{n}d",
        "x",
        "output_size mode scales align",
        node=f"AdaptiveAvgPool{n}DBackward0",
        traits="pools fused",
    )

    def back(g: Any, x_shape: Sizes, output_size: Sizes, mode: str, scales: Any, align: bool, ops: Any) -> Any:
        _refuse_nothing(op.name, x_shape, output_size)
        return ops.resample_backward(g, x_shape[-n:], mode, scales, align)

    return op.vjp(x=back)


_MAX = {n: _max_op(n) for n in (2, 3)}
_AVG = {n: _avg_op(n) for n in (2, 3)}


def _sizes(kind: str, input: Any, output_size: Any, n: int) -> Sizes:
    """The wanted size of each dimension; None leaves one as it is."""
    name = f"adaptive_{kind}_pool{n}d"
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", input, 1)
    shape = input._array.shape
    if isinstance(output_size, (tuple, list)):
        if n > 1 and len(shape) <= len(output_size):
            raise ArgumentValueError(f"Input dimension should be at least {len(output_size) + 1}")
        if len(output_size) != n:
            if n == 1:
                raise EngineError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
            refused = "internal error: output_size.size() must be" if kind == "max" else f"{name}: output_size must be"
            raise EngineError(f"{refused} {n}")
        wanted = list(output_size)
    else:
        wanted = [output_size] * n
    sizes = tuple(shape[len(shape) - n + i] if s is None else int(s) for i, s in enumerate(wanted))
    if len(shape) not in (n + 1, n + 2):
        raise ShapeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(shape)}")
    if min(sizes) < 0:
        if kind == "max":
            raise EngineError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
        raise EngineError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {'{'}"
            f"{', '.join(map(str, sizes))}{'}'}"
        )
    first = n + 1 if kind == "max" else n
    if 0 in shape[-first:]:
        raise ShapeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} with "
            f"dimension {len(shape) - first + shape[-first:].index(0)} being empty"
        )
    return sizes


def _adaptive_max(n: int, input: Any, output_size: Any) -> Any:
    sizes = _sizes("max", input, output_size, n)
    refuse_types("adaptive_max_pool3d_cpu" if n == 3 else "adaptive_max_pool2d", input, "biu")
    if n == 1:
        out, places = _MAX[2].call(input.unsqueeze(-2), (1, *sizes))
        return out.squeeze(-2), places.squeeze(-2)
    return _MAX[n].call(input, sizes)


def _adaptive_avg(n: int, input: Any, output_size: Any) -> Any:
    sizes = _sizes("avg", input, output_size, n)
    if n == 1:
        refuse_types("adaptive_avg_pool2d", input, "biu")
        return _average(2, input.unsqueeze(-2), (1, *sizes)).squeeze(-2)
    if math.prod(sizes) == 1:
        mean = input.mean(tuple(range(-n, 0)), keepdim=True)
        if channels_last(input._array):
            mean._array = as_image(mean._array, input._array)
        return mean
    return _average(n, input, sizes)


def _average(n: int, input: Any, sizes: Sizes) -> Any:
    refuse_types("adaptive_avg_pool3d_cpu" if n == 3 else "adaptive_avg_pool2d", input, "biu")
    return _AVG[n].call(input, sizes, "area", (None,) * n, False)


def _named(name: str, fn: Any, text: str) -> Any:
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = text
    return fn


def _declare(n: int) -> None:
    """The functions for `n` dimensions."""

    def adaptive_avg_pool(input: Any, output_size: Any) -> Any:
        return _adaptive_avg(n, input, output_size)

    def adaptive_max_pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        made = _adaptive_max(n, input, output_size)
        return made if return_indices else made[0]

    def adaptive_max_pool_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return _adaptive_max(n, input, output_size)

    windows = (
        f"of windows that divide the last {n} dimensions" if n > 1 else "of windows that divide the last dimension"
    )
    functional(f"adaptive_avg_pool{n}d")(
        _named(f"adaptive_avg_pool{n}d", adaptive_avg_pool, f"The mean {windows} into `output_size`.")
    )
    functional(f"adaptive_max_pool{n}d")(
        _named(f"adaptive_max_pool{n}d", adaptive_max_pool, f"The largest element {windows} into `output_size`.")
    )
    both = _named(
        f"adaptive_max_pool{n}d_with_indices",
        adaptive_max_pool_with_indices,
        f"The largest element {windows}, and its place.",
    )
    functional(f"adaptive_max_pool{n}d_with_indices")(both)
    if n == 3:
        autocast("float32")(adaptive_avg_pool)
        autocast("float32")(adaptive_max_pool)
    if n == 1:
        public("adaptive_avg_pool1d", method=False)(adaptive_avg_pool)
        FUNCTIONS["adaptive_max_pool1d"] = both


for _n in (1, 2, 3):
    _declare(_n)
