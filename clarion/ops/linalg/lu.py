"""Triangular factors of matrices: P L U = A, and linear systems solved with them."""

from __future__ import annotations

from typing import Any

from ...core import return_types
from ...core.devices import visible, xp_of
from ...core.dtypes import FROM_NUMPY, int32
from ...core.op import Op
from ...core.tensor import created
from ...errors import DtypeError, EngineError, ShapeError
from ...kernels.batched.levels import all_samples
from ..faces.api import method, public
from ..faces.autocast import autocast
from ..faces.options import tensor_argument, warn_user
from .decompositions import LinAlgError, adjoint, matrices

# Rules -----------------------------------------------------------------------------------------------


def _factors_grad(gl: Any, gu: Any, p: Any, lower: Any, upper: Any, ops: Any) -> Any:
    """The gradient of P L U from those of L and U (one may be None).

    Where A is not square, what sticks out of the square part of L (or of U) is solved for by the rest: its gradient flows
    back to both.
    """
    last, m, n = len(p.shape) - 1, lower.shape[-2], upper.shape[-1]
    k = min(m, n)

    def rows(x: Any, start: int, stop: int) -> Any:
        return ops.slice(x, last - 1, start, stop, 1)

    def columns(x: Any, start: int, stop: int) -> Any:
        return ops.slice(x, last, start, stop, 1)

    square_l, square_u = rows(lower, 0, k), columns(upper, 0, k)
    below = right = None  # gradients of what sticks out
    inner_l = inner_u = None
    if gl is not None:
        inner_l = adjoint(square_l, ops) @ rows(gl, 0, k)
        if m > k:
            below = rows(gl, k, m)
            inner_u = -(adjoint(rows(lower, k, m), ops) @ below)
    if gu is not None:
        part = columns(gu, 0, k) @ adjoint(square_u, ops)
        inner_u = part if inner_u is None else inner_u + part
        if n > k:
            right = columns(gu, k, n)
            part = -(right @ adjoint(columns(upper, k, n), ops))
            inner_l = part if inner_l is None else inner_l + part
    inner = None if inner_l is None else ops.tril(inner_l, -1)
    if inner_u is not None:
        inner = ops.triu(inner_u, 0) if inner is None else inner + ops.triu(inner_u, 0)
    g = ops.linalg_solve_triangular(adjoint(square_l, ops), inner, True, True, True)
    g = ops.linalg_solve_triangular(adjoint(square_u, ops), g, False, False, False)
    whole = (*p.shape[:-2], m, n)
    if m > k:
        g = ops.slice_backward(g, whole, last - 1, 0, k, 1)
        if below is not None:
            part = ops.linalg_solve_triangular(adjoint(square_u, ops), below, False, False, False)
            g = g + ops.slice_backward(part, whole, last - 1, k, m, 1)
    elif n > k:
        g = ops.slice_backward(g, whole, last, 0, k, 1)
        if right is not None:
            part = ops.linalg_solve_triangular(adjoint(square_l, ops), right, True, True, True)
            g = g + ops.slice_backward(part, whole, last, k, n, 1)
    return p @ g


lu_op = Op("linalg_lu", "x", outputs="p lower upper", grad_outputs=(1, 2), conj=False)
lu_op.saved_names |= {"L": "lower", "P": "p", "U": "upper"}
lu_op.vjp(x=lambda g, p, lower, upper, ops: _factors_grad(g[1], g[2], p, lower, upper, ops))


def _lu_factor_grad(g: Any, lu: Any, pivots: Any, ops: Any) -> Any:
    p, lower, upper = ops.lu_unpack(lu, pivots, True, True)
    last, k = len(lu.shape) - 1, min(lu.shape[-2:])
    gl = ops.tril(ops.slice(g, last, 0, k, 1), -1)
    return _factors_grad(gl, ops.triu(ops.slice(g, last - 1, 0, k, 1), 0), p, lower, upper, ops)


lu_factor_op = Op("linalg_lu_factor_ex", "x", outputs="lu pivots", conj=False, saved_as={"LU": "lu"})
lu_factor_op.vjp(x=_lu_factor_grad)


def _unpack_grad(g: Any, lu_shape: Any, ops: Any) -> Any:
    _, gl, gu = g
    last, k = len(lu_shape) - 1, min(lu_shape[-2:])
    found = None if gl is None else ops.slice_backward(ops.tril(gl, -1), lu_shape, last, 0, k, 1)
    if gu is None:
        return found
    part = ops.slice_backward(ops.triu(gu, 0), lu_shape, last - 1, 0, k, 1)
    return part if found is None else found + part


unpack_op = Op("lu_unpack", "lu pivots", "unpack_data unpack_pivots", outputs="p l u", grad_outputs=(1, 2))
unpack_op.vjp(lu=_unpack_grad)


def _solve_grad(
    g: Any, lu: Any, pivots: Any, out: Any, left: bool, adjoined: bool, needs: Any, ops: Any
) -> tuple[Any, Any, Any]:
    gb = ops.linalg_lu_solve(lu, pivots, g, left, not adjoined) if needs[2] else None
    if not needs[0]:
        return None, None, gb
    p, lower, upper = ops.lu_unpack(lu, pivots, True, True)
    lh, uh, n = adjoint(lower, ops), adjoint(upper, ops), len(p.shape)
    if left != adjoined:
        product = g @ adjoint(out, ops) if left else adjoint(g, ops) @ out
        r = -ops.linalg_solve_triangular(uh, product, False, True, False)
        gl = ops.linalg_solve_triangular(lh, r @ uh, True, True, True)
        return ops.tril(gl, -1) + ops.triu(r, 0), None, gb
    product = out @ adjoint(g, ops) if left else adjoint(out, ops) @ g
    r = -(ops.transpose(p, n - 2, n - 1) @ product @ p)
    r = ops.linalg_solve_triangular(lh, r, True, False, True)
    gu = ops.linalg_solve_triangular(uh, lh @ r, False, False, False)
    return ops.tril(r, -1) + ops.triu(gu, 0), None, gb


lu_solve_op = Op("linalg_lu_solve", "lu pivots b", "left adjoined", broadcast=True, conj=False)
lu_solve_op.vjp(_solve_grad)

# Public faces ----------------------------------------------------------------------------------------


def _check_pivot(pivot: bool) -> None:
    if not pivot:
        raise EngineError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU\nThe rows are always exchanged: pivot=True."
        )


def lu(A: Any, *, pivot: bool = True) -> Any:
    """P, L and U with P L U = A."""
    matrices("linalg.lu", A, square=False)
    _check_pivot(pivot)
    return return_types.linalg_lu(*lu_op.call(A))


def _zero_pivots(lu: Any) -> Any:
    """For each matrix the number of its first pivot that is zero, counted from 1; 0 if there is none."""
    xp = xp_of(lu._array)
    zero = lu._array.diagonal(axis1=-2, axis2=-1) == 0
    found = xp.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else xp.zeros(zero.shape[:-1])
    return xp.asarray(found, int32.numpy)


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Both factors in one matrix, the exchanges of rows, and the first zero pivot of each matrix (0: none)."""
    return return_types.linalg_lu_factor_ex(*_factored("torch.linalg.lu_factor_ex", A, pivot, check_errors))


def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """Both factors in one matrix, and the exchanges of rows."""
    return return_types.linalg_lu_factor(*_factored("torch.linalg.lu_factor", A, pivot, True)[:2])


def _factored(name: str, A: Any, pivot: bool, check_errors: bool) -> tuple[Any, Any, Any]:
    matrices(name, A, square=False)
    _check_pivot(pivot)
    factors, pivots = lu_factor_op.call(A)
    info = _zero_pivots(factors)
    if check_errors and (all_info := all_samples(info)).any():
        at = int(all_info[all_info > 0].flat[0])
        where = f"(Batch element {int((all_info > 0).argmax())}): " if all_info.ndim else ""
        raise LinAlgError(
            f"{name}: {where}U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still "
            "want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return factors, pivots, created(info)


@public("lu", method=False, out=True)
def _lu(A: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """The factors, by the older name."""
    warn_user(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a "
        "future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    found = _factored("torch.linalg.lu_factor", A, pivot, not get_infos)
    return return_types._lu_with_info(*found) if get_infos else found[:2]


@method("lu")
def _lu_method(self: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    return tuple(_lu(self, pivot, get_infos))


def _check_pivots(name: str, factors: Any, pivots: Any) -> None:
    if pivots._array.dtype != int32.numpy:
        raise DtypeError(
            f"{name}: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    shape = factors._array.shape
    if pivots._array.shape != (*shape[:-2], min(shape[-2:])):
        raise ShapeError(f"{name}: Expected LU_pivots to have the same shape as LU_data without its last dimension")
    if visible(pivots._array) and ((pivots._array < 1) | (pivots._array > shape[-2])).any():
        raise EngineError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of lu_factor?"
        )


@public(method=False, out=True)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from what `linalg.lu_factor` gives."""
    factors: Any = tensor_argument("lu_unpack", LU_data, "LU_data")
    if factors.dim() < 2:
        raise ShapeError("torch.lu_unpack: The input tensor LU_data must have at least 2 dimensions.")
    if unpack_pivots:
        _check_pivots("torch.lu_unpack", factors, tensor_argument("lu_unpack", LU_pivots, "LU_pivots", 2))
    return return_types.lu_unpack(*unpack_op.call(factors, LU_pivots, bool(unpack_data), bool(unpack_pivots)))


@autocast("float32")
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with A X = B (or X A = B, or with the adjoint of A), from the factors of A."""
    name = "linalg.lu_solve"
    a = matrices(name, LU)
    b = tensor_argument("linalg_lu_solve", B, "B", 3)._array
    if b.ndim < 2:
        raise ShapeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if a.dtype != b.dtype:
        raise DtypeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {FROM_NUMPY[a.dtype].old} and B of type "
            f"{FROM_NUMPY[b.dtype].old} instead"
        )
    if pivots._array.dtype != int32.numpy:
        raise DtypeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if pivots._array.shape != a.shape[:-1]:
        raise ShapeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    if visible(pivots._array):
        for wrong, text in (
            (pivots._array < 1, "greater or equal to 1"),
            (pivots._array > a.shape[-1], "smaller or equal to LU.size(-2)"),
        ):
            if wrong.any():
                raise EngineError(
                    f"Pivots given to lu_solve must all be {text}. Did you properly pass the result of lu_factor?"
                )
    return lu_solve_op.call(LU, pivots, B, bool(left), bool(adjoint))


@public("lu_solve", out=True)
@autocast("float32")
def _lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution, by the older name."""
    warn_user(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\n"
        "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\n"
        "should be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)"
    )
    return lu_solve(LU_data, LU_pivots, b)
