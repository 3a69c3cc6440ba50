"""The array without memory: a NumPy header (shape, strides, type) over nothing, whose elements nobody can read.

A question about values has no answer here. Asked for a number (`item`, `float`, a truth that decides a shape) it raises
`NoDataError`; asked whether something is wrong with the values (`if bad.any(): raise …`, the checks of kernels) it says no.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from ...errors import EngineError, NoDataError


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of an array in C's order."""
    strides, step = [0] * len(shape), itemsize
    for i in range(len(shape) - 1, -1, -1):
        strides[i] = step
        step *= max(shape[i], 1)
    return tuple(strides)


@functools.lru_cache(maxsize=4096)
def header(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None) -> Any:
    """A NumPy array with these looks and the memory of one element: never read, and never handed out."""
    if math.prod(shape) * dtype.itemsize >= 2**63:
        raise EngineError(f"Storage size calculation overflowed with sizes={list(shape)}")
    strides = contiguous_strides(shape, dtype.itemsize) if strides is None else strides
    return numpy.lib.stride_tricks.as_strided(_element(dtype), shape, strides).view(dtype)


@functools.cache
def _element(dtype: Any) -> Any:
    # NumPy describes arrays by names of types, and does not know those of types that were added to it (float8_e5m2, complex32).
    return numpy.zeros(1, dtype if dtype.isbuiltin == 1 else f"V{dtype.itemsize}")


class MetaArray:
    """Shape, strides and type of an array; its attributes and methods are NumPy's, as far as they ask for no values."""

    __slots__ = ("__weakref__", "_header", "_root")

    __array_ufunc__ = None  # NumPy's own functions are not for it
    __array_priority__ = 2000

    def __init__(self, looks: Any, root: MetaArray | None = None) -> None:
        self._header = looks
        self._root = root  # of a view: the array whose memory it would share

    # What is known -------------------------------------------------------------------------------

    shape = property(lambda self: self._header.shape)
    strides = property(lambda self: self._header.strides)
    dtype = property(lambda self: self._header.dtype)
    ndim = property(lambda self: self._header.ndim)
    size = property(lambda self: self._header.size)
    itemsize = property(lambda self: self._header.itemsize)
    nbytes = property(lambda self: self._header.nbytes)
    flags = property(lambda self: self._header.flags)
    base = property(lambda self: self._root)

    def offset(self) -> int:
        """Bytes from the beginning of the memory that it would be a part of."""
        root = self if self._root is None else self._root
        return _address(self._header) - _address(root._header)

    def __len__(self) -> int:
        return len(self._header)

    def __iter__(self) -> Iterator[MetaArray]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"MetaArray(shape={self.shape}, dtype={self.dtype}, strides={self.strides})"

    # What is not ---------------------------------------------------------------------------------

    def item(self, *_: Any) -> Any:
        """Refused: there is no element."""
        raise NoDataError("Tensor.item() cannot be called on meta tensors\nThere are no values on the meta device.")

    def tolist(self, *_: Any, **__: Any) -> Any:
        """Refused: there are no elements."""
        raise NoDataError(
            "Cannot copy out of meta tensor; no data!\nThere are shapes and types only on the meta device. A module gets "
            "memory by to_empty(device='cpu'), and values by load_state_dict(state, assign=True)."
        )

    tobytes = nonzero = __array__ = __contains__ = tolist
    __int__ = __float__ = __complex__ = __index__ = item
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return False  # to "is there anything wrong with the values?"

    # Views ---------------------------------------------------------------------------------------

    def _view(self, looks: Any) -> MetaArray:
        return MetaArray(looks, self if self._root is None else self._root)

    def view(self, dtype: Any = None) -> MetaArray:
        """The same memory, as another type."""
        return self._view(self._header if dtype is None else self._header.view(dtype))

    def transpose(self, *axes: Any) -> MetaArray:
        """Dimensions in another order."""
        return self._view(self._header.transpose(*axes))

    def swapaxes(self, a: int, b: int) -> MetaArray:
        """Two dimensions exchanged."""
        return self._view(self._header.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> MetaArray:
        """Without dimensions of size 1."""
        return self._view(self._header.squeeze(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> MetaArray:
        """The diagonal of two dimensions, as the last one."""
        return self._view(self._header.diagonal(offset, axis1, axis2))

    def restrided(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> MetaArray:
        """The same memory with another shape and strides; `offset` in bytes, from the first element."""
        moved = self._header if not offset else _moved(self._header, offset)
        return self._view(numpy.lib.stride_tricks.as_strided(moved, shape, strides))

    def reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> MetaArray:
        """Another shape of as many elements: a view where strides allow it."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        try:
            return self._view(self._header.reshape(wanted, order=order, copy=False))
        except ValueError:
            sizes = _complete(self.size, wanted)
            if sizes is None:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(wanted)}") from None
        return fresh(sizes, self.dtype)

    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.swapaxes(-1, -2))

    @property
    def real(self) -> MetaArray:
        """The real part."""
        return self._view(self._header.real) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> MetaArray:
        """The imaginary part."""
        return self._view(self._header.imag) if self.dtype.kind == "c" else fresh(self.shape, self.dtype)

    @real.setter
    def real(self, value: Any) -> None:
        pass  # there is nothing to write to

    @imag.setter
    def imag(self, value: Any) -> None:
        pass

    def __getitem__(self, index: Any) -> MetaArray:
        parts = index if type(index) is tuple else (index,)
        if any(isinstance(part, (MetaArray, numpy.ndarray, list)) or type(part) is bool for part in parts):
            return fresh(_indexed(self.shape, parts), self.dtype)
        found = self._header[index]
        if type(found) is not numpy.ndarray:  # one element: NumPy reads it, from the one that is there
            found = self._header[(*parts, ...)]
        return self._view(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        parts = index if type(index) is tuple else (index,)
        if any(isinstance(part, MetaArray) and part.dtype.kind == "b" for part in parts):
            return
        place = self[index].shape
        if hasattr(value, "shape") and numpy.broadcast_shapes(_stripped(value.shape, len(place)), place) != place:
            raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {place}")

    # Copies --------------------------------------------------------------------------------------

    def astype(self, dtype: Any, order: str = "K", copy: bool = True, **_: Any) -> MetaArray:
        """The elements as another type."""
        kind = numpy.dtype(dtype)
        return self if not copy and kind == self.dtype else alike(self.shape, kind, [self], order)

    def copy(self, order: str = "C") -> MetaArray:
        """The same anew."""
        return alike(self.shape, self.dtype, [self], order)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> MetaArray:
        return self.copy("K")

    def __reduce__(self) -> Any:
        return _restored, (self.shape, self.dtype, self.strides)

    def ravel(self, order: str = "C") -> MetaArray:
        """One dimension: a view where strides allow it."""
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> MetaArray:
        """One dimension, copied."""
        return fresh((self.size,), self.dtype)

    def fill(self, value: Any) -> None:
        """Nothing: there is nothing to fill."""

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Nothing: there is nothing to sort."""

    partition = put = setflags = fill


# Making them -----------------------------------------------------------------------------------------


def fresh(shape: Sequence[int], dtype: Any, strides: tuple[int, ...] | None = None) -> MetaArray:
    """A new array in C's order, or with the given strides."""
    return MetaArray(header(tuple([operator.index(n) for n in shape]), numpy.dtype(dtype), strides))


def _restored(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> MetaArray:
    from .rules import wake

    wake()
    return fresh(shape, dtype, strides)


def alike(shape: tuple[int, ...], dtype: Any, operands: Sequence[Any], order: str = "K") -> MetaArray:
    """A new array whose dimensions lie in memory in the order of the operands', as NumPy's functions lay their results."""
    kind, ndim = numpy.dtype(dtype), len(shape)
    if order == "C" or ndim < 2 or all(x.flags.c_contiguous and x.shape == shape for x in operands):
        return fresh(shape, kind)
    steps = []
    for x in operands:
        here, missing = x.strides, ndim - x.ndim
        steps.append([0] * missing + [0 if n == 1 else abs(here[i]) for i, n in enumerate(x.shape)])
    axes = list(range(ndim))  # from the outermost in memory to the innermost
    for i in range(1, ndim):
        for j in range(i, 0, -1):
            if not _inner_first(axes[j - 1], axes[j], steps):
                break
            axes[j - 1], axes[j] = axes[j], axes[j - 1]
    strides, step = [0] * ndim, kind.itemsize
    for axis in reversed(axes):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return fresh(shape, kind, tuple(strides))


def _inner_first(a: int, b: int, steps: list[list[int]]) -> bool:
    """Should the dimension `b` lie outside of `a`? Where operands disagree, C's order wins."""
    swap = False
    undecided = True
    for step in steps:
        if step[a] and step[b]:
            if step[b] <= step[a]:
                swap = False
            elif undecided:
                swap = True
            undecided = False
    return swap


def _address(looks: Any) -> int:
    place: int = looks.__array_interface__["data"][0]
    return place


def _moved(looks: Any, offset: int) -> Any:
    """A header whose first element lies `offset` bytes further on."""
    return numpy.lib.stride_tricks.as_strided(looks, (2,), (offset,))[1:]


def _complete(size: int, shape: Any) -> tuple[int, ...] | None:
    """The shape with its -1 worked out; None if it does not fit."""
    sizes = [operator.index(n) for n in shape]
    known = math.prod(n for n in sizes if n != -1)
    if -1 in sizes:
        if not known or size % known:
            return None
        sizes[sizes.index(-1)] = size // known
    return tuple(sizes) if math.prod(sizes) == size else None


def _stripped(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Without leading dimensions of size 1 that are too many."""
    while len(shape) > ndim and shape[0] == 1:
        shape = shape[1:]
    return shape


def _indexed(shape: tuple[int, ...], parts: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of an array indexed with arrays among the parts."""
    taken = sum(_dimensions(part) for part in parts)
    if Ellipsis not in [part for part in parts if part is Ellipsis]:
        parts = (*parts, Ellipsis)
    result: list[int] = []
    spreads: list[tuple[int, ...]] = []
    first: int | None = None
    dim = apart = 0
    previous = False
    for part in parts:
        if part is Ellipsis:
            rest = len(shape) - taken
            result += shape[dim : dim + rest]
            dim += rest
            previous = False
        elif part is None:
            result.append(1)
            previous = False
        elif isinstance(part, slice):
            result.append(len(range(*part.indices(shape[dim]))))
            dim += 1
            previous = False
        else:
            spreads += _spread(part)
            if not previous:
                apart += 1
                first = len(result) if first is None else first
            dim += _dimensions(part)
            previous = True
    spread = numpy.broadcast_shapes(*spreads)
    place = 0 if apart > 1 else first or 0
    return (*result[:place], *spread, *result[place:])


def _dimensions(part: Any) -> int:
    """How many dimensions one part of an index takes."""
    if part is None or part is Ellipsis:
        return 0
    if type(part) is bool:
        return 0
    if isinstance(part, (MetaArray, numpy.ndarray, list)):
        array = numpy.asarray(part) if isinstance(part, list) else part
        return array.ndim if array.dtype.kind == "b" else 1
    return 1


def _spread(part: Any) -> list[tuple[int, ...]]:
    """The shapes that one part of an index brings: its own, or that of the places where a mask is true."""
    if type(part) is bool:
        return [(int(part),)]
    if isinstance(part, (MetaArray, numpy.ndarray, list)):
        array = numpy.asarray(part) if isinstance(part, list) else part
        if array.dtype.kind != "b":
            return [array.shape]
        if isinstance(array, MetaArray):
            raise NoDataError(
                "the shape of a selection by a mask depends on its values, and there are none on the meta device"
            )
        return [(int(numpy.count_nonzero(array)),)]
    return [()]
