"""How arrays lie in memory: other shapes and strides of the same bytes, and the chains of operations that views are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy

from .registry import library_of

# The types of arrays: NumPy's, and those of other libraries with how they are given other strides,
# `function(x, shape, strides, offset)` (None: as NumPy's, by `as_strided`).
ARRAYS: dict[type, Callable[..., Any] | None] = {numpy.ndarray: None}
LAYS_OUT: dict[type, Callable[..., Any]] = {}  # those that make copies in a layout by themselves, `function(x, layout)`


def _xp(x: Any) -> Any:
    return library_of(x).xp


def memory_root(x: Any) -> Any:
    """The array that owns the memory behind a view."""
    while isinstance(x.base, numpy.ndarray):
        x = x.base
    return x if isinstance(x, numpy.ndarray) or x.base is None else x.base


def address(x: Any) -> int:
    """Where the first element lies."""
    place: int = x.__array_interface__["data"][0]
    return place


def strided(x: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    """The memory of `x` seen with other shape and strides; strides and offset in bytes, from the first element of `x`."""
    if type(x) is not numpy.ndarray and not isinstance(x, numpy.generic):
        return _strided_elsewhere(x, shape, strides, offset)
    flags = x.flags
    if offset == 0 and (flags.c_contiguous or flags.f_contiguous) and x.size:
        try:
            return numpy.ndarray(shape, x.dtype, x, 0, strides)
        except ValueError:  # it reaches beyond `x` into the memory that `x` is a part of
            pass
    root = memory_root(x)
    if 0 in shape or not (root.flags.c_contiguous or root.flags.f_contiguous):
        # Of no elements, or memory lent by another owner, whose extent is not known here.
        if x.dtype.kind == "W":  # the kind of complex32, which has no name in NumPy's protocol
            return numpy.lib.stride_tricks.as_strided(x.view(numpy.uint32), shape, strides).view(x.dtype)
        return numpy.lib.stride_tricks.as_strided(x, shape, strides)
    return numpy.ndarray(shape, x.dtype, root, address(x) - address(root) + offset, strides)


def _strided_elsewhere(x: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """The same for arrays of another library."""
    own = ARRAYS.get(type(x))
    if own is not None:
        return own(x, shape, strides, offset)
    xp = _xp(x)
    if hasattr(getattr(x, "data", None), "ptr"):  # CuPy's: memory by its address
        return xp.ndarray(shape, x.dtype, x.data + offset, strides)
    if offset:
        x = x.reshape(-1)[offset // x.itemsize :]
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


@functools.lru_cache(maxsize=1024)
def regrouped(have: tuple[int, ...], steps: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides with which an array of such a shape and strides is seen in another shape, as PyTorch gives them to dimensions of size 1
    too; None: not at all."""
    if 0 in have or not have:
        return None
    found = [0] * len(shape)
    d, step, held, made = len(shape) - 1, steps[-1], 1, 1
    for old in range(len(have) - 1, -1, -1):
        held *= have[old]
        if old and (have[old - 1] == 1 or steps[old - 1] == held * step):
            continue  # one run of memory with the dimension before
        while d >= 0 and (made < held or shape[d] == 1):
            found[d] = made * step
            made *= shape[d]
            d -= 1
        if made != held:
            return None
        if old:
            step, held, made = steps[old - 1], 1, 1
    return tuple(found) if d < 0 else None


def blank(layout: tuple[Any, ...], xp: Any = numpy) -> Any:
    """Zeros with the shape, the strides (in bytes) and the type that `layout` says: views can be taken alike."""
    shape, strides, dtype = layout
    out = xp.zeros(shape, dtype)
    if out.strides == strides or out.size == 0:
        return out
    reach = dtype.itemsize + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
    return strided(xp.zeros(reach // dtype.itemsize, dtype), shape, strides)


def laid_out(x: Any, layout: tuple[Any, ...] | None) -> Any:
    """A copy of `x` with the strides of `layout`: whoever took a view there can take it here."""
    if layout is None or layout[0] != x.shape:
        return x.copy()
    if type(x) is numpy.ndarray:
        whole = numpy.empty(layout[0], x.dtype)
        if whole.strides == layout[1]:
            whole[...] = x
            return whole
    elif type(x) in LAYS_OUT:
        return LAYS_OUT[type(x)](x, layout)
    whole = blank((x.shape, layout[1], x.dtype), _xp(x))
    whole[...] = x
    return whole


def may_overlap(x: Any) -> bool:
    """Could two elements share a place in memory? (A cheap test: never False where they do.)"""
    reach = x.itemsize
    for step, n in sorted(zip(x.strides, x.shape, strict=True)):
        if n == 1:
            continue
        if step < reach:
            return True
        reach += step * (n - 1)
    return False


def channels_last(x: Any) -> bool:
    """Does memory go through the channels of images (dimension 1 of 4 or 5) first? As PyTorch tells it, by the strides."""
    if type(x) not in ARRAYS or x.ndim not in (4, 5):
        return False
    strides = x.strides
    return 0 < strides[1] <= strides[-1] and _channels_first(x.shape, strides)


@functools.lru_cache(maxsize=1024)
def _channels_first(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    least = 0
    for d in (1, *range(len(shape) - 1, 1, -1), 0):
        n, step = shape[d], strides[d]
        if n == 0 or step < least or (d == 0 and least == strides[1]):
            return False
        least = step * n if n > 1 else step
    return True


def steps(chain: tuple[Any, ...]) -> list[Any]:
    """The operations that take a view from its base, the first one first; () is the base itself.

    A chain is (the chain of the view it was taken from, the last step): a view of a view of … costs no more than one.
    """
    found = []
    while chain:
        chain, step = chain
        found.append(step)
    return found[::-1]


def extended(chain: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    """A chain with more steps."""
    for step in more:
        chain = (chain, step)
    return chain


def replay(chain: tuple[Any, ...], array: Any) -> Any:
    """Take the view described by `chain` from an array."""
    for op, params, nr in steps(chain) if not chain or chain[0] else chain[1:]:
        array = op.kernel(array, *params)
        if nr is not None:
            array = array[nr]
    return array


def replace(chain: tuple[Any, ...], array: Any, part: Any, value: Any) -> None:
    """Write into `part`, the view of an array that `chain` describes: through its conjugates if it was taken from those."""
    rest = chain
    while rest and not rest[1][0].mirrors:
        rest = rest[0]
    if not rest:
        part[...] = value
        return
    taken = steps(chain)
    at = next(i for i, (op, _, _) in enumerate(taken) if op.mirrors)
    originals = replay(extended((), taken[:at]), array)
    conjugates = laid_out(originals.conj(), (originals.shape, originals.strides, originals.dtype))
    rest = extended((), taken[at + 1 :])
    replace(rest, conjugates, replay(rest, conjugates), value)
    originals[...] = conjugates.conj()


def turns(chain: tuple[Any, ...]) -> bool:
    """Does a view show the conjugates of its base?"""
    return sum([op.mirrors for op, _, _ in steps(chain)]) % 2 == 1


def apart(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of one array whose result never shares its memory, though it may be the same elements in another shape."""

    @functools.wraps(kernel)
    def call(xp: Any, x: Any, *args: Any) -> Any:
        result = kernel(xp, x, *args)
        return result.copy() if type(x) in ARRAYS and _xp(x).may_share_memory(result, x) else result

    return call


# How PyTorch lays out results -------------------------------------------------------------------------


def in_rows(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose result is contiguous, however its inputs lie (unless it is told where to write)."""

    @functools.wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = kernel(*args, **kwargs)
        if type(result) is tuple:
            return tuple([rows(each) for each in result])
        return result if kwargs else rows(result)

    return call


def rows(x: Any) -> Any:
    """An array as it is if it is contiguous, else a copy that is."""
    return x if type(x) not in ARRAYS or x.flags.c_contiguous else x.copy("C")


def in_columns(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose matrices lie column by column, as LAPACK leaves them."""

    @functools.wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = kernel(*args, **kwargs)
        return tuple([columns(each) for each in result]) if type(result) is tuple else columns(result)

    return call


def columns(x: Any) -> Any:
    """Matrices column by column in memory; anything else as it is."""
    if type(x) not in ARRAYS or x.ndim < 2 or x.dtype.kind not in "fc":
        return x
    turned = x.swapaxes(-1, -2)
    return x if turned.flags.c_contiguous else turned.copy("C").swapaxes(-1, -2)


def as_laid_out(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results lie as its first array does."""

    @functools.wraps(kernel)
    def call(xp: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = kernel(xp, x, *args, **kwargs)
        if type(x) not in ARRAYS or x.flags.c_contiguous or kwargs:
            return result
        return tuple([alike(each, x) for each in result]) if type(result) is tuple else alike(result, x)

    return call


def alike(result: Any, x: Any) -> Any:
    """An array in the layout of another of its shape (as a copy of that one would lie)."""
    if result.shape != x.shape:
        return result
    out = empty_like(x, result.dtype)
    if out.strides == result.strides:
        return result
    out[...] = result
    return out


def empty_like(x: Any, dtype: Any = None, xp: Any = None) -> Any:
    """Room for a result in the layout of `x`; where it was expanded, in the order in which PyTorch puts its dimensions."""
    xp = _xp(x) if xp is None else xp
    if x.flags.c_contiguous and not channels_last(x):
        return xp.empty(x.shape, dtype or x.dtype)
    order = dense_order(x)
    return xp.empty([x.shape[d] for d in order], dtype or x.dtype).transpose(inverse(order))


def host_like(x: Any, dtype: Any = None) -> Any:
    """The same in NumPy's memory, for arrays of any library."""
    return empty_like(x, dtype, numpy)


def dense_order(x: Any) -> list[int]:
    """Dimensions from the outermost in memory to the innermost; one that was expanded stays where it is."""
    return meeting_order(x.shape, [x.strides])


def meeting_order(shape: tuple[int, ...], operands: list[tuple[int, ...]]) -> list[int]:
    """The same for what is computed of several: of two dimensions the first that was not expanded along them decides."""
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        for j in range(i - 1, -1, -1):
            below, above = order[j], order[i]
            inside = _inside(below, above, shape, operands)
            if inside is True:
                break
            if inside is False:
                order[j], order[i] = above, below
                i = j
    return order[::-1]


def _inside(below: int, above: int, shape: tuple[int, ...], operands: list[tuple[int, ...]]) -> bool | None:
    """Does `below` lie inside of `above`? None: nobody knows."""
    for strides in operands:
        here, there = strides[below], strides[above]
        if here and there:
            if here != there:
                return here < there
            if shape[below] > shape[above]:
                return False
    return None


def inverse(order: list[int]) -> list[int]:
    """The order that undoes an order."""
    places = [0] * len(order)
    for place, dim in enumerate(order):
        places[dim] = place
    return places


def _in_order(strides: tuple[int, ...]) -> bool:
    """Does every dimension lie inside of the one before, as in a contiguous array?"""
    return all(map(operator.gt, strides, strides[1:]))


def where_they_meet(result: Any, arrays: tuple[Any, ...]) -> Any:
    """The result of operands that lie differently in memory, laid out as PyTorch does: as the first of them."""
    if type(result) is not numpy.ndarray or result.ndim < 2:
        return result
    for a in arrays:  # (one number everywhere, as the gradient of a sum is, lies in no order)
        if type(a) in ARRAYS and a.ndim and not a.flags.c_contiguous and any(a.strides):
            break
    else:  # as it mostly is
        if result.flags.c_contiguous:
            return result
    first = arrays[0]
    if result.ndim == 2 and type(first) in ARRAYS and first.flags.f_contiguous and first.shape == result.shape:
        if min(first.shape) > 1:  # the everyday case: a transposed matrix first, which decides alone
            return result if result.flags.f_contiguous else result.T.copy().T
    given = [a for a in arrays if type(a) in ARRAYS and a.ndim and any(a.strides)]
    if result.flags.c_contiguous and all(a.flags.c_contiguous or _in_order(a.strides) for a in given):
        return result
    shape, operands = result.shape, []
    first = given[0] if given else None
    if (
        first is not None
        and first.shape == shape
        and 1 not in shape
        and 0 not in first.strides
        and len(set(first.strides)) == len(shape)
    ):
        given = given[:1]  # which decides alone
        if first.strides == result.strides:
            return result
    for a in given:
        missing = len(shape) - a.ndim
        ones = zip(a.shape, shape[missing:], a.strides, strict=True)
        operands.append((0,) * missing + tuple([0 if n == 1 != m else step for n, m, step in ones]))
    order = meeting_order(shape, operands)
    turned = result.transpose(order)
    if turned.flags.c_contiguous:
        return result
    return turned.copy("C").transpose(inverse(order))


def as_images(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of images: the first result is contiguous, or has its channels last if the input has."""

    @functools.wraps(kernel)
    def call(xp: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = kernel(xp, x, *args, **kwargs)
        if type(x) not in ARRAYS:
            return result
        several = type(result) is tuple
        first = as_image(result[0] if several else result, x)
        return (first, *result[1:]) if several else first

    return call


def laid_as(x: Any, weight: Any) -> Any:
    """Images for a layer: with their channels last if those of its weight are."""
    return as_image(x, weight) if x.ndim > 3 and channels_last(weight) and not channels_last(x) else x


def channels_are_last(x: Any) -> bool:
    """The same question as normalization asks it: what is contiguous either way is so, whatever the strides of dimensions of one."""
    if x.flags.c_contiguous:
        return False
    return (x.ndim in (4, 5) and x.transpose(0, *range(2, x.ndim), 1).flags.c_contiguous) or channels_last(x)


def as_image(result: Any, x: Any, last: bool | None = None) -> Any:
    """`result` contiguous, or with its channels last if those of `x` are (or `last` says so)."""
    if not (channels_last(x) if last is None else last):
        return result if result.flags.c_contiguous else result.copy("C")
    if result.ndim != x.ndim:
        return result
    turned = result.transpose(0, *range(2, x.ndim), 1)
    if turned.flags.c_contiguous:
        if 1 not in turned.shape:
            return result
        turned = turned.reshape(-1).reshape(turned.shape)  # a dimension of one may have had any stride
    else:
        turned = turned.copy("C")
    return turned.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))
