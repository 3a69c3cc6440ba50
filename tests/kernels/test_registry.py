"""Kernels are offered, and found when they are called: later offers, guards, several array libraries."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
from clarion.core.inplace import inplace
from clarion.core.namespace import OPS
from clarion.kernels import registry, threads

pytestmark = pytest.mark.smoke


@pytest.fixture
def backend():
    """A backend of NumPy's that nobody else uses; its offers are gone afterwards."""
    known = registry._libraries["numpy"]
    registry._libraries["numpy"] = registry.Library("numpy", known.array_type, known.xp, ("extra", *known.backends))
    yield "extra"
    registry.withdraw("extra")
    registry._libraries["numpy"] = known


class Boxed:
    """Arrays of another library: a NumPy array in a box."""

    def __init__(self, value):
        self.value = np.asarray(value)
        self.dtype, self.shape, self.ndim = self.value.dtype, self.value.shape, self.value.ndim


@pytest.fixture
def boxed():
    def otherwise(name):
        def call(*args):
            inner = [a.value if isinstance(a, Boxed) else [b.value for b in a] if type(a) is list else a for a in args]
            return Boxed(registry.portable(name)(*inner))

        return call

    registry.know("boxed", Boxed, None, ("boxes",), otherwise)
    yield
    registry.withdraw("boxes")
    registry.forget("boxed")


# One of each way in which calls are written: one operand, two, an operator, parameters, several inputs, any number, a view.
CALLS = {
    "exp": lambda x: x.exp(),
    "add": lambda x: x + x,
    "mul": lambda x: torch.mul(x, x),
    "softmax": lambda x: x.softmax(0),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "cat": lambda x: torch.cat([x, x]),
    "neg": lambda x: -x,
    "unsqueeze": lambda x: x.unsqueeze(0),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_offer_reaches_an_operation_that_was_called_before(name, backend):
    x = torch.tensor([1.0, 2.0])
    before = CALLS[name](x)
    plain, calls, chain = registry.bind(name), [], registry.chain(name)

    def counted(*args):
        calls.append(name)
        return plain(*args)

    registry.offer(name, backend, counted)
    assert torch.equal(CALLS[name](x), before)
    assert calls == [name]
    registry.withdraw(backend)
    CALLS[name](x)
    assert calls == [name]
    assert registry.chain(name) == chain


def test_an_offer_reaches_gradient_rules_that_were_used_before(backend):
    def gradient():
        x = torch.tensor([0.5], requires_grad=True)
        torch.nn.functional.hardswish(x).sum().backward()
        return x.grad.item()

    before = gradient()
    registry.offer("hardswish_backward", backend, lambda g, x: 2 * g * (2 * x + 3) / 6)
    assert gradient() == pytest.approx(2 * before)


def test_the_first_offer_that_accepts_is_taken(backend):
    registry.offer("exp", backend, lambda x: x * 0, accepts=lambda x: x.size > 2)
    assert torch.zeros(2).exp().tolist() == [1, 1]
    assert torch.ones(3).exp().tolist() == [0, 0, 0]
    assert [each.backend for each in registry.chain("exp")][:: len(registry.chain("exp")) - 1] == [backend, "portable"]


def test_out_goes_to_an_offer_that_writes(backend):
    x = torch.ones(3)
    registry.offer("exp", backend, lambda x: x * 0, lambda x: True)  # takes no `out`: passed over
    assert registry.writes("exp")
    inplace(OPS["exp"], x)
    assert x.tolist() == [pytest.approx(np.e)] * 3
    registry.withdraw(backend)
    registry.offer(
        "rad2deg", backend, lambda x, out=None: np.multiply(x, 3, out=out), lambda x: x.size > 1, writes=True
    )
    assert OPS["rad2deg"].writes  # the portable kernel does not write
    y, z = torch.ones(3), torch.zeros(1)
    inplace(OPS["rad2deg"], y)
    inplace(OPS["rad2deg"], z)
    assert y.tolist() == [3, 3, 3]
    assert z.tolist() == [0]
    registry.withdraw(backend)
    assert not OPS["rad2deg"].writes


def test_a_result_of_another_shape_is_not_copied_into_out(backend):
    registry.offer("add", backend, lambda x, y: np.add(x, y))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(3).add_(torch.ones(1, 3))


def test_two_offers_of_one_backend_are_refused(backend):
    registry.offer("exp", backend, np.exp)
    with pytest.raises(ValueError, match="offers 'exp' twice"):
        registry.offer("exp", backend, np.exp)


def test_arrays_of_another_library_find_their_kernels(boxed):
    result = registry.raw.add(Boxed([1.0]), np.asarray(2.0))
    assert isinstance(result, Boxed)
    assert result.value.tolist() == [3]
    assert isinstance(registry.raw.sub(np.asarray(2.0), Boxed([1.0])), Boxed)  # numbers are NumPy's arrays
    assert registry.raw.cat([Boxed([1.0]), Boxed([2.0])], 0, np.float32).value.tolist() == [1, 2]
    assert torch.ones(2).add(1).tolist() == [2, 2]
    registry.offer("add", "boxes", lambda x, y: "offered")
    assert registry.raw.add(Boxed([1.0]), Boxed([1.0])) == "offered"
    assert registry.library_of(Boxed([1.0])).name == "boxed"


@pytest.fixture
def numpy_alone():
    others = registry.libraries()[1:]
    for each in others:
        registry.forget(each.name)
    yield
    for each in others:
        registry.know(each.name, each.array_type, each.xp, each.backends, each.otherwise)


def test_with_numpy_alone_nothing_stands_before_its_functions(numpy_alone):
    assert OPS["fmax"].kernel is np.fmax
    assert registry.raw.fmax is np.fmax


def test_an_offer_for_large_arrays_is_asked_there_and_may_decline(backend):
    asked = []

    def large(x):
        asked.append(x.size)
        return NotImplemented if x.size == 5 else x * 0

    registry.offer("exp", backend, large, least=4)
    for size, value in ((3, np.e), (4, 0), (5, np.e)):
        for result in (torch.ones(size).exp().numpy(), registry.raw.exp(np.ones(size))):
            np.testing.assert_allclose(result, np.full(size, value), rtol=1e-6)
    assert asked == [4, 4, 5, 5]


def test_a_library_is_known_once(boxed):
    with pytest.raises(ValueError, match="known already"):
        registry.know("boxed", Boxed, None)
    with pytest.raises(ValueError, match="belong to another"):
        registry.know("more", Boxed, None, ("boxes",))


def test_an_operation_without_kernel():
    with pytest.raises(AttributeError, match="no kernel is registered for operation 'nothing'"):
        registry.raw.nothing


def test_threads_are_limited_everywhere():
    before = torch.get_num_threads()
    told = []
    threads.follow(told.append)
    try:
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1
        assert told == [before, 1]
    finally:
        threads._followers.remove(told.append)
        torch.set_num_threads(before)
