"""Random tensors: seeds, generators, states, gradients. The numbers were drawn with PyTorch 2.13."""

import copy
import pickle

import numpy as np
import pytest

import clarion as torch

IN_PLACE = {
    "uniform_": (0.5, 2.0),
    "normal_": (1.0, 2.0),
    "random_": (),
    "exponential_": (2.0,),
    "geometric_": (0.4,),
    "cauchy_": (),
    "log_normal_": (),
    "bernoulli_": (0.3,),
}


def test_seeded_numbers():
    torch.manual_seed(0)
    np.testing.assert_allclose(torch.randn(3).tolist(), [1.5409961, -0.29342890, -2.1787894], rtol=1e-6)
    torch.manual_seed(0)
    np.testing.assert_allclose(torch.rand(3).tolist(), [0.49625659, 0.76822180, 0.08847743], rtol=1e-6)
    torch.manual_seed(0)
    assert torch.randint(10, (5,)).tolist() == [4, 9, 3, 0, 3]
    torch.manual_seed(0)
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_generators_are_independent():
    g = torch.Generator().manual_seed(1)
    torch.manual_seed(7)
    expected = torch.rand(2).tolist()
    torch.manual_seed(7)
    first = torch.rand(3, generator=g)
    assert torch.rand(2).tolist() == expected
    assert torch.rand(3, generator=torch.Generator().manual_seed(1)).tolist() == first.tolist()
    assert g.initial_seed() == 1
    assert g.device == torch.device("cpu")
    with pytest.raises(TypeError, match=r"must be torch\.Generator, not int"):
        torch.rand(2, generator=3)


def test_states():
    state = torch.get_rng_state()
    assert (state.dtype, state.shape) == (torch.uint8, (5056,))
    first = torch.randn(5).tolist()
    torch.set_rng_state(state)
    assert torch.randn(5).tolist() == first
    g = torch.Generator().manual_seed(3)
    torch.randn(3, generator=g)
    for twin in (pickle.loads(pickle.dumps(g)), g.clone_state(), copy.deepcopy(g)):
        assert twin.get_state().tolist() == g.get_state().tolist()
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        g.set_state(torch.zeros(3))
    with torch.random.fork_rng():
        torch.manual_seed(99)
        torch.rand(3)
    torch.set_rng_state(state)
    assert torch.randn(5).tolist() == first


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_draw_in_place_has_zero_gradient(name):
    x = torch.ones(20, requires_grad=True)
    y = x * 2
    getattr(y, name)(*IN_PLACE[name], generator=torch.Generator())
    assert type(y.grad_fn).__name__.startswith(name.rstrip("_").title().replace("_", "") + "Backward")
    y.sum().backward()
    assert x.grad.tolist() == [0] * 20
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(x, name)(*IN_PLACE[name])


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_draw_in_place_counts_as_a_write(name):
    x = torch.ones(3)
    before = x._version
    assert getattr(x, name)(*IN_PLACE[name]) is x
    assert x._version == before + 1


@pytest.mark.parametrize(
    ("draw", "node"),
    [
        (lambda p: torch.bernoulli(p), "BernoulliBackward0"),
        (lambda p: torch.poisson(p), "PoissonBackward0"),
        (lambda p: torch.normal(p, 1.0), "NormalBackward1"),
        (lambda p: torch.normal(0.0, p), "NormalBackward2"),
        (lambda p: torch.normal(p, p), "NormalBackward3"),
    ],
)
def test_draws_from_tensors_have_zero_gradient(draw, node):
    p = torch.tensor([0.2, 0.8], requires_grad=True)
    y = draw(p)
    assert type(y.grad_fn).__name__ == node
    y.sum().backward()
    assert p.grad.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: torch.rand(2, dtype=torch.int32), NotImplementedError, "not implemented for 'Int'"),
        (lambda: torch.randint(3, 1, (2,)), RuntimeError, "expects 'from' to be less than 'to'"),
        (lambda: torch.randint(3, 2), TypeError, "argument 'size'"),
        (lambda: torch.randint(3.0, (2,)), TypeError, "must be int, not float"),
        (lambda: torch.randperm(-1), RuntimeError, "negative dimension"),
        (lambda: torch.normal(0.0, 1.0), TypeError, "invalid combination of arguments"),
        (lambda: torch.normal(torch.ones(2), -torch.ones(2)), RuntimeError, "all elements of std >= 0.0"),
        (lambda: torch.bernoulli(torch.ones(2) * 2), RuntimeError, "p_in >= 0 && p_in <= 1"),
        (lambda: torch.multinomial(torch.ones(3), 5), RuntimeError, "without replacement"),
        (lambda: torch.ones(3).uniform_(3, 1), RuntimeError, "found from=3 > to=1"),
        (lambda: torch.ones(3).bernoulli_(torch.ones(2)), RuntimeError, "The expanded size of the tensor"),
    ],
)
def test_refusals(call, kind, phrase):
    with pytest.raises(kind, match=phrase):
        call()


def test_named_bounds_and_types():
    assert torch.ones(50).uniform_(**{"from": 2, "to": 3}).tolist() == pytest.approx([2.5] * 50, abs=0.5)
    assert set(torch.ones(50).random_(**{"from": 5, "to": 7}).tolist()) == {5, 6}
    assert torch.randint(low=0, high=3, size=(2,), dtype=torch.float32).dtype is torch.float32
    assert torch.randint_like(torch.ones(4), 2, 3).tolist() == [2] * 4
    assert torch.rand_like(torch.ones(2, 3).t()).stride() == (1, 3)
    assert torch.normal(2, 3, size=(1, 4)).shape == (1, 4)
    assert torch.multinomial(torch.tensor([0.0, 1.0]), 3, replacement=True).tolist() == [1, 1, 1]


def test_make_tensor():
    made = torch.testing.make_tensor((3, 4), dtype=torch.float64, low=1, high=2, requires_grad=True)
    assert made.requires_grad
    assert 1 <= made.detach().numpy().min() <= made.detach().numpy().max() < 2
    assert not torch.testing.make_tensor((4,), dtype=torch.int64, noncontiguous=True).is_contiguous()
