"""Functions of the main namespace that `torch.nn.functional` is made of: values, gradients and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare


class Draw:
    """The same random tensors in either library; the floating ones want gradients."""

    def __init__(self, t):
        self.t, self.rng, self.leaves = t, np.random.default_rng(0), []

    def __call__(self, *shape, low=-2.0, high=2.0):
        leaf = self.t.tensor(self.rng.uniform(low, high, shape).tolist(), dtype=self.t.float64).reshape(shape)
        self.leaves.append(leaf.requires_grad_())
        return leaf

    def bags(self, mode, last=5, **options):
        indices, offsets = self.t.tensor([1, 2, 4, 5, 4, 3]), self.t.tensor([0, 3, 3, last])
        return self.t.embedding_bag(self(6, 2), indices, offsets, mode=mode, **options)


PADDED = {"scale_grad_by_freq": False, "sparse": False, "per_sample_weights": None, "include_last_offset": False}
CASES = {
    "kl_div": lambda t, d: t.kl_div(d(3, 4), d(3, 4, low=0.1)),
    "kl_div-none": lambda t, d: t.kl_div(d(3, 4), d(3, 4, low=0.1), 0),
    "kl_div-sum": lambda t, d: t.kl_div(d(3, 4), d(4, low=0.1), reduction=2),
    "kl_div-log": lambda t, d: t.kl_div(d(3, 4), d(3, 4), 2, log_target=True),
    "kl_div-odd": lambda t, d: t.kl_div(d(3), d(3), 5),
    "logits": lambda t, d: t.binary_cross_entropy_with_logits(d(3, 4), d(3, 4, low=0.0, high=1.0)),
    "logits-mean": lambda t, d: t.binary_cross_entropy_with_logits(d(3, 4), d(3, 4, low=0.0), reduction=1),
    "logits-all": lambda t, d: t.binary_cross_entropy_with_logits(
        d(3, 4), d(3, 4), t.arange(4.0), t.arange(3.0, 7.0), 2
    ),
    "bilinear": lambda t, d: t.bilinear(d(2, 3), d(2, 4), d(5, 3, 4), d(5)),
    "norm_except_dim": lambda t, d: t.norm_except_dim(d(2, 3, 4)),
    "norm_except_dim-inner": lambda t, d: t.norm_except_dim(d(2, 3, 4), 2, 1),
    "norm_except_dim-last": lambda t, d: t.norm_except_dim(d(2, 3, 4), 1, 2),
    "norm_except_dim-all": lambda t, d: t.norm_except_dim(d(2, 3), dim=-1),
    "norm_except_dim-from-the-end": lambda t, d: t.norm_except_dim(d(2, 3), 2, -2),
    "norm_except_dim-vector": lambda t, d: t.norm_except_dim(d(3)),
    "feature_dropout": lambda t, d: t.feature_dropout(d(4, 5, 2, 3), 0.5, True),
    "feature_dropout-off": lambda t, d: t.feature_dropout(d(4), 0.5, False),
    "feature_dropout-all": lambda t, d: t.feature_dropout(d(4, 5), 1.0, True),
    "feature_dropout_": lambda t, d: t.feature_dropout_(d(4, 5, 2) * 1, 0.3, True),
    "sum-of-bags": lambda t, d: d.bags(0),
    "sum-of-bags-weighted": lambda t, d: d.bags(0, per_sample_weights=d(6)),
    "sum-of-bags-padded": lambda t, d: d.bags(0, **PADDED, padding_idx=4),
    "mean-of-bags": lambda t, d: d.bags(1),
    "mean-of-bags-last": lambda t, d: d.bags(1, last=6, include_last_offset=True),
    "mean-of-bags-padded": lambda t, d: d.bags(1, **PADDED, padding_idx=-2),
    "_VF": lambda t, d: t._VF.tanh(d(3)),
    "embedding_renorm_": lambda t, d: (
        t.embedding_renorm_(d(6, 3) * 1, t.tensor([[1, 4], [4, 0]]), 1.5, 2.0).detach() * d(6, 3)
    ),
    "as_strided_": lambda t, d: t.as_strided_(d(6) * 1, (2, 2), (1, 3), 1),
    "largest-of-bags": lambda t, d: d.bags(2),
    "largest-of-bags-padded": lambda t, d: d.bags(2, **PADDED, padding_idx=4),
    "largest-of-bags-last": lambda t, d: d.bags(2, last=6, include_last_offset=True),
}


def outcome(t, case):
    t.manual_seed(0)
    draw = Draw(t)
    found = CASES[case](t, draw)
    outputs = list(found) if isinstance(found, tuple) else [found]
    weight = np.cos(np.arange(outputs[0].numel())).reshape(tuple(outputs[0].shape))
    outputs[0].backward(t.tensor(weight.tolist(), dtype=t.float64).reshape(weight.shape))
    return outputs, [leaf.grad for leaf in draw.leaves]


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(case):
    (found, gradients), (wanted, expected) = outcome(clarion, case), outcome(torch, case)
    for mine, theirs in zip(found + gradients, wanted + expected, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            assert str(mine.dtype) == str(theirs.dtype)
            assert tuple(mine.shape) == tuple(theirs.shape)
            np.testing.assert_allclose(mine.tolist(), theirs.tolist(), rtol=1e-12, atol=1e-12)


def scores(t):
    return t.ones(4, 3, requires_grad=True)


def classes(t):
    return t.tensor([0, 1, 2, 0])


def wanting(t):
    return t.ones(3, requires_grad=True)


REFUSED = {
    "kl_div": lambda t: t.kl_div(t.ones(2), t.ones(2), "mean"),
    "logits": lambda t: t.binary_cross_entropy_with_logits(t.zeros(2, 3), t.ones(3)),
    "nll_loss-weight": lambda t: t.nn.functional.nll_loss(scores(t), classes(t), weight=wanting(t)),
    "nll_loss2d-weight": lambda t: t.nn.functional.cross_entropy(
        scores(t)[..., None, None], classes(t)[..., None, None], weight=wanting(t)
    ),
    "cross_entropy-weight": lambda t: t.nn.functional.cross_entropy(scores(t), classes(t), weight=wanting(t)),
    "binary_cross_entropy-weight": lambda t: t.nn.functional.binary_cross_entropy(
        t.ones(4, 3), t.ones(4, 3), weight=wanting(t)
    ),
    "logits-weight": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        scores(t), t.ones(4, 3), weight=wanting(t)
    ),
    "logits-pos_weight": lambda t: t.binary_cross_entropy_with_logits(scores(t), t.ones(4, 3), None, wanting(t)),
    "multi_margin_loss-weight": lambda t: t.nn.functional.multi_margin_loss(scores(t), classes(t), weight=wanting(t)),
    "batch_norm-running_mean": lambda t: t.nn.functional.batch_norm(scores(t), wanting(t), t.ones(3), training=True),
    "batch_norm-running_var": lambda t: t.nn.functional.batch_norm(scores(t), t.ones(3), wanting(t)),
    "norm_except_dim": lambda t: t.norm_except_dim(t.ones(2, 3), 2, 5),
    "feature_dropout-vector": lambda t: t.feature_dropout(t.ones(4), 0.5, True),
    "feature_dropout-p": lambda t: t.feature_dropout(t.ones(4, 2), 1.5, True),
    "alpha_dropout-p": lambda t: t.alpha_dropout(t.ones(4, 2), 1.5, True),
    "feature_dropout-type": lambda t: t.feature_dropout("x", 0.5, True),
    "embedding_renorm_-leaf": lambda t: t.embedding_renorm_(wanting(t)[None], t.tensor([0]), 1.0, 2.0),
    "view_as_complex_copy-gradient": lambda t: t.view_as_complex_copy(t.stack([wanting(t), wanting(t)], -1)),
    "bags-mode": lambda t: t.embedding_bag(t.ones(3, 2), t.tensor([0]), t.tensor([0]), mode=5),
    "bags-start": lambda t: t.embedding_bag(t.ones(3, 2), t.tensor([0, 1]), t.tensor([1])),
    "bags-weights": lambda t: t.embedding_bag(
        t.ones(3, 2), t.tensor([0]), t.tensor([0]), mode=1, per_sample_weights=t.ones(1)
    ),
    "bags-count": lambda t: t.embedding_bag(t.ones(3, 2), t.tensor([0]), t.tensor([0]), per_sample_weights=t.ones(2)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    with pytest.raises(Exception) as wanted:
        REFUSED[case](torch)
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[case](clarion)
    first = str(wanted.value).splitlines()[0].partition("  (Could")[0]
    assert first in str(found.value)
