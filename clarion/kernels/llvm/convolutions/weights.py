"""The weight's gradient from images whose channels lie together: where taps meet what, and how the work is shared out."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from typing import Any

import numpy as np

from ... import threads
from .. import build, machine
from ..places import address
from ..products.tiles import Shape
from ..text import module
from .by_channel import FIELDS, functions
from .depthwise import together
from .geometry import KEPT, Sizes

CACHED = 1 << 18  # bytes of images and gradients that are gone through at a time, for all taps
FEW = 8  # channels of either below which squares are not worth turning
_ITEMS = 8  # for a thread at least, if there are as many
_ITEMS_OF_SHARE = 2  # where each thread has images of its own
_WORTH_ADDING = 256  # results in a thread's images, from which on it has sums of its own


def _tap(tap: int, size: int, out: int, stride: int, padding: int, dilation: int) -> tuple[int, int, int]:
    """Of one dimension: where the tap first meets the image, which result that is, and how many meet it."""
    shift = tap * dilation - padding
    first = max(0, -(shift // stride))
    end = min(out, (size - 1 - shift) // stride + 1)
    return first * stride + shift, first, max(0, end - first)


@functools.lru_cache(maxsize=KEPT)
def _table(
    size: Sizes,
    out: Sizes,
    ksize: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    x_steps: Sizes,
    g_steps: Sizes,
) -> Any:
    """For each tap the place of what it meets first, of that result's gradient, and how many results meet something."""
    found = []
    for tap in itertools.product(*map(range, ksize)):
        lines = [_tap(*each) for each in zip(tap, size, out, stride, padding, dilation, strict=True)]
        meets, results, counts = zip(*lines, strict=True)
        places = [
            sum(a * b for a, b in zip(at, steps, strict=True)) for at, steps in ((meets, x_steps), (results, g_steps))
        ]
        found.append((*places, *counts) if min(counts) else (0, 0, 0, 0, 0))
    return np.array(found, np.int64)


@functools.lru_cache(maxsize=KEPT)
def _strips(channels: int, shape: Shape) -> Any:
    """The channels as the rows of tiles: two of one height rather than a tall and a low one."""
    found, first = [], 0
    while first < channels:
        left = channels - first
        tall = next(h for h in shape.heights if h <= left and (h < shape.rows or left != 2 * shape.heights[1]))
        found.append((first, tall))
        first += tall
    return np.array(found, np.int64)


@functools.cache
def _function(shape: Shape) -> Any:
    engine = machine.compiled(module(functions(shape, machine.x86())))
    return machine.callable_at(machine.address(engine, "by_channel"), None, ctypes.c_void_p)


def gradient(
    shape: Shape, g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, ksize: Sizes, shared: bool
) -> Any:
    """The gradient (rows, channels, taps), all in three dimensions; `shared`: by several threads."""
    run = _function(shape)
    x, g = (together(images.transpose(0, 2, 3, 4, 1)) for images in (x, g))
    n, *size, channels = x.shape
    *_, rows = g.shape
    table = _table(tuple(size), g.shape[1:4], ksize, stride, padding, dilation, x.strides[1:4], g.strides[1:4])
    strips, taps, panels = _strips(channels, shape), len(table), -(-rows // shape.columns)
    shares = _shares(n, math.prod(g.shape[1:4])) if shared else 1
    pieces = len(strips) * panels
    wanted = 1 if not shared else _ITEMS * threads.number() if shares == 1 else _ITEMS_OF_SHARE
    per = -(-taps // min(taps, -(-wanted // pieces)))
    groups = -(-taps // per)
    out = np.empty((shares, rows, channels, taps), x.dtype)
    steps = {f"x_{name}": x.strides[1 + k] * stride[k] for k, name in enumerate("dhw")}
    values = steps | {f"g_{name}": g.strides[1 + k] for k, name in enumerate("dhw")} | {
        "x": address(x), "g": address(g), "out": address(out), "table": address(table), "strips": address(strips),
        "taps": taps, "channels": channels, "rows": rows, "images": n, "x_image": x.strides[0], "g_image": g.strides[0],
        "together": max(1, CACHED // (x.strides[0] + g.strides[0])), "per": per, "panels": panels, "groups": groups,
        "items": shares * pieces * groups, "parallel": build.running().parallel if shared else 0, "share": -(-n // shares),
        "of_share": pieces * groups, "out_share": out.strides[0],
    }  # fmt: skip
    run((ctypes.c_int64 * len(FIELDS))(*[values[name] for name in FIELDS]))
    return out[0] if shares == 1 else out.sum(axis=0)


def _shares(images: int, results: int) -> int:
    """Into how many parts images are divided: one for each thread, if what each sums up is worth adding up."""
    share = -(-images // threads.number())
    return -(-images // share) if share * results >= _WORTH_ADDING else 1
