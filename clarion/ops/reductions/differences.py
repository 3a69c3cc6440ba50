"""`torch.gradient`: derivatives of a sampled function, by differences between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.description import normalize_dim
from ...core.tensor import Tensor
from ...errors import DtypeError, EngineError, ShapeError
from ..faces.api import FUNCTIONS, public
from ..faces.options import tensor_argument
from ..shapes.shape import unique_dims


def _check(x: Any, spacings: int | None, dims: Any, edge_order: int) -> None:
    """Refuse what makes no sense, in PyTorch's order."""
    if str(x.dtype) == "torch.uint8":
        raise DtypeError("torch.gradient does not support uint8 input.")
    if spacings is not None and dims is None and spacings != x.dim():
        raise ShapeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{x.dim()}', since dim argument was not given, but got a list of length {spacings}"
        )
    if spacings is not None and dims is not None and spacings != len(dims):
        raise ShapeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same "
            f"length, but got a spacing argument of length {spacings} and a dim argument of length {len(dims)}."
        )
    if edge_order not in (1, 2):
        raise EngineError("torch.gradient only supports edge_order=1 and edge_order=2.")
    along = range(x.dim()) if dims is None else unique_dims(dims, x.dim())
    if any(x.shape[d] < edge_order + 1 for d in along):
        raise ShapeError("torch.gradient expected each dimension size to be at least edge_order+1")


def _even(x: Any, dim: int, step: Any, edge_order: int) -> list[Any]:
    """First, inner and last derivatives along a dimension whose samples are `step` apart."""
    n = x.shape[dim]

    def at(i: int) -> Any:
        return x.narrow(dim, i % n, 1)

    inner = (x.narrow(dim, 2, n - 2) - x.narrow(dim, 0, n - 2)) / step / 2
    if edge_order == 1:
        return [(at(1) - at(0)) / step, inner, (at(-1) - at(-2)) / step]
    first = (-1.5 * at(0) + 2 * at(1) - 0.5 * at(2)) / step
    return [first, inner, (0.5 * at(-3) - 2 * at(-2) + 1.5 * at(-1)) / step]


def _uneven(x: Any, dim: int, places: Any, edge_order: int) -> list[Any]:
    """The same for samples at given places: through each three neighbours runs a parabola."""
    if places.dim() != 1:
        raise ShapeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{places.dim()} dimensions!"
        )
    n, h = x.shape[dim], places.diff()
    left, right = h[:-1], h[1:]
    column = [-1 if d == dim else 1 for d in range(x.dim())]

    def at(i: int) -> Any:
        return x.narrow(dim, i % n, 1)

    inner = (-right / (left * (left + right))).reshape(column) * x.narrow(dim, 0, n - 2)
    inner = inner + ((right - left) / (left * right)).reshape(column) * x.narrow(dim, 1, n - 2)
    inner = inner + (left / (right * (left + right))).reshape(column) * x.narrow(dim, 2, n - 2)
    if edge_order == 1:
        return [(at(1) - at(0)) / h[0], inner, (at(-1) - at(-2)) / h[-1]]
    p, q = h[0], h[1]
    first = -(2 * p + q) / (p * (p + q)) * at(0) + (p + q) / (p * q) * at(1) - p / (q * (p + q)) * at(2)
    p, q = h[-2], h[-1]
    last = q / (p * (p + q)) * at(-3) - (p + q) / (p * q) * at(-2) + (2 * q + p) / (q * (p + q)) * at(-1)
    return [first, inner, last]


@public(method=False)
def gradient(input: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Derivatives along each dimension (or those in `dim`); `spacing` is a step, one per dimension, or where samples lie."""
    x: Any = tensor_argument("gradient", input)
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    many = isinstance(spacing, Sequence)
    _check(x, len(spacing) if many else None, dims, edge_order)
    along = range(x.dim()) if dims is None else dims
    spacings = spacing if many else [1 if spacing is None else spacing] * len(along)
    results = []
    for d, space in zip(along, spacings, strict=True):
        places = _uneven if isinstance(space, Tensor) and (many or space.dim()) else _even
        results.append(FUNCTIONS["cat"](places(x, normalize_dim(d, x.dim()), space, edge_order), d))
    return tuple(results)
