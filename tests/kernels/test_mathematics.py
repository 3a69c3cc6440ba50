"""Elementary functions as they are compiled: how exact they are, and which errors they tell."""

from __future__ import annotations

import numpy as np
import pytest

from clarion.kernels.llvm import build, machine
from clarion.kernels.trace import tracer

pytestmark = pytest.mark.skipif(not machine.installed(), reason="llvmlite is not installed")
RANGES = {"exp": (-103, 88), "expm1": (-18, 88), "exp2": (-140, 127), "log": (1e-38, 1e4), "log1p": (-0.999, 10),
          "tanh": (-10, 10), "erf": (-5, 5), "sin": (-9000, 9000), "cos": (-9000, 9000)}  # fmt: skip


def function(name, dtype):
    program = tracer.trace(lambda xp, x: getattr(xp, name)(x), [tracer.Input(dtype)])
    return build.elementwise(name, program).function


@pytest.mark.parametrize("name", RANGES)
def test_functions_are_exact_to_two_units_in_the_last_place(name):
    mpmath = pytest.importorskip("mpmath", reason="exact values come from mpmath")
    low, high = RANGES[name]
    rng = np.random.default_rng(0)
    parts = [rng.uniform(low, high, 1500), rng.uniform(max(low, -1), 1, 1500), 10.0 ** rng.uniform(-30, 0, 300)]
    exact = (lambda v: mpmath.mpf(2) ** v) if name == "exp2" else getattr(mpmath, name)
    with mpmath.workdps(40):
        for dtype in (np.float32, np.float64):
            x = np.concatenate(parts).astype(dtype)
            got = function(name, dtype)(x)
            for value, result in zip(x, got, strict=True):
                expected = exact(mpmath.mpf(float(value)))
                unit = mpmath.mpf(float(np.spacing(np.abs(dtype(float(expected))))))
                assert abs(mpmath.mpf(float(result)) - expected) <= 2 * unit, (name, dtype, value)


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
