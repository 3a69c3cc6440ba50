"""Forward mode for every operation, by its rows in tests/opcases: tangents against gradients, which have tests of their own.

With u a tangent of the inputs, v one of the outputs and J the Jacobian: ⟨v, J u⟩ = ⟨Jᵀ v, u⟩, and the same once more for
the second derivative, forward over reverse and reverse over forward.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.autograd import forward_ad as fw

from ..opcases import ROWS, Row
from ..rowtools import differentiable, draw, results, tensors
from ..test_ops import derived, differentiates, draws

# Where PyTorch defines a gradient that is not the derivative, tangents need not agree with it.
DERIVED = [row for row in ROWS if derived(row) and row.numeric and not draws(row)]


def inner(pairs: Any) -> Any:
    """The real inner product of tensors and arrays."""
    total: Any = 0.0
    for a, b in pairs:
        product = a * b.conj()
        total = total + (product.real if product.is_complex() else product).sum()
    return total


def random_like(tensors: list[Any], seed: int) -> list[Any]:
    """Random tensors of the same shapes and types."""
    rng = np.random.default_rng(seed)
    made = []
    for x in tensors:
        values = rng.standard_normal(tuple(x.shape))
        if x.is_complex():
            values = values + 1j * rng.standard_normal(tuple(x.shape))
        made.append(torch.from_numpy(np.asarray(values)).to(x.dtype))
    return made


def floating(value: Any) -> list[Any]:
    """The outputs that can have derivatives."""
    return [out for out in results(value) if out.is_floating_point() or out.is_complex()]


class Case:
    """A row at its point, with tangents for the inputs that it differentiates."""

    def __init__(self, row: Row, dtype: str = "float64") -> None:
        self.row = row
        self.inputs = tensors(torch, draw(row), dtype)
        self.places = differentiable(row, self.inputs)
        self.points = [self.inputs[i].requires_grad_() for i in self.places]
        self.u = random_like(self.points, 1)

    def call(self, points: list[Any], function: Any = None) -> list[Any]:
        """The row's outputs, with these inputs in place of those that it differentiates."""
        given = list(self.inputs)
        for i, x in zip(self.places, points, strict=True):
            given[i] = x
        return floating((function or self.row.call)(torch, *given))

    def pushed(self, function: Any = None) -> list[Any]:
        """(output, tangent) of every output; call inside a level."""
        duals = [fw.make_dual(x, t) for x, t in zip(self.points, self.u, strict=True)]
        return [fw.unpack_dual(out) for out in self.call(duals, function)]

    def pulled(self, outs: list[Any], v: list[Any], points: list[Any], create_graph: bool = False) -> list[Any]:
        """Jᵀ v."""
        pairs = [(out, w) for out, w in zip(outs, v, strict=True) if out.requires_grad]
        if not pairs:
            return [torch.zeros_like(x) for x in points]
        found = torch.autograd.grad(
            [out for out, _ in pairs], points, [w for _, w in pairs], create_graph=create_graph, allow_unused=True
        )
        return [torch.zeros_like(x) if g is None else g for g, x in zip(found, points, strict=True)]


def rows(wanted: Any = lambda row: True) -> Any:
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in DERIVED if wanted(row)])


def check_first(case: Case) -> None:
    outs = case.call(case.points)
    v = random_like(outs, 2)
    with torch.set_grad_enabled(differentiates(case.row)), fw.dual_level():
        tangents = [pair.tangent for pair in case.pushed()]
    for out, t in zip(outs, tangents, strict=True):
        assert t is None or (t.shape == out.shape and t.dtype == out.dtype)
        assert t is not None or not out.requires_grad
    pushed = inner((t.detach(), w) for t, w in zip(tangents, v, strict=True) if t is not None)
    pulled = inner(zip(case.pulled(outs, v, case.points), case.u, strict=True))
    np.testing.assert_allclose(float(pushed), float(pulled), rtol=1e-7, atol=1e-8)


@rows()
def test_tangents_agree_with_gradients(row):
    check_first(Case(row))


@rows(lambda row: "complex128" in row.dtypes)
def test_complex_tangents_agree_with_gradients(row):
    check_first(Case(row, "complex128"))


@rows(lambda row: row.inplace is not None)
def test_writes_give_the_same_tangents(row):
    case = Case(row)
    first = row.inplace

    def written(t: Any, x: Any, *rest: Any) -> Any:
        copy = x.clone()
        first(t, copy, *rest)
        return copy

    with torch.no_grad(), fw.dual_level():
        expected, found = case.pushed(), case.pushed(written)
        for a, b in zip(expected, found, strict=True):
            assert (a.tangent is None) == (b.tangent is None)
            if a.tangent is not None:
                np.testing.assert_allclose(b.tangent.numpy(), a.tangent.numpy(), rtol=1e-10, atol=1e-12)


@rows(lambda row: row.second and not differentiates(row))
def test_second_derivatives_through_tangents(row):
    case = Case(row)
    outs = case.call(case.points)
    v = [w.requires_grad_() for w in random_like(outs, 2)]
    goals = case.points + v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradients = case.pulled(outs, v, case.points, create_graph=True)
        w = random_like(gradients, 3)
        # Jᵀ v moves by this, along u: what double backward says ...
        expected = case.pulled(gradients, w, case.points)
        reverse = float(inner(zip(expected, case.u, strict=True)))
        # ... and forward over reverse,
        with fw.dual_level():
            duals = [fw.make_dual(x, t) for x, t in zip(case.points, case.u, strict=True)]
            again = case.pulled(case.call(duals), [x.detach() for x in v], duals)
            moved = [fw.unpack_dual(g).tangent for g in again]
        forward = float(inner((t, x) for t, x in zip(moved, w, strict=True) if t is not None))
        np.testing.assert_allclose(forward, reverse, rtol=1e-6, atol=1e-7)
        # while ⟨v, J u⟩ = ⟨Jᵀ v, u⟩ have the same gradients: reverse over forward.
        with fw.dual_level():
            pairs = [(pair.tangent, x) for pair, x in zip(case.pushed(), v, strict=True) if pair.tangent is not None]
            left = case.pulled([inner(pairs)], [torch.ones((), dtype=torch.float64)], goals) if pairs else []
    right = case.pulled(case.pulled(case.call(case.points), v, case.points, create_graph=True), case.u, goals)
    for a, b in zip(left, right, strict=bool(left)):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6, atol=1e-7)
