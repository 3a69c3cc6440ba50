"""Recurrent layers and packed sequences against PyTorch's: outputs, gradients, second derivatives, refusals."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

from .convert import to_numpy

LIBRARIES = (torch, clarion)
KINDS = [("LSTM", {}), ("LSTM", {"proj_size": 2}), ("GRU", {}), ("RNN", {}), ("RNN", {"nonlinearity": "relu"})]


def data(t, *shape, seed=0, dtype=np.float64):
    return t.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, (tuple, list)) else [value]


def same(ours, theirs, rtol=1e-7, atol=1e-9):
    assert len(ours) == len(theirs)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert (a is None) == (b is None), i
        if b is not None:
            a, b = to_numpy(clarion, a), to_numpy(torch, b)
            assert a.shape == b.shape, i
            assert a.dtype == b.dtype, i
            np.testing.assert_allclose(a, b, rtol, atol, err_msg=str(i))


def state_for(t, layer, batch):
    rows = layer.num_layers * (2 if layer.bidirectional else 1)
    h = data(t, rows, *batch, getattr(layer, "proj_size", 0) or layer.hidden_size, seed=1).requires_grad_()
    if not isinstance(layer, t.nn.LSTM):
        return h
    return h, data(t, rows, *batch, layer.hidden_size, seed=2).requires_grad_()


@pytest.mark.parametrize(("kind", "more"), KINDS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("layers", "both", "first"), [(1, False, False), (2, True, True), (3, False, True)])
def test_layers(kind, more, bias, layers, both, first):
    results = []
    for t in LIBRARIES:
        t.manual_seed(0)
        layer = getattr(t.nn, kind)(
            3, 4, num_layers=layers, bias=bias, bidirectional=both, batch_first=first, **more
        ).double()
        x, hx = data(t, 5, 2, 3).requires_grad_(), state_for(t, layer, (5 if first else 2,))
        out = flat(layer(x, hx))
        inputs = [x, *flat(hx), *layer.parameters()]
        loss = sum((o * data(t, *o.shape, seed=i)).sum() for i, o in enumerate(out))
        grads = t.autograd.grad(loss, inputs, create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in grads), inputs, allow_unused=True)
        again = t.autograd.grad(sum((o * o).sum() for o in flat(layer(x, hx))), inputs)
        results.append([*out, *grads, *second, *again, *layer.state_dict().values()])
        results.append([list(layer.state_dict()), repr(layer)])
    same(results[2], results[0])
    assert results[3] == results[1]


@pytest.mark.parametrize(("kind", "more"), KINDS)
@pytest.mark.parametrize("sort", [True, False])
def test_packed(kind, more, sort):
    results = []
    for t in LIBRARIES:
        t.manual_seed(0)
        u = t.nn.utils.rnn
        layer = getattr(t.nn, kind)(3, 4, num_layers=2, bidirectional=True, dropout=0.3, **more).double()
        lengths = (4, 3, 3, 1) if sort else (3, 1, 4, 3)
        sequences = [data(t, n, 3, seed=i).requires_grad_() for i, n in enumerate(lengths)]
        packed = u.pack_sequence(sequences, enforce_sorted=sort)
        hx = state_for(t, layer, (4,))
        out, hidden = layer(packed, hx)
        padded, counts = u.pad_packed_sequence(out, batch_first=True, padding_value=-1.0, total_length=6)
        loss = (padded * data(t, *padded.shape)).sum() + sum((h * h).sum() for h in flat(hidden))
        inputs = [*sequences, *flat(hx), *layer.parameters()]
        grads = t.autograd.grad(loss, inputs)
        results.append([packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, out.data])
        results[-1] += [padded, counts, *flat(hidden), *grads, *u.unpack_sequence(out)]
    same(results[1], results[0])


@pytest.mark.parametrize(("kind", "more"), KINDS)
@pytest.mark.parametrize("first", [False, True])
def test_unbatched(kind, more, first):
    results = []
    for t in LIBRARIES:
        t.manual_seed(0)
        layer = getattr(t.nn, kind)(3, 4, batch_first=first, **more).double()
        x = data(t, 5, 3).requires_grad_()
        out = flat([layer(x), layer(x, state_for(t, layer, ()))])
        grads = t.autograd.grad(sum((o * o).sum() for o in out), [x, *layer.parameters()])
        results.append([*out, *grads])
    same(results[1], results[0])


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
@pytest.mark.parametrize("bias", [True, False])
def test_cells(kind, bias):
    results = []
    for t in LIBRARIES:
        t.manual_seed(0)
        cell = getattr(t.nn, kind)(3, 4, bias=bias).double()
        x = data(t, 2, 3).requires_grad_()
        state, seen = None, []
        for _ in range(3):
            state = cell(x, state)
            seen.append(state)
        alone = cell(x[0], tuple(s[0] for s in state) if isinstance(state, tuple) else state[0])
        out = flat([*seen, alone])
        grads = t.autograd.grad(sum((o * o).sum() for o in out), [x, *cell.parameters()], create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in grads), [x, *cell.parameters()])
        results.append([*out, *grads, *second])
    same(results[1], results[0])


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_single_precision_and_dropout(kind):
    results = []
    for t in LIBRARIES:
        t.manual_seed(0)
        layer = getattr(t.nn, kind)(6, 8, num_layers=3, dropout=0.5)
        x = data(t, 7, 4, 6, dtype=np.float32).requires_grad_()
        out = flat(layer(x))
        grads = t.autograd.grad(sum((o * o).sum() for o in out), [x, *layer.parameters()])
        results.append([*out, *grads, *flat(layer.eval()(x))])
    same(results[1], results[0], 1e-4, 1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("first", [False, True])
def test_padding(side, first):
    results = []
    for t in LIBRARIES:
        u = t.nn.utils.rnn
        sequences = [data(t, n, 2, 2, seed=n).requires_grad_() for n in (2, 4, 1)]
        padded = u.pad_sequence(sequences, batch_first=first, padding_value=2.5, padding_side=side)
        lengths = t.tensor([2, 4, 1])
        grads = t.autograd.grad((padded * data(t, *padded.shape)).sum(), sequences)
        assert padded.is_contiguous()
        results.append([padded, *grads, *u.unpad_sequence(padded.detach(), lengths, batch_first=first)])
    same(results[1], results[0])


def mistakes(t):
    """Calls that must be refused, each by the same exception and the same first words."""
    u = t.nn.utils.rnn
    lstm, gru, cell = t.nn.LSTM(3, 4), t.nn.GRU(3, 4), t.nn.LSTMCell(3, 4)
    x, h = t.zeros(5, 2, 3), t.zeros(1, 2, 4)
    return [
        lambda: lstm(t.zeros(3)),
        lambda: lstm(t.zeros(5, 2, 2)),
        lambda: lstm(x, (h, t.zeros(1, 3, 4))),
        lambda: lstm(x, (h[0], h[0])),
        lambda: lstm(x.double()),
        lambda: gru(t.zeros(3)),
        lambda: gru(x, h[0]),
        lambda: gru(t.zeros(5, 3), h),
        lambda: gru(x, t.zeros(2, 2, 4)),
        lambda: t.nn.RNN(3, 4)(t.zeros(1, 1, 1, 1)),
        lambda: t.nn.RNN(3, 4, nonlinearity="selu"),
        lambda: t.nn.GRU(3, 4, proj_size=2),
        lambda: t.nn.LSTM(3, 4, proj_size=4),
        lambda: t.nn.LSTM(0, 4),
        lambda: t.nn.LSTM(3, 4.5),
        lambda: t.nn.LSTM(3, 4, num_layers=0),
        lambda: t.nn.LSTM(3, 4, dropout=2),
        lambda: t.nn.LSTM(3, 4, bias=1),
        lambda: cell(t.zeros(1, 1, 1)),
        lambda: cell(t.zeros(2, 5)),
        lambda: cell(t.zeros(2, 3), (t.zeros(2, 3), t.zeros(2, 4))),
        lambda: cell(t.zeros(2, 3), (t.zeros(3, 4), t.zeros(3, 4))),
        lambda: u.pack_padded_sequence(x, [1, 3]),
        lambda: u.pack_padded_sequence(x, [3]),
        lambda: u.pack_padded_sequence(x, [3, 0]),
        lambda: u.pad_sequence([]),
        lambda: u.pad_sequence(3),
        lambda: u.pad_packed_sequence(u.pack_padded_sequence(x, [5, 3]), total_length=4),
    ]


@pytest.mark.parametrize("number", range(28))
def test_refusals(number):
    seen = []
    for t in LIBRARIES:
        with pytest.raises(Exception) as caught:
            mistakes(t)[number]()
        kinds = [k for k in (RuntimeError, ValueError, TypeError) if isinstance(caught.value, k)]
        seen.append((kinds, str(caught.value)[:30]))
    assert seen[1] == seen[0]


def test_the_number_of_mistakes():
    assert len(mistakes(clarion)) == 28


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformer():
    for batch_first, norm_first in itertools.product((False, True), repeat=2):
        results = []
        for t in LIBRARIES:
            t.manual_seed(0)
            net = t.nn.Transformer(
                8, 2, 1, 2, 16, batch_first=batch_first, norm_first=norm_first, activation="gelu", bias=not norm_first
            ).double()
            src, tgt = data(t, 3, 3, 8).requires_grad_(), data(t, 3, 3, 8, seed=1)
            mask = net.generate_square_subsequent_mask(3).double()
            padding = t.tensor([[False, False, True], [False] * 3, [False] * 3])
            out = net(src, tgt, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding)
            grads = t.autograd.grad((out * data(t, *out.shape)).sum(), [src, *net.parameters()])
            results.append([mask, out, *grads])
        same(results[1], results[0], 1e-6, 1e-8)
