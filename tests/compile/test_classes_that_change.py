"""Classes that change between two calls: methods that nobody names (`__call__`, `__len__`, a Function's `forward`), names that hide others."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.compiling.function import of


def _plain():
    class Base:
        rate = 2.0

        def __init__(self):
            self.own = 2.0

    return type("Child", (Base,), {})()


def _special(name, method):
    return lambda: type("Special", (), {name: method, "__hash__": object.__hash__})()


def _function():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Twice


class _Twice(torch.nn.Module):
    def forward(self, x):
        return x * 2


# What is made, what is computed with it, what is done to its class in between.
CHANGES = {
    "a name that hides a base's": (_plain, lambda o, x: x * o.rate, lambda kind: setattr(kind, "rate", 5.0)),
    "a property that hides an attribute": (
        _plain,
        lambda o, x: x * o.own,
        lambda kind: setattr(kind, "own", property(lambda self: 7.0)),
    ),
    "a truth that was none": (
        _plain,
        lambda o, x: x * 2 if o else x * 3,
        lambda kind: setattr(kind, "__bool__", lambda self: False),
    ),
    "__call__": (
        _special("__call__", lambda self, x: x * 2),
        lambda o, x: o(x),
        lambda kind: setattr(kind, "__call__", lambda self, x: x * 3),
    ),
    "__add__": (
        _special("__add__", lambda self, x: x * 2),
        lambda o, x: o + x,
        lambda kind: setattr(kind, "__add__", lambda self, x: x * 3),
    ),
    "__len__": (
        _special("__len__", lambda self: 2),
        lambda o, x: x * len(o),
        lambda kind: setattr(kind, "__len__", lambda self: 3),
    ),
    "__getitem__": (
        _special("__getitem__", lambda self, i: 2.0),
        lambda o, x: x * o[0],
        lambda kind: setattr(kind, "__getitem__", lambda self, i: 3.0),
    ),
    "__eq__": (
        _special("__eq__", lambda self, other: True),
        lambda o, x: x * 2 if o == 1 else x * 3,
        lambda kind: setattr(kind, "__eq__", lambda self, other: False),
    ),
    "__bool__": (
        _special("__bool__", lambda self: True),
        lambda o, x: x * 2 if o else x * 3,
        lambda kind: setattr(kind, "__bool__", lambda self: False),
    ),
    "a module's __call__": (
        lambda: type("Own", (_Twice,), {})(),
        lambda o, x: o(x),
        lambda kind: setattr(kind, "__call__", lambda self, x: x * 9),
    ),
    "a module's forward": (
        lambda: type("Own", (_Twice,), {})(),
        lambda o, x: o(x),
        lambda kind: setattr(kind, "forward", lambda self, x: x * 9),
    ),
    "a Function's forward": (
        _function,
        lambda o, x: o.apply(x),
        lambda kind: setattr(kind, "forward", staticmethod(lambda ctx, x: x * 3)),
    ),
}


@pytest.mark.parametrize(("make", "compute", "change"), CHANGES.values(), ids=CHANGES)
def test_a_class_that_changes_is_seen(make, compute, change):
    thing = make()

    def function(x):
        return compute(thing, x)

    fast, x = torch.compile(function), torch.arange(3.0)
    for _ in range(5):
        assert torch.equal(fast(x), function(x))
    assert of(fast).replays == 2
    change(thing if isinstance(thing, type) else type(thing))
    for _ in range(5):
        assert torch.equal(fast(x), function(x))


def test_the_backward_of_a_function_that_changes_is_seen():
    kind = _function()
    fast = torch.compile(lambda x: kind.apply(x).sum())
    x = torch.ones(3, requires_grad=True)

    def gradient(function):
        x.grad = None
        function(x).backward()
        return x.grad

    for _ in range(5):
        gradient(fast)
    kind.backward = staticmethod(lambda ctx, g: g * 5)
    for _ in range(4):
        assert gradient(fast).tolist() == [5.0, 5.0, 5.0]
