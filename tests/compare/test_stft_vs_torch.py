"""Short-time Fourier transforms: values, gradients, the way back, warnings and refusals as PyTorch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

pytestmark = pytest.mark.compare

SIGNAL = np.random.default_rng(0).standard_normal((2, 50))
OPTIONS = [
    {},
    {"hop_length": 5},
    {"win_length": 10},
    {"window": "hann_window"},
    {"window": "hann_window", "win_length": 12, "hop_length": 3},
    {"center": False},
    {"pad_mode": "constant"},
    {"normalized": True},
    {"onesided": False},
    {"return_complex": False},
    {"complex": True},
]


def options_for(t, options):
    options = {"return_complex": True, **options}
    complex_input = options.pop("complex", False)
    if "window" in options:
        options["window"] = getattr(t, options["window"])(options.get("win_length", 16), dtype=t.float64)
    return options, complex_input


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_and_gradients(options):
    def run(t):
        given, complex_input = options_for(t, options)
        x = t.tensor(SIGNAL, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = t.stft(x * (1 + 2j) if complex_input else x, 16, **given)
        y.abs().square().sum().backward()
        return y.detach().numpy(), x.grad.numpy()

    for ours, theirs in zip(run(clarion), run(torch), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"length": 45},
        {"length": 70},
        {"win_length": 12, "hop_length": 3, "window": "hamming_window"},
        {"normalized": True},
        {"onesided": False},
        {"onesided": False, "return_complex": True},
    ],
    ids=str,
)
def test_the_way_back(options):
    def run(t):
        given, _ = options_for(t, options)
        there = {key: value for key, value in given.items() if key not in ("length", "return_complex")}
        back = {key: value for key, value in given.items() if key != "return_complex"}
        x = t.tensor(SIGNAL, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spectrum = t.stft(x, 16, return_complex=True, **there)
            y = t.istft(spectrum, 16, return_complex=options.get("return_complex", False), **back)
        (y.abs() ** 2).sum().backward()
        return y.detach().numpy(), x.grad.numpy()

    ours, theirs = run(clarion), run(torch)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    if not options:
        np.testing.assert_allclose(ours[0], SIGNAL[:, : ours[0].shape[-1]], atol=1e-10)


def test_one_dimension_and_method():
    x = clarion.tensor(SIGNAL[0])
    window = clarion.hann_window(16, dtype=clarion.float64)
    found = x.stft(16, window=window, return_complex=True)
    assert found.shape == torch.tensor(SIGNAL[0]).stft(16, window=torch.ones(16).double(), return_complex=True).shape
    np.testing.assert_allclose(found.istft(16, window=window, length=50).numpy(), SIGNAL[0], atol=1e-10)


REFUSALS = {
    "return_complex not given": (
        lambda t, x, s, w: t.stft(x, 16, window=w),
        "requires the return_complex parameter be given",
    ),
    "window": (
        lambda t, x, s, w: t.stft(x, 16, window=w[:3], return_complex=True),
        "window tensor of size equal to win_length=16",
    ),
    "n_fft": (
        lambda t, x, s, w: t.stft(x, 60, window=w, center=False, return_complex=True),
        "expected 0 < n_fft < 50, but got",
    ),
    "hop": (
        lambda t, x, s, w: t.stft(x, 16, 0, window=w, return_complex=True),
        "expected hop_length > 0, but got hop_length=0",
    ),
    "win_length": (
        lambda t, x, s, w: t.stft(x, 16, 4, 17, w, return_complex=True),
        "expected 0 < win_length <= n_fft, but got",
    ),
    "dimensions": (
        lambda t, x, s, w: t.stft(x.reshape(2, 1, 50), 16, window=w, return_complex=True),
        "expected a 1D or 2D tensor",
    ),
    "type": (
        lambda t, x, s, w: t.stft(t.arange(50), 16, window=w, return_complex=True),
        "floating point or complex values",
    ),
    "onesided": (
        lambda t, x, s, w: t.stft(x * 1j, 16, window=w, onesided=True, return_complex=True),
        "Cannot have onesided output if window or input is complex",
    ),
    "real spectrum": (lambda t, x, s, w: t.istft(x, 16, window=w), "istft requires a complex-valued input tensor"),
    "frequencies": (lambda t, x, s, w: t.istft(s, 20, window=t.ones(20)), "expected the frequency dimension"),
    "gaps": (lambda t, x, s, w: t.istft(s, 16, window=w * 0), "window overlap add min: "),
    "hop back": (lambda t, x, s, w: t.istft(s, 16, 17, window=w), "expected 0 < hop_length <= win_length"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    call, phrase = REFUSALS[name]
    for t in (clarion, torch):
        x, window = t.tensor(SIGNAL), t.ones(16, dtype=t.float64)
        spectrum = t.stft(x, 16, window=window, return_complex=True)
        with pytest.raises(RuntimeError) as caught:
            call(t, x, spectrum, window)
        assert phrase in str(caught.value)


def test_a_missing_window_is_told():
    with pytest.warns(UserWarning, match="A window was not provided"):
        spectrum = clarion.stft(clarion.tensor(SIGNAL), 16, return_complex=True)
    with pytest.warns(UserWarning, match="A window was not provided"):
        clarion.istft(spectrum, 16)
