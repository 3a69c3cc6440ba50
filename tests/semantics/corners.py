"""Corners where several rules meet: views and custom Functions, duplicates, resizing, destructors, callbacks, coroutines."""

from __future__ import annotations

import asyncio
import gc

from .programs import double, leaf, refusal


def _function(t, forward, backward):
    return type(t.autograd.Function)(
        "Mine", (t.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def function_returns_none_output(t):
    f = _function(t, lambda ctx, x: (x * 2, None), lambda ctx, g, n: g * 2)
    x = leaf(t)
    y, none = f.apply(x)
    y.sum().backward()
    return none, x.grad


def function_returns_none_gradient_for_all(t):
    f = _function(t, lambda ctx, x: x * 2, lambda ctx, g: None)
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad is None


def function_returns_same_tensor_twice(t):
    def forward(ctx, x):
        y = x * 2
        return y, y

    f = _function(t, forward, lambda ctx, a, b: a + b)
    x = leaf(t)
    a, b = f.apply(x)
    (a * 3 + b).sum().backward()
    return x.grad


def function_with_unused_input(t):
    f = _function(t, lambda ctx, x, y: x * 2, lambda ctx, g: (g * 2, None))
    x, y = leaf(t), leaf(t)
    f.apply(x, y).sum().backward()
    return x.grad, y.grad is None


def function_without_inputs_requiring_grad_in_backward_of_other(t):
    f = _function(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    x, c = leaf(t), t.ones(3)
    (f.apply(c) * x).sum().backward()
    return x.grad


def long_chain_of_functions(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g.clone())
    x = leaf(t, 1.0)
    y = x
    for _ in range(5000):
        y = f.apply(y)
    y.backward()
    del y
    return x.grad


def long_chain_of_functions_dropped(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g.clone())
    y = leaf(t, 1.0)
    for _ in range(20_000):
        y = f.apply(y)
    del y
    return "dropped"


def long_chain_of_views_dropped(t):
    y = leaf(t, 1.0)
    for _ in range(20_000):
        y = y.view(1)
    y.backward()
    return "walked"


def long_chain_of_stacks(t):
    x = leaf(t, 1.0)
    y = x
    for _ in range(3000):
        y = t.stack([y, y]).mean(0)
    y.sum().backward()
    return x.grad


def graph_made_in_a_destructor(t):
    seen = []

    class Holder:
        def __init__(self):
            self.x = leaf(t)

        def __del__(self):
            (self.x * 2).sum().backward()
            seen.append(self.x.grad.tolist())

    holder = Holder()
    del holder
    gc.collect()
    return seen


def ctx_stashed_outside(t):
    kept = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        kept.append(ctx)
        return x * x

    f = _function(t, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0])
    x = leaf(t)
    y = f.apply(x)
    found = kept[0].saved_tensors[0].tolist()
    y.sum().backward()
    return found, x.grad, refusal(lambda: kept[0].saved_tensors)


def gradient_used_as_leaf(t):
    x = leaf(t)
    (x * x).sum().backward()
    g = x.grad
    g.requires_grad_()
    (g * g).sum().backward()
    return g.grad


def gradient_of_gradient_through_dot_grad(t):
    x = double(t)
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    x.grad = None
    g.sum().backward()
    return x.grad


def repeated_grad_grad(t):
    x = double(t)

    def mult(a):
        (g,) = t.autograd.grad((a**3).sum(), a, create_graph=True)
        return g

    y = mult(x)
    (z,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (w,) = t.autograd.grad((z * y).sum(), x)
    return y, z, w


def callback_raises(t):
    x = leaf(t)
    engine = t.autograd.Variable._execution_engine

    def fail():
        raise KeyError("in callback")

    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(fail))
    found = refusal(y.sum().backward)
    (x * 3).sum().backward()
    return found, x.grad


def callback_of_inner_backward(t):
    seen = []
    engine = t.autograd.Variable._execution_engine
    x, w = leaf(t), leaf(t)

    def inner(g):
        engine.queue_callback(lambda: seen.append("inner callback"))
        seen.append("inner hook")

    def outer(g):
        engine.queue_callback(lambda: seen.append("outer callback"))
        with t.enable_grad():
            v = w * 2
            v.register_hook(inner)
            v.sum().backward()
        seen.append("outer hook")

    y = x * 2
    y.register_hook(outer)
    y.sum().backward()
    return seen


def reentrant_on_same_graph(t):
    x = leaf(t)
    y = (x * x).exp() * 1e-3
    (shared := y.sum())

    class Again(t.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v * 1

        @staticmethod
        def backward(ctx, g):
            with t.enable_grad():
                t.autograd.grad(shared, x, retain_graph=True)
            return g

    Again.apply(shared).backward()
    return x.grad


def hook_that_changes_requires_grad(t):
    x = leaf(t)
    y = x * 2
    y.register_hook(lambda g: g.detach().clone().requires_grad_())
    y.sum().backward()
    return x.grad, x.grad.requires_grad


def hooks_on_output_of_in_place_function(t):
    seen = []
    x = leaf(t)
    y = x * 2
    y.register_hook(lambda g: seen.append("before"))
    y.exp_()
    y.register_hook(lambda g: seen.append("after"))
    y.sum().backward()
    return seen


def hooks_on_view_and_base(t):
    seen = []
    x = leaf(t)
    y = x * 2
    v = y[:2]
    y.register_hook(lambda g: seen.append(("base", g.tolist())))
    v.register_hook(lambda g: seen.append(("view", g.tolist())))
    v.mul_(3)
    y.register_hook(lambda g: seen.append(("new base", g.tolist())))
    v.register_hook(lambda g: seen.append(("new view", g.tolist())))
    (y.sum() + v.sum()).backward()
    return seen, x.grad


def retain_grad_of_base_and_write_through_view(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y[:2].mul_(3)
    y.sum().backward()
    return y.grad, x.grad


def retain_grad_of_view_and_write(t):
    x = leaf(t)
    y = x * 2
    v = y[:2]
    v.retain_grad()
    v.mul_(3)
    (v.sum() + y.sum()).backward()
    return v.grad, x.grad


def gradient_of_both_old_and_new_value(t):
    x = leaf(t)
    y = x * 2
    old = t.autograd.graph.get_gradient_edge(y)
    y.mul_(5)
    return t.autograd.grad(y.sum(), [y, old, x])


def split_and_write_to_base(t):
    x = leaf(t)
    y = x * 1
    y[0] = 0
    a, b = y.split([1, 2])
    (a.sum() + 2 * b.sum()).backward()
    return x.grad


def in_place_on_view_of_no_grad_base(t):
    x, b = leaf(t, 1.0, 2.0), t.zeros(2, 2)
    b[0].add_(x)
    b[1].mul_(3)
    b.t()[0].mul_(2)
    b.sum().backward()
    return b, x.grad


def in_place_function_on_non_first_view(t):
    def forward(ctx, a, b):
        b.mul_(2)
        ctx.mark_dirty(b)
        return b

    f = _function(t, forward, lambda ctx, g: (None, g * 2))
    x = leaf(t)
    y = x * 1
    f.apply(t.ones(3), y)
    y.sum().backward()
    return x.grad


def data_of_view(t):
    x = leaf(t).clone()
    v = x[:2]
    v.data.zero_()
    return x, x._version


def resize_refused_with_grad(t):
    x = leaf(t)
    return refusal(lambda: x.resize_(2), 0), refusal(lambda: (x * 2).resize_(2), 0)


def set_of_sizes_after_expand(t):
    x = leaf(t, 2.0)
    y = x.expand(4).sum() + x.expand(2, 2).sum()
    y.backward()
    return x.grad


def assignment_to_data_of_other_type(t):
    x = leaf(t)

    def assign():
        x.data = t.ones(3, dtype=t.float64)

    found = refusal(assign, 0)
    return found, str(x.dtype)[-7:]


def backward_of_backward_inside_no_grad(t):
    x = double(t)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    total = g.sum()
    with t.no_grad():
        return t.autograd.grad(total, x)


def create_graph_inside_no_grad(t):
    x = double(t)
    y = (x**3).sum()
    with t.no_grad():
        (g,) = t.autograd.grad(y, x, create_graph=True)
    return g.requires_grad


def zero_size_dimensions(t):
    x = t.ones(0, 3, requires_grad=True)
    w = t.ones(3, 2, requires_grad=True)
    (x @ w).sum().backward()
    return x.grad.shape, w.grad


def broadcast_zero_size(t):
    x, w = t.ones(0, 3, requires_grad=True), leaf(t)
    (x * w).sum().backward()
    return x.grad.shape, w.grad


def unused_split_parts(t):
    x = leaf(t)
    a, b = x.split([1, 2])
    (a * 5).sum().backward()
    return x.grad


def several_outputs_partly_captured(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return t.autograd.grad(a * b + c, [a, b, c])


def captured_output_number(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return t.autograd.grad((b * 3).sum(), [b, x])


def unreachable_output_of_node(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return (
        refusal(lambda: t.autograd.grad(a * 1, [b], retain_graph=True)),
        t.autograd.grad(a * 1, [b], allow_unused=True)[0],
    )


def index_with_repeats(t):
    x = leaf(t)
    y = x[[0, 0, 1]] * t.tensor([1.0, 10.0, 100.0])
    y.sum().backward()
    return x.grad


def where_with_numbers(t):
    x = leaf(t)
    t.where(x > 1.5, x * x, 0.0).sum().backward()
    return x.grad


def mixed_integer_and_float(t):
    x, i = leaf(t), t.arange(3)
    ((x * i) + i).sum().backward()
    return x.grad


def boolean_mask_as_factor(t):
    x = leaf(t)
    (x * (x > 1.5)).sum().backward()
    return x.grad


def detach_inside_expression(t):
    x = leaf(t)
    y = x * 2
    (y + (y.round() - y).detach()).sum().backward()
    return x.grad


def coroutine_with_block(t):
    async def inner(seen):
        seen.append(t.is_grad_enabled())
        await asyncio.sleep(0)
        seen.append(t.is_grad_enabled())

    async def main():
        seen = []
        with t.no_grad():
            await inner(seen)
        seen.append(t.is_grad_enabled())
        return seen

    return asyncio.run(main())


def grad_fn_is_not_callable_with_nonsense(t):
    x = leaf(t)
    y = x * 2
    return callable(y.grad_fn), refusal(lambda: y.grad_fn("hey"), 0)[0]


def grad_fn_call(t):
    x = leaf(t)
    y = x * 3
    return y.grad_fn(t.ones(3))[0]


def output_saved_by_two_nodes(t):
    x = double(t)
    y = x.exp()
    z = y.exp() * y
    z.sum().backward()
    return x.grad


def tensor_with_grad_in_python_sum_and_max(t):
    a, b = t.tensor(1.0, requires_grad=True), t.tensor(2.0, requires_grad=True)
    (sum([a, b, a]) + max(a, b)).backward()
    return a.grad, b.grad


def control_flow(t):
    x = leaf(t, 0.5, 2.0)
    total = 0
    for v in x:
        total = total + (v * v if v > 1 else v * 3)
    total.backward()
    return x.grad


def accumulate_into_grad_of_other_layout(t):
    x = t.ones(2, 3, requires_grad=True)
    x.grad = t.zeros(3, 2).t()
    held = x.grad
    (x * t.arange(6.0).reshape(2, 3)).sum().backward()
    return x.grad is held, x.grad, x.grad.stride()


def accumulate_overlapping_gradient(t):
    x = t.ones(2, 3, requires_grad=True)
    x.sum(0).sum().backward()
    x.sum(1).sum().backward()
    return x.grad, x.grad.stride()


def saved_tensor_to_bytes_and_back(t):
    import pickle

    x = leaf(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: pickle.dumps(v.detach()), lambda s: pickle.loads(s)):
        y = (x.exp() * x).sum()
    y.backward()
    return x.grad


def function_with_default_arguments(t):
    def forward(ctx, x, k=4, *more):
        ctx.k, ctx.n = k, len(more)
        return x * k

    f = _function(t, forward, lambda ctx, g: (g * ctx.k, *(None for _ in range(len(ctx.needs_input_grad) - 1))))
    x = leaf(t)
    f.apply(x).sum().backward()
    f.apply(x, 2).sum().backward()
    f.apply(x, 2, 3, 4).sum().backward()
    return x.grad


def gradient_returned_is_the_input(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g)
    x = leaf(t)
    y = f.apply(x)
    seed = t.ones(3)
    y.backward(seed)
    x.grad.mul_(5)
    return seed, x.grad


def same_gradient_for_two_inputs(t):
    f = _function(t, lambda ctx, x, y: x + y, lambda ctx, g: (g, g))
    x, y = leaf(t), leaf(t)
    f.apply(x, y).sum().backward()
    x.grad.mul_(7)
    return x.grad, y.grad


def leaf_gradient_is_not_a_view_of_another(t):
    x, y = leaf(t), leaf(t)
    t.cat([x, y]).sum().backward()
    x.grad.mul_(7)
    a, b = leaf(t), leaf(t)
    t.stack([a, b]).backward(t.ones(2, 3))
    a.grad.zero_()
    return y.grad, b.grad
