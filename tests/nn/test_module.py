"""Modules by themselves: what holds without PyTorch to compare with."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import clarion as torch
from clarion import nn


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def test_registration():
    module = nn.Module()
    with pytest.raises(KeyError):
        module.register_buffer("a.b", None)
    module.weight = nn.Parameter(torch.ones(2))
    assert list(module._parameters) == ["weight"]
    with pytest.raises(TypeError, match=r"cannot assign 'torch\.FloatTensor' as parameter 'weight'"):
        module.weight = torch.ones(2)
    module.weight = None
    assert module.weight is None
    assert list(module.parameters()) == []
    del module.weight
    module.weight = torch.ones(2)  # now a plain attribute
    assert "weight" in module.__dict__
    module.weight = nn.Parameter(torch.zeros(1))  # takes the attribute's place
    assert "weight" not in module.__dict__
    module.register_buffer("seen", torch.zeros(1), persistent=False)
    module.seen = torch.ones(1)
    assert module.seen.item() == 1
    assert list(module.state_dict()) == ["weight"]


def test_assignment_before_init():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early()


def test_parameter():
    p = nn.Parameter(torch.tensor([1.0, 2.0]))
    assert repr(p) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    of_a_class = type("Scale", (nn.Parameter,), {})(torch.tensor([1.0, 2.0]))
    assert repr(of_a_class) == "Parameter containing:\nParameter(Scale([1., 2.], requires_grad=True))"
    assert isinstance(p, torch.Tensor)
    assert p.requires_grad
    assert p.is_leaf
    assert type(p * 2) is torch.Tensor
    assert type(p.data) is torch.Tensor
    assert isinstance(copy.deepcopy(p), nn.Parameter)
    again = pickle.loads(pickle.dumps(p))
    assert isinstance(again, nn.Parameter)
    assert again.tolist() == [1.0, 2.0]
    assert not isinstance(torch.ones(1), nn.Parameter)
    shared = torch.zeros(2)
    nn.Parameter(shared).data[0] = 5.0
    assert shared.tolist() == [5.0, 0.0]


def test_tied_parameters_count_once_and_stay_tied():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert len(list(net.parameters())) == 3
    twin = copy.deepcopy(net)
    assert twin[0].weight is twin[1].weight
    assert twin[0].weight is not net[0].weight


def test_pickle_keeps_everything():
    net = small()
    net.register_buffer("count", torch.tensor(3))
    net[0].weight.grad = torch.ones(4, 3)
    again = pickle.loads(pickle.dumps(net))
    x = torch.ones(5, 3)
    assert np.array_equal(again(x).detach().numpy(), net(x).detach().numpy())
    assert again.count.item() == 3


def test_conversion_keeps_identity():
    net = small()
    weight = net[0].weight
    net(torch.ones(1, 3)).sum().backward()
    net.double()
    assert net[0].weight is weight
    assert weight.dtype == torch.float64
    assert weight.grad.dtype == torch.float64
    net.to(torch.float32)
    assert weight.dtype == torch.float32


def test_zero_grad_and_freeze():
    net = small()
    net(torch.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net[0].weight.grad.abs().sum().item() == 0
    net.zero_grad()
    assert net[0].weight.grad is None
    net.requires_grad_(False)
    assert not net(torch.ones(1, 3)).requires_grad


def test_state_dict_shares_memory_and_loads():
    net, twin = small(), small()
    state = net.state_dict()
    assert isinstance(state, OrderedDict)
    assert not state["0.weight"].requires_grad
    with torch.no_grad():
        net[0].weight.fill_(7.0)
    assert state["0.weight"][0, 0].item() == 7.0
    result = twin.load_state_dict(state)
    assert result.missing_keys == []
    assert twin[0].weight[0, 0].item() == 7.0
    result = twin.load_state_dict({"0.weight": torch.zeros(4, 3), "more": torch.ones(1)}, strict=False)
    assert result.missing_keys == ["0.bias", "2.weight", "2.bias"]
    assert result.unexpected_keys == ["more"]


def test_containers():
    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    layers.insert(1, nn.ReLU())
    del layers[0]
    assert [type(m).__name__ for m in layers] == ["ReLU", "Linear", "Linear"]
    assert list(layers._modules) == ["0", "1", "2"]
    assert isinstance(layers[1:], nn.ModuleList)
    net = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.Tanh()))
    assert net.first is net[0]
    net += nn.Sequential(nn.Sigmoid())
    assert len(net * 2) == 6
    assert type(net.pop(1)) is nn.Tanh
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Tanh()
    assert list(table) == ["a", "b"]
    assert "a" in table
    params = nn.ParameterDict({"x": torch.zeros(1)})
    assert isinstance(params["x"], nn.Parameter)
    assert params.pop("x").item() == 0
    assert len(list(params.parameters())) == 0


def test_hooks():
    layer = nn.Linear(2, 2)
    seen = []
    handle = layer.register_forward_hook(lambda m, args, out: seen.append(out.shape))
    layer.register_forward_hook(lambda m, args, out: seen.append("first"), prepend=True)
    layer(torch.ones(1, 2))
    assert seen == ["first", (1, 2)]
    handle.remove()
    layer(torch.ones(1, 2))
    assert seen == ["first", (1, 2), "first"]


def test_always_called_hook_runs_when_forward_fails():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    seen = []
    module = Fails()
    module.register_forward_hook(lambda m, a, o: seen.append(o), always_call=True)
    with pytest.raises(ValueError, match="no"):
        module(1)
    assert seen == [None]


def test_global_hook():
    from clarion.nn.modules.hooks import register_module_forward_hook

    seen = []
    handle = register_module_forward_hook(lambda m, a, o: seen.append(type(m).__name__))
    small()(torch.ones(1, 3))
    handle.remove()
    small()(torch.ones(1, 3))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential"]


def test_backward_hook_without_input_gradients():
    layer = nn.Linear(2, 2)
    seen = []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].shape)))
    out = layer(torch.ones(1, 2))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        out.sum().backward()
    assert seen == [((None,), (1, 2))]


def test_a_class_of_code_without_a_module():
    """`exec` with globals of one's own gives functions whose `__module__` is None."""
    scope = {"nn": torch.nn}
    exec("class Twice(nn.Module):\n    def forward(self, x):\n        return x * 2\n", scope)
    assert scope["Twice"]()(torch.ones(1)).item() == 2


def test_functions_as_attributes_of_a_class_stay_functions():
    class Net(nn.Module):
        activation, convolution = torch.tanh, nn.functional.conv2d

        def twice(self, x):
            return 2 * x

        def forward(self, x):
            return self.twice(self.activation(self.convolution(x, x, padding=1)))

    class Narrower(Net):
        activation = torch.relu

    x = torch.ones(1, 1, 2, 2)
    assert torch.equal(Net()(x), 2 * torch.tanh(nn.functional.conv2d(x, x, padding=1)))
    assert torch.equal(Narrower()(x), 2 * nn.functional.conv2d(x, x, padding=1))


def test_weights_of_a_recurrent_layer_can_be_set_as_a_list():
    layer = nn.GRU(2, 3)
    layer._flat_weights = [layer._parameters[name] for name in layer._flat_weights_names]
    assert len(list(layer.parameters())) == 4
    double = [2 * weight for weight in layer._flat_weights]
    layer._flat_weights = double
    assert all(a is b for a, b in zip(layer._flat_weights, double, strict=True))
    layer(torch.ones(1, 1, 2))[0].sum().backward()


def test_a_class_that_answers_for_its_attributes_is_asked_for_every_parameter():
    class Asked(nn.Module):
        def __getattr__(self, name):
            found = super().__getattr__(name)
            asked.append(name)
            return found

    asked = []
    x = torch.ones(2, 3, 4)
    layers = [
        (nn.Linear, (4, 2)),
        (nn.Conv1d, (3, 2, 1)),
        (nn.LayerNorm, (4,)),
        (nn.BatchNorm1d, (3,)),
        (nn.GRU, (4, 2)),
    ]
    for kind, sizes in [*layers, (nn.Embedding, (3, 2))]:
        layer = type("Heard", (kind, Asked), {})(*sizes)
        asked.clear()
        layer(torch.tensor([1]) if kind is nn.Embedding else x)
        names = [name for name, _ in (*layer.named_parameters(), *layer.named_buffers())]
        assert set(names) <= set(asked), kind
