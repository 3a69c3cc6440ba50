"""Losses element by element, and the parts of their gradients."""

from __future__ import annotations

import numpy as np

from ..row import Row, either, functional

PAIR = ((3, 4), (3, 4))
EDGES = (((0, 3), (0, 3)), ((), ()))
ROUND = ("float16", "bfloat16")


def _mse_gradient(t, x, y, g):
    leaf = x if x.requires_grad else x.detach().requires_grad_()
    return t.autograd.grad(t.nn.functional.mse_loss(leaf, y), leaf, g, create_graph=True)[0]


_mse_gradient.differentiates = True

ROWS = [
    Row("mse_loss_backward", _mse_gradient, (*PAIR, ()), lambda x, y, g: (x - y) * 2 * g / x.size),
    Row(
        "mse_loss",
        functional("mse_loss", reduction="none"),
        PAIR,
        lambda x, y: (x - y) ** 2,
        edge_shapes=EDGES,
        dtypes=ROUND,
    ),
    Row(
        "mse_loss_mean",
        functional("mse_loss"),
        PAIR,
        lambda x, y: ((x - y) ** 2).mean(),
        edge_shapes=EDGES,
        dtypes=ROUND,
    ),
    Row(
        "mse_loss_sum",
        functional("mse_loss", reduction="sum"),
        PAIR,
        lambda x, y: ((x - y) ** 2).sum(),
        edge_shapes=EDGES,
    ),
    Row("smooth_l1_loss", functional("smooth_l1_loss", beta=0.7), PAIR, None),
    Row("smooth_l1_loss", functional("smooth_l1_loss", reduction="none"), PAIR, None, label="none"),
    Row("huber_loss", functional("huber_loss", delta=0.7), PAIR, None),
    Row("huber_loss", functional("huber_loss", reduction="sum"), PAIR, None, label="sum"),
    Row("l1_loss", functional("l1_loss"), PAIR, lambda x, y: np.abs(x - y).mean()),
    Row("kl_div", functional("kl_div", reduction="batchmean"), PAIR, None, domain=(0.1, 0.9), grad=(0,)),
    Row("kl_div", functional("kl_div", reduction="sum", log_target=True), PAIR, None, label="log_target"),
    Row("binary_cross_entropy", functional("binary_cross_entropy"), PAIR, None, domain=(0.1, 0.9)),
    Row(
        "binary_cross_entropy",
        lambda t, x, y, w: t.nn.functional.binary_cross_entropy(x, y, w, reduction="sum"),
        ((3, 4), (3, 4), (3, 4)),
        None,
        domain=(0.1, 0.9),
        grad=(0, 1),
        label="weight",
    ),
    Row("binary_cross_entropy_with_logits", functional("binary_cross_entropy_with_logits"), PAIR, None),
    Row(
        "binary_cross_entropy_with_logits",
        lambda t, x, y, w, p: t.nn.functional.binary_cross_entropy_with_logits(x, y, w, pos_weight=p),
        ((3, 4), (3, 4), (3, 4), (4,)),
        None,
        domain=(0.1, 0.9),
        grad=(0, 1),
        label="weights",
    ),
    Row(
        "soft_margin_loss",
        functional("soft_margin_loss"),
        PAIR,
        lambda x, y: np.log1p(np.exp(-x * y)).mean(),
        grad=(0,),
    ),
    Row("cosine_similarity", functional("cosine_similarity"), PAIR, None),
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
]
