"""Forward mode: levels, duals, what keeps a tangent and what loses it, writes and views."""

from __future__ import annotations

from .programs import leaf, refusal


def _dual(t, *values, tangent=None):
    x = t.tensor(list(values) or [1.0, 2.0, 3.0])
    return t.autograd.forward_ad.make_dual(x, t.tensor([0.5, -1.0, 2.0]) if tangent is None else tangent)


def _seen(t, *tensors):
    """(value, tangent) of each."""
    return [list(t.autograd.forward_ad.unpack_dual(x)) for x in tensors]


# Levels ----------------------------------------------------------------------------------------------


def no_level(t):
    fw, x = t.autograd.forward_ad, t.ones(2)
    return refusal(lambda: fw.make_dual(x, x)), refusal(fw.exit_dual_level), fw.unpack_dual(x).tangent


def nested_levels(t):
    fw = t.autograd.forward_ad
    with fw.dual_level() as level:
        return level, refusal(fw.enter_dual_level), refusal(lambda: fw.exit_dual_level(level=1))


def enter_and_exit(t):
    fw = t.autograd.forward_ad
    level = fw.enter_dual_level()
    seen = _seen(t, _dual(t).sin())
    fw.exit_dual_level(level=level)
    return level, seen


def tangents_vanish(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = _dual(t)
        y = d * 2
    outside = fw.unpack_dual(y).tangent, fw.unpack_dual(y).primal is y
    with fw.dual_level():
        return outside, _seen(t, d, y, y + 1)


def level_as_decorator(t):
    fw = t.autograd.forward_ad

    @fw.dual_level()
    def f():
        return fw.unpack_dual(_dual(t) ** 2).tangent

    return f(), f()


def level_ends_with_an_error(t):
    fw = t.autograd.forward_ad

    def fails():
        with fw.dual_level():
            raise ValueError("mine")

    return refusal(fails), refusal(lambda: fw.make_dual(t.ones(1), t.ones(1)))


# Duals -----------------------------------------------------------------------------------------------


def refused_duals(t):
    fw, x = t.autograd.forward_ad, t.ones(3)
    with fw.dual_level():
        d = fw.make_dual(x, x)
        return [
            refusal(lambda: fw.make_dual(x, t.ones(2)), 200),
            refusal(lambda: fw.make_dual(x, t.arange(3)), 200),
            refusal(lambda: fw.make_dual(t.arange(3), x), 200),
            refusal(lambda: fw.make_dual(d, x), 200),
            refusal(lambda: fw.make_dual(x, d), 200),
        ]


def dual_is_a_view(t):
    fw, x, v = t.autograd.forward_ad, t.ones(3), t.ones(3)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        primal, tangent = fw.unpack_dual(d)
        d.mul_(3)
        return x, v, tangent is v, primal, primal is x, d._is_view(), fw.unpack_dual(primal).tangent


def fields_and_text(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = _dual(t)
        pair = fw.unpack_dual(d)
        return pair._fields, type(pair).__name__, repr(pair), repr(d), repr(d.sum()), repr(d.requires_grad_().sin())


def tangent_of_another_type(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(t.ones(2), t.ones(2, dtype=t.float64))
        z = fw.make_dual(t.ones(2, dtype=t.complex64), t.ones(2))
        return str(fw.unpack_dual(d).tangent.dtype), str(fw.unpack_dual(z).tangent.dtype)


def tangent_in_another_layout(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(t.arange(6.0).reshape(2, 3).t(), t.arange(6.0).reshape(3, 2))
        return _seen(t, d, d.t().reshape(-1), d.t().view(6)), fw.unpack_dual(d).tangent.stride()


# What keeps a tangent --------------------------------------------------------------------------------


def kept_and_lost(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = _dual(t)
        kept = d.clone(), d.double(), d.view(3, 1), d.contiguous(), d.to(t.float16), d.requires_grad_()
        lost = d.detach(), d.data, d.int(), d > 1, d.argmax(), t.zeros_like(d), d.isnan()
        return [str(fw.unpack_dual(x).tangent) for x in kept + lost]


def piecewise_constant(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t, 0.5, -1.5, 2.25)
        return _seen(t, d.floor(), d.round(), d.sign(), d.trunc(), d.frac(), d.ceil())


def no_grad_keeps(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t)
        with t.no_grad():
            return _seen(t, d.exp(), d * d)


def inference_mode_loses(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t)
        with t.inference_mode():
            inside = _seen(t, d * 2, d, _dual(t) * 3)
        return inside, _seen(t, d * 2)


def switched_off(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = _dual(t)
        with fw._set_fwd_grad_enabled(False):
            inside, state = _seen(t, d * 2, d), fw._is_fwd_grad_enabled()
        return inside, state, _seen(t, d * 2), fw._is_fwd_grad_enabled()


def out_argument(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t)
        return (
            refusal(lambda: t.sin(d, out=t.empty(3)), 200),
            refusal(lambda: t.sin(t.ones(3), out=d), 200),
            refusal(lambda: t.cat([t.ones(1), d], out=t.empty(4)), 200),
        )


def several_outputs(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t, 3.0, 1.0, 2.0)
        values, order = d.sort()
        top = d.max(0)
        return _seen(t, values, order, top.values, top.indices, *d.unbind(), *d.split(2), *t.var_mean(d))


def one_input_has_none(t):
    with t.autograd.forward_ad.dual_level():
        d, x = _dual(t), t.tensor([2.0, 2.0, 4.0])
        return _seen(
            t, d * x, x / d, t.cat([x, d]), t.stack([d, x]), t.where(d > 1, d, x), t.lerp(x, d, 0.5), x @ d, d @ x
        )


def broadcasting(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t)
        m = t.arange(6.0).reshape(2, 3)
        return _seen(t, d + m, m * d, d[:, None] * d, d.sum() + m, 2 - d, d * 3)


def linear_layer(t):
    fw = t.autograd.forward_ad
    layer = t.nn.Linear(3, 2)
    with t.no_grad():
        layer.weight.copy_(t.arange(6.0).reshape(2, 3) / 7)
        layer.bias.fill_(0.1)
    with fw.dual_level():
        loss = t.nn.functional.cross_entropy(layer(_dual(t))[None], t.tensor([1]))
        by_input = fw.unpack_dual(loss).tangent
        names = [name for name, _ in layer.named_parameters()]
        for name in names:
            p = getattr(layer, name)
            delattr(layer, name)
            setattr(layer, name, fw.make_dual(p, t.ones_like(p)))
        out = layer(t.ones(2, 3)).tanh()
        return by_input, _seen(t, out)


# Writes and views ------------------------------------------------------------------------------------


def views_share_tangents(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t).clone()
        v, w = d[1:], d[:2]
        v.mul_(t.tensor([10.0, 20.0]))
        return _seen(t, d, v, w)


def write_a_dual_into_a_view(t):
    with t.autograd.forward_ad.dual_level():
        z = t.zeros(4)
        v, w, other = z[1:], z[:2], z.view(2, 2)
        v.copy_(_dual(t))
        first = _seen(t, z, v, w, other)
        z.mul_(3)
        return first, _seen(t, z, v, w, other)


def write_over_a_tangent(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t).clone()
        d[0] = 7.0
        first = _seen(t, d)
        d.copy_(t.ones(3))
        second = _seen(t, d)
        d.add_(_dual(t))
        third = _seen(t, d)
        d.zero_()
        return first, second, third, _seen(t, d)


def write_in_place(t):
    with t.autograd.forward_ad.dual_level():
        seen = []
        for name in ("exp_", "sin_", "sigmoid_", "neg_", "sqrt_", "relu_", "square_", "tanh_", "cumsum_"):
            x = _dual(t).clone()
            getattr(x, name)(*((0,) if name == "cumsum_" else ()))
            seen.append(_seen(t, x))
        x = t.ones(3)
        x.div_(_dual(t)).sub_(_dual(t), alpha=2)
        return seen, _seen(t, x)


def index_writes(t):
    with t.autograd.forward_ad.dual_level():
        d, z, q = _dual(t), t.zeros(3), _dual(t).clone()
        z[t.tensor([2, 0])] = d[:2]
        q[q > 1] = 0.0
        z.index_put_((t.tensor([1]),), d[2:], accumulate=True)
        m = t.zeros(2, 3)
        m[1] = d
        m[:, 0] += d[2]
        return _seen(t, z, q, m)


def shape_in_place(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t).clone()
        v = d[1:]
        d.unsqueeze_(0)
        v.mul_(2)
        e = t.autograd.forward_ad.make_dual(t.ones(2, 3), t.arange(6.0).reshape(2, 3)).clone().t_()
        return _seen(t, d, v, e)


def random_write(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = _dual(t).clone().uniform_()
        return fw.unpack_dual(d).tangent


def detach_in_place(t):
    with t.autograd.forward_ad.dual_level():
        d = _dual(t).clone()
        d.detach_()
        return _seen(t, d)


def leaf_still_refused(t):
    with t.autograd.forward_ad.dual_level():
        x = leaf(t)
        return refusal(lambda: x.mul_(_dual(t))), x


def tangents_lie_as_their_primals(t):
    """A tangent in other memory is copied into memory like the primal's: writes to the dual leave the caller's alone."""
    fw, found = t.autograd.forward_ad, []
    whole = t.arange(8.0)
    pairs = (
        (whole[:4], t.ones(4)), (whole.view(2, 4)[1], t.ones(4)), (whole.view(2, 4).t(), t.ones(4, 2)), (t.ones(4), whole[4:].clone()),
        (t.ones(4), t.ones(8)[4:]), (t.ones(4), t.ones(8)[::2]), (t.tensor(1.0), t.ones(3)[1]),
        (t.ones(2, dtype=t.complex64).conj(), t.ones(2, dtype=t.complex64)),
    )  # fmt: skip
    for primal, tangent in pairs:
        with fw.dual_level():
            dual = fw.make_dual(primal.clone() if primal.dim() == 0 else primal, tangent)
            held = fw.unpack_dual(dual).tangent
            held *= 2
            found.append(
                (
                    held is tangent,
                    held.tolist(),
                    tangent.tolist(),
                    held.stride(),
                    held.storage_offset(),
                    held.untyped_storage().nbytes(),
                )
            )
    with fw.dual_level():
        dual = fw.make_dual(whole[:4], t.ones(4))
        found.append(fw.unpack_dual(dual.as_strided((2,), (5,), 1)).tangent.tolist())
    return found
