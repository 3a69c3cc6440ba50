"""Histograms: how many points (or how much of their weight) lie in each bin, of one dimension or of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core import return_types
from ...core.dtypes import FROM_NUMPY, f32, f64
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, DtypeError, EngineError, NotSupportedError, ShapeError
from ..faces.api import FUNCTIONS, public
from ..faces.options import tensor_argument
from ..faces.typed import no_gradient

histogramdd_op = Op("histogramdd", "x weight?", "edges density", node="NotImplemented")
histogramdd_op.vjp(x=no_gradient("histogram"), weight=no_gradient("histogram"))

_SHORT = {f32: "float", f64: "double"}


def _short(kind: Any) -> str:
    return _SHORT.get(kind, str(FROM_NUMPY[kind])[6:])


def _check_points(x: Any, weight: Any) -> None:
    array = x._array
    if array.ndim < 2:
        raise ShapeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if array.dtype not in (f32, f64):
        raise NotSupportedError(f"\"histogramdd\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    if weight is None:
        return
    other = tensor_argument("histogramdd", weight, "weight", 4)._array
    if other.dtype != array.dtype:
        raise DtypeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
            f"got input({_short(array.dtype)}), and weight({_short(other.dtype)})"
        )
    if other.shape != array.shape[:-1]:
        raise ShapeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {list(array.shape)} and weight with shape {list(other.shape)}"
        )


def _given_edges(x: Any, edges: Any, dim: int) -> Any:
    """Edges of bins that the user gave, checked."""
    array = edges._array
    if array.dtype != x._array.dtype:
        raise DtypeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{_short(x._array.dtype)} and bins for dimension {dim} with dtype {_short(array.dtype)}"
        )
    if array.ndim != 1:
        raise ShapeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {array.ndim} dimensions in the bins tensor for "
            f"dimension {dim}"
        )
    if not array.size:
        raise ShapeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
            f"dimension {dim}"
        )
    _check_count(array.size - 1, dim)
    return edges.detach().clone()


def _check_count(bins: int, dim: int) -> None:
    if bins <= 0:
        raise EngineError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")


def _even_edges(x: Any, bins: int, limits: Any, dim: int) -> Any:
    """Edges of bins of one width, between given limits or those of the data."""
    _check_count(bins, dim)
    values = x._array[..., dim]
    low, high = (0.0, 1.0) if not values.size else (float(values.min()), float(values.max()))
    if limits is not None:
        low, high = float(limits[2 * dim]), float(limits[2 * dim + 1])
    if not (math.isfinite(low) and math.isfinite(high)):
        raise EngineError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise EngineError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return FUNCTIONS["linspace"](low, high, bins + 1, dtype=x.dtype, device=x.device)


def _bin(x: Any, bins: Sequence[Any], limits: Any, weight: Any, density: bool) -> tuple[Any, list[Any]]:
    _check_points(x, weight)
    count = x.shape[-1]
    if len(bins) != count:
        raise ShapeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if limits is not None and len(limits) != 2 * count:
        raise ShapeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but got "
            f"{len(limits)}"
        )
    edges = [
        _given_edges(x, b, d) if isinstance(b, Tensor) else _even_edges(x, b, limits, d) for d, b in enumerate(bins)
    ]
    return histogramdd_op.call(x, weight, tuple([e._array for e in edges]), bool(density)), edges


@public(out=True)
def histogram(input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements (or how much of their weight) lie in each bin, and the edges of the bins."""
    x: Any = tensor_argument("histogram", input)
    if isinstance(bins, Tensor) and range is not None:
        raise ArgumentTypeError("histogram() takes a range or the edges of the bins, not both")
    flat = None if weight is None else weight.reshape(-1)
    hist, edges = _bin(x.reshape(-1, 1), [bins], range, flat, density)
    return return_types.histogram(hist, edges[0])


@public(method=False)
def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """The same for points of several dimensions, which lie along the last one."""
    x: Any = tensor_argument("histogramdd", input)
    each = bins if isinstance(bins, (tuple, list)) else [bins] * (x.shape[-1] if x.dim() else 0)
    hist, edges = _bin(x, each, range, weight, density)
    return return_types.histogramdd(hist, tuple(edges))
