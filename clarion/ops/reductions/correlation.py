"""Covariances and correlations of the rows of a matrix."""

from __future__ import annotations

from typing import Any

from ...core.devices import visible
from ...errors import DtypeError, EngineError, ShapeError
from ..faces.api import FUNCTIONS, public
from ..faces.options import tensor_argument, warn_user


def _check_weights(name: str, weights: Any, count: int, fits: bool, wanted: str) -> None:
    if weights.dim() > 1:
        raise ShapeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    if not fits:
        raise DtypeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {weights.dtype.old} dtype")
    if weights.numel() != count:
        raise ShapeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )
    if count and weights._array.min() < 0:
        raise EngineError(f"cov(): {name} cannot be negative")


def _weights(fweights: Any, aweights: Any, count: int) -> Any:
    """What each observation counts: how often it was made, times how much weight it has."""
    if fweights is not None:
        whole = fweights._array.dtype.kind in "iu"
        _check_weights("fweights", tensor_argument("cov", fweights, "fweights", 3), count, whole, "integral")
    if aweights is None:
        return fweights
    floating = aweights.is_floating_point()
    _check_weights("aweights", tensor_argument("cov", aweights, "aweights", 4), count, floating, "floating point")
    return aweights if fweights is None else fweights * aweights


@public()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of variables (rows) over observations (columns)."""
    x: Any = tensor_argument("cov", input)
    if x.dim() > 2:
        raise ShapeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {x.dim()} dimensions"
        )
    if x._array.dtype.kind == "b":
        raise DtypeError("cov(): bool dtype is not supported for input")
    rows = x if x.dim() == 2 else x.view(1, -1)
    count = rows.shape[1]
    weights = _weights(fweights, aweights, count)
    total = FUNCTIONS["tensor"](count, device=x.device) if weights is None else weights.sum()
    if weights is not None and visible(total._array) and not total._array:
        raise EngineError("cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum(1) / total
    free = total - correction
    if aweights is not None and correction:
        free = total - correction * (weights * aweights).sum() / total
    if free._array <= 0:
        warn_user("cov(): degrees of freedom is <= 0")
        free = free.new_zeros(())
    off = rows - mean.unsqueeze(1)
    return (off.mm((off if weights is None else off * weights).t().conj()) / free).squeeze()


@public()
def corrcoef(input: Any) -> Any:
    """The correlations of variables (rows) over observations (columns)."""
    x: Any = tensor_argument("corrcoef", input)
    if x.dim() > 2:
        raise ShapeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {x.dim()} dimensions"
        )
    c = cov(x)
    if not c.dim():
        return c / c  # 1, or NaN
    variances = c.diag()
    deviation = (variances.real if c.is_complex() else variances).sqrt()
    c = c / deviation.view(-1, 1) / deviation.view(1, -1)
    if c.is_complex():  # rounding may take a value a little out of [-1, 1]
        return FUNCTIONS["complex"](c.real.clip(-1, 1), c.imag.clip(-1, 1))
    return c.clip(-1, 1)
