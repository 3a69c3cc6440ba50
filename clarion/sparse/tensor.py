"""Sparse tensors: indices and values, both tensors of their own.

NOTE [Sparse]: a sparse tensor is a Tensor whose class takes every call over (`__torch_function__`) and answers it with
operations on its values. So it is its values that a graph records: gradients flow into them and from them, and a sparse
tensor's `requires_grad`, `grad_fn` and `grad` are those of its values, at its places. Engine, kernels and operations know
nothing of it. Its places are named one by one (sparse_coo), or its rows (sparse_csr, sparse_bsr) or columns (sparse_csc,
sparse_bsc) are compressed: NOTE [Compressed]. Loading this file makes all public functions look at their arguments (core/overriding.py),
so nobody loads it who has no sparse tensor.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from ..core.devices import HOST
from ..core.dtypes import FROM_NUMPY, int64, sparse_coo, sparse_csc, sparse_csr
from ..core.overriding import Disabled
from ..core.printing import add_suffixes, format_array
from ..core.tensor import Tensor, new_tensor
from ..errors import EngineError, NotSupportedError
from ..kernels.coo import Coo, flat_places
from .values import SAFE, OfValues, name_of

np = HOST.xp

HANDLERS: dict[str, Callable[..., Any]] = {}  # name of a public function -> what it does where an argument is sparse
ANY_LAYOUT: set[str] = set()  # those that take blocks and batches of compressed matrices as they are


def handles(*names: str, any_layout: bool = False) -> Callable[[Any], Any]:
    """Register what public functions do with sparse arguments; others than of `any_layout` see blocks and batches place by place."""

    def register(fn: Any) -> Any:
        for name in names:
            HANDLERS[name] = fn
        if any_layout:
            ANY_LAYOUT.update(names)
        return fn

    return register


@functools.cache
def _load_handlers() -> None:
    """A gradient may be the first sparse tensor of a program."""
    from . import making, operations, products, questions, shapes  # noqa: F401


class SparseTensor(OfValues):
    """A tensor of which most elements are zero."""

    _at: Tensor  # one column of indices per entry
    _layout: Any
    _block: tuple[int, ...] = ()  # the shape of its blocks
    _index: Any = int64  # the type of its compressed indices

    layout: Any = property(lambda self: self._layout)
    device: Any = property(lambda self: self._held.device)
    is_meta: Any = property(lambda self: self._held.is_meta)
    is_sparse: Any = property(lambda self: self._layout is sparse_coo)
    is_sparse_csr: Any = property(lambda self: self._layout is sparse_csr)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ == "__set__":  # an attribute of another tensor becomes a sparse one
            with Disabled():
                return func(*args)
        name = name_of(func)
        _load_handlers()
        handler = HANDLERS.get(name)
        if handler is not None:
            if name not in ANY_LAYOUT and (unusual := _unusual(args)) is not None:
                return _place_by_place(handler, unusual, args, kwargs or {})
            return handler(*args, **(kwargs or {}))
        if name in SAFE:
            with Disabled():
                return func(*args, **(kwargs or {}))
        raise NotSupportedError(
            f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend.\n"
            "clarion has no sparse form of this operation; x.to_dense() gives the dense tensor."
        )

    def arriving(self, gradient: Any) -> Any:
        """What of a gradient that arrives, sparse or not, is its values'."""
        if gradient is None:
            return None
        whole = dense(gradient) if is_sparse(gradient) else gradient
        if self._block:
            return whole.sparse_mask(self.alike(self._held.detach()))._held
        return gathered(whole, self._at)

    def alike(self, values: Any) -> Any:
        """Other values at the same places."""
        return make(self._at, values, self._array.shape, self._array.sorted, self._layout, self._block, self._index)

    def gradient(self, values: Any) -> Any:
        """The gradient of its values as its own: entries that share a place are added up, so each has that place's whole
        gradient, which counts once."""
        if self._array.sorted:
            return self.alike(values)
        at = self._at._array
        places = flat_places(at, self._array.shape[: len(at)])
        first = np.unique(places, return_index=True)[1]
        if len(first) == len(places):
            return self.alike(values)
        once = new_tensor(np.ascontiguousarray(at[:, first]))
        return make(once, values[new_tensor(first)], self._array.shape, True, self._layout)

    def become(self, other: Any) -> Any:
        """Take over what another holds: writing in place."""
        self._at, self._held, self._array, self._layout = other._at, other._held, other._array, other._layout
        self._block, self._index = other._block, other._index
        return self

    def __radd__(self, other: Any) -> Any:
        return HANDLERS["add"](other, self)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __len__(self) -> int:
        return int(self._array.shape[0])

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return describe(self)

    __str__ = __repr__

    def __deepcopy__(self, memo: Any) -> Any:
        result = self.alike(copy.deepcopy(self._held, memo))
        memo[id(self)] = result
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        known = tuple(self._array.shape), self._array.sorted, self._layout, self._block, self._index
        return make, (self._at, self._held.detach(), *known)


def _unusual(args: Any) -> Any:
    """The first argument that has blocks, or is a batch of compressed matrices."""
    for each in args:
        if isinstance(each, SparseTensor) and each._layout is not sparse_coo:
            if each._block or each._at.shape[0] != 2 or each._held.dim() > 1:
                return each
        elif isinstance(each, (list, tuple)) and (found := _unusual(each)) is not None:
            return found
    return None


def _place_by_place(handler: Any, unusual: Any, args: Any, kwargs: Any) -> Any:
    """Run what knows of places alone, and give what it returns the layout of its argument."""
    from .compressed import like
    from .operations import written

    def spread(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([spread(each) for each in value])
        return in_places(value) if is_sparse(value) else value

    target = kwargs.pop("out", None)
    result = handler(*[spread(each) for each in args], **kwargs)
    if is_sparse(result) and result._layout is sparse_coo:
        result = like(result, unusual)
    return result if target is None else written(target, result)


def make(
    at: Any,
    held: Any,
    shape: Any,
    is_sorted: bool = False,
    layout: Any = sparse_coo,
    block: Any = (),
    index: Any = int64,
) -> Any:
    """A sparse tensor from tensors of indices and values."""
    result = object.__new__(SparseTensor)
    result._array = Coo(at._array, held._array, tuple(int(n) for n in shape), is_sorted)
    result._edge, result._nr, result._rg, result._vc, result._view = None, 0, False, None, None
    result._at, result._held, result._layout = at, held, layout
    result._block, result._index = block, index
    return result


def from_coo(array: Coo) -> Any:
    """A raw sparse array (a gradient) as a tensor."""
    return make(new_tensor(array.indices), new_tensor(array.values), array.shape, array.sorted)


def is_sparse(value: Any) -> bool:
    """Is it a sparse tensor?"""
    return isinstance(value, SparseTensor)


def gathered(dense: Any, at: Any) -> Any:
    """The elements of a dense tensor at places; recorded."""
    return dense[tuple(at.unbind(0))] if at.shape[0] else dense.expand(at.shape[1], *dense.shape)


def coalesced(x: Any) -> Any:
    """The same with each place once, in order."""
    if x._array.sorted:
        return x
    at, sizes = x._at._array, x._array.shape[: len(x._at._array)]
    places = flat_places(at, sizes)
    if len(places) < 2 or bool((places[1:] > places[:-1]).all()):
        return make(x._at, x._held, x._array.shape, True, x._layout)
    first, group = np.unique(places, return_index=True, return_inverse=True)[1:]
    held = x._held.new_zeros((len(first), *x._held.shape[1:])).index_add(0, new_tensor(group.reshape(-1)), x._held)
    return make(new_tensor(np.ascontiguousarray(at[:, first])), held, x._array.shape, True, x._layout)


def dense(x: Any) -> Any:
    """All elements; recorded."""
    x = in_places(x) if x._block else x
    shape, count = x._array.shape, x._at.shape[0]
    places = new_tensor(flat_places(x._at._array, shape[:count]))
    room = int(np.prod(shape[:count], dtype=np.int64))
    return x._held.new_zeros((room, *shape[count:])).index_add(0, places, x._held).reshape(shape)


def sparse(x: Any, sparse_dim: int | None = None) -> Any:
    """The elements of a dense tensor that are not zero; recorded."""
    count = x.dim() if sparse_dim is None else sparse_dim
    shown = x._array != 0
    if count < x.dim():
        shown = shown.any(axis=tuple(range(count, x.dim())))
    at = new_tensor(np.stack(np.nonzero(shown)).astype(np.int64) if count else np.zeros((0, int(shown)), np.int64))
    return make(at, gathered(x, at), x.shape, True)


def in_places(x: Any, in_order: bool = True) -> Any:
    """A tensor of any layout, place by place; in the order of rows, or as its entries are held."""
    if not is_sparse(x):
        return sparse(x)
    if x._layout is sparse_coo:
        return x
    at, held = x._at._array, x._held
    if x._block:
        rows, columns = x._block
        inner = np.indices(x._block).reshape(2, -1)
        at = np.repeat(at, rows * columns, axis=1)
        at[-2] = at[-2] * rows + np.tile(inner[0], x._at.shape[1])
        at[-1] = at[-1] * columns + np.tile(inner[1], x._at.shape[1])
        held = held.reshape(-1, *held.shape[3:])
    if x._block or x._layout is sparse_csc:
        if not in_order:
            return make(new_tensor(at), held, x._array.shape)
        order = np.lexsort(at[::-1])
        return make(new_tensor(at[:, order]), held[new_tensor(order)], x._array.shape, True)
    return make(x._at, held, x._array.shape, True)


def describe(x: Any) -> str:
    """As PyTorch prints it."""
    if x._layout is sparse_coo:
        parts = [("indices", x._at), ("values", x._held.detach())]
        entries = x._held.shape[0]
    else:
        from . import compressed

        first, second, _, _ = compressed.names_of(x._layout)
        parts = [
            (first, compressed.pointers(x)),
            (second, compressed.plain(x)),
            ("values", compressed.values_of(x).detach()),
        ]
        entries = compressed.entries(x)
    width = 7
    lines = []
    for name, part in parts:
        begin = f"{name}=tensor("
        size = "" if part.numel() else f", size={tuple(part.shape)}"
        lines.append(f"{begin}{format_array(part._array, width + len(begin))}{size})")
    tail = [f"size={tuple(x._array.shape)}", f"nnz={entries}"]
    if x.dtype is not FROM_NUMPY[np.dtype("float32")] and x.dtype is not int64:
        tail.append(f"dtype={x.dtype}")
    tail.append(f"layout={x._layout}")
    if x.grad_fn is not None:
        tail.append(f"grad_fn=<{type(x.grad_fn).__name__}>")
    elif x.requires_grad:
        tail.append("requires_grad=True")
    # Those of a compressed one go on in the line of its values, as long as there is room.
    text = f"tensor({(',' + chr(10) + ' ' * width).join(lines)}"
    return add_suffixes(text, tail, width, force_newline=x._layout is sparse_coo)


def checked(indices: Any, shape: tuple[int, ...]) -> None:
    """Refuse places outside of the shape."""
    if not indices.size:
        return
    if int(indices.min()) < 0:
        raise EngineError(f"found negative index {int(indices.min())}")
    for i, (row, n) in enumerate(zip(indices, shape, strict=False)):
        if int(row.max()) >= n:
            raise EngineError(
                f"size is inconsistent with indices: for dim {i}, size is {n} but found index {int(row.max())}"
            )


def size_of(indices: Any, held: Any, size: Any) -> tuple[int, ...]:
    """The given size, or the smallest that holds all places."""
    if size is not None:
        shape = tuple(int(n) for n in size)
        if len(shape) != indices.shape[0] + held.dim() - 1:
            raise EngineError(
                f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
                f"{indices.shape[0]}, dense_dim = {held.dim() - 1}"
            )
        if tuple(held.shape[1:]) != shape[indices.shape[0] :]:
            expected = [held.shape[0], *shape[indices.shape[0] :]]
            raise EngineError(f"values has incorrect size, expected {expected}, got {list(held.shape)}")
        return shape
    found = [int(n) + 1 for n in indices.max(axis=1)] if indices.size else [0] * indices.shape[0]
    return (*found, *held.shape[1:])
