"""Fractional max pooling."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion import nn


@pytest.mark.parametrize(("layer", "shape", "expected"), [
    (nn.FractionalMaxPool2d(2, output_size=(3, 4)), (2, 3, 8, 9), (2, 3, 3, 4)),
    (nn.FractionalMaxPool2d(3, output_ratio=0.5), (3, 10, 12), (3, 5, 6)),
    (nn.FractionalMaxPool3d(2, output_size=2), (0, 2, 5, 5, 5), (0, 2, 2, 2, 2)),
])  # fmt: skip
def test_shapes(layer: nn.Module, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert layer(torch.randn(*shape)).shape == expected


def test_values_come_from_their_places() -> None:
    x = torch.randn(2, 3, 9, 9, dtype=torch.float64, requires_grad=True)
    out, places = nn.functional.fractional_max_pool2d(x, 2, output_size=4, return_indices=True)
    assert torch.equal(x.flatten(2).gather(2, places.flatten(2)).view(out.shape), out)
    out.sum().backward()
    assert x.grad.sum().item() == out.numel()


def test_pooling_that_covers_everything_is_plain_max_pooling() -> None:
    x = torch.randn(1, 2, 6, 6)
    assert torch.equal(nn.FractionalMaxPool2d(6, output_size=1)(x), nn.functional.max_pool2d(x, 6))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="requires specifying either an output size, or a pooling ratio"):
        nn.FractionalMaxPool2d(2)
    with pytest.raises(ValueError, match="output_ratio must be between 0 and 1"):
        nn.FractionalMaxPool2d(2, output_ratio=1.5)
    with pytest.raises(RuntimeError, match="too large relative to input"):
        nn.FractionalMaxPool2d(5, output_size=3)(torch.randn(1, 1, 6, 6))
