"""Operations of ATen that have no public function of their name: their arguments, and what does it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from .api import FUNCTIONS, METHODS, NN_FUNCTIONAL

FORMS: dict[str, Callable[..., Any]] = {}


def _form(function: Callable[..., Any]) -> Callable[..., Any]:
    FORMS[function.__name__.removesuffix("_form")] = function
    return function


@_form
def slice_form(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A range of one dimension; its ends are cut to what is there."""
    return input[(slice(None),) * (dim % max(input.dim(), 1)) + (slice(start, end, step),)]


@_form
def index(input: Tensor, indices: Any) -> Tensor:
    """What lies at places: an index tensor for each dimension, None for all of it."""
    return input[tuple(slice(None) if each is None else each for each in indices)]


@_form
def _softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """Softmax along a dimension."""
    return FUNCTIONS["softmax"](input.float() if half_to_float else input, dim)  # type: ignore[no-any-return]


@_form
def _log_softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """The logarithm of the softmax along a dimension."""
    return FUNCTIONS["log_softmax"](input.float() if half_to_float else input, dim)  # type: ignore[no-any-return]


@_form
def convolution(
    input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    """A convolution of as many dimensions as the strides say, or a transposed one."""
    kind = f"conv{'_transpose' if transposed else ''}{len(stride)}d"
    if transposed:
        more = (stride, padding, output_padding, groups, dilation)
    else:
        more = (stride, padding, dilation, groups)
    return NN_FUNCTIONAL[kind](input, weight, bias, *more)  # type: ignore[no-any-return]


@_form
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Dropout, and where it left something."""
    if train is False:
        return input.clone(), FUNCTIONS["ones_like"](input, dtype=FUNCTIONS["isnan"](input).dtype)
    kept = FUNCTIONS["empty_like"](input).bernoulli_(1 - p)
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return input * kept * scale, kept.bool()


def _padding(mode: str) -> Callable[[Tensor, Any], Tensor]:
    def pad(input: Tensor, padding: Any) -> Tensor:
        """Padding as the name says."""
        return NN_FUNCTIONAL["pad"](input, list(padding), mode=mode)  # type: ignore[no-any-return]

    return pad


for _n in (1, 2, 3):
    FORMS[f"reflection_pad{_n}d"], FORMS[f"replication_pad{_n}d"] = _padding("reflect"), _padding("replicate")


def _resizing(mode: str, aligns: bool) -> Callable[..., Tensor]:
    def resize(input: Tensor, output_size: Any, *more: Any, scale_factors: Any = None) -> Tensor:
        """Interpolation to a size, as the name says; `more` begins with `align_corners` where there is such a thing."""
        corners = bool(more[0]) if aligns and more else (False if aligns else None)
        size, factors = (output_size, None) if output_size is not None else (None, scale_factors or more[-1])
        return NN_FUNCTIONAL["interpolate"](input, size, factors, mode=mode, align_corners=corners)  # type: ignore[no-any-return]

    return resize


for _name, _mode, _aligns in (
    ("nearest1d", "nearest", False), ("nearest2d", "nearest", False), ("nearest3d", "nearest", False), ("linear1d", "linear", True),
    ("bilinear2d", "bilinear", True), ("bicubic2d", "bicubic", True), ("trilinear3d", "trilinear", True),
):  # fmt: skip
    FORMS[f"upsample_{_name}"] = _resizing(_mode, _aligns)


@_form
def im2col(input: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """The patches of an image as columns."""
    return NN_FUNCTIONAL["unfold"](input, kernel_size, dilation, padding, stride)  # type: ignore[no-any-return]


@_form
def col2im(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """An image of patches that overlap."""
    return NN_FUNCTIONAL["fold"](input, output_size, kernel_size, dilation, padding, stride)  # type: ignore[no-any-return]


@_form
def sym_stride(input: Tensor, dim: int | None = None) -> Any:
    """The strides, or one of them."""
    return input.stride() if dim is None else input.stride(dim)


@_form
def copy(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """What `input.copy_(src)` would make of it."""
    return src.to(input.dtype).expand_as(input).clone()


@_form
def threshold_backward(grad_output: Tensor, input: Tensor, threshold: Any) -> Tensor:
    """The gradient where the input was above the threshold."""
    return FUNCTIONS["where"](input > threshold, grad_output, 0)  # type: ignore[no-any-return]


@_form
def sigmoid_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """The gradient of the sigmoid, by its result."""
    return grad_output * (1 - output) * output


@_form
def tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """The gradient of tanh, by its result."""
    return grad_output * (1 - output * output)


@_form
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of softmax, by its result."""
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


@_form
def _log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of log_softmax, by its result."""
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


@_form
def lift_fresh(input: Tensor) -> Tensor:
    """The tensor as it is."""
    return input


def _named(table: dict[str, Any], name: str) -> Callable[..., Any]:
    """What stands in a table under another name."""
    return lambda *args, **kwargs: table[name](*args, **kwargs)


for _aten, _table, _name in (
    ("lift_fresh_copy", METHODS, "clone"), ("_conj", METHODS, "conj"), ("__and__", FUNCTIONS, "bitwise_and"),
    ("__or__", FUNCTIONS, "bitwise_or"), ("__xor__", FUNCTIONS, "bitwise_xor"), ("log_sigmoid", NN_FUNCTIONAL, "logsigmoid"),
    ("_adaptive_avg_pool2d", NN_FUNCTIONAL, "adaptive_avg_pool2d"), ("_adaptive_avg_pool3d", NN_FUNCTIONAL, "adaptive_avg_pool3d"),
):  # fmt: skip
    FORMS[_aten] = _named(_table, _name)
