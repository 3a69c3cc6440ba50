"""Linear systems whose matrices are triangular."""

from __future__ import annotations

from typing import Any

from ...core import return_types
from ...core.devices import visible
from ...core.dtypes import FROM_NUMPY
from ...core.op import Op
from ...errors import DtypeError, LinAlgError, NotSupportedError, ShapeError
from ..faces.api import public, with_out
from ..faces.autocast import autocast
from ..faces.options import warn_user
from ..products.matmul import tensors
from .decompositions import SINGULAR, adjoint

solve_triangular_op = Op(
    "linalg_solve_triangular", "a b", "upper left unitriangular", broadcast=True, promote="common", conj=False
)


def _solve_triangular_grad(
    g: Any, a: Any, out: Any, upper: bool, left: bool, unitriangular: bool, needs: Any, ops: Any
) -> tuple[Any, Any]:
    gb = ops.linalg_solve_triangular(adjoint(a, ops), g, not upper, left, unitriangular)
    if not needs[0]:
        return None, gb
    ga = -gb @ adjoint(out, ops) if left else -adjoint(out, ops) @ gb
    # What is not read gets no gradient.
    return ops.triu(ga, int(unitriangular)) if upper else ops.tril(ga, -int(unitriangular)), gb


solve_triangular_op.vjp(_solve_triangular_grad)


def _factor_grad(change: Any, factor: Any, upper: bool, ops: Any) -> Any:
    """The gradient of a Cholesky factor from that of the inverse of its product. PyTorch's, which fills both triangles."""
    both = change + adjoint(change, ops)
    return -(ops.matmul(factor, both) if upper else ops.matmul(both, factor))


def _cholesky_solve_grad(g: Any, factor: Any, upper: bool, out: Any, needs: Any, ops: Any) -> tuple[Any, Any]:
    gb = ops.cholesky_solve(g, factor, upper)
    return gb, _factor_grad(gb @ adjoint(out, ops), factor, upper, ops) if needs[1] else None


cholesky_solve_op = Op("cholesky_solve", "b factor", "upper", broadcast=True, conj=False)
cholesky_solve_op.vjp(_cholesky_solve_grad)
cholesky_inverse_op = Op("cholesky_inverse", "factor", "upper", conj=False)
cholesky_inverse_op.vjp(factor=lambda g, factor, upper, out, ops: _factor_grad(out @ g @ out, factor, upper, ops))


def _matrices(name: str, *values: Any, names: tuple[str, ...], square: bool = True) -> list[Any]:
    arrays = tensors(name, *values, names=names)
    for array, title in zip(arrays, names, strict=True):
        if array.ndim < 2:
            raise ShapeError(f"{name}: The input tensor {title} must have at least 2 dimensions.")
    a = arrays[0]
    if square and a.shape[-1] != a.shape[-2]:
        raise ShapeError(
            f"{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )
    return list(arrays)


def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A X = B (or X A = B), where only the upper (or the lower) triangle of A is read."""
    name = "linalg.solve_triangular"
    a, b = _matrices(name, A, B, names=("A", "B"))
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    for array in (a, b):
        if array.dtype.kind not in "fc" or array.dtype.itemsize == 2:
            raise NotSupportedError(f"\"triangular_solve_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    _check_batches(a, b)
    return solve_triangular_op.call(A, B, bool(upper), bool(left), bool(unitriangular))


def _check_batches(a: Any, b: Any) -> None:
    first, second = b.shape[:-2], a.shape[:-2]
    for i in range(1, min(len(first), len(second)) + 1):
        x, y = first[-i], second[-i]
        if x != y and 1 not in (x, y):
            raise ShapeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension "
                f"{max(len(first), len(second)) - i}"
            )


linalg_solve_triangular = with_out("linalg_solve_triangular", solve_triangular)


@public(out=True)
@autocast("float32")
def triangular_solve(b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """The old form of `linalg.solve_triangular`; it returns A, too."""
    warn_user(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular"
        "and will be removed in a future PyTorch release.\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).",
    )
    _matrices("triangular_solve", A, b, names=("A", "b"))
    matrix, turned = (A.mT, not upper) if transpose else (A, upper)  # complex ones, too, are not conjugated
    found = solve_triangular(matrix, b, upper=turned, unitriangular=unitriangular)
    return return_types.triangular_solve(found, A.clone())


@public(out=True)
@autocast("float32")
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """X with A X = B, where L is the Cholesky factor of A."""
    factor, b = _matrices("cholesky_solve", L, B, names=("L", "B"))
    if factor.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {factor.shape[-1]} by {factor.shape[-1]} but each b "
            f"matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    if factor.dtype != b.dtype:
        raise DtypeError(
            f"Expected b and A to have the same dtype, but found b of type {FROM_NUMPY[b.dtype].old} and A of type "
            f"{FROM_NUMPY[factor.dtype].old} instead."
        )
    _check_batches(factor, b)
    return cholesky_solve_op.call(B, L, bool(upper))


@public(out=True)
@autocast("float32")
def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is L."""
    _matrices("cholesky_inverse", L, names=("A",))
    if visible(L._array):
        none = L._array.diagonal(0, -2, -1) == 0
        if none.any():
            order = none.shape[-1]
            at = int(none.reshape(-1).argmax())
            which = f"(Batch element {at // order}): " if none.ndim > 1 else ""
            raise LinAlgError(f"cholesky_inverse: {which}{SINGULAR.format(at % order + 1)}")
    return cholesky_inverse_op.call(L, bool(upper))
