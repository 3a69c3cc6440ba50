"""The same script, the same seed: the same loss curve and the same parameters as PyTorch's."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

OPTIMIZERS = {
    "SGD": lambda t, p: t.optim.SGD(p, lr=0.05),
    "SGD-momentum": lambda t, p: t.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.01),
    "SGD-nesterov": lambda t, p: t.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    "SGD-maximize": lambda t, p: t.optim.SGD(p, lr=0.001, momentum=0.5, maximize=True),
    "SGD-maximize-plain": lambda t, p: t.optim.SGD(p, lr=0.001, maximize=True),
    "Adam": lambda t, p: t.optim.Adam(p, lr=0.01),
    "Adam-decay": lambda t, p: t.optim.Adam(p, lr=0.01, weight_decay=0.1, betas=(0.8, 0.95)),
    "Adam-amsgrad": lambda t, p: t.optim.Adam(p, lr=0.01, amsgrad=True),
    "Adam-maximize": lambda t, p: t.optim.Adam(p, lr=0.001, maximize=True),
    "AdamW": lambda t, p: t.optim.AdamW(p, lr=0.01),
    "AdamW-amsgrad": lambda t, p: t.optim.AdamW(p, lr=0.01, weight_decay=0.3, amsgrad=True, eps=1e-6),
}


def regression(t, make, steps=50, dtype=None):
    t.manual_seed(0)
    x, y = t.randn(64, 10), t.randn(64, 1)
    net = t.nn.Sequential(t.nn.Linear(10, 16), t.nn.Tanh(), t.nn.Dropout(0.1), t.nn.Linear(16, 1))
    if dtype is not None:
        net, x, y = net.to(getattr(t, dtype)), x.to(getattr(t, dtype)), y.to(getattr(t, dtype))
    criterion = t.nn.MSELoss()
    optimizer = make(t, net.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        t.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return net, optimizer, losses


@pytest.mark.parametrize("dtype", [None, "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_loss_curve(name, dtype):
    theirs, their_optimizer, expected = regression(torch, OPTIMIZERS[name], dtype=dtype)
    ours, optimizer, losses = regression(clarion, OPTIMIZERS[name], dtype=dtype)
    rtol = 1e-12 if dtype == "float64" and not name.startswith("Adam") else 1e-10 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(losses, expected, rtol=rtol)
    assert repr(optimizer) == repr(their_optimizer)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=100 * rtol, atol=rtol)
    state, wanted = optimizer.state_dict(), their_optimizer.state_dict()
    assert state["param_groups"] == wanted["param_groups"]
    assert state["state"].keys() == wanted["state"].keys()
    for i, each in wanted["state"].items():
        assert state["state"][i].keys() == each.keys()
        for key, value in each.items():
            mine = state["state"][i][key]
            assert str(mine.dtype) == str(value.dtype)
            np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=100 * rtol, atol=rtol)


def test_classification():
    curves = []
    for t in (torch, clarion):
        t.manual_seed(1)
        tokens, labels = t.randint(0, 20, (32, 6)), t.randint(0, 4, (32,))
        net = t.nn.Sequential(
            t.nn.Embedding(20, 8, padding_idx=0),
            t.nn.LayerNorm(8),
            t.nn.Flatten(),
            t.nn.Linear(48, 32),
            t.nn.GELU(),
            t.nn.Dropout(0.2),
            t.nn.Linear(32, 4),
        )
        optimizer = t.optim.AdamW(net.parameters(), lr=0.01)
        curve = []
        for _ in range(40):
            order = t.randperm(32)
            loss = t.nn.functional.cross_entropy(net(tokens[order]), labels[order])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            curve.append(loss.item())
        curves.append(curve)
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-3)
    assert curves[1][-1] < curves[1][0] / 2


@pytest.mark.parametrize("name", ["SGD-momentum", "Adam-amsgrad"])
def test_resume_from_state(name):
    net, optimizer, _ = regression(clarion, OPTIMIZERS[name], steps=5, dtype="float64")
    twin = copy.deepcopy(net)
    resumed = OPTIMIZERS[name](clarion, twin.parameters())
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for _ in range(3):
        for module, opt in ((net, optimizer), (twin, resumed)):
            opt.zero_grad()
            module[0].weight.sum().backward()
            opt.step()
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())


GRADS = [np.array([3.0, -4.0], np.float32), np.array([[12.0]], np.float32), None, np.zeros((0,), np.float32)]


def params(t):
    made = []
    for grad in GRADS:
        p = t.nn.Parameter(t.zeros(*(grad.shape if grad is not None else (2,))))
        p.grad = None if grad is None else t.from_numpy(grad.copy())
        made.append(p)
    return made


@pytest.mark.parametrize("norm", [2.0, 1.0, 3, float("inf"), 0.5])
@pytest.mark.parametrize("limit", [1.0, 1000.0])
def test_clip_norm(norm, limit):
    theirs, ours = params(torch)[:3], params(clarion)[:3]
    a = torch.nn.utils.clip_grad_norm_(theirs, limit, norm_type=norm)
    b = clarion.nn.utils.clip_grad_norm_(ours, limit, norm_type=norm)
    np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-6)
    assert str(b.dtype) == str(a.dtype)
    for p, q in zip(ours, theirs, strict=True):
        if q.grad is not None:
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-6)
    np.testing.assert_allclose(
        clarion.nn.utils.get_total_norm([p.grad for p in ours if p.grad is not None]).item(),
        torch.nn.utils.get_total_norm([p.grad for p in theirs if p.grad is not None]).item(),
        rtol=1e-6,
    )


def test_clip_value_and_nonfinite():
    theirs, ours = params(torch), params(clarion)
    torch.nn.utils.clip_grad_value_(theirs, 3.5)
    clarion.nn.utils.clip_grad_value_(ours, 3.5)
    for p, q in zip(ours, theirs, strict=True):
        assert q.grad is None or np.array_equal(p.grad.numpy(), q.grad.numpy())
    for t, group in ((torch, theirs), (clarion, ours)):
        group[0].grad[0] = float("nan")
        with pytest.raises(
            RuntimeError, match=r"The total norm of order 2.0 for gradients from `parameters` is non-fin"
        ):
            t.nn.utils.clip_grad_norm_(group, 1.0, error_if_nonfinite=True)
        assert group[1].grad.item() == 3.5  # nothing was changed
        assert np.isnan(t.nn.utils.clip_grad_norm_(group, 1.0).item())
        assert np.isnan(group[1].grad.item())


def test_vectors():
    for t in (torch, clarion):
        t.manual_seed(0)
        net = t.nn.Linear(3, 2)
        vector = t.nn.utils.parameters_to_vector(net.parameters())
        assert vector.shape == (8,)
        t.nn.utils.vector_to_parameters(vector.detach() * 2, net.parameters())
        assert np.array_equal(net.bias.detach().numpy(), vector.detach().numpy()[6:] * 2)


MISTAKES = {
    "empty": lambda t: t.optim.SGD([], lr=1),
    "tensor": lambda t: t.optim.SGD(t.zeros(2), lr=1),
    "non-leaf": lambda t: t.optim.SGD([t.zeros(2, requires_grad=True) * 1], lr=1),
    "rate": lambda t: t.optim.SGD([t.zeros(2)], lr=-1),
    "momentum": lambda t: t.optim.SGD([t.zeros(2)], lr=1, momentum=-1),
    "nesterov": lambda t: t.optim.SGD([t.zeros(2)], lr=1, nesterov=True),
    "betas": lambda t: t.optim.Adam([t.zeros(2)], betas=(1.0, 0.9)),
    "eps": lambda t: t.optim.Adam([t.zeros(2)], eps=-1.0),
    "number": lambda t: t.optim.SGD([3], lr=1),
    "set": lambda t: t.optim.SGD([{"params": {t.zeros(2)}}], lr=1),
    "twice": lambda t: (lambda p: t.optim.SGD([{"params": [p]}, {"params": [p]}], lr=1))(t.zeros(2)),
    "groups": lambda t: t.optim.SGD([t.zeros(2)], lr=1).load_state_dict({"state": {}, "param_groups": []}),
    "group-type": lambda t: t.optim.SGD([t.zeros(2)], lr=1).add_param_group(3),
    "names": lambda t: t.optim.SGD([("a", t.zeros(2)), t.zeros(3)], lr=1),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    with pytest.raises(Exception) as theirs:
        MISTAKES[name](torch)
    with pytest.raises(Exception) as ours:
        MISTAKES[name](clarion)
    assert isinstance(ours.value, type(theirs.value))
    assert str(ours.value).startswith(str(theirs.value))


def test_groups_hooks_and_closure():
    logs = []
    for t in (torch, clarion):
        log = []
        t.manual_seed(0)
        a, b = t.nn.Linear(2, 2), t.nn.Linear(2, 1)
        optimizer = t.optim.SGD([{"params": a.parameters(), "lr": 0.5}, {"params": b.parameters()}], lr=0.1)
        optimizer.add_param_group({"params": [t.nn.Parameter(t.ones(1))], "momentum": 0.9})
        optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("pre", len(args), sorted(kwargs))))
        optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("post"))

        def closure():
            optimizer.zero_grad()
            loss = b(a(t.ones(3, 2))).pow(2).mean()
            loss.backward()
            return loss

        log += [round(optimizer.step(closure).item(), 5) for _ in range(4)]
        log.append(repr(optimizer))
        optimizer.zero_grad(set_to_none=False)
        log.append(a.weight.grad.abs().sum().item())
        optimizer.zero_grad()
        log.append(a.weight.grad)
        logs.append(log)
    assert logs[0] == logs[1]


def test_own_optimizer():
    for t in (torch, clarion):
        log = []

        class Plain(t.optim.Optimizer):
            def __init__(self, params):
                super().__init__(params, {"lr": 0.5})

            def step(self, closure=None):
                with t.no_grad():
                    for group in self.param_groups:
                        for p in group["params"]:
                            p.add_(p.grad, alpha=-group["lr"])

        p = t.nn.Parameter(t.ones(2))
        optimizer = Plain([p])
        optimizer.register_step_post_hook(lambda o, a, k: log.append(1))
        p.sum().backward()
        optimizer.step()
        assert p.tolist() == [0.5, 0.5]
        assert log == [1]


def test_a_step_counts_as_a_write():
    p = clarion.nn.Parameter(clarion.ones(2))
    q = clarion.nn.Parameter(clarion.ones(2))
    loss = (p * q).sum()
    loss.backward(retain_graph=True)
    clarion.optim.SGD([p, q], lr=0.1).step()
    assert p._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
