"""Resampling images to another size."""

from __future__ import annotations

import math
from typing import Any

from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, NotSupportedError
from ..faces.api import NN_FUNCTIONAL, functional
from ..faces.options import warn_user

Sizes = tuple[int, ...]


def _declare(name: str, node: str) -> Op:
    op = Op(name, "x", "output_size mode scales align", node=f"{node}Backward0")
    return op.vjp(
        x=lambda g, x_shape, output_size, mode, scales, align, ops: ops.resample_backward(
            g, x_shape[-len(output_size) :], mode, scales, align
        )
    )


_OPS = {
    ("nearest", 1): _declare("upsample_nearest1d", "UpsampleNearest1D"),
    ("nearest", 2): _declare("upsample_nearest2d", "UpsampleNearest2D"),
    ("nearest", 3): _declare("upsample_nearest3d", "UpsampleNearest3D"),
    ("nearest-exact", 1): _declare("upsample_nearest_exact1d", "UpsampleNearestExact1D"),
    ("nearest-exact", 2): _declare("upsample_nearest_exact2d", "UpsampleNearestExact2D"),
    ("nearest-exact", 3): _declare("upsample_nearest_exact3d", "UpsampleNearestExact3D"),
    ("linear", 1): _declare("upsample_linear1d", "UpsampleLinear1D"),
    ("bilinear", 2): _declare("upsample_bilinear2d", "UpsampleBilinear2D"),
    ("trilinear", 3): _declare("upsample_trilinear3d", "UpsampleTrilinear3D"),
    ("bicubic", 2): _declare("upsample_bicubic2d", "UpsampleBicubic2D"),
    ("bilinear-aa", 2): _declare("upsample_bilinear2d_aa", "UpsampleBilinear2DAa"),
    ("bicubic-aa", 2): _declare("upsample_bicubic2d_aa", "UpsampleBicubic2DAa"),
    ("lanczos-aa", 2): _declare("upsample_lanczos2d_aa", "UpsampleLanczos2DAa"),
}
_KERNEL_MODES = {
    "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic", "bilinear-aa": "linear-aa", "bicubic-aa": "cubic-aa"
}  # fmt: skip

resample_backward_op = Op(
    "resample_backward", "x", "in_size mode scales align", node="UpsampleBilinear2DBackwardBackward0"
)
resample_backward_op.vjp(
    x=lambda g, x_shape, in_size, mode, scales, align, ops: ops.upsample_bilinear2d(
        g, x_shape[-len(in_size) :], mode, scales, align
    )
)


def _wanted(input: Any, size: Any, scale_factor: Any, recompute: bool) -> tuple[Sizes, tuple[float | None, ...]]:
    """The size of the result, and the scale of each dimension where it is used as given."""
    shape = input._array.shape[2:]
    n = len(shape)
    if size is not None and scale_factor is not None:
        raise ArgumentValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ArgumentValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if not isinstance(size, (list, tuple)):
            if isinstance(size, float) or (getattr(size, "dtype", None) is not None and size.dtype.is_floating_point):
                raise ArgumentTypeError(
                    "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                    f"with types {[type(size)]}"
                )
            return (int(size),) * n, (None,) * n
        if len(size) != n:
            raise ArgumentValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
                f"of {list(shape)} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
                "and output size in (o1, o2, ...,oK) format."
            )
        if any(isinstance(s, float) or (isinstance(s, Tensor) and s._array.dtype.kind not in "iu") for s in size):
            raise ArgumentTypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(s) for s in size]}"
            )
        return tuple(int(s) for s in size), (None,) * n
    if scale_factor is None:
        raise ArgumentValueError("either size or scale_factor should be defined")
    scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * n
    if len(scales) != n:
        raise ArgumentValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(shape)} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, "
            "...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    sizes = tuple(math.floor(m * float(s)) for m, s in zip(shape, scales, strict=True))
    if any(abs(m) >= 1 << 63 for m in sizes):
        raise EngineError("value cannot be converted to type int64_t without overflow")
    return sizes, (None,) * n if recompute else tuple(float(s) for s in scales)


@functional()
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """The input resampled to a size, or by a factor."""
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ArgumentValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    n = input._array.ndim - 2
    recompute = bool(recompute_scale_factor) or (mode == "area" and size is None)
    sizes, scales = _wanted(input, size, scale_factor, recompute)
    if antialias:
        if n != 2 or mode not in ("bilinear", "bicubic", "lanczos"):
            raise ArgumentValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
            )
        if mode == "lanczos" and align_corners:
            raise ArgumentValueError("Lanczos mode does not support align_corners=True")
        if input._array.dtype.name not in ("float32", "float64", "uint8"):
            raise NotSupportedError(f"\"compute_index_ranges_weights\" not implemented for '{input.dtype.old}'")
        mode += "-aa"
    elif mode == "lanczos" and n == 2:
        raise ArgumentValueError("Lanczos mode requires antialias=True")
    if mode == "area" and n in (1, 2, 3):
        return NN_FUNCTIONAL[f"adaptive_avg_pool{n}d"](input, sizes)
    op = _OPS.get((mode, n))
    if op is None:
        _refuse_mode(mode, n)
    shape = input._array.shape
    if min(shape[2:]) <= 0 or min(sizes) <= 0:
        raise EngineError(
            f"Input and output sizes should be greater than 0, but got input {_letters(shape[2:])} output "
            f"{_letters(sizes)}"
        )
    if 0 in shape[1:]:
        raise EngineError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(shape)}")
    kernel_mode = _KERNEL_MODES.get(mode, mode)
    kind = input._array.dtype
    if kind.kind not in "fV" and (kind.name != "uint8" or mode in ("linear", "trilinear")):
        raise NotSupportedError(f"\"{op.name}\" not implemented for '{input.dtype.old}'")
    return op.call(input, sizes, kernel_mode, scales, bool(align_corners))


def _letters(sizes: Sizes) -> str:
    return "(" + ", ".join(f"{name}: {s}" for name, s in zip("DHW"[-len(sizes) :], sizes, strict=True)) + ")"


_NEEDS = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _refuse_mode(mode: str, n: int) -> None:
    if mode in _NEEDS and n in (1, 2, 3):
        raise NotSupportedError(f"Got {n + 2}D input, but {mode} mode needs {_NEEDS[mode] + 2}D input")
    raise NotSupportedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {n + 2}D) for the modes: nearest | linear | bilinear "
        f"| bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _deprecated(name: str) -> None:
    warn_user(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@functional()
def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """Old name of `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@functional()
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Old name of `interpolate(mode='nearest')`."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@functional()
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """Old name of `interpolate(mode='bilinear', align_corners=True)`."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
