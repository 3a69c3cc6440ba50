"""Views: arrays that share memory with their argument."""

from __future__ import annotations

from typing import Any

from ..registry import kernel


@kernel("view")
def view(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape) if x.flags.c_contiguous else xp.reshape(x, shape, copy=False)


@kernel("expand")
def expand(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    # broadcast_to marks its result read-only; a Tensor's array must not be.
    extra = len(shape) - x.ndim
    strides = (0,) * extra + tuple(
        0 if n == 1 and m != 1 else s for n, m, s in zip(x.shape, shape[extra:], x.strides, strict=True)
    )
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


@kernel("permute")
def permute(xp: Any, x: Any, dims: tuple[int, ...]) -> Any:
    return x.transpose(dims)


@kernel("getitem")
def getitem(xp: Any, x: Any, index: Any) -> Any:
    return x[index]


@kernel("view_scatter")
def view_scatter(xp: Any, x: Any, part: Any, chain: Any) -> Any:
    """`x` with the view that `chain` describes replaced by `part`."""
    whole = x.copy()
    target = whole
    for op, params, nr in chain:
        target = op.kernel(target, *params)
        if nr is not None:
            target = target[nr]
    target[...] = part
    return whole
