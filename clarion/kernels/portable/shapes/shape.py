"""Views: arrays that share memory with their argument and can be written."""

from __future__ import annotations

from typing import Any

from ...layout import ARRAYS, regrouped, strided
from ...registry import kernel


@kernel("view")
def view(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    contiguous = x.flags.c_contiguous
    if 1 not in shape or (contiguous and 1 not in x.shape) or type(x) not in ARRAYS:
        return x.reshape(shape) if contiguous else xp.reshape(x, shape, copy=False)
    # The steps of dimensions of size 1 are PyTorch's: they tell which order of dimensions later results take.
    steps = regrouped(x.shape, x.strides, shape)
    seen = xp.reshape(x, shape, copy=False) if steps is None else x.reshape(shape)
    return seen if steps is None or seen.strides == steps else strided(x, shape, steps)


@kernel("reshape")
def reshape(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape)


@kernel("view_dtype")
def view_dtype(xp: Any, x: Any, dtype: Any) -> Any:
    bits = x.view(dtype)
    if (
        0 in x.shape and x.itemsize != bits.itemsize
    ):  # NumPy keeps no strides of no elements: all are 0 if they lie together
        return strided(bits, bits.shape, (*x.strides[:-1], bits.itemsize) if any(x.strides) else x.strides)
    return bits


@kernel("expand")
def expand(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    # broadcast_to marks its result read-only; a Tensor's array must not be.
    have = x.shape
    extra = len(shape) - len(have)
    strides = x.strides
    if have != shape[extra:]:
        strides = tuple([0 if n == 1 and m != 1 else s for n, m, s in zip(have, shape[extra:], strides, strict=True)])
    before = (0,) * extra
    if have and 1 in shape[:extra]:  # PyTorch's stride there is that of one more element, as in unsqueeze
        before, step = (), strides[0]
        for size, following in zip(reversed(shape[:extra]), reversed(shape[1 : extra + 1]), strict=True):
            step = following * step if size == 1 else 0
            before = (step, *before)
    return strided(x, shape, before + strides)


@kernel("sum_to")
def sum_to(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """The sum over the dimensions along which `shape` was stretched to the shape of `x`."""
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple([i + extra for i, n in enumerate(shape) if n == 1 and x.shape[i + extra] != 1])
    if not axes:
        return x
    if x.dtype.itemsize == 2:  # half precision accumulates in float32
        return x.astype(xp.float32).sum(axis=axes, keepdims=True).reshape(shape).astype(x.dtype)
    return x.sum(axis=axes, keepdims=True).reshape(shape)


@kernel("permute")
def permute(xp: Any, x: Any, dims: tuple[int, ...]) -> Any:
    return x.transpose(dims)


@kernel("transpose")
def transpose(xp: Any, x: Any, dim0: int, dim1: int) -> Any:
    return x.swapaxes(dim0, dim1) if x.ndim else x


@kernel("t")
def t(xp: Any, x: Any) -> Any:
    return x.T


@kernel("squeeze")
def squeeze(xp: Any, x: Any) -> Any:
    return x.squeeze()


@kernel("squeeze_dim")
def squeeze_dim(xp: Any, x: Any, dim: int) -> Any:
    return x.squeeze(dim) if x.ndim and x.shape[dim] == 1 else x


@kernel("squeeze_dims")
def squeeze_dims(xp: Any, x: Any, dims: tuple[int, ...]) -> Any:
    return x.squeeze(tuple([d for d in dims if x.shape[d] == 1])) if x.ndim else x


@kernel("unsqueeze")
def unsqueeze(xp: Any, x: Any, dim: int) -> Any:
    shape, strides = x.shape, x.strides
    wanted = (*shape[:dim], 1, *shape[dim:])
    if x.flags.c_contiguous and 1 not in shape:
        return x.reshape(wanted)
    # (Indexing with None gives a stride of 0. PyTorch's is that of one more element of this dimension.)
    step = shape[dim] * strides[dim] if dim < len(shape) else x.itemsize
    return strided(x, wanted, (*strides[:dim], step, *strides[dim:]))
