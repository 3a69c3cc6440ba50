"""Matrix products. Their gradients are matrix products: of a kind (`fold_mm`, `matmul`) and of its transposes."""

from __future__ import annotations

from typing import Any, NoReturn

from ...core.devices import wraps
from ...core.dtypes import FROM_NUMPY, int32
from ...core.messages import broadcast_error
from ...core.namespace import lifted
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, DtypeError, NotSupportedError, ShapeError
from ...kernels.batched.levels import Mapped
from ...kernels.random import torch_names
from ..faces.api import METHODS, public
from ..faces.autocast import autocast
from ..shapes.shape import unsafe_view


def _product(name: str, node: str | None = None, saved_as: dict[str, str] | None = None) -> Op:
    return Op(name, "x y", node=node, pair=_batches_differ, traits="product", saved_as=saved_as).jvp("each")


def _batches_differ(a: Any, b: Any) -> bool:
    """Were the batch dimensions of two matrices broadcast?"""
    return (a.ndim > 2 or b.ndim > 2) and a.shape[:-2] != b.shape[:-2]


# Rows times a matrix: all leading dimensions of the first are rows -----------------------------------


def _fold_rules(op: Op) -> None:
    op.vjp(x=lambda g, y, ops: ops.fold_nt(g, y), y=lambda g, x, ops: ops.fold_tn(x, g))


def _fold_nt_rules(op: Op) -> None:
    op.vjp(x=lambda g, y, ops: ops.fold_mm(g, y), y=lambda g, x, ops: ops.fold_tn(g, x))


mm_op = _product("mm", saved_as={"mat2": "y"})
_fold_rules(mm_op)
fold_mm_op = _product("fold_mm", node="UnsafeViewBackward0")
_fold_rules(fold_mm_op)
mm_nt_op = _product("mm_nt", node="MmBackward0")
_fold_nt_rules(mm_nt_op)
fold_nt_op = _product("fold_nt", node="UnsafeViewBackward0")
_fold_nt_rules(fold_nt_op)
fold_tn_op = _product("fold_tn", node="MmBackward0")
fold_tn_op.vjp(x=lambda g, y, ops: ops.fold_nt(y, g), y=lambda g, x, ops: ops.fold_mm(x, g))

# Batches of matrices, broadcast ----------------------------------------------------------------------

matmul_op = _product("matmul", node="UnsafeViewBackward0")
matmul_op.vjp(x=lambda g, y, ops: ops.matmul_nt(g, y), y=lambda g, x, ops: ops.matmul_tn(x, g))
matmul_nt_op = _product("matmul_nt", node="BmmBackward0")
matmul_nt_op.vjp(x=lambda g, y, ops: ops.matmul(g, y), y=lambda g, x, ops: ops.matmul_tn(g, x))
matmul_tn_op = _product("matmul_tn", node="BmmBackward0")
matmul_tn_op.vjp(x=lambda g, y, ops: ops.matmul_nt(y, g), y=lambda g, x, ops: ops.matmul(x, g))
bmm_op = _product("bmm", saved_as={"mat2": "y"})
bmm_op.vjp(x=lambda g, y, ops: ops.matmul_nt(g, y), y=lambda g, x, ops: ops.matmul_tn(x, g))

# Vectors -------------------------------------------------------------------------------------------

mv_op = _product("mv", saved_as={"vec": "y"})
mv_op.vjp(x=lambda g, y, ops: ops.outer(g, y), y=lambda g, x, ops: ops.vecmat(g, x))
vecmat_op = _product("vecmat", node="SqueezeBackward4")
vecmat_op.vjp(x=lambda g, y, ops: ops.mv(y, g), y=lambda g, x, ops: ops.outer(x, g))
dot_op = _product("dot", saved_as={"tensor": "y"})
dot_op.vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
vdot_op = _product("vdot")
vdot_op.vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
outer_op = Op("outer", "x y", node="MulBackward0", promote="common", traits="product")
outer_op.vjp(x=lambda g, y, ops: ops.mv(g, y), y=lambda g, x, ops: ops.vecmat(x, g)).jvp("each")

# Checks --------------------------------------------------------------------------------------------


def old_name(array: Any) -> str:
    """The name of an array's type in messages."""
    return FROM_NUMPY[array.dtype].old


def c_name(array: Any) -> str:
    """The same, as the compiled code calls it."""
    return torch_names(array.dtype)[1]


def check_types(a: Any, b: Any, what: str = "mm") -> None:
    """Both factors must have the same type; PyTorch words it in many ways."""
    if a.dtype != b.dtype:
        text = {
            "mm": f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}",
            "addmm": f"mat1 and mat2 must have the same dtype, but got {old_name(a)} and {old_name(b)}",
            "bmm": f"expected scalar type {old_name(a)} but found {old_name(b)}",
            "dot": f"dot : expected both vectors to have same dtype, but found {old_name(a)} and {old_name(b)}",
            "mv": f"addmv input tensors must have the same dtype, but got {old_name(b)}, {old_name(a)}, and {old_name(b)}",
        }[what]
        raise DtypeError(f"{text}\nConvert one of them, e.g. with .to({FROM_NUMPY[a.dtype]}).")
    if a.dtype.kind == "b":
        kernel = {"mm": "addmm_impl_cpu_", "addmm": "addmm_impl_cpu_", "mv": "addmv_impl_cpu", "bmm": "baddbmm"}.get(
            what, what
        )
        raise NotSupportedError(f"\"{kernel}\" not implemented for 'Bool'\nConvert it first, e.g. with .float().")


def cannot_multiply(a: tuple[int, ...], b: tuple[int, ...]) -> NoReturn:
    """Two matrices whose inner sizes differ."""
    rows = 1
    for n in a[:-1]:
        rows *= n
    raise ShapeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a[-1]} and {b[0]}x{b[1]})\n"
        f"The first has {a[-1]} columns, the second {b[0]} rows; these must agree. Shapes: {list(a)} and {list(b)}."
    )


def check_mm(a: Any, b: Any) -> None:
    """Two matrices; a class that computes for itself says what its product is (a list of edges times the nodes' values)."""
    if wraps(a) or wraps(b):
        return
    if a.shape[1] != b.shape[0]:
        cannot_multiply(a.shape, b.shape)
    check_types(a, b)


def check_mv(a: Any, b: Any, size: int | None = None) -> None:
    """A matrix and a vector."""
    rows = 1
    for n in a.shape[:-1]:
        rows *= n
    if a.shape[-1] != b.shape[0]:
        size = rows if size is None else size
        raise ShapeError(f"size mismatch, got input ({size}), mat ({rows}x{a.shape[-1]}), vec ({b.shape[0]})")
    check_types(a, b, "mv")


def check_bmm(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Two batches of matrices (of one batch size)."""
    if a[0] != b[0] or a[2] != b[1]:
        raise ShapeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}].\nShapes: {list(a)} and {list(b)}."
        )


def tensors(name: str, *values: Any, names: tuple[str, ...] = ("input", "other")) -> list[Any]:
    """The arrays of arguments that must be Tensors."""
    for position, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(
                f"{name}(): argument '{names[position]}' (position {position + 1}) must be Tensor, "
                f"not {type(value).__name__}"
            )
    return [value._array for value in values]


# Public faces --------------------------------------------------------------------------------------


@public(out=True)
@autocast("lower")
def matmul(input: Any, other: Any) -> Any:
    """The matrix product, for any number of dimensions; batches are broadcast."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        tensors("matmul", input, other)
    a, b = input._array, other._array
    if a.ndim == 2 and b.ndim == 2:
        if a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype.kind == "b":
            check_mm(a, b)
        return mm_op.call(input, other)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    if b.ndim <= 2 and a.ndim >= 3:
        return _matmul_folded(input, other, a, b)
    if a.ndim >= 2 and b.ndim >= 2:
        return _matmul_batched(input, other, a, b)
    if a.ndim == 1:
        return _matmul_vector(input, other, a, b)
    check_mv(a, b)
    return mv_op.call(input, other)


def _matmul_folded(input: Any, other: Any, a: Any, b: Any) -> Any:
    """A batch times one matrix or vector: one product of all rows."""
    if b.ndim == 1:
        check_mv(a, b)
        rows = fold_mm_op.call(input, lifted.reshape(other, (b.shape[0], 1)))
        return unsafe_view(rows, a.shape[:-1])
    if a.shape[-1] != b.shape[0]:
        cannot_multiply(a.shape, b.shape)
    check_types(a, b)
    return fold_mm_op.call(input, other)


def _matmul_batched(input: Any, other: Any, a: Any, b: Any) -> Any:
    batch_a, batch_b = a.shape[:-2], b.shape[:-2]
    for m, n in zip(reversed(batch_a), reversed(batch_b), strict=False):
        if m != n and m != 1 and n != 1:
            raise broadcast_error(batch_a, batch_b)
    if a.shape[-1] != b.shape[-2]:
        size = 1
        for n in batch_b if len(batch_b) >= len(batch_a) else batch_a:
            size *= n
        check_bmm((size, *a.shape[-2:]), (size, *b.shape[-2:]))
    check_types(a, b, "bmm")
    return matmul_op.call(input, other)


def _matmul_vector(input: Any, other: Any, a: Any, b: Any) -> Any:
    if b.ndim == 1:
        return dot(input, other)
    if b.ndim == 2:
        if a.shape[0] != b.shape[0]:
            cannot_multiply((1, *a.shape), b.shape)
        check_types(a, b)
        return vecmat_op.call(input, other)
    rows = _matmul_batched(lifted.reshape(input, (1, a.shape[0])), other, a[None], b)
    return unsafe_view(rows, (*b.shape[:-2], b.shape[-1]))


@autocast("lower")
def _matmul_operator(self: Any, other: Any) -> Any:
    if type(other) is Tensor:
        a, b = self._array, other._array
        if a.dtype is b.dtype and a.ndim == 2 and b.ndim == 2 and a.shape[1] == b.shape[0] and a.dtype.kind != "b":
            return mm_op.call(self, other)
    taken = isinstance(other, Tensor) or hasattr(type(other), "__torch_function__")
    return matmul(self, other) if taken else NotImplemented


METHODS["__matmul__"] = _matmul_operator
METHODS["__rmatmul__"] = lambda self, other: matmul(other, self)


@public(out=True)
@autocast("lower")
def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    a, b = tensors("mm", input, mat2, names=("input", "mat2"))
    if a.ndim != 2 or b.ndim != 2:
        if isinstance(a, Mapped) or isinstance(b, Mapped):  # PyTorch's own words inside of `vmap`
            raise ShapeError(
                f"Shape mismatch: Got incorrect dims for mm(a, b). a has dim {a.ndim}and b has dim {b.ndim}but expected them to have "
                "dim 2 and dim 2"
            )
        raise ShapeError(f"{'self' if a.ndim != 2 else 'mat2'} must be a matrix")
    check_mm(a, b)
    return mm_op.call(input, mat2)


@public(out=True)
@autocast("lower")
def bmm(input: Any, mat2: Any) -> Any:
    """The products of two equally long batches of matrices."""
    if not isinstance(input, Tensor) or not isinstance(mat2, Tensor):
        tensors("bmm", input, mat2, names=("input", "mat2"))
    a, b = input._array, mat2._array
    if a.ndim != 3 or b.ndim != 3:
        raise ShapeError(f"{'batch1' if a.ndim != 3 else 'batch2'} must be a 3D tensor")
    check_bmm(a.shape, b.shape)
    if a.dtype is not b.dtype or a.dtype.kind == "b":
        check_types(a, b, "bmm")
    return bmm_op.call(input, mat2)


@public(out=True)
def mv(input: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    a, b = tensors("mv", input, vec, names=("input", "vec"))
    if a.ndim != 2 or b.ndim != 1:
        raise ShapeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
    check_mv(a, b)
    return mv_op.call(input, vec)


def _check_dot(name: str, second: str, input: Any, other: Any) -> None:
    a, b = tensors(name, input, other, names=("input", second))
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    check_types(a, b, "dot")
    if a.shape != b.shape:
        raise ShapeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively"
        )


@public(out=True)
def dot(input: Any, tensor: Any) -> Any:
    """The dot product of two vectors."""
    _check_dot("dot", "tensor", input, tensor)
    return dot_op.call(input, tensor)


@public(out=True)
def vdot(input: Any, other: Any) -> Any:
    """The dot product with the first vector conjugated."""
    _check_dot("vdot", "other", input, other)
    if input._array.dtype.kind == "c":
        return dot_op.call(lifted.conj(input), other)
    return vdot_op.call(input, other)


@public(out=True, aliases=("ger",))
def outer(input: Any, vec2: Any) -> Any:
    """The products of all pairs of elements of two vectors."""
    a, b = tensors("outer", input, vec2, names=("input", "vec2"))
    for name, array in (("self", a), ("vec2", b)):
        if array.ndim != 1:
            raise ShapeError(f"outer: Expected 1-D argument {name}, but got {array.ndim}-D")
    return outer_op.call(input, vec2)


@public(out=True)
@autocast("lower", when=lambda input, other: input.dim() > 1 or other.dim() > 1)
def inner(input: Any, other: Any) -> Any:
    """The sums of products over the last dimensions of both."""
    a, b = tensors("inner", input, other)
    if a.ndim == 0 or b.ndim == 0:
        return input * other
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a.shape)} and {list(b.shape)}"
        )
    check_types(a, b)
    if a.ndim == 1 and b.ndim == 1:
        return dot_op.call(input, other)
    columns = lifted.reshape(other, (b.size // b.shape[-1] if b.size else _rows_of(b), b.shape[-1]))
    rows = lifted.reshape(input, (1, a.shape[0])) if a.ndim == 1 else input
    return unsafe_view(fold_nt_op.call(rows, columns), a.shape[:-1] + b.shape[:-1])


def _rows_of(array: Any) -> int:
    rows = 1
    for n in array.shape[:-1]:
        rows *= n
    return rows


@public("_int_mm", method=False, out=True)
def _int_mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices of int8, summed in int32."""
    return mm(input.to(int32), mat2.to(int32))
