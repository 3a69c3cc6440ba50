"""A tensor plus a matrix product: addmm and its kin, and `linear`."""

from __future__ import annotations

from typing import Any

from ...core.calls import layer_call
from ...core.dtypes import HALF, f32, f64
from ...core.namespace import lifted
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, DtypeError, EngineError, ShapeError
from ...kernels.registry import raw
from ..elementwise.arithmetic import number, old_form
from ..elementwise.cast import cast_number
from ..faces.api import NN_FUNCTIONAL, call, functional, public, with_out
from ..faces.autocast import autocast
from ..faces.typed import part, show_parts
from .matmul import (
    c_name,
    cannot_multiply,
    check_bmm,
    check_mv,
    check_types,
    dot,
    fold_nt_op,
    matmul,
    mm_nt_op,
    old_name,
    tensors,
)

# Linear: x @ w.T + b ---------------------------------------------------------------------------------

_FLOATS = (f32, f64)

sum_rows_op = Op("sum_rows", "x", node="SumBackward1", traits="total")
sum_rows_op.vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape)).jvp("each")


def _plus(*parts: Any) -> Any:
    """The sum of the parts that are there."""
    total = None
    for each in parts:
        if each is not None:
            total = each if total is None else total + each
    return total


def _linear_tangent(dx: Any, dw: Any, db: Any, x: Any, w: Any, ops: Any) -> Any:
    of_x = None if dx is None else ops.linear(dx, w, None)
    of_w = None if dw is None else ops.linear(x, dw, None)
    return _plus(of_x, of_w, db)


linear_op = Op("linear", "x w b", node="AddmmBackward0", traits="product layer")  # two dimensions
linear_rows_op = Op("linear_rows", "x w b", node="ViewBackward0", traits="product layer")  # any other number
for _op in (linear_op, linear_rows_op):
    _op.vjp(
        x=lambda g, w, ops: ops.fold_mm(g, w),
        w=lambda g, x, ops: ops.fold_tn(g, x),
        b=lambda g, ops: ops.sum_rows(g),
    ).jvp(_linear_tangent)


def _gradients(g: Any, x: Any, w: Any, edges: Any) -> Any:
    """All gradients by one kernel. Those of weights that autocast has cast are kept in float32, which they go to."""
    of_x, of_w, of_b = edges
    needs = (of_x is not None, of_w is not None, of_b is not None)
    wide = (of_w is not None and type(of_w)._widens, of_b is not None and type(of_b)._widens)
    return raw.linear_gradients(g, x, w, needs, wide)


linear_op.at_once = linear_rows_op.at_once = _gradients

_NONE = (None, 0)


def _shown(x: Any, w: Any, b: Any = _NONE) -> tuple[Any, ...]:
    """Behind PyTorch's node: the bias, the input, and the transpose of the weight."""
    return b, x, part("TBackward0", w)


def _shown_rows(x: Any, w: Any, b: Any = _NONE) -> tuple[Any, ...]:
    return (part("AddmmBackward0", *_shown(part("ViewBackward0", x), w, b)),)


linear_op.node_class.leaf_order = 2, 0, 1
linear_rows_op.node_class.leaf_order = 2, 1, 0
show_parts(linear_op, _shown)
show_parts(linear_rows_op, _shown_rows)
show_parts(mm_nt_op, lambda x, w: (x, part("TBackward0", w)))
show_parts(fold_nt_op, lambda x, w: (part("MmBackward0", part("UnsafeViewBackward0", x), part("TBackward0", w)),))

# beta * x + alpha * product --------------------------------------------------------------------------


def scaled(value: Any, factor: Any) -> Any:
    """A gradient times a number that is nearly always 1."""
    return value if factor == 1 else value * factor


def _addmm_tangent(dx: Any, dmat1: Any, dmat2: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, ops: Any) -> Any:
    product = _plus(None if dmat1 is None else ops.mm(dmat1, mat2), None if dmat2 is None else ops.mm(mat1, dmat2))
    return _plus(None if dx is None else dx * beta, None if product is None else product * alpha)


addmm_op = Op("addmm", "x mat1 mat2", "beta alpha", broadcast=True, traits="product accumulates")
addmm_op.vjp(
    x=lambda g, beta: scaled(g, beta),
    mat1=lambda g, mat2, alpha, ops: scaled(ops.fold_nt(g, mat2), alpha),
    mat2=lambda g, mat1, alpha, ops: scaled(ops.fold_tn(mat1, g), alpha),
).jvp(_addmm_tangent)

addmv_op = Op("addmv", "x mat vec", "beta alpha", broadcast=True, traits="product accumulates")
addmv_op.vjp(
    x=lambda g, beta: scaled(g, beta),
    mat=lambda g, vec, alpha, ops: scaled(ops.outer(g, vec), alpha),
    vec=lambda g, mat, alpha, ops: scaled(ops.vecmat(g, mat), alpha),
)

addr_op = Op("addr", "x vec1 vec2", "beta alpha", broadcast=True, promote="common", traits="product accumulates")
addr_op.vjp(
    x=lambda g, beta: scaled(g, beta),
    vec1=lambda g, vec2, alpha, ops: scaled(ops.mv(g, vec2), alpha),
    vec2=lambda g, vec1, alpha, ops: scaled(ops.vecmat(vec1, g), alpha),
)

baddbmm_op = Op("baddbmm", "x batch1 batch2", "beta alpha", broadcast=True, traits="product accumulates")
baddbmm_op.vjp(
    x=lambda g, beta: scaled(g, beta),
    batch1=lambda g, batch2, alpha, ops: scaled(ops.matmul_nt(g, batch2), alpha),
    batch2=lambda g, batch1, alpha, ops: scaled(ops.matmul_tn(batch1, g), alpha),
)

# The engine sees g of shape (n, m); the products with it broadcast over the batches.
addbmm_op = Op("addbmm", "x batch1 batch2", "beta alpha", broadcast=True, traits="product accumulates")
addbmm_op.vjp(
    x=lambda g, beta: scaled(g, beta),
    batch1=lambda g, batch2, alpha, ops: scaled(ops.matmul_nt(g, batch2), alpha),
    batch2=lambda g, batch1, alpha, ops: scaled(ops.matmul_tn(batch1, g), alpha),
)


# Public faces --------------------------------------------------------------------------------------


@functional()
@autocast("lower")
def linear(input: Any, weight: Any, bias: Any = None, *, out: Any = None) -> Any:
    """input @ weight.T + bias."""
    if out is not None:
        return with_out("linear", linear)(input, weight, bias, out=out)
    return _linear(input, weight, None) if bias is None else _quick_linear(input, weight, bias)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    """The same, whatever is given."""
    if bias is not None and isinstance(input, Tensor):
        try:
            a, w, b = input._array, weight._array, bias._array
        except AttributeError:
            tensors("linear", input, weight, bias, names=("input", "weight", "bias"))
            raise
        if a.ndim == 2 and b.ndim == 1 and w.shape == (len(b), a.shape[1]) and a.dtype is w.dtype is b.dtype in _FLOATS:
            return linear_op.call(input, weight, bias)
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        tensors("linear", input, weight, names=("input", "weight"))
    a, w = input._array, weight._array
    ndim = a.ndim
    if ndim == 0 or w.ndim != 2:
        return _odd_linear(input, weight, bias)
    if a.shape[-1] != w.shape[1]:
        cannot_multiply((1, *a.shape) if ndim == 1 else a.shape, w.shape[::-1])
    if a.dtype is not w.dtype or a.dtype.kind == "b":
        if bias is not None:
            _check_first(bias._array, w)
        check_types(a, w, "mm" if bias is None else "addmm")
    if bias is None:
        if ndim == 1:
            return lifted.vecmat(input, lifted.t(weight))
        return lifted.mm_nt(input, weight) if ndim == 2 else lifted.fold_nt(input, weight)
    b = bias._array
    if b.dtype is not a.dtype and b.dtype != a.dtype:
        if ndim > 2 and not a.flags.c_contiguous:  # PyTorch adds the bias in place to such a product: any type will do
            return lifted.fold_nt(input, weight).add_(bias)
        raise DtypeError(f"self and mat2 must have the same dtype, but got {old_name(b)} and {old_name(w)}")
    if b.shape != w.shape[:1]:
        check_expands(b.shape, (a.size // a.shape[-1] if a.size else 0, w.shape[0]))
        if b.ndim > 1:
            return linear(input, weight) + bias
        bias = lifted.expand(bias, w.shape[:1])
    return linear_op.call(input, weight, bias) if ndim == 2 else linear_rows_op.call(input, weight, bias)


_quick_linear = layer_call(linear_op, layer_call(linear_rows_op, _linear))


def _odd_linear(input: Any, weight: Any, bias: Any) -> Any:
    """A weight that is a vector gives one output feature, without its dimension."""
    a, w = input._array, weight._array
    if a.ndim == 0 or w.ndim == 0:
        raise ShapeError(f"both arguments to linear need to be at least 1D, but they are {a.ndim}D and {w.ndim}D")
    if w.ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {w.ndim}D")
    if bias is not None and a.ndim == 2:
        raise ShapeError("mat2 must be a matrix, got 1-D tensor")
    out = dot(input, weight) if a.ndim == 1 else matmul(input, weight)
    return out if bias is None else out + bias


def check_expands(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """The tensor that is added must broadcast to the product."""
    if len(shape) > len(target):
        raise ShapeError(
            f"expand(torch.FloatTensor{{{list(shape)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    for i in range(1, len(shape) + 1):
        if shape[-i] != target[-i] and shape[-i] != 1:
            raise ShapeError(
                f"The expanded size of the tensor ({target[-i]}) must match the existing size ({shape[-i]}) at "
                f"non-singleton dimension {len(target) - i}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )


def factors(array: Any, beta: Any, alpha: Any, exact: bool = False) -> tuple[Any, Any]:
    """beta and alpha, cut to integers for integer tensors; those of half precision need to fit float32 only, unless `exact`."""
    beta, alpha = number("beta", beta), number("alpha", alpha)
    kind = array.dtype
    for factor in (beta, alpha):
        if (
            type(factor) is not int and type(factor) is not float
        ) or not -128 < factor < 128:  # (every type holds those)
            cast_number(factor, kind if exact or kind not in HALF else f32)
    return (int(beta), int(alpha)) if kind.kind in "iu" else (beta, alpha)


def _title(name: str, run: Any) -> str:
    """The name of a function, or of its form that writes."""
    return name if run is call else f"{name}_"


def old_product(name: str, *given: Any) -> tuple[Any, Any, Any, Any, Any]:
    """PyTorch's old form, with numbers before the tensors they multiply: input, both factors, beta, alpha."""
    tensors = [value for value in given if isinstance(value, Tensor)]
    numbers = [value for value in given if not isinstance(value, Tensor)]
    if len(tensors) != 3 or len(numbers) not in (1, 2):
        raise ArgumentTypeError(f"{name}() received an invalid combination of arguments")
    old_form(name, "(Number beta, Tensor input, Number alpha, Tensor, Tensor)", None)
    return (*tensors, numbers[0], numbers[1] if len(numbers) == 2 else 1)  # type: ignore[return-value]


def _check_first(x: Any, other: Any) -> None:
    if x.dtype != other.dtype:
        raise DtypeError(f"self and mat2 must have the same dtype, but got {old_name(x)} and {old_name(other)}")


@public(inplace=True, out=True)
@autocast("lower")
def addmm(input: Any, mat1: Any, mat2: Any, *_old: Any, beta: Any = 1, alpha: Any = 1, run: Any = call) -> Any:
    """beta * input + alpha * (mat1 @ mat2)."""
    if _old:
        input, mat1, mat2, beta, alpha = old_product(_title("addmm", run), input, mat1, mat2, *_old)
    x, a, b = tensors("addmm", input, mat1, mat2, names=("input", "mat1", "mat2"))
    for name, array in (("mat1", a), ("mat2", b)):
        if array.ndim != 2:
            raise ShapeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    if a.shape[1] != b.shape[0]:
        cannot_multiply(a.shape, b.shape)
    _check_first(x, b)
    check_types(a, b, "addmm")
    check_expands(x.shape, (a.shape[0], b.shape[1]))
    return run(addmm_op, input, mat1, mat2, *factors(x, beta, alpha))


@public("_addmm_activation", out=True)
@autocast("lower")
def _addmm_activation(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False
) -> Any:
    """relu, or gelu, of addmm."""
    product = addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return NN_FUNCTIONAL["gelu"](product) if use_gelu else product.relu()


@public(inplace=True, out=True)
def addmv(input: Any, mat: Any, vec: Any, *_old: Any, beta: Any = 1, alpha: Any = 1, run: Any = call) -> Any:
    """beta * input + alpha * (mat @ vec)."""
    if _old:
        input, mat, vec, beta, alpha = old_product(_title("addmv", run), input, mat, vec, *_old)
    x, a, b = tensors("addmv", input, mat, vec, names=("input", "mat", "vec"))
    if a.ndim != 2 or b.ndim != 1:
        raise ShapeError(f"vector + matrix @ vector expected, got {x.ndim}, {a.ndim}, {b.ndim}")
    size = x.shape[0] if x.ndim == 1 else 1
    check_mv(a, b, size)
    if x.ndim > 1 or size not in (1, a.shape[0]):
        raise ShapeError(f"size mismatch, got input ({size}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})")
    if x.dtype != a.dtype:
        raise DtypeError(
            f"addmv input tensors must have the same dtype, but got {old_name(x)}, {old_name(a)}, and {old_name(b)}"
        )
    return run(addmv_op, input, mat, vec, *factors(x, beta, alpha, exact=True))


@public(inplace=True, out=True)
def addr(input: Any, vec1: Any, vec2: Any, *_old: Any, beta: Any = 1, alpha: Any = 1, run: Any = call) -> Any:
    """beta * input + alpha * outer(vec1, vec2)."""
    if _old:
        input, vec1, vec2, beta, alpha = old_product(_title("addr", run), input, vec1, vec2, *_old)
    x, a, b = tensors("addr", input, vec1, vec2, names=("input", "vec1", "vec2"))
    for name, array in (("vec1", a), ("vec2", b)):
        if array.ndim != 1:
            raise ShapeError(f"addr: Expected 1-D argument {name}, but got {array.ndim}-D")
    check_expands(x.shape, (a.shape[0], b.shape[0]))
    truths = x.dtype.kind == a.dtype.kind == b.dtype.kind == "b"
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, bool) and not truths:
            raise EngineError(f"Boolean {name} only supported for Boolean results.")
        if isinstance(factor, float) and all(array.dtype.kind in "iub" for array in (x, a, b)):
            raise EngineError(f"For integral input tensors, argument {name} must not be a floating point number.")
        cast_number(factor, x.dtype)
    if truths:
        beta, alpha = bool(beta), bool(alpha)
    elif all(array.dtype.kind in "iub" for array in (x, a, b)):
        beta, alpha = int(beta), int(alpha)
    return run(addr_op, input, vec1, vec2, beta, alpha)


def _check_batches(x: Any, a: Any, b: Any) -> None:
    if b.ndim < 3 or a.ndim < 3:
        low = min(a.ndim, b.ndim)
        raise ArgumentIndexError(f"Dimension out of range (expected to be in range of [{-low}, {low - 1}], but got 2)")
    check_types(a, b, "bmm")
    if x.dtype != a.dtype:
        raise DtypeError(
            "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(
                *(c_name(t) for t in (x, a, b))
            )
        )


@public(inplace=True, out=True)
@autocast("lower")
def baddbmm(input: Any, batch1: Any, batch2: Any, *_old: Any, beta: Any = 1, alpha: Any = 1, run: Any = call) -> Any:
    """beta * input + alpha * bmm(batch1, batch2)."""
    if _old:
        input, batch1, batch2, beta, alpha = old_product(_title("baddbmm", run), input, batch1, batch2, *_old)
    x, a, b = tensors("baddbmm", input, batch1, batch2, names=("input", "batch1", "batch2"))
    _check_batches(x, a, b)
    check_bmm(a.shape, b.shape)
    check_expands(x.shape, (*a.shape[:2], b.shape[2]))
    return run(baddbmm_op, input, batch1, batch2, *factors(x, beta, alpha))


@public(inplace=True, out=True)
@autocast("lower")
def addbmm(input: Any, batch1: Any, batch2: Any, *_old: Any, beta: Any = 1, alpha: Any = 1, run: Any = call) -> Any:
    """beta * input + alpha * the sum of the products of two batches of matrices."""
    if _old:
        input, batch1, batch2, beta, alpha = old_product(_title("addbmm", run), input, batch1, batch2, *_old)
    x, a, b = tensors("addbmm", input, batch1, batch2, names=("input", "batch1", "batch2"))
    _check_batches(x, a, b)
    if a.shape[0] != b.shape[0]:
        raise ShapeError(f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise ShapeError(f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and {b.shape[1]}x{b.shape[2]})")
    check_expands(x.shape, (a.shape[1], b.shape[2]))
    return run(addbmm_op, input, batch1, batch2, *factors(x, beta, alpha))
