"""Pooling over windows: the largest, the mean, the p-norm; and back from the places of the largest."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...core.dtypes import FROM_NUMPY, f32, i64
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, NotSupportedError, ShapeError, not_a_tensor
from ...kernels.batched.levels import all_samples
from ...kernels.registry import RawNamespace
from ..faces.api import functional, public, with_out
from ..faces.autocast import autocast
from ..faces.determinism import alert

Sizes = tuple[int, ...]

# Elements by their places in the last `n` dimensions: linear, and each other's derivative.
add_at_places_op = Op("add_at_places", "x places", "shape n", node="MaxPool2DWithIndicesBackwardBackward0")
add_at_places_op.vjp(x=lambda g, places, n, ops: ops.take_at_places(g, places, n))
take_at_places_op = Op("take_at_places", "x places", "n", node="MaxUnpool2DBackward0")
take_at_places_op.vjp(x=lambda g, places, x_shape, n, ops: ops.add_at_places(g, places, x_shape, n))


def at_places(g: Any, places: Any, shape: Sizes, n: int, windows: Any, ops: Any) -> Any:
    """The gradient of the largest of windows (of one size; None: that cover the input): each element of g at its place."""
    if isinstance(ops, RawNamespace):
        return ops.max_pool_backward(g, places, shape, n, windows)
    return ops.add_at_places(g, places, shape, n)


def _max_pool_op(n: int) -> Op:
    op = Op(
        f"max_pool{n}d", "x", "kernel_size stride padding dilation out_size", outputs="out indices",
        node=f"MaxPool{n}DWithIndicesBackward0", saved_as={"result1": "indices"}, traits="pools fused",
    )  # fmt: skip
    return op.vjp(
        x=lambda g, indices, x_shape, kernel_size, stride, padding, dilation, ops: at_places(
            g, indices, x_shape, len(kernel_size), (kernel_size, stride, padding, dilation), ops
        )
    )


def _avg_pool_op(n: int) -> Op:
    op = Op(
        f"avg_pool{n}d", "x", "kernel_size stride padding out_size count_include_pad divisor_override",
        node=f"AvgPool{n}DBackward0", traits="pools fused",
    )  # fmt: skip
    return op.vjp(
        x=lambda g, x_shape, kernel_size, stride, padding, count_include_pad, divisor_override, ops: (
            ops.avg_pool_backward(
                g, x_shape[-len(kernel_size) :], kernel_size, stride, padding, count_include_pad, divisor_override
            )
        )
    )


avg_pool_backward_op = Op(
    "avg_pool_backward", "x", "in_size kernel_size stride padding count_include_pad divisor_override",
    node="AvgPool2DBackwardBackward0",
)  # fmt: skip
avg_pool_backward_op.vjp(
    x=lambda g, x_shape, kernel_size, stride, padding, count_include_pad, divisor_override, ops: ops.avg_pool2d(
        g, kernel_size, stride, padding, x_shape[-len(kernel_size) :], count_include_pad, divisor_override
    )
)


def _max_unpool_op(n: int) -> Op:
    op = Op(f"max_unpool{n}d", "x indices", "output_size", node=f"MaxUnpool{n}DBackward0")
    return op.vjp(x=lambda g, indices, output_size, ops: ops.take_at_places(g, indices, len(output_size)))


MAX_POOL = {n: _max_pool_op(n) for n in (2, 3)}
AVG_POOL = {n: _avg_pool_op(n) for n in (2, 3)}
MAX_UNPOOL = {n: _max_unpool_op(n) for n in (2, 3)}

# Arguments -----------------------------------------------------------------------------------------------------------

_WORDS = {1: "a tuple of one int", 2: "a tuple of two ints", 3: "a tuple of three ints"}


def each(name: str, what: str, value: Any, n: int, omitted: str = "") -> Sizes:
    """One number per dimension."""
    if type(value) is int:
        return (value,) * n
    if not isinstance(value, (tuple, list)):
        raise ArgumentTypeError(f"{name}(): argument '{what}' must be tuple of ints, not {type(value).__name__}")
    sizes = tuple(int(v) for v in value)
    if len(sizes) == 1:
        return sizes * n
    if len(sizes) != n:
        raise EngineError(f"{name}: {what} must either be {omitted}a single int, or {_WORDS[n]}")
    return sizes


def _stride(name: str, stride: Any, ksize: Sizes, n: int) -> Sizes:
    if stride is None or (isinstance(stride, (tuple, list)) and not stride):
        return ksize
    return each(name, "stride", stride, n, "omitted, ")


def _positive(what: str, sizes: Sizes) -> None:
    if what == "stride" and 0 in sizes:
        raise EngineError("stride should not be zero")
    if min(sizes) <= 0:
        names = ("T", "H", "W")[-len(sizes) :] if len(sizes) > 1 else ("",)
        letter = {"kernel size": "k", "stride": "d", "dilation": "dilation"}[what]
        told = " ".join(f"{letter}{name}: {v}" for name, v in zip(names, sizes, strict=True))
        raise EngineError(f"{what} should be greater than zero, but got {told}")


def _refuse_numbers(name: str, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> None:
    if name == "max_pool1d":
        for what, (value,) in (("kernel_size", ksize), ("stride", stride), ("dilation", dilation)):
            if value <= 0:
                raise EngineError(f"max_pool1d() {what} must be greater than zero, but got {value}")
    _positive("kernel size", ksize)
    _positive("stride", stride)
    _positive("dilation", dilation)
    for k, p, d in zip(ksize, padding, dilation, strict=True):
        if p < 0:
            raise EngineError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise EngineError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )


def refuse_types(title: str, input: Any, kinds: str, but: Any = None) -> None:
    """Refuse types whose kind is one of these letters, but for one type."""
    dtype = input._array.dtype
    if dtype.kind in kinds and dtype != but:
        raise NotSupportedError(f"\"{title}\" not implemented for '{FROM_NUMPY[dtype].old}'")


def _refuse_input(name: str, input: Any, n: int) -> None:
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", input, 1)
    if name.startswith("max"):
        refuse_types(f"max_pool{max(n, 2)}d", input, "b")
    else:
        refuse_types("avg_pool3d_out_frame" if n == 3 else "avg_pool2d", input, "biu", i64)
    shape = input._array.shape
    kinds = f"{n + 1}D or {n + 2}D (batch mode)"
    if len(shape) not in (n + 1, n + 2) and name != "max_pool1d":
        if name == "avg_pool1d":
            raise ShapeError(
                f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while checking "
                "arguments for avg_pool1d)"
            )
        raise ShapeError(f"non-empty {kinds} tensor expected for input\nIts shape is {list(shape)}.")
    if len(shape) not in (n + 1, n + 2) or 0 in shape[-n - 1 :]:
        if n < 3:
            name = "max_pool1d: " if name == "max_pool1d" else ""
            raise ShapeError(
                f"{name}Expected {kinds} tensor with optional 0 dim batch size for input, but got:{list(shape)}"
            )
        empty = shape[-n - 1 :].index(0)
        raise ShapeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension {empty} has length zero!"
        )


def _out_size(
    name: str, shape: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Sizes:
    sizes = []
    in_size = shape[-len(ksize) :]
    for n, k, s, p, d in zip(in_size, ksize, stride, padding, dilation, strict=True):
        size = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (size - 1) * s >= n + p:
            size -= 1  # no window starts in the padding behind the input
        sizes.append(size)
    if min(sizes) < 1:
        if name == "max_pool1d":
            raise ShapeError(f"max_pool1d() Invalid computed output size: {sizes[0]}")
        channels = shape[-len(ksize) - 1]
        had, made = ("x".join(map(str, (channels, *s))) for s in (in_size, sizes))
        raise ShapeError(f"Given input size: ({had}). Calculated output size: ({made}). Output size is too small")
    return tuple(sizes)


@functools.lru_cache(512, typed=True)
def _known(
    name: str, n: int, shape: Sizes, kernel_size: Any, stride: Any, padding: Any, dilation: Any, up: bool
) -> Any:
    """Kernel, stride, padding, dilation and the size of the result, all refusals passed: the same for every input of a shape."""
    ksize = each(name, "kernel_size", kernel_size, n)
    stride = _stride(name, stride, ksize, n)
    padding, dilation = each(name, "padding", padding, n), each(name, "dilation", dilation, n)
    _refuse_numbers(name, ksize, stride, padding, dilation)
    return ksize, stride, padding, dilation, _out_size(name, shape, ksize, stride, padding, dilation, up)


def _windows(
    name: str, n: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, up: bool
) -> Any:
    """The same of an input, in PyTorch's order of refusals."""
    shape = input._array.shape if isinstance(input, Tensor) else ()
    if len(shape) in (n + 1, n + 2) and 0 not in shape:
        try:
            found = _known(name, n, shape, kernel_size, stride, padding, dilation, up)
        except (TypeError, RuntimeError):  # lists are not known again; and what is refused is so below
            pass
        else:
            if input._array.dtype is not f32:  # (of which nothing is refused: the shape is one of those that pass)
                _refuse_input(name, input, n)
            return found
    ksize = each(name, "kernel_size", kernel_size, n)
    stride = _stride(name, stride, ksize, n)
    padding, dilation = each(name, "padding", padding, n), each(name, "dilation", dilation, n)
    _refuse_numbers(name, ksize, stride, padding, dilation)
    _refuse_input(name, input, n)
    return ksize, stride, padding, dilation, _out_size(name, shape, ksize, stride, padding, dilation, up)


# Functions -----------------------------------------------------------------------------------------------------------


def _max_pool(
    n: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, name: str = ""
) -> Any:
    """(values, places); `name`: who refuses what is refused."""
    name = name or f"max_pool{n}d"
    ksize, stride, padding, dilation, size = _windows(
        name, n, input, kernel_size, stride, padding, dilation, bool(ceil_mode)
    )
    if n == 1:
        made = MAX_POOL[2].call(
            input.unsqueeze(-2), (1, *ksize), (1, *stride), (0, *padding), (1, *dilation), (1, *size)
        )
        return made[0].squeeze(-2), made[1].squeeze(-2)
    return MAX_POOL[n].call(input, ksize, stride, padding, dilation, size)


def _avg_pool(
    n: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Any:  # fmt: skip
    name = f"avg_pool{n}d"
    if divisor_override == 0:
        raise EngineError("divisor must be not zero")
    ksize, stride, padding, _, size = _windows(name, n, input, kernel_size, stride, padding, 1, bool(ceil_mode))
    if n == 1:
        return (
            AVG_POOL[2]
            .call(input.unsqueeze(-2), (1, *ksize), (1, *stride), (0, *padding), (1, *size), count_include_pad, None)
            .squeeze(-2)
        )
    return AVG_POOL[n].call(input, ksize, stride, padding, size, count_include_pad, divisor_override)


def _lp_pool(n: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    if norm_type == math.inf:
        return _max_pool(n, input.abs(), kernel_size, stride, 0, 1, ceil_mode)[0]
    if norm_type == -math.inf:
        return -_max_pool(n, -input.abs(), kernel_size, stride, 0, 1, ceil_mode)[0]
    out = _avg_pool(n, input.pow(norm_type), kernel_size, stride, 0, ceil_mode, True, None)
    count = math.prod(each("lp_pool", "kernel_size", kernel_size, n))
    return (out.sign() * out.abs().relu()).mul(count).pow(1.0 / norm_type)


def _max_unpool(n: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> Any:
    name = f"max_unpool{n}d"
    ksize = each(name, "kernel_size", kernel_size, n)
    size = _unpooled_size(
        input._array.shape[-n:], ksize, _stride(name, stride, ksize, n), each(name, "padding", padding, n), output_size
    )
    _refuse_unpool(name, input, indices, n, size)
    alert(f"max_unpooling{max(n, 2)}d_forward_out")
    if n == 1:
        return MAX_UNPOOL[2].call(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)
    return MAX_UNPOOL[n].call(input, indices, size)


def _unpooled_size(shape: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, wanted: Any) -> Sizes:
    default = tuple((m - 1) * s + k - 2 * p for m, s, k, p in zip(shape, stride, ksize, padding, strict=True))
    if wanted is None:
        return default
    n = len(ksize)
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ArgumentValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(wanted)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < wanted[d] < high:
            raise ArgumentValueError(f'invalid output_size "{wanted}" (dim {d} must be between {low} and {high})')
    return tuple(int(w) for w in wanted)


def _refuse_unpool(name: str, input: Any, indices: Any, n: int, size: Sizes) -> None:
    if indices._array.dtype.name != "int64":
        raise EngineError(f"elements in indices should be type int64 but got: {indices.dtype.old}")
    if input._array.ndim not in (n + 1, n + 2):
        raise ShapeError(
            f"Input to {name} should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with {input._array.ndim} dimensions"
        )
    if input._array.shape != indices._array.shape:
        raise ShapeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input._array.shape)}) but got "
            f"indices tensor with shape: {list(indices._array.shape)}"
        )
    places = all_samples(indices._array)
    if places.size and (places.min() < 0 or places.max() >= math.prod(size)):
        wrong = int(places.max()) if places.max() >= math.prod(size) else int(places.min())
        raise EngineError(
            f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, size))})"
        )


def _named(name: str, fn: Any, text: str) -> Any:
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = text
    return fn


def _declare(n: int) -> None:
    """The functions for `n` dimensions."""

    def max_pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:  # fmt: skip
        if n == 1 and not return_indices and isinstance(input, Tensor):
            refuse_types("max_pool1d_impl", input, "biu")
        if return_indices:
            return max_pool_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        made = _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)
        return made[0] if n > 1 or made[0].requires_grad else made[0].contiguous()  # (PyTorch has a loop of its own)

    def max_pool_with_indices(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = True,
    ) -> Any:  # fmt: skip
        return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d" if n == 1 else "")

    def avg_pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        return _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def avg_pool1d(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Any:  # fmt: skip
        return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)

    def lp_pool(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        return _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode)

    def max_unpool(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        return _max_unpool(n, input, indices, kernel_size, stride, padding, output_size)

    over = f"over windows of the last {n} dimensions." if n > 1 else "over windows of the last dimension."
    for name, fn, text in (
        (f"max_pool{n}d", max_pool, f"The largest element {over}"),
        (f"max_pool{n}d_with_indices", max_pool_with_indices, f"The largest element {over} And its place."),
        (f"avg_pool{n}d", avg_pool if n > 1 else avg_pool1d, f"The mean {over}"),
        (f"lp_pool{n}d", lp_pool, f"The p-norm {over}"),
        (f"max_unpool{n}d", max_unpool, f"Zeros, with each element put at the place that max_pool{n}d found."),
    ):
        fn = _named(name, fn, text)
        if name in ("avg_pool3d", "max_pool3d", "max_unpool2d", "max_unpool3d"):
            autocast("float32")(fn)
        functional(name)(with_out(name, fn) if name in ("avg_pool2d", "avg_pool3d") else fn)
        if name in ("max_pool1d_with_indices", "avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d"):
            public(name, method=False)(fn)


for _n in (1, 2, 3):
    _declare(_n)
