"""Products of sparse matrices, and what is like them: sampled products, softmax along rows."""

from __future__ import annotations

import math
from typing import Any

from ..core import return_types
from ..core.dtypes import int64, sparse_coo, sparse_csc, sparse_csr
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError, NotSupportedError
from ..kernels.coo import flat_places, pairs
from ..ops.faces.api import FUNCTIONS
from ..ops.linalg.lobpcg import eigenpairs
from ..ops.products.addmm import factors
from ..ops.products.sparse import coo_mm_op
from .compressed import TITLES, compressed
from .operations import written
from .tensor import coalesced, dense, handles, in_places, is_sparse, make, np


def _matrix(x: Any, name: str) -> Any:
    if x.dim() != 2 or (is_sparse(x) and x._at.shape[0] != 2):
        raise EngineError(f"mat1 must be a matrix, got {x.dim()}-D tensor\nThat is asked of what {name}() is given.")
    return x


def _check(a: Any, b: Any, name: str) -> None:
    if a.shape[1] != b.shape[0]:
        raise EngineError(
            f"{name}: mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )


@handles("mm", "smm", "spmm", "dsmm", "_sparse_mm")
def mm(a: Any, b: Any, reduce: str | None = None) -> Any:
    """The product of two matrices; of two sparse ones it is sparse."""
    _check(_matrix(a, "mm"), _matrix(b, "mm"), "mm")
    if reduce is not None and reduce != "sum":
        return _reduced(a, b, reduce)
    if is_sparse(a) and is_sparse(b):
        if a.dtype is not b.dtype:
            raise EngineError(f"mat1 dtype {a.dtype.old} does not match mat2 dtype {b.dtype.old}")
        return _both_sparse(a, b)
    if is_sparse(a):
        if a.dtype != b.dtype:
            raise EngineError(f"expected scalar type {a.dtype.old} but found {b.dtype.old}")
        return coo_mm_op.call(a._held, a._at[0], a._at[1], b, a.shape[0])
    return coo_mm_op.call(b._held, b._at[1], b._at[0], a.t(), b.shape[1]).t()


@handles("hspmm")
def hspmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse matrix and a dense one, of which the rows are kept that the first has entries in."""
    if _matrix(mat1, "hspmm").shape[1] != _matrix(mat2, "hspmm").shape[0]:
        raise EngineError(f"hspmm: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
    rows = new_tensor(np.unique(mat1._at._array[0]))
    return make(rows.unsqueeze(0), mm(mat1, mat2)[rows], (mat1.shape[0], mat2.shape[1]))


def _both_sparse(a: Any, b: Any) -> Any:
    if (a._layout is sparse_coo) is not (b._layout is sparse_coo):
        kinds = TITLES[a._layout], TITLES[b._layout]
        raise EngineError(
            f"addmm: computation on CPU is not implemented for {kinds[0]} + {kinds[0]} @ {kinds[1]}\n"
            "One operand names places one by one and the other has compressed rows or columns: convert one of them, "
            "with x.to_sparse() or x.to_sparse_csr()."
        )
    in_rows = a._layout is not sparse_coo
    a, b = in_places(a), in_places(b)
    first, second = pairs(a._at._array[1], b._at._array[0])
    at = np.stack((a._at._array[0][first], b._at._array[1][second]))
    held = a._held[new_tensor(first)] * b._held[new_tensor(second)]
    shape = (a.shape[0], b.shape[1])
    return _rows_as_met(at, held, shape) if in_rows else coalesced(make(new_tensor(at), held, shape))


def _rows_as_met(at: Any, held: Any, shape: Any) -> Any:
    """Compressed rows; those of a product have their columns in the order in which its terms first met them, as PyTorch's have."""
    first, group = np.unique(flat_places(at, shape), return_index=True, return_inverse=True)[1:]
    order = np.lexsort((first, at[0][first]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    total = held.new_zeros(len(first)).index_add(0, new_tensor(place[group.reshape(-1)]), held)
    return make(new_tensor(np.ascontiguousarray(at[:, first[order]])), total, shape, True, sparse_csr)


_REDUCES = {"mean": "mean", "amax": "amax", "amin": "amin", "max": "amax", "min": "amin"}


def _reduced(a: Any, b: Any, reduce: str) -> Any:
    """The products of a row's entries, reduced otherwise than by adding them."""
    if reduce not in _REDUCES:
        raise EngineError("reduce argument must be either sum, mean, amax or amin")
    found = a._held.unsqueeze(1) * b[a._at[1]]
    rows = a._at[0].unsqueeze(1).expand(found.shape)
    room = found.new_zeros((a.shape[0], b.shape[1]))
    return room.scatter_reduce(0, rows, found, _REDUCES[reduce], include_self=False)


@handles("mv")
def mv(a: Any, v: Any) -> Any:
    """A matrix times a vector."""
    if is_sparse(v):
        return mv(a, dense(v))
    if a.dim() != 2 or v.dim() != 1:
        raise EngineError(
            f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {a.dim()}Tensor Dim: {v.dim()}"
        )
    if a.shape[1] != v.shape[0]:
        raise EngineError("mv: expected self.size(-1) == vec.size(-1)")
    return mm(a, v.unsqueeze(1)).squeeze(1)


@handles("matmul", "linear_map")
def matmul(a: Any, b: Any) -> Any:
    """Products of matrices and vectors."""
    if a.dim() == 2 and b.dim() == 1:
        return mv(a, b)
    if a.dim() == 1 and b.dim() == 2:
        return mv(b.t(), a)
    if a.dim() == 2 and b.dim() == 2:
        return mm(a, b)
    return bmm(a, b)


@handles("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """What a `Linear` computes, with a sparse weight or input."""
    rows = input.reshape(-1, input.shape[-1]) if input.dim() > 2 else input
    result = matmul(rows, weight.t()).reshape(*input.shape[:-1], weight.shape[0])
    return result if bias is None else result + bias


@handles("bmm")
def bmm(a: Any, b: Any) -> Any:
    """Products of batches of matrices; the first is sparse."""
    if not is_sparse(a) or is_sparse(b) or a.dim() != 3 or b.dim() != 3 or a._at.shape[0] != 3:
        raise NotSupportedError(
            "products of batches: the first must be sparse and the second dense, each of 3 dimensions"
        )
    n, rows, inner = a.shape
    for of_a, of_b, shown in ((0, 0, n), (2, 1, inner)):
        if b.shape[of_b] != shown:
            raise EngineError(f"bmm_sparse: 'self.size({of_a})' and 'mat2.size({of_b})' must match")
    at, columns = a._at, b.shape[2]
    held = b.reshape(n * inner, columns)
    whole = coo_mm_op.call(a._held, at[0] * rows + at[1], at[0] * inner + at[2], held, n * rows)
    return whole.reshape(n, rows, columns)


@handles("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2)."""
    return _added(input, mm(mat1, mat2), beta, alpha, out)


@handles("addmv")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat @ vec)."""
    return _added(input, mv(mat, vec), beta, alpha, out)


handles("addmm_", "addmv_")(lambda input, *args, **options: _in_place(input, args, options))


def _in_place(input: Any, args: Any, options: Any) -> Any:
    return (addmm if args[1].dim() == 2 else addmv)(input, *args, **options, out=input)


def _added(input: Any, product: Any, beta: Any, alpha: Any, out: Any) -> Any:
    if is_sparse(product) and not is_sparse(input):
        product = dense(product)
    if is_sparse(input) and not is_sparse(product):
        input = dense(input)
    beta, alpha = _factors(input, beta, alpha)
    result = product * alpha if beta == 0 and not is_sparse(product) else input * beta + product * alpha
    return result if out is None else written(out, result)


def _factors(x: Any, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """Numbers of the type of `x`, which has to hold them."""
    return factors((in_places(x)._held if is_sparse(x) else x)._array, beta, alpha, exact=True)


@handles("sspaddmm")
def sspaddmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """The same with a dense product that is kept sparse."""
    product = mm(mat1, mat2)
    product = product if is_sparse(product) else product.to_sparse()
    beta, alpha = _factors(product, beta, alpha)
    return input * beta + product * alpha


@handles("sparse_sampled_addmm", "sampled_addmm")
def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2), at the places of `input` only."""
    if not is_sparse(input):
        raise NotSupportedError("sampled_addmm(): the places of a sparse tensor are needed; `input` is strided")
    x = in_places(input)
    _check_sampled(x, mat1, mat2)
    if mat1.dim() > x.dim():  # the same places in each matrix of the batch
        x = repeated(x, tuple(mat1.shape[:-2]))
    *batch, rows, columns = x._at
    found = (mat1[(*batch, rows)] * mat2.mT[(*batch, columns)]).sum(-1)
    result = make(x._at, x._held * beta + found * alpha, x.shape, x._array.sorted)
    result = result if input._layout is sparse_coo else compressed(result, input._layout)
    return result if out is None else written(out, result)


def _check_sampled(x: Any, a: Any, b: Any) -> None:
    said = "sampled_addmm: Expected "
    for name, each in ("mat1", a), ("mat2", b):
        if each.dim() < 2:
            raise EngineError(f"{said}{name} to be a matrix, got {each.dim()}-D tensor")
    batches = [list(each.shape[:-2]) for each in (x, a, b)]
    kinds = [each.dtype.old for each in (x, a, b)]
    for asked, names, i, j in (
        ("dtype", "mat1 and mat2", 1, 2),
        ("dtype", "self and mat1", 0, 1),
        ("batch size", "mat1 and mat2", 1, 2),
        ("batch size", "self and mat1", 0, 1),
    ):
        found = kinds if asked == "dtype" else batches
        if found[i] != found[j] and found[i] != []:  # one matrix of places serves a whole batch
            raise EngineError(f"{said}{names} to have the same {asked}, but got {found[i]} and {found[j]}")
    (rows, inner), (inner_too, columns) = a.shape[-2:], b.shape[-2:]
    if inner != inner_too:
        raise EngineError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {inner_too}x{columns})"
        )
    for dim, its, name in (-2, rows, "mat1"), (-1, columns, "mat2"):
        if x.shape[dim] != its:
            raise EngineError(f"sampled_addmm: self.shape[{dim}] must match {name}.shape[{dim}]")


def repeated(x: Any, batch: tuple[int, ...]) -> Any:
    """A sparse tensor many times."""
    at, count = x._at._array, math.prod(batch)
    front = np.indices(batch).reshape(len(batch), -1).repeat(at.shape[1], 1)
    held = x._held.expand(count, *x._held.shape).flatten(0, 1)
    at = np.concatenate((front, np.tile(at, count))).astype(np.int64)
    return make(new_tensor(at), held, (*batch, *x.shape), x._array.sorted)


@handles("softmax")
def softmax(x: Any, dim: int, *, dtype: Any = None, logarithm: bool = False) -> Any:
    """Softmax along a dimension, over the entries that are there."""
    x = coalesced(in_places(x) if dtype is None else in_places(x).to(dtype))
    dim, count = dim % x.dim(), x._at.shape[0]
    if dim >= count:
        function = "log_softmax" if logarithm else "softmax"
        return x.alike(getattr(x._held, function)(dim - count + 1))
    others = [d for d in range(count) if d != dim]
    places = flat_places(x._at._array[others], tuple(x.shape[d] for d in others))
    groups, group = np.unique(places, return_inverse=True)
    index = new_tensor(group.reshape(-1))
    wide = index.view(-1, *[1] * (x._held.dim() - 1)).expand(x._held.shape)
    room = x._held.new_zeros((len(groups), *x._held.shape[1:]))
    top = room.scatter_reduce(0, wide, x._held.detach(), "amax", include_self=False)
    shifted = x._held - top[index]
    total = room.index_add(0, index, shifted.exp())
    return x.alike(shifted - total.log()[index] if logarithm else shifted.exp() / total[index])


@handles("log_softmax")
def log_softmax(x: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return softmax(x, dim, dtype=dtype, logarithm=True)


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A matrix with the rows of `diagonals` on its diagonals."""
    offsets = offsets if isinstance(offsets, Tensor) else FUNCTIONS["tensor"](offsets)
    _check_diagonals(diagonals, offsets, shape, layout)
    diagonals = diagonals if diagonals.dim() == 2 else diagonals.unsqueeze(0)
    none = np.zeros(0, np.int64)
    rows, columns, held = [none], [none], [diagonals.new_zeros(0)]
    for i, offset in enumerate(np.atleast_1d(offsets._array)):
        at = np.arange(diagonals.shape[1])
        kept = at[(at - offset >= 0) & (at - offset < shape[0]) & (at < shape[1])]
        rows.append(kept - offset)
        columns.append(kept)
        held.append(diagonals[i][new_tensor(kept)])
    at = np.stack((np.concatenate(rows), np.concatenate(columns))).astype(np.int64)
    result = make(new_tensor(at), FUNCTIONS["cat"](held), shape)
    return result if layout is None or layout is sparse_coo else compressed(result, layout)


def _check_diagonals(diagonals: Any, offsets: Any, shape: Any, layout: Any) -> None:
    count = diagonals.shape[0] if diagonals.dim() == 2 else 1
    lines = np.atleast_1d(offsets._array)
    problem = (
        "Diagonals must be vector or matrix" if diagonals.dim() not in (1, 2)
        else "Output shape must be 2d" if len(shape) != 2
        else "Offsets must be scalar or vector" if offsets.dim() > 1
        else f"Number of diagonals ({count}) does not match the number of offsets ({len(lines)})" if count != len(lines)
        else f"Offset Tensor must have dtype Long but got {offsets.dtype.old}" if offsets.dtype is not int64
        else "Offset tensor contains duplicate values" if len(np.unique(lines)) != len(lines)
        else f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {TITLES.get(layout, layout)}"
        if layout not in (None, sparse_coo, sparse_csr, sparse_csc)
        else None
    )  # fmt: skip
    if problem:
        raise EngineError(problem)


@handles("lobpcg", any_layout=True)
def _lobpcg(
    A: Any, k: Any = None, B: Any = None, X: Any = None, n: Any = None, iK: Any = None, niter: Any = None, tol: Any = None,
    largest: Any = None, method: Any = None, tracker: Any = None, *others: Any, **named: Any,
) -> Any:  # fmt: skip
    rest = [*others, *[named.get(f"ortho_{kind}params") for kind in "ifb"[len(others) :]]]
    return eigenpairs(A, k, B, X, n, iK, niter, tol, largest, method, tracker, (rest[0], rest[1], rest[2]))


@handles("triangular_solve", any_layout=True)
def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *, out: Any = None
) -> Any:
    """A dense solution; of the sparse matrix no copy comes with it."""
    if is_sparse(b) or A._layout is sparse_coo:
        raise NotSupportedError(
            "Could not run 'aten::triangular_solve' with arguments from the 'SparseCPU' backend.\n"
            "A dense right side is solved for, with a matrix of compressed rows: A.to_sparse_csr()."
        )
    if TITLES[A._layout] not in ("SparseCsr", "SparseBsr"):
        raise ArgumentValueError("triangular_solve: unsupported sparse layout.")
    found, _ = FUNCTIONS["triangular_solve"](b, dense(A), upper, transpose, unitriangular)
    if not A._held.numel():  # a matrix of no entries: NaN, where dividing would give infinities, as in PyTorch
        found = FUNCTIONS["full_like"](found, math.nan)
    if out is None:
        return return_types.triangular_solve(found, FUNCTIONS["empty"](0, dtype=A.dtype))
    return return_types.triangular_solve(written(out[0], found), out[1])
