"""Windows: values, types, options and refusals as PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

pytestmark = pytest.mark.compare

NAMES = ["hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]
# A few units in the last place of the largest intermediate value.
LIMIT = {"float32": 1e-6, "float64": 2e-15}


@pytest.mark.parametrize("dtype", LIMIT)
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_window(name, periodic, dtype):
    for length in (0, 1, 2, 3, 5, 16, 25, 400, 1024):
        ours = getattr(clarion, name)(length, periodic, dtype=getattr(clarion, dtype))
        theirs = getattr(torch, name)(length, periodic, dtype=getattr(torch, dtype))
        assert str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=LIMIT[dtype])


def test_shape_parameters():
    np.testing.assert_allclose(
        clarion.hamming_window(9, False, 0.6, 0.4).numpy(), torch.hamming_window(9, False, 0.6, 0.4).numpy(), atol=1e-7
    )
    np.testing.assert_allclose(
        clarion.kaiser_window(9, False, 5.0).numpy(), torch.kaiser_window(9, False, 5.0).numpy(), atol=1e-7
    )


@pytest.mark.parametrize("name", NAMES)
def test_refusals(name):
    for t in (clarion, torch):
        window = getattr(t, name)
        assert window(4, requires_grad=True).requires_grad
        assert window(4, requires_grad=True).is_leaf
        with pytest.raises(RuntimeError, match=f"{name} requires non-negative window_length, got window_length=-1"):
            window(-1)
        with pytest.raises(RuntimeError, match=f"{name} expects floating point dtypes, got: "):
            window(4, dtype=t.int64)
        with pytest.raises(TypeError, match=r"'window_length'.*must be int, not float"):
            window(2.5)


SIGNAL = {
    "bartlett": [{}],
    "blackman": [{}],
    "cosine": [{}],
    "exponential": [{}, {"tau": 3.0}, {"center": 1.0, "sym": False}],
    "gaussian": [{}, {"std": 2.5}],
    "general_cosine": [{"a": [0.5, 0.4, 0.1]}],
    "general_hamming": [{}, {"alpha": 0.7}],
    "hamming": [{}],
    "hann": [{}],
    "kaiser": [{}, {"beta": 3.0}],
    "nuttall": [{}],
}


@pytest.mark.parametrize("dtype", LIMIT)
@pytest.mark.parametrize("name", SIGNAL)
def test_signal_window(name, dtype):
    for options in SIGNAL[name]:
        for length in (0, 1, 2, 3, 5, 16, 25, 400):
            for symmetric in {options.get("sym", True), False}:
                given = {**options, "sym": symmetric}
                ours = getattr(clarion.signal.windows, name)(length, dtype=getattr(clarion, dtype), **given)
                theirs = getattr(torch.signal.windows, name)(length, dtype=getattr(torch, dtype), **given)
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=LIMIT[dtype])


def test_signal_windows_are_all_there():
    assert sorted(clarion.signal.windows.__all__) == sorted(SIGNAL)
    assert set(SIGNAL) <= set(dir(torch.signal.windows))


@pytest.mark.parametrize(
    ("name", "options", "phrase"),
    [
        ("hann", {"M": -1}, "general_cosine requires non-negative window length, got M=-1"),
        ("cosine", {"M": 3, "dtype": "int64"}, "cosine expects float32 or float64 dtypes, got: torch.int64"),
        (
            "hann",
            {"M": 3, "layout": "sparse_coo"},
            "general_cosine is implemented for strided tensors only, got: torch.sparse_coo",
        ),
        ("exponential", {"M": 3, "tau": 0}, "Tau must be positive, got: 0 instead."),
        ("exponential", {"M": 3, "center": 1}, "Center must be None for symmetric windows"),
        ("gaussian", {"M": 3, "std": -1}, "Standard deviation must be positive, got: -1 instead."),
        ("kaiser", {"M": 3, "beta": -1}, "beta must be non-negative, got: -1 instead."),
        ("general_cosine", {"M": 3, "a": []}, "Coefficients cannot be empty"),
    ],
)
def test_signal_refusals(name, options, phrase):
    for t in (clarion, torch):
        given = {key: getattr(t, value) if key in ("dtype", "layout") else value for key, value in options.items()}
        with pytest.raises(ValueError, match=phrase):
            getattr(t.signal.windows, name)(**given)


def test_signal_windows_can_be_differentiated():
    window = clarion.signal.windows.hann(5, requires_grad=True)
    assert window.grad_fn.name() == torch.signal.windows.hann(5, requires_grad=True).grad_fn.name()
