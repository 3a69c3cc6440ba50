"""Functions put together from views: broadcasting, grids, products of vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...core.devices import xp_of
from ...core.dtypes import Size, i64, int64
from ...core.messages import broadcast_error
from ...core.namespace import lifted
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, ShapeError
from ..elementwise.arithmetic import mul_op
from ..faces.api import FUNCTIONS, public
from ..faces.options import warn_user
from .join import stack, tensor_list
from .shape import expanded, reshaped, tensor_needed, unsafe_view, unsqueeze_op, view_op


def _given(name: str, tensors: tuple[Any, ...]) -> Any:
    """Tensors given one by one, or as one list."""
    return tensor_list(name, tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors)


# Broadcasting ------------------------------------------------------------------------------------------


@public(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors stretched to their common shape."""
    given = _given("broadcast_tensors", tensors)
    shapes = [t._array.shape for t in given]
    try:
        shape = broadcast_shapes(*shapes)
    except ValueError:
        raise broadcast_error(*shapes) from None
    return tuple([t if t._array.shape == shape else expanded(t, shape) for t in given])


@public(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of tensors with these shapes."""
    whole = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    for shape in whole:
        if any(n < 0 for n in shape):
            raise EngineError(f"Trying to create tensor with negative dimension ({min(shape)}): ({min(shape)})")
    common: list[int] = [1] * max([len(s) for s in whole], default=0)
    for i, shape in enumerate(whole):
        for d in range(-1, -1 - len(shape), -1):
            if shape[d] not in (1, common[d]):
                if common[d] != 1:
                    raise ShapeError(
                        f"Attempting to broadcast a dimension of length {shape[d]} at {d}! Mismatching argument at index "
                        f"{i} had {shape}; but expected shape should be broadcastable to {common}"
                    )
                common[d] = shape[d]
    return Size(common)


# At least so many dimensions -----------------------------------------------------------------------------


def _atleast(name: str, tensors: tuple[Any, ...], grow: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return grow(tensors[0])
    return tuple([grow(t) for t in _given(name, tensors)])


@public()
def atleast_1d(*tensors: Any) -> Any:
    """Scalars as vectors of one element."""
    return _atleast("atleast_1d", tensors, lambda x: x if x._array.ndim else reshaped(x, (1,)))


@public()
def atleast_2d(*tensors: Any) -> Any:
    """Scalars and vectors as matrices of one row."""
    return _atleast("atleast_2d", tensors, _matrix)


def _matrix(x: Tensor) -> Tensor:
    n = x._array.ndim
    if n >= 2:
        return x
    return unsqueeze_op.call(x, 0) if n else reshaped(x, (1, 1))


@public()
def atleast_3d(*tensors: Any) -> Any:
    """Fewer dimensions filled up to three."""
    return _atleast("atleast_3d", tensors, _cube)


def _cube(x: Tensor) -> Tensor:
    n = x._array.ndim
    if n >= 3:
        return x
    if n == 0:
        return reshaped(x, (1, 1, 1))
    return unsqueeze_op.call(unsqueeze_op.call(x, 0) if n == 1 else x, 2)  # type: ignore[no-any-return]


# Grids ---------------------------------------------------------------------------------------------------


@public(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid over vectors."""
    given = _given("meshgrid", tensors)
    if indexing is None:
        warn_user(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
        )
        indexing = "ij"
    if not given:
        raise EngineError("meshgrid expects a non-empty TensorList")
    for each in given:
        if each._array.dtype != given[0]._array.dtype:
            raise EngineError("meshgrid expects all tensors to have the same dtype")
        if each.device != given[0].device:
            raise EngineError("meshgrid expects all tensors to have the same device")
        if each._array.ndim > 1:
            raise ShapeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {each!r}")
    if indexing not in ("ij", "xy"):
        raise EngineError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(given) >= 2
    if swap:
        given = [given[1], given[0], *given[2:]]
    shape = tuple([each._array.size for each in given])
    grids = [
        expanded(view_op.call(each, (1,) * i + (n,) + (1,) * (len(shape) - i - 1)), shape)
        for i, (each, n) in enumerate(zip(given, shape, strict=True))
    ]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@public(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All tuples of elements of vectors, as rows."""
    given = _given("cartesian_prod", tensors)
    for each in given:
        _need_vector(each)
    if len(given) == 1:
        return given[0]  # type: ignore[no-any-return]
    grids = meshgrid(*given, indexing="ij")
    return stack([reshaped(grid, (grid._array.size,)) for grid in grids], 1)  # type: ignore[no-any-return]


@public()
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r elements of a vector, as rows."""
    if not isinstance(input, Tensor):
        raise tensor_needed("combinations", input)
    _need_vector(input)
    if r < 0:
        raise EngineError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    n = input._array.size
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    count = math.comb(n + r - 1, r) if with_replacement and n else math.comb(n, r)
    xp = xp_of(input._array)
    if input.is_meta:
        return input.new_empty((count, r))
    places = xp.asarray(list(itertools.chain.from_iterable(choose(range(n), r))), i64).reshape(count, r)
    columns = [FUNCTIONS["index_select"](input, 0, new_tensor(places[:, i].copy())) for i in range(r)]
    return stack(columns, 1)  # type: ignore[no-any-return]


def _need_vector(x: Tensor) -> None:
    if x._array.ndim != 1:
        raise ShapeError(f"Expect a 1D vector, but got shape {list(x._array.shape)}")


@public(out=True)
def kron(input: Any, other: Any) -> Tensor:
    """The Kronecker product."""
    for position, (name, each) in enumerate((("input", input), ("other", other))):
        if not isinstance(each, Tensor):
            raise tensor_needed("kron", each, name, position + 1)
    n = max(input.ndim, other.ndim)
    a = (1,) * (n - input.ndim) + input._array.shape
    b = (1,) * (n - other.ndim) + other._array.shape
    left = unsafe_view(input, tuple([m for size in a for m in (size, 1)]))
    right = unsafe_view(other, tuple([m for size in b for m in (1, size)]))
    return unsafe_view(mul_op.call(left, right), tuple([p * q for p, q in zip(a, b, strict=True)]))  # type: ignore[no-any-return]


@public("vander", method=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements as rows, from the highest to 0 (or, `increasing`, from 0 on)."""
    if not isinstance(x, Tensor):
        raise tensor_needed("vander", x, "x")
    if x._array.ndim != 1:
        raise ShapeError("x must be a one-dimensional tensor.")
    n = x._array.shape[0] if N is None else N
    if n < 0:
        raise EngineError("N must be non-negative.")
    kind = x.dtype if x._array.dtype.kind in "fcV" else int64
    rows: Any = _powers(lifted.cast(x, kind.numpy), n)
    return rows if increasing else rows.flip(1)  # type: ignore[no-any-return]


def _powers(x: Any, n: int) -> Any:
    """1, x, x**2, … x**(n - 1) in a new last dimension."""
    ones = x.new_ones((*x.shape, min(n, 1)))
    return ones if n < 2 else FUNCTIONS["cat"]([ones, x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)], -1)


def linalg_vander(x: Any, *, N: int | None = None) -> Any:
    """The powers 0, 1, … N - 1 of the elements, in a new last dimension."""
    if not isinstance(x, Tensor):
        raise tensor_needed("linalg_vander", x, "x")
    if x._array.dtype.kind == "b":
        raise EngineError(f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.old}")
    x = x if x._array.ndim else x.unsqueeze(-1)  # type: ignore[attr-defined]
    n = x._array.shape[-1] if N is None else N
    if n <= 1:
        raise EngineError("N must be greater than 1.")
    kind = x.dtype if x._array.dtype.kind in "fcV" else int64
    return _powers(lifted.cast(x, kind.numpy), n)


@public(method=False)
def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates in a tensor of a shape of elements that are given by their number in it."""
    if not isinstance(indices, Tensor):
        raise tensor_needed("unravel_index", indices, "indices")
    if indices._array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise ArgumentTypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise ArgumentTypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ArgumentValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    column: Any = indices.unsqueeze(-1)  # type: ignore[attr-defined]
    places = column.floor_divide(column.new_tensor(steps, dtype=int64)) % column.new_tensor(sizes, dtype=int64)
    return places.unbind(-1)  # type: ignore[no-any-return]
