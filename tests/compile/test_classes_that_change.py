"""Classes that change between two calls: methods that nobody names (`__call__`, `__len__`, a Function's `forward`), names that hide others,
attributes of what is a number or an Enum."""

from __future__ import annotations

import enum

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


class _Number(float):
    def __mul__(self, x):
        return x * self.rate


class _Slots:
    __slots__ = ("__dict__", "rate")


class _Kind(enum.Enum):
    ONLY = 1

    def scaled(self, x):
        return x * self.rate


def _with_rate(thing):
    thing.rate = 2.0
    return thing


def _scaled(x):
    return x * _scaled.rate


HOLDERS = {
    "a number": (lambda: _with_rate(_Number(3.0)), lambda o, x: x * o.rate),
    "a number that is asked": (lambda: _with_rate(_Number(3.0)), lambda o, x: o * x),
    "slots beside a dictionary": (lambda: _with_rate(_Slots()), lambda o, x: x * o.rate),
    "slots of a base": (lambda: _with_rate(type("Below", (_Slots,), {})()), lambda o, x: x * o.rate),
    "an Enum": (lambda: _with_rate(_Kind.ONLY), lambda o, x: o.scaled(x)),
    "a function": (lambda: _with_rate(_scaled), lambda o, x: o(x)),
    "a function that is asked": (lambda: _with_rate(_scaled), lambda o, x: x * o.rate),
}


@pytest.mark.parametrize("given", [False, True], ids=["around it", "given"])
@pytest.mark.parametrize(("make", "compute"), HOLDERS.values(), ids=HOLDERS)
def test_an_attribute_that_changes_is_seen(make, compute, given):
    thing, x = make(), torch.arange(3.0)
    fast = torch.compile(compute if given else lambda _, x: compute(thing, x))
    for _ in range(5):
        assert fast(thing if given else 0, x).tolist() == [0.0, 2.0, 4.0]
    assert of(fast).replays == 2
    thing.rate = 5.0
    for _ in range(4):
        assert fast(thing if given else 0, x).tolist() == [0.0, 5.0, 10.0]


def test_numbers_that_are_equal_and_not_alike_are_told_apart():
    fast, x = torch.compile(lambda o, x: x * o.rate), torch.ones(1)
    one, other = _with_rate(_Number(3.0)), _with_rate(_Number(3.0))
    other.rate = 7.0
    assert [fast(one, x).item() for _ in range(5)] == [2.0] * 5
    assert [fast(other, x).item() for _ in range(5)] == [7.0] * 5


@pytest.mark.parametrize("make", [_plain, lambda: type("Own", (_Twice,), {"rate": 2.0})()], ids=["plain", "module"])
def test_an_object_of_another_class_now_is_seen(make):
    thing, x = make(), torch.ones(1)
    fast = torch.compile(lambda x: x * thing.rate)
    assert [fast(x).item() for _ in range(5)] == [2.0] * 5
    thing.__class__ = type("Now", (type(thing),), {"rate": 11.0})
    assert [fast(x).item() for _ in range(4)] == [11.0] * 4


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
