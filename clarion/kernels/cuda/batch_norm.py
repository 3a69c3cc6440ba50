"""Batch normalization by cuDNN, in training, of images row by row: statistics in float32. (Channels last: kernels/triton.)"""

from __future__ import annotations

from ctypes import byref, c_double, c_float, c_int, c_void_p
from functools import cache
from typing import Any

import cupy
import numpy as np

from ..registry import offer
from .convolutions import _TYPES, _cudnn, _made, _tensor, is_channels_last, laid, on_stream
from .libraries import check

_PERSISTENT = 2  # cudnnBatchNormMode_t: over images, in as few passes as can be

_ONE, _ZERO = c_float(1), c_float(0)


def _accepts(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> bool:
    known = x.dtype.itemsize <= 4 and x.dtype in _TYPES
    return bool(training and known and x.ndim == 4 and x.size > 0 and eps >= 1e-5 and not is_channels_last(x))


@cache
def _statistics(channels: int) -> c_void_p:
    """The descriptor of what is kept for each channel."""
    made = _made("Tensor")
    shape = (c_int * 4)(1, channels, 1, 1)
    steps = (c_int * 4)(channels, 1, 1, 1)
    check("cudnnSetTensorNdDescriptor", _cudnn()[0].cudnnSetTensorNdDescriptor(made, 0, 4, shape, steps))
    return made


_descriptors: dict[Any, c_void_p] = {}


def _described(x: Any) -> c_void_p:
    key = (x.shape, x.strides, x.dtype)
    found = _descriptors.get(key)
    if found is None:
        found = _descriptors[key] = _tensor(x)
    return found


def _single(values: Any, channels: int, otherwise: float) -> Any:
    """Weight or bias in float32; ones or zeros where there is none."""
    if values is None:
        return cupy.full((channels,), otherwise, np.float32)
    return cupy.ascontiguousarray(values, np.float32)


def _ptr(x: Any) -> c_void_p:
    return c_void_p(x.data.ptr)


@offer("batch_norm", "cudnn", accepts=_accepts)
def batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    """The result, and the mean and 1 / standard deviation of the batch."""
    dnn, handle = on_stream()
    x = laid(x, False)
    channels = x.shape[1]
    out = cupy.empty(x.shape, x.dtype)
    mean, rstd = cupy.empty((channels,), np.float32), cupy.empty((channels,), np.float32)
    scale, shift = _single(weight, channels, 1.0), _single(bias, channels, 0.0)
    status = dnn.cudnnBatchNormalizationForwardTraining(
        handle, _PERSISTENT, byref(_ONE), byref(_ZERO), _described(x), _ptr(x), _described(out), _ptr(out), _statistics(channels),
        _ptr(scale), _ptr(shift), c_double(0.0), None, None, c_double(eps), _ptr(mean), _ptr(rstd),
    )  # fmt: skip
    check("cudnnBatchNormalizationForwardTraining", status)
    return out, mean, rstd


def _accepts_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> bool:
    return _accepts(x, weight, None, None, None, training, 1.0) and g.dtype == x.dtype and mean.dtype == np.float32


@offer("batch_norm_backward", "cudnn", accepts=_accepts_backward)
def batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    dnn, handle = on_stream()
    x, g = laid(x, False), laid(g, False)
    channels = x.shape[1]
    out = cupy.empty(x.shape, x.dtype)
    scale = _single(weight, channels, 1.0)
    gw, gb = cupy.empty((channels,), np.float32), cupy.empty((channels,), np.float32)
    status = dnn.cudnnBatchNormalizationBackward(
        handle, _PERSISTENT, byref(_ONE), byref(_ZERO), byref(_ONE), byref(_ZERO), _described(x), _ptr(x), _described(g), _ptr(g),
        _described(out), _ptr(out), _statistics(channels), _ptr(scale), _ptr(gw), _ptr(gb), c_double(1e-5), _ptr(mean), _ptr(rstd),
    )  # fmt: skip
    check("cudnnBatchNormalizationBackward", status)
    return out if needs[0] else None, gw if needs[1] else None, gb if needs[2] else None
