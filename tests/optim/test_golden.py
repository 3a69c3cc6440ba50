"""Every optimizer and schedule gives what PyTorch gave when `golden.json` was written."""

from __future__ import annotations

import json

import numpy as np
import pytest

import clarion

from .regenerate import GOLDEN, STEPS, key
from .runs import CASES, LBFGS_CASES, SCHEDULES, numbers_of, run_lbfgs, run_optimizer, run_schedule

WANTED = json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=[key(*case) for case in CASES])
def test_optimizers(name, options, dtype):
    rtol = 1e-12 if dtype == "float64" else 2e-5
    wanted = WANTED[key(name, options, dtype)]
    runs = enumerate(run_optimizer(clarion, name, options, dtype), 1)
    found = [numbers_of(params) for step, (params, _) in runs if step in STEPS]
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=50 * rtol)


@pytest.mark.parametrize("options", LBFGS_CASES, ids=str)
def test_lbfgs(options):
    found = [seen for seen, _ in run_lbfgs(clarion, options)]
    np.testing.assert_allclose(found, WANTED[key("LBFGS", options)], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    assert run_schedule(clarion, name) == WANTED[key("schedule", {}, name)]
