"""Fourier transforms: frequencies, types, what is refused; values and gradients are the operator database's."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name):
    for n in range(7):
        for options in ({}, {"d": 0.3}, {"d": 2, "dtype": "float64"}, {"dtype": "float16"}, {"requires_grad": True}):
            found = []
            for t in (torch, clarion):
                given = {k: getattr(t, v) if k == "dtype" else v for k, v in options.items()}
                found.append(getattr(t.fft, name)(n, **given))
            wanted, mine = found
            assert str(mine.dtype) == str(wanted.dtype)
            assert mine.requires_grad == wanted.requires_grad
            np.testing.assert_array_equal(mine.detach().numpy(), wanted.detach().numpy())


def test_types_and_nodes():
    rng = np.random.default_rng(0)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "rfftn", "irfftn", "hfft2", "ihfftn"):
        for dtype in ("float32", "float64", "complex64", "complex128", "int64"):
            if dtype.startswith("complex") and name.startswith(("rfft", "ihfft")):
                continue
            found = []
            array = rng.integers(0, 5, (4, 6)).tolist()
            for t in (torch, clarion):
                x = t.tensor(array, dtype=getattr(t, dtype))
                x = x.requires_grad_() if dtype != "int64" else x
                out = getattr(t.fft, name)(x)
                node = out.grad_fn
                found.append((str(out.dtype), tuple(out.shape), node and node.name()))
            assert found[0] == found[1], (name, dtype)


def real(t):
    return t.ones(4, 6)


REFUSED = {
    "half": lambda t: t.fft.fft(real(t).half()),
    "real-wanted": lambda t: t.fft.rfft(real(t).to(t.complex64)),
    "real-wanted-many": lambda t: t.fft.ihfftn(real(t).to(t.complex64)),
    "real-wanted-plane": lambda t: t.fft.rfft2(real(t).to(t.complex64)),
    "no-points": lambda t: t.fft.fft(real(t), n=0),
    "negative-points": lambda t: t.fft.fft(real(t), n=-1),
    "one-point-back": lambda t: t.fft.irfft(t.ones(1)),
    "dimension": lambda t: t.fft.fft(real(t), dim=2),
    "no-dimension": lambda t: t.fft.fft(t.tensor(1.0)),
    "norm": lambda t: t.fft.fft(real(t), norm="x"),
    "plane-of-a-line": lambda t: t.fft.fft2(t.ones(3)),
    "twice": lambda t: t.fft.fftn(real(t), dim=(0, -2)),
    "too-many-sizes": lambda t: t.fft.fftn(real(t), s=(2, 3, 4)),
    "lengths": lambda t: t.fft.fftn(real(t), s=(2, 3), dim=(1,)),
    "zero-size": lambda t: t.fft.rfftn(real(t), s=(0, 3)),
    "nothing-to-do": lambda t: t.fft.rfftn(real(t), dim=()),
    "nothing-to-do-back": lambda t: t.fft.irfftn(real(t), dim=()),
    "not-a-tensor": lambda t: t.fft.fft("x"),
    "empty": lambda t: t.fft.fft(t.ones(0)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    with pytest.raises(Exception) as wanted:
        REFUSED[case](torch)
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[case](clarion)
    assert str(wanted.value) in str(found.value)


def test_no_signals():
    for name, size in (("fft", 3), ("rfft", 2), ("irfft", 4), ("ifft2", 3)):
        empty = clarion.ones(0, 2, 3, requires_grad=True)
        found = getattr(clarion.fft, name)(empty)
        assert found.shape == (0, 2, size)
        found.abs().sum().backward()
        assert empty.grad.shape == (0, 2, 3)


def test_sizes_that_stay_and_no_dimensions():
    for call in (
        lambda t: t.fft.fftn(real(t), s=(2, -1)),
        lambda t: t.fft.irfftn(real(t).to(t.complex64), s=(3, -1)),
        lambda t: t.fft.fftn(real(t).to(t.complex64), dim=()),
        lambda t: t.fft.fftn(t.tensor(2.0)),
    ):
        wanted, mine = call(torch), call(clarion)
        assert str(mine.dtype) == str(wanted.dtype)
        np.testing.assert_allclose(mine.numpy(), wanted.numpy(), atol=1e-6)


@pytest.mark.parametrize(
    "name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "rfft2", "irfftn", "fftshift"]
)
def test_autocast(name):
    found = []
    for t in (torch, clarion):
        with t.autocast("cpu", t.bfloat16):
            found.append(str(getattr(t.fft, name)(t.ones(4, 4, dtype=t.bfloat16)).dtype))
    assert found[0] == found[1]
