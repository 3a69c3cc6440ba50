"""Modules converted, registered and replicated: what is kept, what is refused."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion import nn
from clarion.nn.modules import module as modules


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((torch.device("cpu"), True), {}),
        ((None, True), {}),
        (([],), {}),
        (({},), {"non_blocking": True}),
        ((torch.long,), {}),
        ((torch.tensor(3),), {}),
        ((torch.device("cpu"), torch.tensor(3)), {"non_blocking": True}),
    ],
)
def test_to_refuses_what_it_does_not_take(args, kwargs):
    with pytest.raises(TypeError):
        nn.Linear(2, 2).to(*args, **kwargs)


def test_to_does_not_copy():
    with pytest.raises(RuntimeError, match="does not accept copy"):
        nn.Linear(2, 2).to("cpu", copy=True)


def test_memory_format_is_for_images_alone():
    net = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
    assert net[0].weight.stride() == (36, 1, 12, 4)
    assert net[0].bias.stride() == (1,)
    image = torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last).requires_grad_()
    out = net(image)
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert not out.is_contiguous()
    out.sum().backward()
    assert image.grad.is_contiguous(memory_format=torch.channels_last)
    assert net[0].weight.grad.stride() == (36, 1, 12, 4)


def test_parameters_can_be_made_anew_on_conversion():
    layer = nn.Linear(2, 2)
    before = layer.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        layer.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert before.dtype is torch.float32
    assert layer.weight is not before


def test_registration_is_told_and_may_be_changed():
    told = []
    handles = [
        modules.register_module_parameter_registration_hook(lambda m, name, p: told.append(name)),
        modules.register_module_buffer_registration_hook(lambda m, name, b: told.append(name)),
        modules.register_module_module_registration_hook(lambda m, name, child: nn.Identity()),
    ]
    norm, outer = nn.BatchNorm1d(2), nn.Module()
    outer.child = nn.Linear(1, 1)
    for handle in handles:
        handle.remove()
    assert told == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked", "weight", "bias"]
    assert type(outer.child) is nn.Identity
    assert len(list(norm.buffers())) == 3


def test_handles_forget_all_about_their_hook():
    layer = nn.Linear(1, 1)
    handle = layer.register_forward_hook(lambda *_: None, with_kwargs=True, always_call=True)
    assert handle.hooks_dict_ref() is layer._forward_hooks
    handle.remove()
    assert not layer._forward_hooks
    assert not layer._forward_hooks_with_kwargs
    assert not layer._forward_hooks_always_called


def test_replicas_have_the_parameters_they_are_given():
    weights = nn.ParameterList([nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(2))])
    replica = weights._replicate_for_data_parallel()
    for name, parameter in weights.named_parameters():
        setattr(replica, name, parameter.view_as(parameter))
    assert [copy._base is own for copy, own in zip(replica, weights, strict=True)] == [True, True]


def test_buffers_may_be_objects_that_take_calls_over():
    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError

    module, value = nn.Module(), Like()
    module.register_buffer("kept", value)
    assert module.get_buffer("kept") is value


@pytest.mark.parametrize("kind", [torch.int32, torch.uint8, torch.bool])
def test_pools_refuse_integers(kind):
    image = torch.ones(1, 1, 4, 4, dtype=kind)
    for pool in (nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(2), nn.AdaptiveMaxPool2d(2)):
        with pytest.raises(NotImplementedError, match="not implemented for"):
            pool(image)


def test_attention_over_no_images():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    for training in (True, False):
        layer.train(training)
        assert layer(torch.zeros(0, 3, 4)).shape == (0, 3, 4)
        assert layer(torch.zeros(2, 0, 4)).shape == (2, 0, 4)
