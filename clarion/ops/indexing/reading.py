"""Indexing: `x[...]`; `x[...] = v` is in writing.py.

NOTE [Indexing]: an index is taken apart once (`parse`). Integers, slices, None and Ellipsis become a chain of
views, one operation each; what is left, index tensors and masks, is read by one operation (`index1`,
`index2`, … by the number of index tensors, so that each is a proper input; `index_mask` for a lone mask).
Assignment takes the same views and writes into them. Nothing is recorded where nothing requires a gradient:
then the same chain runs on the raw array.
"""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.devices import HOST, ndarray, wraps, xp_of
from ...core.dtypes import NumpyNumber, b1, i64, int32, uint8
from ...core.following import sync
from ...core.namespace import OPS, lifted
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...core.views import Quick, as_view
from ...errors import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, EngineError
from ...kernels.portable.indexing import reading as kernels
from ..faces.api import METHODS
from ..shapes.parts import select_op, slice_op

# Operations ------------------------------------------------------------------------------------------------


def _rule(names: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A rule for operations whose number of inputs is a parameter: `function(g, *values)`, its names spelled out."""
    arguments = ", ".join(["g", *names.split()])
    rule: Callable[..., Any] = eval(f"lambda {arguments}: function({arguments})", {"function": function})
    return rule


def declare(n: int) -> None:
    """The operations that index with `n` tensors: index{n}, its gradient, and index_put{n}."""
    kernels.register(n)
    names = " ".join(f"i{k}" for k in range(n))
    here, back, put = f"index{n}", f"index{n}_backward", f"index_put{n}"

    def read(g: Any, *args: Any) -> Any:  # indices, where, ops
        return getattr(args[-1], here)(g, *args[:-1])

    def add(g: Any, *args: Any) -> Any:  # indices, x_shape, where, ops
        return getattr(args[-1], back)(g, *args[:-1])

    def keep(g: Any, *args: Any) -> Any:  # indices, where, accumulate, ops
        *indices, where, accumulate, ops = args
        return g if accumulate else getattr(ops, put)(g, 0, *indices, where, False)

    def values(g: Any, *args: Any) -> Any:  # indices, where, values_shape, ops
        *indices, where, shape, ops = args
        return ops.sum_to(getattr(ops, here)(g, *indices, where), shape)

    Op(here, f"x {names}", "where", node="IndexBackward0", moves=True, traits="rearranges selects").vjp(
        x=_rule(f"{names} x_shape where ops", add)
    ).jvp("each")
    Op(back, f"g {names}", "shape where", node="IndexPutBackward0", moves=True).vjp(
        g=_rule(f"{names} where ops", read)
    ).jvp("each")
    Op(put, f"x values {names}", "where accumulate", node="IndexPutBackward0", moves=True).vjp(
        x=_rule(f"{names} where accumulate ops", keep), values=_rule(f"{names} where values_shape ops", values)
    )


for _n in (1, 2, 3):
    declare(_n)

index_mask_op = Op("index_mask", "x mask", node="IndexBackward0", moves=True, traits="rearranges selects")
index_mask_op.vjp(x=lambda g, mask, x_shape, ops: ops.index_mask_backward(g, mask, x_shape)).jvp("each")

index_mask_backward_op = Op("index_mask_backward", "g mask", "shape", node="IndexPutBackward0", moves=True)
index_mask_backward_op.vjp(g=lambda g, mask, ops: ops.index_mask(g, mask)).jvp("each")

index_put_mask_op = Op("index_put_mask", "x values mask", "accumulate", node="IndexPutBackward0", moves=True)
index_put_mask_op.vjp(
    x=lambda g, mask, accumulate, ops: g if accumulate else ops.index_put_mask(g, 0, mask, False),
    values=lambda g, mask, values_shape, ops: ops.sum_to(ops.index_mask(g, mask), values_shape),
)


def sized(name: str, n: int) -> Op:
    """`index{n}` or `index_put{n}`, declared on first need."""
    found = OPS.get(f"{name}{n}")
    if found is None:
        declare(n)
        found = OPS[f"{name}{n}"]
    return found


# Taking an index apart -----------------------------------------------------------------------------------------

_PLAIN = (int, slice, type(None), type(Ellipsis), bool)


def parse(index: Any) -> list[Any]:
    """The items of an index: int, slice, None, Ellipsis, bool, and Tensor for everything that is an array."""
    if isinstance(index, tuple):
        return [item if type(item) in _PLAIN else convert(item) for item in index]
    if isinstance(index, list) and _is_tuple_like(index):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result",
            UserWarning,
            stacklevel=3,
        )
        return parse(tuple(index))
    return [index if type(index) in _PLAIN else convert(index)]


def _is_tuple_like(items: list[Any]) -> bool:
    """PyTorch reads a short list that holds tensors, sequences, slices or None as a tuple."""
    return len(items) < 32 and any(
        item is None or item is Ellipsis or isinstance(item, (Tensor, list, tuple, slice, ndarray, range))
        for item in items
    )


def convert(item: Any) -> Any:
    """An item that is no plain Python one: a Tensor of int64 or bool, or a plain integer or bool."""
    if isinstance(item, Tensor):
        return index_tensor(item)
    if isinstance(item, ndarray):
        if item.ndim == 0 and item.dtype.kind in "iu":
            return int(item)
        return new_tensor(item if item.dtype == b1 else item.astype(i64))
    if isinstance(item, NumpyNumber) and item.dtype == b1:
        return bool(item)
    if isinstance(item, str):
        raise ArgumentTypeError(f"new(): invalid data type '{type(item).__name__}'")
    if isinstance(item, (list, tuple, range)):
        array = HOST.xp.array([each._array.tolist() if isinstance(each, Tensor) else each for each in item])
        if array.dtype.kind in "OUS":
            raise ArgumentTypeError(f"new(): a list of {type(item[0]).__name__} is no index")
        return new_tensor(array if array.dtype == b1 else array.astype(i64))
    try:
        return operator.index(item)
    except TypeError:
        raise ArgumentIndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(item).__name__})"
        ) from None


def index_tensor(item: Tensor) -> Any:
    kind = item._array.dtype
    if kind == uint8.numpy:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
            stacklevel=5,
        )
        item = new_tensor(item._array != 0)
    elif kind == int32.numpy:
        item = new_tensor(item._array.astype(i64))
    elif kind != i64 and kind != b1 and (item._array.ndim or kind.kind not in "iu"):
        raise ArgumentIndexError("tensors used as indices must be long, int, byte or bool tensors")
    if item._array.ndim == 0:
        return item._array.item()
    return item


def walk(x: Any, items: list[Any], ops: Any) -> tuple[Any, list[tuple[int, Tensor]]]:
    """Take the views; returns the last one, and the index tensors that are left with their dimensions.

    `x` is a Tensor and `ops` the operations, or both are raw (see NOTE [Two worlds]).
    """
    wanted = 0
    for item in items:
        kind = type(item)
        if kind is int or kind is slice:
            wanted += 1
        elif isinstance(item, Tensor):
            wanted += item._array.ndim if item._array.dtype == b1 else 1
    ndim = x.ndim
    if wanted > ndim:
        raise ArgumentIndexError(f"too many indices for tensor of dimension {ndim}")
    dim, tensors = 0, []
    for place, item in enumerate(items):
        kind = type(item)
        if kind is int:
            size = (x._array if isinstance(x, Tensor) else x).shape[dim]
            if not -size <= item < size:
                if not -(2**63) <= item < 2**63:
                    raise ArgumentValueError("Overflow when unpacking long long")
                raise ArgumentIndexError(f"index {item} is out of bounds for dimension {place} with size {size}")
            x = ops.select(x, dim, item)
        elif kind is slice:
            if item.start is not None or item.stop is not None or item.step is not None:
                size = (x._array if isinstance(x, Tensor) else x).shape[dim]
                limits = _limits(item, size)
                if limits != (0, size, 1):
                    x = ops.slice(x, dim, *limits)
            dim += 1
        elif item is None:
            x = ops.unsqueeze(x, dim)
            dim += 1
        elif item is Ellipsis:
            dim += ndim - wanted
            ndim = wanted  # a second one is worth nothing
        elif kind is bool:
            x = ops.unsqueeze(x, dim)
            tensors.append((dim, new_tensor(HOST.xp.zeros(1 if item else 0, i64))))
            dim += 1
        else:
            tensors.append((dim, item))
            dim += item._array.ndim if item._array.dtype == b1 else 1
    return x, tensors


def check_bare(x: Any, index: Any) -> None:
    """PyTorch's words for an integer or a slice, not in a tuple, at a tensor without dimensions."""
    if x.ndim == 0:
        if type(index) is slice:
            raise ArgumentIndexError("slice() cannot be applied to a 0-dim tensor.")
        if index == 0:
            raise ArgumentIndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number"
            )
        raise ArgumentIndexError(f"index {index} is out of bounds for dimension 0 with size 0")


def _limits(item: slice, size: int) -> tuple[int, int, int]:
    start, stop, step = item.indices(size)
    if step < 0:
        raise ArgumentValueError("step must be greater than zero")
    return start, max(start, stop), step


def spread_masks(shape: tuple[int, ...], tensors: list[tuple[int, Tensor]]) -> tuple[tuple[int, ...], list[Tensor]]:
    """Index tensors for all: a mask becomes the places where it is True, one tensor per dimension."""
    where: list[int] = []
    indices: list[Tensor] = []
    for dim, each in tensors:
        if each._array.dtype == b1:
            check_mask(shape, dim, each._array)
            found = xp_of(each._array).nonzero(each._array)
            where += range(dim, dim + len(found))
            indices += [new_tensor(places) for places in found]
        else:
            where.append(dim)
            indices.append(each)
    return tuple(where), indices


def check_mask(shape: tuple[int, ...], dim: int, mask: Any) -> None:
    """The mask must have the sizes of the dimensions it stands at."""
    for k, n in enumerate(mask.shape):
        if n != shape[dim + k]:
            raise ArgumentIndexError(
                f"The shape of the mask {list(mask.shape)} at index {k} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim + k}"
            )


def index_error(error: IndexError, indices: list[Tensor], shape: tuple[int, ...], where: tuple[int, ...]) -> Exception:
    """The array library's complaint in PyTorch's words."""
    text = str(error)
    if text.startswith("shape mismatch"):
        shapes = ", ".join(str(list(each._array.shape)) for each in indices)
        return ArgumentIndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        )
    if re.match(r"index .* out of bounds for axis", text):
        return ArgumentIndexError(text.replace("axis", "dimension"))
    for dim, each in zip(where, indices, strict=True):
        if each._array.size and not shape[dim]:
            wrong = f"index {each._array.flat[0]} at dimension {dim}"
            return ArgumentIndexError(f"index is out of bounds for dimension with size 0\n{wrong}")
    return ArgumentIndexError(text)


# Reading ---------------------------------------------------------------------------------------------------


def getitem(self: Tensor, index: Any) -> Any:
    """`self[index]`."""
    quick = slice_op.quick if not modes.special else slice_op.quick_in_mode()
    out = quick(self, index)
    if out is not None:
        return out
    kind = type(index)
    if kind is int:
        shape = self._array.shape
        if shape and -shape[0] <= index < shape[0]:
            return lifted.select(self, 0, index)
        check_bare(self._array, index)
    elif kind is slice:
        check_bare(self._array, index)
        return lifted.slice(self, 0, *_limits(index, self._array.shape[0]))
    elif kind is tuple:
        if len(index) == 1 and type(index[0]) is slice and self._array.ndim:
            return getitem(self, index[0])
        if index and type(index[0]) is Tensor and _all_indices(index, self._array.ndim):
            where = tuple(range(len(index)))
            try:
                return sized("index", len(index)).call(self, *index, where)
            except IndexError as error:
                raise index_error(error, list(index), self._array.shape, where) from None
        if self._view is not None:
            sync(self)
        if not (self._rg and (modes.special == 0 or modes.recording())) and not modes.watched:
            view = one_view(self, index)
            if view is not None:
                return view
        place = _new_dimension(index, self._array.ndim)
        if place is not None:
            return lifted.unsqueeze(self, place)
    elif index is None:
        return lifted.unsqueeze(self, 0)
    elif kind is Tensor and self._array.ndim and index._array.ndim and index._array.dtype is i64:
        return take_index(self, [(0, index)])
    x, tensors = walk(self, parse(index), lifted)
    if tensors:
        return take_index(x, tensors)
    return x if x is not self else lifted.alias(self)


def _all_indices(items: tuple[Any, ...], ndim: int) -> bool:
    """Are all items index tensors, one for each of the first dimensions?"""
    if len(items) > ndim:
        return False
    for each in items:  # noqa: SIM110  (twice as fast)
        if type(each) is not Tensor or each._array.dtype is not i64 or not each._array.ndim:
            return False
    return True


def _new_dimension(items: tuple[Any, ...], ndim: int) -> int | None:
    """Where `x[:, None]` has its new dimension, where that is all that the index does."""
    if len(items) == 2 and items[0] is ... and items[1] is None:
        return ndim
    place, dims = None, 0
    for item in items:
        if item is None and place is None:
            place = dims
        elif type(item) is slice and item.start is item.stop is item.step is None:
            dims += 1
        else:
            return None
    return place if dims <= ndim else None


def one_view(x: Tensor, items: tuple[Any, ...]) -> Tensor | None:
    """`x[items]` of plain items in one step, where nothing is recorded; None if it takes more than that."""
    array = x._array
    if wraps(array):
        return None
    shape, dim, at = array.shape, 0, 0
    chain: list[tuple[Op, tuple[int, ...], None]] = []
    for item in items:
        kind = type(item)
        if item is None or at == len(shape):  # (what NumPy makes of None has another stride)
            return None
        size = shape[at]
        at += 1
        if kind is int and -size <= item < size:
            chain.append((select_op, (dim, item), None))
        elif kind is slice:
            limits = _limits(item, size)
            if limits != (0, size, 1):
                chain.append((slice_op, (dim, *limits), None))
            dim += 1
        elif item is Ellipsis and len(items) <= len(shape) and chain == [] and at == 1:
            skipped = len(shape) - len(items) + 1
            at = dim = skipped
        else:
            return None
    if not chain:
        return None
    # The Ellipsis keeps the result an array where all dimensions are selected.
    part = array[items if items[0] is Ellipsis else (*items, ...)]
    return (as_view if modes.special else Quick.view)(x, part, tuple(chain))


def take_index(x: Tensor, tensors: list[tuple[int, Tensor]]) -> Any:
    """Read with index tensors and masks."""
    shape = x._array.shape
    if len(tensors) == 1 and tensors[0][0] == 0 and tensors[0][1]._array.dtype == b1:
        check_mask(shape, 0, tensors[0][1]._array)
        return index_mask_op.call(x, tensors[0][1])
    where, indices = spread_masks(shape, tensors)
    try:
        return sized("index", len(indices)).call(x, *indices, where)
    except IndexError as error:
        raise index_error(error, indices, shape, where) from None


# Iterating ---------------------------------------------------------------------------------------------------


def _iterate(self: Tensor) -> Any:
    if self._array.ndim == 0:
        raise ArgumentTypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))  # type: ignore[attr-defined]


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, bool, int, float, complex, NumpyNumber)):
        raise EngineError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool((self == element).any().item())  # type: ignore[attr-defined]


def _delete(self: Tensor, index: Any) -> None:
    raise ArgumentTypeError("Tensor does not support deleting items")


METHODS["__getitem__"] = getitem
METHODS["__delitem__"] = _delete
METHODS["__iter__"] = _iterate
METHODS["__contains__"] = _contains
METHODS["__reversed__"] = lambda self: self.flip(0) if self._array.ndim else self
