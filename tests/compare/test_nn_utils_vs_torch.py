"""`torch.nn.utils` and lazy modules against PyTorch's: the same program in both libraries."""

import copy
import importlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

from .convert import to_numpy


def data(t, *shape, seed=0):
    return t.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def plain(t, value):
    if isinstance(value, t.Tensor):
        return to_numpy(t, value)
    if isinstance(value, (list, tuple)):
        return [plain(t, v) for v in value]
    if isinstance(value, dict):
        return {k: plain(t, v) for k, v in value.items()}
    return value


def same(a, b, where="result"):
    if isinstance(b, np.ndarray):
        assert a.shape == b.shape, where
        assert a.dtype == b.dtype, where
        np.testing.assert_allclose(a, b, 1e-4, 1e-5, err_msg=where)
    elif isinstance(b, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(b, dict):
        assert list(a) == list(b), where
        for key in b:
            same(a[key], b[key], f"{where}[{key}]")
    else:
        assert a == b, where


def trained(t, net, x):
    """Outputs, gradients and state of two steps."""
    seen = []
    for _ in range(2):
        y = net(x)
        net.zero_grad()
        (y * y).sum().backward()
        seen.append([y, {k: p.grad for k, p in net.named_parameters()}])
        with t.no_grad():
            for p in net.parameters():
                p -= 0.01 * p.grad
    return [seen, dict(net.state_dict()), repr(net)]


def symmetric(t):
    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    net = t.nn.Linear(3, 3)
    t.nn.utils.parametrize.register_parametrization(net, "weight", Symmetric())
    out = trained(t, net, data(t, 2, 3))
    net.weight = data(t, 3, 3)
    copied = copy.deepcopy(net)(data(t, 2, 3))
    with t.nn.utils.parametrize.cached():
        one = net.weight is net.weight
    t.nn.utils.parametrize.remove_parametrizations(net, "weight")
    return [out, one, net.weight is net.weight, type(net).__name__, dict(net.state_dict()), copied]


def several(t):
    class Twice(t.nn.Module):
        def forward(self, x):
            return 2 * x

    class Sum(t.nn.Module):
        def forward(self, a, b):
            return a + b

        def right_inverse(self, x):
            return x / 2, x / 2

    net = t.nn.Linear(3, 2)
    p = t.nn.utils.parametrize
    p.register_parametrization(net, "weight", Sum())
    p.register_parametrization(net, "weight", Twice())
    seen = [p.is_parametrized(net), p.is_parametrized(net, "bias"), trained(t, net, data(t, 2, 3))]
    p.remove_parametrizations(net, "weight", leave_parametrized=True)
    return [seen, dict(net.state_dict()), p.type_before_parametrizations(net).__name__]


def weight_norm(t):
    net = t.nn.utils.parametrizations.weight_norm(t.nn.Linear(3, 4))
    out = trained(t, net, data(t, 2, 3))
    old = {"weight_g": data(t, 4, 1), "weight_v": data(t, 4, 3, seed=1), "bias": data(t, 4)}
    net.load_state_dict(old)
    return [out, net(data(t, 2, 3))]


def weight_norm_whole(t):
    return trained(t, t.nn.utils.parametrizations.weight_norm(t.nn.Linear(3, 4), dim=None), data(t, 2, 3))


def old_weight_norm(t):
    net = t.nn.utils.weight_norm(t.nn.Linear(3, 4), dim=1)
    out = trained(t, net, data(t, 2, 3))
    t.nn.utils.remove_weight_norm(net)
    return [out, dict(net.state_dict()), net(data(t, 2, 3))]


def spectral_norm(t):
    net = t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(3, 4))
    out = trained(t, net, data(t, 2, 3))
    return [out, net.eval()(data(t, 2, 3))]


def old_spectral_norm(t):
    net = t.nn.utils.spectral_norm(t.nn.Linear(3, 4), n_power_iterations=2)
    out = trained(t, net, data(t, 2, 3))
    t.nn.utils.remove_spectral_norm(net)
    return [out, dict(net.state_dict())]


def orthogonal(map, rows, columns, trivial=True):
    def program(t):
        net = t.nn.utils.parametrizations.orthogonal(
            t.nn.Linear(columns, rows), orthogonal_map=map, use_trivialization=trivial
        )
        return trained(t, net, data(t, 2, columns))

    program.__name__ = f"orthogonal_{map}_{rows}_{columns}_{trivial}"
    return program


def functional_call(t):
    net = t.nn.Sequential(t.nn.Linear(3, 3), t.nn.Tanh())
    given = {"0.weight": data(t, 3, 3).requires_grad_()}
    y = t.nn.utils.stateless.functional_call(net, given, (data(t, 2, 3),))
    y.sum().backward()
    return [y, given["0.weight"].grad, net[0].weight.grad is None, net(data(t, 2, 3))]


def tied(t):
    net = t.nn.Sequential(t.nn.Linear(3, 3), t.nn.Linear(3, 3))
    net[1].weight = net[0].weight
    return t.nn.utils.stateless.functional_call(net, {"0.weight": data(t, 3, 3)}, data(t, 2, 3))


def skip_init(t):
    before = t.rand(2)
    layer = t.nn.utils.skip_init(t.nn.Linear, 3, 2)
    return [before, t.rand(2), tuple(layer.weight.shape), repr(layer)]


def lazy_linear(t):
    net = t.nn.Sequential(t.nn.LazyLinear(4), t.nn.ReLU(), t.nn.LazyLinear(2, bias=False))
    before = [repr(net), [repr(v) for v in net.state_dict().values()], net[0].has_uninitialized_params()]
    net.double().float()
    y = net(data(t, 5, 3))
    fresh = t.nn.LazyLinear(4)
    fresh.load_state_dict(net[0].state_dict())
    return [before, y, repr(net), dict(net.state_dict()), fresh.weight, fresh(data(t, 5, 3)), repr(fresh)]


def lazy_convolutions(t):
    def build():
        return t.nn.Sequential(
            t.nn.LazyConv2d(4, 3, padding=1), t.nn.LazyBatchNorm2d(), t.nn.LazyConvTranspose2d(2, 2, bias=False),
            t.nn.LazyInstanceNorm2d(affine=False, track_running_stats=False),
        )  # fmt: skip

    net, twin, x = build(), build(), data(t, 2, 3, 5, 5)
    before = [repr(net), [repr(v) for v in net.state_dict().values()]]
    y = net(x)
    (y * data(t, *y.shape)).sum().backward()
    twin.load_state_dict(net.state_dict())
    return [before, y, repr(net), dict(net.state_dict()), [p.grad for p in net.parameters()], twin(x)]


def pruning(t):
    p = importlib.import_module(f"{t.__name__}.nn.utils.prune")  # PyTorch does not import it by itself
    seen = []
    for prune in (
        lambda m: p.l1_unstructured(m, "weight", 0.4),
        lambda m: p.random_unstructured(m, "weight", 5),
        lambda m: p.ln_structured(m, "weight", 0.5, 2, 0),
        lambda m: p.random_structured(m, "weight", 1, 1),
        lambda m: p.identity(m, "bias"),
        lambda m: p.l1_unstructured(p.ln_structured(m, "weight", 1, 1, -1), "weight", 2),
        lambda m: p.global_unstructured([(m, "weight"), (m, "bias")], p.L1Unstructured, amount=0.3),
    ):
        net = t.nn.Linear(4, 4)
        prune(net)
        seen += [p.is_pruned(net), trained(t, net, data(t, 2, 4))]
        name = "bias" if hasattr(net, "bias_mask") else "weight"
        p.remove(net, name)
        seen.append(dict(net.state_dict()))
    return seen


def refusals(t):
    seen = []
    for call in (
        lambda: t.nn.utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "wait", t.nn.Identity()),
        lambda: t.nn.utils.parametrize.remove_parametrizations(t.nn.Linear(2, 2), "weight"),
        lambda: t.nn.utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "weight", t.nn.Flatten(0)),
        lambda: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 2), "bias"),
        lambda: t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(2, 2), n_power_iterations=0),
        lambda: t.nn.utils.remove_weight_norm(t.nn.Linear(2, 2)),
        lambda: t.nn.utils.stateless._functional_call(t.nn.Linear(2, 2), {"x": t.ones(1)}, t.ones(2), strict=True),
        lambda: t.nn.LazyLinear(2).weight.shape,
        lambda: t.nn.LazyLinear(2).weight + 1,
    ):
        try:
            call()
        except Exception as error:
            kinds = [k.__name__ for k in (RuntimeError, ValueError, TypeError, KeyError) if isinstance(error, k)]
            seen.append((kinds, str(error)[:44]))
    return seen


PROGRAMS = [
    symmetric, several, weight_norm, weight_norm_whole, old_weight_norm, spectral_norm, old_spectral_norm,
    functional_call, tied, skip_init, lazy_linear, lazy_convolutions, pruning, refusals,
    orthogonal("matrix_exp", 3, 3), orthogonal("cayley", 3, 3), orthogonal("householder", 4, 3),
    orthogonal("householder", 3, 4), orthogonal("cayley", 4, 2), orthogonal("householder", 4, 3, False),
    orthogonal("matrix_exp", 3, 4),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    results = []
    for t in (torch, clarion):
        t.manual_seed(11)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(plain(t, program(t)))
    same(results[1], results[0])
