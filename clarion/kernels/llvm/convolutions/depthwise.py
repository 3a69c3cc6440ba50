"""Depthwise convolutions of images whose channels lie together: a vector holds neighbouring channels of one pixel.

Every tap is then a product of vectors, whatever the size of the image: nothing is computed in vain where rows are short, and taps that
meet only zeros are left out. Results in the middle of a row, which meet all columns of the kernel, are computed several at a time, so that
a weight is read once for all of them; at the ends of a row each has its own columns, and takes several vectors of channels at a time.
Other images are turned around before and after.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import threads
from ...layout import channels_last
from .. import build, machine
from ..places import address
from ..pool import all_chunks
from ..products.blocks import least, plus, times
from ..products.tiles import Shape, masked_load, masked_store
from ..text import Function, module
from ..turning import turned
from .taps import column_mask

Sizes = tuple[int, ...]
_MIDDLE = (8, 4)  # results of a row at a time
_END = 4  # vectors of channels at a time, of one result
_ITEMS = 4  # chunks for a thread
# What the threads share, in places of eight bytes; steps are in bytes. Of a row of results those from `first` to `end` meet all columns
# of the kernel; `middle` of them are computed at a time. `x_h` and `x_w`: from a tap to the next, `x_next`: from a result to the next.
_FIELDS = (
    "x", "w", "bias", "out", "channels", "rows", "wide", "k_h", "k_w", "size_h", "size_w", "stride_h", "stride_w", "pad_h", "pad_w",
    "dilation_h", "dilation_w", "x_image", "x_row", "x_pixel", "x_h", "x_w", "x_next", "w_h", "w_w", "pixel", "first", "end",
    "middle", "per", "items", "parallel",
)  # fmt: skip
_POINTERS = ("x", "w", "bias", "out", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_FIELDS.index(name)), "i64"))


def _tile_name(results: int, vectors: int) -> str:
    return f"depthwise_{results}_{vectors}"


def _tile(shape: Shape, results: int, vectors: int) -> Function:
    """Some results beside each other, of some vectors of channels: what `high` times `wide` taps give, from x and w on."""
    parameters = ("ptr context", "ptr x", "ptr w", "ptr bias", "ptr out", "i64 high", "i64 wide", "i64 columns")
    f = Function(_tile_name(results, vectors), "void", *parameters, linkage="internal")
    x_h, x_w, x_next, w_h, w_w, pixel = (_get(f, name) for name in ("x_h", "x_w", "x_next", "w_h", "w_w", "pixel"))
    masks = [column_mask(f, shape, j) for j in range(vectors)]
    whole = vectors > 1  # then there are so many channels

    def at(place: str, vector: int) -> str:
        return f.element(place, str(vector * shape.lanes), shape.scalar)

    bias = [f.load(shape.type, at("%bias", j), shape.size) for j in range(vectors)]
    sums = [[f.variable(shape.type, bias[j]) for j in range(vectors)] for _ in range(results)]
    x_row, w_row = f.variable("ptr", "%x"), f.variable("ptr", "%w")
    with f.counted("0", "%high"):
        x_tap, w_tap = f.variable("ptr", x_row.get()), f.variable("ptr", w_row.get())
        with f.counted("0", "%wide"):
            there, weights = x_tap.get(), w_tap.get()
            given = [f.load(shape.type, at(weights, j), shape.size) for j in range(vectors)]
            for i in range(results):
                met = f.offset(there, times(f, x_next, str(i)))
                for j in range(vectors):
                    place = at(met, j)
                    value = f.load(shape.type, place, shape.size) if whole else masked_load(f, shape, place, masks[j])
                    sums[i][j].set(f.intrinsic("fma", shape.type, value, given[j], sums[i][j].get()))
            x_tap.set(f.offset(there, x_w))
            w_tap.set(f.offset(weights, w_w))
        x_row.set(f.offset(x_row.get(), x_h))
        w_row.set(f.offset(w_row.get(), w_h))
    for i in range(results):
        target = f.offset("%out", times(f, pixel, str(i)))
        for j in range(vectors):
            masked_store(f, shape, sums[i][j].get(), at(target, j), masks[j])
    f.end()
    return f


def _met(f: Function, result: str, side: str) -> tuple[str, str]:
    """The first tap of a result that meets the image in one dimension, and how many do. (Both signs of a division round towards zero.)"""
    pad, stride, dilation, size, taps = (
        _get(f, f"{name}_{side}") for name in ("pad", "stride", "dilation", "size", "k")
    )
    before = f.op(
        "sub", "i64", pad, times(f, result, stride)
    )  # zeros before the image that the first tap is away from it
    up = f.op("sdiv", "i64", plus(f, before, f.op("sub", "i64", dilation, "1")), dilation)
    first = f.call("llvm.smax.i64", "i64", f"i64 {up}", "i64 0")
    last = f.op("sdiv", "i64", plus(f, plus(f, size, before), f.op("sub", "i64", dilation, "1")), dilation)
    count = f.op("sub", "i64", least(f, f.call("llvm.smax.i64", "i64", f"i64 {last}", "i64 0"), taps), first)
    return first, f.call("llvm.smax.i64", "i64", f"i64 {count}", "i64 0")


def _start(f: Function, result: str, tap: str, side: str) -> str:
    """The place in the image that a result's tap meets, in one dimension."""
    pad, stride, dilation = (_get(f, f"{name}_{side}") for name in ("pad", "stride", "dilation"))
    return f.op("sub", "i64", plus(f, times(f, result, stride), times(f, tap, dilation)), pad)


def _chunk(shape: Shape) -> Function:
    """Some rows of results."""
    f = Function("depthwise_chunk", "void", "ptr context", "i64 number", linkage="internal")
    channels, wide, k_w, w_w, pixel = (_get(f, name) for name in ("channels", "wide", "k_w", "w_w", "pixel"))
    inner, end, middle = (_get(f, name) for name in ("first", "end", "middle"))
    start = times(f, "%number", _get(f, "per"))
    with f.counted(start, least(f, plus(f, start, _get(f, "per")), _get(f, "items"))) as item:
        image, row = (f.op(word, "i64", item, _get(f, "rows")) for word in ("sdiv", "srem"))
        tap, high = _met(f, row, "h")
        x = f.offset(
            f.offset(_get(f, "x"), times(f, image, _get(f, "x_image"))),
            times(f, _start(f, row, tap, "h"), _get(f, "x_row")),
        )
        w = f.offset(_get(f, "w"), times(f, tap, _get(f, "w_h")))
        out = f.offset(_get(f, "out"), times(f, times(f, item, wide), pixel))

        def call(results: int, vectors: int, result: str, columns: tuple[str, str], channel: str) -> None:
            first, count = columns
            of_x = f.offset(x, times(f, _start(f, result, first, "w"), _get(f, "x_pixel")))
            places = (of_x, f.offset(w, times(f, first, w_w)), _get(f, "bias"), f.offset(out, times(f, result, pixel)))
            given = ", ".join(f"ptr {f.element(place, channel, shape.scalar)}" for place in places)
            left = f.op("sub", "i64", channels, channel)
            name = _tile_name(results, vectors)
            f.line(f"call void @{name}(ptr %context, {given}, i64 {high}, i64 {count}, i64 {left})")

        for results in _MIDDLE:
            with f.when(f.op("icmp eq", "i64", middle, str(results))):
                last = f.op("sub", "i64", end, str(results))
                with f.counted("0", channels, str(shape.lanes)) as channel, f.counted(inner, end, str(results)) as at:
                    call(results, 1, least(f, at, last), ("0", k_w), channel)  # (the last ones overlap those before)
        for one, other in (("0", inner), (end, wide)):
            with f.counted(one, other) as result:
                columns = _met(f, result, "w")
                several = f.op("sub", "i64", channels, str(_END * shape.lanes - 1))
                done = f.variable("i64", "0")
                with f.counted("0", several, str(_END * shape.lanes)) as channel:
                    call(1, _END, result, columns, channel)
                    done.set(plus(f, channel, str(_END * shape.lanes)))
                with f.counted(done.get(), channels, str(shape.lanes)) as channel:
                    call(1, 1, result, columns, channel)
    f.end()
    return f


def _run(x86: bool) -> Function:
    f = Function("depthwise", "void", "ptr context", "i64 chunks")
    all_chunks(f, "depthwise_chunk", "%context", "%chunks", _get(f, "parallel"), x86)
    f.end()
    return f


@functools.cache
def _function(shape: Shape) -> Any:
    x86 = machine.x86()
    tiles = [_tile(shape, *each) for each in (*[(n, 1) for n in _MIDDLE], (1, _END), (1, 1))]
    engine = machine.compiled(module([*tiles, _chunk(shape), _run(x86)]))
    return machine.callable_at(machine.address(engine, "depthwise"), None, ctypes.c_void_p, ctypes.c_int64)


def is_for(shape: Shape, x: Any, weight: Any, groups: int, size: Sizes) -> bool:
    """Has every channel a kernel of its own, in one or two dimensions, and lie channels together, or are rows short? (Slabs, whose vectors
    are pixels, need no turning: with long rows they are quicker.)"""
    if not groups == x.shape[1] == len(weight) > weight.shape[1] == 1 or x.ndim > 4:
        return False
    return 2 * size[-1] <= shape.lanes or channels_last(x)


def _two(sizes: Sizes, missing: int) -> Sizes:
    return sizes if len(sizes) == 2 else (missing, *sizes)


def together(images: Any) -> Any:
    """Images (n, …, c) whose channels lie together; any array in rows."""
    if images.flags.c_contiguous:
        return images
    found = turned(images)
    return np.ascontiguousarray(images) if found is None else found


def correlate(
    shape: Shape, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes, bias: Any, shared: bool
) -> Any:  # fmt: skip
    """The convolution of x, with results of a size; `shared`: by several threads."""
    ksize, stride, padding, dilation = (
        _two(each, missing) for each, missing in ((weight.shape[2:], 1), (stride, 1), (padding, 0), (dilation, 1))
    )
    images = together((x if x.ndim == 4 else x[:, :, None]).transpose(0, 2, 3, 1))
    high, wide = _two(size, 1)
    n, *of_image, channels = images.shape
    taps = np.zeros((math.prod(ksize) + 1, -(-channels // shape.lanes) * shape.lanes), x.dtype)  # the last: the bias
    taps[:-1, :channels] = weight.reshape(channels, -1).T
    if bias is not None:
        taps[-1, :channels] = bias
    out = np.empty((n, high, wide, channels), x.dtype)
    first = min(wide, -(-padding[1] // stride[1]))
    end = max(first, min(wide, (of_image[1] - 1 + padding[1] - (ksize[1] - 1) * dilation[1]) // stride[1] + 1))
    middle = next((results for results in _MIDDLE if end - first >= results), 0)
    items, (x_image, x_row, x_pixel, _) = n * high, images.strides
    per = -(-items // (_ITEMS * threads.number())) if shared else items
    values = {
        "x": address(images), "w": address(taps), "bias": address(taps[-1]), "out": address(out), "channels": channels, "rows": high,
        "wide": wide, "k_h": ksize[0], "k_w": ksize[1], "size_h": of_image[0], "size_w": of_image[1], "stride_h": stride[0],
        "stride_w": stride[1], "pad_h": padding[0], "pad_w": padding[1], "dilation_h": dilation[0], "dilation_w": dilation[1],
        "x_image": x_image, "x_row": x_row, "x_pixel": x_pixel, "x_h": x_row * dilation[0], "x_w": x_pixel * dilation[1],
        "x_next": x_pixel * stride[1], "w_h": taps.strides[0] * ksize[1], "w_w": taps.strides[0], "pixel": out.strides[2],
        "first": first, "end": end if middle else first, "middle": middle, "per": per, "items": items,
        "parallel": build.running().parallel if shared else 0,
    }  # fmt: skip
    context = (ctypes.c_int64 * len(_FIELDS))(*[values[name] for name in _FIELDS])
    _function(shape)(ctypes.addressof(context), -(-items // per))
    found = out.transpose(0, 3, 1, 2)
    return (found if channels_last(x) else together(found)).reshape(n, channels, *size)


def is_reversible(ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> bool:
    """Is the gradient by the input a convolution of the same kind?"""
    return all(s == 1 and p <= d * (k - 1) for k, s, p, d in zip(ksize, stride, padding, dilation, strict=True))


def correlate_input(
    shape: Shape, g: Any, weight: Any, padding: Sizes, dilation: Sizes, in_size: Sizes, shared: bool
) -> Any:
    """What an input gets from g, with strides of 1: the same with the kernel the other way round."""
    around = tuple(d * (k - 1) - p for k, p, d in zip(weight.shape[2:], padding, dilation, strict=True))
    flipped = weight[(..., *[slice(None, None, -1)] * len(around))]
    return correlate(shape, g, flipped, (1,) * len(around), around, dilation, in_size, None, shared)
