"""Distances, cross products, differences, integrals and products of chains of matrices."""

from __future__ import annotations

from typing import Any

from ...core.description import normalize_dim
from ...core.devices import xp_of
from ...core.dtypes import FLOATING, FROM_NUMPY
from ...core.messages import broadcast_error
from ...core.namespace import lifted
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentValueError, DtypeError, EngineError, ShapeError
from ...kernels.random import torch_names
from ..faces.api import FUNCTIONS, public, with_numpys_names
from ..faces.autocast import autocast
from ..reductions.norms import vector_norm_grad
from .matmul import check_types, matmul, tensors

# Cross product -------------------------------------------------------------------------------------

cross_op = Op("cross", "x y", "dim", node="LinalgCrossBackward0", broadcast=True, traits="product")
cross_op.vjp(x=lambda g, y, dim, ops: ops.cross(y, g, dim), y=lambda g, x, dim, ops: ops.cross(g, x, dim)).jvp("each")


def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product of vectors of length 3 along a dimension."""
    a, b = tensors("linalg.cross", input, other)
    if a.ndim != b.ndim:
        raise ShapeError(
            f"linalg.cross: inputs must have the same number of dimensions. Got {a.ndim} and {b.ndim} dimensions."
        )
    dim = normalize_dim(dim, a.ndim)
    if a.shape[dim] != 3 or b.shape[dim] != 3:
        raise ShapeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[dim]} and {b.shape[dim]}"
        )
    if any(m != n and m != 1 and n != 1 for m, n in zip(a.shape, b.shape, strict=True)):
        raise broadcast_error(a.shape, b.shape)
    if a.dtype != b.dtype:
        common = lifted.mul(lifted.slice(input, 0, 0, 0, 1), lifted.slice(other, 0, 0, 0, 1))._array.dtype
        input, other = lifted.cast(input, common), lifted.cast(other, common)
    return cross_op.call(input, other, dim)


@public(out=True)
@with_numpys_names
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along a dimension; by default the first of size 3."""
    if dim is None:
        a = tensors("cross", input, other)[0]
        dim = next((i for i, n in enumerate(a.shape) if n == 3), None)
        if dim is None:
            raise EngineError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim)


# Distances -----------------------------------------------------------------------------------------


def _cdist_grad(g: Any, x: Any, y: Any, out: Any, x_shape: Any, y_shape: Any, p: float, needs: Any, ops: Any) -> Any:
    if p == 0:
        return ops.zeros_like(x), ops.zeros_like(y)
    a = ops.view(x, (*x_shape[:-1], 1, x_shape[-1]))
    b = ops.view(y, (*y_shape[:-2], 1, *y_shape[-2:]))
    off = a - b
    whole = vector_norm_grad(g, off, out, off.shape, p, (len(off.shape) - 1,), False, ops)
    n = len(whole.shape)
    return (
        ops.sum(whole, (n - 2,), False) if needs[0] else None,
        -ops.sum(whole, (n - 3,), False) if needs[1] else None,
    )


cdist_op = Op("cdist", "x y", "p", broadcast=True)
cdist_op.vjp(_cdist_grad)


def _euclidean_grad(g: Any, x: Any, y: Any, out: Any, needs: Any, ops: Any) -> Any:
    ratio = ops.divide_or_zero(g, out)
    last = len(out.shape) - 1
    return (
        x * ops.sum(ratio, (last,), True) - ops.matmul(ratio, y) if needs[0] else None,
        y * ops.transpose(ops.sum(ratio, (last - 1,), True), last - 1, last) - ops.matmul_tn(ratio, x)
        if needs[1]
        else None,
    )


euclidean_op = Op("euclidean_dist", "x y", node="EuclideanDistBackward0", broadcast=True)
euclidean_op.vjp(_euclidean_grad)

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
_MANY = 25  # rows from which on a product is necessary


def _by_product(mode: str, rows: int, others: int, p: float) -> bool:
    """Are distances computed by a product? (As PyTorch does, since their last digits depend on it.)"""
    if p != 2 or mode == _MODES[2]:
        return False
    return mode == _MODES[1] or rows > _MANY or others > _MANY


@public(method=False)
@autocast("float32")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The p-norm distances of all pairs of rows of two (batches of) matrices."""
    a, b = tensors("cdist", x1, x2, names=("x1", "x2"))
    for name, array in (("X1", a), ("X2", b)):
        if array.ndim < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}")
    if p < 0:
        raise EngineError("cdist only supports non-negative p values")
    for name, array in (("X1", a), ("X2", b)):
        if array.dtype not in FLOATING:
            raise EngineError(
                f"cdist only supports floating-point dtypes, {name} got: {FROM_NUMPY[array.dtype].old}\nConvert it: x.float()."
            )
    check_types(a, b, "bmm")
    if compute_mode not in _MODES:
        raise ArgumentValueError(f"{compute_mode} is not a valid value for compute_mode")
    if a.size and b.size and _by_product(compute_mode, a.shape[-2], b.shape[-2], p):
        found = euclidean_op.call(x1, x2)
        return lifted.view(found, found._array.shape)
    return cdist_op.call(x1, x2, float(p))


# Differences and integrals ---------------------------------------------------------------------------


def _between(x: Any, dim: int, start: int | None, stop: int | None) -> Any:
    return lifted.slice(x, dim, start, stop, 1)


@public(out=True)
@with_numpys_names
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The n-th differences of neighbours along a dimension."""
    (array,) = tensors("diff", input)
    if array.ndim == 0:
        raise EngineError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise EngineError(f"order must be non-negative but got {n}")
    dim = normalize_dim(dim, array.ndim)
    if n == 0:
        return lifted.clone(input)
    parts = [t for t in (prepend, input, append) if t is not None]
    if len(parts) > 1:
        for t in parts:
            if t._array.ndim != array.ndim:
                raise EngineError("diff expects prepend or append to be the same dimension as input")
            if any(m != k for i, (m, k) in enumerate(zip(t._array.shape, array.shape, strict=True)) if i != dim):
                raise EngineError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension"
                )
        from ..faces.api import FUNCTIONS

        input = FUNCTIONS["cat"](parts, dim)
    n = min(n, input._array.shape[dim])
    for _ in range(n):
        later, earlier = _between(input, dim, 1, None), _between(input, dim, None, -1)
        input = lifted.logical_xor(later, earlier) if array.dtype.kind == "b" else later - earlier
    return input


def _refuse_bool(array: Any) -> None:
    if array.dtype.kind == "b":
        raise DtypeError("trapezoid: received a bool input for `y`, but bool is not supported")


def _trapezoids(y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """Twice the area under each piece."""
    (array,) = tensors("trapezoid", y, names=("y",))
    _refuse_bool(array)
    dim = normalize_dim(dim, array.ndim)
    pairs = _between(y, dim, 1, None) + _between(y, dim, None, -1)
    if x is None:
        return pairs * dx, dim
    if x._array.ndim == 1:
        if x._array.shape[0] != array.shape[dim]:
            raise ShapeError("trapezoid: There must be one `x` value for each sample point")
        x = lifted.view(x, (-1,) + (1,) * (array.ndim - dim - 1))
        return pairs * diff(x, dim=0), dim
    along = dim - array.ndim + x._array.ndim
    return pairs * diff(x, dim=along), dim


@public(method=False, aliases=("trapz",))
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of sampled values by the trapezoidal rule."""
    if x is None and dx is None:
        dx = 1
    if isinstance(y, Tensor) and y._array.ndim and y._array.shape[normalize_dim(dim, y._array.ndim)] == 0:
        shape = list(y._array.shape)
        del shape[normalize_dim(dim, y._array.ndim)]
        return y.new_zeros(shape)
    if x is None:  # (PyTorch's order of sums: it matters for small integers and infinities)
        (array,) = tensors("trapezoid", y, names=("y",))
        _refuse_bool(array)
        dim = normalize_dim(dim, array.ndim)
        return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx
    pieces, dim = _trapezoids(y, x, dx, dim)
    return pieces.sum(dim) / 2.0


@public(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """Running integrals by the trapezoidal rule."""
    pieces, dim = _trapezoids(y, x, 1 if dx is None else dx, dim)
    return (pieces / 2.0).cumsum(dim)


# Chains of matrices ----------------------------------------------------------------------------------


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of matrices of these sizes so that the product costs least."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


@autocast("lower")
def multi_dot(tensors: Any) -> Any:
    """The product of a chain of matrices in the cheapest order; the first and last may be vectors."""
    n = len(tensors)
    if n < 2:
        raise EngineError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, t in enumerate(tensors):
        ndim = t._array.ndim
        if i in (0, n - 1) and ndim not in (1, 2):
            which = "first" if i == 0 else "last"
            raise ShapeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D")
        if 0 < i < n - 1 and ndim != 2:
            raise ShapeError(f"multi_dot(): tensor {i} must be 2D but got {ndim}D")
        if t._array.dtype != tensors[0]._array.dtype:
            kinds = [torch_names(each._array.dtype)[1] for each in (tensors[0], t)]
            raise DtypeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {kinds[0]} and tensor {i} {kinds[1]}"
            )
    chain = list(tensors)
    first, last = chain[0]._array.ndim == 1, chain[-1]._array.ndim == 1
    if first:
        chain[0] = lifted.unsqueeze(chain[0], 0)
    if last:
        chain[-1] = lifted.unsqueeze(chain[-1], 1)
    for i in range(n - 1):
        if chain[i]._array.shape[1] != chain[i + 1]._array.shape[0]:
            a, b = chain[i]._array.shape, chain[i + 1]._array.shape
            raise ShapeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a)} and {list(b)} cannot be multiplied"
            )
    split = _cheapest([t._array.shape[0] for t in chain] + [chain[-1]._array.shape[1]])

    def product(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        return matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    result = product(0, n - 1)
    shape = result._array.shape
    return lifted.reshape(result, shape[first : 2 - last]) if first or last else result


@public(method=False, out=True)
@autocast("lower")
def chain_matmul(*matrices: Any) -> Any:
    """The product of a chain of matrices in the cheapest order."""
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise EngineError("chain_matmul(): Expected one or more matrices")
    for i, t in enumerate(matrices):
        if t._array.ndim != 2:
            raise ShapeError(f"Tensor dimension is {t._array.ndim}, expected 2 instead (argument {i})")
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)


@public(method=False)
def pdist(input: Any, p: float = 2) -> Any:
    """The distances of all pairs of rows (i, j), i < j, in one vector."""
    if input.ndim != 2:
        raise EngineError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if input._array.dtype not in FLOATING:
        raise EngineError(
            f"pdist only supports floating-point dtypes\nThis one is {input.dtype}; convert it: x.float()."
        )
    if p < 0:
        raise EngineError("pdist only supports non-negative p values")
    first, second = xp_of(input._array).triu_indices(input._array.shape[0], 1)
    rows = FUNCTIONS["index_select"]
    differences = rows(input, 0, new_tensor(first)) - rows(input, 0, new_tensor(second))
    # Counting has no slope; PyTorch's gradient is zero, not absent.
    return differences.norm(p, 1) if p else differences.norm(0, 1) + (differences * 0).sum(1)
