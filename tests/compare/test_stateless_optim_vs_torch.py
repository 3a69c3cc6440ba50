"""The optimizers' updates as functions of lists, against PyTorch's."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

WAYS = {
    "adadelta": {"lr": 0.9, "rho": 0.8, "eps": 1e-6, "weight_decay": 0.1, "maximize": False},
    "adagrad": {"lr": 0.1, "weight_decay": 0.1, "lr_decay": 0.01, "eps": 1e-8, "maximize": True},
    "adam": {"amsgrad": True, "beta1": 0.8, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8, "maximize": False},
    "adamax": {"eps": 1e-8, "beta1": 0.8, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1},
    "adamw": {"amsgrad": False, "beta1": 0.8, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8, "maximize": True},
    "asgd": {"lambd": 1e-2, "lr": 0.1, "t0": 1.0, "alpha": 0.75, "weight_decay": 0.1},
    "nadam": {"beta1": 0.8, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "momentum_decay": 4e-3, "eps": 1e-8},
    "radam": {"beta1": 0.8, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8},
    "rmsprop": {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
    "rprop": {"step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2},
    "sgd": {"weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.0, "nesterov": True, "maximize": False},
}  # fmt: skip
SHAPES = ((2, 3), (5,), ())


def run(library, name, steps=4):
    function = getattr(importlib.import_module(f"{library.__name__}.optim.{name}"), name)
    rng = np.random.RandomState(0)

    def several(make):
        return [library.tensor(make(shape), dtype=library.float64) for shape in SHAPES]

    params = several(rng.standard_normal)
    for param in params:
        param.requires_grad_()
    lists = {}
    for each in list(inspect.signature(function).parameters)[2:]:
        if each == "momentum_buffer_list" and name == "sgd":
            lists[each] = [None] * len(SHAPES)
        elif each == "max_exp_avg_sqs" and not WAYS[name]["amsgrad"]:
            lists[each] = []
        elif each in ("state_steps", "mu_products", "etas", "mus"):
            lists[each] = [library.tensor(0.0 if each == "state_steps" else 1.0) for _ in SHAPES]
        elif each.endswith(("s", "list")) and each != "has_sparse_grad":
            lists[each] = several(np.ones if each == "step_sizes" else np.zeros)
        else:
            break
    kept = {each: list(tensors) for each, tensors in lists.items()}
    for _ in range(steps):
        with library.no_grad():
            function(params, several(rng.standard_normal), *lists.values(), foreach=False, **WAYS[name])
    assert [param._version for param in params] == [steps] * len(params) or library is torch
    assert all(a is b for each in kept for a, b in zip(kept[each], lists[each], strict=True) if a is not None)
    assert all(param.grad is None for param in params)
    return [each.detach().numpy() for each in (*params, *(x for each in lists.values() for x in each))]


@pytest.mark.parametrize("name", WAYS)
def test_update_as_function(name):
    mine, theirs = run(clarion, name), run(torch, name)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    ours = getattr(importlib.import_module(f"clarion.optim.{name}"), name)
    names = list(inspect.signature(getattr(importlib.import_module(f"torch.optim.{name}"), name)).parameters)
    assert list(inspect.signature(ours).parameters) == names


def test_update_that_is_recorded():
    """`differentiable=True`: the new parameter has a gradient with respect to the old gradient."""
    found = []
    for library in (clarion, torch):
        sgd = importlib.import_module(f"{library.__name__}.optim.sgd").sgd
        adam = importlib.import_module(f"{library.__name__}.optim.adam").adam
        g = library.tensor([1.0, -2.0], dtype=library.float64, requires_grad=True)
        p = library.tensor([0.5, 0.25], dtype=library.float64, requires_grad=True).clone()
        state = [library.zeros(2, dtype=library.float64) for _ in range(2)]
        step = library.tensor(0.0, dtype=library.float64)
        way = {**WAYS["adam"], "amsgrad": False}
        adam([p], [g], [state[0]], [state[1]], [], [step], foreach=False, differentiable=True, **way)
        p.sum().backward()
        found.append([g.grad.numpy(), p.detach().numpy(), state[0].detach().numpy(), step.numpy()])
        q = library.ones(2)
        sgd([q], [library.ones(2)], [None], foreach=False, **WAYS["sgd"])
        found[-1].append(q.numpy())
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_steps_are_tensors():
    adam = clarion.optim.adam.adam
    x = clarion.ones(2)
    with pytest.raises(RuntimeError, match="API has changed"):
        adam([x], [x], [x.clone()], [x.clone()], [], [1], **WAYS["adam"])
