"""Losses, normalization, embedding, dropout, attention and padding."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from clarion.core.namespace import OPS

from ..reductions.sums import either
from ..row import Row

PAIR = ((3, 4), (3, 4))
EDGES = (((0, 3), (0, 3)), ((), ()))
ROUND = ("float16", "bfloat16")


def loss(name, *args, **fixed):
    """`t.nn.functional.name(x, y, ...)`."""
    return lambda t, x, *rest: getattr(t.nn.functional, name)(x, *rest, *args, **fixed)


def classes(shape, n, dim=1):
    """Scores and class indices for them."""

    def draw(rng):
        target = rng.integers(0, n, shape[:dim] + shape[dim + 1 :])
        return [rng.standard_normal(shape), target]

    return draw


def softmax(x):
    return sp.softmax(x, -1)


def nll(x, target):
    return -x[np.arange(len(x)), target].mean()


def layer_norm(x, w=1.0, b=0.0):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def rms_norm(x, w=1.0):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.1) * w


def attention(q, k, v):
    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v


def tiled(scale=None, causal=False):
    """Attention by the operation that computes in tiles; in PyTorch whichever way it takes."""

    def call(t, q, k, v, mask=None):
        if t.__name__ != "clarion":
            return t.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=scale)
        return OPS["tiled_attention"].call(q, k, v, mask, scale or q.shape[-1] ** -0.5, causal)[0]

    return call


def of_scores(reduction):
    """Cross entropy by the operation that keeps the scores and no probabilities."""
    name = ("none", "mean", "sum")[reduction]

    def call(t, x, target):
        if t.__name__ != "clarion":
            return t.nn.functional.cross_entropy(x, target, reduction=name)
        return OPS["cross_entropy_of_scores"].call(x, target, reduction, -100)[0]

    call.internal = True
    return call


def rows_and_indices(rng):
    return [rng.standard_normal((6, 4)), rng.integers(0, 6, (3, 5))]


def gradient_rows(rng):
    return [rng.standard_normal((3, 5, 4)), rng.integers(0, 6, (3, 5))]


def dense(t, g, indices, padding=-1, scale=False):
    """The gradient of an embedding in PyTorch."""
    return t.ops.aten.embedding_dense_backward(g, indices, 6, padding, scale)


def scores_and_mask(rng):
    q, k, v = (rng.standard_normal((2, 3, n, 4)) for n in (5, 6, 6))
    return [q, k, v, rng.random((5, 6)) > 0.3]


def pad(shape, widths, mode, ref_mode, **more):
    numpy_widths = [(0, 0)] * (len(shape) - len(widths) // 2) + list(zip(widths[::2], widths[1::2], strict=True))[::-1]
    name = {"reflect": "reflection_pad", "replicate": "replication_pad"}[mode] + f"{len(widths) // 2}d"
    return Row(
        name,
        lambda t, x: t.nn.functional.pad(x, widths, mode),
        (shape,),
        lambda x: np.pad(x, numpy_widths, mode=ref_mode),
        dtypes=ROUND,
        **more,
    )


ROWS = [
    Row(
        "mse_loss", loss("mse_loss", reduction="none"), PAIR, lambda x, y: (x - y) ** 2, edge_shapes=EDGES, dtypes=ROUND
    ),
    Row("mse_loss_mean", loss("mse_loss"), PAIR, lambda x, y: ((x - y) ** 2).mean(), edge_shapes=EDGES, dtypes=ROUND),
    Row("mse_loss_sum", loss("mse_loss", reduction="sum"), PAIR, lambda x, y: ((x - y) ** 2).sum(), edge_shapes=EDGES),
    Row("smooth_l1_loss", loss("smooth_l1_loss", beta=0.7), PAIR, None),
    Row("smooth_l1_loss", loss("smooth_l1_loss", reduction="none"), PAIR, None, label="none"),
    Row("huber_loss", loss("huber_loss", delta=0.7), PAIR, None),
    Row("huber_loss", loss("huber_loss", reduction="sum"), PAIR, None, label="sum"),
    Row("l1_loss", loss("l1_loss"), PAIR, lambda x, y: np.abs(x - y).mean()),
    Row("kl_div", loss("kl_div", reduction="batchmean"), PAIR, None, domain=(0.1, 0.9), grad=(0,)),
    Row("kl_div", loss("kl_div", reduction="sum", log_target=True), PAIR, None, label="log_target"),
    Row("binary_cross_entropy", loss("binary_cross_entropy"), PAIR, None, domain=(0.1, 0.9)),
    Row(
        "binary_cross_entropy",
        lambda t, x, y, w: t.nn.functional.binary_cross_entropy(x, y, w, reduction="sum"),
        ((3, 4), (3, 4), (3, 4)),
        None,
        domain=(0.1, 0.9),
        grad=(0, 1),
        label="weight",
    ),
    Row("binary_cross_entropy_with_logits", loss("binary_cross_entropy_with_logits"), PAIR, None),
    Row(
        "binary_cross_entropy_with_logits",
        lambda t, x, y, w, p: t.nn.functional.binary_cross_entropy_with_logits(x, y, w, pos_weight=p),
        ((3, 4), (3, 4), (3, 4), (4,)),
        None,
        domain=(0.1, 0.9),
        grad=(0, 1),
        label="weights",
    ),
    Row("soft_margin_loss", loss("soft_margin_loss"), PAIR, lambda x, y: np.log1p(np.exp(-x * y)).mean(), grad=(0,)),
    Row("nll_loss", loss("nll_loss"), inputs=classes((4, 5), 5), ref=nll),
    Row("nll_loss", loss("nll_loss", reduction="none", ignore_index=2), inputs=classes((4, 5), 5), label="ignore"),
    Row("nll_loss2d", loss("nll_loss", reduction="sum"), inputs=classes((2, 5, 3), 5)),
    Row(
        "cross_entropy", loss("cross_entropy"), inputs=classes((4, 5), 5), ref=lambda x, t: nll(sp.log_softmax(x, 1), t)
    ),
    Row("cross_entropy", loss("cross_entropy", reduction="none"), inputs=classes((4, 5), 5), label="none"),
    Row("cross_entropy", loss("cross_entropy", ignore_index=1), inputs=classes((6, 3), 3), label="ignore"),
    Row("cross_entropy", loss("cross_entropy"), inputs=classes((5,), 5, 0), label="one"),
    Row("cross_entropy", loss("cross_entropy", label_smoothing=0.2), inputs=classes((4, 5), 5), label="smoothing"),
    Row("cross_entropy2d", loss("cross_entropy"), inputs=classes((2, 5, 3, 2), 5)),
    Row("layer_norm", lambda t, x: t.nn.functional.layer_norm(x, (6,)), ((4, 6),), layer_norm, dtypes=ROUND),
    Row(
        "layer_norm",
        lambda t, x, w, b: t.nn.functional.layer_norm(x, (6,), w, b),
        ((2, 4, 6), (6,), (6,)),
        layer_norm,
        label="affine",
        edge_shapes=(((0, 6), (6,), (6,)), ((6,), (6,), (6,))),
    ),
    Row("layer_norm", lambda t, x, w: t.nn.functional.layer_norm(x, (3, 4), w), ((2, 3, 4), (3, 4)), label="2d"),
    Row("rms_norm", lambda t, x: t.nn.functional.rms_norm(x, (6,), eps=0.1), ((4, 6),), rms_norm),
    Row(
        "rms_norm",
        lambda t, x, w: t.nn.functional.rms_norm(x, (6,), w, 0.1),
        ((2, 4, 6), (6,)),
        rms_norm,
        label="weight",
    ),
    Row("normalize", lambda t, x: t.nn.functional.normalize(x, dim=1), ((3, 4),), None),
    Row("cosine_similarity", loss("cosine_similarity"), PAIR, None),
    Row("embedding", lambda t, w, i: t.nn.functional.embedding(i, w), inputs=rows_and_indices, ref=lambda w, i: w[i]),
    Row(
        "embedding",
        lambda t, w, i: t.nn.functional.embedding(i, w, 2),
        inputs=rows_and_indices,
        label="padding",
        numeric=False,
    ),
    Row(
        "embedding",
        lambda t, w, i: t.nn.functional.embedding(i, w, 2, scale_grad_by_freq=True),
        inputs=rows_and_indices,
        label="frequency",
        numeric=False,
    ),
    Row("dropout", lambda t, x: t.nn.functional.dropout(x, 1.0), ((3, 4),), np.zeros_like),
    Row("dropout", lambda t, x: t.nn.functional.dropout(x, 0.0), ((3, 4),), lambda x: x, label="none"),
    Row(
        "scaled_dot_product_attention",
        loss("scaled_dot_product_attention"),
        ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
        attention,
        edge_shapes=(((5, 4), (6, 4), (6, 3)),),
    ),
    Row(
        "scaled_dot_product_attention",
        loss("scaled_dot_product_attention", is_causal=True, scale=0.3),
        ((2, 5, 4), (2, 5, 4), (2, 5, 4)),
        None,
        label="causal",
    ),
    Row("scaled_dot_product_attention", loss("scaled_dot_product_attention"), inputs=scores_and_mask, label="mask"),
    Row(
        "scaled_dot_product_attention",
        loss("scaled_dot_product_attention"),
        ((2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 6)),
        None,
        label="bias",
    ),
    Row("tiled_attention", tiled(), ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)), attention),
    Row("tiled_attention", tiled(scale=0.3, causal=True), ((2, 2, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4)), label="causal"),
    Row("tiled_attention", tiled(scale=0.5, causal=True), ((2, 1, 6, 4), (2, 1, 3, 4), (2, 1, 3, 4)), label="few keys"),
    Row("tiled_attention", tiled(), inputs=scores_and_mask, label="mask"),
    Row("tiled_attention", tiled(), ((2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 6)), label="bias"),
    Row(
        "constant_pad_nd",
        lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 3), value=1.5),
        ((2, 3, 4),),
        lambda x: np.pad(x, ((0, 0), (0, 3), (1, 2)), constant_values=1.5),
        dtypes=("float16", "bfloat16", "int64", "bool", "complex128"),
    ),
    Row("constant_pad_nd", lambda t, x: t.nn.functional.pad(x, (-1, 2)), ((2, 4),), None, label="negative"),
    pad((2, 5), (1, 2), "reflect", "reflect"),
    pad((2, 4, 5), (1, 2, 3, 0), "reflect", "reflect"),
    pad((2, 4, 5, 3), (1, 2, 3, 0, 1, 1), "reflect", "reflect"),
    pad((2, 5), (1, 7), "replicate", "edge"),
    pad((2, 4, 5), (1, 2, 3, 0), "replicate", "edge"),
    pad((2, 4, 5, 3), (1, 2, 3, 0, 1, 1), "replicate", "edge"),
    Row(
        "circular_pad",
        lambda t, x: t.nn.functional.pad(x, (1, 2), "circular"),
        ((2, 5),),
        lambda x: np.pad(x, ((0, 0), (1, 2)), mode="wrap"),
    ),
]

# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row("clip_unit", either("clip_unit", (), lambda t, x: x.clamp(-1, 1)), ((3, 4),), lambda x: np.clip(x, -1, 1)),
    Row("inside_unit", either("inside_unit", (), lambda t, x: (x.abs() < 1).to(x.dtype)), ((3, 4),), grad=()),
    Row(
        "bernoulli_variance",
        either("bernoulli_variance", (), lambda t, x: x * (1 - x)),
        ((3, 4),),
        lambda x: x * (1 - x),
        domain=(0.1, 0.9),
    ),
    Row("clipped_log", either("clipped_log", (), lambda t, x: t.log(x)), ((3, 4),), np.log, domain=(0.1, 0.9)),
    Row("softplus_plain", either("softplus_plain", (), lambda t, x: t.nn.functional.softplus(x)), ((3, 4),)),
    Row(
        "at_targets",
        either("at_targets", (-100,), lambda t, x, i: x.gather(1, i[:, None])[:, 0]),
        inputs=classes((4, 5), 5),
    ),
    Row(
        "into_targets",
        either(
            "into_targets",
            ((4, 5), -100),
            lambda t, s, i: t.zeros(4, 5, dtype=s.dtype).scatter(1, i[:, None], s[:, None]),
        ),
        inputs=lambda rng: [rng.standard_normal(4), rng.integers(0, 5, 4)],
    ),
    Row("cross_entropy_of_scores", of_scores(1), inputs=classes((4, 5), 5)),
    Row("cross_entropy_of_scores", of_scores(0), inputs=classes((4, 5), 5), label="none"),
    Row("cross_entropy_of_scores", of_scores(2), inputs=classes((4, 5), 5), label="sum"),
    Row("sum_of_rows", either("sum_of_rows", (1,), lambda t, x: x.sum((0, 1))), ((2, 3, 4),), lambda x: x.sum((0, 1))),
    Row(
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, 2, False), lambda t, g, i: dense(t, g, i, 2)),
        inputs=gradient_rows,
        label="padding",
    ),
    Row(  # PyTorch's own derivative of this one forgets the frequencies
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, 2, True), lambda t, g, i: dense(t, g, i, 2, True)),
        inputs=gradient_rows,
        grad=(),
        label="frequency",
        numeric=False,
    ),
    Row(
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, -1, False), dense),
        inputs=gradient_rows,
        label="plain",
    ),
    Row(
        "zero_rows_at",
        either("zero_rows_at", (2,), lambda t, x, i: x.masked_fill((i == 2)[..., None], 0)),
        inputs=gradient_rows,
    ),
    Row(
        "index_counts",
        either("index_counts", (6,), lambda t, i: t.bincount(i.reshape(-1), minlength=6)[i][..., None].double()),
        inputs=lambda rng: [rng.integers(0, 6, (3, 5))],
        grad=(),
    ),
    Row(
        "pad_by_copy_backward",
        either(
            "pad_by_copy_backward",
            ((2, 5), ((0, 0), (1, 2)), "replicate"),
            lambda t, g: t.ops.aten.replication_pad1d_backward(g, t.zeros(2, 5, dtype=g.dtype), (1, 2)),
        ),
        ((2, 8),),
    ),
]
