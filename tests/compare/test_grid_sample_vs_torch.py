"""Sampling at the points of a grid: at the border, far outside, where there is no number, and what is refused."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

ALL = list(itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)))
NEAR = [[1, 1], [-1, -1], [1.5, 0.2], [-0.75, 0.33], [-3.2, 2.7], [0.13, -1.01], [1.0, -0.4]]
FAR = [[math.nan, 0], [0, math.nan], [math.inf, 0], [-math.inf, 0], [3e6, 0]]


def image(t):
    return (t.arange(24.0, dtype=t.float64).reshape(1, 2, 3, 4) ** 2).requires_grad_()


@pytest.mark.parametrize(("mode", "padding", "align"), ALL)
def test_at_the_border(mode, padding, align):
    found = []
    for t in (torch, clarion):
        x = image(t)
        grid = t.tensor([[NEAR]], dtype=t.float64, requires_grad=True)
        out = t.nn.functional.grid_sample(x, grid, mode, padding, align)
        out.sin().sum().backward()
        found.append((out, x.grad, grid.grad))
    for wanted, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("mode", "padding", "align"), ALL)
def test_far_away_and_no_number(mode, padding, align):
    found = []
    for t in (torch, clarion):
        grid = t.tensor([[FAR]], dtype=t.float64)
        found.append(t.nn.functional.grid_sample(image(t).detach(), grid, mode, padding, align).numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_no_number_in_a_volume(mode):
    """What is outside of a volume is left out, whatever its weight."""
    found = []
    for t in (torch, clarion):
        x = t.ones(1, 2, 3, 3, 3, dtype=t.float64, requires_grad=True)
        points = [[math.nan, 0, 0], [0, math.inf, 0], [0.3, 0.2, -0.1]]
        grid = t.tensor([[[points]]], dtype=t.float64, requires_grad=True)
        out = t.nn.functional.grid_sample(x, grid, mode, align_corners=True)
        found.append([each.detach().numpy() for each in (out, *t.autograd.grad(out.sum(), (x, grid)))])
    for wanted, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_no_number_inside_of_a_volume(padding):
    found = []
    for t in (torch, clarion):
        x = t.arange(54.0).reshape(1, 2, 3, 3, 3)
        grid = t.tensor([[[[[math.nan, 0, 0], [0, math.nan, 0.4]]]]])
        found.append(t.nn.functional.grid_sample(x, grid, padding_mode=padding, align_corners=False).numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_many_points_at_one_place():
    found = []
    for t in (torch, clarion):
        x = image(t)
        grid = t.linspace(-1, 0.6, 400, dtype=t.float64).reshape(1, 10, 20, 2) ** 5
        t.nn.functional.grid_sample(x, grid, align_corners=True, padding_mode="border").sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def shapes(t, x, grid, **options):
    return t.nn.functional.grid_sample(t.ones(x), t.ones(grid), **{"align_corners": False, **options})


def affine(t, theta, size, align=False):
    return t.nn.functional.affine_grid(t.ones(theta), size, align)


REFUSED = {
    "mode": lambda t: shapes(t, (2, 3, 4, 5), (2, 6, 7, 2), mode="x"),
    "padding": lambda t: shapes(t, (2, 3, 4, 5), (2, 6, 7, 2), padding_mode="x"),
    "batch": lambda t: shapes(t, (2, 3, 4, 5), (1, 6, 7, 2)),
    "coordinates": lambda t: shapes(t, (2, 3, 4, 5), (2, 6, 7, 1)),
    "dimensions": lambda t: shapes(t, (2, 3, 4, 5), (2, 6, 7, 8, 2)),
    "empty": lambda t: shapes(t, (2, 3, 4, 0), (2, 6, 7, 2)),
    "volume-cubic": lambda t: shapes(t, (2, 3, 4, 5, 6), (2, 6, 7, 8, 3), mode="bicubic"),
    "types": lambda t: t.nn.functional.grid_sample(
        t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 2).double(), align_corners=False
    ),
    "whole-numbers": lambda t: t.grid_sampler(t.ones(1, 1, 2, 2).long(), t.ones(1, 2, 2, 2).long(), 0, 0, False),
    "affine-size": lambda t: affine(t, (2, 2, 3), [2, 3, 4]),
    "affine-volume": lambda t: affine(t, (2, 2, 3), [2, 3, 4, 5, 6]),
    "affine-batch": lambda t: affine(t, (2, 2, 3), [1, 3, 4, 5]),
    "affine-shape": lambda t: affine(t, (2, 3), [2, 3, 4, 5]),
    "affine-empty": lambda t: affine(t, (2, 2, 3), [2, 0, 4, 5]),
    "affine-whole-numbers": lambda t: t.nn.functional.affine_grid(t.ones(2, 2, 3).long(), [2, 3, 4, 5], False),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    with pytest.raises(Exception) as wanted:
        REFUSED[case](torch)
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[case](clarion)
    assert str(wanted.value) in str(found.value)


def test_warning_of_the_default():
    texts = []
    for t in (torch, clarion):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            grid = t.nn.functional.affine_grid(t.ones(1, 2, 3), [1, 1, 2, 2])
            t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), grid)
        texts.append([(str(w.message), w.category, w.filename == __file__) for w in caught])
    assert texts[1] == [(text, category, True) for text, category, _ in texts[0]]
