"""What a backend offers computes what the portable kernel does: on every row of the table, and on larger arrays."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.core.namespace import OPS
from clarion.kernels import registry

from ..opcases import ROWS
from ..rowtools import CLOSE
from .calls import as_numpy, compare, keep, run, watching

OFFERS = [
    (name, offer) for name in sorted(registry.names()) for offer in registry.chain(name) if offer.backend != "portable"
]
# Operations on arrays of one shape, which are given larger ones, too. (Products, updates, convolutions, layers of steps and
# Fourier transforms have their own tests.)
OTHERS = {
    "cross_entropy",
    "cross_entropy2d",
    "lstm_layer",
    "convolution",
    "correlate",
    "correlate_input",
    "correlate_weight",
    "fft_c2c",
    "fft_r2c",
    "fft_c2r",
    "split_with_sizes",
    "unsplit",
}
NAMES = sorted({n for n, offer in OFFERS if offer.backend == "numpy" and n in OPS and n not in OTHERS})

# Results from this one on are for the backward pass alone: a backend may keep the same numbers in another shape.
KEPT = {"lstm_layer": 3}

X, ROW, COLUMN = object(), object(), object()  # stand for an array, one of its rows, one of its columns
# Arguments, where they are not all arrays.
ARGUMENTS = {
    "logsumexp": [(X, (1,), True), (X, (1,), False)],
    "clamp": [(X, -0.5, 0.5), (X, None, 0.3), (X, 0.2, None)],
    "clamp_min": [(X, 0.3), (X, X)],
    "clamp_max": [(X, 0.3), (X, X)],
    "pow_scalar": [(X, e) for e in (0, 1, 2, 3, 0.5, -1, -0.5, 2.5)],
    "pow_base": [(2.0, X)],
    "addcdiv": [(X, X, X, 0.5)],
    "remainder_scalar": [(X, 0.75)],
    "remainder_of": [(2.0, X)],
    "fmod_scalar": [(X, 0.75)],
    "xlogy_number": [(X, 0.75)],
    "xlogy_by": [(0.75, X)],
    "leaky_relu": [(X, 0.2), (X, -0.2)],
    "leaky_relu_backward": [(X, X, 0.2), (X, X, 2.0)],
    "addcmul": [(X, X, X, 0.5), (X, X, X, 1)],
    "descended": [(X, X, X)],
    "softplus": [(X, 1, 20), (X, 2.0, 1.5)],
    "softplus_backward": [(X, X, 1, 20), (X, X, 2.0, 1.5)],
    "softplus_bend": [(X, 1, 20)],
    "threshold": [(X, 0.7, 2.0)],
    "hardtanh": [(X, -0.8, 0.8)],
    "nan_to_num": [(X, 0.0, 3e38, -3e38)],
    "hardtanh_backward": [(X, X, -0.8, 0.8)],
    "hardshrink": [(X, 0.5)],
    "softshrink": [(X, 0.5)],
    "shrink_backward": [(X, X, 0.5)],
    **{name: [(X, 0.7, 1.1, 0.9)] for name in ("elu", "elu_written", "celu", "celu_written")},
    **{name: [(X, X, 0.7, 1.1, 0.9)] for name in ("elu_backward", "elu_backward_result")},
    "sum": [(X, None, False), (X, (0,), False), (X, (1,), True), (X, (0, 1), True)],
    **{name: [(X, 1, False), (X, 1, True), (X, 0, False)] for name in ("sort", "sort_stable", "argsort")},
    **{name: [(X, 1, False), (X, 0, True)] for name in ("max_dim", "min_dim")},
    **{name: [(X, d) for d in (0, 1, -2)] for name in ("tril", "triu")},
    **{name: [(X, None, 1, False), (X, (1,), 0, True), (X, (0,), 1, False)] for name in ("var", "std")},
    "softmax": [(X, 0), (X, 1)],
    "split": [(X, 3, 0), (X, 50, 1)],
    "unbind": [(X, 0)],
    "softmax_and_total": [(X, 0), (X, 1)],
    "layer_norm": [(X, ROW, ROW, 1, 1e-5), (X, None, None, 1, 1e-5), (X, ROW, None, 1, 1e-2)],
    "layer_norm_backward": [(X, ROW, X, COLUMN, 1), (X, None, X, COLUMN, 1)],
    "rms_norm": [(X, ROW, 1, 1e-5), (X, None, 1, 1e-5)],
    "rms_norm_backward": [(X, ROW, X, COLUMN, 1), (X, None, X, COLUMN, 1)],
    "softmax_backward": [(X, X, 0), (X, X, 1)],
    "log_softmax": [(X, 0), (X, 1)],
    "log_softmax_backward": [(X, X, 0), (X, X, 1)],
}
OUTSIDE = {"acosh": 2.5, "asin": 0.0, "acos": 0.0, "atanh": 0.0}  # the middle of where the function is defined


def arguments(name: str) -> list[tuple[object, ...]]:
    """The forms in which a kernel is called."""
    return ARGUMENTS[name] if name in ARGUMENTS else [(X,) * len(OPS[name].inputs)]


def filled(name: str, form: tuple[object, ...], shape: tuple[int, ...], dtype: str) -> list[object]:
    """A form with random arrays in it: positive, away from 0, inside the function's domain."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{shape}".encode()))
    middle = OUTSIDE.get(name, 1.2)
    arrays = [rng.uniform(middle - 0.9, middle + 0.9, shape).astype(dtype) for _ in form]
    return _with(name, form, arrays)


def _with(name: str, form: tuple[object, ...], arrays: list[np.ndarray]) -> list[object]:
    """A form with arrays in it; a number that stands for an input is an array without dimensions."""
    inputs = len(OPS[name].inputs) if name in OPS else 0
    number = [isinstance(a, float) and i < inputs for i, a in enumerate(form)]
    kinds = zip(form, arrays, number, strict=True)
    parts = {X: lambda x: x, ROW: lambda x: x[:1].reshape(-1), COLUMN: lambda x: x[..., :1].copy()}
    return [parts[a](x) if type(a) is object else np.asarray(a, x.dtype) if as_input else a for a, x, as_input in kinds]


@pytest.fixture(scope="module")
def calls():
    with watching() as made:
        yield made


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_offers_agree_on_the_rows(row, dtype, calls):
    calls.clear()
    run(row, dtype)
    rtol, atol = CLOSE[dtype]
    for name, args, kwargs in list(calls):
        for backend, offer in registry.offers(name).items():
            given = as_numpy(keep(args))
            if (
                backend == "watched"
                or any(backend in library.backends for library in registry.libraries()[1:])  # (tests/cuda)
                or (kwargs and not offer.writes)
                or not (offer.accepts is None or offer.accepts(*given))
            ):
                continue
            with np.errstate(all="ignore"):
                expected = registry.portable(name)(*as_numpy(keep(args)), **keep(kwargs))
                got = offer.function(*given, **keep(kwargs))
            if got is not NotImplemented:
                if name in KEPT:
                    kept = zip(got[KEPT[name] :], expected[KEPT[name] :], strict=True)
                    got = (*got[: KEPT[name]], *[one.reshape(other.shape) for one, other in kept])
                compare(got, expected, f"{name} by {backend}", rtol, atol)


@pytest.mark.parametrize("name", NAMES)
def test_override_agrees_with_the_portable_kernel(name):
    fast, plain = registry.bind(name), registry.portable(name)
    for dtype, rtol in (("float64", 1e-12), ("float32", 2e-5)):
        for shape in ((3, 4), (4, 0), (200, 130)):  # small, empty, more than one block
            for form in arguments(name):
                if shape == (4, 0) and ("softmax" in name or "norm" in name or name.startswith(("max_", "min_"))):
                    continue  # the portable kernel has no largest of nothing, and no mean
                with np.errstate(all="ignore"):
                    expected = plain(*filled(name, form, shape, dtype))
                got = fast(*filled(name, form, shape, dtype))
                several = isinstance(expected, tuple)
                for a, b in zip(got, expected, strict=True) if several else [(got, expected)]:
                    assert a.dtype == b.dtype
                    np.testing.assert_allclose(
                        a, b, rtol, rtol * (0.1 if several else 1e-2), err_msg=f"{dtype} {shape} {form}"
                    )


@pytest.mark.parametrize("name", NAMES)
def test_override_agrees_on_values_that_are_no_numbers(name):
    x = np.array([[np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1.0]])
    for form in arguments(name):
        if form.count(X) > 1 or "norm" in name:
            continue
        args = _with(name, form, [x] * len(form))
        with np.errstate(all="ignore"):
            expected = registry.portable(name)(*args)
        got = registry.bind(name)(*args)
        for a, b in zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]:
            np.testing.assert_allclose(a, b, 1e-12)
