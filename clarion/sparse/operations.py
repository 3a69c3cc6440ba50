"""What public functions do where an argument is sparse: element by element, and sums."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import bool_ as bool_type
from ..core.dtypes import int64, sparse_coo, sparse_csr
from ..core.messages import broadcast_error
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError, NotSupportedError
from ..kernels.coo import flat_places
from ..ops.elementwise.arithmetic import check_alpha
from ..ops.faces.api import FUNCTIONS
from .compressed import COMPRESSED, TITLES, compressed
from .shapes import dimension, unsqueeze
from .tensor import coalesced, dense, gathered, handles, in_places, is_sparse, make, np, sparse

# Element by element: zero stays zero -----------------------------------------------------------------

_KEEPING_ZERO = [
    "abs", "absolute", "neg", "negative", "sin", "tan", "asin", "arcsin", "atan", "arctan", "sinh", "tanh",
    "asinh", "arcsinh", "atanh", "arctanh", "sqrt", "square", "sgn", "sign", "ceil", "floor", "round", "trunc",
    "fix", "frac", "expm1", "log1p", "erf", "erfinv", "relu", "rad2deg", "deg2rad", "isnan", "isinf", "isposinf",
    "isneginf", "signbit", "positive", "angle", "nan_to_num", "conj", "conj_physical", "real", "imag",
]  # fmt: skip


# Of these the sum of results is the result of the sum: places may be there twice.
_LINEAR = frozenset(["neg", "negative", "positive", "conj", "conj_physical", "real", "imag", "rad2deg", "deg2rad"])


def _mapped(name: str) -> None:
    def run(x: Any, *args: Any, out: Any = None, **options: Any) -> Any:
        if not is_sparse(x):
            raise EngineError(f"{name}(): the result of a dense tensor cannot be written to a sparse one")
        x = x if name in _LINEAR else coalesced(x)
        result = x.alike(getattr(x._held, name)(*args, **options))
        return result if out is None else written(out, result)

    def write(x: Any, *args: Any, **options: Any) -> Any:
        if name not in _LINEAR and not x._array.sorted:
            raise EngineError(f"{name}_ requires coalesced input")
        if name in ("abs", "absolute") and x.dtype.is_complex:
            raise EngineError("In-place abs is not supported for complex tensors.")
        return written(x, run(x, *args, **options))

    handles(name, any_layout=True)(run)
    handles(f"{name}_", any_layout=True)(write)


def written(target: Any, result: Any) -> Any:
    """A result in the place of another tensor, in the type of that one."""
    if not FUNCTIONS["can_cast"](result.dtype, target.dtype):
        raise DtypeError(f"result type {result.dtype.old} can't be cast to the desired output type {target.dtype.old}")
    if not is_sparse(target):
        return target.copy_(result.to_dense() if is_sparse(result) else result)
    return target.become(result if result.dtype is target.dtype else result.alike(result._held.to(target.dtype)))


for _name in _KEEPING_ZERO:
    _mapped(_name)


def _cast(name: str) -> None:
    handles(name, any_layout=True)(lambda x, *args, **options: x.alike(getattr(x._held, name)(*args, **options)))


for _name in (
    "float",
    "double",
    "half",
    "bfloat16",
    "int",
    "long",
    "short",
    "char",
    "byte",
    "bool",
    "cpu",
    "clone",
    "detach",
):
    _cast(_name)


@handles("to", any_layout=True)
def to(x: Any, *args: Any, **options: Any) -> Any:
    """Another type or device."""
    if args and is_sparse(args[0]):
        args = (args[0]._held, *args[1:])
    held = x._held.to(*args, **options)
    if held.is_meta and not x._held.is_meta:  # which places there are is known where there is memory alone
        return FUNCTIONS["zeros_like"](x, dtype=held.dtype, device=held.device)
    return x.alike(held)


handles("resolve_conj", "resolve_neg", any_layout=True)(lambda x: x)
handles("data", any_layout=True)(lambda x: x.alike(x._held.detach()))
handles("detach_", any_layout=True)(lambda x: x.become(x.alike(x._held.detach())))
handles("contiguous", any_layout=True)(lambda x, **options: _unless_compressed(x, "is_contiguous", x))
handles("is_contiguous", any_layout=True)(lambda x, *args, **options: _unless_compressed(x, "is_contiguous", False))
handles("stride", any_layout=True)(
    lambda x, dim=None: _unless_compressed(x, "strides", (0,) * x.dim() if dim is None else 0)
)
handles("is_same_size", any_layout=True)(lambda x, y: tuple(x.shape) == tuple(y.shape))
handles("zero_")(lambda x: x.become(make(x._at[:, :0], x._held[:0].detach(), x.shape, True)))


def _unless_compressed(x: Any, what: str, answer: Any) -> Any:
    if x._layout is not sparse_coo:
        raise EngineError(f"{TITLES[x._layout].upper().replace('SPARSE', 'Sparse ')} tensors do not have {what}")
    return answer


@handles("numpy")
def to_numpy(x: Any, *, force: bool = False) -> Any:
    """Refused: it has no such array."""
    raise ArgumentTypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")


@handles("copy_", any_layout=True)
def copy_(x: Any, other: Any, non_blocking: bool = False) -> Any:
    """Takes the values of another sparse tensor."""
    if any(is_sparse(each) and each._layout is not sparse_coo for each in (x, other)):
        _refuse_copy(x, other)
        return x.become(other.alike(other._held.to(x.dtype, copy=True)))
    if not (is_sparse(x) and is_sparse(other)):
        raise EngineError(
            f"copy_() between dense and sparse Tensors is not implemented! Found self type = {x.type()} and src type = {other.type()}"
        )
    return x.become(other.alike(other._held.to(x.dtype, copy=True)))


def _refuse_copy(x: Any, other: Any) -> None:
    """Compressed ones are copied to others of the same form only."""
    titles = [TITLES[each._layout] if is_sparse(each) else "Strided" for each in (x, other)]
    if titles[0] in ("Strided", "Sparse"):
        raise EngineError(f"copy_sparse_compressed_ expected sparse compressed tensor layout but got {titles[0]}")
    if titles[0] != titles[1]:
        raise EngineError(
            "torch.copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is "
            f"{titles[0]} and src layout is {titles[1]}"
        )
    if x._held.shape[0] != other._held.shape[0]:
        raise EngineError(
            "torch.copy_: only sparse compressed tensors with the same number of specified elements are supported."
        )
    for dim, (mine, its) in enumerate(zip(x.shape, other.shape, strict=False)):
        if mine != its:
            raise EngineError(
                f"torch.copy_: expected shapes of self and src to match along dimension {dim} for {titles[0]} layout but the "
                f"corresponding dimensions of self and src are {mine} and {its}, respectively."
            )
    if x._block != other._block:
        raise EngineError(
            "torch.copy_: copy of sparse compressed tensors having different block sizes is not supported. self and src block sizes "
            f"are {list(x._block)} and {list(other._block)}, respectively."
        )


@handles("type", "type_", any_layout=True)
def type_(x: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The old name of the type, or the tensor converted to another type."""
    if dtype is None:
        return f"torch.sparse.{x.dtype.old}Tensor"
    if isinstance(dtype, str):
        dtype = FUNCTIONS[dtype.rpartition(".")[2]]
    return x.to(getattr(dtype, "dtype", dtype))


@handles("pow")
def pow(x: Any, exponent: Any) -> Any:
    """Powers; zero stays zero."""
    if isinstance(exponent, (int, float)) and exponent == 0:
        raise EngineError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    x = coalesced(x)
    return x.alike(x._held**exponent)


@handles("mul", "multiply")
def mul(x: Any, other: Any) -> Any:
    """Products element by element: zero where one of them is zero."""
    if not is_sparse(x):
        x, other = other, x
    if is_sparse(other):
        if 0 in (x.dim(), other.dim()):  # a number
            number = other.dim() == 0 and (x.dim() > 0 or other._array.sorted)
            x, other = (x, other) if number else (other, x)
            kind = FUNCTIONS["result_type"](*((x._held, other._held) if x.dim() == 0 else (x._held, dense(other))))
            return x.alike(x._held.to(kind) * dense(other))
        return _intersection(x, other)
    if not isinstance(other, Tensor) or other.dim() == 0:
        return x.alike(x._held * other)
    if x._layout in COMPRESSED and x.shape != other.shape:
        raise EngineError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(other.shape)} but mask has size {list(x.shape)}"
        )
    try:
        shape = np.broadcast_shapes(tuple(x.shape), tuple(other.shape))
    except ValueError:
        raise broadcast_error(tuple(other.shape), tuple(x.shape)) from None
    if shape != tuple(x.shape):
        x = _expanded(x, shape)
    return x.alike(x._held * gathered(other.expand(shape), x._at))


def _expanded(x: Any, shape: tuple[int, ...]) -> Any:
    """A sparse tensor with its entries in more places."""
    count = x._at.shape[0]
    if tuple(x.shape)[count:] != shape[len(shape) - x.dim() + count :]:
        raise NotSupportedError("mul(sparse, dense): dense dimensions would have to be expanded")
    there = np.zeros(tuple(x.shape)[:count], bool)
    there[tuple(x._at._array)] = True
    places = np.nonzero(np.broadcast_to(there, shape[: len(shape) - x.dim() + count]))
    at = new_tensor(np.stack(places).astype(np.int64))
    return make(at, gathered(dense(x).expand(shape), at), shape, True)


def _intersection(x: Any, y: Any) -> Any:
    sparse = x._at.shape[0]
    if x.dim() != y.dim() or sparse != y._at.shape[0] or x.shape[:sparse] != y.shape[:sparse]:
        raise EngineError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, "
            f"and shape of sparse dimensions, but got {list(x.shape)} ({sparse} sparse) and {list(y.shape)} ({y._at.shape[0]} sparse)"
        )
    a, b = in_places(x), in_places(y)
    known = a._array.sorted, b._array.sorted
    # One gives the places, in its order and as often as it has them; what the other has at a place is summed first.
    first = known[1] if known[0] is not known[1] else a._held.shape[0] < b._held.shape[0]
    source, other = (a, coalesced(b)) if first else (b, coalesced(a))
    sizes = tuple(x.shape)[:sparse]
    shape = np.broadcast_shapes(tuple(x.shape), tuple(y.shape))  # dense dimensions may be expanded
    wanted, places = (flat_places(each._at._array, sizes) for each in (source, other))
    at = np.searchsorted(places, wanted)
    found = np.nonzero(np.append(places, -1)[at] == wanted)[0]
    here, there = new_tensor(found), new_tensor(at[found])
    result = make(source._at[:, here], source._held[here] * other._held[there], shape, source._array.sorted)
    return result if x._layout is sparse_coo else compressed(result, x._layout, index=x._index)


@handles("div", "divide", "true_divide")
def div(x: Any, other: Any, *, rounding_mode: Any = None, out: Any = None) -> Any:
    """Quotients by a number."""
    if not is_sparse(x) or is_sparse(other) or (isinstance(other, Tensor) and other.dim()):
        raise EngineError("Sparse division requires a scalar or zero-dim dense tensor divisor")
    x = x if rounding_mode is None else coalesced(x)
    result = x.alike(FUNCTIONS["div"](x._held, other, rounding_mode=rounding_mode))
    return result if out is None else written(out, result)


@handles("floor_divide", "__floordiv__")
def floor_divide(x: Any, other: Any) -> Any:
    """Quotients by a number, rounded down."""
    return div(x, other, rounding_mode="floor")


@handles("add")
def add(x: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """Sums: of two sparse tensors sparse, of a dense and a sparse one dense."""
    if out is not None:
        return written(out, add(x, other, alpha=alpha))
    if is_sparse(x) and not is_sparse(other):
        if isinstance(other, Tensor):
            if x._layout in COMPRESSED:  # which PyTorch adds in either order
                return add(other, x) if alpha == 1 else add(other * alpha, x)
            raise EngineError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        raise NotSupportedError("add(sparse, number): all elements would be filled; use x.to_dense()")
    if not is_sparse(x):
        if tuple(x.shape) != tuple(other.shape):
            raise _unlike_sizes(x, other, "op2" if other._layout in COMPRESSED else "dense")
        return FUNCTIONS["add"](x, dense(other), alpha=alpha)
    if tuple(x.shape) != tuple(other.shape):
        if x._layout in COMPRESSED:
            raise EngineError(
                f"torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape {list(x.shape)} "
                f"and tensor `other` with shape {list(other.shape)}"
            )
        raise _unlike_sizes(x, other, "op2")
    a, b = in_places(x), in_places(other)
    kind = FUNCTIONS["result_type"](a._held, b._held)  # (the opposite of an unsigned number is none)
    held = b._held if alpha == 1 else b._held.to(kind) * check_alpha((a._held, b._held), alpha)
    if a._at.shape[0] != b._at.shape[0]:
        return _of_unlike(a, b.alike(held), kind)
    cat = FUNCTIONS["cat"]
    result = make(cat([a._at, b._at], 1), cat([a._held, held]), x.shape)
    if a._array.in_order() and b._array.in_order():  # then PyTorch merges them, whether it knows of the order or not
        known = a._array.sorted and b._array.sorted
        result = coalesced(result)
        result = make(result._at, result._held, x.shape, known, result._layout)
    return result if x._layout is sparse_coo else compressed(result, x._layout, index=x._index)


def _unlike_sizes(x: Any, other: Any, first: str) -> EngineError:
    return EngineError(
        f"add: expected 'self' and 'other' to have same size, but self has size {list(x.shape)} while other has "
        f"size {list(other.shape)} (FYI: {first}-sparse addition does not currently support broadcasting)"
    )


def _of_unlike(a: Any, b: Any, kind: Any) -> Any:
    """The sum of tensors of which different dimensions are sparse: of them one must have no entries."""
    if a._nnz() and b._nnz():
        raise EngineError(
            "add: expected 'self' and 'other' to have same density, but 'self' has "
            f"{a.sparse_dim()} sparse dimensions while 'other' has {b.sparse_dim()} sparse dimensions"
        )
    found = b if b._nnz() else a
    return found.alike(found._held.to(kind))


@handles("sub", "subtract")
def sub(x: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """Differences."""
    if x.dtype is bool_type or (isinstance(other, Tensor) and other.dtype is bool_type):
        raise EngineError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    return add(x, other, alpha=-alpha, out=out)


def _in_place(name: str, run: Any) -> None:
    def write(x: Any, *args: Any, **options: Any) -> Any:
        return written(x, run(x, *args, **options))

    handles(name)(write)


for _name, _run in {
    "mul_": mul,
    "div_": div,
    "add_": add,
    "sub_": sub,
    "pow_": pow,
    "floor_divide_": floor_divide,
}.items():
    _in_place(_name, _run)

# Sums ------------------------------------------------------------------------------------------------


@handles("sum", any_layout=True)
def sum_(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or along dimensions."""
    if dtype is not None or (not x.dtype.is_floating_point and not x.dtype.is_complex):
        x = x.alike(x._held.to(dtype or int64))
    if dim is None:
        return x._held.sum()
    if x._layout is not sparse_coo:
        return _sum_of_compressed(x, dim, keepdim)
    given = [dimension(x, d) for d in ((dim,) if isinstance(dim, int) else dim)]
    if twice := [d for d in given if given.count(d) > 1]:
        raise EngineError(f"dim {twice[0]} appears multiple times in the list of dims")
    if not given:
        return x
    dims = set(given)
    x, count = in_places(x), x._at.shape[0]
    inner = [d - count + 1 for d in dims if d >= count]
    held = x._held.sum(inner) if inner else x._held
    kept = [d for d in range(count) if d not in dims]
    shape = [n for d, n in enumerate(x.shape) if d not in dims]
    if not kept:
        total = held.sum(0)
        for d in sorted(dims) if keepdim else ():
            total = total.unsqueeze(d)
        return total
    rows = new_tensor(np.array(kept, np.int64))
    result = coalesced(make(x._at[rows], held, shape))
    for d in sorted(dims) if keepdim else ():
        result = unsqueeze(result, d)
    return result


def _sum_of_compressed(x: Any, dim: Any, keepdim: bool) -> Any:
    if x._layout is not sparse_csr:
        raise EngineError(
            f"Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout {TITLES[x._layout]}"
        )
    if not keepdim:
        raise EngineError("reduction operations on CSR tensors with keepdim=False is unsupported")
    found = sum_(in_places(x), dim, True)
    return compressed(found if is_sparse(found) else sparse(found), sparse_csr, (), x._index)


@handles("norm", "vector_norm")
def norm(x: Any, p: Any = 2, dim: Any = None, *args: Any, **options: Any) -> Any:
    """The length of the vector of all elements."""
    if options.get("keepdim") or (args and args[0]):
        raise EngineError("norm_sparse currently does not support keepdim=True")
    if options.get("dtype") is not None:
        raise ArgumentValueError("dtype argument is not supported in frobenius norm")
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if dims and sorted(d % x.dim() for d in dims) != list(range(x.dim())):
        raise EngineError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input"
        )
    return coalesced(x)._held.norm(2 if p == "fro" or p is None else p)


handles("any")(lambda x: (coalesced(x)._held != 0).any())
handles("count_nonzero")(lambda x: (coalesced(x)._held != 0).sum())
handles("max", "amax")(lambda x, *dims, **options: _extreme(x, "maximum", dims, options))
handles("min", "amin")(lambda x, *dims, **options: _extreme(x, "minimum", dims, options))


def _extreme(x: Any, name: str, dims: Any, options: Any) -> Any:
    """Of all elements: zero is one of them if there is any place without an entry."""
    if dims or options:
        raise NotSupportedError(f"{name} of a sparse tensor along dimensions; x.to_dense() has them")
    x = coalesced(x)
    held = x._held.max() if name == "maximum" else x._held.min()
    full = x._held.numel() == math.prod(x.shape)
    return held if full else FUNCTIONS[name](held, x._held.new_zeros(()))


@handles("equal")
def equal(x: Any, y: Any) -> bool:
    """Are they the same, element by element?"""
    return bool(FUNCTIONS["equal"](dense(x) if is_sparse(x) else x, dense(y) if is_sparse(y) else y))


@handles("allclose", "isclose")
def allclose(x: Any, y: Any, *args: Any, **options: Any) -> Any:
    """Are they nearly the same?"""
    both = [dense(each) if is_sparse(each) else each for each in (x, y)]
    return FUNCTIONS["allclose"](*both, *args, **options)
