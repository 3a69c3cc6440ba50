"""Inverses, determinants and decompositions of (batches of) matrices. Rules are those of PyTorch's own derivations."""

from __future__ import annotations

from typing import Any

from ...core import modes, return_types
from ...core.alike import certainly
from ...core.devices import HOST, as_array
from ...core.dtypes import FROM_NUMPY, INEXACT, finfo
from ...core.namespace import lifted
from ...core.op import Op
from ...errors import DtypeError, EngineError, LinAlgError, NotSupportedError, ShapeError
from ...kernels.registry import RawNamespace
from ..elementwise.choice import where
from ..faces.api import public
from ..faces.autocast import autocast
from ..faces.options import warn_once
from ..products.matmul import check_types, tensors

# Helpers of rules ----------------------------------------------------------------------------------


def adjoint(x: Any, ops: Any) -> Any:
    """The conjugate transpose."""
    n = len(x.shape)
    turned = ops.transpose(x, n - 2, n - 1)
    return turned if isinstance(ops, RawNamespace) and x.dtype.kind != "c" else ops.conj(turned)


def column(s: Any, ops: Any) -> Any:
    """A vector (per matrix) as a column: scales rows."""
    return ops.reshape(s, (*s.shape, 1))


def row(s: Any, ops: Any) -> Any:
    """A vector (per matrix) as a row: scales columns."""
    return ops.reshape(s, (*s.shape[:-1], 1, s.shape[-1]))


def gaps(s: Any, ops: Any) -> Any:
    """s[j] - s[i], and 1 on the diagonal."""
    return row(s, ops) - column(s, ops) + ops.identity_for(s)


def _skew(x: Any, ops: Any) -> Any:
    return x - adjoint(x, ops)


identity_for_op = Op("identity_for", "x", differentiable=False)

# Inverse, determinant, linear systems ----------------------------------------------------------------

inv_op = Op("linalg_inv", "x", node="LinalgInvExBackward0", conj=False)
inv_op.vjp(x=lambda g, out, ops: -(adjoint(out, ops) @ g @ adjoint(out, ops)))


def _cofactor_grad(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """g det(x) x^-H; where x is singular, the cofactors from its singular value decomposition."""
    g = column(column(g, ops), ops)
    if x.shape[-1] == 1:
        return g
    if certainly(ops.all(out, None, False)):
        return g * ops.conj(column(column(out, ops), ops)) * adjoint(ops.linalg_inv(x), ops)
    from ..reductions.sums import product_of_others

    u, s, vh = ops.linalg_svd(x, False, False)
    turn = column(column(ops.linalg_det(u) * ops.linalg_det(vh), ops), ops)
    others = product_of_others(s, len(s.shape) - 1, ops)
    return g * ops.conj(turn) * (u * row(others, ops)) @ vh


det_op = Op("linalg_det", "x", conj=False)
det_op.vjp(x=_cofactor_grad)


def _slogdet_grad(g: Any, x: Any, sign: Any, ops: Any) -> Any:
    scale = g[1]
    if g[0] is not None:  # the sign turns with the phase of the determinant (a real one does not)
        turn = ops.conj(g[0]) * sign
        turn = 0.5 * (turn - ops.conj(turn))
        scale = -turn if scale is None else scale - turn
    if scale is None:
        return None
    # What is singular has no inverse: no number stands for its gradient.
    regular = ops.where(column(column(ops.eq(sign, 0), ops), ops), float("nan"), x)
    return column(column(scale, ops), ops) * adjoint(ops.linalg_inv(regular), ops)


slogdet_op = Op("linalg_slogdet", "x", outputs="sign logabsdet", grad_outputs=(0, 1), conj=False)
slogdet_op.vjp(x=_slogdet_grad)

solve_op = Op("linalg_solve", "a b", node="LinalgSolveExBackward0", broadcast=True, conj=False)


def _solve_grad(g: Any, a: Any, out: Any, needs: Any, ops: Any) -> Any:
    gb = ops.linalg_solve(adjoint(a, ops), g)
    return -gb @ adjoint(out, ops) if needs[0] else None, gb


solve_op.vjp(_solve_grad)


# Decompositions --------------------------------------------------------------------------------------


def _cholesky_grad(g: Any, out: Any, upper: bool, ops: Any) -> Any:
    g, out = (adjoint(g, ops), adjoint(out, ops)) if upper else (g, out)
    lower = ops.tril(ops.matmul(adjoint(out, ops), g), 0)
    both = 0.5 * (lower + adjoint(ops.tril(lower, -1), ops))
    turned = adjoint(out, ops)
    left = ops.linalg_solve_triangular(turned, both, True, True, False)
    return adjoint(ops.linalg_solve_triangular(turned, adjoint(left, ops), True, True, False), ops)


cholesky_op = Op("linalg_cholesky", "x", "upper", node="LinalgCholeskyExBackward0", conj=False)
cholesky_op.vjp(x=_cholesky_grad)


def _tall_qr_grad(gq: Any, gr: Any, q: Any, r: Any, ops: Any) -> Any:
    inner = None if gr is None else gr @ adjoint(r, ops)
    if gq is not None:
        part = adjoint(q, ops) @ gq
        inner = -part if inner is None else inner - part
    upper = ops.triu(inner, 0)
    both = upper + adjoint(upper, ops)
    whole = q @ (both - 0.5 * both * ops.identity_for(r))
    whole = whole if gq is None else whole + gq
    return adjoint(ops.linalg_solve_triangular(r, adjoint(whole, ops), True, True, False), ops)


def _qr_grad(g: Any, x: Any, q: Any, r: Any, mode: str, x_shape: Any, ops: Any) -> Any:
    gq, gr = g
    m, n = x_shape[-2:]
    last = len(x_shape) - 1
    if mode == "r":
        raise EngineError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to require gradients."
        )
    if mode == "complete" and m > n:
        raise EngineError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    if m >= n:
        return _tall_qr_grad(gq, gr, q, r, ops)
    # x = [left | rest] with q, r of the square left part, and rest = q r_rest.
    left = ops.slice(r, last, 0, m, 1)
    if gr is None:
        return ops.slice_backward(_tall_qr_grad(gq, None, q, left, ops), x_shape, last, 0, m, 1)
    g_rest = ops.slice(gr, last, m, n, 1)
    through = ops.slice(x, last, m, n, 1) @ adjoint(g_rest, ops)
    gq = through if gq is None else gq + through
    g_left = _tall_qr_grad(gq, ops.slice(gr, last, 0, m, 1), q, left, ops)
    return ops.slice_backward(g_left, x_shape, last, 0, m, 1) + ops.slice_backward(q @ g_rest, x_shape, last, m, n, 1)


qr_op = Op("linalg_qr", "x", "mode", outputs="q r", grad_outputs=(0, 1), conj=False)
qr_op.vjp(x=_qr_grad)


def _eigh_grad(g: Any, values: Any, vectors: Any, ops: Any) -> Any:
    gl, gv = g
    if gv is None:
        return (vectors * row(gl, ops)) @ adjoint(vectors, ops)
    eye = ops.identity_for(values)
    # The vectors stay orthogonal: only the skew part of how they move counts, so that the gradient is symmetric.
    inner = 0.5 * _skew(adjoint(vectors, ops) @ gv, ops) / gaps(values, ops) * (1 - eye)
    inner = inner if gl is None else inner + eye * row(gl, ops)
    return vectors @ inner @ adjoint(vectors, ops)


eigh_op = Op("linalg_eigh", "x", "uplo", outputs="values vectors", grad_outputs=(0, 1), conj=False)
eigh_op.vjp(x=_eigh_grad)


def _svd_grad(g: Any, u: Any, s: Any, vh: Any, x_shape: Any, full_matrices: bool, phases: bool, ops: Any) -> Any:
    gu, gs, gvh = g
    m, n = x_shape[-2:]
    k = min(m, n)
    if full_matrices and m != n:  # what completes the bases has no gradient
        last = len(x_shape) - 1
        u, vh = ops.slice(u, last, 0, k, 1), ops.slice(vh, last - 1, 0, k, 1)
        gu = None if gu is None else ops.slice(gu, last, 0, k, 1)
        gvh = None if gvh is None else ops.slice(gvh, last - 1, 0, k, 1)
    if gu is None and gvh is None:
        return u @ (column(gs, ops) * vh)
    gap = gaps(s * s, ops)
    inner = 0.0
    if gu is not None:
        turn = _skew(adjoint(u, ops) @ gu, ops)
        inner = inner + turn / gap * row(s, ops)
        if phases and gvh is not None:  # complex singular vectors are free to turn along their own phase
            inner = inner + ops.identity_for(s) * turn / (2 * row(s, ops))
    if gvh is not None:
        inner = inner + column(s, ops) * (_skew(vh @ adjoint(gvh, ops), ops) / gap)
    if gs is not None:
        inner = inner + ops.identity_for(s) * row(gs, ops)
    if m > k and gu is not None:
        scaled = gu / row(s, ops)
        return (u @ inner + scaled - u @ (adjoint(u, ops) @ scaled)) @ vh
    if n > k and gvh is not None:
        scaled = gvh / column(s, ops)
        return u @ (inner @ vh + scaled - (scaled @ adjoint(vh, ops)) @ vh)
    return u @ inner @ vh


svd_op = Op("linalg_svd", "x", "full_matrices phases", outputs="u s vh", grad_outputs=(0, 1, 2), conj=False)
svd_op.vjp(x=_svd_grad)


# Values alone, where nobody records: what their derivatives need is found when they are asked for. (Their last bits are those of another
# algorithm, as PyTorch's are.)
svdvals_op = Op("linalg_svdvals", "x", node="LinalgSvdBackward0", conj=False)
svdvals_op.vjp(
    x=lambda g, x, ops: _svd_grad((None, g, None), *ops.linalg_svd(x, False, False), x.shape, False, False, ops)
)
eigvalsh_op = Op("linalg_eigvalsh", "x", "uplo", node="LinalgEighBackward0", conj=False)
eigvalsh_op.vjp(x=lambda g, x, uplo, ops: _eigh_grad((g, None), *ops.linalg_eigh(x, uplo), ops))


def _pinv_grad(g: Any, x: Any, out: Any, ops: Any) -> Any:
    m, n = x.shape[-2:]
    outh, gh = adjoint(out, ops), adjoint(g, ops)
    if m <= n:
        k = gh @ out
        kout = k @ outh
        return -adjoint(out @ k, ops) + kout - (x @ out) @ kout + (outh @ out) @ (gh - k @ x)
    k = out @ gh
    outk = outh @ k
    return -adjoint(k @ out, ops) + (gh - x @ k) @ out @ outh + outk - (outk @ out) @ x


pinv_op = Op("linalg_pinv", "x", "atol rtol hermitian", conj=False)
pinv_op.vjp(x=_pinv_grad)


# Public faces --------------------------------------------------------------------------------------


# Half precision is refused by their kernels in PyTorch, that of others before.
_BY_KERNEL = {
    "linalg.svd": "linalg_svd_cpu", "linalg.svdvals": "linalg_svd_cpu", "linalg.cond": "linalg_svd_cpu",
    "linalg.eigh": "linalg_eigh_cpu", "linalg.eigvalsh": "linalg_eigh_cpu", "linalg.qr": "geqrf_cpu", "torch.geqrf": "geqrf_cpu",
    "linalg.solve": "lu_cpu", "linalg.det": "lu_cpu", "torch.linalg.lu_factor": "lu_cpu", "linalg.lu": "lu_cpu",
    "linalg.cholesky": "linalg_cholesky_cpu", "linalg.cholesky_ex": "linalg_cholesky_cpu",
    "torch.linalg.ldl_factor_ex": "ldl_factor_kernel_cpu",
}  # fmt: skip


def matrices(name: str, input: Any, square: bool = True, any_type: bool = False) -> Any:
    """The array of an input that must be (a batch of) floating matrices, or of any type."""
    (array,) = tensors(name, input, names=("A",))
    if array.ndim < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if square and array.shape[-1] != array.shape[-2]:
        raise ShapeError(
            f"{name}: A must be batches of square matrices, but they are {array.shape[-2]} by {array.shape[-1]} matrices"
        )
    if not any_type and (array.dtype not in INEXACT or array.dtype.itemsize == 2):
        kind = FROM_NUMPY[array.dtype]
        if kind.category >= 2 and name in _BY_KERNEL:
            raise NotSupportedError(f"\"{_BY_KERNEL[name]}\" not implemented for '{kind.old}'")
        if kind.category >= 2:
            raise DtypeError(f"{name}: Low precision dtypes not supported. Got {kind.old}")
        raise DtypeError(f"{name}: Expected a floating point or complex tensor as input. Got {kind.old}")
    return array


def by_lapack(name: str, reason: str, op: Op, *args: Any) -> Any:
    """Run an operation; where it cannot be done, say for which matrix of a batch, and where in it."""
    try:
        return op.call(*args)
    except HOST.xp.linalg.LinAlgError:
        from .failures import first_failure

        at, place = first_failure(op.name, args)
        batch = "" if at is None else f"(Batch element {at}): "
        raise LinAlgError(f"{name}: {batch}{reason.format(place)}") from None


SINGULAR = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is "
    "not positive-definite)."
)


@public("inverse", out=True)
@autocast("float32")
def inv(A: Any) -> Any:
    """The inverse."""
    matrices("linalg.inv", A)
    return by_lapack("linalg.inv", SINGULAR, inv_op, A)


@public(out=True)
def det(A: Any) -> Any:
    """The determinant."""
    matrices("linalg.det", A)
    return det_op.call(A)


@public(out=True)
def slogdet(A: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant."""
    matrices("linalg.slogdet", A)
    return return_types.linalg_slogdet(*slogdet_op.call(A))


@public()
def logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN where it is negative."""
    sign, logabsdet = slogdet(input)
    if sign.dtype.is_complex:
        return logabsdet + lifted.log(sign)
    return where(sign == -1, float("nan"), logabsdet)  # so that no gradient comes from where there is no value


@autocast("float32")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A X = B (or X A = B); B is a vector or a matrix, for each matrix of a batch."""
    a = matrices("linalg.solve", A)
    b = tensors("linalg.solve", A, B, names=("A", "B"))[1]
    check_types(a, b, "mm")
    vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    if vector:
        return solve(A, B.unsqueeze(-1), left=left).squeeze(-1)
    if not left:
        return solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({a.shape[-2]}x{a.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]})"
        )
    return by_lapack("torch.linalg.solve", "The solver failed because the input matrix is singular.", solve_op, A, B)


@autocast("float32")
def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower (or upper) triangular factor of a symmetric positive-definite matrix."""
    matrices("linalg.cholesky", A)
    return by_lapack("linalg.cholesky", NOT_POSITIVE, cholesky_op, A, bool(upper))


@autocast("float32")
def qr(A: Any, mode: str = "reduced") -> Any:
    """An orthogonal and an upper triangular factor."""
    matrices("linalg.qr", A, square=False)
    if mode not in ("reduced", "complete", "r"):
        raise EngineError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return return_types.linalg_qr(*qr_op.call(A, mode))


@autocast("float32")
def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of a symmetric (Hermitian) matrix, of which one triangle is read."""
    _symmetric("linalg.eigh", A, UPLO)
    return return_types.linalg_eigh(*eigh_op.call(A, UPLO.upper()))


def _symmetric(name: str, A: Any, UPLO: str) -> None:
    matrices(name, A)
    if UPLO.upper() not in ("L", "U"):
        raise EngineError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")


@autocast("float32")
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of a symmetric (Hermitian) matrix."""
    if A.requires_grad and modes.recording():  # the gradient is of the vectors
        return eigh(A, UPLO)[0]
    _symmetric("linalg.eigvalsh", A, UPLO)
    return eigvalsh_op.call(A, UPLO.upper())


@autocast("float32")
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """The singular value decomposition: U, S and the conjugate transpose of V."""
    matrices("linalg.svd", A, square=False)
    return return_types.linalg_svd(*svd_op.call(A, full_matrices, A.is_complex()))


@autocast("float32")
def svdvals(A: Any, *, driver: Any = None) -> Any:
    """The singular values."""
    matrices("linalg.svdvals", A, square=False)
    if A.requires_grad and modes.recording():
        return svd_op.call(A, False, A.is_complex())[1]
    return svdvals_op.call(A)


def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudoinverse; singular values up to max(atol, largest * rtol) count as zero."""
    (array,) = tensors("linalg.pinv", A, names=("A",))
    if array.ndim < 2:
        raise ShapeError(
            f"linalg.pinv({FROM_NUMPY[array.dtype].old}{{{list(array.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    matrices("linalg.pinv", A, square=hermitian)
    refuse_complex_limits("torch.linalg.pinv", rcond=rcond, atol=atol, rtol=rtol)
    rtol = rtol if rcond is None else rcond
    if rtol is None:
        given = atol is not None and bool(as_array(getattr(atol, "_array", atol) > 0).any())
        rtol = 0.0 if given else float(finfo(array.dtype).eps) * max(array.shape[-2:])
    return pinv_op.call(A, _limit(atol), _limit(rtol), hermitian)


def refuse_complex_limits(name: str, **limits: Any) -> None:
    """What counts as zero is said by real numbers."""
    for title, limit in limits.items():
        if hasattr(limit, "_array") and limit.is_complex():
            raise DtypeError(f"{name}: {title} tensor of complex type is not supported. Got {limit.dtype.old}")


def _limit(value: Any) -> Any:
    array = getattr(value, "_array", None)
    return value if array is None else array if array.ndim == 0 else array[..., None]


@public(out=True)
def matrix_power(A: Any, n: int) -> Any:
    """A multiplied by itself n times; by its inverse for negative n."""
    array = matrices("linalg.matrix_power", A, any_type=n >= 0)
    if n == 0:
        from ..faces.api import FUNCTIONS

        return A.clone().copy_(FUNCTIONS["eye"](array.shape[-1], dtype=A.dtype))
    base, n = (A, n) if n > 0 else (inv(A), -n)
    result = None
    while True:
        if n & 1:
            result = base if result is None else result @ base
        n >>= 1
        if not n:
            return result.clone() if result is A else result
        base = base @ base


@public("pinverse")
@autocast("float32")
def _pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The pseudoinverse, by the older name."""
    return pinv(input, rcond)


@public("cholesky", out=True)
@autocast("float32")
def _cholesky(input: Any, upper: bool = False) -> Any:
    """The Cholesky factor, by the older name."""
    warn_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n"
        "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\n"
        "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH"
    )
    return cholesky(input, upper=upper)


@public("qr", out=True)
@autocast("float32")
def _qr(input: Any, some: bool = True) -> Any:
    """The QR decomposition, by the older name."""
    warn_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
        "Q, R = torch.qr(A, some)\nshould be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return return_types.qr(*qr(input, "reduced" if some else "complete"))


@public("svd", out=True)
@autocast("float32")
def _svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition, by the older name: returns V, not its conjugate transpose."""
    u, s, vh = svd(input, not some)
    return return_types.svd(u, s, vh.mH)
