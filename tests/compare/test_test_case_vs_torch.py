"""`torch.testing._internal.common_utils.TestCase`, which libraries' own tests use, finds equal what PyTorch's does."""

from __future__ import annotations

import importlib
import unittest

import numpy as np
import pytest

pytest.importorskip("torch", reason="compares with PyTorch")

PAIRS = {
    "a tensor and itself": lambda t: (t.ones(2), t.ones(2)),
    "nearly": lambda t: (t.ones(2), t.ones(2) + 1e-7),
    "not nearly": lambda t: (t.ones(2), t.ones(2) + 1e-3),
    "another type": lambda t: (t.ones(2), t.ones(2).double()),
    "another shape": lambda t: (t.ones(2), t.ones(3)),
    "a list of numbers": lambda t: (t.ones(2), [1.0, 1.0]),
    "a number": lambda t: (t.ones(()), 1),
    "a whole number": lambda t: (t.tensor(1), 1),
    "an array": lambda t: (np.ones(2, np.float32), t.ones(2)),
    "floats": lambda t: (1.0, 1.0 + 1e-9),
    "other floats": lambda t: (1.0, 1.1),
    "kinds of numbers": lambda t: (1, 1.0),
    "dictionaries": lambda t: ({"a": [t.ones(2), "x"]}, {"a": (t.ones(2), "x")}),
    "other keys": lambda t: ({"a": 1}, {"b": 1}),
    "other lengths": lambda t: ([1, 2], [1]),
    "texts": lambda t: ("x", "y"),
    "nothing": lambda t: (None, t.ones(2)),
    "not a number": lambda t: (t.tensor(float("nan")), t.tensor(float("nan"))),
    "sizes": lambda t: (t.ones(2).shape, (2,)),
    "sets": lambda t: ({1, 2}, {2, 1}),
}


def _verdicts(name):
    torch = importlib.import_module(name)
    case = importlib.import_module(f"{name}.testing._internal.common_utils").TestCase()
    found = {}
    for title, pair in PAIRS.items():
        for method in (case.assertEqual, case.assertNotEqual):
            try:
                method(*pair(torch))
            except AssertionError:
                found[title, method.__name__] = False
            else:
                found[title, method.__name__] = True
    return found


def test_finds_equal_what_pytorchs_does():
    assert _verdicts("clarion") == _verdicts("torch")


def test_every_test_begins_with_the_same_numbers():
    drawn = {}
    for name in ("clarion", "torch"):
        torch = importlib.import_module(name)
        utils = importlib.import_module(f"{name}.testing._internal.common_utils")

        class Case(utils.TestCase):
            def test_draw(self):
                with utils.freeze_rng_state():
                    before = torch.rand(2)
                with utils.set_default_dtype(torch.float64):
                    assert torch.ones(1).dtype is torch.float64
                drawn[name] = [*before.tolist(), *torch.rand(2).tolist()]

        result = unittest.TestResult()
        Case("test_draw").run(result)
        assert result.wasSuccessful(), result.errors
    assert drawn["clarion"] == pytest.approx(drawn["torch"], rel=1e-6)
