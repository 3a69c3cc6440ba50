"""The programs of examples/ with PyTorch in clarion's place: from the same seed, the same loss curve."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.examples.loading import NAMES, load

pytestmark = pytest.mark.compare
STEPS = 20


@pytest.mark.parametrize("name", NAMES)
def test_same_curve(name: str) -> None:
    expected = load(name, "torch").run(STEPS)
    found = load(name).run(STEPS)
    assert len(found) == len(expected) == STEPS
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
