"""Windows as columns (`unfold`) and back (`fold`); pixels to channels and back; channels shuffled."""

from __future__ import annotations

import math
from typing import Any

from ...core.op import Op
from ...errors import ArgumentIndexError, EngineError, ShapeError
from ...kernels.portable.layers.fold import blocks_of
from ..faces.api import functional, public
from .pooling import refuse_types

Sizes = tuple[int, ...]

im2col_op = Op("im2col", "x", "kernel_size dilation padding stride", node="Im2ColBackward0")
im2col_op.vjp(
    x=lambda g, x_shape, kernel_size, dilation, padding, stride, ops: ops.col2im(
        g, x_shape[-2:], kernel_size, dilation, padding, stride
    )
)
col2im_op = Op("col2im", "x", "output_size kernel_size dilation padding stride", node="Col2ImBackward0")
col2im_op.vjp(
    x=lambda g, kernel_size, dilation, padding, stride, ops: ops.im2col(g, kernel_size, dilation, padding, stride)
)

pixel_shuffle_op = Op("pixel_shuffle", "x", "upscale_factor", moves=True, traits="rearranges")
pixel_shuffle_op.vjp(x=lambda g, upscale_factor, ops: ops.pixel_unshuffle(g, upscale_factor))
pixel_unshuffle_op = Op("pixel_unshuffle", "x", "downscale_factor", moves=True, traits="rearranges")
pixel_unshuffle_op.vjp(x=lambda g, downscale_factor, ops: ops.pixel_shuffle(g, downscale_factor))
channel_shuffle_op = Op("channel_shuffle", "x", "groups", moves=True, traits="rearranges")
channel_shuffle_op.vjp(x=lambda g, x_shape, groups, ops: ops.channel_shuffle(g, x_shape[1] // groups))


def _pair(name: str, value: Any) -> Sizes:
    sizes = (value, value) if isinstance(value, int) else tuple(int(v) for v in value)
    if len(sizes) != 2:
        raise EngineError(f"It is expected {name} equals to 2, but got size {len(sizes)}")
    return sizes


def _refuse_numbers(ksize: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> None:
    named = (("kernel size", "kernel", ksize), ("stride", "stride", stride), ("dilation", "dilation", dilation))
    for what, short, (height, width) in named:
        if height <= 0 or width <= 0:
            raise EngineError(
                f"{what} should be greater than zero, but got {short}_height: {height} {short}_width: {width}"
            )
    if min(padding) < 0:
        raise EngineError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")


@functional()
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of (N, C, H, W) as columns: (N, C * K, L)."""
    ksize, dilation = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    padding, stride = _pair("padding", padding), _pair("stride", stride)
    _refuse_numbers(ksize, dilation, padding, stride)
    refuse_types("im2col_out_cpu", input, "iu")
    shape = input._array.shape
    if len(shape) == 2:
        raise ArgumentIndexError("Dimension out of range (expected to be in range of [-2, 1], but got 2)")
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise ShapeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    size = blocks_of(shape[-2:], ksize, dilation, padding, stride)
    if min(size) < 1:
        raise ShapeError(
            f"Given input with spatial size {shape[-2:]}, kernel_size={ksize}, dilation={dilation}, padding={padding}, "
            f"calculated shape of the array of sliding blocks as {size}, but its components must be at least one."
        )
    return im2col_op.call(input, ksize, dilation, padding, stride)


@functional()
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns (N, C * K, L) added up to images (N, C, *output_size)."""
    out_size, ksize = _pair("output_size", output_size), _pair("kernel_size", kernel_size)
    dilation, padding, stride = _pair("dilation", dilation), _pair("padding", padding), _pair("stride", stride)
    _refuse_numbers(ksize, dilation, padding, stride)
    shape = input._array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise ShapeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    if shape[-2] % math.prod(ksize):
        raise ShapeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={ksize}."
        )
    size = blocks_of(out_size, ksize, dilation, padding, stride)
    given = (
        f"Given output_size={out_size}, kernel_size={ksize}, dilation={dilation}, padding={padding}, stride={stride}"
    )
    if min(size) < 1:
        raise ShapeError(
            f"{given}, calculated shape of the array of sliding blocks as {size}, which is too small (non-positive)"
        )
    if shape[-1] != math.prod(size):
        raise ShapeError(
            f"{given}, expected size of input's dimension 2 to match the calculated number of sliding blocks {size[0]} * "
            f"{size[1]} = {math.prod(size)}, but got input.size(2)={shape[-1]}."
        )
    return col2im_op.call(input, out_size, ksize, dilation, padding, stride)


def _refuse_image(name: str, factor_name: str, factor: int, shape: Sizes) -> None:
    if len(shape) < 3:
        raise ShapeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if factor <= 0:
        raise EngineError(f"{name} expects a positive {factor_name}, but got {factor}")


@functional()
@public(method=False)
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(…, C * r * r, H, W) as (…, C, H * r, W * r)."""
    shape = input._array.shape
    _refuse_image("pixel_shuffle", "upscale_factor", upscale_factor, shape)
    if shape[-3] % upscale_factor**2:
        raise ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return pixel_shuffle_op.call(input, upscale_factor)


@functional()
@public(method=False)
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(…, C, H * r, W * r) as (…, C * r * r, H, W)."""
    shape = input._array.shape
    _refuse_image("pixel_unshuffle", "downscale_factor", downscale_factor, shape)
    for name, dim in (("height", -2), ("width", -1)):
        if shape[dim] % downscale_factor:
            raise ShapeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})={shape[dim]} "
                f"is not divisible by {downscale_factor}"
            )
    return pixel_unshuffle_op.call(input, downscale_factor)


@functional()
@functional("native_channel_shuffle")
@public(method=False, aliases=("native_channel_shuffle",))
def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels dealt out in turn to the groups."""
    shape = input._array.shape
    if len(shape) <= 2:
        raise ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise EngineError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise ShapeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return channel_shuffle_op.call(input, groups)
