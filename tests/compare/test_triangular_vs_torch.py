"""Triangular systems: what is refused, and matrices without an inverse."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

REFUSED = {
    "left": lambda t: t.linalg.solve_triangular(t.ones(3, 3), t.ones(2, 2), upper=True),
    "right": lambda t: t.linalg.solve_triangular(t.ones(3, 3), t.ones(3, 2), upper=True, left=False),
    "vector": lambda t: t.linalg.solve_triangular(t.ones(3, 3), t.ones(3), upper=True),
    "row": lambda t: t.linalg.solve_triangular(t.ones(3), t.ones(3, 2), upper=True),
    "square": lambda t: t.linalg.solve_triangular(t.ones(2, 3), t.ones(3, 2), upper=True),
    "half": lambda t: t.linalg.solve_triangular(t.ones(2, 2).half(), t.ones(2, 2).half(), upper=True),
    "whole-numbers": lambda t: t.linalg.solve_triangular(t.ones(2, 2).long(), t.ones(2, 2).long(), upper=True),
    "batches": lambda t: t.linalg.solve_triangular(t.ones(4, 3, 3), t.ones(5, 3, 2), upper=True),
    "cholesky_solve-shapes": lambda t: t.cholesky_solve(t.ones(2, 2), t.ones(3, 3)),
    "cholesky_solve-types": lambda t: t.cholesky_solve(t.ones(3, 2), t.ones(3, 3).double()),
    "cholesky_inverse-square": lambda t: t.cholesky_inverse(t.ones(2, 3)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    with pytest.raises(Exception) as wanted:
        REFUSED[case](torch)
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[case](clarion)
    assert str(wanted.value) in str(found.value)


def test_zeros_on_the_diagonal_and_no_columns():
    for make in (
        lambda t: t.linalg.solve_triangular(t.zeros(2, 2), t.ones(2, 1), upper=True),
        lambda t: t.linalg.solve_triangular(t.zeros(0, 0), t.ones(0, 2), upper=False),
        lambda t: t.linalg.solve_triangular(t.eye(3), t.ones(3, 0), upper=False),
        lambda t: t.linalg.solve_triangular(t.eye(3), t.ones(3, 2).double(), upper=False),
    ):
        np.testing.assert_array_equal(make(clarion).numpy(), make(torch).numpy())


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_the_old_form_transposes_complex_matrices_without_conjugating(upper, transpose):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) + 3 * np.eye(3)
    b = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    found = []
    for t in (clarion, torch):
        A, B = (t.from_numpy(each.copy()).requires_grad_() for each in (a, b))
        x = t.triangular_solve(B, A, upper, transpose)[0]
        grads = t.autograd.grad((x * (1 + 2j)).real.sum(), (A, B))
        found.append([each.detach().resolve_conj().numpy() for each in (x, *grads)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
