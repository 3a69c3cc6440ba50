"""Inference tensors and where modes meet functions, leaves and backward."""

from __future__ import annotations

from .programs import leaf, refusal


def inference_tensor_facts(t):
    x = leaf(t)
    with t.inference_mode():
        a = t.ones(2)
        b = x * 2
        c = x.view(3)
        d = x.clone()
        e = a.view(2)
        inside = t.is_inference_mode_enabled(), t.is_grad_enabled()
    return inside, [v.is_inference() for v in (a, b, c, d, e, x)], [v.requires_grad for v in (a, b, d, e)]


def inference_view_of_normal_tensor(t):
    x = leaf(t).clone()
    with t.inference_mode():
        v = x[:2]
        v.add_(1)
    return v.is_inference(), v._version, x._version, v._is_view(), v.requires_grad, x


def inference_tensor_in_normal_mode_is_readable(t):
    with t.inference_mode():
        a = t.ones(3)
    b = a * 2
    return b.is_inference(), b, b.requires_grad


def inference_tensor_with_graph_without_saving(t):
    with t.inference_mode():
        a = t.ones(3)
    x = leaf(t)
    y = x + a
    y.sum().backward()
    return y.requires_grad, x.grad


def inference_tensor_views_outside(t):
    with t.inference_mode():
        a = t.ones(3)
    v = a[:2]
    return v.is_inference(), a.clone().is_inference(), a.detach().is_inference()


def inference_inplace_inside(t):
    with t.inference_mode():
        a = t.ones(3)
        a.add_(1)
        a[0] = 5
    return a


def inference_tensor_refusals(t):
    with t.inference_mode():
        a = t.ones(3)
        b = t.ones(3, requires_grad=True)
    x = leaf(t)
    return (
        refusal(lambda: a.add_(1)),
        refusal(lambda: a.zero_()),
        refusal(lambda: a.__setitem__(0, 1.0)),
        refusal(lambda: x * a),
        refusal(lambda: a._version),
        refusal(lambda: a.requires_grad_()),
        refusal(lambda: (a * x).sum().backward()),
        b.requires_grad,
        refusal(lambda: b * 2),
    )


def inference_requires_grad_inside(t):
    with t.inference_mode():
        a = t.ones(3)
        a.requires_grad_()
        b = a * 2
    return a.requires_grad, b.requires_grad, a.is_leaf


def inference_mode_false_inside(t):
    seen = []
    with t.inference_mode():
        with t.inference_mode(False):
            seen.append((t.is_inference_mode_enabled(), t.is_grad_enabled()))
            y = leaf(t) * 2
        seen.append((t.is_inference_mode_enabled(), t.is_grad_enabled()))
    return seen, y.requires_grad


def inference_mode_false_under_no_grad(t):
    with t.no_grad(), t.inference_mode(False):
        return t.is_grad_enabled(), (leaf(t) * 2).requires_grad


def enable_grad_inside_inference_mode(t):
    x = leaf(t)
    with t.inference_mode():
        with t.enable_grad():
            y = x * 2
            on = t.is_grad_enabled()
    return on, y.requires_grad, y.is_inference()


def no_grad_inside_inference(t):
    with t.inference_mode():
        with t.no_grad():
            y = leaf(t) * 2
        after = t.is_grad_enabled()
    return y.is_inference(), after


def inference_of_no_grad_view_mixed(t):
    x = leaf(t).clone()
    with t.no_grad():
        v = x[:2]
    with t.inference_mode():
        v.add_(1)
    return x, v.requires_grad


def is_inference_function(t):
    with t.inference_mode():
        a = t.ones(1)
    return t.is_inference(a) if hasattr(t, "is_inference") else a.is_inference(), t.ones(1).is_inference()


def inference_outputs_of_normal_inplace(t):
    x = t.ones(3)
    with t.inference_mode():
        x.mul_(2)
    return x.is_inference(), x._version, x


def inference_result_into_normal_tensor(t):
    x = t.zeros(3)
    with t.inference_mode():
        a = t.ones(3)
    x.copy_(a)
    x += a
    return x, x.is_inference()


def modes_live_in_names(t):
    return [
        t.no_grad is t.autograd.no_grad,
        t.enable_grad is t.autograd.enable_grad,
        t.set_grad_enabled is t.autograd.set_grad_enabled,
        t.inference_mode is t.autograd.inference_mode,
        t.no_grad is t.autograd.grad_mode.no_grad,
    ]


def grad_mode_inside_backward(t):
    seen = []

    class Look(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(t.is_grad_enabled())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(t.is_grad_enabled())
            return g * 2

    x = leaf(t)
    Look.apply(x).sum().backward()
    (g,) = t.autograd.grad(Look.apply(x).sum(), x, create_graph=True)
    with t.no_grad():
        t.autograd.grad(_with_grad(t, Look, x), x, create_graph=True)
    return seen


def _with_grad(t, function, x):
    with t.enable_grad():
        return function.apply(x).sum()


def leaf_created_under_modes(t):
    found = []
    for mode in (t.no_grad(), t.enable_grad(), t.inference_mode(), t.inference_mode(False)):
        with mode:
            x = t.ones(2, requires_grad=True)
        found.append((x.requires_grad, x.is_leaf, x.is_inference()))
    return found


def argument_types(t):
    return (
        refusal(lambda: t.set_grad_enabled(), 0),
        refusal(lambda: t.set_grad_enabled(1)),
        t.is_grad_enabled(),
    )


def lambda_decorated(t):
    f = t.no_grad()(lambda x: x * 2)
    return f(leaf(t)).requires_grad


def partial_decorated(t):
    import functools

    def base(x, k):
        return x * k

    f = t.no_grad()(functools.partial(base, k=3))
    return f(leaf(t)).requires_grad


def wrapped_attribute(t):
    @t.no_grad()
    def f(x):
        return x

    return hasattr(f, "__wrapped__"), f.__wrapped__(leaf(t) * 2).requires_grad


def decorator_instance_used_twice(t):
    mode = t.no_grad()

    @mode
    def f(x):
        return x * 2

    @mode
    def g(x):
        return f(x) * 2, t.is_grad_enabled()

    return g(leaf(t))[0].requires_grad, g(leaf(t))[1], t.is_grad_enabled()


def shapes_of_inference_tensors_set_outside(t):
    with t.inference_mode():
        x = t.ones(1, 2)
    return refusal(
        lambda: x.transpose_(0, 1), "Inplace update to inference tensor outside InferenceMode is not allowed"
    )


def views_of_inference_tensors_have_no_history(t):
    with t.inference_mode():
        x = t.ones(1, 2, 3, requires_grad=True)
    views = (x.view(-1), x[0], x.transpose(1, 2), x.unbind(1)[0])
    return [(v.is_inference(), v.requires_grad, v.is_leaf, v._is_view()) for v in views]
