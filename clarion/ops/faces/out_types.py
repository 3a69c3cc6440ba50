"""What the type of the tensor given as `out=` means to a function: it decides the result's, or has to be the one it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import FROM_NUMPY
from ...core.inplace import check_type
from ...core.tensor import Tensor
from ...errors import DtypeError
from ...kernels.random import torch_names

_DECIDES = frozenset(("sum", "prod", "cumsum", "cumprod"))  # computed in the type of `out`
_SAME = frozenset(("ceil", "floor", "round", "trunc", "frac", "neg", "sign", "bitwise_not"))
_SCANS = frozenset(("cummax", "cummin", "logcumsumexp"))
_TRUTHS = {
    "all": "only supports bool tensor for result, got: {}",
    "any": "only supports bool tensor for result, got: {}",
    "isposinf": "does not support non-boolean outputs.",
    "isneginf": "does not support non-boolean outputs.",
    "signbit": "does not support non-boolean outputs.",
}

# NumPy's names of arguments, which PyTorch takes, too.
RENAMED = {"x": "input", "x1": "input", "a": "input", "x2": "other", "axis": "dim", "keepdims": "keepdim"}


def by_out(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], targets: Sequence[Any]) -> dict[str, Any]:
    """The keyword arguments of a call with `out=`; refuses an `out` of the wrong type."""
    out = targets[0]
    if name in _DECIDES:
        kind = kwargs.get("dtype")
        if kind is None:
            return {**kwargs, "dtype": out.dtype}
        if kind is not out.dtype:
            raise DtypeError(f"Expected out tensor to have dtype {_c(kind)}, but got {_c(out.dtype)} instead")
    source = args[0] if args else kwargs.get("input")
    kind = getattr(source, "dtype", out.dtype)
    if kind is not out.dtype:
        if name in _SAME:
            raise DtypeError(f"Found dtype {out.dtype.old} but expected {kind.old}")
        if name in _SCANS:
            raise DtypeError(f"expected scalar_type {kind.old} but found {out.dtype.old}")
        if name in ("amax", "amin"):
            raise DtypeError(
                f"Expected the dtype for input and out to match, but got {kind.old} for input's dtype and {out.dtype.old} for "
                "out's dtype."
            )
        if name in ("max", "min") and len(targets) == 2:
            raise DtypeError(f"Expected out tensor to have dtype {_c(kind)}, but got {_c(out.dtype)} instead")
        if name in ("quantile", "nanquantile"):
            raise DtypeError(f"{name}() out tensor must be same dtype as the input tensor")
    if name == "histogram":
        for what, target, where in zip(("hist", "bin_edges"), targets, ("", " for dimension 0"), strict=False):
            if target.dtype is not kind:
                raise DtypeError(
                    f"torch.histogram: input tensor and {what} tensor should have the same dtype, but got input {_c(kind)} and "
                    f"{what} {_c(target.dtype)}{where}"
                )
    text = _TRUTHS.get(name)
    if text is not None and out.dtype.name not in ("bool", "uint8"):
        raise DtypeError(f"{name} {text.format(out.dtype.old)}")
    return kwargs


def _c(kind: Any) -> str:
    """A type by its name in C, as messages have it."""
    return torch_names(kind.numpy)[1]


# Linear algebra: most of it asks for the very type of the result, some cast, and each has words of its own ----------

_LINALG = (
    "cholesky cholesky_ex cross det eigh eigvalsh inv inv_ex ldl_factor ldl_factor_ex lu lu_factor lu_factor_ex lu_solve "
    "matrix_power qr slogdet solve solve_ex svd svdvals vector_norm"
)
_EXACT = frozenset(
    [*[f"linalg.{name}" for name in _LINALG.split()],
     *["addmm", "addmv", "baddbmm", "bmm", "det", "diag", "frobenius_norm", "inverse", "lu_solve", "matmul", "matrix_power", "mm", "mv", "qr", "slogdet", "svd", "tril", "triangular_solve", "triu"]]
)  # fmt: skip

# Those that ask for the type of the result in other words, of which {want} and {have} are the types.
_WORDS = {
    **dict.fromkeys(("linalg.multi_dot", "chain_matmul"), "multi_dot(): expected out tensor to have dtype {c_want} but got {c_have}"),
    "linalg.norm": "linalg.norm expected out tensor dtype {want} but got: {have}",
    **dict.fromkeys(("linalg.matrix_norm", "nuclear_norm"), "linalg.matrix_norm expected out tensor dtype {want} but got: {have}"),
    "linalg.vecdot": "linalg.vecdot: Expected out of dtype{want} but found {have}",
    "linalg_solve_triangular": "expected scalar type {want} but found {have}",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{want} and result has dtype {have}",
    "addbmm": "self and mat2 must have the same dtype, but got {have} and {want}",
    "dot": "result dtype {have} does not match input dtype {want}",
}  # fmt: skip

# Those that cast, and refuse what cannot be cast in the name of somebody.
_CASTING = {
    "linalg.pinv": "linalg.pinv", "linalg.cond": "linalg.cond", "linalg.matrix_rank": "torch.linalg.matrix_rank", "geqrf": "torch.geqrf",
    "linalg.eig": "torch.linalg.eig", "linalg.eigvals": "torch.linalg.eigvals",
    "linalg.tensorinv": "tensorinv", "linalg.tensorsolve": "tensorsolve", "cholesky": "cholesky",
    "cholesky_inverse": "cholesky_inverse", "cholesky_solve": "cholesky_solve",
    **dict.fromkeys(("linalg.householder_product", "orgqr"), "torch.linalg.householder_product"),
}  # fmt: skip


def refuse_type(name: str, target: Tensor, value: Tensor, place: int = 0) -> None:
    """Refuse an `out=` (of several, the one at `place`) of a type that the function does not write to."""
    have, want = FROM_NUMPY[target._array.dtype], FROM_NUMPY[value._array.dtype]
    if have is want:
        return
    c_have, c_want = _c(have), _c(want)
    if name in _EXACT:
        raise DtypeError(f"Expected out tensor to have dtype {c_want}, but got {c_have} instead")
    if name in _WORDS:
        raise DtypeError(_WORDS[name].format(want=want.old, have=have.old, c_want=c_want, c_have=c_have))
    try:
        check_type(target, value._array.dtype)
    except DtypeError:
        if name not in _CASTING:
            raise
        what = {
            "geqrf": "a",
            "linalg.eig": ("eigenvalues", "eigenvectors")[place],
            "linalg.eigvals": "eigenvalues",
        }.get(name, "result")
        raise DtypeError(
            f"{_CASTING[name]}: Expected {what} to be safely castable from {want.old} dtype, but got {what} with dtype {have.old}"
        ) from None
