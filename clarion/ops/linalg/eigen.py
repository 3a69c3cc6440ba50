"""Eigenvalues of any square matrices; factors in LAPACK's packed form (reflections, L D L^H); systems of tensors."""

from __future__ import annotations

import math
from typing import Any

from ...core import modes, return_types
from ...core.devices import visible
from ...core.dtypes import FROM_NUMPY
from ...core.op import Op
from ...errors import DtypeError, EngineError, NotSupportedError, ShapeError
from ..faces.api import FUNCTIONS, public
from ..faces.autocast import autocast
from ..faces.typed import no_gradient
from .decompositions import adjoint, gaps, inv, matrices, row, solve

# Eigenvalues -----------------------------------------------------------------------------------------


def _eig_grad(g: Any, values: Any, vectors: Any, ops: Any) -> Any:
    gl, gv = g
    turned = adjoint(vectors, ops)
    if gv is None:
        return ops.linalg_solve(turned, ops.reshape(gl, (*gl.shape, 1)) * turned)
    eye = ops.identity_for(values)
    inner = turned @ gv
    # Vectors keep their length, and are free to turn along their own phase: that part of the gradient is taken out.
    along = ops.real(ops.diagonal(inner, 0, len(inner.shape) - 2, len(inner.shape) - 1))
    inner = (inner - (turned @ vectors) * row(along, ops)) / ops.conj(gaps(values, ops)) * (1 - eye)
    inner = inner if gl is None else inner + eye * row(gl, ops)
    return ops.linalg_solve(turned, inner @ turned)


eig_op = Op("linalg_eig", "x", outputs="values vectors", grad_outputs=(0, 1), conj=False)
eig_op.saved_names |= {"eigenvalues": "values", "eigenvectors": "vectors"}
eig_op.vjp(x=_eig_grad)


eigvals_op = Op("linalg_eigvals", "x", node="LinalgEigBackward0", conj=False)
eigvals_op.vjp(x=lambda g, x, ops: _eig_grad((g, None), *ops.linalg_eig(x), ops))


@autocast("float32")
def eig(A: Any) -> Any:
    """Eigenvalues and eigenvectors (of length 1) of a square matrix; both are complex."""
    array = _finite(A)
    if array.size == 0:
        kind = FUNCTIONS["complex"](A.real, A.real) if A.is_complex() else FUNCTIONS["complex"](A, A)
        return return_types.linalg_eig(kind.sum(-1), kind)
    return return_types.linalg_eig(*eig_op.call(A))


def _finite(A: Any) -> Any:
    array = matrices("linalg.eig", A)
    if visible(array) and not bool(FUNCTIONS["isfinite"](A.detach()).all()):
        raise EngineError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return array


@autocast("float32")
def eigvals(A: Any) -> Any:
    """The eigenvalues of a square matrix, complex."""
    if (A.requires_grad and modes.recording()) or not A.numel():
        return eig(A)[0]
    _finite(A)
    return eigvals_op.call(A)


# Reflections -----------------------------------------------------------------------------------------


def _reflected(packed: Any, lengths: Any, other: Any, order: Any) -> Any:
    """H x for the reflections H = 1 - length v v^H in the given order; v has zeros, a one, and the packed column below."""
    lower = packed.tril(-1)
    eye = FUNCTIONS["eye"](packed.shape[-2], packed.shape[-1], dtype=packed.dtype, device=packed.device)
    vectors = lower + eye
    for i in order:
        v = vectors[..., i : i + 1]
        other = other - lengths[..., i : i + 1].unsqueeze(-1) * (v @ (v.mH @ other))
    return other


def _check_reflections(name: str, packed: Any, lengths: Any) -> None:
    if packed.ndim < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if packed.ndim - lengths.ndim != 1:
        raise ShapeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {lengths.ndim} and "
            f"input.ndim is equal to {packed.ndim}"
        )
    if packed.shape[:-2] != lengths.shape[:-1]:
        raise ShapeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(lengths.shape[:-1])}"
        )
    if packed.dtype != lengths.dtype:
        kinds = FROM_NUMPY[lengths._array.dtype].old, FROM_NUMPY[packed._array.dtype].old
        raise DtypeError(f"{name}: tau dtype {kinds[0]} does not match input dtype {kinds[1]}")


def _in_columns(x: Any) -> Any:
    """The same matrices, column by column in memory, as LAPACK leaves them."""
    return x.mT.contiguous().mT


@autocast("float32")
def householder_product(A: Any, tau: Any) -> Any:
    """The first columns of the product of the reflections that `geqrf` leaves."""
    name = "torch.linalg.householder_product"
    if A.ndim >= 2 and A.shape[-2] < A.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if A.ndim >= 2 and tau.ndim and A.shape[-1] < tau.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_reflections(name, A, tau)
    eye = FUNCTIONS["eye"](A.shape[-2], A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)
    if not tau.shape[-1]:  # of no elements: PyTorch's requires a gradient, too, but has none for its inputs
        return eye.clone()._requiring(modes.recording() and (A.requires_grad or tau.requires_grad))
    return _in_columns(_reflected(A, tau, eye, reversed(range(tau.shape[-1]))))


public("orgqr", out=True)(householder_product)


@public(out=True)
@autocast("float32")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """The product of `other` with the whole orthogonal matrix of the reflections (or its conjugate transpose)."""
    name = "torch.ormqr"
    if input.ndim < 2 or other.ndim < 2:
        raise ShapeError(f"{name}: {'input' if input.ndim < 2 else 'other'} must have at least 2 dimensions.")
    rows, at = (other.shape[-2], -2) if left else (other.shape[-1], -1)
    if tau.ndim and tau.shape[-1] > rows:
        raise ShapeError(f"{name}: other.shape[{at}] must be greater than or equal to tau.shape[-1]")
    if input.shape[-2] != rows:
        raise ShapeError(f"{name}: other.shape[{at}] must be equal to input.shape[-2]")
    if tau.ndim and tau.shape[-1] != min(rows, input.shape[-1]):
        raise ShapeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{at}], input.shape[-1])")
    _check_reflections(name, input, tau)
    if not left:
        return _in_columns(ormqr(input, tau, other.mH, True, not transpose).mH)
    order = range(tau.shape[-1])
    if not input.numel():  # PyTorch has no gradient for it
        input, tau = input.detach(), tau.detach()
    if transpose:
        return _in_columns(_reflected(input, tau.conj(), other, order))
    return _in_columns(_reflected(input, tau, other, reversed(order)))


def _no_geqrf_gradient(g: Any) -> Any:
    raise NotSupportedError("the derivative for 'geqrf' is not implemented.")


geqrf_op = Op("geqrf", "x", outputs="a tau", grad_outputs=(0, 1), conj=False)
geqrf_op.vjp(x=_no_geqrf_gradient)


@public(out=True)
@autocast("float32")
def geqrf(input: Any) -> Any:
    """The QR decomposition in packed form: R above, below it reflections."""
    matrices("torch.geqrf", input, square=False)
    return return_types.geqrf(*geqrf_op.call(input))


# L D L^H ---------------------------------------------------------------------------------------------

ldl_factor_op = Op("linalg_ldl_factor_ex", "x", "hermitian", outputs="ld pivots info", grad_outputs=(0,), conj=False)
ldl_factor_op.vjp(x=no_gradient("linalg_ldl_factor_ex"))
ldl_solve_op = Op("linalg_ldl_solve", "ld pivots b", "hermitian", conj=False)
ldl_solve_op.vjp(ld=no_gradient("linalg_ldl_solve"), b=no_gradient("linalg_ldl_solve"))


def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """The factors L and D of a symmetric (Hermitian) matrix in one, pivots, and what went wrong (0: nothing)."""
    matrices("torch.linalg.ldl_factor_ex", A)
    factors, pivots, info = ldl_factor_op.call(A, hermitian)
    if check_errors and bool((info != 0).any()):
        raise EngineError("torch.linalg.ldl_factor_ex: (Batch element 0): the diagonal of D has a zero")
    return return_types.linalg_ldl_factor_ex(factors, pivots, info)


def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:
    """The factors L and D of a symmetric (Hermitian) matrix in one, and pivots."""
    return return_types.linalg_ldl_factor(*ldl_factor_ex(A, hermitian=hermitian)[:2])


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """The solution of A X = B from the factors of A."""
    name = "torch.linalg.ldl_solve"
    matrices(name, LD)
    if B.ndim < 2:
        raise ShapeError(f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions instead")
    if pivots.shape != LD.shape[:-1]:
        raise ShapeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                         f"{list(pivots.shape)} instead")  # fmt: skip
    if pivots.is_floating_point() or pivots.is_complex():
        raise DtypeError(f"{name}: Expected pivots to be integers. Got {pivots._array.dtype}")
    if LD.dtype != B.dtype:
        raise DtypeError(f"{name}: LD dtype {LD.dtype} does not match b dtype {B.dtype}")
    return ldl_solve_op.call(LD, pivots, B, hermitian)


# Systems of tensors ----------------------------------------------------------------------------------


def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse of the map from the last dimensions to the first `ind`."""
    if ind <= 0:
        raise EngineError("Expected a strictly positive integer for 'ind', but got " + str(ind))
    first, last = A.shape[:ind], A.shape[ind:]
    rows, columns = math.prod(first), math.prod(last)
    if rows != columns:
        raise ShapeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return inv(A.reshape(rows, columns)).reshape(*last, *first)


def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X with tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = A.shape[B.ndim :]
    rows, columns = B.numel(), math.prod(shape)
    if rows != columns:
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {columns} != {rows}"
        )
    return solve(A.reshape(rows, columns), B.reshape(-1)).reshape(shape)
