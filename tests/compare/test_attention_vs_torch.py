"""Multi-head attention and the transformer encoder against PyTorch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def close(a, b):
    np.testing.assert_allclose(
        a.detach().numpy(), b.detach().numpy(), rtol=2e-4, atol=3e-6 * max(1.0, float(b.detach().abs().max()))
    )


def inputs(t, *shapes):
    rng = np.random.default_rng(1)
    return [t.from_numpy(rng.standard_normal(s).astype(np.float32)).requires_grad_() for s in shapes]


def padding(t, batch, length):
    mask = np.zeros((batch, length), bool)
    mask[0, -1] = True
    return t.from_numpy(mask)


def causal(t, n):
    return t.from_numpy(np.triu(np.ones((n, n), bool), 1))


SELF = {
    "plain": ({}, lambda t: {}),
    "batch-first": ({"batch_first": True}, lambda t: {"average_attn_weights": False}),
    "no-weights": ({"bias": False}, lambda t: {"need_weights": False}),
    "mask": ({}, lambda t: {"attn_mask": causal(t, 5)}),
    "mask-no-weights": ({}, lambda t: {"attn_mask": causal(t, 5), "need_weights": False}),
    "causal": ({}, lambda t: {"attn_mask": causal(t, 5), "need_weights": False, "is_causal": True}),
    "padding": ({}, lambda t: {"key_padding_mask": padding(t, 3, 5)}),
    "both": ({}, lambda t: {"key_padding_mask": padding(t, 3, 5), "attn_mask": causal(t, 5), "need_weights": False}),
    "bias-kv": ({"add_bias_kv": True, "add_zero_attn": True}, lambda t: {"attn_mask": causal(t, 5)}),
    "dropout": ({"dropout": 0.3}, lambda t: {}),
    "dropout-no-weights": ({"dropout": 0.3}, lambda t: {"need_weights": False}),
}


@pytest.mark.parametrize("name", SELF)
def test_self_attention(name):
    options, call = SELF[name]
    results = []
    for t in (torch, clarion):
        t.manual_seed(5)
        module = t.nn.MultiheadAttention(8, 2, **options)
        (x,) = inputs(t, (3, 5, 8) if options.get("batch_first") else (5, 3, 8))
        out, weights = module(x, x, x, **call(t))
        (out * out).sum().backward()
        results.append((module, out, weights, x))
    (theirs, out, weights, x), (ours, our_out, our_weights, our_x) = results
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    close(our_out, out)
    assert (weights is None) == (our_weights is None)
    if weights is not None:
        close(our_weights, weights)
    close(our_x.grad, x.grad)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(a.grad, b.grad)


@pytest.mark.parametrize("shapes", [((4, 3, 8), (6, 3, 8), (6, 3, 8)), ((4, 8), (6, 8), (6, 8))])
def test_cross_attention(shapes):
    results = []
    for t in (torch, clarion):
        t.manual_seed(5)
        module = t.nn.MultiheadAttention(8, 4)
        values = inputs(t, *shapes)
        out, weights = module(*values)
        out.sum().backward()
        results.append((out, weights, *[v.grad for v in values]))
    for a, b in zip(results[1], results[0], strict=True):
        close(a, b)


def test_other_widths():
    results = []
    for t in (torch, clarion):
        t.manual_seed(5)
        module = t.nn.MultiheadAttention(8, 4, kdim=5, vdim=7)
        values = inputs(t, (4, 3, 8), (6, 3, 5), (6, 3, 7))
        out, weights = module(*values)
        out.sum().backward()
        results.append((list(module.state_dict()), out, weights, *[v.grad for v in values]))
    assert results[0][0] == results[1][0]
    for a, b in zip(results[1][1:], results[0][1:], strict=True):
        close(a, b)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ((4, 64, 32), (2, 4, 96, 32)),
        ((1, 4, 64, 32), (2, 4, 64, 32)),
        ((2, 4, 64, 32), (4, 64, 32)),
        ((2, 4, 64, 32), (2, 1, 64, 32)),
    ],
)
def test_heads_that_are_shared(query, key, is_causal):
    """Large enough to be compiled: some heads, or all of a batch, stand for several."""
    results = []
    for t in (torch, clarion):
        values = inputs(t, query, key, key)
        out = t.nn.functional.scaled_dot_product_attention(*values, is_causal=is_causal)
        (out * out).sum().backward()
        results.append((out, *[v.grad for v in values]))
    for a, b in zip(results[1], results[0], strict=True):
        close(a, b)


@pytest.mark.parametrize("kind", ["plain", "causal", "bias", "mask"])
@pytest.mark.parametrize(("queries", "keys"), [(600, 600), (700, 531)])
def test_dropout_in_tiles_draws_the_same_numbers(kind, queries, keys):
    """More scores than are kept: what is dropped is decided by bits, drawn in PyTorch's order."""
    results = []
    for t in (torch, clarion):
        t.manual_seed(3)
        values = inputs(t, (2, 2, queries, 16), (2, 2, keys, 16), (2, 2, keys, 16))
        mask = {"bias": t.randn(queries, keys), "mask": t.rand(2, 1, queries, keys) > 0.3}.get(kind)
        options = {"dropout_p": 0.2, "is_causal": kind == "causal"}
        out = t.nn.functional.scaled_dot_product_attention(*values, attn_mask=mask, **options)
        (out * out).sum().backward()
        results.append((out, *[v.grad for v in values], t.rand(3)))
    for a, b in zip(results[1], results[0], strict=True):
        close(a, b)


UNFIT = {
    "batches": ((2, 4, 3, 8), (2, 3, 3, 8), (2, 3, 3, 8), None),
    "batches of different ranks": ((2, 4, 3, 8), (3, 3, 8), (3, 3, 8), None),
    "a batch of values": ((2, 4, 3, 8), (2, 4, 3, 8), (2, 2, 3, 8), None),
    "widths": ((2, 4, 3, 8), (2, 4, 5, 7), (2, 4, 5, 8), None),
    "widths of one matrix": ((3, 8), (5, 7), (5, 8), None),
    "lengths": ((2, 4, 3, 8), (2, 1, 5, 8), (2, 1, 6, 8), None),
    "a mask for more queries": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (4, 5)),
    "a mask for fewer keys": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (3, 3)),
    "a mask of more samples": ((1, 3, 8), (1, 5, 8), (1, 5, 8), (4, 3, 5)),
    "a mask of more dimensions": ((4, 3, 8), (4, 5, 8), (4, 5, 8), (2, 4, 3, 5)),
}


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("name", UNFIT)
def test_shapes_that_do_not_fit_are_refused(name, dropout):
    *shapes, mask = UNFIT[name]
    said = []
    for t in (torch, clarion):
        for kind in (t.bool, t.float32):
            given = None if mask is None else t.ones(mask, dtype=kind)
            with pytest.raises(RuntimeError) as caught:
                t.nn.functional.scaled_dot_product_attention(*[t.ones(s) for s in shapes], given, dropout)
            said.append(str(caught.value).splitlines()[0])
    assert said[:2] == said[2:]


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder(norm_first, activation):
    results = []
    for t in (torch, clarion):
        t.manual_seed(5)
        layer = t.nn.TransformerEncoderLayer(8, 2, 16, 0.1, activation, batch_first=True, norm_first=norm_first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net = t.nn.TransformerEncoder(layer, 2, norm=t.nn.LayerNorm(8))
        (x,) = inputs(t, (3, 5, 8))
        out = net(x, mask=causal(t, 5))
        out.pow(3).sum().backward()
        results.append((net, out, x.grad))
    assert repr(results[1][0]) == repr(results[0][0])
    close(results[1][1], results[0][1])
    close(results[1][2], results[0][2])
    for a, b in zip(results[1][0].parameters(), results[0][0].parameters(), strict=True):
        close(a.grad, b.grad)
