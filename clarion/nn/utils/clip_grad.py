"""Limits for gradients: by the norm of all of them together, or element by element."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

from ...core.bulk import bump
from ...core.devices import HOST, visible
from ...core.dtypes import default_float, f32
from ...core.tensor import Tensor, new_tensor
from ...errors import EngineError
from ...events import hub
from ...kernels.flat import number
from ...kernels.registry import raw


def _listed(parameters: Any, limit: float) -> list[Any]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    found = list(parameters)
    if hub.clipped is not None:
        hub.clipped(found, limit)
    if not found and isinstance(parameters, types.GeneratorType):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", UserWarning, stacklevel=3)
    return found


def _check_finite(total: float, norm_type: float) -> None:
    if not math.isfinite(total):
        raise EngineError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors, as if they were one vector."""
    arrays = [t._array for t in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    norm_type = float(norm_type)
    if not arrays:
        return new_tensor(number(0.0, default_float()))
    total = raw.total_norm(arrays, norm_type)
    if error_if_nonfinite:
        _check_finite(total, norm_type)
    return _norm_tensor(total, arrays[0])


def _norm_tensor(total: Any, like: Any) -> Tensor:
    """A norm as a tensor: a number that the host computed, or an array where `like` is."""
    kind = like.dtype if like.dtype.kind == "f" else like.real.dtype
    return new_tensor(HOST.xp.asarray(total, kind) if isinstance(total, (float, int)) else total.astype(kind))


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients by max_norm / total_norm, where that is below 1."""
    grads = [p._grad for p in _listed(parameters, float(max_norm)) if p._grad is not None]
    _scale(grads, float(max_norm), float(total_norm._array) if visible(total_norm._array) else total_norm._array)


def _scale(grads: list[Any], max_norm: float, total: Any) -> None:
    factor = max_norm / (total + 1e-6)
    if not isinstance(factor, float):  # it is known on a device
        raw.scale_all([grad._array for grad in grads], factor.clip(None, 1.0))
    elif not factor >= 1.0:  # (else everything would be multiplied by 1)
        share = HOST.xp.asarray(factor, f32)
        for grad in grads:
            array = grad._array
            if array.dtype is f32:
                raw.mul(array, share, out=array)
            else:
                array *= array.dtype.type(factor)
    bump(grads)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that the norm of all of them together is at most `max_norm`; gives the norm before."""
    max_norm, norm_type = float(max_norm), float(norm_type)
    grads = [p._grad for p in _listed(parameters, max_norm) if p._grad is not None]
    if not grads:
        return new_tensor(number(0.0, default_float()))
    total = raw.total_norm([g._array for g in grads], norm_type)
    if error_if_nonfinite:
        _check_finite(total, norm_type)
    norm = _norm_tensor(total, grads[0]._array)
    if hub.limited is not None and norm_type == 2.0:
        hub.limited(norm)
    _scale(grads, max_norm, total)
    return norm


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    grads = [p._grad for p in _listed(parameters, clip_value) if p._grad is not None]
    if not grads:
        raise EngineError(
            "clip_grad_value_: none of the parameters has a gradient (call backward() first). PyTorch: Expected "
            "!nested_tensorlist[0].empty() to be true, but got false."
        )
    for grad in grads:
        raw.clamp(grad._array, -clip_value, clip_value, out=grad._array)
    bump(grads)
