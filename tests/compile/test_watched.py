"""Whatever a function reads, and wherever it is kept: when it changes, a compiled function sees it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import threading
import types
import warnings
import weakref

import pytest

import clarion as torch
from clarion.compiling.function import CompileWarning, of
from clarion.core import overriding

STORE = {"rate": 1.0}
MODULE = types.ModuleType("somewhere")
RATE = 1.0


class Plain:
    rate = 1.0


class Child(Plain):
    pass


class Subdict(dict):
    pass


class Sublist(list):
    pass


class Subset(set):
    pass


class Inside:
    def __init__(self):
        self.store = {"rate": 1.0}

    rate = property(lambda self: self.store["rate"])
    __getitem__ = lambda self, key: self.store[key]
    __call__ = lambda self: self.store["rate"]


class Descriptor:
    def __get__(self, owner, kind=None):
        return STORE["rate"]


class Described:
    rate = Descriptor()


class Meta(type):
    rate = property(lambda cls: STORE["rate"])


class OfMeta(metaclass=Meta):
    pass


class Static:
    rates = [1.0]

    @staticmethod
    def rate():
        return Static.rates[0]

    @classmethod
    def own(cls):
        return cls.rates[0]


@dataclasses.dataclass
class Data:
    rate: float = 1.0


@dataclasses.dataclass(slots=True)
class Slots:
    rate: float = 1.0


class Net(torch.nn.Module):
    scale = 1.0

    def forward(self, x):
        return self.helped(x) * self.scale

    def helped(self, x):
        return x * 1


class Own(torch.optim.SGD):
    rho = 1.0

    def rate(self):
        return self.rho * self.slope


Pair = collections.namedtuple("Pair", "rate")


def _set(where, key, value=5.0):
    return lambda: operator.setitem(where, key, value)


def _put(where, name="rate", value=5.0):
    return lambda: setattr(where, name, value)


def _keyword(x, *, k=1.0):
    return x * k


def _containers():
    sub, rows, many, user, listed = Subdict(rate=1.0), Sublist([1.0]), Subset([1]), collections.UserDict(rate=1.0), None
    listed, chain, counter = (
        collections.UserList([1.0]),
        collections.ChainMap({"rate": 1.0}),
        collections.Counter(rate=1),
    )
    ends, nested, pair = collections.deque([1.0]), {"a": [{"b": (1.0,)}]}, Pair([1.0])
    weak, key = weakref.WeakKeyDictionary(), Plain()
    weak[key] = types.SimpleNamespace(rate=1.0)
    proxy, plain = types.MappingProxyType(STORE), [1.0]
    return {
        "a dictionary of one's own": (lambda x: x * sub["rate"], _set(sub, "rate")),
        "a list of one's own": (lambda x: x * rows[0], _set(rows, 0)),
        "a set of one's own": (lambda x: x * (2 if 7 in many else 1), lambda: many.add(7)),
        "UserDict": (lambda x: x * user["rate"], _set(user, "rate")),
        "UserList": (lambda x: x * listed[0], _set(listed, 0)),
        "ChainMap": (lambda x: x * chain["rate"], _set(chain, "rate")),
        "Counter": (lambda x: x * counter["rate"], _set(counter, "rate", 5)),
        "deque": (lambda x: x * ends[0], lambda: ends.appendleft(5.0)),
        "nested": (lambda x: x * nested["a"][0]["b"][0], _set(nested["a"][0], "b", (5.0,))),
        "a named tuple": (lambda x: x * pair.rate[0], _set(pair.rate, 0)),
        "by weak keys": (lambda x: x * weak[key].rate, lambda: setattr(weak[key], "rate", 5.0)),
        "a proxy": (lambda x: x * proxy["rate"], _set(STORE, "rate")),
        "a length": (lambda x: x * len(plain), lambda: plain.append(2.0)),
        "a default": (lambda x: x * STORE.get("other", 1.0), _set(STORE, "other")),
        "a loop": (lambda x: x * sum(v for v in STORE.values()), lambda: STORE.update(more=9.0)),
    }


@functools.lru_cache
def cached():
    return types.SimpleNamespace(rate=1.0)


def _objects():
    data, slots, inside, child = Data(), Slots(), Inside(), Child()
    own = types.SimpleNamespace(rate=1.0)
    part = functools.partial(operator.mul, 1.0) and functools.partial(lambda d: d["rate"], {"rate": 1.0})
    cell = [1.0]
    local = threading.local()
    local.rate = 1.0
    deep = lambda: cell[0]
    return {
        "a dataclass": (lambda x: x * data.rate, _put(data)),
        "slots": (lambda x: x * slots.rate, _put(slots)),
        "a property": (lambda x: x * inside.rate, _set(inside.store, "rate")),
        "an index": (lambda x: x * inside["rate"], _set(inside.store, "rate")),
        "a call": (lambda x: x * inside(), _set(inside.store, "rate")),
        "a descriptor": (lambda x: x * Described().rate, _set(STORE, "rate")),
        "a property of a class": (lambda x: x * OfMeta.rate, _set(STORE, "rate")),
        "a base class": (lambda x: x * child.rate, _put(Plain)),
        "an instance before its class": (lambda x: x * child.rate, _put(child)),
        "a type": (lambda x: x * type(child).rate, _put(Plain)),
        "a static method": (lambda x: x * Static.rate(), _set(Static.rates, 0)),
        "a method of a class": (lambda x: x * Static.own(), _set(Static.rates, 0)),
        "something that comes": (lambda x: x * (own.other if hasattr(own, "other") else 1.0), _put(own, "other")),
        "a partial": (lambda x: x * part(), _set(part.args[0], "rate")),
        "a closure of a closure": (lambda x: x * deep(), _set(cell, 0)),
        "what a cache keeps": (lambda x: x * cached().rate, lambda: setattr(cached(), "rate", 5.0)),
        "a thread's own": (lambda x: x * local.rate, _put(local)),
        "a default of a keyword": (_keyword, _set(_keyword.__kwdefaults__, "k")),
        "a module": (lambda x: x * MODULE.rate, _put(MODULE)),
        "a getter": (lambda x: x * operator.attrgetter("rate")(own), _put(own)),
    }


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
        ctx.power = power
        ctx.save_for_backward(x)
        return x**power

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.power * x * STORE["rate"], None


def _slope(x):
    x = x.clone().requires_grad_()
    Scaled.apply(x, 2).sum().backward()
    return x.grad


def _engines():
    net, layer, weight, other = Net(), torch.nn.Linear(2, 2), torch.ones(2, requires_grad=True), torch.ones(2)
    optimizer = Own(layer.parameters(), lr=1.0)
    optimizer.slope, weight.scale = 1.0, 1.0
    holder = types.SimpleNamespace(t=torch.ones(3))
    return {
        "a module's class": (net, _put(Net, "scale")),
        "a module's method": (net, _put(Net, "helped", lambda self, x: x * 7)),
        "a rate of learning": (lambda x: x * optimizer.param_groups[0]["lr"], _set(optimizer.param_groups[0], "lr")),
        "an optimizer's attribute": (lambda x: x * optimizer.rate(), _put(optimizer, "slope")),
        "an optimizer's class": (lambda x: x * optimizer.rate(), _put(Own, "rho")),
        "training": (lambda x: x * (2 if layer.training else 1), layer.eval),
        "how many parameters": (
            lambda x: x * len(list(layer.parameters())),
            lambda: layer.register_parameter("more", torch.nn.Parameter(torch.ones(1))),
        ),
        "whether one requires a gradient": (
            lambda x: x * (2 if weight.requires_grad else 1),
            lambda: weight.requires_grad_(False),
        ),
        "whether one has a gradient": (lambda x: x * (2 if weight.grad is None else 1), _put(weight, "grad", other)),
        "an attribute of a tensor": (lambda x: x * weight.scale, _put(weight, "scale")),
        "an attribute that comes": (lambda x: x * (2 if hasattr(other, "scale") else 1), _put(other, "scale")),
        "a shape": (lambda x: x * holder.t.shape[0], lambda: setattr(holder, "t", torch.ones(9))),
        "what a backward pass reads": (_slope, _set(STORE, "rate")),
        "a version": (lambda x: x * weight._version, lambda: weight.detach().add_(1)),
        "threads": (lambda x: x * torch.get_num_threads(), lambda: torch.set_num_threads(7)),
        "a seed": (lambda x: x * (torch.initial_seed() % 97), lambda: torch.manual_seed(55)),
        "another device": (lambda x: torch.zeros(2), lambda: torch.set_default_device("meta")),
        "grad mode": (lambda x: x * (2 if torch.is_grad_enabled() else 1), lambda: torch.set_grad_enabled(False)),
    }


TABLES = {"containers": _containers, "objects": _objects, "engines": _engines}


@pytest.fixture(autouse=True)
def _as_it_was():
    STORE.clear()
    STORE["rate"] = MODULE.rate = Plain.rate = Net.scale = Own.rho = Static.rates[0] = 1.0
    _keyword.__kwdefaults__["k"] = 1.0
    cached.cache_clear()
    helped, threads = Net.helped, torch.get_num_threads()
    yield
    Net.helped = helped
    torch.set_num_threads(threads)
    torch.set_grad_enabled(True)
    torch.set_default_device(None)


@pytest.mark.parametrize(("table", "name"), [(table, name) for table, make in TABLES.items() for name in make()])
def test_what_changes_is_seen(table, name):
    function, change = TABLES[table]()[name]
    fast = torch.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(6):
            before = fast(torch.ones(2))
        assert of(fast).replays or of(fast).reasons
        change()
        x = torch.ones(2, device="cpu")
        own, found = function(x), fast(x)
    assert repr(own) == repr(found)
    assert repr(own) != repr(before)


def test_what_the_backward_pass_of_a_result_reads_is_seen():
    fast = torch.compile(lambda x: Scaled.apply(x, 2))
    for i in range(12):
        STORE["rate"] = 1.0 if i < 7 else 5.0
        x = torch.full((2,), 3.0, requires_grad=True)
        fast(x).sum().backward()
        assert x.grad.tolist() == [6.0 * STORE["rate"]] * 2
    assert of(fast).replays >= 3


def test_classes_of_code_without_a_name():
    """`exec` with globals of one's own gives classes that say they are Python's own."""
    scope = {"nn": torch.nn}
    exec("class Net(nn.Module):\n    scale = 1.0\n    def forward(self, x):\n        return x * self.scale\n", scope)
    fast, x = torch.compile(scope["Net"]()), torch.ones(3)
    for scale in (1.0, 5.0):
        scope["Net"].scale = scale
        for _ in range(4):
            assert fast(x).tolist() == [scale] * 3


def test_a_seed_behind_functions_that_may_be_taken_over():
    """Once a class with `__torch_function__` is met, public functions look at their arguments first."""
    overriding.install()
    torch.manual_seed(3)
    fast = torch.compile(lambda x: x * torch.initial_seed())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for seed in (3, 7):
            torch.manual_seed(seed)
            for _ in range(5):
                assert fast(torch.ones(2)).tolist() == [seed] * 2
