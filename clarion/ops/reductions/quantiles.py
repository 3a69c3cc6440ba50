"""Quantiles: values at a given share of the way from the smallest to the largest, along a dimension or of all elements."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.devices import visible, xp_of
from ...core.dtypes import f32, f64
from ...core.tensor import Tensor, new_tensor
from ...errors import DtypeError, EngineError, ShapeError
from ..faces.api import public, with_numpys_names
from ..faces.autocast import autocast
from ..faces.options import tensor_argument

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_LARGEST = 2**24  # float32 cannot number more elements


def _shares(input: Any, q: Any) -> Tensor:
    """`q` as a tensor of the input's type, checked in PyTorch's order."""
    kind = input._array.dtype
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise EngineError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = new_tensor(xp_of(input._array).asarray(q, kind))
    if not input._array.size:
        raise ShapeError("quantile() input tensor must be non-empty")
    if q._array.ndim > 1:
        raise ShapeError("quantile() q must be a scalar or 1D tensor")
    if kind not in (f32, f64):
        raise DtypeError("quantile() input tensor must be either float or double dtype")
    if q._array.dtype != kind:
        raise DtypeError("quantile() q tensor must be same dtype as the input tensor")
    if visible(q._array) and not ((q._array >= 0) & (q._array <= 1)).all():
        raise EngineError("quantile() q values must be in the range [0, 1]")
    return q


def _result_shape(shape: tuple[int, ...], dim: int | None, keepdim: bool) -> tuple[int, ...]:
    """The shape for one share."""
    if dim is None or not shape:
        return (1,) * len(shape) if keepdim else ()
    return (*shape[:dim], *((1,) if keepdim else ()), *shape[dim + 1 :])


def _ranks(ordered: Any, q: Any, ignore_nan: bool) -> Any:
    """Where each quantile lies among ordered elements: between which, and how far. NaNs stand last."""
    if ignore_nan:
        ranks = q * (ordered.isnan().logical_not_().sum(-1, keepdim=True) - 1)
        return ranks.masked_fill(ranks < 0, 0)
    last = ordered.shape[-1] - 1
    return (q * last).expand(*ordered.shape[:-1], -1).masked_fill(ordered.isnan().any(-1, keepdim=True), last)


def _quantile(name: str, input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str) -> Any:
    x: Any = tensor_argument(name, input)
    shares: Any = _shares(x, q)
    if interpolation not in _INTERPOLATIONS:
        raise EngineError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    shape = x._array.shape
    dim = None if dim is None else normalize_dim(dim, len(shape))
    rest = _result_shape(shape, dim, keepdim)
    if dim is None:
        ordered = x.flatten().sort()[0]
    elif dim == len(shape) - 1 or not shape:
        ordered = x.sort()[0]
    else:
        ordered = x.unsqueeze(-1).transpose(dim, -1).sort()[0]
    ordered = ordered.view(*rest, -1)
    if ordered.shape[-1] > _LARGEST:
        raise ShapeError("quantile() input tensor is too large")
    values = _interpolated(ordered, _ranks(ordered, shares.reshape(-1), name == "nanquantile"), interpolation)
    if not shares.dim():
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def _interpolated(ordered: Any, ranks: Any, interpolation: str) -> Any:
    if interpolation == "lower":
        ranks = ranks.floor()
    elif interpolation == "higher":
        ranks = ranks.ceil()
    elif interpolation == "nearest":
        ranks = ranks.round()
    place = ranks.long()
    below = ordered.gather(-1, place)
    if interpolation not in ("linear", "midpoint"):
        return below
    weight = ranks.new_full(ranks.shape, 0.5) if interpolation == "midpoint" else ranks - place
    above = ordered.gather(-1, ranks.ceil().long())
    return below.lerp(above, weight) if modes.batches else below.lerp_(above, weight)  # samples may share what is below


@public(out=True)
@with_numpys_names
@autocast("float32")
def quantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The values below which a share `q` of the elements lies; NaN where there is any NaN."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@public(out=True)
@with_numpys_names
@autocast("float32")
def nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The quantiles of those elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)
