"""Elementary functions as they are compiled: how exact they are, and which errors they tell."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels.llvm import build, machine
from clarion.kernels.trace import tracer

pytestmark = pytest.mark.skipif(not machine.installed(), reason="llvmlite is not installed")
RANGES = {"exp": (-103, 88), "expm1": (-18, 88), "exp2": (-140, 127), "log": (1e-38, 1e4), "log1p": (-0.999, 10),
          "tanh": (-10, 10), "erf": (-5, 5), "sigmoid": (-88, 20), "sin": (-9000, 9000), "cos": (-9000, 9000)}  # fmt: skip


def function(name, dtype):
    program = tracer.trace(lambda xp, x: getattr(xp, name)(x), [tracer.Input(dtype)])
    return build.elementwise(name, program).function


@pytest.mark.parametrize("name", RANGES)
def test_functions_are_exact_to_two_units_in_the_last_place(name):
    mpmath = pytest.importorskip("mpmath", reason="exact values come from mpmath")
    low, high = RANGES[name]
    rng = np.random.default_rng(0)
    parts = [rng.uniform(low, high, 1500), rng.uniform(max(low, -1), 1, 1500), 10.0 ** rng.uniform(-30, 0, 300)]
    own = {"exp2": lambda v: mpmath.mpf(2) ** v, "sigmoid": lambda v: 1 / (1 + mpmath.exp(-v))}
    exact = own.get(name) or getattr(mpmath, name)
    with mpmath.workdps(40):
        for dtype in (np.float32, np.float64):
            x = np.concatenate(parts).astype(dtype)
            got = function(name, dtype)(x)
            for value, result in zip(x, got, strict=True):
                expected = exact(mpmath.mpf(float(value)))
                unit = mpmath.mpf(float(np.spacing(np.abs(dtype(float(expected))))))
                assert abs(mpmath.mpf(float(result)) - expected) <= 2 * unit, (name, dtype, value)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def exactly(name, x):
    """The values with more digits than the type of x has."""
    wider = x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)
    if name == "erf":
        return pytest.importorskip("scipy.special", reason="exact values come from SciPy").erf(wider)
    return sigmoid(wider) if name == "sigmoid" else getattr(np, name)(wider)


@pytest.mark.parametrize("name", RANGES)
def test_functions_are_exact_to_two_units_wherever_a_million_numbers_fall(name):
    low, high = RANGES[name]
    rng = np.random.default_rng(3)
    for dtype, word in ((np.float32, np.uint32), (np.float64, np.uint64)):
        if dtype is np.float64 and (name == "erf" or np.finfo(np.longdouble).nmant <= 52):
            continue  # there is nothing more exact that is quick
        some = [rng.uniform(low, high, 400_000), rng.uniform(max(low, -1), 1, 600_000)]
        any_bits = rng.integers(0, np.iinfo(word).max, 200_000, dtype=word).view(dtype)
        x = np.concatenate([np.concatenate(some).astype(dtype), any_bits])
        if name == "sigmoid":  # below, its exponential is infinite
            x = x[~(x < (-88.7 if dtype is np.float32 else -709.7))]
        with np.errstate(all="ignore"):
            got, exact = function(name, dtype)(x), exactly(name, x)
            nearest = exact.astype(dtype)
            number = np.isfinite(nearest)
            assert np.array_equal(got[~number], nearest[~number], equal_nan=True)
            wrong = np.abs(got - exact)[number] / np.spacing(np.abs(nearest[number])).astype(exact.dtype)
        assert wrong.max() <= 2, (name, dtype, x[number][wrong.argmax()])


def test_values_that_are_known_exactly_are_exact():
    for dtype, gone in ((np.float32, -88.8), (np.float64, -709.8)):
        tiny = np.finfo(dtype).smallest_subnormal
        points = [0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 60, -60, gone]
        expected = {
            "sigmoid": [0.5, 0.5, 1, 0, np.nan, 0.5, 0.5, 1, None, 0],
            "erf": [0, -0.0, 1, -1, np.nan, tiny, -tiny, 1, -1, -1],
            "tanh": [0, -0.0, 1, -1, np.nan, tiny, -tiny, 1, -1, -1],
        }
        for name, values in expected.items():
            got = function(name, dtype)(np.array(points, dtype))
            for value, result in zip(values, got, strict=True):
                if value is not None:
                    assert np.array_equal(result, dtype(value), equal_nan=True), (name, dtype, got)
                    assert np.signbit(result) == np.signbit(dtype(value)) or np.isnan(value), (name, dtype, got)


def test_exp_itself_is_rounded_well_whatever_stands_beside_it():
    mpmath = pytest.importorskip("mpmath", reason="exact values come from mpmath")
    x = np.random.default_rng(0).uniform(-80, 80, 4000)
    for dtype in (np.float32, np.float64):
        near = x.astype(dtype)
        got = function("exp", dtype)(near)
        beside = function("exp", dtype)(np.stack([near, np.full_like(near, -1000)], 1).ravel())[::2]
        assert (got == beside).all()
        for value, result in zip(near, got, strict=True):
            with mpmath.workdps(40):
                exact = mpmath.exp(mpmath.mpf(float(value)))
                assert abs(mpmath.mpf(float(result)) - exact) <= 0.63 * float(np.spacing(dtype(float(exact)))), value


def test_the_normal_distribution_function_is_exact_to_a_unit_of_one_and_follows_its_tail():
    ndtr = pytest.importorskip("scipy.special", reason="exact values come from SciPy").ndtr
    x = np.concatenate([np.linspace(-9, 9, 40001), [0.0, -0.0, 6.0, -6.0, np.inf, -np.inf, 1e-40]])
    for dtype, unit in ((np.float32, 2.0**-23), (np.float64, 2.0**-52)):
        with np.errstate(all="raise", under="ignore"):
            got = function("ndtr", dtype)(x.astype(dtype))
            assert np.isnan(function("ndtr", dtype)(np.full(40, np.nan, dtype))).all()
        exact = ndtr(x.astype(dtype).astype(np.float64))
        assert np.abs(got - exact).max() <= unit
        if dtype is np.float32:
            inside = (x > -6) & (x < 0)
            assert (np.abs(got - exact) <= 6e-6 * exact)[inside].all()
            assert not got[x < -6.01].any()
            assert (got[x > 6.01] == 1).all()


def test_errors_are_told_as_by_the_array_library():
    for name, value, kind in (
        ("log", 0, "divide"),
        ("log", -1, "invalid"),
        ("exp", 1000, "over"),
        ("expm1", 1000, "over"),
    ):
        x = np.full(40, 2, np.float32)
        x[17] = value
        with np.errstate(**{kind: "raise"}), pytest.raises(FloatingPointError):
            function(name, np.float32)(x)
    with np.errstate(all="raise", under="ignore"):
        x = np.array([np.nan] * 20 + [1.5], np.float32)
        for name in RANGES:
            function(name, np.float32)(x)
        for name in ("maximum", "minimum", "less", "greater_equal", "equal"):
            two = [tracer.Input(np.float32)] * 2
            program = tracer.trace(lambda xp, x, y, name=name: getattr(xp, name)(x, y), two)
            build.elementwise(name, program).function(x, x[::-1])
