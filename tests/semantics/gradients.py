"""Gradients: batches, types, complex numbers, long and deep graphs, reentrance, errors, callbacks."""

from __future__ import annotations

from .programs import double, leaf, refusal


def batched_gradients(t):
    x = leaf(t)
    return t.autograd.grad(x * x, x, grad_outputs=t.eye(3), is_grads_batched=True)


def batched_gradients_of_wrong_shape(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.grad(x * x, x, t.eye(2), is_grads_batched=True), 50)


def through_views(t):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.t()[1:].reshape(-1).unsqueeze(0).expand(2, 4)
    (y * t.arange(8.0).reshape(2, 4)).sum().backward()
    return x.grad


def seed_in_another_float_type(t):
    x = leaf(t)
    y = x * 2
    y.backward(t.ones(3, dtype=t.float64))
    return x.grad, str(x.grad.dtype)[-7:]


def gradient_types_through_casts(t):
    x = leaf(t)
    h = x.half()
    h.retain_grad()
    (h.double() * 3).sum().backward()
    return str(h.grad.dtype)[-7:], str(x.grad.dtype)[-7:], x.grad


def mixed_precision_operands(t):
    x, w = leaf(t), double(t)
    (x * w).sum().backward()
    return str(x.grad.dtype)[-7:], str(w.grad.dtype)[-7:]


def complex_leaf_and_real_loss(t):
    z = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    return z.grad


def complex_through_abs(t):
    z = t.tensor([3 + 4j], requires_grad=True)
    z.abs().sum().backward()
    return z.grad


def complex_seed(t):
    z = t.tensor([1 + 1j], requires_grad=True)
    y = z * 2j
    y.backward(t.tensor([1 + 0j]))
    return z.grad


def real_leaf_through_complex(t):
    x = leaf(t, 0.5, 2.0)
    y = t.complex(x, x * 2)
    (y * y).imag.sum().backward()
    return x.grad, x.grad.is_complex()


def view_as_real_round_trip(t):
    z = t.tensor([1 + 2j, -1j], requires_grad=True)
    r = t.view_as_real(z)
    t.view_as_complex(r * 2).abs().sum().backward()
    return z.grad


def real_seed_for_complex_output(t):
    z = t.tensor([1 + 1j], requires_grad=True)
    return refusal(lambda: (z * 2).backward(t.ones(1)), 30)


def many_uses_of_one_tensor(t):
    x = leaf(t)
    total = sum((x * float(i) for i in range(50)), t.zeros(3))
    total.sum().backward()
    return x.grad


def diamond(t):
    x = leaf(t)
    a = x * 2
    b, c = a.sin(), a.cos()
    d = b * c
    (d + a).sum().backward()
    return x.grad


def nested_diamonds(t):
    x = double(t, 1.0)
    y = x
    for _ in range(30):
        y = y * 0.5 + y * 0.5
    y.backward()
    return x.grad


def long_chain(t):
    x = leaf(t, 1.0)
    y = x
    for _ in range(100_000):
        y = y + 0.0
    y.backward()
    return x.grad


def long_chain_of_saved_values(t):
    x = double(t, 1.0)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    y.backward()
    del y
    return x.grad


def long_chain_is_dropped_without_backward(t):
    x = leaf(t, 1.0)
    y = x
    for _ in range(100_000):
        y = y.neg()
    del y
    return x


def long_chain_with_create_graph(t):
    x = double(t, 1.0)
    y = x
    for _ in range(2000):
        y = y * 1.001
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, round(g.item(), 5)


def deep_reentrant_backward(t):
    class Deep(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with t.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                return g
            with t.enable_grad():
                Deep.apply(ctx.x).sum().backward()
            return g

    v = t.tensor(3000.0, requires_grad=True)
    Deep.apply(v).sum().backward()
    return v.grad


def reentrant_with_shared_leaf(t):
    w = leaf(t)

    class Inner(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with t.enable_grad():
                (w * 10).sum().backward()
            return g * 2

    x = leaf(t)
    (Inner.apply(x) * w).sum().backward()
    return x.grad, w.grad


def grad_inside_backward(t):
    class Inner(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with t.enable_grad():
                x = x.detach().requires_grad_()
                (d,) = t.autograd.grad(x.sin().sum(), x)
            return g * d

    x = leaf(t)
    Inner.apply(x).sum().backward()
    return x.grad


def error_inside_reentrant_backward(t):
    class Inner(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with t.enable_grad():
                y = g.detach().requires_grad_()
                z = y.exp().sum()
                z.backward()
                z.backward()
            return g * 2

    x = leaf(t)
    found = refusal(Inner.apply(x).sum().backward)
    (x * 3).sum().backward()
    return found, x.grad


def exception_leaves_things_usable(t):
    class Fails(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("planned")

    x, w = leaf(t), leaf(t)
    found = refusal((Fails.apply(x) * w).sum().backward)
    w.grad = None
    (x * w).sum().backward()
    return found, x.grad, w.grad, t.is_grad_enabled()


def exception_keeps_its_type_and_args(t):
    class Mine(Exception):
        pass

    def hook(g):
        raise Mine("a", 3)

    x = leaf(t)
    x.register_hook(hook)
    try:
        x.sum().backward()
    except Mine as error:
        return "Mine", list(error.args)
    return "none"


def callback_runs_at_the_end(t):
    x, seen = leaf(t), []
    engine = t.autograd.Variable._execution_engine

    def hook(g):
        engine.queue_callback(lambda: seen.append(("callback", x.grad.tolist())))
        seen.append("hook")

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    return seen


def callbacks_in_order_and_nested(t):
    x, seen = leaf(t), []
    engine = t.autograd.Variable._execution_engine

    def hook(g):
        def first():
            seen.append("first")
            engine.queue_callback(lambda: seen.append("from first"))

        engine.queue_callback(first)
        engine.queue_callback(lambda: seen.append("second"))

    x.register_hook(hook)
    x.sum().backward()
    return seen


def callback_outside_backward(t):
    return refusal(lambda: t.autograd.Variable._execution_engine.queue_callback(lambda: None))


def accumulation_under_no_grad(t):
    x = leaf(t)
    y = (x * x).sum()
    with t.no_grad():
        y.backward()
    return x.grad


def backward_inside_inference_mode(t):
    x = leaf(t)
    y = (x * x).sum()
    with t.inference_mode():
        y.backward()
    return x.grad


def backward_signature(t):
    import inspect

    method = list(inspect.signature(t.Tensor.backward).parameters)
    return (
        method,
        list(inspect.signature(t.autograd.backward).parameters),
        list(inspect.signature(t.autograd.grad).parameters),
    )


def positional_arguments(t):
    x = leaf(t)
    y = x * x
    y.backward(t.ones(3), True)
    y.backward(t.ones(3), True, False)
    return x.grad


def grad_variables_is_gone(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.backward([x.sum()], grad_variables=[None]), 0)[0]


def gradient_given_as_number(t):
    x = t.tensor(1.0, requires_grad=True)
    return refusal(lambda: (x * 2).backward(1.0))


def integer_seed(t):
    x = leaf(t)
    return refusal(lambda: (x * 2).backward(t.ones(3, dtype=t.int64)), 0), x.grad


def zero_element_root(t):
    x = t.empty(0, requires_grad=True)
    found = refusal(lambda: (x * 2).backward())
    (x * 2).sum().backward()
    return found, x.grad


def zero_grad_forms(t):
    p = t.nn.Parameter(t.ones(2))
    o = t.optim.SGD([p], lr=0.1)
    p.sum().backward()
    held = p.grad
    o.zero_grad(set_to_none=False)
    kept = held is p.grad, held.tolist()
    p.sum().backward()
    o.zero_grad()
    return kept, p.grad is None


def unused_output_of_several(t):
    x = t.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    values, indices = x.sort(dim=1)
    values[:, 0].sum().backward()
    return x.grad, indices.requires_grad


def gradient_accumulated_in_place_is_seen_by_alias(t):
    x = leaf(t)
    x.sum().backward()
    alias = x.grad.view(3)
    x.sum().backward()
    return alias


def detached_branch(t):
    x = leaf(t)
    (x * x.detach()).sum().backward()
    return x.grad


def stop_gradient_in_the_middle(t):
    x = leaf(t)
    y = (x * 2).detach()
    z = y * x
    z.sum().backward()
    return x.grad, y.requires_grad


def gradient_of_constant_branch_only(t):
    x = leaf(t)
    y = x * 0 + 3
    y.sum().backward()
    return x.grad


def backward_twice_on_parts(t):
    x = leaf(t)
    h = x * 2
    a, b = h.sum(), (h + 1).sum()
    a.backward()
    return refusal(b.backward), x.grad


def gradient_with_nan_and_inf(t):
    x = leaf(t, 0.0, -1.0, 1.0)
    x.sqrt().sum().backward()
    return x.grad


def zero_dim_and_one_dim(t):
    x = t.tensor(2.0, requires_grad=True)
    y = t.ones(3, requires_grad=True)
    (x * y).sum().backward()
    return x.grad, x.grad.shape, y.grad


def broadcast_in_both_directions(t):
    x = t.ones(3, 1, requires_grad=True)
    y = t.ones(1, 4, requires_grad=True)
    (x * y * 2).sum().backward()
    return x.grad, y.grad


def _independent(t, out, *inputs):
    """Gradients that autograd says depend on the inputs, and what a second derivative gives."""
    found = []
    for g in t.autograd.grad(out.sum(), inputs, create_graph=True):
        again = (
            [t.autograd.grad(g.sum(), x, retain_graph=True, allow_unused=True)[0] for x in inputs] if g.grad_fn else []
        )
        found.append((g.requires_grad, [None if h is None else bool(h.any()) for h in again]))
    return found


def gradients_of_biases_have_a_history(t):
    f = t.nn.functional
    image, weight, bias = (
        t.arange(float(n)).reshape(s).sin().requires_grad_()
        for n, s in ((9, (1, 1, 3, 3)), (4, (1, 1, 2, 2)), (1, (1,)))
    )
    rows, scale, shift = (
        t.arange(float(n)).reshape(s).cos().requires_grad_() for n, s in ((6, (2, 3)), (3, (3,)), (3, (3,)))
    )
    return (
        _independent(t, f.conv2d(image, weight, bias), image, weight, bias),
        _independent(t, f.layer_norm(rows, (3,), scale, shift), rows, scale, shift),
        _independent(t, f.batch_norm(rows, None, None, scale, shift, True), rows, scale, shift),
        _independent(t, f.linear(rows, scale[None], shift[:1]), rows, scale, shift),
    )


def gradients_of_pooling_have_a_history(t):
    f = t.nn.functional
    x = t.arange(16.0).reshape(1, 1, 4, 4).sin().requires_grad_()
    y = t.arange(6.0).reshape(2, 3).requires_grad_()
    return (
        _independent(t, f.max_pool2d(x, 2), x),
        _independent(t, f.avg_pool2d(x, 2), x),
        _independent(t, f.adaptive_avg_pool2d(x, 2), x),
        _independent(t, f.pad(x, (1, 1, 1, 1), mode="reflect"), x),
        _independent(t, f.pad(x, (1, 1, 1, 1)), x),
        _independent(t, f.nll_loss(y, t.tensor([0, 2])), y),
        _independent(t, y**1, y),
    )


def hessian_vector_product_of_a_network(t):
    nn = t.nn
    net = nn.Sequential(
        nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(2)
    ).double()
    x = t.arange(32.0, dtype=t.float64).reshape(2, 1, 4, 4).sin()
    grads = t.autograd.grad(net(x).pow(2).sum(), list(net.parameters()), create_graph=True)
    return t.autograd.grad(grads, list(net.parameters()), [t.ones_like(g) for g in grads])


def second_derivatives_of_norms_at_zero(t):
    rows = t.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    found = []
    for norm in (lambda x: x.norm(dim=1), lambda x: t.linalg.vector_norm(x), lambda x: t.nn.functional.normalize(x)):
        (g,) = t.autograd.grad(norm(rows).sum(), rows, create_graph=True)
        (h,) = t.autograd.grad((g * g).sum(), rows)
        found.append([g.detach().round(decimals=4).tolist(), [str(round(v, 4) + 0.0) for v in h.flatten().tolist()]])
    return found
