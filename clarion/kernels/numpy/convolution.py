"""Convolutions of images with the channels last, and without columns for all places of the kernel.

With the channels last, what a row of the kernel meets is one piece of memory: so many numbers from a pixel on. Those pieces are
copied beside each other, which makes a matrix as many times as large as the image as the kernel is wide (columns of all its places
are height times as large again); the next row of the kernel meets the same matrix, read from the next row of pixels on. So
a convolution is one product for each row of the kernel, and their sum:

    x ──turned──> pixels ──pieces──> matrix ──products──> made ──turned back──> result

Of images with few channels the pieces are too short for that, and those of all rows are put beside each other: one product.
Without a stride, and where the result is as wide as the image, nothing has to be turned (planes.py).
Products are cut into blocks of rows: BLAS does not rearrange what is small, and is faster so.

A batch is cut into units, some small images or some rows of a large one. Threads share the units (crew.py), each with memory of its
own that it keeps: what one processor has read, another is slow to overwrite. BLAS keeps to one thread meanwhile. A unit has to be large,
since threads meet at Python's lock between two calls. The weight's gradient is summed up by each thread, and then over threads: its last bits
depend on their number. Images whose kernel is one pixel are matrices as they lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..crew import share
from ..layout import as_image, channels_last, laid_as, strided
from ..portable.layers.convolution import is_pointwise, transposed_size
from ..registry import offer
from ..threads import number, one_in_blas
from . import depthwise, planes
from .pieces import Geometry, Sizes, Unit, as_planes, has_planes, met, units
from .planes import blocks, length_of_block

WORTH = 1 << 19  # multiplications from which this is faster than columns of all places
SHARED = 1 << 22  # and from which threads are worth waking
LONG = 1 << 25  # and from which a single one takes long
DENSE = 60  # multiplications for each number that comes and goes
EDGES = 3  # times as many places as a gradient reaches: beyond, most of what kernels meet around it are zeros


def _parts(multiplications: int, *arrays: Any) -> int:
    """How many threads are worth waking: numbers that one thread writes and another reads take long to be overwritten."""
    return number() if multiplications > max(SHARED, DENSE * sum(each.size for each in arrays)) else 1


def _in_parts(some: Callable[[int, int], None], count: int, parts: int) -> None:
    """Do `some` of a count, with BLAS on one thread: its threads look for work after every product, where others would have some."""
    with one_in_blas():
        if parts > 1:
            share(some, count, 1)
        else:
            some(0, count)


class Job(NamedTuple):
    """Kernels over x, written to `out`, (N, O, H, W)."""

    x: Any
    kernels: Any
    geometry: Geometry
    bias: Any
    out: Any
    by_planes: bool

    @classmethod
    def of(cls, x: Any, weight: Any, geometry: Geometry, bias: Any, out: Any) -> Job:
        """With kernels (O, C, *K), which are laid out as they are needed."""
        by_planes = planes.suits(x, geometry)
        kernels = planes.laid_out(weight, geometry) if by_planes else np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
        return cls(x, kernels, geometry, bias, out, by_planes)

    def run(self, unit: Unit) -> None:
        """Compute a unit of it."""
        if self.by_planes:
            planes.correlated(self.x, self.kernels, self.geometry, unit, self.bias, self.out)
            return
        outputs = self.kernels.shape[-1]
        plan, memory = met(self.x, self.geometry, unit, outputs)
        total, more = (place.of(memory) for place in plan.blocks)
        kernels = self.kernels.reshape(len(plan.taps), -1, outputs)
        for k, (tap, kernel) in enumerate(zip(plan.taps, kernels, strict=True)):
            np.matmul(tap.of(memory), kernel, more if k else total)
            if k:
                np.add(total, more, total)
        if self.bias is not None:
            np.add(total, self.bias, total)
        self.out[unit.images, :, unit.rows] = plan.made.of(memory).transpose(0, 3, 1, 2)


def _run(jobs: list[Job]) -> None:
    multiplications = sum(job.geometry.multiplications(len(job.x), job.out.shape[1]) for job in jobs)
    parts = _parts(multiplications, jobs[0].x, *[job.out for job in jobs])
    work = [(job, unit) for job in jobs for unit in units(len(job.x), job.geometry, job.x.itemsize, parts)]

    def some(begin: int, end: int) -> None:
        for job, unit in work[begin:end]:
            job.run(unit)

    _in_parts(some, len(work), parts)


def _result(x: Any, outputs: int, size: Sizes) -> Any:
    """Room for a result that lies as x does."""
    if channels_last(x):
        return np.empty((len(x), *size, outputs), x.dtype).transpose(0, 3, 1, 2)
    return np.empty((len(x), outputs, *size), x.dtype)


def _out_size(x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    sizes = zip(x.shape[2:], padding, dilation, weight.shape[2:], stride, strict=True)
    return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in sizes])


def _forward(x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes) -> Any:
    size = _out_size(x, weight, stride, padding, dilation)
    x, stride = _seen(x, weight.shape[2:], stride, padding)
    out = _result(x, len(weight), size)
    geometry = Geometry(x.shape[1], x.shape[2:], weight.shape[2:], stride, dilation, padding, size)
    if weight.shape[1] < x.shape[1]:
        depthwise.correlated(x, weight[:, 0], geometry, bias, out)
    elif _as_it_lies(x, weight.shape[2:], stride, padding):
        _mixed(weight.reshape(weight.shape[:2]), x, bias, out)
    else:
        _run([Job.of(x, weight, geometry, bias, out)])
    return as_image(out, x)


class Residue(NamedTuple):
    """Places of one dimension of an input that meet the same places of the kernel: `places` in the input, `kernel` in the kernel, from
    its end, and how that runs over the gradient of the result."""

    places: slice
    kernel: slice
    taps: int
    dilation: int
    before: int
    count: int


def _residues(n: int, k: int, stride: int, padding: int, dilation: int) -> list[Residue]:
    """An input's place h gets g[i] weight[j] wherever h + padding = i * stride + j * dilation: which j, `h + padding` modulo the stride says.
    Those lie `step` apart in the kernel, and their i `apart`: a convolution of g without a stride."""
    found, common = [], math.gcd(stride, dilation)
    step, apart = stride // common, dilation // common
    for rest in range(stride):
        start = next((j for j in range(min(k, step)) if (j * dilation - rest) % stride == 0), None)
        first = -(-(padding - rest) // stride)
        count = (n - 1 + padding - rest) // stride - first + 1
        if count <= 0:
            continue
        places = slice(rest + stride * first - padding, None, stride)
        if start is None:
            found.append(Residue(places, slice(0, 0), 0, 1, 0, count))
            continue
        taps = -(-(k - start) // step)
        last = start + (taps - 1) * step
        kernel = slice(last, start - step if start >= step else None, -step)
        before = (start * dilation - rest) // stride + (taps - 1) * apart - first
        found.append(Residue(places, kernel, taps, apart, before, count))
    return found


def _backward(
    g: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input gets from g, and a bias."""
    out, jobs = _result(g, weight.shape[1] * groups, in_size), []
    if groups == 1 and _as_it_lies(g, weight.shape[2:], stride, padding) and in_size == g.shape[2:]:
        _mixed(weight.reshape(weight.shape[:2]).T, g, bias, out)
        return as_image(out, g)
    each = [_residues(*args) for args in zip(in_size, weight.shape[2:], stride, padding, dilation, strict=True)]
    for down in each[0]:
        for right in each[1]:
            part = out[:, :, down.places, right.places]
            if down.taps and right.taps:
                (taps, apart, before, size) = zip(down[2:], right[2:], strict=True)
                geometry = Geometry(g.shape[1], g.shape[2:], taps, (1, 1), apart, before, size)
                kernels = weight[:, :, down.kernel, right.kernel]
                if groups > 1:
                    depthwise.correlated(g, kernels[:, 0], geometry, bias, part)
                else:
                    jobs.append(Job.of(g, kernels.swapaxes(0, 1), geometry, bias, part))
            else:
                part[...] = 0 if bias is None else bias.reshape(-1, 1, 1)
    if jobs:
        _run(jobs)
    return as_image(out, g)


def _weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> Any:
    """The gradient of the weight."""
    outputs, channels, size = g.shape[1], x.shape[1], g.shape[2:]
    x, stride = _seen(x, ksize, stride, padding)
    geometry = Geometry(channels, x.shape[2:], ksize, stride, dilation, padding, size)
    if groups > 1:
        return depthwise.weight(g, x, geometry)[:, None]
    g, one = np.ascontiguousarray(g), g.itemsize
    parts = _parts(geometry.multiplications(len(x), outputs), x, g)
    if _as_it_lies(x, ksize, stride, padding) and size == x.shape[2:]:
        return _mixed_weight(g, x, parts).reshape(outputs, channels, *ksize)
    work = units(len(x), geometry, one, parts)
    step = -(-len(work) // parts)
    totals = np.zeros((-(-len(work) // step), 1 if geometry.narrow else ksize[0], outputs, geometry.width), x.dtype)

    def some(begin: int, end: int) -> None:
        for part in range(begin, end):
            for unit in work[part * step : (part + 1) * step]:
                add(unit, totals[part])

    def add(unit: Unit, total: Any) -> None:
        plan, memory = met(x, geometry, unit, outputs)
        images, count, rows, _ = plan.blocks[0].shape
        if rows < outputs:  # each block would be a larger matrix to add
            count, rows = 1, count * rows
        shape, strides = (images, count, outputs, rows), (g.strides[0], rows * one, g.strides[1], one)
        upstream = strided(g[unit.images, :, unit.rows], shape, strides)
        for tap, each in zip(plan.taps, total, strict=True):
            each += np.matmul(upstream, tap.of(memory).reshape(images, count, rows, -1)).sum((0, 1))

    _in_parts(some, len(totals), parts)
    total = totals.sum(0).reshape(totals.shape[1], outputs, -1, ksize[1], channels).transpose(1, 4, 0, 2, 3)
    return np.ascontiguousarray(total).reshape(outputs, channels, *ksize)


# Kernels of one pixel: channels are mixed ----------------------------------------------------------------


def _seen(x: Any, ksize: Sizes, stride: Sizes, padding: Sizes) -> tuple[Any, Sizes]:
    """The pixels that a kernel of one pixel sees at a stride, and the stride over those."""
    if math.prod(ksize) > 1 or any(padding) or math.prod(stride) == 1 or channels_last(x):
        return x, stride
    return np.ascontiguousarray(x[:, :, :: stride[0], :: stride[1]]), (1, 1)


def _as_it_lies(x: Any, ksize: Sizes, stride: Sizes, padding: Sizes) -> bool:
    return is_pointwise(ksize, stride, padding) and has_planes(x)


def _mixed(matrix: Any, x: Any, bias: Any, out: Any) -> None:
    """matrix @ x for each image."""
    length = length_of_block(math.prod(x.shape[2:]), matrix.size)
    seen, made = blocks(x, length), blocks(out, length) if has_planes(out) else None

    def some(begin: int, end: int) -> None:
        if made is None:
            out[begin:end] = np.matmul(matrix, as_planes(x[begin:end])).reshape(out[begin:end].shape)
        else:
            np.matmul(matrix, seen[begin:end], made[begin:end])
        if bias is not None:
            out[begin:end] += bias.reshape(-1, 1, 1)

    _by_images(some, len(x), _parts(x.size * len(matrix), x, out))


def _by_images(some: Callable[[int, int], None], n: int, parts: int) -> None:
    step = -(-n // parts)
    _in_parts(lambda begin, end: some(begin * step, min(end * step, n)), -(-n // step), parts)


def _mixed_weight(g: Any, x: Any, parts: int) -> Any:
    length = length_of_block(math.prod(x.shape[2:]), g.shape[1] * x.shape[1])
    length = length if length >= g.shape[1] else math.prod(x.shape[2:])
    left, right = blocks(g, length), blocks(x, length).swapaxes(2, 3)
    totals: dict[int, Any] = {}

    def some(begin: int, end: int) -> None:
        totals[begin] = np.matmul(left[begin:end], right[begin:end]).sum((0, 1))

    _by_images(some, len(x), parts)
    return sum((totals[k] for k in sorted(totals)[1:]), totals[0])


# What is offered ------------------------------------------------------------------------------------------


def _suits(x: Any, y: Any, places: Sizes, outputs: int, channels: int, ksize: Sizes, groups: int) -> bool:
    """Images or lines of one group, or of one for each channel, of numbers that BLAS multiplies, and enough of them.

    Where a result has few `places` and there are many weights, images have to be multiplied together: in columns. Where channels are
    mixed that are too few for threads to share, but there is much to multiply, it is for the threads of BLAS.
    """
    if x.ndim not in (3, 4) or x.dtype != y.dtype or x.dtype.char not in "fd" or min(places) < 1:
        return False
    weights, count = channels * math.prod(ksize), math.prod(places)
    if groups > 1:
        return outputs == channels == groups and len(x) * count * weights >= depthwise.WORTH
    weights *= outputs
    multiplications = len(x) * count * weights
    if math.prod(ksize) == 1 and multiplications > LONG and outputs * channels < DENSE * (outputs + channels):
        return False
    return multiplications >= WORTH and weights <= count << 12


def _images(x: Any) -> Any:
    """Lines as images that are one pixel high."""
    return x if x.ndim == 4 else x[:, :, None]


def _pairs(neutral: int, sizes: Sizes) -> Sizes:
    return tuple(sizes) if len(sizes) == 2 else (neutral, *sizes)


def _sizes(stride: Sizes, padding: Sizes, dilation: Sizes) -> tuple[Sizes, Sizes, Sizes]:
    return _pairs(1, stride), _pairs(0, padding), _pairs(1, dilation)


def _as(out: Any, x: Any) -> Any:
    """Results for lines are lines."""
    return out if x.ndim == 4 else as_image(out[:, :, 0], x)


def _suits_forward(x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> bool:
    places = _out_size(x, weight, stride, padding, dilation)
    return _suits(x, weight, places, len(weight), x.shape[1], weight.shape[2:], groups)


@offer("correlate", "numpy", accepts=_suits_forward)
def correlate(x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    """The convolution of x, without bias."""
    return _as(_forward(_images(x), _images(weight), None, *_sizes(stride, padding, dilation)), x)


def _times(sizes: Sizes, factors: Sizes) -> Sizes:
    return tuple([a * b for a, b in zip(sizes, factors, strict=True)])


def _suits_input(
    g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> bool:
    if 0 in in_size or math.prod(in_size) > EDGES * math.prod(_times(g.shape[2:], stride)):
        return False
    return _suits(g, weight, g.shape[2:], len(weight), weight.shape[1] * groups, weight.shape[2:], groups)


@offer("correlate_input", "numpy", accepts=_suits_input)
def correlate_input(
    g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input of size `in_size` gets from g: the transposed convolution."""
    sizes = *_sizes(stride, padding, dilation), groups, _pairs(1, in_size)
    return _as(_backward(_images(g), _images(weight), None, *sizes), g)


def _suits_weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> bool:
    return x.size > 0 and _suits(g, x, g.shape[2:], g.shape[1], x.shape[1], ksize, groups)


@offer("correlate_weight", "numpy", accepts=_suits_weight)
def correlate_weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> Any:
    """The gradient of the weight: (O, C, *ksize)."""
    out = _weight(_images(g), _images(x), *_sizes(stride, padding, dilation), groups, _pairs(1, ksize))
    return out if x.ndim == 4 else out[:, :, 0]


def _suits_layer(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> bool:  # fmt: skip
    if bias is not None and bias.dtype != x.dtype:
        return False
    if transposed:
        size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
        return _suits_input(x, weight, stride, padding, dilation, groups, size)
    return _suits_forward(x, weight, stride, padding, dilation, groups)


@offer("convolution", "numpy", accepts=_suits_layer)
def convolution(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """What PyTorch's convolutions compute; for the transposed one `weight` is (C, O, *K)."""
    x = laid_as(x, weight)
    sizes = _sizes(stride, padding, dilation)
    if not transposed:
        return _as(_forward(_images(x), _images(weight), bias, *sizes), x)
    size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    return _as(_backward(_images(x), _images(weight), bias, *sizes, groups, _pairs(1, size)), x)
