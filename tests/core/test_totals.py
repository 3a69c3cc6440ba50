"""Gradients that arrive by several ways are added: also where they are large, which other kernels do."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
from clarion.core.totals import LARGE


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("turned", [False, True])
def test_large_gradients_of_several_ways_are_those_of_their_parts(dtype: torch.dtype, turned: bool) -> None:
    """Of a leaf and of what is computed from it, twice in a row."""
    whole = torch.randn(LARGE // 64 + 3, 64, dtype=dtype)
    gradients = []
    for x in (whole, whole[:3].clone()):
        x = (x.T.contiguous().T if turned else x).requires_grad_()
        for _ in range(2):
            y = x * 2
            ((y * y + y * 3 + y * 5) + x * 7 + x.square() * 11).sum().backward()
        gradients.append(x.grad.to(torch.float64).numpy())
    np.testing.assert_array_equal(gradients[0][:3], gradients[1])
