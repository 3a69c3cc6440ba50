"""Forward mode: levels, duals, what keeps a tangent and what loses it, writes and views, custom Functions, derivatives of both."""

from __future__ import annotations

from .function import _make
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


# Both modes ------------------------------------------------------------------------------------------


def forward_over_reverse(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        x = leaf(t)
        d = fw.make_dual(x, t.tensor([1.0, 0.0, 2.0]))
        y = (d.exp().sigmoid() * d).sum().tanh() + (d**3).sum()
        (g,) = t.autograd.grad(y, d)
        (h,) = t.autograd.grad((d.sin() * d).prod(), x, create_graph=True)
        return _seen(t, g, h), g.requires_grad, h.requires_grad


def accumulated_gradients(t):
    fw = t.autograd.forward_ad
    with fw.dual_level():
        x = leaf(t)
        d = fw.make_dual(x, t.tensor([1.0, 0.0, 2.0]))
        (d**2).sum().backward()
        first = _seen(t, x.grad)
        (d**3).sum().backward()
        return first, _seen(t, x.grad), x.grad.requires_grad


def gradients_of_tangents(t):
    fw, x, v = t.autograd.forward_ad, leaf(t), leaf(t, 1.0, 0.0, 2.0)
    with fw.dual_level():
        y = (fw.make_dual(x, v) ** 3).prod().sqrt()
        tangent = fw.unpack_dual(y).tangent
    tangent.backward()
    return tangent, x.grad, v.grad


def tangents_through_writes_have_gradients(t):
    fw, x, v = t.autograd.forward_ad, leaf(t), leaf(t, 1.0, 0.0, 2.0)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        y = d * 1
        y[1:].mul_(d[:2]).exp_()
        tangent = fw.unpack_dual(y.sum()).tangent
    tangent.backward()
    return tangent, x.grad, v.grad


def hooks_see_tangents(t):
    fw, x, seen = t.autograd.forward_ad, leaf(t), []
    with fw.dual_level():
        d = fw.make_dual(x, t.ones(3))
        y = d * d
        y.register_hook(lambda g: seen.append(_seen(t, g)))
        d.register_hook(lambda g: seen.append(_seen(t, g)))
        (y * y).sum().backward()
        return seen


def saved_hooks_keep_tangents(t):
    fw, x = t.autograd.forward_ad, leaf(t)
    with fw.dual_level():
        d = fw.make_dual(x, t.ones(3))
        with t.autograd.graph.saved_tensors_hooks(lambda a: a.detach().clone(), lambda a: a):
            y = d.exp().sin() * d
        return _seen(t, *t.autograd.grad(y.sum(), x))


def checkpointed(t):
    fw, x = t.autograd.forward_ad, leaf(t)
    with fw.dual_level():
        d = fw.make_dual(x, t.ones(3))
        y = t.utils.checkpoint.checkpoint(lambda a: a.exp().sin().exp(), d, use_reentrant=False)
        return _seen(t, y), _seen(t, *t.autograd.grad(y.sum(), x))


# Custom Functions ------------------------------------------------------------------------------------


def function_with_jvp(t):
    def forward(ctx, x, k, y):
        ctx.save_for_forward(x, y)
        ctx.inside = t.autograd.forward_ad.unpack_dual(x).tangent
        return x * k * y, y * 1

    def jvp(ctx, dx, dk, dy):
        x, y = ctx.saved_tensors
        given.append((dx, dk, dy, ctx.inside))
        return 3 * dx * y + 3 * x * dy, dy

    given = []
    f = _make(t, forward, jvp=jvp)
    with t.autograd.forward_ad.dual_level():
        outs = f.apply(_dual(t), 3, t.tensor([1.0, 2.0, 3.0]))
        return _seen(t, *outs), given


def function_without_zeros(t):
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * y

    given = []

    def jvp(ctx, dx, dy):
        given.append((dx, dy))
        return dx * 2

    f = _make(t, forward, jvp=jvp)
    with t.autograd.forward_ad.dual_level():
        return _seen(t, f.apply(_dual(t), t.full((3,), 2.0))), given


def function_without_jvp(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    with t.autograd.forward_ad.dual_level():
        return refusal(lambda: f.apply(_dual(t)), 200), f.apply(t.ones(2))


def function_with_wrong_jvp(t):
    def call(jvp, forward=lambda ctx, x: x * 2):
        f = _make(t, forward, jvp=jvp)
        return refusal(lambda: f.apply(_dual(t).clone()), 200)

    def dirty(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with t.autograd.forward_ad.dual_level():
        return [
            call(lambda ctx, g: (g, g)),
            call(lambda ctx, g: t.ones(2)),
            call(lambda ctx, g: 3.0),
            call(lambda ctx, g: g * 2, dirty),
            call(lambda ctx, g: g * 1, lambda ctx, x: x.view(3, 1)),
            call(lambda ctx, g: g * 1, lambda ctx, x: x),
        ]


def function_that_writes(t):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    f = _make(t, forward, jvp=lambda ctx, g: g.mul_(2))
    v = _make(t, lambda ctx, x: x.view(3, 1), jvp=lambda ctx, g: g.view(3, 1))
    with t.autograd.forward_ad.dual_level():
        x = _dual(t).clone()
        y = f.apply(x)
        z = v.apply(x)
        return y is x, _seen(t, x, y, z)


def function_in_both_modes(t):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        out = x * x
        ctx.save_for_backward(x, out)
        return out

    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return 2 * g * x + 0 * out

    fw = t.autograd.forward_ad
    f = _make(t, forward, backward, jvp=lambda ctx, g: 2 * ctx.saved_tensors[0] * g)
    with fw.dual_level():
        x = leaf(t)
        y = f.apply(fw.make_dual(x, t.tensor([1.0, 0.0, 2.0])))
        (g,) = t.autograd.grad(y.sum(), x, retain_graph=True)
        tangent = fw.unpack_dual(y).tangent
        tangent.sum().backward()
        return _seen(t, y, g), fw.unpack_dual(x.grad).primal


# What is built on it ---------------------------------------------------------------------------------


def jacobians(t):
    f, a, b = t.autograd.functional, t.tensor([1.0, 2.0]), t.tensor([[3.0, 1.0], [4.0, 5.0]])
    mode = {"strategy": "forward-mode", "vectorize": True}
    return [
        f.jacobian(lambda x: x.exp() * x.sum(), a, **mode),
        f.jacobian(lambda x, y: (y @ x, x * 2), (a, b), **mode),
        f.jacobian(lambda x, y: (y @ x).sum(), (a, b), **mode),
        f.jacobian(lambda x: (x.round(), x.argmax(), x * 2), a, **mode),
    ]


def hessians(t):
    f, a, b = t.autograd.functional, t.tensor([1.0, 2.0]), t.tensor([[3.0, 1.0], [4.0, 5.0]])
    mode = {"outer_jacobian_strategy": "forward-mode", "vectorize": True}
    return [
        f.hessian(lambda x: (x.exp() * x.sum()).sum(), a, **mode),
        f.hessian(lambda x, y: (y @ x).tanh().sum(), (a, b / 5), **mode),
    ]


def refused_jacobians(t):
    f, a = t.autograd.functional, t.ones(2)
    return [
        refusal(lambda: f.jacobian(t.exp, a, strategy="forward-mode")),
        refusal(lambda: f.jacobian(t.exp, a, strategy="forward-mode", create_graph=True), 200),
        refusal(lambda: f.jacobian(t.exp, a, strategy="forward-mode", strict=True), 200),
        refusal(lambda: f.hessian(lambda x: x.exp().sum(), a, outer_jacobian_strategy="forward-mode")),
    ]


def checks(t):
    x = t.linspace(-1, 1, 6, dtype=t.float64).reshape(2, 3).requires_grad_()
    y = t.linspace(0.5, 2, 3, dtype=t.float64).requires_grad_()
    z = t.complex(x.detach(), x.detach().flip(0)).requires_grad_()
    both = t.autograd.gradcheck, t.autograd.gradgradcheck

    def f(a, b):
        return a.sin() * b, (a @ b).tanh()

    return [
        both[0](f, (x, y), check_forward_ad=True, check_batched_forward_grad=True, check_batched_grad=True),
        both[0](f, (x, y), check_forward_ad=True, fast_mode=True),
        both[0](f, (x, y), check_forward_ad=True, check_backward_ad=False),
        both[1](f, (x, y), check_fwd_over_rev=True),
        both[1](f, (x, y), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False),
        both[0](lambda a: (a * a.conj()).real, (z,), check_forward_ad=True),
        both[0](t.exp, (z,), check_forward_ad=True),
        both[0](t.abs, (z,), check_forward_ad=True, fast_mode=True),
        both[1](lambda a: a * a * a, (z,), check_fwd_over_rev=True),
    ]


def failing_checks(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    f = _make(t, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0], jvp=lambda ctx, g: 3 * g * ctx.saved_tensors[0])
    x = t.linspace(0.5, 2, 3, dtype=t.float64).requires_grad_()
    check = t.autograd.gradcheck
    return [
        check(f.apply, (x,)),
        refusal(lambda: check(f.apply, (x,), check_forward_ad=True), 80),
        refusal(lambda: check(f.apply, (x,), check_forward_ad=True, fast_mode=True), 80),
        check(f.apply, (x,), check_forward_ad=True, raise_exception=False),
    ]
