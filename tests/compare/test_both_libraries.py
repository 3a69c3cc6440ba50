"""A program that mixes clarion and PyTorch is told so, whichever of the two is given the other's tensor."""

from __future__ import annotations

import pytest

import clarion

torch = pytest.importorskip("torch", reason="a program with both libraries")

OURS, THEIRS = clarion.ones(3, 4), torch.ones(3, 4)
MIXED = {
    "their function": lambda: torch.exp(OURS),
    "their list": lambda: torch.stack([OURS, OURS]),
    "their layer": lambda: torch.nn.Linear(4, 2)(OURS),
    "their Python": lambda: torch.nn.functional.relu(OURS),
    "our function": lambda: clarion.exp(THEIRS),
    "our method": lambda: OURS.add(THEIRS),
    "our operator": lambda: OURS + THEIRS,
    "our layer": lambda: clarion.nn.functional.mse_loss(OURS, THEIRS),
    "their parameter": lambda: clarion.exp(torch.nn.Parameter(THEIRS)),
}


@pytest.mark.parametrize("case", MIXED)
def test_both_in_one_program(case):
    with pytest.raises(TypeError, match="in a program that imports clarion, too"):
        MIXED[case]()


def test_the_next_call_is_as_before():
    class Kind(clarion.Tensor):
        pass

    with pytest.raises(TypeError):
        torch.exp(OURS)
    assert type(clarion.exp(OURS.as_subclass(Kind))) is Kind


@pytest.mark.parametrize("case", [case for case in MIXED if case.startswith("our")])
def test_also_where_classes_take_calls_over(case):
    class TakesOver:
        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            return "taken"

    assert clarion.exp(TakesOver()) == "taken"
    with pytest.raises(TypeError, match="in a program that imports clarion, too"):
        MIXED[case]()
