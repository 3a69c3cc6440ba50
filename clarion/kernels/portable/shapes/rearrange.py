"""Copies with the elements in another order or several times."""

from __future__ import annotations

from typing import Any

import numpy

from ...layout import as_images, as_laid_out, channels_last, empty_like, in_rows, rows
from ...registry import kernel


@kernel("clone")
def clone(xp: Any, x: Any, order: str) -> Any:
    if order == "channels_last" or (order == "K" and x.ndim > 3 and x.flags.c_contiguous and channels_last(x)):
        last = (0, *range(2, x.ndim), 1)
        back = (0, x.ndim - 1, *range(1, x.ndim - 1))
        return x.transpose(last).copy().transpose(back)
    if order == "K" and 0 in x.strides and x.ndim > 1:  # it was expanded
        out = empty_like(x, None, xp)
        out[...] = x
        return out
    return x.copy("C" if 0 in x.strides else order)


@kernel("flip")
@as_laid_out
def flip(xp: Any, x: Any, dims: tuple[int, ...]) -> Any:
    if xp is not numpy or not x.ndim:
        return xp.flip(x, dims).copy() if x.ndim else x.copy()
    back = [slice(None)] * x.ndim
    for dim in dims:
        back[dim] = slice(None, None, -1)
    return x[tuple(back)].copy()


@kernel("roll")
def roll(xp: Any, x: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return _roll_along(xp, x, shifts, dims) if dims else _roll_flat(xp, x, shifts[0])


@as_images
def _roll_along(xp: Any, x: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return xp.roll(x, shifts, dims) if x.size and x.ndim else x.copy()


@in_rows
def _roll_flat(xp: Any, x: Any, shift: int) -> Any:
    return xp.roll(x, shift) if x.size and x.ndim else x.copy()


@kernel("rot90")
def rot90(xp: Any, x: Any, k: int, dims: tuple[int, int]) -> Any:
    if k % 4 == 0:
        return x.copy()
    turned = flip(xp, x, dims if k % 4 == 2 else (dims[k % 4 == 1],))
    return turned if k % 4 == 2 else turned.swapaxes(*dims)  # (it lies in memory as what was flipped)


@kernel("repeat")
def repeat(xp: Any, x: Any, repeats: tuple[int, ...]) -> Any:
    return rows(xp.tile(x, repeats))  # (a copy of x as it lies, where nothing is repeated)
