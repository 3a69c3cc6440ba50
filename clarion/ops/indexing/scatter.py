"""gather and the scatter family: reading and writing along one dimension at places that an index tensor names."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.dtypes import NumpyNumber, i64, int32
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, DtypeError, EngineError, ShapeError, not_a_tensor
from ...kernels.blocks import in_range
from ..elementwise.cast import cast_number
from ..faces.api import call, in_one_step, public
from ..faces.strict_out import strict_out
from ..faces.typed import no_gradient

gather_op = Op("gather", "x index", "dim", moves=True, traits="rearranges", saved_constants={"sparse_grad": False})
gather_op.vjp(x=lambda g, index, x_shape, dim, ops: ops.gather_backward(g, index, x_shape, dim)).jvp("each")

# The same with a gradient that holds the places that were read only.
sparse_gather_op = Op(
    "sparse_gather", "x index", "dim", node="GatherBackward0", moves=True, saved_constants={"sparse_grad": True}
)


def _sparse_rule(g: Any, x_shape: Any, index: Any, dim: int, ops: Any) -> Any:
    if isinstance(g, Tensor):  # under create_graph, where gradients are dense
        return ops.gather_backward(g, index, x_shape, dim)
    return ops.gather_sparse_backward(g, index, x_shape, dim)


sparse_gather_op.vjp(x=_sparse_rule)

gather_backward_op = Op("gather_backward", "g index", "shape dim", node="ScatterAddBackward0", moves=True)
gather_backward_op.vjp(g=lambda g, index, dim, ops: ops.gather(g, index, dim)).jvp("each")

scatter_op = Op("scatter", "x index src", "dim", moves=True)
scatter_op.vjp(
    x=lambda g, index, dim, ops: ops.scatter_value(g, index, dim, 0),
    src=lambda g, index, dim, ops: ops.gather(g, index, dim),
)

scatter_value_op = Op("scatter_value", "x index", "dim value", node="ScatterBackward1", moves=True)
scatter_value_op.vjp(x=lambda g, index, dim, ops: ops.scatter_value(g, index, dim, 0))

scatter_add_op = Op("scatter_add", "x index src", "dim", moves=True)
scatter_add_op.vjp(x=lambda g: g, src=lambda g, index, dim, ops: ops.gather(g, index, dim)).jvp("together")


scatter_combine_op = Op("scatter_combine", "x index src", "dim how", node="NotImplemented", moves=True)
scatter_combine_op.vjp(x=no_gradient("scatter"), src=no_gradient("scatter"))


# Reductions: scatter_reduce and index_reduce differ in how an index reads and clears places ------------------


def mean_x(g: Any, index: Any, dim: int, reduce: str, include_self: bool, rows: bool, ops: Any) -> Any:
    """Gradient of the values that were there, for sum and mean."""
    if reduce == "mean":
        g = g / ops.meeting_count(g, index, dim, include_self, rows)
    return g if include_self else clear(g, index, dim, rows, ops)


def mean_src(g: Any, index: Any, dim: int, reduce: str, include_self: bool, rows: bool, ops: Any) -> Any:
    """Gradient of the values that came, for sum and mean."""
    if reduce == "mean":
        g = g / ops.meeting_count(g, index, dim, include_self, rows)
    return read(g, index, dim, rows, ops)


def read(x: Any, index: Any, dim: int, rows: bool, ops: Any) -> Any:
    """The values at the places where the index points."""
    return ops.index_select(x, index, dim) if rows else ops.gather(x, index, dim)


def clear(x: Any, index: Any, dim: int, rows: bool, ops: Any) -> Any:
    """Zero at the places where the index points."""
    return ops.index_fill(x, index, dim, 0) if rows else ops.scatter_value(x, index, dim, 0)


def reduce_all(
    g: Any, x: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool, rows: bool, out: Any, ops: Any
) -> tuple[Any, Any, Any]:
    """Gradients of prod, amax and amin. A zero in a product gets the product of the others."""
    if reduce != "prod":
        mine, theirs = ops.meeting_shares(x, index, src, out, dim, include_self, rows)
        return g * mine, None, read(g, index, dim, rows, ops) * theirs
    again = ops.index_reduce if rows else ops.scatter_reduce
    safe = ops.where(x == 0, 1, x)
    gx = g * again(safe, index, src, dim, reduce, include_self, rows) / safe
    lone = ops.lone_zero(index, src, x.shape, dim, rows)
    others = again(x, index, ops.where(lone, 1, src), dim, reduce, include_self, rows)
    gs = ops.where(
        lone,
        read(g * others, index, dim, rows, ops),
        read(g * out, index, dim, rows, ops) / ops.where(src == 0, 1, src),
    )
    gs = ops.no_second_zero(gs, index, src, x.shape, dim, rows)
    return gx if include_self else clear(gx, index, dim, rows, ops), None, gs


scatter_reduce_mean_op = Op(
    "scatter_reduce_mean", "x index src", "dim reduce include_self rows", node="ScatterReduceBackward0"
)
scatter_reduce_mean_op.vjp(x=mean_x, src=mean_src)
scatter_reduce_op = Op("scatter_reduce", "x index src", "dim reduce include_self rows")
scatter_reduce_op.vjp(reduce_all)

index_reduce_mean_op = Op(
    "index_reduce_mean", "x index src", "dim reduce include_self rows", node="IndexReduceBackward0"
)
index_reduce_mean_op.vjp(x=mean_x, src=mean_src)
index_reduce_op = Op("index_reduce", "x index src", "dim reduce include_self rows")
index_reduce_op.vjp(reduce_all)

Op("meeting_count", "g index", "dim include_self rows", differentiable=False)
Op("meeting_shares", "x index src out", "dim include_self rows", outputs="mine theirs", differentiable=False)
Op("lone_zero", "index src", "shape dim rows", differentiable=False)
Op("no_second_zero", "g index src", "shape dim rows").vjp(
    g=lambda g, index, src, shape, dim, rows, ops: ops.no_second_zero_backward(g, index, src, shape, dim, rows)
)
Op("no_second_zero_backward", "g index src", "shape dim rows").vjp(g=lambda g: g)


# Checks ---------------------------------------------------------------------------------------------------


def tensor_argument(name: str, argument: str, position: int, value: Any) -> None:
    """Refuse what is not a Tensor."""
    if not isinstance(value, Tensor):
        raise not_a_tensor(name, argument, value, position)


def first_outside(index: Any, size: int, low: int = 0) -> int:
    """The first index out of range, for the message."""
    return int(index[(index < low) | (index >= size)].flat[0])


def along_index(name: str, x: Any, dim: Any, index: Any, *, gather: bool = False) -> tuple[int, Any]:
    """Check the arguments of gather and scatter; the dimension counted from the front, and the index as int64."""
    if not isinstance(x, Tensor) or not isinstance(index, Tensor):
        tensor_argument(name, "input", 1, x)
        tensor_argument(name, "index", 2 if isinstance(dim, int) else 3, index)
    if type(dim) is not int:
        raise ArgumentTypeError(f"{name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    shape, places = x._array.shape, index._array
    dim = normalize_dim(dim, len(shape))
    if places.dtype is not i64 and places.dtype != i64:
        if places.dtype != int32.numpy and places.size:
            raise DtypeError(f"{name}(): Expected dtype int32/int64 for index")
        index = new_tensor(places.astype(i64))
        places = index._array
    if places.size == 0:
        return dim, index
    if places.ndim != len(shape) and max(places.ndim, 1) != max(len(shape), 1):
        whose = "input" if gather else "self"
        raise ShapeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    if gather:
        for d, n in enumerate(places.shape):
            if d != dim and n > shape[d]:
                raise ShapeError(
                    f"Size does not match at dimension {d} expected index {list(places.shape)} to be no larger than "
                    f"self {list(shape)} apart from dimension {dim}"
                )
    return dim, index


def check_places(x: Any, dim: int, index: Any) -> None:
    """All indices must lie inside the dimension."""
    shape = x._array.shape
    size = shape[dim] if shape else 1
    if not in_range(index._array, size):
        wrong = first_outside(index._array, size)
        raise EngineError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


_KNOW_CORNERS = ("scatter", "scatter_add")  # operations whose kernels take the part of the source that the index uses


def fitting_src(name: str, x: Any, dim: int, index: Any, src: Any) -> Any:
    """Check the source of scatter against x and the index; the part of it that the index uses."""
    shape, wanted, given = x._array.shape, index._array.shape, src._array.shape
    if src._array.dtype != x._array.dtype:
        raise DtypeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index._array.size == 0:
        return src
    if len(given) != len(wanted) and max(len(given), 1) != max(len(wanted), 1):
        raise ShapeError("Index tensor must have the same number of dimensions as src tensor")
    if _outside(wanted, shape, dim) or (given != wanted and _outside(wanted, given)):
        raise ShapeError(
            f"Expected index {list(wanted)} to be no larger than self {list(shape)} apart from dimension {dim} and to "
            f"be no larger size than src {list(given)}"
        )
    check_places(x, dim, index)
    if given == wanted:
        return src
    if name in _KNOW_CORNERS and not (src._rg or src._view is not None or modes.special):
        return src  # (nobody asks for its gradient, which would have another shape)
    return src[tuple([slice(n) for n in wanted])] if wanted else src.reshape(())


def _outside(wanted: tuple[int, ...], shape: tuple[int, ...], but: int = -1) -> bool:
    """Is an index larger than an array in any dimension but one?"""
    for d, (n, m) in enumerate(zip(wanted, shape, strict=False)):  # noqa: SIM110  (twice as fast)
        if n > m and d != but:
            return True
    return False


# Public functions -----------------------------------------------------------------------------------------


@public(out=True)
def gather(input: Any, dim: Any, index: Any, *, sparse_grad: bool = False) -> Any:
    """The values of `input` along `dim` at the places in `index`."""
    dim, index = along_index("gather", input, dim, index, gather=True)
    check_places(input, dim, index)
    few = sparse_grad and input.is_leaf and input.requires_grad and modes.recording()
    return (sparse_gather_op if few else gather_op).call(input, index, dim)


@public(inplace=True, out=True)
def scatter(
    input: Any, dim: Any, index: Any, src: Any = None, value: Any = None, *, reduce: Any = None, run: Any = call
) -> Any:
    """`input` with `src` (or a number) written along `dim` at the places in `index`."""
    if src is None:
        src = value._array.item() if isinstance(value, Tensor) else value
    numeric = isinstance(src, (int, float, complex, NumpyNumber))
    if not numeric and not isinstance(src, Tensor):
        raise ArgumentTypeError(
            f"scatter() received an invalid combination of arguments: 'src' must be Tensor or Number, not "
            f"{type(src).__name__}"
        )
    dim, index = along_index("scatter", input, dim, index)
    if reduce is not None and reduce not in ("add", "multiply"):
        raise EngineError("reduce argument must be either add or multiply.")
    if numeric:
        _check_room(input, dim, index)
        src = cast_number(src, input._array.dtype)
        if reduce is None:
            return run(scatter_value_op, input, index, dim, src)
        return run(scatter_combine_op, input, index, input.new_tensor(src), dim, reduce)
    src = fitting_src("scatter", input, dim, index, src)
    if reduce is None:
        return run(scatter_op, input, index, src, dim)
    return run(scatter_combine_op, input, index, src, dim, reduce)


def _check_room(x: Any, dim: int, index: Any) -> None:
    shape, wanted = x._array.shape, index._array.shape
    if index._array.size and _outside(wanted, shape, dim):
        raise ShapeError(
            f"Expected index {list(wanted)} to be no larger than self {list(shape)} apart from dimension {dim}"
        )
    check_places(x, dim, index)


@public(inplace=True, out=True)
def scatter_add(input: Any, dim: Any, index: Any, src: Any, *, run: Any = call) -> Any:
    """`input` with `src` added along `dim` at the places in `index`; places may repeat."""
    tensor_argument("scatter_add", "src", 3, src)
    dim, index = along_index("scatter_add", input, dim, index)
    return run(scatter_add_op, input, index, fitting_src("scatter_add", input, dim, index, src), dim)


@public(inplace=True, out=True)
def scatter_reduce(
    input: Any, dim: Any, index: Any, src: Any, reduce: str, *, include_self: bool = True, run: Any = call
) -> Any:
    """The sum, prod, mean, amax or amin of all values of `src` that `index` sends to one place."""
    tensor_argument("scatter_reduce", "src", 3, src)
    dim, index = along_index("scatter_reduce", input, dim, index)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise EngineError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    src = fitting_src("scatter_reduce", input, dim, index, src)
    if not index._array.size:  # it may have other dimensions than the input
        nothing = (0,) * input._array.ndim
        index, src = index.new_zeros(nothing), src.reshape(-1)[:0].reshape(nothing)
    op = scatter_reduce_mean_op if reduce in ("sum", "mean") else scatter_reduce_op
    return run(op, input, index, src, dim, reduce, bool(include_self), False)


strict_out("gather", apart=True)
strict_out("scatter", "scatter_add", "scatter_reduce")
in_one_step("scatter_", scatter_op)
in_one_step("scatter_add_", scatter_add_op)
