"""Options and what is refused, with PyTorch's words."""

from __future__ import annotations

import pytest

import clarion as torch

NEGATIVE = {
    "SGD": {"lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value"},
    "Adam": {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"},
    "AdamW": {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"},
    "NAdam": {"lr": "learning rate", "eps": "epsilon value", "momentum_decay": "momentum_decay value"},
    "RAdam": {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"},
    "Adamax": {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"},
    "Adagrad": {"lr": "learning rate", "lr_decay": "lr_decay value", "eps": "epsilon value"},
    "Adadelta": {"lr": "learning rate", "rho": "rho value", "eps": "epsilon value"},
    "RMSprop": {"lr": "learning rate", "alpha": "alpha value", "momentum": "momentum value"},
    "Rprop": {"lr": "learning rate"},
    "ASGD": {"lr": "learning rate", "weight_decay": "weight_decay value"},
    "LBFGS": {"lr": "learning rate"},
    "SparseAdam": {"lr": "learning rate", "eps": "epsilon value"},
}
FLAGGED = ["SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"]


def one(*shape):
    return torch.nn.Parameter(torch.ones(*shape or (1, 1)))


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, all_of in NEGATIVE.items() for option in all_of])
def test_negative_options(name, option):
    with pytest.raises(ValueError, match=f"Invalid {NEGATIVE[name][option]}: -1"):
        getattr(torch.optim, name)([one()], **{option: -1.0})


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "SparseAdam"])
def test_betas(name):
    for i, betas in enumerate(((1.0, 0.9), (0.9, 1.0))):
        with pytest.raises(ValueError, match=f"Invalid beta parameter at index {i}: 1.0"):
            getattr(torch.optim, name)([one()], betas=betas)


@pytest.mark.parametrize("name", [*NEGATIVE, "Adafactor", "Muon"])
def test_learning_rates_as_tensors(name):
    make = getattr(torch.optim, name)
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        make([one()], lr=torch.tensor([0.1, 0.2]))
    p, q = one(2, 3), one(2, 3)
    optimizers = make([p], lr=torch.tensor([0.125])), make([q], lr=0.125)
    if name in ("LBFGS", "SparseAdam"):
        return
    for param, optimizer in zip((p, q), optimizers, strict=True):
        param.grad = torch.ones(2, 3)
        optimizer.step()
    assert torch.equal(p, q)


@pytest.mark.parametrize("name", FLAGGED)
def test_differentiable_steps_are_recorded(name):
    start, grad = torch.full((2,), 0.5, requires_grad=True), torch.tensor([0.3, -0.2], requires_grad=True)
    p, q = start.clone(), torch.nn.Parameter(start.detach().clone())
    for param, options in ((p, {"differentiable": True}), (q, {})):
        optimizer = getattr(torch.optim, name)([param], **options)
        for number in range(1, 4):
            param.grad = grad * number + 0.1 * number**2  # no multiple of it: some rules do not see factors
            optimizer.step()
    assert torch.allclose(p, q, rtol=1e-5)
    p.sum().backward()
    assert torch.allclose(start.grad, torch.ones(2), atol=0.01)
    assert grad.grad.abs().min() > 0 or name == "Rprop"  # which looks at signs only
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf = one(2)
        leaf.grad = torch.ones(2)
        getattr(torch.optim, name)([leaf], differentiable=True).step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused(name):
    make = getattr(torch.optim, name)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        make([one()], fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        make([one()], fused=True, differentiable=True)
    make([one()], fused=True)


REFUSED = [
    ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
    ("SGD", {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
    ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
    ("Adafactor", {"lr": -1.0}, "Learning rate should be >= 0 but is: -1.0"),
    ("Adafactor", {"beta2_decay": 1.0}, "beta2_decay should be <= 0 but is: 1.0"),
    ("Adafactor", {"eps": (-1, 0.1)}, "epsilon1 should be >= 0 but is: -1"),
    ("Adafactor", {"eps": (0.1, -1)}, "epsilon2 should be >= 0 but is: -1"),
    ("Adafactor", {"d": 0.0}, "Clipping threshold d should be >= 1 but is: 0.0"),
    ("Adafactor", {"weight_decay": -1}, "weight_decay should be >= 0 but is: -1"),
    ("Muon", {"momentum": -1}, "momentum should be >= 0 but is: -1"),
    ("Muon", {"weight_decay": -1}, "weight decay should be >= 0 but is: -1"),
    ("Muon", {"adjust_lr_fn": "any"}, "Adjust learning rate function any is not supported"),
    ("Adam", {"betas": (0.9, torch.tensor(0.9))}, "betas must be either both floats or both Tensors"),
    ("Adam", {"lr": torch.tensor(0.1), "foreach": True}, "lr as a Tensor is not supported for capturable=False"),
]


@pytest.mark.parametrize(("name", "options", "phrase"), REFUSED)
def test_refused_options(name, options, phrase):
    with pytest.raises(ValueError, match=phrase):
        getattr(torch.optim, name)([one()], **options)


def test_sparse_adam_refuses_dense_gradients():
    p = one()
    optimizer = torch.optim.SparseAdam([p])
    assert optimizer.step() is None
    p.grad = torch.ones(1, 1)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        optimizer.step()
    with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 0\]\]"):
        torch.optim.SparseAdam([torch.zeros(1, dtype=torch.complex64)])


def test_muon_and_adafactor_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match=r"Muon only supports 2D parameters.*torch.Size\(\[3\]\)"):
        torch.optim.Muon([one(3)])
    for name in ("Muon", "Adafactor"):
        p = torch.nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
        p.grad = torch.ones(2, 2, dtype=torch.complex64)
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            getattr(torch.optim, name)([p]).step()
    p = one(2, 2)
    p.grad = torch.ones(2, 2)
    with pytest.raises(ValueError, match="Number of steps must be less than 100"):
        torch.optim.Muon([p], ns_steps=100).step()


def test_lbfgs_wants_one_group_and_a_known_search():
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        torch.optim.LBFGS([{"params": [one()]}, {"params": [one()]}])
    p = one()
    optimizer = torch.optim.LBFGS([p], line_search_fn="golden")

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(closure)
    with torch.no_grad():
        assert torch.optim.LBFGS([p], line_search_fn="strong_wolfe").step(closure).item() == 1.0
    assert p.item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", FLAGGED)
def test_hooks_groups_and_text(name):
    p, q = one(3), one(2)
    optimizer = getattr(torch.optim, name)([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.25)
    seen = []
    optimizer.register_step_pre_hook(lambda *args: seen.append("before"))
    optimizer.register_step_post_hook(lambda *args: seen.append("after"))
    p.grad, q.grad = torch.ones(3), torch.ones(2)
    optimizer.step()
    assert seen == ["before", "after"]
    assert "Parameter Group 1\n" in repr(optimizer)
    assert "lr: 0.5\n" in repr(optimizer)
    assert abs(q[0].item() - 1) > abs(p[0].item() - 1) > 0 or name == "Adadelta"


@pytest.mark.parametrize("kind", ["SGD", "SparseAdam"])
def test_few_rows_of_a_table(kind):
    """An update of the rows that were used is the dense one, rows that occur twice included."""
    table = torch.nn.Embedding(9, 20, sparse=True)
    before = table.weight.detach().clone()
    optimizer, version = getattr(torch.optim, kind)(table.parameters(), lr=0.1), table.weight._version
    numbers, weights = torch.tensor([7, 2, 7, 0, 2, 7]), torch.arange(6.0)[:, None]
    (table(numbers) * weights).sum().backward()
    optimizer.step()
    g = torch.zeros(9, 20).index_add(0, numbers, weights.expand(6, 20))
    step = 0.1 * g if kind == "SGD" else torch.where(g > 0, 0.1 * g / (g + 1e-8), 0)
    assert torch.allclose(table.weight, before - step, atol=1e-6)
    unused = [1, 3, 4, 5, 6, 8]
    assert torch.equal(table.weight[unused], before[unused])
    assert table.weight._version == version + 1


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused_steps_are_for_real_numbers_on_devices_that_compute(kind):
    for param in (torch.ones(2, device="meta"), torch.ones(2, dtype=torch.complex64)):
        param.requires_grad_().grad = torch.ones_like(param)
        optimizer = getattr(torch.optim, kind)([param], fused=True)
        with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors"):
            optimizer.step()
