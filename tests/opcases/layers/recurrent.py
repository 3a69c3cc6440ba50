"""Recurrent layers."""

from __future__ import annotations

import numpy as np

from ..row import Row

T, B, I, H, P = 4, 3, 2, 3, 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """Outputs of an LSTM layer, step by step."""
    h, c, outs = h[0], c[0], []
    for now in x:
        i, f, g, o = np.split(now @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outs.append(h)
    return np.stack(outs), h[None], c[None]


def gru(x, h, w_ih, w_hh, b_ih, b_hh):
    """Outputs of a GRU layer, step by step."""
    h, outs = h[0], []
    for now in x:
        i_r, i_z, i_n = np.split(now @ w_ih.T + b_ih, 3, axis=1)
        h_r, h_z, h_n = np.split(h @ w_hh.T + b_hh, 3, axis=1)
        z = sigmoid(i_z + h_z)
        h = (1 - z) * np.tanh(i_n + sigmoid(i_r + h_r) * h_n) + z * h
        outs.append(h)
    return np.stack(outs), h[None]


def rnn(act):
    def layer(x, h, w_ih, w_hh, b_ih, b_hh):
        h, outs = h[0], []
        for now in x:
            h = act(now @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
            outs.append(h)
        return np.stack(outs), h[None]

    return layer


def joined(results):
    """Several results as one vector: a row's function gives one tensor."""
    return np.concatenate([r.ravel() for r in results])


def flat(t, results):
    return t.cat([r.reshape(-1) for r in results])


def unrecorded(kind):
    """The first step by itself, which nobody will differentiate."""

    def call(t, x, *rest):
        *states, w_ih, w_hh, b_ih, b_hh = rest
        states = [s[0] for s in states]
        with t.no_grad():
            now = getattr(t, f"{kind}_cell")(x[0], states if kind == "lstm" else states[0], w_ih, w_hh, b_ih, b_hh)
        return flat(t, now) if kind == "lstm" else now.reshape(-1)

    return call


def shapes(gates, states, size=H):
    return ((T, B, I), *((1, B, s) for s in states), (gates * H, I), (gates * H, size), (gates * H,), (gates * H,))


def narrow(gates, states):
    """The same with one hidden unit: its gates lie in memory with gaps."""
    return ((T, B, I), *[(1, B, 1)] * states, (gates, I), (gates, 1), (gates,), (gates,))


def padded(name, biases=True, bidirectional=False):
    """Call of a layer on a batch of equal lengths; LSTM takes its two states as a pair."""

    def call(t, x, *rest):
        states, weights = (rest[:2], rest[2:]) if name == "lstm" else (rest[0], rest[1:])
        run = getattr(t, name)
        return flat(t, run(x, states, list(weights), biases, 1, 0.0, False, bidirectional, False))

    return call


def packed(name):
    """The same on packed rows: sequences of 3, 2 and 1 steps."""

    def call(t, x, *rest):
        sizes = t.tensor([3, 2, 1])
        states, weights = (rest[:2], rest[2:]) if name == "lstm" else (rest[0], rest[1:])
        return flat(t, getattr(t, name)(x, sizes, states, list(weights), True, 1, 0.0, False, False))

    return call


def rows(gates, states):
    return ((6, I), *shapes(gates, states)[1:])


def both_ways(gates, states):
    first, *rest = shapes(gates, states)
    weights = rest[len(states) :]
    return (first, *((2, B, s) for s in states), *weights, *weights)


ROWS = [
    Row("lstm_gated", unrecorded("lstm"), shapes(4, (H, H)), lambda x, *a: joined(lstm(x[:1], *a)[1:]), grad=()),
    Row("gru_gated", unrecorded("gru"), shapes(3, (H,)), lambda x, *a: gru(x[:1], *a)[1].ravel(), grad=()),
    Row("lstm_layer", padded("lstm"), shapes(4, (H, H)), lambda *a: joined(lstm(*a))),
    Row("lstm_layer", packed("lstm"), rows(4, (H, H)), label="packed"),
    Row("lstm_layer", padded("lstm", bidirectional=True), both_ways(4, (H, H)), label="both ways"),
    Row("lstm_layer", padded("lstm", False), shapes(4, (H, H))[:5], label="no bias"),
    Row("lstm_layer", padded("lstm"), (*shapes(4, (P, H), P), (P, H)), label="projected"),
    Row("lstm_layer", padded("lstm"), narrow(4, 2), lambda *a: joined(lstm(*a)), label="one unit"),
    Row("gru_layer", padded("gru"), narrow(3, 1), lambda *a: joined(gru(*a)), label="one unit"),
    Row("gru_layer", padded("gru"), shapes(3, (H,)), lambda *a: joined(gru(*a))),
    Row("gru_layer", packed("gru"), rows(3, (H,)), label="packed"),
    Row("gru_layer", padded("gru", bidirectional=True), both_ways(3, (H,)), label="both ways"),
    Row("rnn_layer", padded("rnn_tanh"), shapes(1, (H,)), lambda *a: joined(rnn(np.tanh)(*a))),
    Row("rnn_layer", padded("rnn_relu"), shapes(1, (H,)), lambda *a: joined(rnn(lambda x: np.maximum(x, 0))(*a)), label="relu"),
    Row("rnn_layer", packed("rnn_tanh"), rows(1, (H,)), label="packed"),
]  # fmt: skip


# Alignments ----------------------------------------------------------------------------------------


def ctc(t, log_probs, **more):
    """CTC of three sequences; the middle one is shorter, the last has no labels."""
    targets = t.tensor([[1, 2, 2], [3, 0, 0], [0, 0, 0]])
    return t.nn.functional.ctc_loss(log_probs, targets, (6, 4, 5), (3, 1, 0), **more)


def log_probs(rng):
    scores = rng.standard_normal((6, 3, 4))
    return [scores - np.log(np.exp(scores).sum(-1, keepdims=True))]


# PyTorch takes its input to be normalized, and has no second derivative.
FIRST_ONLY = {"numeric": False, "second": False}
ROWS += [
    Row("ctc_loss", ctc, inputs=log_probs, **FIRST_ONLY),
    Row("ctc_loss", lambda t, x: ctc(t, x, reduction="none"), inputs=log_probs, label="none", **FIRST_ONLY),
    Row("ctc_loss_backward", lambda t, x: ctc(t, x, reduction="sum", zero_infinity=True), inputs=log_probs, **FIRST_ONLY),
]  # fmt: skip
