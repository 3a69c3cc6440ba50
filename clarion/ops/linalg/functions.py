"""Functions of matrices: exponentials, ranks, condition numbers, least squares, approximations of low rank."""

from __future__ import annotations

import math
from typing import Any

from ...core import return_types
from ...core.alike import certainly
from ...core.devices import as_array, kind_of, xp_of
from ...core.dtypes import HALF, f32, finfo, i64
from ...core.op import Op
from ...core.tensor import created, new_tensor
from ...errors import ArgumentValueError, DtypeError, EngineError, ShapeError
from ...kernels.batched.levels import all_samples
from ..faces.api import FUNCTIONS, public
from ..faces.autocast import autocast
from ..faces.options import tensor_argument, warn_user
from ..reductions.norms import vector_norm
from .decompositions import _pinv_grad as pinv_grad
from .decompositions import (
    adjoint,
    column,
    eigvalsh,
    inv,
    matrices,
    qr,
    refuse_complex_limits,
    row,
    svd,
    svdvals,
    svdvals_op,
)
from .lu import lu_factor_ex
from .norms import matrix_norm


def _exp_grad(g: Any, x: Any, x_shape: Any, ops: Any) -> Any:
    """The corner of exp([[x^H, g], [0, x^H]]): what differentiating a power series of matrices comes to."""
    n, last = x_shape[-1], len(x_shape) - 1
    wide, whole = (*x_shape[:-1], 2 * n), (*x_shape[:-2], 2 * n, 2 * n)

    def placed(part: Any, row: int, column: int) -> Any:
        part = ops.slice_backward(part, wide, last, column, column + n, 1)
        return ops.slice_backward(part, whole, last - 1, row, row + n, 1)

    xh = adjoint(x, ops)
    found = ops.linalg_matrix_exp(placed(xh, 0, 0) + placed(xh, n, n) + placed(g, 0, n))
    return ops.slice(ops.slice(found, last - 1, 0, n, 1), last, n, 2 * n, 1)


matrix_exp_op = Op("linalg_matrix_exp", "x", conj=False)
matrix_exp_op.vjp(x=_exp_grad)


@public("matrix_exp")
def matrix_exp(A: Any) -> Any:
    """The exponential of square matrices."""
    array = tensor_argument("matrix_exp", A)._array
    matrices("linalg.matrix_exp", new_tensor(array.astype(f32)) if array.dtype in HALF else A)
    return matrix_exp_op.call(A)


# Norms by their older names --------------------------------------------------------------------------


@public(method=False, out=True)
def frobenius_norm(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The root of the sum of squares, by an older name."""
    warn_user(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
        "release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` instead"
    )
    return vector_norm(input, 2, dim, keepdim)


@public(method=False, out=True)
def nuclear_norm(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of the singular values, by an older name."""
    warn_user(
        "at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
        "release. Please use `linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead"
    )
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = None, dim
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


# Rank and condition ------------------------------------------------------------------------------------


@autocast("float32")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """How many singular values are larger than max(atol, largest * rtol)."""
    array = matrices("torch.linalg.matrix_rank", A, square=hermitian)
    atol, rtol = (atol, rtol) if tol is None else (tol, 0.0)
    refuse_complex_limits("torch.linalg.matrix_rank", atol=atol, rtol=rtol)
    if rtol is None:
        given = atol is not None and bool(as_array(getattr(atol, "_array", atol) > 0).any())
        rtol = 0.0 if given else float(finfo(array.dtype).eps) * max(array.shape[-2:])
    if not array.size:
        return created(xp_of(array).zeros(array.shape[:-2], i64))
    values = (abs(eigvalsh(A.detach())) if hermitian else svdvals(A.detach()))._array
    limit = values.max(-1) * getattr(rtol, "_array", rtol)
    limit = xp_of(values).maximum(limit, getattr(atol, "_array", 0.0 if atol is None else atol))
    return created(as_array((values > limit[..., None]).sum(-1)).astype(i64))


@autocast("float32")
def cond(A: Any, p: Any = None) -> Any:
    """How much errors grow when a linear system is solved: the norm of A times that of its inverse."""
    if p is not None and not (p in ("fro", "nuc") if isinstance(p, str) else abs(p) in (1, 2, math.inf)):
        raise EngineError(f"linalg.cond got an invalid norm type: {p}")
    array = matrices("linalg.cond" if p is None else f"linalg.cond(ord={p})", A, square=p not in (None, 2, -2))
    if not array.size:
        return A.new_zeros(array.shape[:-2]).real
    values = svdvals_op.call(A) if p in (None, 2, -2, "nuc") else None  # (the same bits, recorded or not)
    if p in (None, 2, -2):
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    if p == "nuc":
        return values.sum(-1) * values.reciprocal().sum(-1)
    singular = (lu_factor_ex(A.detach())[2] > 0).unsqueeze(-1).unsqueeze(-1)
    if kind_of(array).draws and certainly(singular.any()):
        inverse = inv(A.masked_fill(singular, 0) + singular * FUNCTIONS["eye"](array.shape[-1], dtype=A.dtype))
        inverse = inverse.masked_fill(singular, math.inf)
    else:
        inverse = inv(A)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num_(math.inf, math.inf, -math.inf)


# Least squares -----------------------------------------------------------------------------------------


def _reach(a: Any) -> float:
    return float(finfo(a.dtype).eps) * max(a.shape[-2:])


def _lstsq_grad(
    g: Any, a: Any, b: Any, solution: Any, reach: float, measured: bool, vector: bool, needs: Any, ops: Any
) -> tuple[Any, Any]:
    if vector:
        g = None if g[0] is None else column(g[0], ops), *g[1:]
        ga, gb = _lstsq_grad(g, a, column(b, ops), column(solution, ops), reach, measured, False, needs, ops)
        return ga, None if gb is None else ops.reshape(gb, gb.shape[:-1])
    gx, gr, _ = g
    ga = gb = None
    if gx is not None:
        # Like PyTorch's: of all that A can reach, whatever `rcond` has left out of the solution.
        inverse = ops.linalg_pinv(a, None, reach, False)
        gb = adjoint(inverse, ops) @ gx if needs[1] else None
        ga = pinv_grad(gx @ adjoint(b, ops), a, inverse, ops) if needs[0] else None
    if gr is None or not measured:
        return ga, gb
    # At its minimum the residual does not change with the solution, only with A and B themselves.
    off = 2 * row(gr, ops) * (a @ solution - b)
    gb = -off if gb is None else gb - off
    part = off @ adjoint(solution, ops)
    return part if ga is None else ga + part, gb


lstsq_op = Op(
    "linalg_lstsq",
    "a b",
    "rcond reach measured vector by_rows",
    outputs="solution residuals rank",
    grad_outputs=(0, 1),
    broadcast=True,
    conj=False,
)
lstsq_op.vjp(_lstsq_grad)

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _cut(driver: str, rcond: float | None, a: Any) -> float:
    """Singular values up to this part of the largest count as zero: what LAPACK's driver makes of `rcond`."""
    if driver == "gels":
        return 0.0  # takes every matrix for one of full rank
    if rcond is None:
        return _reach(a)
    if driver == "gelsy":
        return max(float(rcond), 0.0)
    if rcond < 0 or (driver == "gelsd" and not 0 < rcond < 1):
        return float(finfo(a.dtype).eps) / 2
    return float(rcond)


def _of_full_rank(singular: Any, limit: float, columns: int) -> bool:
    if not singular.size:
        return columns == 0
    ranks = (singular > singular.max(-1)[..., None] * limit).sum(-1)
    return bool(all_samples(ranks == columns).all())


@autocast("float32")
def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X for which |A X - B| is smallest; its squares, the rank and the singular values where the driver gives them."""
    name = "torch.linalg.lstsq"
    if tensor_argument("linalg_lstsq", A, "A")._array.ndim < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    a = matrices(name, A, square=False)
    b = tensor_argument("linalg_lstsq", B, "B", 2)._array
    if a.dtype != b.dtype:
        raise DtypeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {A.dtype.old} and other's dtype "
            f"{B.dtype.old}"
        )
    if not b.ndim:
        raise ShapeError(f"{name}: other must have at least 1 dimension.")
    if driver is not None and driver not in _DRIVERS:
        raise EngineError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), but got {driver}")
    vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    if b.shape[-1 if vector else -2] != a.shape[-2]:
        raise ShapeError(f"{name}: input.size(-2) should match other.size({-1 if vector else -2})")
    driver = driver or "gelsy"
    limit = _cut(driver, rcond, a)
    singular = svdvals(A.detach()) if driver in ("gelsd", "gelss") else A.detach().real.new_empty(0)
    whole = driver == "gels" or (driver != "gelsy" and _of_full_rank(singular._array, limit, a.shape[-1]))
    measured = whole and a.shape[-2] > a.shape[-1]
    solution, residuals, rank = lstsq_op.call(A, B, limit, _reach(a), measured, vector, driver == "gelsy")
    rank = created(xp_of(a).empty(0, i64)) if driver == "gels" else rank
    return return_types.linalg_lstsq(solution, residuals, rank, singular)


# Approximations of low rank ----------------------------------------------------------------------------


def _basis(A: Any, q: int, niter: int) -> Any:
    """q orthonormal columns that span most of what A can reach (Halko and others, 2009)."""
    found = qr(A @ FUNCTIONS["randn"](A.shape[-1], q, dtype=A.dtype, device=A.device))[0]
    for _ in range(niter):
        found = qr(A @ qr(A.mH @ found)[0])[0]
    return found


@public(method=False)
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """U, S and V of a matrix (or of A - M) of which q singular values matter; random, up to rounding exact for those."""
    tensor_argument("svd_lowrank", A, "A")
    A = A if M is None else A - M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    A = A.mH if wide else A
    basis = _basis(A, 6 if q is None else q, 2 if niter is None else niter)
    u, s, vh = svd(basis.mH @ A, full_matrices=False)
    u, v = basis @ u, vh.mH
    return (v, s, u) if wide else (u, s, v)


@public(method=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, Any, Any]:
    """Principal components: the singular value decomposition of a matrix whose columns are centred first."""
    least = min(tensor_argument("pca_lowrank", A, "A").shape[-2:])
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ArgumentValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ArgumentValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)  # type: ignore[no-any-return]
