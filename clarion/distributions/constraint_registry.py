"""Transforms to a constraint: `biject_to` (one to one) and `transform_to` (for optimisation)."""

from __future__ import annotations

from numbers import Number
from typing import Any

from ..errors import ArgumentTypeError, NotSupportedError
from . import constraints, transforms


class ConstraintRegistry:
    """A table from kinds of constraints to functions that make a transform for one."""

    def __init__(self) -> None:
        self._registry: dict[type, Any] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register `factory(constraint)` for a kind of constraint (given as a class or an instance)."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise ArgumentTypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotSupportedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(constraint: Any) -> Any:
    def register(factory: Any) -> Any:
        biject_to.register(constraint, factory)
        return transform_to.register(constraint, factory)

    return register


@_both(constraints.real)
def _real(constraint: Any) -> Any:
    return transforms.identity_transform


def _independent_by(table: ConstraintRegistry) -> Any:
    def make(constraint: Any) -> Any:
        base = table(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    return make


biject_to.register(constraints.independent, _independent_by(biject_to))
transform_to.register(constraints.independent, _independent_by(transform_to))


@_both(constraints.positive)
@_both(constraints.nonnegative)
def _positive(constraint: Any) -> Any:
    return transforms.ExpTransform()


@_both(constraints.greater_than)
@_both(constraints.greater_than_eq)
def _greater(constraint: Any) -> Any:
    steps = [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    return transforms.ComposeTransform(steps)


@_both(constraints.less_than)
def _less(constraint: Any) -> Any:
    steps = [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    return transforms.ComposeTransform(steps)


@_both(constraints.interval)
@_both(constraints.half_open_interval)
def _interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and low == 0 and isinstance(high, Number) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@biject_to.register(constraints.simplex)
def _sticks(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _softmax(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _cholesky(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


@_both(constraints.corr_cholesky)
def _correlation(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


def _pieces_by(table: ConstraintRegistry, stacked: bool) -> Any:
    def make(constraint: Any) -> Any:
        each = [table(c) for c in constraint.cseq]
        if stacked:
            return transforms.StackTransform(each, constraint.dim)
        return transforms.CatTransform(each, constraint.dim, constraint.lengths)

    return make


for _table in (biject_to, transform_to):
    _table.register(constraints.cat, _pieces_by(_table, False))
    _table.register(constraints.stack, _pieces_by(_table, True))
