"""Convolutional networks: what can be said of their layers without PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
from clarion import nn
from clarion.nn import functional as F


def images(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@pytest.mark.smoke
def test_a_network_learns():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 2)
    )
    x = images(32, 1, 8, 8)
    y = (x.mean((1, 2, 3)) > 0).long()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    first = None
    for _ in range(30):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        first = loss.item() if first is None else first
    assert loss.item() < first / 3


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_large_batches_are_cut_into_blocks(groups):
    """A batch computed at once is its images computed one by one, forward and backward."""
    layer = nn.Conv2d(4, 8, 3, padding=1, groups=groups)
    x = images(9, 4, 40, 40)
    whole = x.clone().requires_grad_()
    out = layer(whole)
    out.square().sum().backward()
    weight, layer.weight.grad = layer.weight.grad, None
    single = x.clone().requires_grad_()
    parts = [layer(single[i : i + 1]) for i in range(9)]
    sum(part.square().sum() for part in parts).backward()
    np.testing.assert_allclose(torch.cat(parts).detach().numpy(), out.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(single.grad.numpy(), whole.grad.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(layer.weight.grad.numpy(), weight.numpy(), rtol=1e-3, atol=1e-2)


def test_inputs_of_any_strides():
    layer = nn.Conv2d(3, 2, 3, padding=1)
    x = images(2, 5, 4, 3)
    np.testing.assert_allclose(
        layer(x.permute(0, 3, 1, 2)).detach().numpy(),
        layer(x.permute(0, 3, 1, 2).contiguous()).detach().numpy(),
        rtol=1e-5,
        atol=1e-6,
    )


def test_only_what_is_needed_is_saved():
    x = images(1, 2, 4, 4)
    out = F.conv2d(x, torch.zeros(3, 2, 3, 3, requires_grad=True))
    assert out.grad_fn._saved_input is x
    pooled = F.max_pool2d(x.requires_grad_(), 2)
    assert pooled.grad_fn.name() == "MaxPool2DWithIndicesBackward0"


def test_running_statistics():
    norm = nn.BatchNorm1d(2, momentum=0.5)
    x = torch.tensor([[0.0, 2.0], [2.0, 6.0]])
    norm(x)
    np.testing.assert_allclose(norm.running_mean.numpy(), [0.5, 2.0])
    np.testing.assert_allclose(norm.running_var.numpy(), [0.5 + 1.0, 0.5 + 4.0], rtol=1e-5)  # unbiased: 2 and 8
    assert norm.num_batches_tracked.item() == 1
    norm.eval()
    before = norm.running_mean.clone()
    norm(x)
    assert norm.running_mean.equal(before)
    assert norm.num_batches_tracked.item() == 1


def test_the_mean_over_all_batches():
    norm = nn.BatchNorm1d(1, momentum=None)
    batches = [images(5, 1, seed=i) for i in range(3)]
    for batch in batches:
        norm(batch)
    mean = np.mean([b.numpy().mean() for b in batches])
    np.testing.assert_allclose(norm.running_mean.numpy(), [mean], rtol=1e-5, atol=1e-7)


def test_running_statistics_move_on_while_a_graph_waits():
    """The gradient of an evaluated batch is of the statistics it was evaluated with."""
    norm = nn.BatchNorm1d(2).eval()
    x = images(4, 2).requires_grad_()
    out = norm(x)
    norm.train()(images(4, 2, seed=1) * 5)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 / np.sqrt(1 + 1e-5), rtol=1e-6)


def test_state_of_the_first_version():
    norm = nn.BatchNorm2d(3)
    state = {k: v for k, v in norm.state_dict().items() if k != "num_batches_tracked"}
    assert not norm.load_state_dict(state).missing_keys


def test_one_value_per_channel():
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training, got input size"):
        nn.BatchNorm1d(3)(torch.zeros(1, 3))
    nn.BatchNorm1d(3).eval()(torch.zeros(1, 3))


def test_unpooling_undoes_pooling():
    x = images(2, 3, 6, 6).abs()
    values, places = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, places, 2)
    assert F.max_pool2d(back, 2).equal(values)
    assert bool(((back == x) | (back == 0)).all())


def test_folding_counts_windows():
    ones = torch.ones(1, 1, 4, 4)
    counts = F.fold(F.unfold(ones, 2), (4, 4), 2)[0, 0]
    np.testing.assert_array_equal(counts.numpy(), np.outer([1, 2, 2, 1], [1, 2, 2, 1]))


def test_convolution_is_unfold_and_a_product():
    x, weight = images(2, 3, 6, 5), images(4, 3, 3, 2, seed=1)
    columns = F.unfold(x, (3, 2), stride=2, padding=1)
    product = (weight.reshape(4, -1) @ columns).reshape(2, 4, 3, 3)
    expected = F.conv2d(x, weight, stride=2, padding=1)
    np.testing.assert_allclose(product.numpy(), expected.numpy()[:, :, :3, :3], rtol=1e-4, atol=1e-5)


def test_shuffles_undo_each_other():
    x = images(2, 8, 3, 3)
    assert F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).equal(x)
    assert F.channel_shuffle(F.channel_shuffle(x, 2), 4).equal(x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_layers(dtype):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(4, 2, 1)).to(dtype)
    out = net(images(2, 2, 6, 6).to(dtype))
    out.sum().backward()
    assert out.dtype is dtype
    assert all(p.grad.dtype is dtype for p in net.parameters())
    assert net[1].running_mean.dtype is dtype
