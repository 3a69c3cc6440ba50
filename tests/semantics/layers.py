"""Layers at their edges: what they refuse, and what they make of arguments that nobody means."""

from __future__ import annotations

import copy
import importlib
import warnings
from collections import OrderedDict, defaultdict

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


def recurrent_layers_of_no_samples(t):
    found = []
    for kind in (t.nn.RNN, t.nn.LSTM, t.nn.GRU):
        layer = kind(4, 5)
        x = t.zeros(3, 0, 4, requires_grad=True)
        out, _ = layer(x)
        out.sum().backward()
        found.append((out.shape, x.grad.shape, layer.weight_ih_l0.grad.abs().sum()))
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


def arguments_that_do_not_fit(t):
    f = t.nn.functional
    attention, x = t.nn.MultiheadAttention(4, 2), t.zeros(3, 2, 4)
    pack = t.nn.utils.rnn.pack_padded_sequence
    a = t.tensor([-1.0, 1.0], requires_grad=True)
    return [
        refusal(lambda: attention(x, x, x, key_padding_mask=t.zeros(3, 2, dtype=t.bool)), 50),
        refusal(lambda: pack(t.zeros(0, 0), []), 40),
        refusal(lambda: f.interpolate(t.zeros(1, 1, 2), size=(t.tensor(4.0),)), 40),
        refusal(lambda: f.rrelu_(a * 1, -5.0, 1.0).sum().backward(), 60),
        refusal(lambda: t.autocast("not a real device"), 60),
        f.grid_sample(t.zeros(2, 0, 3, 3), t.zeros(2, 2, 2, 2), align_corners=False).shape,
        t.nn.BatchNorm2d(3)(t.zeros(0, 3, 2, 2, dtype=t.float64)).shape,
    ]


def states_of_the_first_spectral_norm(t):
    t.manual_seed(0)
    layer = t.nn.utils.spectral_norm(t.nn.Linear(3, 2))
    layer(t.ones(1, 3))
    state = layer.state_dict()
    v = state.pop("weight_v")
    state["weight"] = layer.weight.detach()
    del state._metadata[""]["spectral_norm"]
    other = t.nn.utils.spectral_norm(t.nn.Linear(3, 2))
    other.load_state_dict(state)
    other.eval()
    return t.allclose(other.weight_v, v, atol=1e-4), other(t.ones(1, 3))


def losses_of_the_main_namespace_under_autocast(t):
    x = t.arange(6.0).view(2, 3)
    with t.autocast("cpu", dtype=t.bfloat16):
        half = x.bfloat16()
        return t.hinge_embedding_loss(half, half.sign()).dtype == t.float32, t.margin_ranking_loss(half, half + 1, half)


def structures_as_json(t):
    pytree = importlib.import_module(f"{t.__name__}.utils._pytree")
    trees = ([1, (2, {"a": 3})], OrderedDict([("b", 1)]), defaultdict(list, {"c": [1]}), t.max(t.ones(2, 2), 0))
    texts = [pytree.treespec_dumps(pytree.tree_structure(tree)) for tree in trees[:3]]
    back = [
        pytree.treespec_loads(text) == pytree.tree_structure(tree) for text, tree in zip(texts, trees, strict=False)
    ]
    return texts, back, len(pytree.tree_leaves(trees[3])), refusal(lambda: pytree.treespec_dumps("no structure"), 40)


def what_is_known_of_parameters_without_a_shape(t):
    weight = t.nn.LazyLinear(3).weight
    names = ("is_cpu", "is_cuda", "is_meta", "is_sparse", "itemsize", "requires_grad", "is_leaf")
    return (
        [getattr(weight, name) for name in names],
        (str(weight.dtype), str(weight.device), str(weight.layout)),
        (weight.is_floating_point(), weight.is_complex(), weight.ndim, weight.nbytes),
        (weight.data.normal_(), type(weight.data) is t.Tensor),
        refusal(lambda: weight.numel())[0],
    )


def buffers_keep_the_class_of_their_tensor(t):
    module = t.nn.Module()
    module.kept = t.nn.Buffer(t.ones(2))
    module.scratch = t.nn.Buffer(t.ones(1), persistent=False)
    twin = copy.deepcopy(module)
    return (
        [type(each) is t.Tensor for each in (module.kept, twin.scratch)],
        [isinstance(each, t.nn.Buffer) for each in (module.kept, twin.scratch, module.kept * 2, t.ones(1))],
        isinstance(t.nn.UninitializedBuffer(), t.nn.Buffer),
        list(twin.state_dict()),
    )


def what_old_backward_hooks_do_not_see_is_said(t):
    class Module(t.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    def warned(forward, *given):
        module = Module(forward)
        module.register_backward_hook(lambda *_: None)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            module(*given)
        return [(each.category.__name__, str(each.message)[:90]) for each in said]

    a, b = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    return (
        warned(lambda pair: (pair[0].clone(), pair[1].clone()), [a, b]),
        warned(lambda x, y: [x.clone(), y.clone()], a, b),
        warned(lambda x, y: (x.clone(), y.clone()), a, b),
        warned(lambda x: x.clone() * 2, a.clone()),
        warned(lambda x: x.clone(), a.clone()),
    )


def what_is_no_tensor_is_refused(t):
    class Odd:
        def __repr__(self):
            return "<Odd>"

    layer, x = t.nn.Linear(1, 1), t.ones(1, 1)
    layer.scale = 2.0
    before = layer.weight
    found = [
        refusal(lambda value=value: t.func.functional_call(layer, {"weight": value}, x), 50) for value in (Odd(), 3.0)
    ]
    found.append(
        refusal(
            lambda: t.func.functional_call(layer, {"weight": None}, x), "argument 'weight' (position 2) must be Tensor"
        )
    )
    found.append(
        refusal(lambda: t.nn.functional.layer_norm(Odd(), (1,)), "argument 'input' (position 1) must be Tensor")
    )
    found.append(refusal(lambda: t.func.functional_call(layer, {"scale": x}, x), "attribute `scale`: 2.0 is not"))
    return found, layer.weight is before, layer.scale


def conversions_are_looked_at(t):
    layer = t.nn.Linear(1, 1)
    return (
        refusal(lambda: layer.to(memory_format=1), "to() received an invalid combination of arguments"),
        refusal(lambda: layer.to(other=1), "to() received an invalid combination of arguments"),
        refusal(lambda: layer.to(t.int64), 50),
    )


def lengths_of_sequences_are_looked_at(t):
    scores, targets = t.zeros(5, 2, 4), t.tensor([[1, 2], [3, 0]])
    return [
        refusal(lambda lengths=lengths: t.nn.functional.ctc_loss(scores, targets, lengths, (2, 1)), 75)
        for lengths in ((-1, 5), (6, 5), (5,))
    ]


def which_modules_are_at_work(t):
    tracking = importlib.import_module(f"{t.__name__}.utils.module_tracker")
    seen = []

    class Inner(t.nn.Module):
        def forward(self, x):
            x = x.sin()
            seen.append((sorted(tracker.parents), tracker.is_bw))
            x.register_hook(lambda g: seen.append((sorted(tracker.parents), tracker.is_bw)))
            return {"out": x * 2}

    class Outer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.more = Inner(), t.nn.ModuleList([Inner()])

        def forward(self, x):
            return self.more[0](self.first(x)["out"])["out"]

    with tracking.ModuleTracker() as tracker:
        for _ in range(2):
            Outer()(t.ones(2, requires_grad=True).clone()).sum().backward()
            seen.append((sorted(tracker.parents), tracker.is_bw))
    return seen


def padding_is_left_out_in_evaluation(t):
    """A stack of encoder layers that records nothing gives zeros where the padding is; not where a sample has holes."""
    t.manual_seed(0)
    x, end, hole = t.randn(2, 3, 4), t.tensor([[0, 0, 1], [0, 1, 1]]).bool(), t.tensor([[0, 1, 0], [0, 0, 1]]).bool()
    causal = t.ones(3, 3).triu(1).bool()
    found = []
    for heads, options, how in (
        (2, {}, {}),
        (2, {}, {"norm": t.nn.LayerNorm(4)}),
        (2, {"activation": "gelu"}, {}),
        (2, {"activation": t.tanh}, {"enable_nested_tensor": False}),
        (2, {}, {"mask_check": False}),
        (2, {}, {"enable_nested_tensor": False}),
    ):
        layer = t.nn.TransformerEncoderLayer(4, heads, 8, batch_first=True, **options)
        stack = t.nn.TransformerEncoder(layer, 2, **how).eval()
        with t.no_grad():
            found += [
                stack(x, src_key_padding_mask=mask) for mask in (end, hole, t.zeros(2, 3).masked_fill(end, -t.inf))
            ]
            found.append(stack(x, mask=causal, src_key_padding_mask=end))
            t.backends.mha.set_fastpath_enabled(False)
            found.append(stack(x, src_key_padding_mask=end))
            t.backends.mha.set_fastpath_enabled(True)
        found += [stack(x, src_key_padding_mask=end), stack.use_nested_tensor]
    return found


def why_padding_is_not_left_out(t):
    found = []
    for heads, options in (
        (2, {"norm_first": True, "batch_first": True}), (2, {}), (2, {"bias": False, "batch_first": True}),
        (2, {"activation": t.tanh, "batch_first": True}), (1, {"batch_first": True}), (2, {"batch_first": True}),
    ):  # fmt: skip
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stack = t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, heads, 8, **options), 1)
        found.append(([str(each.message) for each in caught], stack.enable_nested_tensor, stack.use_nested_tensor))
    return found


def targets_that_do_not_fit_are_refused(t):
    scores = t.zeros(5, 10)
    return [
        refusal(lambda: t.nn.functional.cross_entropy(scores, t.zeros(5, 10, dtype=t.int64)), 75),
        refusal(lambda: t.nn.functional.multi_margin_loss(scores, t.zeros(3, dtype=t.int64)), 160),
        refusal(lambda: t.nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:0")),
        refusal(lambda: t.nn.LinearCrossEntropyOptions(batch_chunk_size=0)),
    ]


def statistics_of_half_precision_have_the_precision_of_the_parameters(t):
    """The gradients of weights come from them."""
    t.manual_seed(0)
    x, g, found = t.randn(4, 8, 10, 10), t.randn(4, 8, 10, 10), []
    for norm in (t.nn.GroupNorm(2, 8), t.nn.BatchNorm2d(8), t.nn.InstanceNorm2d(8, affine=True)):
        for kind in (t.float16, t.bfloat16):
            norm.zero_grad()
            out = norm(x.to(kind))
            out.backward(g.to(kind))
            found.append((str(out.dtype), norm.weight.grad, norm.bias.grad))
    half, ones = x[:2].bfloat16(), t.ones(8)
    for weight in (ones, ones.bfloat16(), None):
        made = (
            t.native_group_norm(half, weight, weight, 2, 8, 100, 2, 1e-5),
            t.native_batch_norm(half, weight, weight, None, None, True, 0.1, 1e-5),
        )
        found.append([str(each.dtype) for all_of_them in made for each in all_of_them])
    return found


def targets_of_other_types(t):
    F, x, y, images = t.nn.functional, t.eye(3), t.tensor([0, 1, 2]), t.ones(1, 3, 2)
    kinds = t.uint8, t.int8, t.int16, t.int32, t.int64
    return (
        [
            refusal(lambda loss=loss: [loss(x, y.to(kind)).item() for kind in kinds])
            for loss in (F.cross_entropy, F.nll_loss)
        ],
        [refusal(lambda kind=kind: F.cross_entropy(x, y.to(kind))) for kind in kinds if kind not in (t.uint8, t.int64)],
        F.nll_loss(x, y.to(t.uint8)),
        [refusal(lambda kind=kind: F.cross_entropy(images, t.zeros(1, 2, dtype=kind))) for kind in (t.uint8, t.int32)],
    )


def smoothing_that_is_no_share(t):
    x, y = t.eye(3), t.tensor([0, 1, 2])
    told = [t.nn.functional.cross_entropy(x, target, label_smoothing=-0.5) for target in (y, x)]
    return told, [refusal(lambda to=to: t.nn.functional.cross_entropy(x, to, label_smoothing=1.5), 52) for to in (y, x)]


def numbers_of_a_convolution(t):
    x, w, conv = t.arange(32.0).view(1, 2, 4, 4), t.ones(1, 2, 2, 2), t.nn.functional.conv2d
    words = "conv2d() received an invalid combination of arguments"
    return (
        [conv(x, w, None, stride) for stride in (2, (2,), [2, 1], t.tensor(2))],
        [refusal(lambda v=v: conv(x, w, None, v), words) for v in (1.5, "a", None, True, (1.5, 1))],
        refusal(lambda: conv(x, w, None, 1, 0, 0), "dilation should be greater than zero, but got [0, 0]"),
        conv(t.ones(3, 2, 1, 1), t.ones(4, 2, 1, 1)).stride(),
    )


def targets_that_are_no_shares(t):
    F, x = t.nn.functional, t.tensor([0.5, 0.5])
    told = [t.tensor(y) for y in ([0.2, 1.5], [-0.1, 0.5], [float("nan"), 0.5])]
    return (
        [refusal(lambda y=y: F.binary_cross_entropy(x, y)) for y in told],
        refusal(lambda: F.cross_entropy(t.ones(2, 3), t.ones(2, 3, dtype=t.bool))),
    )
