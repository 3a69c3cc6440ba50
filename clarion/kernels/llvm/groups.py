"""Group normalization: one pass over the rows of the groups, one over those of the channels; its gradient in two over the channels.

The rest is arithmetic of a few numbers for each image and channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..portable.layers.batch_norm import LONG
from ..quiet import quietly
from ..registry import offer
from .kernel import Rows

_FLOATS = "fd"


def _traced(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def trace(args: Any) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args, by_rows=True)

    return trace


def _normal(xp: Any, x: Any, eps: float) -> Any:
    mean = xp.mean(x, axis=-1, keepdims=True)
    off = x - mean
    rstd = 1 / xp.sqrt(xp.mean(off * off, axis=-1, keepdims=True) + eps)
    return off * rstd, mean, rstd


def _affine(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    out = x if weight is None else x * weight
    return out if bias is None else out + bias


def _sums(xp: Any, g: Any, x: Any, mean: Any) -> Any:
    """Of the gradient, and of its products with what is off the mean."""
    return xp.sum(g, axis=-1), xp.sum(g * (x - mean), axis=-1)


def _gradient(xp: Any, g: Any, x: Any, mean: Any, scale: Any, slope: Any, shift: Any) -> Any:
    return g * scale + (x - mean) * slope + shift


def _as_given(*args: Any) -> Any:
    return args


class Groups:
    """The compiled functions of rows."""

    def __init__(self) -> None:
        def rows(function: Callable[..., Any], *per_row: int) -> Rows:
            return Rows(f"group_norm{function.__name__}", _traced(function), _as_given, per_row)

        self.normal, self.affine = rows(_normal), rows(_affine, 1, 2)
        self.sums, self.gradient = rows(_sums, 2), rows(_gradient, 2, 3, 4, 5)

    def forward(self, x: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
        """The result, and mean and 1 / standard deviation of each group of each image."""
        if not _plain(x, weight, bias) or not 0 < x.size // (x.shape[0] * groups) <= LONG:
            return NotImplemented
        n, c = x.shape[:2]
        found = self.normal(x.reshape(n * groups, -1), eps)
        if found is NotImplemented:
            return found
        out, mean, rstd = found
        if weight is not None or bias is not None:
            each = [None if w is None else np.tile(w, n) for w in (weight, bias)]
            out = self.affine(out.reshape(n * c, -1), *each)
        return out.reshape(x.shape), mean.reshape(n, groups), rstd.reshape(n, groups)

    def backward(self, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, groups: int, needs: Any) -> Any:
        """Gradients of the input, the weight and the bias."""
        if not _plain(x, weight, None) or g.dtype is not x.dtype or mean.dtype is not x.dtype:
            return NotImplemented
        n, c = x.shape[:2]
        count = x.dtype.type(x.size // (n * groups))
        of_g, of_x = np.ascontiguousarray(g).reshape(n * c, -1), x.reshape(n * c, -1)
        means, rstds = (np.repeat(each.reshape(n, groups), c // groups, axis=1) for each in (mean, rstd))
        found = self.sums(of_g, of_x, means.reshape(-1))
        if found is NotImplemented:
            return found
        total, along = (each.reshape(n, c) for each in found)
        along = along * rstds
        gw, gb = along.sum(0) if needs[1] else None, total.sum(0) if needs[2] else None
        if not needs[0]:
            return None, gw, gb
        if weight is not None:
            total, along = total * weight, along * weight
        of_groups = [each.reshape(n, groups, -1).sum(2) / count for each in (total, along)]
        mean_g, mean_along = (np.repeat(each, c // groups, axis=1) for each in of_groups)
        scale = rstds if weight is None else rstds * weight
        shares = (means, scale, -(mean_along * rstds * rstds), -(mean_g * rstds))
        gx = self.gradient(of_g, of_x, *[np.ascontiguousarray(share).reshape(-1) for share in shares])
        return NotImplemented if gx is NotImplemented else (gx.reshape(x.shape), gw, gb)


def _plain(x: Any, weight: Any, bias: Any) -> bool:
    """Is it an array in rows, of a type that is compiled, and the weights of the same type?"""
    alike = all(w is None or w.dtype is x.dtype for w in (weight, bias))
    return alike and x.dtype.char in _FLOATS and x.ndim > 2 and math.prod(x.shape[2:]) > 15 and x.flags.c_contiguous


def make(least: int) -> None:
    """Make all offers."""
    groups = Groups()
    offer("group_norm", "llvm", quietly(groups.forward), least=least)
    offer("group_norm_backward", "llvm", quietly(groups.backward), least=least)
