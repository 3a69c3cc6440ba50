"""Sampling at the points of a grid, and grids of affine maps."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..row import Row
from .interpolate import inner

HALF = ("float16", "bfloat16")
IMAGE, VOLUME = ((2, 3, 4, 5), (2, 3, 2, 2)), ((1, 2, 3, 4, 5), (1, 2, 3, 2, 3))
INSIDE, WIDE = ((-2.0, 2.0), (-0.9, 0.9)), ((-2.0, 2.0), (-1.7, 1.7))
SCIPY = {"zeros": "constant", "border": "nearest"}


def sampled(mode="bilinear", padding="zeros", align=False):
    return lambda t, x, grid: t.nn.functional.grid_sample(x, grid, mode, padding, align)


def by_scipy(order, padding="zeros", align=False):
    """The same by SciPy, which counts in pixels and the first dimension first."""

    def reference(x, grid):
        sizes = np.array(x.shape[:1:-1])
        pixels = (grid + 1) / 2 * (sizes - 1) if align else ((grid + 1) * sizes - 1) / 2
        at = np.moveaxis(pixels[..., ::-1], -1, 1)
        if padding == "zeros":  # a frame of zeros, so that SciPy reaches them gradually
            x, at = np.pad(x, [(0, 0), (0, 0)] + [(2, 2)] * len(sizes)), at + 2
        made = [
            [ndimage.map_coordinates(c, p, order=order, mode=SCIPY[padding]) for c in n]
            for n, p in zip(x, at, strict=True)
        ]
        return np.array(made)

    return reference


def affine(size, align, dtypes=HALF):
    def reference(theta):
        ends = [(s > 1) if align else (s - 1) / s for s in size[2:]]
        lines = [np.linspace(-float(e), e, s) for e, s in zip(ends, size[2:], strict=True)]
        points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
        return np.einsum("...k,nik->n...i", points, theta)

    return Row(
        "affine_grid_generator",
        lambda t, theta: t.affine_grid_generator(theta, size, align),  # without the warning of a single point
        ((size[0], len(size) - 2, len(size) - 1),),
        reference,
        dtypes=dtypes,
        label=f"{len(size)}D-{'aligned' if align else 'plain'}",
    )


ROWS = [
    Row("grid_sampler_2d", sampled(), IMAGE, by_scipy(1), domain=WIDE),
    Row("grid_sampler_2d", sampled(align=True), IMAGE, by_scipy(1, align=True), domain=WIDE, label="aligned"),
    Row("grid_sampler_2d", sampled(padding="border"), IMAGE, by_scipy(1, "border"), domain=WIDE, label="border"),
    Row("grid_sampler_2d", sampled(padding="reflection"), IMAGE, domain=WIDE, label="reflection"),
    Row("grid_sampler_2d", sampled(padding="reflection", align=True), IMAGE, domain=WIDE, label="reflection-aligned"),
    Row("grid_sampler_2d", sampled("nearest"), IMAGE, by_scipy(0), domain=INSIDE, label="nearest"),
    Row("grid_sampler_2d", sampled("bicubic"), IMAGE, domain=WIDE, label="bicubic"),
    Row("grid_sampler_2d", sampled("bicubic", "border", True), IMAGE, domain=WIDE, label="bicubic-border"),
    Row("grid_sampler_2d", sampled("bicubic", "reflection"), IMAGE, domain=WIDE, label="bicubic-reflection"),
    Row("grid_sampler_3d", sampled(), VOLUME, by_scipy(1), domain=WIDE),
    Row("grid_sampler_3d", sampled(padding="border", align=True), VOLUME, by_scipy(1, "border", True), domain=WIDE,
        label="border"),
    Row("grid_sampler_3d", sampled("nearest", "reflection"), VOLUME, domain=INSIDE, label="nearest-reflection"),
    Row("grid_sampler_put", inner("grid_sampler_put", (4, 5), "bilinear", "zeros", False, (0, 0)),
        ((2, 3, 3, 2), (2, 3, 2, 2)), domain=WIDE),
    Row("grid_sampler_put", inner("grid_sampler_put", (4, 5), "bicubic", "border", True, (1, 0)),
        ((2, 3, 3, 2), (2, 3, 2, 2)), domain=INSIDE, label="slope"),
    Row("grid_sampler_dots", inner("grid_sampler_dots", "bicubic", "zeros", False, (0, 0)),
        ((2, 3, 3, 2), (2, 3, 4, 5), (2, 3, 2, 2)), domain=((-2, 2), (-2, 2), (-0.9, 0.9))),
    affine((2, 1, 3, 4), False),
    affine((2, 1, 3, 1), True, ()),
    affine((1, 2, 2, 3, 4), False),
    Row("affine_grid_generator_backward", inner("affine_grid_generator_backward", (2, 1, 3, 4), True), ((2, 3, 4, 2),)),
]  # fmt: skip
