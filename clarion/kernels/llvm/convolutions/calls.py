"""What is offered: convolutions, and their gradients by the input and by the weight."""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from .... import config
from ... import threads
from ...layout import channels_last, laid_as
from ...portable.layers.convolution import is_pointwise, transposed_size
from ...registry import offer, raw
from .. import build, machine
from ..kernel import CHEAP
from ..places import address
from ..products import calls as products
from ..products.tiles import Shape, shape_for
from ..text import module
from ..turning import turned
from . import depthwise, direct, drivers, few, geometry, weights, whole
from .geometry import Geometry, Sizes, three
from .slabs import FIELDS, PLACE

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
_ANY = config.COMPILE == "all"
LEAST = 1 if _ANY else 1 << 14  # multiplications from which a convolution is worth the call
ELEMENTS = 1 if _ANY else 64  # of the first array: with fewer nobody asks
SHARED = 1 << 18  # multiplications from which threads share it
SLABS = 1 << 18  # bytes of slabs that are gone through at a time
FEW_PIXELS = 16  # of an image below which a product for each does less than one of all pixels
PACKED_ALONE = 1 << 15  # weights from which on threads share the packing
_X, _OUT, _A, _A_GROUP, _A_PANEL, _BIAS, _SPANS = (
    PLACE[name] for name in ("x", "out", "a", "a_group", "a_panel", "bias", "spans")
)


@functools.cache
def _shape(dtype: Any) -> Shape:
    return shape_for("double" if dtype is F64 else "float", machine.processor()[1], machine.x86())


class Convolutions:
    """The functions of one type, and its products."""

    def __init__(self, shape: Shape, made: products.Products) -> None:
        self.shape, self.products = shape, made
        engine = machine.compiled(module(drivers.functions(self.shape, machine.x86())))
        pointer = ctypes.c_void_p
        self.convolve, self.gradient, self.gradient_single = (
            machine.callable_at(machine.address(engine, name), None, pointer) for name in drivers.ENTRIES
        )
        self._packs = {
            name: machine.callable_at(machine.address(engine, name), None, pointer) for name in drivers.PACKINGS
        }

    def times(self, x: Any, y: Any, bias: Any) -> Any:
        """x @ y of two matrices, plus a number for each column."""
        if not self.shape.pairs:
            return products.with_bias(x, y, bias)
        made = self.products
        return made.matrices(x, y) if bias is None else made.with_bias(x, y, np.ascontiguousarray(bias))

    def panels(self, matrices: Any, how: str = "pack_rows") -> tuple[Any, int, int]:
        """Matrices (groups, rows, outer steps, inner steps) as the panels that tiles read; bytes of a panel, and of a group's."""
        groups, rows, outers, inners = matrices.shape
        width = drivers.panel_width(self.shape, how)
        count = -(-rows // width)
        # Each a little longer: panels are written further than they are long, by several threads.
        each = -(-outers * inners * width * matrices.itemsize // 64) * 64 + 64
        packed = np.empty(groups * count * each, np.uint8)
        shared = matrices.size >= PACKED_ALONE and threads.number() > 1
        told = (
            address(packed), address(matrices), rows, count, outers, inners, *matrices.strides, each, groups * count,
            build.running().parallel if shared else 0,
        )  # fmt: skip
        self._packs[how]((ctypes.c_int64 * len(told))(*told))
        return packed, each, each * count


@functools.cache
def convolutions(dtype: Any) -> Convolutions | None:
    """The functions of a type, compiled at first use; None where there are none."""
    made = products.products(dtype)
    try:
        return None if made is None else Convolutions(_shape(dtype), made)
    except machine.NoCompiler:
        return None


@functools.cache
def convolutions_of_pairs() -> Convolutions | None:
    """The functions of pairs of bfloat16, neighbouring channels, each in the place of a float32 (see products_of_pairs)."""
    made = products.products_of_pairs()
    return None if made is None else Convolutions(replace(_shape(F32), pairs=True), made)


@functools.lru_cache(maxsize=geometry.KEPT)
def _fixed(
    made: Geometry, x_shape: Sizes, x_strides: Sizes, x_steps: Sizes, out_strides: Sizes, groups: int, rows: int, per: int,
    together: int, itemsize: int,
) -> list[int]:  # fmt: skip
    """What the threads share, but for where arrays lie; images are (images, channels, depth, height, width)."""
    running = build.running()
    slab = made.channels * math.prod(made.slab) * itemsize
    values = {
        "x_image": x_strides[0], "x_group": x_strides[1] * (x_shape[1] // groups), "x_d": x_steps[0], "x_h": x_steps[1],
        "x_w": x_steps[2], "table": address(made.table), "channels": made.channels, "q_d": made.slab[0],
        "q_h": made.slab[1], "q_w": made.slab[2], "offsets": address(made.offsets), "taps": len(made.offsets),
        "out_image": out_strides[0], "out_group": out_strides[1] * rows, "out_o": out_strides[1],
        "out_d": out_strides[2], "out_h": out_strides[3], "out_w": out_strides[4],
        "rows": rows, "o_d": made.size[0], "o_h": made.size[1], "o_w": made.size[2], "height": made.height,
        "blocks": made.blocks, "groups": groups, "count": x_shape[0], "per": per, "slab": (slab + 63) // 64 * 64 + geometry.TAIL,
        "parallel": running.parallel, "threads": running.threads,
        "together": together, "of_channel": math.prod(len(line.taps) for line in made.lines),
    }  # fmt: skip
    return [values.get(name, 0) for name in FIELDS]


def _context(
    made: Geometry, x: Any, x_steps: Sizes, out: Any, groups: int, rows: int, per: int, together: int = 1
) -> Any:
    """What the threads share, but for the weights."""
    fixed = _fixed(made, x.shape, x.strides, x_steps, out.strides, groups, rows, per, together, x.itemsize)
    context = (ctypes.c_int64 * len(FIELDS))(*fixed)
    context[_X], context[_OUT] = address(x), address(out)
    return context


def _five(x: Any) -> Any:
    """Images of three dimensions."""
    return x if x.ndim == 5 else x.reshape(*x.shape[:2], *three(x.shape[2:], 1))


def _rows_of(x: Any) -> Any:
    """The same for slabs, which are filled row by row: images whose channels lie together are turned around."""
    images = _five(x)
    found = turned(images) if x.strides[1] == x.itemsize != x.strides[-1] else None
    return images if found is None else found


def _pixels_of(x: Any) -> Any:
    """Images whose channels lie together, as a matrix with a row for each pixel; None of others."""
    pixels = x.transpose(0, *range(2, x.ndim), 1)
    return pixels.reshape(-1, x.shape[1]) if pixels.flags.c_contiguous else None


def _work(made: Geometry, count: int, groups: int, rows: int) -> int:
    return count * groups * rows * len(made.offsets) * math.prod(made.size)


def _parts(images: int, groups: int, work: int) -> int:
    """Into how many blocks the results of an image should be cut, so that there is something to do for every thread."""
    return 1 if work < SHARED else max(1, -(-2 * threads.number() // (images * groups)))


def _convolve(on: Convolutions, made: Geometry, x: Any, x_steps: Sizes, matrices: Any, out: Any, bias: Any) -> None:
    """out = matrices @ what the taps meet in x; `matrices` is (groups, rows, taps in two dimensions)."""
    groups, rows = matrices.shape[:2]
    items = x.shape[0] * groups * made.blocks
    shared = _work(made, x.shape[0], groups, rows) >= SHARED and threads.number() > 1
    run, spans, how, together = on.convolve, None, "pack_rows", 1
    if groups == 1 and _is_direct(made, rows, on.shape.lanes):
        (run, spans), how = _direct(on.shape, made), "pack_columns"
        fitting = max(1, SLABS // (made.channels * math.prod(made.slab) * x.itemsize))
        together = _evenly(items, fitting, threads.number() if shared else 1)
    per = max(-(-items // (4 * threads.number())), together) if shared else items
    panels, each, of_group = on.panels(matrices, how)
    context = _context(made, x, x_steps, out, groups, rows, per, together)
    context[_A], context[_A_PANEL], context[_A_GROUP] = address(panels), each, of_group
    if spans is not None:
        context[_SPANS] = address(spans)
    if bias is not None:
        context[_BIAS] = address(bias)
    run(context)


@functools.lru_cache(maxsize=geometry.KEPT)
def _evenly(items: int, most: int, workers: int) -> int:
    """How many items at a time, at most so many, that no worker has much more to do than another."""
    rounds = -(-items // (most * workers))
    sizes = [-(-items // (workers * count)) for count in range(rounds, rounds + 4)]
    return min(sizes, key=lambda size: (-(-items // (size * workers)) * size, -size))


def _is_direct(made: Geometry, rows: int, lanes: int) -> bool:
    """Is less computed in vain by tiles whose columns are channels than by those whose columns are results? (See direct.py.)"""
    if made.size[0] > 1 or made.size[1] % made.height:
        return False
    channels = -(-rows // lanes) * lanes / rows
    length = (made.height - 1) * made.slab[2] + made.size[2]  # with the gaps between rows
    results = -(-length // lanes) * lanes / (made.height * made.size[2])
    return channels <= results + 0.05


@functools.lru_cache(maxsize=geometry.KEPT)
def _direct(shape: Shape, made: Geometry) -> tuple[Any, Any]:
    """The function for the tiles of a geometry, and which taps they are made of."""
    plan = direct.plan_for(shape, made)
    return _direct_function(shape, plan), made.spans(plan.rows)


@functools.cache
def _direct_function(shape: Shape, plan: direct.Plan) -> Any:
    engine = machine.compiled(module(direct.functions(shape, plan, machine.x86())))
    return machine.callable_at(machine.address(engine, "direct"), None, ctypes.c_void_p)


def _room(shape: Sizes, dtype: Any, last: bool) -> Any:
    """Room for images, contiguous or with their channels last."""
    if not last:
        return np.empty(shape, dtype)
    n, c, *size = shape
    return np.empty((n, *size, c), dtype).transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def _ready(*arrays: Any) -> Convolutions | None:
    """The functions for these arrays, if they are of one type and there is something to compute."""
    dtype = arrays[0].dtype
    for array in arrays:
        if array.dtype is not dtype or not array.size:
            return None
    return convolutions(dtype)


def _whole(size: Sizes, ksize: Sizes, out: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Sizes:
    """Dimensions that are as good as more channels (whole.py)."""
    return whole.whole(size, ksize, out, padding, dilation) if groups == 1 else ()


def _times(steps: Sizes, stride: Sizes) -> Sizes:
    return tuple(a * b for a, b in zip(steps, stride, strict=True))


def size_of(size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """The size of a convolution's results."""
    sizes = zip(size, padding, dilation, ksize, stride, strict=True)
    return tuple([(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in sizes])


@functools.lru_cache(maxsize=geometry.KEPT)
def _planned(
    x: Sizes, weight: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> tuple[Sizes, int, Sizes]:
    """The size of the results, how many products they are (0 where there are no results), and dimensions that are as good as more channels."""
    size = size_of(x[2:], weight[2:], stride, padding, dilation)
    if min(size) <= 0:
        return size, 0, ()
    work = math.prod(weight) * x[0] * math.prod(size)
    return size, work, _whole(x[2:], weight[2:], size, padding, dilation, groups)


def correlate(
    x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, bias: Any = None
) -> Any:
    """The convolution of x."""
    size, work, dims = _planned(x.shape, weight.shape, stride, padding, dilation, groups)
    on = _ready(x, weight) if work >= LEAST else None
    if on is None or (bias is not None and bias.dtype is not x.dtype):
        return NotImplemented
    n = x.shape[0]
    if dims:
        return whole.correlate(correlate, on.products, dims, x, weight, stride, padding, dilation, bias)
    if groups == 1 and few.is_for(weight, n, size):
        return few.correlate(on.shape, x, weight, stride, padding, dilation, size, bias)
    if depthwise.is_for(on.shape, x, weight, groups, size):
        shared = work >= SHARED and threads.number() > 1
        return depthwise.correlate(on.shape, x, weight, stride, padding, dilation, size, bias, shared)
    return convolved(on, x, weight, stride, padding, dilation, groups, size, bias)


def convolved(
    on: Convolutions, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, size: Sizes, bias: Any
) -> Any:  # fmt: skip
    """The convolution of x with results of a size, as a product with the weights."""
    ksize, n, o = weight.shape[2:], x.shape[0], weight.shape[0]
    if groups == 1 and is_pointwise(ksize, stride, padding):
        found = _pointwise(on, x, weight.reshape(o, -1), size, bias)
        if found is not None:
            return found
    work = math.prod(weight.shape) * n * math.prod(size)
    images = _rows_of(x)
    made = geometry.forward(
        weight.shape[1], images.shape[2:], three(size, 1), three(ksize, 1), three(stride, 1), three(padding, 0),
        three(dilation, 1), images.strides[1:], x.itemsize, _parts(n, groups, work),
    )  # fmt: skip
    out = _room((n, o, *size), x.dtype, channels_last(x))
    matrices = np.ascontiguousarray(weight).reshape(groups, o // groups, 1, -1)
    if bias is not None:
        bias = np.ascontiguousarray(bias)
    _convolve(on, made, images, _times(images.strides[2:], three(stride, 1)), matrices, _five(out), bias)
    return out


def _pointwise(on: Convolutions, x: Any, matrix: Any, size: Sizes, bias: Any) -> Any:
    """One product for all pixels, or one for each image; None where pixels or channels do not lie together."""
    n, c = x.shape[:2]
    pixels = _pixels_of(x)
    if pixels is None and not x.flags.c_contiguous:
        return None
    if pixels is None and n > 1 and math.prod(size) < FEW_PIXELS:
        pixels = depthwise.together(x.transpose(0, *range(2, x.ndim), 1)).reshape(-1, c)
        found = on.times(pixels, matrix.T, bias).reshape(n, *size, -1)
        return depthwise.together(found.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)))
    if pixels is None:
        out = on.products.batch(np.broadcast_to(matrix, (n, *matrix.shape)), x.reshape(n, c, -1))
        return _plus(out, bias).reshape(n, len(matrix), *size)
    out = on.times(pixels, matrix.T, bias)
    if math.prod(size) == 1 and not channels_last(x):
        return out.reshape(n, -1, *size)
    return out.reshape(n, *size, len(matrix)).transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _plus(out: Any, bias: Any) -> Any:
    """Results with a number for each channel. (What several threads have written, they read again.)"""
    if bias is None:
        return out
    if out.size >= CHEAP and out.flags.c_contiguous:
        rows = out.reshape(*out.shape[:2], -1)
        return raw.add(rows, np.broadcast_to(bias[:, None], (*rows.shape[:2], 1))).reshape(out.shape)
    out += bias.reshape(-1, *(1,) * (out.ndim - 2))
    return out


def correlate_input(
    g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input of size `in_size` gets from g."""
    n, ksize = g.shape[0], weight.shape[2:]
    work = math.prod(weight.shape) * n * math.prod(g.shape[2:])
    on = _ready(g, weight) if min(in_size, default=0) > 0 and work >= LEAST else None
    if on is None:
        return NotImplemented
    dims = _whole(in_size, ksize, g.shape[2:], padding, dilation, groups)
    if dims:
        return whole.correlate_input(correlate_input, on.products, dims, g, weight, stride, padding, dilation, in_size)
    if groups == 1 and few.is_for(weight, n, g.shape[2:]):
        return few.correlate_input(on.products, g, weight, stride, padding, dilation, in_size)
    if depthwise.is_for(on.shape, g, weight, groups, in_size) and depthwise.is_reversible(
        ksize, stride, padding, dilation
    ):
        shared = work >= SHARED and threads.number() > 1
        return depthwise.correlate_input(on.shape, g, weight, padding, dilation, in_size, shared)
    return spread(on, g, weight, stride, padding, dilation, groups, in_size)


def spread(
    on: Convolutions, g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:  # fmt: skip
    """What an input of size `in_size` gets from g, as a product with the weights' transpose."""
    n, o, ksize = g.shape[0], g.shape[1], weight.shape[2:]
    c = weight.shape[1] * groups
    if groups == 1 and is_pointwise(ksize, stride, padding) and in_size == g.shape[2:]:
        found = _pointwise(on, g, weight.reshape(o, -1).T, in_size, None)
        if found is not None:
            return found
    work = math.prod(weight.shape) * n * math.prod(g.shape[2:])
    images = _rows_of(g)
    ways = geometry.backward(
        o // groups, images.shape[2:], three(in_size, 1), three(ksize, 1), three(stride, 1), three(padding, 0),
        three(dilation, 1), images.strides[1:], g.itemsize, _parts(n, groups, work),
    )  # fmt: skip
    out = _room((n, c, *in_size), g.dtype, channels_last(g))
    five = _five(out)
    by_tap = weight.reshape(groups, o // groups, c // groups, -1)
    for first, taps, made in ways:
        part = five[(..., *[slice(a, None, s) for a, s in zip(first, three(stride, 1), strict=True)])]
        if made is None:
            part[...] = 0
            continue
        chosen = by_tap if len(taps) == by_tap.shape[3] else by_tap[..., taps]
        _convolve(on, made, images, images.strides[2:], chosen.transpose(0, 2, 1, 3), part, None)
    return out


def correlate_weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> Any:
    """The gradient of the weight."""
    n, o, c = x.shape[0], g.shape[1], x.shape[1]
    work = o * (c // groups) * math.prod(ksize) * n * math.prod(g.shape[2:])
    on = _ready(g, x) if min(ksize, default=0) > 0 and work >= LEAST else None
    if on is None:
        return NotImplemented
    dims = _whole(x.shape[2:], ksize, g.shape[2:], padding, dilation, groups)
    if dims:
        return whole.correlate_weight(correlate_weight, on.products, dims, g, x, stride, padding, dilation, ksize)
    return summed(on, g, x, stride, padding, dilation, groups, ksize)


def summed(
    on: Convolutions, g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes
) -> Any:
    """The gradient of the weight, summed over all results of all images."""
    n, o, c = x.shape[0], g.shape[1], x.shape[1]
    images, gradients = _five(x), _five(g)
    work = o * (c // groups) * math.prod(ksize) * n * math.prod(g.shape[2:])
    shared = work >= SHARED and threads.number() > 1
    where = three(stride, 1), three(padding, 0), three(dilation, 1)
    if groups == 1 and min(c, o) >= weights.FEW:
        found = weights.gradient(on.shape, gradients, images, *where, three(ksize, 1), shared)
        return found.reshape(o, c, *ksize)
    made = geometry.forward(
        c // groups, images.shape[2:], gradients.shape[2:], three(ksize, 1), *where, images.strides[1:], x.itemsize,
        _parts(n, groups, work),
    )  # fmt: skip
    rows, taps = o // groups, len(made.offsets)
    items = n * groups * made.blocks
    per = -(-items // threads.number()) if shared else items
    sums = np.zeros((-(-items // per), groups, rows, taps), x.dtype)
    context = _context(made, images, _times(images.strides[2:], where[0]), gradients, groups, rows, per)
    context[_A] = address(sums)
    (on.gradient_single if rows == 1 else on.gradient)(context)
    total = sums[0] if len(sums) == 1 else sums.sum(axis=0)
    return total.reshape(o, c // groups, *ksize)


def convolution(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """What PyTorch's convolutions compute."""
    x = laid_as(x, weight)
    if not transposed:
        return correlate(x, weight, stride, padding, dilation, groups, bias)
    size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    out = correlate_input(x, weight, stride, padding, dilation, groups, size)
    return out if out is NotImplemented else _plus(out, bias)


def make() -> None:
    """Make all offers."""
    for function in (correlate_input, correlate_weight, convolution):
        offer(function.__name__, "llvm", function, least=ELEMENTS)

    def plain(x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
        return correlate(x, weight, stride, padding, dilation, groups)

    offer("correlate", "llvm", plain, least=ELEMENTS)
