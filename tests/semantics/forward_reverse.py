"""Forward mode together with reverse mode, in custom Functions, and in what is built on it: jacobians, gradcheck."""

from __future__ import annotations

from .forward_ad import _dual, _seen
from .function import _make
from .programs import leaf, refusal

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


def gradients_that_depend_on_what_arrives_alone(t):
    """Nothing that they are computed from requires a gradient, but it has a tangent."""
    fw, F = t.autograd.forward_ad, t.nn.functional
    x = t.arange(8.0).reshape(1, 2, 4).requires_grad_()
    found = []
    for f in (
        lambda x: F.avg_pool1d(x, 2),
        lambda x: F.max_pool1d(x, 2),
        lambda x: F.adaptive_avg_pool1d(x, 3),
        lambda x: F.conv1d(x, t.ones(1, 2, 2)),
        lambda x: F.pad(x, (1, 1), mode="reflect"),
        lambda x: F.max_pool3d(x[None], (1, 1, 2)),
    ):
        with fw.dual_level():
            y = f(x)
            g = fw.make_dual(t.ones_like(y), t.arange(float(y.numel())).reshape(y.shape))
            (h,) = t.autograd.grad(y, x, g, create_graph=True)
            found.append((_seen(t, h), h.requires_grad))
    return found


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
