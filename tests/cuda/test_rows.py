"""Every row of the table on the GPU: values and gradients are the CPU's, to rounding, and stay on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion as torch

from ..opcases import ROWS, Row
from ..rowtools import draw, results, tensors

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

# Single precision on both sides; sums are taken in another order.
RTOL, ATOL = 2e-4, 2e-5


def on_gpu(t: Any) -> Any:
    return t.detach().to("cuda").requires_grad_(t.requires_grad)


def host(t: Any) -> Any:
    array = t.detach().cpu().resolve_conj().numpy()
    return array.astype(complex if array.dtype.kind == "c" else float)


def gradients(inputs: list[Any], outs: list[Any]) -> list[Any]:
    leaves = [x for x in inputs if x.requires_grad]
    roots = [out for out in outs if out.requires_grad]
    if not leaves or not roots:
        return []
    return torch.autograd.grad(roots, leaves, [torch.ones_like(root) for root in roots], allow_unused=True)


TO_CPU = {"transfer"}  # operations whose rows bring their input to the CPU


@pytest.fixture(autouse=True)
def exactly():
    """float32 in full. (PyTorch lets cuDNN round what it multiplies, and so does clarion, unless it is told otherwise.)"""
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield


def called(row: Row, inputs: list[Any]) -> list[Any]:
    """The results; of a row that makes tensors itself, with those on the GPU, too."""
    try:
        return results(row.call(torch, *inputs))
    except RuntimeError as error:
        if not str(error).startswith("Expected all tensors to be on the same device"):
            raise
    with torch.device("cuda"):
        return results(row.call(torch, *inputs))


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if not getattr(row.call, "draws", False)])
def test_row(row: Row):
    cpu = tensors(torch, draw(row), "float32")
    gpu = [on_gpu(t) for t in cpu]
    expected = results(row.call(torch, *cpu))
    try:
        found = called(row, gpu)
    except RuntimeError as error:
        if str(error).startswith("Expected all tensors to be on the same device"):
            pytest.skip("the row itself makes tensors on the CPU")
        raise
    for a, b in zip(expected, found, strict=True):
        assert b.device.type == ("cpu" if row.op in TO_CPU else "cuda")
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(host(b), host(a), rtol=RTOL, atol=ATOL)
    if getattr(row.call, "differentiates", False):
        return
    for a, b in zip(gradients(cpu, expected), gradients(gpu, found), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert b.device.type == "cuda"
            np.testing.assert_allclose(host(b), host(a), rtol=10 * RTOL, atol=10 * ATOL)
