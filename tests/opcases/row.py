"""The row: one line per operation (or overload) that gives it all of its tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One operation under test.

    op       name of the operation in `clarion.core.namespace.OPS` (a composite function: its public name)
    call     `call(t, *tensors)`, where `t` is the namespace: clarion, or PyTorch for the comparison
    shapes   shapes of the tensor inputs (random values are drawn for them); the first is the one written in place
    ref      reference on NumPy arrays (SciPy is fine); None where only PyTorch can say
    domain   (low, high) of the random values, or one pair per input
    inputs   instead of `shapes`: a function of a NumPy Generator that returns the input arrays (indices, masks, …)
    grad     numbers of the inputs that are differentiable: None means every floating one; () means none
    second   check second derivatives too
    numeric  the gradient is the derivative; False where PyTorch defines another one, which only it can confirm
    inplace  `inplace(t, x, *rest)`: the in-place form; its result must equal `call`'s
    out      the function takes out=: `call` must accept keyword arguments
    dtypes   NumPy type names that `call` accepts besides float64 and float32, checked against PyTorch where installed
    edge_shapes  more lists of input shapes to run (empty, zero-dimensional, broadcasting), checked against `ref` or PyTorch
    label    tells apart several rows of one operation
    """

    op: str
    call: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...] = ()
    ref: Callable[..., Any] | None = None
    domain: Any = (-2.0, 2.0)
    inputs: Callable[..., Any] | None = None
    grad: tuple[int, ...] | None = None
    second: bool = True
    numeric: bool = True
    inplace: Callable[..., Any] | None = None
    out: bool = False
    dtypes: tuple[str, ...] = ()
    edge_shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    label: str = ""
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Name of the row in test reports."""
        return f"{self.op}-{self.label}" if self.label else self.op


def functional(name, *args, **fixed):
    """`t.nn.functional.name(x, …)` with these arguments after the tensors."""
    return lambda t, x, *rest: getattr(t.nn.functional, name)(x, *rest, *args, **fixed)


def either(name, params, equivalent):
    """An operation without a public face (it exists for the gradients of others), and what it is in other words."""

    def call(t, *tensors):
        if t.__name__ != "clarion":
            return equivalent(t, *tensors)
        from clarion.core.namespace import OPS

        return OPS[name].call(*tensors, *params)

    call.internal = True
    return call
