"""Constraints are asked about plain numbers without tensors in between: with the same answers."""

from __future__ import annotations

import pytest

import clarion
from clarion.distributions import constraints as c

KNOWN = [
    c.boolean, c.real, c.positive, c.nonnegative, c.unit_interval, c.nonnegative_integer, c.positive_integer,
    c.integer_interval(0, 3), c.interval(-1.0, 2.5), c.half_open_interval(0.0, 1.0), c.greater_than_eq(1), c.less_than(2),
    c.interval(clarion.tensor(0.0), clarion.tensor(1.0)), c.independent(c.real, 1), c.independent(c.unit_interval, 2),
    c.simplex, c.one_hot,
]  # fmt: skip
VALUES = [
    clarion.tensor([[0.0, 1.0], [1.0, 0.0]]), clarion.tensor([[0.5, float("nan")]]), clarion.tensor([[float("inf"), 1.0]]),
    clarion.tensor([[1, 0]]), clarion.tensor([[2, 3]]), clarion.tensor([[-1, 0]]), clarion.tensor([[True, False]]),
    clarion.tensor([[0.25, 0.75]], dtype=clarion.bfloat16), clarion.zeros(0, 2), clarion.tensor([[1.5, 2.0]], requires_grad=True),
]  # fmt: skip


@pytest.mark.parametrize("constraint", KNOWN, ids=repr)
def test_the_answer_is_that_of_check(constraint):
    for value in VALUES:
        try:
            expected = bool(constraint.check(value).all())
        except RuntimeError as error:
            with pytest.raises(type(error)):
                c.holds(constraint, value)
            continue
        assert c.holds(constraint, value) is expected


def test_too_few_dimensions_are_told():
    with pytest.raises(ValueError, match=r"value\.dim"):
        c.holds(c.independent(c.real, 2), clarion.ones(3))


def test_a_bad_value_is_named():
    with pytest.raises(ValueError, match="within the support"):
        clarion.distributions.Categorical(logits=clarion.zeros(3)).log_prob(clarion.tensor(3))
    with pytest.raises(ValueError, match="Expected parameter scale"):
        clarion.distributions.Normal(0.0, -1.0)
