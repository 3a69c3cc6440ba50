"""Parameters are gathered and walked through in pieces; nobody should notice."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import clarion as torch
from clarion.kernels.numpy import updates as inplace

ALL = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"]


def make(name, params):
    return getattr(torch.optim, name)(params, lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))


def parameters(seed=0, shapes=((3,), (2, 2), (), (5, 1))):
    rng = np.random.default_rng(seed)
    return [torch.nn.Parameter(torch.tensor(rng.standard_normal(shape))) for shape in shapes]


def give(params, seed):
    rng = np.random.default_rng(seed)
    for param in params:
        param.grad = torch.tensor(rng.standard_normal(tuple(param.shape)))


def values(params):
    return [param.detach().numpy().copy() for param in params]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", ALL)
def test_together_as_one_by_one(name):
    together, alone = parameters(), parameters()
    optimizer, optimizers = make(name, together), [make(name, [p]) for p in alone]
    for step in range(4):
        give(together, step)
        give(alone, step)
        optimizer.step()
        for each in optimizers:
            each.step()
    assert same(values(together), values(alone))


@pytest.mark.parametrize("name", ALL)
def test_pieces(name, monkeypatch):
    whole, cut = parameters(shapes=((50, 7),)), parameters(shapes=((50, 7),))
    first = make(name, whole)
    for step in range(3):
        give(whole, step)
        first.step()
    monkeypatch.setattr(inplace, "PIECE", 128)
    second = make(name, cut)
    for step in range(3):
        give(cut, step)
        second.step()
    assert same(values(whole), values(cut))


@pytest.mark.parametrize("name", ALL)
def test_gradients_in_another_layout(name):
    straight, turned = parameters(shapes=((70, 80), (3, 4))), parameters(shapes=((70, 80), (3, 4)))
    for params, change in ((straight, False), (turned, True)):
        optimizer = make(name, params)
        for step in range(2):
            give(params, step)
            if change:
                for param in params:
                    param.grad = param.grad.t().contiguous().t()
            optimizer.step()
    assert same(values(straight), values(turned))


@pytest.mark.parametrize("name", ALL)
def test_state_may_be_replaced_reset_or_written(name):
    params, twins = parameters(), parameters()
    optimizer, other = make(name, params), make(name, twins)
    for step in range(2):
        for each, one in ((params, optimizer), (twins, other)):
            give(each, step)
            one.step()
    # Replaced by equal tensors: nothing changes.
    for state in optimizer.state.values():
        for key in state:
            state[key] = state[key].clone()
    for each, one in ((params, optimizer), (twins, other)):
        give(each, 2)
        one.step()
    assert same(values(params), values(twins))
    # Written in place: seen by the next step.
    key = list(optimizer.state[params[0]])[-1]
    for one, each in ((optimizer, params), (other, twins)):
        one.state[each[0]][key].mul_(0.5)
        give(each, 3)
        one.step()
    assert same(values(params), values(twins))
    # Forgotten: it begins anew.
    optimizer.state.clear()
    give(params, 4)
    optimizer.step()
    assert "step" not in optimizer.state[params[0]] or optimizer.state[params[0]]["step"].item() == 1


@pytest.mark.parametrize("name", ALL)
def test_a_saved_state_stays_alive(name):
    """`state_dict()` refers to the tensors that later steps write, as PyTorch's does."""
    params = parameters()
    optimizer = make(name, params)
    give(params, 0)
    optimizer.step()
    kept = optimizer.state_dict()["state"][0]
    before = {key: value.clone() for key, value in kept.items()}
    give(params, 1)
    optimizer.step()
    assert any(not torch.equal(kept[key], before[key]) for key in kept)
    assert all(kept[key] is optimizer.state[params[0]][key] for key in kept)


def test_counts_that_part():
    """A count that somebody changes makes a parameter go its own way."""
    params, alone = parameters(), parameters()
    optimizer, single = make("Adam", params), make("Adam", alone[:1])
    for each, one in ((params, optimizer), (alone, single)):
        give(each, 0)
        one.step()
    for each, one in ((params, optimizer), (alone, single)):
        one.state[each[0]]["step"].fill_(100.0)
        give(each, 1)
        one.step()
    assert same(values(params[:1]), values(alone[:1]))
    assert optimizer.state[params[0]]["step"].item() == 101
    assert optimizer.state[params[1]]["step"].item() == 2


@pytest.mark.parametrize("name", ALL)
def test_parameters_that_share_memory(name):
    base = torch.zeros(6, dtype=torch.float64)
    first, second = torch.nn.Parameter(base), torch.nn.Parameter(base[2:4])
    optimizer = make(name, [first, second])
    first.grad, second.grad = torch.ones(6, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    optimizer.step()
    moved = first.detach().numpy()
    assert moved[2] == pytest.approx(2 * moved[0], rel=0.2)  # both steps arrived


def test_data_may_be_exchanged():
    params = parameters()
    optimizer = make("Adam", params)
    give(params, 0)
    optimizer.step()
    old, new = params[0]._array, torch.zeros(3, dtype=torch.float64)
    before = old.copy()
    params[0].data = new
    give(params, 1)
    optimizer.step()
    assert np.array_equal(old, before)
    assert params[0]._array is new._array
    assert new.abs().sum().item() > 0


def test_loading_pickling_and_copying():
    for name in ALL:
        params = parameters()
        optimizer = make(name, params)
        for step in range(2):
            give(params, step)
            optimizer.step()
        for again in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
            others = again.param_groups[0]["params"]
            give(others, 2)
            again.step()
        twins = [torch.nn.Parameter(p.detach().clone()) for p in params]
        loaded = make(name, twins)
        loaded.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        for each, one in ((params, optimizer), (twins, loaded)):
            give(each, 2)
            one.step()
        for a, b, c in zip(values(params), values(twins), values(others), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6)  # loading carries counters over into the parameter's type
            assert np.array_equal(c, a), name


def test_versions_count_every_write():
    params = parameters()
    optimizer = make("Adam", params)
    give(params, 0)
    params[1].grad = None
    optimizer.step()
    assert [p._version for p in params] == [1, 0, 1, 1]


def test_counts_follow_the_default_type():
    torch.set_default_dtype(torch.float64)
    try:
        params = parameters()
        optimizer = make("NAdam", params)
        give(params, 0)
        optimizer.step()
        assert optimizer.state[params[0]]["step"].dtype == torch.float64
        assert optimizer.state[params[0]]["mu_product"].dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_infinite_gradients():
    for name in ALL:
        p = torch.nn.Parameter(torch.tensor([1.0, 1.0]))
        optimizer = make(name, [p])
        p.grad = torch.tensor([float("nan"), 1.0])
        optimizer.step()
        assert np.isnan(p.detach().numpy()[0]), name
        assert np.isfinite(p.detach().numpy()[1]), name


@pytest.mark.parametrize("name", ALL)
def test_state_that_other_processes_see_stays_where_it_is(name):
    params = parameters()
    optimizer = make(name, params)
    give(params, 0)
    optimizer.step()
    states = [v for p in params for v in optimizer.state[p].values() if torch.is_tensor(v)]
    outside = [state.share_memory_().data for state in states]
    for seed in (1, 2):
        give(params, seed)
        optimizer.step()
    for state, other in zip(states, outside, strict=True):
        assert state.is_shared()
        assert state.data_ptr() == other.data_ptr()


@pytest.mark.parametrize(
    ("name", "option", "kept", "values_of_it"),
    [
        ("Adam", "amsgrad", "max_exp_avg_sq", (False, True, False)),
        ("RMSprop", "centered", "grad_avg", (False, True, False)),
        ("RMSprop", "momentum", "momentum_buffer", (0.0, 0.9, 0.0)),
        ("SGD", "momentum", None, (0.0, 0.9, 0.0)),
    ],
)
def test_options_that_decide_what_is_kept_may_change(name, option, kept, values_of_it):
    params, afresh = parameters(), parameters()
    first, second = (getattr(torch.optim, name)(each, lr=0.1) for each in (params, afresh))
    for value in values_of_it:
        for optimizer in (first, second):
            optimizer.param_groups[0][option] = value
            for param, state in optimizer.state.items() if kept else ():
                state.setdefault(kept, torch.zeros_like(param))
        for seed in range(3):
            for each, optimizer in ((params, first), (afresh, second)):
                give(each, seed)
                second.__dict__.pop("_plans", None)
                optimizer.step()
        assert same(values(params), values(afresh))
