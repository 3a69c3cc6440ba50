"""What PyTorch refuses, clarion refuses: same exception type, same phrase, and our explanation after it."""

from __future__ import annotations

import pytest

import clarion
import clarion.autograd
import clarion.nn.utils
import clarion.optim
import clarion.utils.checkpoint

from . import refusals as refusals
from . import refusals_custom as refusals_custom
from .refusal import REFUSALS, Refusal


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.name)
def test_refused_with_the_phrase(case: Refusal) -> None:
    with pytest.raises(case.error) as caught:
        case.program(clarion)
    assert case.phrase in str(caught.value)
