"""The phrases of tests/semantics are PyTorch's own."""

from __future__ import annotations

import pytest

from tests.semantics import refusals as refusals
from tests.semantics import refusals_custom as refusals_custom
from tests.semantics.refusal import REFUSALS, Refusal

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("torch.utils.checkpoint", reason="compares with PyTorch")


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.name)
def test_torch_says_the_same(case: Refusal) -> None:
    with pytest.raises(case.error) as caught:
        case.program(torch)
    assert case.phrase in str(caught.value)
