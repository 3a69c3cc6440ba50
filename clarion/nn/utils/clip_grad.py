"""Limits for gradients: by the norm of all of them together, or element by element."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.bulk import bump
from ...core.dtypes import default_float
from ...core.tensor import Tensor, new_tensor
from ...errors import EngineError
from ...events import hub

_ORDINARY = "fd"


def _listed(parameters: Any, limit: float) -> list[Any]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    found = list(parameters)
    if hub.clipped is not None:
        hub.clipped(found, limit)
    if not found and isinstance(parameters, types.GeneratorType):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", UserWarning, stacklevel=3)
    return found


def _norm(arrays: list[Any], norm_type: float) -> float:
    """The norm of all elements of all arrays."""
    if norm_type == 2.0:
        total = 0.0
        for array in arrays:
            if array.dtype.char in _ORDINARY:
                flat = array.ravel()
                part = float(np.dot(flat, flat))
                if not part < math.inf and array.dtype.char == "f":  # squares overflow long before the norm does
                    part = float(np.square(flat, dtype=np.float64).sum())
            else:
                wide = array if array.dtype.kind == "c" else array.astype(np.float64)
                part = float(np.vdot(wide, wide).real)
            total += part
        return math.sqrt(total) if total < math.inf else total
    sizes = [np.abs(a if a.dtype.kind == "c" else a.astype(np.float64)) for a in arrays]
    if norm_type == math.inf:
        return float(np.max([a.max() if a.size else 0.0 for a in sizes]))
    if norm_type == -math.inf:
        return float(np.min([a.min() for a in sizes if a.size]))
    if norm_type == 0:
        # PyTorch takes the norm of the norms: order 0 counts the tensors that are not all zero.
        return float(sum(bool(np.count_nonzero(a)) for a in sizes))
    with np.errstate(all="ignore"):
        return float(sum(float(np.sum(a**norm_type)) for a in sizes) ** (1.0 / norm_type))


def _check_finite(total: float, norm_type: float) -> None:
    if not math.isfinite(total):
        raise EngineError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )


def _real(dtype: Any) -> Any:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


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
        return new_tensor(np.asarray(0.0, default_float()))
    total = _norm(arrays, norm_type)
    if error_if_nonfinite:
        _check_finite(total, norm_type)
    return new_tensor(np.asarray(total, _real(arrays[0].dtype)))


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients by max_norm / total_norm, where that is below 1."""
    grads = [p._grad for p in _listed(parameters, float(max_norm)) if p._grad is not None]
    _scale(grads, float(max_norm), float(total_norm._array))


def _scale(grads: list[Any], max_norm: float, total: float) -> None:
    factor = max_norm / (total + 1e-6)
    if factor >= 1.0:  # everything would be multiplied by 1
        return
    for grad in grads:
        array = grad._array
        np.multiply(array, np.asarray(factor, array.dtype), array)
    bump(grads)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that the norm of all of them together is at most `max_norm`; gives the norm before."""
    grads = [p._grad for p in _listed(parameters, float(max_norm)) if p._grad is not None]
    if not grads:
        return new_tensor(np.asarray(0.0, default_float()))
    norm_type = float(norm_type)
    total = _norm([g._array for g in grads], norm_type)
    if error_if_nonfinite:
        _check_finite(total, norm_type)
    _scale(grads, float(max_norm), total)
    return new_tensor(np.asarray(total, _real(grads[0]._array.dtype)))


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
    for grad in grads:
        np.clip(grad._array, -clip_value, clip_value, out=grad._array)
    bump(grads)
