"""A few eigenpairs of a large symmetric matrix (`torch.lobpcg`): locally optimal block preconditioned conjugate gradients.

In each round the best pairs are sought in the space that the current vectors, their (preconditioned) residuals and the last
directions span. The basis of that space is orthonormal (Hetmaniuk and Lehoucq), so that nearly dependent vectors are left out
instead of making a factorisation fail. (A. V. Knyazev, Toward the Optimal Preconditioned Eigensolver, 2001.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.dtypes import FROM_NUMPY, default_float, finfo
from ...core.function import Function
from ...errors import ArgumentValueError
from ..faces.api import FUNCTIONS, public
from ..reductions.norms import vector_norm
from .decompositions import eigh, solve


class LOBPCG:
    """The state of an iteration, as a `tracker` sees it."""

    def __init__(
        self, A: Any, B: Any, X: Any, iK: Any, iparams: dict[str, int], fparams: dict[str, float], bparams: dict[str, bool],
        method: str, tracker: Callable[[LOBPCG], None] | None,
    ) -> None:  # fmt: skip
        self.A, self.B, self.X, self.iK = A, B, X, iK
        self.iparams, self.fparams, self.bparams = iparams, fparams, bparams
        self.method, self.tracker = method, tracker
        self.E = X.new_zeros(X.shape[-1])
        self.R = X.new_zeros(X.shape)
        self.S = X.new_zeros(X.shape[0], 3 * X.shape[1])
        self.tvars: dict[str, Any] = {}
        self.ivars = {"istep": 0, "converged_count": 0, "iterations_left": iparams["niter"]}
        self.fvars: dict[str, float] = {}
        self.bvars = {"force_stop": False}
        self._directions: Any = None

    def run(self) -> None:
        """Iterate until the pairs that are asked for have converged."""
        self.X = self._orthonormal(self.X)
        self._ritz(self.X)
        self._counted()
        while self.ivars["converged_count"] < self.iparams["k"]:
            if self.ivars["iterations_left"] == 0 or self.bvars["force_stop"]:
                break
            self._round()
            self._counted()

    def _counted(self) -> None:
        self._residual()
        self.ivars["istep"] += 1
        self.ivars["iterations_left"] -= 1
        if self.tracker is not None:
            self.tracker(self)

    def _round(self) -> None:
        """The best vectors in the space of the current ones, their residuals and the last directions."""
        rest = self.R if self.iK is None else self.iK @ self.R
        if self._directions is not None:
            rest = FUNCTIONS["cat"]([rest, self._directions], -1)
        rest = self._orthonormal(rest, self.X)
        n = self.X.shape[-1]
        combined = self._ritz(FUNCTIONS["cat"]([self.X, rest], -1))
        self._directions = rest @ combined[n:]  # what is new in them

    def _ritz(self, space: Any) -> Any:
        """Take the best vectors of a space, whose basis is orthonormal; how they are made of it."""
        values, vectors = eigh(_symmetric(space.mT @ (self.A @ space)))
        n = self.X.shape[-1]
        if self.bparams["largest"]:
            values, vectors = values.flip(-1), vectors.flip(-1)
        self.S, self.E, combined = space, values[:n], vectors[:, :n]
        self.X = space @ combined
        return combined

    def _residual(self) -> None:
        """How far the pairs are from being ones, in the order of the pairs that are asked for."""
        seen = self.X if self.B is None else self.B @ self.X
        image = self.A @ self.X
        self.R = image - seen * self.E
        if self.ivars["istep"] == 0:
            self.fvars["X_norm"] = length = vector_norm(self.X).item()
            self.fvars["A_norm"] = vector_norm(image).item() / length
            self.fvars["B_norm"] = vector_norm(seen).item() / length
        scale = self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"]
        self.tvars["rerr"] = errors = vector_norm(self.R, 2, 0) / (vector_norm(self.X, 2, 0) * scale)
        count = 0
        for error in errors.tolist():
            if not error < self.fparams["tol"]:
                break
            count += 1
        self.ivars["converged_count"] = count

    def _orthonormal(self, vectors: Any, others: Any = None) -> Any:
        """An orthonormal basis (as B measures) of what `vectors` add to `others`; directions that are only noise are left out."""
        tiny = finfo(vectors._array.dtype).eps
        for _ in range(3):
            if others is not None:
                vectors = vectors - others @ self._product(others, vectors)
            size = vector_norm(vectors, 2, 0)
            vectors = vectors[:, size > 0] / size[size > 0]
            if not vectors.shape[-1]:
                break
            lengths, turned = eigh(_symmetric(self._product(vectors, vectors)))
            kept = lengths > tiny * lengths.max()
            vectors = vectors @ (turned[:, kept] / lengths[kept].sqrt())
        return vectors

    def _product(self, x: Any, y: Any) -> Any:
        return x.mT @ (y if self.B is None else self.B @ y)


def _symmetric(x: Any) -> Any:
    return (x + x.mT) / 2


class _Lobpcg(Function):
    """The pairs, with the gradient that eigenpairs have: other pairs enter through a linear system for each of them."""

    @staticmethod
    def forward(ctx: Any, A: Any, B: Any, run: Callable[[Any, Any], tuple[Any, Any]]) -> tuple[Any, Any]:  # type: ignore[override]
        values, vectors = run(A, B)
        ctx.save_for_backward(A, B, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, g_values: Any, g_vectors: Any) -> tuple[Any, None, None]:  # type: ignore[override]
        A, B, values, vectors = ctx.saved_tensors
        if A.is_sparse or (B is not None and B.is_sparse and ctx.needs_input_grad[1]):
            raise ArgumentValueError(
                "lobpcg.backward does not support sparse input yet.Note that lobpcg.forward does though."
            )
        if B is not None:
            raise ArgumentValueError("lobpcg.backward does not support backward with B != I yet.")
        return _gradient(A, values, vectors, g_values, g_vectors), None, None


def _gradient(A: Any, values: Any, vectors: Any, g_values: Any, g_vectors: Any) -> Any:
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    gaps.diagonal(0, -2, -1).fill_(float("inf"))
    across = vectors.mT @ g_vectors
    grad = vectors @ (g_values.diag_embed() + across / gaps) @ vectors.mT
    # Of the part outside of these vectors: (value - A) x = g there, and nothing within.
    outside = g_vectors - vectors @ across
    within = vectors @ vectors.mT
    others = A - (vectors * values.unsqueeze(-2)) @ vectors.mT
    eye = FUNCTIONS["eye"](A.shape[-1], dtype=A.dtype, device=A.device)
    systems = values[..., None, None] * (eye - within).unsqueeze(-3) - others.unsqueeze(-3) + within.unsqueeze(-3)
    solved = solve(systems, outside.mT.unsqueeze(-1)).squeeze(-1).mT
    return grad + (solved - within @ solved) @ vectors.mT


def eigenpairs(
    A: Any,
    k: int | None,
    B: Any,
    X: Any,
    n: int | None,
    iK: Any,
    niter: int | None,
    tol: float | None,
    largest: bool | None,
    method: str | None,
    tracker: Any,
    others: tuple[Any, Any, Any],
) -> tuple[Any, Any]:
    """What `lobpcg` does, with matrices of any layout: all that it does with them is to multiply."""
    m = A.shape[-1]
    assert A.shape[-2] == m, f"A must be square, got shape {A.shape}"
    assert B is None or A.shape == B.shape, f"A and B must have same shape, got {A.shape} vs {B.shape}"
    n = (1 if k is None else k) if X is None and n is None else n if X is None else X.shape[-1]
    assert n is not None
    k = n if k is None else k
    dtype = A.dtype if A._array.dtype.kind in "fc" else FROM_NUMPY[default_float()]
    assert X is None or X.shape[-2] == m, f"X shape mismatch: got {X.shape}, expected ({m}, {n})"
    if m < 3 * n:
        raise ArgumentValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    iparams = {"m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter, **(others[0] or {})}
    fparams = {"tol": finfo(dtype.numpy).eps ** 0.5 if tol is None else tol, **(others[1] or {})}
    bparams = {"largest": True if largest is None else largest, **(others[2] or {})}

    def run(A: Any, B: Any) -> tuple[Any, Any]:
        found = []
        batch = tuple(A.shape[:-2])
        parts = [None if x is None else x.reshape((-1, *x.shape[-2:])) if batch else [x] for x in (A, B, X, iK)]
        with modes.no_grad():
            for i in range(len(parts[0])):
                a, b, x, preconditioner = (None if part is None else part[i] for part in parts)
                start = FUNCTIONS["randn"]((m, n), dtype=dtype, device=A.device) if x is None else x
                worker = LOBPCG(a, b, start, preconditioner, iparams, fparams, bparams, method or "ortho", tracker)
                worker.run()
                found.append((worker.E[:k], worker.X[:, :k]))
        values, vectors = ([each[j] for each in found] for j in range(2))
        if not batch:
            return values[0], vectors[0]
        stack = FUNCTIONS["stack"]
        return stack(values).reshape((*batch, k)), stack(vectors).reshape((*batch, m, k))

    if modes.recording() and (A.requires_grad or (B is not None and B.requires_grad)):
        return _Lobpcg.apply(_symmetric(A), None if B is None else _symmetric(B), run)  # type: ignore[no-any-return]
    return run(A, B)


@public(method=False)
def lobpcg(
    A: Any,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Any, Any]:
    """The `k` largest (or smallest) eigenvalues of a symmetric (generalized) eigenproblem, and their vectors."""
    others = (ortho_iparams, ortho_fparams, ortho_bparams)
    return eigenpairs(A, k, B, X, n, iK, niter, tol, largest, method, tracker, others)
