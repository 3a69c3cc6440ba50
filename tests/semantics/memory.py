"""Memory: which results share it, how they lie in it, and what may be written there; types that meet; random draws in order."""

from __future__ import annotations

import numpy as np

from .programs import double, leaf, refusal


def _turned(t):
    return t.arange(6.0).view(2, 3).t()


def strided_writes(t):
    found = []
    for write in ("neg_", "abs_", "exp_", "sqrt_", "square_", "reciprocal_", "sign_"):
        for step in (2, 4, 8):
            x = t.arange(1.0, 1 + 4 * step).view(4, step)
            getattr(x[:, 0], write)()
            found.append(x[:, 0])
    return found


def strided_writes_of_whole_numbers(t):
    x = t.arange(1, 17, dtype=t.int32).view(4, 4)
    x[:, 0].neg_()
    y = t.arange(1, 65).view(8, 8)
    y[:, 1].neg_()
    return x, y


def copies_that_could_be_views(t):
    f = t.nn.functional
    x = t.arange(4.0).view(1, 1, 2, 2)
    for function in (
        lambda: f.unfold(x, 1),
        lambda: f.pixel_shuffle(x, 1),
        lambda: f.pixel_unshuffle(x, 1),
        lambda: f.channel_shuffle(x, 1),
        lambda: t.chain_matmul(x[0, 0]),
        lambda: f.interpolate(x, scale_factor=1),
        lambda: t.roll(x, 0, 0),
    ):
        function().add_(1)
    return x


def contiguous_results_of_transposed(t):
    x = _turned(t)
    mask = x > 2
    made = [
        t.cat([x, x]),
        t.stack([x, x]),
        x.masked_fill(mask, 0),
        x.cumsum(0),
        x.cumprod(1),
        x.logcumsumexp(0),
        x.roll(1, 0),
        x.tril(),
        t.nn.functional.one_hot(t.arange(4).view(2, 2).t()),
        t.nn.functional.logsigmoid(x),
        x.cummax(0)[0],
        2.0**x,
    ]
    return [(each.view(-1), list(each.stride())) for each in made]


def results_laid_out_as_their_input(t):
    x = _turned(t)
    f = t.nn.functional
    made = [f.gelu(x), t.erf(x), x.sort(0)[0], x.flip(0), x.index_fill(0, t.tensor([0]), 1.0), x.exp(), x + 1, x * x]
    return [list(each.stride()) for each in made]


def gradients_have_no_negative_strides(t):
    x = double(t)
    x.cumsum(0).sum().backward()
    return x.grad, list(x.grad.stride())


def draws_for_transposed_memory(t):
    x = _turned(t) / 6
    f = t.nn.functional
    found = []
    for draw in (
        lambda: x.bernoulli(0.5),
        lambda: t.bernoulli(x),
        lambda: x.clone().bernoulli_(x),
        lambda: f.dropout(x, 0.5),
        lambda: f.dropout(x.expand(2, 3, 2), 0.5),
        lambda: t.multinomial(x + 0.1, 1),
        lambda: f.gumbel_softmax(x),
        lambda: t.rand_like(x),
    ):
        t.manual_seed(0)
        found.append(draw())
    return found


def dropout_after_a_recurrent_layer(t):
    layer = t.nn.LSTM(2, 3, batch_first=True)
    out, _ = layer(t.ones(2, 4, 2))
    t.manual_seed(1)
    return t.nn.functional.dropout(out, 0.5) == 0


def outputs_that_may_be_written(t):
    found = []
    for run in (
        lambda x: x / (x * 2),
        lambda x: t.nn.functional.normalize(x, dim=0),
        lambda x: t.nn.functional.softsign(x),
        lambda x: t.erfinv(x / 10),
        lambda x: t.nn.functional.local_response_norm(x.view(1, 3, 1), 2),
    ):
        x = double(t)
        y = run(x)
        y *= 2
        y.sum().backward()
        found.append(x.grad)
    return found


def outputs_of_recurrent_layers_may_be_written(t):
    found = []
    for name in ("GRU", "RNN"):
        layer = getattr(t.nn, name)(2, 3)
        x = t.ones(2, 2, 2, requires_grad=True)
        y, _ = layer(x)
        y *= 2
        y.sum().backward()
        found.append(x.grad)
    return found


def a_power_of_a_complex_exponent(t):
    x = double(t, 1.5, -2.0)
    (x ** (2 + 1j)).real.sum().backward()
    y = double(t, 1.5, -2.0)
    e = t.tensor([2 + 1j, 0.5j], requires_grad=True)
    (y**e).real.sum().backward()
    z = t.tensor([2 + 1j, 3 + 0j], requires_grad=True)
    ((-2.0) ** z).imag.sum().backward()
    return x.grad, y.grad, e.grad, z.grad


def pairs_as_one_complex_number(t):
    x = leaf(t, 3.0, 4.0)
    t.view_as_complex(x).abs().backward()
    return x.grad


def a_leaf_that_stopped_requiring(t):
    x, w = leaf(t), leaf(t)
    y = x * w
    x.requires_grad_(False)
    y.sum().backward()
    z = leaf(t)
    out = z * 2
    z.detach_()
    out.sum().backward()
    return x.grad is None, w.grad, z.grad is None


def a_leaf_that_requires_again(t):
    x = leaf(t)
    y = x * 2
    x.requires_grad_(False)
    x.requires_grad_(True)
    y.sum().backward()
    return x.grad


def types_that_meet(t):
    mask = t.tensor([True, False])
    made = [
        t.where(mask, t.tensor([1, 2]), t.tensor([1.0, 2.0])),
        t.nextafter(t.tensor([1]), t.tensor([2.0])),
        t.lerp(t.zeros(2), t.ones(2), t.tensor(0.5, dtype=t.float64)),
        t.clamp(t.arange(3.0), t.tensor(1.0), 2.0),
    ]
    return [(each, str(each.dtype)) for each in made], t.logsumexp(t.ones(2, 2), (), keepdim=True)


def whole_numbers_take_no_history(t):
    w = leaf(t, 1.0, 2.0)
    x, y = t.zeros(2, dtype=t.long), t.zeros(2, dtype=t.bool)
    x[0] = w[0]
    y.copy_(w)
    return x, x.requires_grad, y, y.requires_grad


def logic_in_place_on_a_leaf(t):
    x = leaf(t)
    x.logical_not_()
    y = leaf(t) * 1
    y.logical_and_(t.ones(3))
    return x, x.requires_grad, y, y.grad_fn.name()


def numpy_under_no_grad(t):
    weight = leaf(t)
    with t.no_grad():
        inside = weight.numpy().tolist()
    return inside, refusal(lambda: weight.numpy())


def sizes_from_numpy(t):
    n, x = np.int64(6), t.arange(6)
    return x.view(n), x.reshape(np.prod((2, 3))), x.view(np.int64(2), np.int32(3)), t.zeros(np.int64(2))


def a_mask_and_one_value_of_another_type(t):
    x = t.zeros(3)
    x[t.tensor([True, False, True])] = t.tensor([5])
    return x, refusal(lambda: x.__setitem__(t.tensor([True, False, True]), t.tensor([5, 6])))


def writing_to_what_numpy_calls_read_only(t):
    array = np.ones(2)
    array.flags.writeable = False
    x = t.from_numpy(array)
    x.add_(1)
    y = t.frombuffer(bytes([1, 2, 3]), dtype=t.uint8)
    y[0] = 7
    return x, array.tolist(), y


def numbers_that_do_not_fit(t):
    whole, byte, small = t.zeros(2, dtype=t.long), t.zeros(2, dtype=t.uint8), t.zeros(2, dtype=t.int8)
    return [
        refusal(lambda: whole.fill_(float("nan"))),
        refusal(lambda: whole.fill_(float("inf"))),
        refusal(lambda: byte.fill_(300)),
        byte.fill_(-1),
        refusal(lambda: small.masked_fill(small == 0, 1000)),
        refusal(lambda: small.clamp(max=1000)),
        refusal(lambda: t.zeros(2).fill_(1e300)),
        refusal(lambda: t.full((2,), 1e300)),
        refusal(lambda: t.zeros(2, dtype=t.int32).fill_(2**40)),
    ]


def types_that_an_operation_does_not_have(t):
    x, mask = t.ones(2), t.tensor([True, False])
    return [
        refusal(lambda: x & x, 40),
        refusal(lambda: x.__ior__(x), 40),
        refusal(lambda: t.gcd(x, x), 40),
        refusal(lambda: t.lcm(x, x), 40),
        refusal(lambda: x - mask, 40),
        refusal(lambda: mask - x, 40),
        refusal(lambda: 1 - mask, 40),
        refusal(lambda: x.__isub__(mask), 40),
        refusal(lambda: t.nn.functional.layer_norm(t.ones(2, 2, dtype=t.long), (2,)), "not implemented for 'Long'"),
        refusal(lambda: t.nn.functional.mse_loss(mask, mask), "not implemented for 'Bool'"),
    ]


def memory_that_is_not_there(t):
    return [
        refusal(lambda: t.zeros(2**62), 40),
        refusal(lambda: t.zeros(2**40, 2**40), 40),
        refusal(lambda: t.empty(2**45), "can't allocate memory: you tried to allocate 140737488355328 bytes"),
        refusal(lambda: t.ones(2**20).expand(2**30, 2**20).contiguous(), "can't allocate memory"),
    ]


def writing_all_of_a_leaf(t):
    x = leaf(t)
    found = [refusal(lambda index=index: x.__setitem__(index, 1), 40) for index in (slice(None), ..., 0, (), True)]
    return found, refusal(lambda: t.zeros(2).index_add_(0, t.tensor([5]), t.ones(1)), 26)
