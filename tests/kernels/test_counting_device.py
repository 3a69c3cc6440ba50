"""A second device runs every row of the table, forward and backward, and no kernel of NumPy's is taken for it."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch

from ..examples.loading import NAMES, load
from ..opcases import ROWS, Row
from ..rowtools import CLOSE, draw, leaves, results
from . import counting


@pytest.fixture(scope="module")
def calls():
    with counting.known() as made:
        yield made


def run(row: Row, device: str):
    torch.manual_seed(0)
    made = [x.detach().to(device).requires_grad_(x.requires_grad) for x in leaves(torch, row, draw(row))]
    with torch.device(device):
        outs = [out for out in results(row.call(torch, *made)) if isinstance(out, torch.Tensor)]
        roots = [out for out in outs if out.requires_grad]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(out) for out in roots])
    return outs, [x.grad for x in made if x.grad is not None]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_row(row: Row, calls) -> None:
    theirs = run(row, "privateuseone:0")
    mine = run(row, "cpu")
    for got, expected in zip((*theirs[0], *theirs[1]), (*mine[0], *mine[1]), strict=True):
        assert got.device.type == "privateuseone" or row.op == "transfer"  # which goes to the host itself
        np.testing.assert_allclose(
            got.cpu().detach().numpy(), expected.detach().resolve_conj().numpy(), *CLOSE["float64"]
        )


STEPS = {"multitask_frozen_encoder": 2}  # two tasks


@pytest.mark.parametrize("name", NAMES)
def test_example(name: str, calls, monkeypatch, capsys) -> None:
    host = torch.from_numpy
    monkeypatch.setattr(torch, "from_numpy", lambda array: host(array).to("privateuseone:0"))
    calls.clear()
    with torch.device("privateuseone:0"):
        losses = load(name).run(STEPS.get(name, 1))
    assert np.isfinite(losses).all()
    assert calls.total() > 10
