"""Layers of convolutional networks against PyTorch's: parameters, text, values, gradients, state, refusals, training."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

IMAGE = (2, 4, 6, 5)
LAYERS = {
    "Conv1d": (lambda n: n.Conv1d(3, 4, 3, 2, 1), (2, 3, 8)),
    "Conv1d-unbatched": (lambda n: n.Conv1d(3, 4, 3, padding="same", dilation=2), (3, 8)),
    "Conv1d-even-same": (lambda n: n.Conv1d(3, 4, 4, padding="same", padding_mode="reflect"), (2, 3, 8)),
    "Conv2d": (lambda n: n.Conv2d(4, 6, 3, padding=1), IMAGE),
    "Conv2d-options": (lambda n: n.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), groups=2, bias=False), IMAGE),
    "Conv2d-circular": (lambda n: n.Conv2d(4, 2, 3, padding=(1, 2), padding_mode="circular"), IMAGE),
    "Conv2d-replicate": (lambda n: n.Conv2d(4, 2, 3, padding=1, padding_mode="replicate"), IMAGE),
    "Conv2d-depthwise": (lambda n: n.Conv2d(4, 8, 3, groups=4), IMAGE),
    "Conv2d-1x1": (lambda n: n.Conv2d(4, 3, 1), IMAGE),
    "Conv3d": (lambda n: n.Conv3d(2, 3, 2, padding="valid"), (1, 2, 3, 4, 3)),
    "ConvTranspose1d": (lambda n: n.ConvTranspose1d(3, 2, 3, 2, 1, 1), (2, 3, 5)),
    "ConvTranspose2d": (lambda n: n.ConvTranspose2d(4, 2, 3, stride=2, groups=2, dilation=2), IMAGE),
    "ConvTranspose3d": (lambda n: n.ConvTranspose3d(2, 3, 2, bias=False), (1, 2, 3, 2, 2)),
    "MaxPool1d": (lambda n: n.MaxPool1d(3, 2, 1), (2, 3, 8)),
    "MaxPool2d": (lambda n: n.MaxPool2d(2), IMAGE),
    "MaxPool2d-options": (lambda n: n.MaxPool2d((3, 2), 2, (1, 0), 1, ceil_mode=True), IMAGE),
    "MaxPool3d": (lambda n: n.MaxPool3d(2, 1, dilation=2), (1, 2, 4, 3, 3)),
    "AvgPool1d": (lambda n: n.AvgPool1d(2), (2, 3, 8)),
    "AvgPool2d": (lambda n: n.AvgPool2d(3, 2, 1, True, False), IMAGE),
    "AvgPool3d": (lambda n: n.AvgPool3d(2, divisor_override=5), (1, 2, 4, 3, 3)),
    "LPPool1d": (lambda n: n.LPPool1d(2, 3), (2, 3, 8)),
    "LPPool2d": (lambda n: n.LPPool2d(2, (2, 3), stride=1), IMAGE),
    "LPPool3d": (lambda n: n.LPPool3d(2, 2), (1, 2, 4, 3, 3)),
    "AdaptiveMaxPool1d": (lambda n: n.AdaptiveMaxPool1d(3), (2, 3, 8)),
    "AdaptiveMaxPool2d": (lambda n: n.AdaptiveMaxPool2d((4, None)), IMAGE),
    "AdaptiveMaxPool3d": (lambda n: n.AdaptiveMaxPool3d(2), (1, 2, 4, 3, 3)),
    "AdaptiveAvgPool1d": (lambda n: n.AdaptiveAvgPool1d(3), (2, 3, 8)),
    "AdaptiveAvgPool2d": (lambda n: n.AdaptiveAvgPool2d((1, 1)), IMAGE),
    "AdaptiveAvgPool3d": (lambda n: n.AdaptiveAvgPool3d((2, 3, None)), (1, 2, 4, 3, 3)),
    "BatchNorm1d": (lambda n: n.BatchNorm1d(4), (6, 4)),
    "BatchNorm1d-long": (lambda n: n.BatchNorm1d(4, momentum=None, bias=False), (3, 4, 5)),
    "BatchNorm2d": (lambda n: n.BatchNorm2d(4, eps=1e-3, momentum=0.3), IMAGE),
    "BatchNorm2d-plain": (lambda n: n.BatchNorm2d(4, affine=False, track_running_stats=False), IMAGE),
    "BatchNorm2d-eval": (lambda n: n.BatchNorm2d(4).eval(), IMAGE),
    "BatchNorm3d": (lambda n: n.BatchNorm3d(2), (2, 2, 3, 2, 2)),
    "InstanceNorm1d": (lambda n: n.InstanceNorm1d(3, affine=True), (2, 3, 8)),
    "InstanceNorm2d": (lambda n: n.InstanceNorm2d(4, track_running_stats=True), IMAGE),
    "InstanceNorm2d-eval": (lambda n: n.InstanceNorm2d(4, affine=True, track_running_stats=True).eval(), IMAGE),
    "InstanceNorm3d": (lambda n: n.InstanceNorm3d(2), (2, 3, 2, 2)),
    "GroupNorm": (lambda n: n.GroupNorm(2, 4), IMAGE),
    "GroupNorm-plain": (lambda n: n.GroupNorm(4, 4, affine=False), IMAGE),
    "LocalResponseNorm": (lambda n: n.LocalResponseNorm(3, 0.1), IMAGE),
    "Upsample": (lambda n: n.Upsample(scale_factor=1.5, mode="bicubic"), IMAGE),
    "Upsample-size": (lambda n: n.Upsample((3, 7), mode="nearest-exact"), IMAGE),
    "UpsamplingNearest2d": (lambda n: n.UpsamplingNearest2d(scale_factor=2), IMAGE),
    "UpsamplingBilinear2d": (lambda n: n.UpsamplingBilinear2d(size=(9, 4)), IMAGE),
    "Fold": (lambda n: n.Fold((4, 3), 2), (2, 8, 6)),
    "Unfold": (lambda n: n.Unfold((2, 3), padding=1, stride=2), IMAGE),
    "PixelShuffle": (lambda n: n.PixelShuffle(2), IMAGE),
    "PixelUnshuffle": (lambda n: n.PixelUnshuffle(2), (2, 3, 4, 6)),
    "ChannelShuffle": (lambda n: n.ChannelShuffle(2), IMAGE),
}  # fmt: skip
for _kind in ("ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad", "ConstantPad"):
    for _n in (1, 2, 3):
        _more = (2.5,) if _kind == "ConstantPad" else ()
        _widths = (1, 2, 0, 1, 1, 0)[: 2 * _n]
        LAYERS[f"{_kind}{_n}d"] = (
            lambda n, name=f"{_kind}{_n}d", w=_widths, m=_more: getattr(n, name)(w, *m),
            (2, 3, 4, 3, 4)[: _n + 2],
        )
    LAYERS[f"{_kind}2d-number"] = (lambda n, name=f"{_kind}2d", m=_more: getattr(n, name)(1, *m), IMAGE)


def run(t, make, shape):
    t.manual_seed(3)
    layer = make(t.nn)
    x = t.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32)).requires_grad_()
    for _ in range(2):  # running statistics move twice
        out = layer(x)
    weights = t.from_numpy(np.random.default_rng(1).standard_normal(tuple(out.shape)).astype(np.float32))
    (out * weights).sum().backward()
    return layer, out, x


def close(a, b, what=""):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-5, atol=5e-6, err_msg=what)


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    (ours, out, x), (theirs, expected, y) = (run(t, *LAYERS[name]) for t in (clarion, torch))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata
    assert type(out.grad_fn).__name__ == type(expected.grad_fn).__name__
    close(out, expected)
    close(x.grad, y.grad, "gradient")
    for (key, a), b in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
        close(a, b, key)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(a.grad, b.grad, "gradient of a parameter")
    assert repr(pickle.loads(pickle.dumps(copy.deepcopy(ours)))) == repr(ours)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unpooling_and_output_sizes(n):
    shape = (2, 3, *(7, 5, 6)[:n])
    answers = []
    for t in (clarion, torch):
        t.manual_seed(0)
        x = t.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32)).requires_grad_()
        values, places = getattr(t.nn, f"MaxPool{n}d")(2, 2, return_indices=True)(x)
        back = getattr(t.nn, f"MaxUnpool{n}d")(2)(values, places, output_size=x.size())
        grown = getattr(t.nn, f"ConvTranspose{n}d")(3, 2, 3, 2)(
            values, output_size=[2 * m + 2 for m in values.shape[2:]]
        )
        (back.sum() + grown.sum()).backward()
        answers.append((values, places, back, grown, x.grad))
    for a, b in zip(*answers, strict=True):
        close(a, b)


def z(t, *shape):
    return t.zeros(shape)


MISTAKES = {
    "channels": lambda t, f: f.conv2d(z(t, 1, 4, 5, 5), z(t, 2, 3, 3, 3)),
    "dimensions": lambda t, f: f.conv2d(z(t, 3, 4), z(t, 2, 4, 3, 3)),
    "weight dimensions": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3)),
    "kernel": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 5, 5)),
    "bias": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), z(t, 3)),
    "stride": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), stride=0),
    "strides": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), stride=(1, 1, 1)),
    "padding": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), padding=-1),
    "padding string": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), padding="foo"),
    "same": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), padding="same", stride=2),
    "dilation": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 2, 3, 3, 3), dilation=0),
    "groups": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 3, 1, 3, 3), groups=2),
    "few groups": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 1, 1, 3, 3), groups=2),
    "transposed channels": lambda t, f: f.conv_transpose2d(z(t, 1, 3, 4, 4), z(t, 4, 3, 3, 3)),
    "output padding": lambda t, f: f.conv_transpose2d(z(t, 1, 3, 4, 4), z(t, 3, 4, 3, 3), output_padding=1),
    "small output": lambda t, f: f.conv_transpose2d(z(t, 1, 3, 4, 4), z(t, 3, 4, 3, 3), padding=5),
    "bias type": lambda t, f: f.conv2d(z(t, 1, 3, 4, 4), z(t, 3, 3, 3, 3), z(t, 3).double()),
    "one value": lambda t, f: f.batch_norm(z(t, 1, 3, 1), z(t, 3), z(t, 3), training=True),
    "one place": lambda t, f: f.instance_norm(z(t, 2, 3, 1)),
    "running mean": lambda t, f: f.batch_norm(z(t, 2, 3, 4), z(t, 4), z(t, 3)),
    "no running mean": lambda t, f: f.batch_norm(z(t, 2, 3, 4), None, None),
    "weight of batch norm": lambda t, f: f.batch_norm(z(t, 2, 3, 4), z(t, 3), z(t, 3), z(t, 2)),
    "types of batch norm": lambda t, f: f.batch_norm(z(t, 2, 3, 4).double(), z(t, 3), z(t, 3)),
    "batch norm dimensions": lambda t, f: t.nn.BatchNorm2d(3)(z(t, 2, 3, 4)),
    "batch norm channels": lambda t, f: t.nn.BatchNorm2d(3)(z(t, 2, 4, 4, 4)),
    "instance norm channels": lambda t, f: t.nn.InstanceNorm2d(3, affine=True)(z(t, 2, 4, 4, 4)),
    "group norm": lambda t, f: f.group_norm(z(t, 2, 7, 4), 2),
    "group norm weight": lambda t, f: f.group_norm(z(t, 2, 6, 4), 2, z(t, 5)),
    "GroupNorm": lambda t, f: t.nn.GroupNorm(3, 4),
    "pool padding": lambda t, f: f.max_pool2d(z(t, 1, 1, 4, 4), 2, padding=2),
    "pool size": lambda t, f: f.max_pool2d(z(t, 1, 1, 1, 4), 2),
    "pool kernel": lambda t, f: f.avg_pool2d(z(t, 1, 1, 4, 4), (1, 2, 3)),
    "pool dimensions": lambda t, f: f.max_pool1d(z(t, 4), 2),
    "pool empty volume": lambda t, f: f.avg_pool3d(z(t, 1, 0, 4, 4, 4), 2),
    "adaptive empty": lambda t, f: f.adaptive_avg_pool2d(z(t, 1, 1, 0, 4), 2),
    "pool empty": lambda t, f: f.max_pool2d(z(t, 1, 0, 4, 4), 2),
    "unpool": lambda t, f: f.max_unpool2d(z(t, 1, 1, 2, 2), z(t, 1, 1, 2, 2).long() + 40, 2),
    "unpool size": lambda t, f: f.max_unpool2d(z(t, 1, 1, 2, 2), z(t, 1, 1, 2, 2).long(), 2, output_size=(9, 9)),
    "fold": lambda t, f: f.fold(z(t, 1, 12, 3), (2, 2), 2),
    "fold rows": lambda t, f: f.fold(z(t, 1, 11, 1), (2, 2), 2),
    "unfold": lambda t, f: f.unfold(z(t, 1, 3, 4, 4), 5),
    "pixel shuffle": lambda t, f: f.pixel_shuffle(z(t, 1, 3, 4, 4), 2),
    "pixel unshuffle": lambda t, f: f.pixel_unshuffle(z(t, 1, 3, 3, 4), 2),
    "channel shuffle": lambda t, f: f.channel_shuffle(z(t, 1, 3, 4, 4), 2),
    "interpolate": lambda t, f: f.interpolate(z(t, 1, 3, 4, 4)),
    "interpolate both": lambda t, f: f.interpolate(z(t, 1, 3, 4, 4), 3, 2.0),
    "interpolate mode": lambda t, f: f.interpolate(z(t, 1, 3, 4, 4), 3, mode="linear"),
    "interpolate sizes": lambda t, f: f.interpolate(z(t, 1, 3, 4, 4), (3, 3, 3)),
    "interpolate corners": lambda t, f: f.interpolate(z(t, 1, 3, 4, 4), 3, align_corners=True),
    "Conv2d groups": lambda t, f: t.nn.Conv2d(3, 4, 3, groups=2),
    "Conv2d same": lambda t, f: t.nn.Conv2d(3, 4, 3, 2, padding="same"),
    "ConvTranspose2d padding": lambda t, f: t.nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"),
    "ConvTranspose2d size": lambda t, f: t.nn.ConvTranspose2d(3, 4, 3, 2)(z(t, 1, 3, 4, 4), output_size=(20, 20)),
    "CircularPad1d": lambda t, f: t.nn.CircularPad1d(1)(z(t, 1, 2, 3, 4)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    told = []
    for t in (clarion, torch):
        with warnings.catch_warnings(), pytest.raises(Exception) as caught:
            warnings.simplefilter("ignore")
            MISTAKES[name](t, t.nn.functional)
        told.append(caught.value)
    ours, theirs = told
    kind = type(theirs)
    assert isinstance(ours, kind), f"{ours!r} against {theirs!r}"
    assert str(ours).startswith(str(theirs).split("\n")[0][:200])


def network(t):
    """A small residual network, its loss and its optimizer."""
    n, f = t.nn, t.nn.functional

    class Block(n.Module):
        def __init__(self, inside, outside, stride):
            super().__init__()
            self.conv1 = n.Conv2d(inside, outside, 3, stride, 1, bias=False)
            self.bn1 = n.BatchNorm2d(outside)
            self.conv2 = n.Conv2d(outside, outside, 3, 1, 1, bias=False)
            self.bn2 = n.BatchNorm2d(outside)
            self.short = n.Sequential()
            if stride != 1 or inside != outside:
                self.short = n.Sequential(n.Conv2d(inside, outside, 1, stride, bias=False), n.BatchNorm2d(outside))

        def forward(self, x):
            out = f.relu(self.bn1(self.conv1(x)))
            return f.relu(self.bn2(self.conv2(out)) + self.short(x))

    t.manual_seed(0)
    net = n.Sequential(
        n.Conv2d(3, 8, 3, padding=1), n.BatchNorm2d(8), n.ReLU(), n.MaxPool2d(2), Block(8, 8, 1), Block(8, 16, 2),
        n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(16, 5),
    )  # fmt: skip
    return net, t.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)


def losses(t, steps=20):
    net, optimizer = network(t)
    rng = np.random.default_rng(0)
    curve = []
    for _ in range(steps):
        x = t.from_numpy(rng.standard_normal((8, 3, 16, 16)).astype(np.float32))
        y = t.from_numpy(rng.integers(0, 5, 8))
        optimizer.zero_grad()
        loss = t.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    net.eval()
    with t.no_grad():
        return curve, net(x), net


def test_a_residual_network_trains_alike():
    (ours, out, net), (theirs, expected, reference) = losses(clarion), losses(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-3, atol=1e-4)
    assert repr(net).replace("clarion", "torch") == repr(reference)
    assert list(net.state_dict()) == list(reference.state_dict())
    assert net[1].num_batches_tracked.item() == 20


def test_non_finite_values_stay_where_they_are():
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    x[0, 0, 1, 1], x[0, 1, 2, 2], x[0, 0, 3, 0] = np.nan, np.inf, -np.inf
    calls = [
        lambda f, v: f.max_pool2d(v, 2, return_indices=True),
        lambda f, v: f.max_pool2d(v, 3, 1, 1, return_indices=True),
        lambda f, v: f.adaptive_max_pool2d(v, 3, return_indices=True),
        lambda f, v: (f.avg_pool2d(v, 2), f.adaptive_avg_pool2d(v, 3)),
        lambda f, v: (f.interpolate(v, scale_factor=2), f.unfold(v, 2)),
    ]
    for call in calls:
        ours, theirs = (call(t.nn.functional, t.from_numpy(x.copy())) for t in (clarion, torch))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    full = np.full((1, 1, 4, 4), -np.inf, np.float32)
    ours, theirs = (
        t.nn.functional.max_pool2d(t.from_numpy(full.copy()), 3, 2, 1, return_indices=True) for t in (clarion, torch)
    )
    np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())
