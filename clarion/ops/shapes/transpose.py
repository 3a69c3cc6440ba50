"""The order of dimensions: permutations and transposes, all of them views."""

from __future__ import annotations

import warnings
from typing import Any

from ...core import modes
from ...core.description import normalize_dim, whole
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError
from ..faces.api import METHODS, method, public
from .shape import Sizes, ints, tensor_needed

permute_op = Op("permute", "x", "dims", view=True, traits="rearranges reshapes")
permute_op.vjp(x=lambda g, dims, ops: ops.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))))

transpose_op = Op("transpose", "x", "dim0 dim1", view=True, traits="rearranges reshapes")
transpose_op.vjp(x=lambda g, dim0, dim1, ops: ops.transpose(g, dim0, dim1))

t_op = Op("t", "x", view=True, traits="rearranges reshapes")
t_op.vjp(x=lambda g, ops: ops.t(g))


def permuted(x: Tensor, dims: Sizes) -> Tensor:
    """Dimensions in another order."""
    return permute_op.call(x, order_of(dims, x._array.ndim))  # type: ignore[no-any-return]


def order_of(dims: Sizes, n: int) -> Sizes:
    """Each of `n` dimensions once, counted from the front."""
    if len(dims) != n:
        raise ShapeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    if n and (min(dims) < 0 or max(dims) >= n):
        dims = tuple([normalize_dim(d, n) for d in dims])
    if len(set(dims)) != n:
        raise EngineError("permute(): duplicate dims are not allowed.")
    return dims


@public("permute", method=False)
def permute(input: Any, dims: Any) -> Tensor:
    """Dimensions in another order."""
    if not isinstance(input, Tensor):
        raise tensor_needed("permute", input)
    return permuted(input, ints((dims,), "dims"))


@method("permute")
def _permute_method(self: Tensor, *order: Any, dims: Any = None) -> Tensor:
    quick = permute_op.quick if not modes.special else permute_op.quick_in_mode()
    out: Tensor | None = quick(self, order if dims is None else dims)
    if out is not None:
        return out
    return permuted(self, ints(order if dims is None else tuple(dims), "dims"))


@public(aliases=("swapdims", "swapaxes"))
def transpose(input: Any, dim0: int | None = None, dim1: int | None = None, **axes: int) -> Tensor:
    """Two dimensions exchanged."""
    quick = transpose_op.quick if not modes.special else transpose_op.quick_in_mode()
    out: Tensor | None = quick(input, dim0, dim1)
    if out is not None:
        return out
    if axes:
        dim0, dim1 = axes.get("axis0", dim0), axes.get("axis1", dim1)
    if not isinstance(input, Tensor):
        raise tensor_needed("transpose", input)
    n = input._array.ndim
    if type(dim0) is not int or type(dim1) is not int:
        dim0, dim1 = whole(dim0), whole(dim1)
        if dim0 is None or dim1 is None:
            raise ArgumentTypeError("transpose() takes the dimensions dim0 and dim1, two ints")
    return transpose_op.call(input, normalize_dim(dim0, n), normalize_dim(dim1, n))  # type: ignore[no-any-return]


@public()
def t(input: Any) -> Tensor:
    """The transpose of a matrix; a vector as it is."""
    quick = t_op.quick if not modes.special else t_op.quick_in_mode()
    out: Tensor | None = quick(input)
    if out is not None:
        return out
    if not isinstance(input, Tensor):
        raise tensor_needed("t", input)
    if input._array.ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._array.ndim}D")
    return t_op.call(input)  # type: ignore[no-any-return]


@public(aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other positions; the rest keep their order."""
    n = input._array.ndim
    src, dst = (
        ints((source,) if isinstance(source, int) else source),
        ints((destination,) if isinstance(destination, int) else destination),
    )
    if len(src) != len(dst):
        raise ShapeError(
            f"movedim: Invalid source or destination dims: source ({list(src)} dims) should contain the same number of "
            f"dims as destination ({list(dst)} dims)"
        )
    places = []
    for name, dims in (("source", src), ("destination", dst)):
        dims = tuple([normalize_dim(d, n) for d in dims])
        if len(set(dims)) != len(dims):
            raise ShapeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
        places.append(dims)
    order = [d for d in range(n) if d not in places[0]]
    if not n:
        return permute_op.call(input, ())  # type: ignore[no-any-return]
    for to, frm in sorted(zip(places[1], places[0], strict=True)):
        order.insert(to, frm)
    return permute_op.call(input, tuple(order))  # type: ignore[no-any-return]


def _matrices(x: Tensor, name: str) -> None:
    if x._array.ndim < 2:
        raise ShapeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {x._array.ndim}-D tensor."
        )


def _T(self: Tensor) -> Tensor:
    n = self._array.ndim
    if n == 2:
        quick = permute_op.quick if not modes.special else permute_op.quick_in_mode()
        out: Tensor | None = quick(self, (1, 0))
        if out is not None:
            return out
    elif n:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return permute_op.call(self, tuple(range(n - 1, -1, -1)))  # type: ignore[no-any-return]


def _mT(self: Tensor) -> Tensor:
    if self._array.ndim:
        _matrices(self, "mT")
    return transpose(self, -2, -1) if self._array.ndim else self


def _H(self: Tensor) -> Tensor:
    n = self._array.ndim
    if n not in (0, 2):
        raise ShapeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if n > 2 else "")
        )
    return _adjoint(self)


def _mH(self: Tensor) -> Tensor:
    if self._array.ndim:
        _matrices(self, "mH")
    return _adjoint(self)


@public()
def adjoint(input: Tensor) -> Tensor:
    """Matrices transposed and conjugated."""
    if input._array.ndim:
        _matrices(input, "adjoint()")
    return _adjoint(input)


def _adjoint(x: Tensor) -> Tensor:
    out = transpose(x, -2, -1) if x._array.ndim else x
    return out.conj() if x._array.dtype.kind == "c" else out  # type: ignore[union-attr]


METHODS["T"] = property(_T)
METHODS["mT"] = property(_mT)
METHODS["H"] = property(_H)
METHODS["mH"] = property(_mH)
