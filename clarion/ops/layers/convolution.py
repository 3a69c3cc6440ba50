"""Convolutions of one, two and three dimensions, and their transposed forms."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ...core.dtypes import FROM_NUMPY, bfloat16
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, DtypeError, EngineError, ShapeError
from ...kernels.portable.layers.convolution import transposed_size
from ...kernels.random import torch_names
from ..faces.api import FUNCTIONS, functional, public
from ..faces.autocast import autocast
from .padding import constant_pad_nd_op

Sizes = tuple[int, ...]
_GEOMETRY = "stride padding dilation groups"

# The three derivatives of one trilinear form: each one's derivatives are the other two (see the kernels).

correlate_op = Op("correlate", "x weight", _GEOMETRY, node="ConvolutionBackward0", traits="product convolution")
correlate_op.vjp(
    x=lambda g, weight, x_shape, stride, padding, dilation, groups, ops: ops.correlate_input(
        g, weight, stride, padding, dilation, groups, x_shape[2:]
    ),
    weight=lambda g, x, weight_shape, stride, padding, dilation, groups, ops: ops.correlate_weight(
        g, x, stride, padding, dilation, groups, weight_shape[2:]
    ),
)

correlate_input_op = Op(
    "correlate_input", "x weight", f"{_GEOMETRY} in_size", node="ConvolutionBackward0", traits="product convolution"
)
correlate_input_op.vjp(
    x=lambda g, weight, x_shape, stride, padding, dilation, groups, ops: _as_long(
        ops.correlate(g, weight, stride, padding, dilation, groups), x_shape, ops
    ),
    weight=lambda g, x, weight_shape, stride, padding, dilation, groups, ops: ops.correlate_weight(
        x, g, stride, padding, dilation, groups, weight_shape[2:]
    ),
)

correlate_weight_op = Op("correlate_weight", "y x", f"{_GEOMETRY} ksize", node="ConvolutionBackward0", traits="product")
correlate_weight_op.vjp(
    y=lambda g, x, y_shape, stride, padding, dilation, groups, ops: _as_long(
        ops.correlate(x, g, stride, padding, dilation, groups), y_shape, ops
    ),
    x=lambda g, y, x_shape, stride, padding, dilation, groups, ops: ops.correlate_input(
        y, g, stride, padding, dilation, groups, x_shape[2:]
    ),
)


def _as_long(y: Any, shape: Sizes, ops: Any) -> Any:
    """`y`, cut to a shape: a stride may leave room for one more window than the convolution had."""
    if tuple(y.shape) == tuple(shape):
        return y
    return ops.constant_pad_nd(y, tuple((0, n - m) for m, n in zip(y.shape, shape, strict=True)), 0)


def _input_rule(
    g: Any, weight: Any, x_shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool, groups: int,
    ops: Any,
) -> Any:  # fmt: skip
    if transposed:
        return _as_long(ops.correlate(g, weight, stride, padding, dilation, groups), x_shape, ops)
    return ops.correlate_input(g, weight, stride, padding, dilation, groups, x_shape[2:])


def _weight_rule(
    g: Any, x: Any, weight_shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool, groups: int,
    ops: Any,
) -> Any:  # fmt: skip
    if transposed:
        return ops.correlate_weight(x, g, stride, padding, dilation, groups, weight_shape[2:])
    return ops.correlate_weight(g, x, stride, padding, dilation, groups, weight_shape[2:])


convolution_op = Op(
    "convolution", "x weight bias?", "stride padding dilation transposed output_padding groups",
    node="ConvolutionBackward0", saved_as={"input": "x"}, traits="product layer convolution fused",
)  # fmt: skip
convolution_op.vjp(
    x=_input_rule,
    weight=_weight_rule,
    bias=lambda g, ops: ops.sum(g, (0, *range(2, g.ndim)), False),
)


# Arguments ----------------------------------------------------------------------------------------------------------


def _each(name: str, value: Any, n: int) -> Sizes:
    """One number per dimension."""
    if isinstance(value, Tensor) and not value._array.ndim:
        value = value.item()  # type: ignore[attr-defined]
    given = value if isinstance(value, (tuple, list)) else (value,)
    try:
        sizes = tuple([operator.index(each) for each in given])
    except TypeError:
        sizes = ()
    if len(sizes) != len(given) or any(isinstance(each, bool) for each in given):
        raise ArgumentTypeError(
            f"conv{n}d() received an invalid combination of arguments: argument '{name}' must be an int or a tuple of ints, "
            f"but got {value!r}"
        )
    if len(sizes) == 1:
        return sizes * n
    if len(sizes) != n:
        raise EngineError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, "
            f"but got {name}={list(sizes)}"
        )
    return sizes


def _times(sizes: Any) -> str:
    return "(" + " x ".join(map(str, sizes)) + ")"


def _refuse_numbers(stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes, groups: int) -> None:
    if min(padding) < 0:
        raise EngineError("negative padding is not supported")
    if min(output_padding) < 0:
        raise EngineError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise EngineError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise EngineError(
            f"dilation should be greater than zero, but got {list(dilation)}: non-positive dilation is not supported"
        )
    if groups <= 0:
        raise EngineError("non-positive groups is not supported")


def _refuse_shapes(x: Sizes, weight: Sizes, bias: Sizes | None, transposed: bool, groups: int) -> None:
    """Weight, channels and bias that do not fit, in PyTorch's order."""
    if len(x) != len(weight):
        raise ShapeError(
            f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight {list(weight)}, but got "
            f"{len(x)}-dimensional input of size {list(x)} instead"
        )
    if weight[0] < groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight)} instead"
        )
    if weight[0] % groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{list(weight)}] instead"
        )
    given = "Given transposed=1" if transposed else f"Given groups={groups}"
    channels = weight[0] if transposed else weight[1] * groups
    if x[1] != channels:
        raise ShapeError(
            f"{given}, weight of size {list(weight)}, expected input{list(x)} to have {channels} channels, but got "
            f"{x[1]} channels instead"
        )
    outputs = weight[1] * groups if transposed else weight[0]
    if bias is not None and bias != (outputs,):
        given = f"{given}, weight" if transposed else "Given weight"
        raise ShapeError(
            f"{given} of size {list(weight)}, expected bias to be 1-dimensional with {outputs} elements, but got bias of "
            f"size {list(bias)} instead"
        )


_DIMS = {1: ("width",), 2: ("height", "width"), 3: ("time", "height", "width")}


def _refuse_sizes(
    images: int,
    x: Sizes,
    ksize: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
) -> None:
    """Kernels that do not fit into the input, results without a place."""
    names = _DIMS[len(ksize)]
    if min(ksize) <= 0:
        text = " ".join(f"kernel_{name}: {k}" for name, k in zip(names, ksize, strict=True))
        raise ShapeError(f"kernel size should be greater than zero, but got {text}")
    if not transposed:
        padded = [n + 2 * p for n, p in zip(x, padding, strict=True)]
        span = [d * (k - 1) + 1 for d, k in zip(dilation, ksize, strict=True)]
        if any(k > n for k, n in zip(span, padded, strict=True)):
            raise ShapeError(
                f"Calculated padded input size per channel: {_times(padded)}. Kernel size: {_times(span)}. Kernel size "
                "can't be greater than actual input size"
            )
        return
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        told = (("output_padding", output_padding), ("stride", stride), ("dilation", dilation))
        text = " ".join(f"{what}_{name}: {v}" for what, each in told for name, v in zip(names, each, strict=True))
        raise ShapeError(f"output padding must be smaller than either stride or dilation, but got {text}")
    size = transposed_size(x, ksize, stride, padding, dilation, output_padding)
    if min(size) < (images > 0):
        given, found = (_times(sizes if len(sizes) > 1 else (1, *sizes)) for sizes in (x, size))
        raise ShapeError(
            f"Given input size per channel: {given}. Calculated output size per channel: {found}. Output size is too small"
        )


def _c_type(x: Any) -> str:
    kind = FROM_NUMPY[x._array.dtype]
    return torch_names(kind.numpy)[1]


def _old_type(kind: Any) -> str:
    """The old name of a tensor's type; those that came later have none."""
    return f"CPU{kind.old}Type" if kind.is_complex or kind is bfloat16 else f"torch.{kind.old}Tensor"


def _refuse_types(input: Any, weight: Any, bias: Any, transposed: bool) -> None:
    kind = input._array.dtype
    if kind is weight._array.dtype and (bias is None or kind is bias._array.dtype):
        return
    if input._array.dtype != weight._array.dtype:
        have, want = input.dtype, weight.dtype
        phrase = f"expected scalar type {have.old} but found {want.old}"
        if bias is not None and bias.dtype is want and not transposed:
            phrase = f"Input type ({_c_type(input)}) and bias type ({_c_type(bias)}) should be the same"
        elif have.is_complex or have is bfloat16:
            dense = " or input should be a MKLDNN tensor and weight is a dense tensor" if have is bfloat16 else ""
            phrase = f"Input type ({_old_type(have)}) and weight type ({_old_type(want)}) should be the same{dense}"
        raise DtypeError(
            f"{phrase}\nThe input of this convolution is {have}, its weight {want}. Convert one of them: x.to(weight.dtype)."
        )
    if bias is not None and input._array.dtype != bias._array.dtype:
        raise DtypeError(f"Input type ({_c_type(input)}) and bias type ({_c_type(bias)}) should be the same")


@functools.lru_cache(512, typed=True)
def _known(n: int, x: Sizes, weight: Sizes, bias: Sizes | None, *given: Any) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """The same as `_resolved`, remembered; lists, and tensors, which may change, are not known again (TypeError)."""
    if any(isinstance(each, Tensor) for value in given for each in (value if isinstance(value, tuple) else (value,))):
        raise TypeError
    return _resolved(n, x, weight, bias, *given)


def _resolved(
    n: int, x: Sizes, weight: Sizes, bias: Sizes | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> tuple[Sizes, Sizes, Sizes, Sizes]:  # fmt: skip
    """Stride, padding, dilation and output padding for each dimension, all refusals passed: the same for all arrays of these shapes."""
    stride, dilation = _each("stride", stride, n), _each("dilation", dilation, n)
    padding, output_padding = _each("padding", padding, n), _each("output_padding", output_padding, n)
    _refuse_numbers(stride, padding, dilation, output_padding, groups)
    _refuse_shapes(x, weight, bias, transposed, groups)
    _refuse_sizes(x[0], x[2:], weight[2:], stride, padding, dilation, transposed, output_padding)
    return stride, padding, dilation, output_padding


@autocast("lower")
def _convolve(
    name: str, n: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        wrong = "input" if not isinstance(input, Tensor) else "weight"
        kind = type(weight if wrong == "weight" else input).__name__
        raise ArgumentTypeError(f"{name}(): argument '{wrong}' must be Tensor, not {kind}")
    x, w = input._array, weight._array
    if x.ndim not in (n + 1, n + 2):
        raise ShapeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(x.shape)}"
        )
    if x.ndim == n + 1:
        batch = input.unsqueeze(0)
        return _convolve(
            name, n, batch, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        ).squeeze(0)
    if w.ndim != n + 2:
        k = w.ndim - 2
        if k < 1:
            raise ShapeError("weight should have at least three dimensions")
        stride = _each("stride", (stride,) * n if isinstance(stride, int) else stride, k)
        raise ShapeError(
            f"Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight {list(w.shape)}, but got "
            f"{x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    if isinstance(padding, str):
        stride, dilation = _each("stride", stride, n), _each("dilation", dilation, n)
        input, padding = _named_padding(input, w.shape[2:], padding, stride, dilation)
        x = input._array
    of_bias = None if bias is None else bias._array.shape
    given = (stride, padding, dilation, transposed, output_padding, groups)
    try:
        stride, padding, dilation, output_padding = _known(n, x.shape, w.shape, of_bias, *given)
    except TypeError:
        stride, padding, dilation, output_padding = _resolved(n, x.shape, w.shape, of_bias, *given)
    _refuse_types(input, weight, bias, transposed)
    made = convolution_op.call(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    return made if x.shape[1] else made[:, :0].clone()  # PyTorch has no channels out where none come in


def _named_padding(input: Any, ksize: Sizes, padding: str, stride: Sizes, dilation: Sizes) -> tuple[Any, Sizes]:
    """padding='same' or 'valid' in numbers; where 'same' is uneven, the input gets one more column at its end."""
    if padding == "valid":
        return input, (0,) * len(ksize)
    if padding != "same":
        raise EngineError(f"Invalid padding string: '{padding}'")
    if max(stride) != 1:
        raise EngineError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, ksize, strict=True)]
    if any(t % 2 for t in total):
        input = constant_pad_nd_op.call(input, ((0, 0), (0, 0), *[(0, t % 2) for t in total]), 0)
    return input, tuple(t // 2 for t in total)


def _declare(n: int) -> None:
    """conv{n}d and conv_transpose{n}d."""
    name, transposed = f"conv{n}d", f"conv_transpose{n}d"
    ones, zeros = (1,) * n, (0,) * n

    def conv(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = ones,
        padding: Any = zeros,
        dilation: Any = ones,
        groups: int = 1,
    ) -> Any:
        return _convolve(name, n, input, weight, bias, stride, padding, dilation, False, zeros, groups)

    def conv_transpose(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = ones,
        padding: Any = zeros,
        output_padding: Any = zeros,
        groups: int = 1,
        dilation: Any = ones,
    ) -> Any:
        return _convolve(transposed, n, input, weight, bias, stride, padding, dilation, True, output_padding, groups)

    conv.__doc__ = f"Convolution over {n} dimensions: (N, C, …) with a weight (O, C / groups, …)."
    conv_transpose.__doc__ = f"Transposed convolution over {n} dimensions: (N, C, …) with a weight (C, O / groups, …)."
    for title, fn in ((name, conv), (transposed, conv_transpose)):
        fn.__name__ = fn.__qualname__ = title
        public(title, method=False)(functional(title)(fn))


for _n in (1, 2, 3):
    _declare(_n)


@public(method=False)
def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Any:  # fmt: skip
    """Any convolution: the number of dimensions is the weight's."""
    return _convolve(
        "convolution", weight._array.ndim - 2, input, weight, bias, stride, padding, dilation, transposed,
        output_padding, groups,
    )  # fmt: skip


@functional()
@public(method=False)
@autocast("lower")
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Convolution of (time, batch, channel) with a weight (time, channel, output)."""
    made = FUNCTIONS["conv1d"](input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return made.permute(2, 0, 1)
