"""Images made smaller without aliasing: values, gradients, bytes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

# (Never one column: PyTorch then gives the first row over and over.)
SIZES = [(5, 7), (30, 9), (17, 40), (16, 23), (2, 2)]
MODES = ["bilinear", "bicubic", "lanczos"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_and_gradients(mode, dtype):
    array = np.random.default_rng(0).standard_normal((2, 3, 17, 23))
    options = [{"size": size} for size in SIZES] + [{"scale_factor": (0.37, 0.61)}, {"scale_factor": 1.4}]
    if mode != "lanczos":
        options += [{"size": size, "align_corners": True} for size in SIZES]
    rtol = 1e-12 if dtype == "float64" else 1e-5
    for each in options:
        found = []
        for t in (torch, clarion):
            x = t.tensor(array.tolist(), dtype=getattr(t, dtype), requires_grad=True)
            out = t.nn.functional.interpolate(x, mode=mode, antialias=True, **each)
            (out**2).sum().backward()
            found.append((out.detach().numpy(), x.grad.numpy(), out.grad_fn.name()))
        (wanted, gradient, node), (mine, ours, name) = found
        assert node == name
        np.testing.assert_allclose(mine, wanted, rtol=rtol, atol=rtol, err_msg=str(each))
        np.testing.assert_allclose(ours, gradient, rtol=rtol * 10, atol=rtol * 10, err_msg=str(each))


@pytest.mark.parametrize("mode", MODES)
def test_bytes(mode):
    array = np.random.default_rng(0).integers(0, 256, (2, 3, 17, 23)).astype(np.uint8)
    for size in SIZES:
        wanted, mine = (
            t.nn.functional.interpolate(t.tensor(array), size, mode=mode, antialias=True).numpy()
            for t in (torch, clarion)
        )
        np.testing.assert_array_equal(mine, wanted, err_msg=str(size))


REFUSED = {
    "nearest": ((1, 1, 4, 4), {"mode": "nearest", "antialias": True}),
    "line": ((1, 4, 4), {"mode": "linear", "antialias": True}),
    "volume": ((1, 1, 4, 4, 4), {"mode": "trilinear", "antialias": True}),
    "aligned": ((1, 1, 4, 4), {"mode": "lanczos", "antialias": True, "align_corners": True}),
    "plain-lanczos": ((1, 1, 4, 4), {"mode": "lanczos"}),
    "lanczos-line": ((1, 4, 4), {"mode": "lanczos"}),
    "no-channels": ((1, 0, 4, 4), {"mode": "bilinear", "antialias": True}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    shape, options = REFUSED[case]
    with pytest.raises(Exception) as wanted:
        torch.nn.functional.interpolate(torch.ones(shape), 2, **options)
    with pytest.raises(type(wanted.value)) as found:
        clarion.nn.functional.interpolate(clarion.ones(*shape), 2, **options)
    assert str(wanted.value) in str(found.value)


@pytest.mark.parametrize("dtype", ["float16", "int64"])
def test_refused_types(dtype):
    with pytest.raises(NotImplementedError) as wanted:
        torch.nn.functional.interpolate(
            torch.ones(1, 1, 4, 4, dtype=getattr(torch, dtype)), 2, mode="bilinear", antialias=True
        )
    with pytest.raises(NotImplementedError) as found:
        clarion.nn.functional.interpolate(
            clarion.ones(1, 1, 4, 4, dtype=getattr(clarion, dtype)), 2, mode="bilinear", antialias=True
        )
    assert str(wanted.value) == str(found.value)
