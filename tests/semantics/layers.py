"""Layers at their edges: what they refuse, and what they make of arguments that nobody means."""

from __future__ import annotations

from .programs import refusal


def fused_parameters_require_what_those_before_did(t):
    fusion, found = t.nn.utils.fusion, []
    convolution, linear, norm = t.nn.Conv2d(3, 3, 3), t.nn.Linear(3, 3), t.nn.BatchNorm2d(3)
    rest = (norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias)
    for trained in (True, False):
        convolution.bias.requires_grad = linear.bias.requires_grad = trained
        for layer, fuse in ((convolution, fusion.fuse_conv_bn_weights), (linear, fusion.fuse_linear_bn_weights)):
            weight, bias = fuse(layer.weight, layer.bias, *rest)
            found.append((weight.requires_grad, bias.requires_grad))
    return found


def padding_of_nothing(t):
    pad, found = t.nn.functional.pad, []
    for mode in ("reflect", "replicate"):
        for shape, widths in (
            ((3, 0, 10), (2, 2)),
            ((0, 3, 10), (2, 2)),
            ((1, 3, 4, 0), (1, 1, 1, 1)),
            ((2, 0), (1, 1)),
        ):
            found.append(refusal(lambda: list(pad(t.zeros(shape), widths, mode=mode).shape)))
    return found


def sizes_that_are_no_sizes(t):
    resize = t.nn.functional.interpolate
    x = t.ones(1, 1, 2, 2)
    pool = t.nn.FractionalMaxPool2d(2, output_ratio=[0.5, 0.5, 0.6])
    return (
        refusal(lambda: resize(x, size=t.tensor(4.0)))[:1],
        refusal(lambda: resize(x, scale_factor=1e20)),
        refusal(lambda: pool(t.ones(1, 1, 8, 8))),
    )


def weights_of_classes(t):
    loss, x, y = t.nn.functional.nll_loss, t.zeros(4, 3), t.tensor([0, 1, 2, 0])
    smoothed = t.nn.CrossEntropyLoss(label_smoothing=1.2)
    return (
        refusal(lambda: loss(x, y, weight=t.ones(1, 3))),
        refusal(lambda: loss(x, y, weight=t.ones(4))),
        refusal(lambda: smoothed(x, t.arange(3))),
    )


def a_threshold_may_be_written_into_repeated_memory(t):
    x = t.tensor([[0.0, 1.0]]).expand(3, 2)
    t.nn.functional.threshold(x, 0.5, 0.25, inplace=True)
    return x.tolist()


def norms_of_long_rows(t):
    x = (t.arange(300000) % 1000).float().view(2, -1) / 1000
    norms = (
        t.nn.functional.layer_norm(x, (150000,)),
        t.nn.functional.rms_norm(x, (150000,)),
        t.nn.functional.group_norm(x, 1),
    )
    return [float(norm.double().abs().max()) for norm in norms]
