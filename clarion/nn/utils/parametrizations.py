"""Parametrizations ready to use: weight normalization, spectral normalization, orthogonal matrices."""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import Any

from ...core import modes
from ...core.devices import xp_of
from ...core.dtypes import finfo
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentIndexError, ArgumentValueError
from ...ops.faces.api import FUNCTIONS
from ...ops.linalg.decompositions import solve
from .. import functional as F
from ..modules.module import Module
from . import parametrize
from .spectral_norm import as_matrix, output_dim
from .weight_norm import norm_except_dim, weight_of


def _weight(module: Any, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# Weight normalization ------------------------------------------------------------------------------


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute a weight from its length (`original0`) and its direction (`original1`)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def old_names(state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        length, direction = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if length in state_dict and direction in state_dict:
            state_dict[f"{prefix}parametrizations.{name}.original0"] = state_dict.pop(length)
            state_dict[f"{prefix}parametrizations.{name}.original1"] = state_dict.pop(direction)

    module._register_load_state_dict_pre_hook(old_names)
    return module


# Spectral normalization ----------------------------------------------------------------------------


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise ArgumentIndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ArgumentValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            height, width = matrix.size()
            u, v = matrix.new_empty(height).normal_(0, 1), matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Any, n_power_iterations: int) -> None:
        with modes.no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.H.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The buffers are written again before the next pass; this one's backward needs today's values.
        return weight / FUNCTIONS["vdot"](self._u.clone(), matrix.mv(self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value."""
    dim = output_dim(module) if dim is None else dim
    made = _SpectralNorm(_weight(module, name), n_power_iterations, dim, eps)
    parametrize.register_parametrization(module, name, made)
    return module


# Orthogonal matrices -------------------------------------------------------------------------------


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _make_orthogonal(array: Any) -> Any:
    """The orthogonal factor of a matrix, with the signs that make it unique."""
    xp = xp_of(array)
    q, r = xp.linalg.qr(array, mode="complete" if array.shape[-2] == array.shape[-1] else "reduced")
    diagonal = r.diagonal(axis1=-2, axis2=-1)
    return q * (diagonal / xp.where(diagonal == 0, 1, abs(diagonal)))[..., None, :]


def _exponential(a: Any) -> Any:
    """exp of a matrix: a series of a matrix that is small, squared until it is whole again."""
    if "matrix_exp" in FUNCTIONS:
        return FUNCTIONS["matrix_exp"](a)
    size = float(abs(a._array).sum(-1).max(initial=0))
    halvings = max(0, math.ceil(math.log2(size)) + 2) if size > 0 else 0
    x = a / 2**halvings
    term = total = FUNCTIONS["eye"](a.shape[-1], dtype=a.dtype) + x * 0
    for k in range(1, 15):
        term = term @ x / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def _reflections(a: Any, tau: Any) -> Any:
    """The first columns of the product of the reflections 1 - tau v v^T; v stands below the diagonal of `a`."""
    n, k = a.shape[-2:]
    eye = FUNCTIONS["eye"](n, k, dtype=a.dtype)
    vectors = a.tril(-1) + eye
    q = eye + vectors * 0
    for i in reversed(range(k)):
        v = vectors[..., i : i + 1]
        q = q - tau[..., i : i + 1].unsqueeze(-1) * (v @ (v.mT @ q))
    return q


class _Orthogonal(Module):
    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ArgumentValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        turned = X.size(-2) < X.size(-1)
        x = X.mT if turned else X
        n, k = x.size(-2), x.size(-1)
        if self.orthogonal_map == _OrthMaps.householder:
            a = x.tril(-1)
            q = _reflections(a, 2.0 / (1.0 + (a * a).sum(-2)))
            signs = x.diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)
            q = q * signs
        else:
            x = x.tril()
            if n != k:
                x = FUNCTIONS["cat"]([x, x.new_zeros(*x.shape[:-1], n - k)], -1)
            a = x - x.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                q = _exponential(a)
            else:
                eye = FUNCTIONS["eye"](n, dtype=a.dtype)
                q = solve(eye - a * 0.5, eye + a * 0.5)
            q = q[..., :k] if n != k else q
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if turned else q

    def right_inverse(self, Q: Any) -> Any:
        if Q.shape != self.shape:
            raise ArgumentValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        turned = Q.size(-2) < Q.size(-1)
        q = Q.detach()._array
        q = q.swapaxes(-1, -2) if turned else q
        n, k = q.shape[-2:]
        xp = xp_of(q)
        if not hasattr(self, "base"):
            return self._reflected(q, turned)
        if n == k:
            gram = q.conj().swapaxes(-1, -2) @ q
            close = xp.allclose(gram, xp.eye(k), rtol=1e-5, atol=10.0 * n * finfo(q.dtype).eps)
            base = q.copy() if close else _make_orthogonal(q)
        else:
            more = FUNCTIONS["randn"](*q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            base = _make_orthogonal(xp.concatenate([q, more._array], -1))
        self.base = new_tensor(xp.ascontiguousarray(base))
        minus_one = xp.zeros(tuple(Q.shape), q.dtype)
        at = xp.arange(k)
        minus_one[..., at, at] = -1
        return new_tensor(minus_one)

    def _reflected(self, q: Any, turned: bool) -> Any:
        """What the reflections of a matrix are stored as, with the signs of its columns on the diagonal."""
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        xp = xp_of(q)
        raw, tau = xp.linalg.qr(q, mode="raw")
        a = raw.swapaxes(-1, -2).copy()
        at = xp.arange(a.shape[-1])
        signs = xp.sign(a[..., at, at])
        a[..., at, at] = xp.where(tau == 0, -signs, signs)
        return new_tensor(xp.ascontiguousarray(a.swapaxes(-1, -2) if turned else a))


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a weight orthogonal (its rows or its columns, whichever are fewer)."""
    weight = _weight(module, name)
    if weight.ndim < 2:
        raise ArgumentValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ArgumentValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module
