"""Programs with `torch.compile`, compiled here and as they are written on PyTorch: the same numbers, types and shapes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import clarion
from clarion.compiling.function import CompileWarning

from ..compile.users import PROGRAMS


def seen(value):
    if isinstance(value, (clarion.Tensor, torch.Tensor)):
        return str(value.dtype).split(".")[-1], value.requires_grad, value.detach().numpy()
    return value


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_compute_what_pytorch_does(name):
    torch.manual_seed(0)
    expected = PROGRAMS[name](torch, lambda function: function)
    clarion.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        found = PROGRAMS[name](clarion, clarion.compile)
    for one, other in zip(map(seen, found), map(seen, expected), strict=True):
        if isinstance(other, tuple):
            assert one[:2] == other[:2]
            close = (2e-2, 1e-2) if "precision" in name else (1e-4, 1e-5)
            np.testing.assert_allclose(one[2], other[2], *close)
        else:
            assert one == other
