"""Modules against PyTorch's: the same seed gives the same parameters, text, outputs, gradients and state."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def f(*shape):
    return lambda rng: rng.standard_normal(shape).astype(np.float32)


def unit(*shape):
    return lambda rng: rng.uniform(0.05, 0.95, shape).astype(np.float32)


def classes(n, *shape):
    return lambda rng: rng.integers(0, n, shape)


MODULES = {
    "Linear": (lambda t: t.nn.Linear(5, 3), [f(4, 5)]),
    "Linear-no-bias": (lambda t: t.nn.Linear(5, 3, bias=False), [f(2, 4, 5)]),
    "Linear-double": (lambda t: t.nn.Linear(5, 3, dtype=t.float64), [lambda r: r.standard_normal((4, 5))]),
    "Identity": (lambda t: t.nn.Identity(54, unused=1), [f(3)]),
    "Bilinear": (lambda t: t.nn.Bilinear(3, 4, 2), [f(5, 3), f(5, 4)]),
    "Embedding": (lambda t: t.nn.Embedding(10, 4, padding_idx=2), [classes(10, 3, 5)]),
    "Embedding-max-norm": (lambda t: t.nn.Embedding(10, 4, max_norm=1.0, scale_grad_by_freq=True), [classes(10, 7)]),
    "LayerNorm": (lambda t: t.nn.LayerNorm(6), [f(4, 6)]),
    "LayerNorm-2d": (lambda t: t.nn.LayerNorm((3, 6), eps=1e-3, bias=False), [f(4, 3, 6)]),
    "LayerNorm-plain": (lambda t: t.nn.LayerNorm(6, elementwise_affine=False), [f(4, 6)]),
    "RMSNorm": (lambda t: t.nn.RMSNorm(6), [f(4, 6)]),
    "RMSNorm-eps": (lambda t: t.nn.RMSNorm([3, 6], eps=0.1), [f(4, 3, 6)]),
    "Dropout": (lambda t: t.nn.Dropout(0.3), [f(40, 5)]),
    "Dropout1d": (lambda t: t.nn.Dropout1d(0.3), [f(10, 5, 3)]),
    "Dropout2d": (lambda t: t.nn.Dropout2d(0.3), [f(10, 5, 3, 2)]),
    "Dropout-eval": (lambda t: t.nn.Dropout(0.3).eval(), [f(4, 5)]),
    "AlphaDropout": (lambda t: t.nn.AlphaDropout(0.3), [f(10, 5)]),
    "Flatten": (lambda t: t.nn.Flatten(), [f(2, 3, 4)]),
    "Unflatten": (lambda t: t.nn.Unflatten(1, (2, 3)), [f(2, 6)]),
    "CosineSimilarity": (lambda t: t.nn.CosineSimilarity(), [f(3, 4), f(3, 4)]),
    "PairwiseDistance": (lambda t: t.nn.PairwiseDistance(), [f(3, 4), f(3, 4)]),
    "Sequential": (
        lambda t: t.nn.Sequential(t.nn.Linear(4, 8), t.nn.ReLU(), t.nn.Dropout(0.2), t.nn.Linear(8, 2)),
        [f(5, 4)],
    ),
    "MSELoss": (lambda t: t.nn.MSELoss(), [f(4, 5), f(4, 5)]),
    "L1Loss": (lambda t: t.nn.L1Loss(reduction="sum"), [f(4, 5), f(4, 5)]),
    "SmoothL1Loss": (lambda t: t.nn.SmoothL1Loss(beta=0.5), [f(4, 5), f(4, 5)]),
    "HuberLoss": (lambda t: t.nn.HuberLoss(delta=0.5), [f(4, 5), f(4, 5)]),
    "SoftMarginLoss": (lambda t: t.nn.SoftMarginLoss(), [f(4, 5), f(4, 5)]),
    "CrossEntropyLoss": (lambda t: t.nn.CrossEntropyLoss(), [f(4, 5), classes(5, 4)]),
    "CrossEntropyLoss-weight": (
        lambda t: t.nn.CrossEntropyLoss(weight=t.tensor([1.0, 2, 3, 4, 5]), label_smoothing=0.1, ignore_index=1),
        [f(4, 5, 2), classes(5, 4, 2)],
    ),
    "NLLLoss": (lambda t: t.nn.NLLLoss(), [f(4, 5), classes(5, 4)]),
    "KLDivLoss": (lambda t: t.nn.KLDivLoss(reduction="batchmean"), [f(4, 5), unit(4, 5)]),
    "BCELoss": (lambda t: t.nn.BCELoss(), [unit(4, 5), unit(4, 5)]),
    "BCEWithLogitsLoss": (lambda t: t.nn.BCEWithLogitsLoss(pos_weight=t.tensor(3.0)), [f(4, 5), unit(4, 5)]),
}
ACTIVATIONS = {
    "ReLU": (), "ReLU6": (), "Sigmoid": (), "Tanh": (), "SiLU": (), "Mish": (), "SELU": (), "Hardsigmoid": (),
    "Hardswish": (), "ELU": (0.5,), "CELU": (0.5,), "LeakyReLU": (0.2,), "RReLU": (), "Hardtanh": (-0.5, 0.7),
    "Threshold": (0.1, 20.0), "GELU": ("tanh",), "Softplus": (2.0, 3.0), "PReLU": (), "Hardshrink": (0.3,),
    "Softshrink": (0.3,), "LogSigmoid": (), "Softsign": (), "Tanhshrink": (), "GLU": (1,), "Softmax": (1,),
    "Softmin": (0,), "LogSoftmax": (-1,),
}  # fmt: skip
for _name, _args in ACTIVATIONS.items():
    MODULES[_name] = (lambda t, n=_name, a=_args: getattr(t.nn, n)(*a), [f(4, 6)])
MODULES["ReLU-inplace"] = (lambda t: t.nn.ReLU(inplace=True), [f(4, 6)])


def run(t, make, inputs):
    t.manual_seed(3)
    module = make(t)
    rng = np.random.default_rng(0)
    values = [t.from_numpy(each(rng)) for each in inputs]
    if values[0].is_floating_point():
        values[0].requires_grad_()
    fed = [values[0].clone() if "inplace" in repr(module) else values[0], *values[1:]]
    out = module(*fed)
    out.sum().backward()
    return module, out, values


def as_numpy(tensor):
    return tensor.detach().numpy()


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    make, inputs = MODULES[name]
    theirs, expected, their_inputs = run(torch, make, inputs)
    ours, actual, our_inputs = run(clarion, make, inputs)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(
            as_numpy(ours.state_dict()[key]), as_numpy(value), rtol=1e-6 if "max_norm" in repr(ours) else 0, err_msg=key
        )
    np.testing.assert_allclose(as_numpy(actual), as_numpy(expected), rtol=2e-5, atol=2e-6)
    for a, b in zip([*our_inputs[:1], *ours.parameters()], [*their_inputs[:1], *theirs.parameters()], strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            np.testing.assert_allclose(as_numpy(a.grad), as_numpy(b.grad), rtol=2e-5, atol=2e-6)
    again = pickle.loads(pickle.dumps(copy.deepcopy(ours)))
    assert repr(again) == repr(ours)


INITS = {
    "uniform_": lambda i, x: i.uniform_(x, -1, 2),
    "normal_": lambda i, x: i.normal_(x, 1.0, 0.5),
    "constant_": lambda i, x: i.constant_(x, 3.5),
    "ones_": lambda i, x: i.ones_(x),
    "zeros_": lambda i, x: i.zeros_(x),
    "eye_": lambda i, x: i.eye_(x),
    "xavier_uniform_": lambda i, x: i.xavier_uniform_(x, gain=2.0),
    "xavier_normal_": lambda i, x: i.xavier_normal_(x),
    "kaiming_uniform_": lambda i, x: i.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda i, x: i.kaiming_normal_(x, a=0.1),
    "orthogonal_": lambda i, x: i.orthogonal_(x, gain=1.5),
    "sparse_": lambda i, x: i.sparse_(x, 0.3),
    "trunc_normal_": lambda i, x: i.trunc_normal_(x, std=2.0, a=-1.0, b=1.5),
    "trunc_normal_-tail": lambda i, x: i.trunc_normal_(x, mean=0.0, std=1.0, a=1.0, b=2.0),
}


@pytest.mark.parametrize("name", INITS)
@pytest.mark.parametrize("shape", [(7, 5), (3, 9)])
def test_init(name, shape):
    results = []
    for t in (torch, clarion):
        t.manual_seed(11)
        x = t.empty(*shape, requires_grad=True)
        assert INITS[name](t.nn.init, x) is x
        results.append((as_numpy(x), t.rand(1).item()))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-5, atol=1e-6)
    assert results[0][1] == results[1][1]  # the generator stands at the same place


DRAWN = (
    "uniform_ normal_ xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_ trunc_normal_".split()
)


@pytest.mark.parametrize("name", DRAWN)
def test_init_with_a_generator(name):
    results = []
    for t in (torch, clarion):
        generator = t.Generator()
        generator.manual_seed(11)
        x = getattr(t.nn.init, name)(t.empty(7, 5), generator=generator)
        results.append((as_numpy(x), t.rand(1, generator=generator).item()))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-5, atol=1e-6)
    assert results[0][1] == results[1][1]


def test_dirac():
    for t in (torch, clarion):
        x = t.empty(4, 2, 3, 3)
        t.nn.init.dirac_(x, groups=2)
        if t is torch:
            expected = as_numpy(x)
    assert np.array_equal(as_numpy(x), expected)


@pytest.mark.parametrize("gain", [("relu",), ("leaky_relu", 0.2), ("tanh",), ("selu",), ("conv2d",)])
def test_gain(gain):
    assert clarion.nn.init.calculate_gain(*gain) == torch.nn.init.calculate_gain(*gain)


def nested(t):
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = t.nn.ModuleList([t.nn.Linear(3, 3) for _ in range(3)] + [t.nn.ReLU()])
            self.table = t.nn.ModuleDict({"a": t.nn.Linear(3, 2), "b": t.nn.Identity()})
            self.extra = t.nn.ParameterList([t.zeros(2), t.ones(3, 1)])
            self.named = t.nn.ParameterDict({"left": t.zeros(2), "right": t.ones(3)})
            self.scale = t.nn.Parameter(t.ones(2))
            self.register_buffer("count", t.zeros(1))
            self.register_buffer("scratch", t.zeros(1), persistent=False)
            self.tied = self.layers[0]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.table["a"](x) * self.scale

    t.manual_seed(0)
    return Net()


def test_nested_module():
    theirs, ours = nested(torch), nested(clarion)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    assert [n for n, _ in ours.named_buffers()] == [n for n, _ in theirs.named_buffers()]
    assert [n for n, _ in ours.named_children()] == [n for n, _ in theirs.named_children()]
    for net in (ours, theirs):
        net.double().eval().requires_grad_(False)
    assert str(ours.scale.dtype) == str(theirs.scale.dtype) == "torch.float64"
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata


def message(action):
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        action()
    return type(caught.value), str(caught.value)


MISTAKES = {
    "missing": lambda t, m: m.load_state_dict({"weight": t.zeros(3, 5)}),
    "unexpected": lambda t, m: m.load_state_dict({**m.state_dict(), "other": t.zeros(1)}),
    "size": lambda t, m: m.load_state_dict({"weight": t.zeros(2, 5), "bias": t.zeros(3)}),
    "not-dict": lambda t, m: m.load_state_dict([1]),
    "attribute": lambda t, m: m.nothing,
    "parameter-type": lambda t, m: setattr(m, "weight", t.zeros(3)),
    "register-type": lambda t, m: m.register_parameter("new", t.zeros(3)),
    "register-name": lambda t, m: m.register_parameter("a.b", None),
    "register-twice": lambda t, m: m.register_parameter("in_features", None),
    "buffer-type": lambda t, m: m.register_buffer("b", 3),
    "buffer-empty": lambda t, m: m.register_buffer("", None),
    "module-type": lambda t, m: m.add_module("b", 3),
    "train": lambda t, m: m.train(3),
    "to-int": lambda t, m: m.to(t.int64),
    "non-leaf": lambda t, m: setattr(m, "p", t.nn.Parameter(t.zeros(2)) * 1) or m.register_parameter("q", m.p),
    "submodule": lambda t, m: m.get_submodule("a.b"),
    "init-args": lambda t, m: t.nn.Module(1),
    "init-kwargs": lambda t, m: t.nn.Module(a=1),
    "index": lambda t, m: t.nn.Sequential(m)[3],
    "list-index": lambda t, m: t.nn.ModuleList([m])[3],
    "forward": lambda t, m: t.nn.Module()(1),
    "dropout": lambda t, m: t.nn.Dropout(1.5),
    "heads": lambda t, m: t.nn.MultiheadAttention(5, 2),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    expected, text = message(lambda: MISTAKES[name](torch, torch.nn.Linear(5, 3)))
    actual, ours = message(lambda: MISTAKES[name](clarion, clarion.nn.Linear(5, 3)))
    assert issubclass(actual, expected)
    theirs = text.split("\n\n")[0]
    assert ours.startswith(theirs[:300])


def test_assign_and_extra_state():
    for t in (torch, clarion):

        class Extra(t.nn.Linear):
            def get_extra_state(self):
                return {"n": 7}

            def set_extra_state(self, state):
                self.n = state["n"]

        a, b = Extra(2, 2), Extra(2, 2)
        assert list(a.state_dict()) == ["weight", "bias", "_extra_state"]
        assert str(b.load_state_dict(a.state_dict(), assign=True)) == "<All keys matched successfully>"
        assert b.n == 7
        assert b.weight.data_ptr() == a.weight.data_ptr()
        assert isinstance(b.weight, t.nn.Parameter)


def test_hooks_run_in_the_same_order():
    logs = []
    for t in (torch, clarion):
        log = []
        t.manual_seed(0)
        net = t.nn.Sequential(t.nn.Linear(3, 3), t.nn.ReLU(), t.nn.Linear(3, 1))
        for name, module in net.named_modules():
            module.register_forward_pre_hook(lambda m, a, n=name: log.append(("pre", n, len(a))))
            module.register_forward_hook(lambda m, a, o, n=name: log.append(("after", n, tuple(o.shape))))
            module.register_full_backward_pre_hook(
                lambda m, g, n=name: log.append(("bpre", n, [round(x.sum().item(), 4) for x in g]))
            )
            module.register_full_backward_hook(
                lambda m, gi, go, n=name: log.append(
                    ("back", n, [None if x is None else round(x.sum().item(), 4) for x in (*gi, *go)])
                )
            )
        x = t.from_numpy(np.ones((2, 3), np.float32)).requires_grad_()
        net(x).sum().backward()
        log.append(np.round(as_numpy(x.grad), 5).tolist())
        logs.append(log)
    assert logs[0] == logs[1]


def test_hooks_can_change_things():
    results = []
    for t in (torch, clarion):
        t.manual_seed(0)
        layer = t.nn.Linear(3, 2)
        layer.register_forward_pre_hook(lambda m, a: (a[0] * 2,))
        layer.register_forward_hook(lambda m, a, o: o + 1)
        layer.register_full_backward_pre_hook(lambda m, g: (g[0] * 3,))
        layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 5,))
        layer.register_forward_pre_hook(lambda m, a, k: (a, {**k}), with_kwargs=True)
        x = t.ones(2, 3, requires_grad=True)
        y = layer(x)
        y.sum().backward()
        results.append((as_numpy(y), as_numpy(x.grad), as_numpy(layer.weight.grad)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5)
