"""Checkpointing: the same values and gradients, recomputed; random numbers, nesting, errors, the reentrant way."""

from __future__ import annotations

from .programs import double, leaf, refusal, warned


def _checkpoint(t, *args, **kwargs):
    kwargs.setdefault("use_reentrant", False)
    return t.utils.checkpoint.checkpoint(*args, **kwargs)


def _both(program):
    """Run a program in both variants."""
    return [program(False), program(True)]


def values_and_gradients(t):
    def run(reentrant):
        x = leaf(t)
        y = _checkpoint(t, lambda v: v.exp() * v, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad

    return _both(run)


def function_runs_twice(t):
    def run(reentrant):
        calls = []

        def region(v):
            calls.append(t.is_grad_enabled())
            return v.exp()

        x = leaf(t)
        y = _checkpoint(t, region, x, use_reentrant=reentrant)
        before = list(calls)
        y.sum().backward()
        return before, calls

    return _both(run)


def several_arguments_and_outputs(t):
    def run(reentrant):
        x, w = leaf(t), leaf(t)
        a, b = _checkpoint(t, lambda u, v: (u * v, u + v), x, w, use_reentrant=reentrant)
        (a.sum() + 10 * b.sum()).backward()
        return x.grad, w.grad

    return _both(run)


def non_tensor_arguments(t):
    def run(reentrant):
        x = leaf(t)
        y = _checkpoint(t, lambda v, k, name, none: v.exp() * k, x, 3, "name", None, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad

    return _both(run)


def non_tensor_outputs(t):
    def run(reentrant):
        x = leaf(t)
        y, k, none = _checkpoint(t, lambda v: (v.exp(), 3, None), x, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad, k, none

    return _both(run)


def keyword_arguments(t):
    x, w = leaf(t), leaf(t)
    y = _checkpoint(t, lambda v, *, weight, k=1: v.exp() * weight * k, x, weight=w, k=2)
    y.sum().backward()
    return x.grad, w.grad


def keyword_arguments_reentrant(t):
    return refusal(lambda: _checkpoint(t, lambda v, k: v * k, leaf(t), k=2, use_reentrant=True))


def closure_over_parameters(t):
    def run(reentrant):
        w, x = leaf(t), leaf(t)
        y = _checkpoint(t, lambda v: (v * w).sin(), x, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad, w.grad

    return _both(run)


def inputs_without_grad(t):
    w = leaf(t)
    y = _checkpoint(t, lambda v: v * w, t.ones(3))
    y.sum().backward()
    return w.grad


def inputs_without_grad_reentrant(t):
    w = leaf(t)
    found = warned(lambda: _checkpoint(t, lambda v: v * w, t.ones(3), use_reentrant=True))
    y = _checkpoint(t, lambda v: v * w, t.ones(3), use_reentrant=True)
    return found, y.requires_grad


def default_warns(t):
    def run():
        t.utils.checkpoint.checkpoint(lambda v: v * 2, leaf(t))

    def refused():
        return refusal(run, 40)

    return refused()


def dropout_is_replayed(t):
    def run(reentrant):
        t.manual_seed(3)
        x = t.ones(200, requires_grad=True)
        y = _checkpoint(t, lambda v: t.nn.functional.dropout(v, 0.5), x, use_reentrant=reentrant)
        y.sum().backward()
        return bool((y == x.grad).all()), 0 < int((y == 0).sum()) < 200

    return _both(run)


def random_numbers_are_replayed(t):
    def run(reentrant):
        t.manual_seed(3)
        x = t.ones(10, requires_grad=True)
        y = _checkpoint(t, lambda v: v * t.rand(10), x, use_reentrant=reentrant)
        y.sum().backward()
        return bool((y == x.grad).all())

    return _both(run)


def random_state_afterwards(t):
    def run(reentrant):
        t.manual_seed(3)
        x = t.ones(4, requires_grad=True)
        y = _checkpoint(t, lambda v: v * t.rand(4), x, use_reentrant=reentrant)
        state = t.get_rng_state()
        y.sum().backward()
        return bool((state == t.get_rng_state()).all())

    return _both(run)


def random_state_not_preserved(t):
    def run(reentrant):
        t.manual_seed(3)
        x = t.ones(10, requires_grad=True)
        y = _checkpoint(t, lambda v: v * t.rand(10), x, use_reentrant=reentrant, preserve_rng_state=False)
        y.sum().backward()
        return bool((y == x.grad).all())

    return _both(run)


def nested(t):
    def run(reentrant):
        def inner(v):
            return v.sin().exp()

        def outer(v):
            return _checkpoint(t, inner, v * 2, use_reentrant=reentrant) * 3

        x = leaf(t)
        y = _checkpoint(t, outer, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad

    return _both(run)


def nested_counts(t):
    calls = []

    def level(n):
        def run(v):
            calls.append(n)
            return v.sin() if n == 0 else _checkpoint(t, level(n - 1), v.sin()).cos()

        return run

    x = leaf(t)
    _checkpoint(t, level(3), x).sum().backward()
    return calls, x.grad


def chained(t):
    def run(reentrant):
        x = leaf(t)
        y = x
        for _ in range(4):
            y = _checkpoint(t, lambda v: v.sin() * v, y, use_reentrant=reentrant)
        y.sum().backward()
        return x.grad

    return _both(run)


def double_backward(t):
    x = double(t)
    y = _checkpoint(t, lambda v: v.pow(3).sin(), x)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g, h


def double_backward_of_reentrant(t):
    x = double(t)
    y = _checkpoint(t, lambda v: v.pow(3), x, use_reentrant=True)
    return refusal(lambda: t.autograd.grad(y.sum(), x, create_graph=True), 40)


def grad_with_reentrant(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.pow(3), x, use_reentrant=True)
    return (
        refusal(lambda: t.autograd.grad(y.sum(), x), "is incompatible with .grad() or passing an `inputs` parameter"),
        refusal(lambda: y.sum().backward(inputs=[x]), "is incompatible with .grad() or passing an `inputs` parameter"),
    )


def grad_function(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.pow(3), x)
    return t.autograd.grad(y.sum(), x)


def backward_twice_retained(t):
    calls = []

    def region(v):
        calls.append(1)
        return v.exp()

    x = leaf(t)
    y = _checkpoint(t, region, x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, len(calls)


def backward_twice_freed(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.exp(), x).sum()
    y.backward()
    return refusal(y.backward)


def partial_backward(t):
    calls = []

    def region(v):
        calls.append(1)
        return v.exp(), v.sin()

    x = leaf(t)
    a, b = _checkpoint(t, region, x)
    a.sum().backward()
    return x.grad, len(calls)


def under_no_grad(t):
    def run(reentrant):
        calls = []

        def region(v):
            calls.append(1)
            return v.exp()

        with t.no_grad():
            y = _checkpoint(t, region, leaf(t), use_reentrant=reentrant)
        return y.requires_grad, len(calls)

    return _both(run)


def early_stop(t):
    ran = []

    def region(v):
        y = v.exp()
        ran.append("saved")
        z = y + 1
        ran.append("after")
        return z

    x = leaf(t)
    _checkpoint(t, region, x).sum().backward()
    with t.utils.checkpoint.set_checkpoint_early_stop(False):
        _checkpoint(t, region, x).sum().backward()
    return ran, x.grad


def early_stop_argument(t):
    ran = []

    def region(v):
        y = v.exp()
        ran.append(1)
        z = y + 1
        ran.append(2)
        return z

    x = leaf(t)
    _checkpoint(t, region, x, early_stop=False).sum().backward()
    return ran


def context_function(t):
    seen = []

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append("enter " + self.name)

        def __exit__(self, *args):
            seen.append("exit " + self.name)

    x = leaf(t)
    y = _checkpoint(t, lambda v: v.exp(), x, context_fn=lambda: (Noted("forward"), Noted("recompute")))
    y.sum().backward()
    return seen


def context_function_reentrant(t):
    return refusal(
        lambda: _checkpoint(t, lambda v: v, leaf(t), use_reentrant=True, context_fn=lambda: (None, None)),
    )


def determinism_check_argument(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.exp(), x, determinism_check="none")
    y.sum().backward()
    return x.grad, refusal(lambda: _checkpoint(t, lambda v: v.exp(), leaf(t), determinism_check="x").sum().backward(), 30)


def fewer_saved_values(t):
    calls = []

    def region(v):
        calls.append(1)
        return v.sin().exp() if len(calls) == 1 else v.sin()

    y = _checkpoint(t, region, leaf(t)).sum()
    return refusal(y.backward, "A different number of tensors was saved during the original forward and recomputation.")


def more_saved_values(t):
    calls = []

    def region(v):
        calls.append(1)
        return v.sin() if len(calls) == 1 else v.sin().exp().sin()

    x = leaf(t)
    y = _checkpoint(t, region, x).sum()
    found = refusal(y.backward, 0)
    calls.clear()
    with t.utils.checkpoint.set_checkpoint_early_stop(False):
        z = _checkpoint(t, region, leaf(t)).sum()
        other = refusal(z.backward, "trying to save more tensors during recomputation than during the original forward pass.")
    return found, other


def other_shapes(t):
    calls = []

    def region(v):
        calls.append(1)
        return (v if len(calls) == 1 else v[:2]).sin()

    y = _checkpoint(t, region, leaf(t)).sum()
    return refusal(y.backward, "Recomputed values for the following tensors have different metadata than during the forward pass.")


def other_dtypes_without_check(t):
    calls = []

    def region(v):
        calls.append(1)
        return (v if len(calls) == 1 else v.double()).sin()

    x = leaf(t)
    y = _checkpoint(t, region, x, determinism_check="none").sum()
    y.backward()
    return x.grad


def error_type(t):
    calls = []

    def region(v):
        calls.append(1)
        return v.sin().exp() if len(calls) == 1 else v.sin()

    y = _checkpoint(t, region, leaf(t)).sum()
    try:
        y.backward()
    except t.utils.checkpoint.CheckpointError as error:
        return type(error).__name__, isinstance(error, RuntimeError)


def error_in_region(t):
    def region(v):
        raise KeyError("in region")

    return _both(lambda reentrant: refusal(lambda: _checkpoint(t, region, leaf(t), use_reentrant=reentrant)))


def error_in_recomputation(t):
    def run(reentrant):
        calls = []

        def region(v):
            calls.append(1)
            if len(calls) > 1:
                raise KeyError("later")
            return v.exp()

        x = leaf(t)
        y = _checkpoint(t, region, x, use_reentrant=reentrant).sum()
        found = refusal(y.backward)
        (x * 2).sum().backward()
        return found, x.grad

    return _both(run)


def in_place_inside(t):
    def region(v):
        h = v * 2
        h.sin_()
        h.add_(1)
        return h.exp()

    def run(reentrant):
        x = leaf(t)
        _checkpoint(t, region, x, use_reentrant=reentrant).sum().backward()
        return x.grad

    return _both(run)


def input_overwritten_after(t):
    x = leaf(t)
    h = x * 1
    y = _checkpoint(t, lambda v: v.exp(), h).sum()
    h.zero_()
    return refusal(y.backward)


def custom_function_inside(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    def run(reentrant):
        x = leaf(t)
        _checkpoint(t, lambda v: F.apply(v).exp() * 1e-3, x, use_reentrant=reentrant).sum().backward()
        return x.grad

    return _both(run)


def custom_function_reads_saved_twice(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors, ctx.saved_tensors
            return 2 * a[0] * g

    y = _checkpoint(t, F.apply, leaf(t)).sum()
    return refusal(y.backward, "Unpack is being triggered for a tensor that was already unpacked once.")


def hooks_inside(t):
    seen = []

    def region(v):
        h = v.exp()
        h.register_hook(lambda g: seen.append(g.tolist()))
        return h * 2

    x = leaf(t)
    _checkpoint(t, region, x).sum().backward()
    return seen


def hooks_on_output(t):
    def run(reentrant):
        x, seen = leaf(t), []
        y = _checkpoint(t, lambda v: v * v, x, use_reentrant=reentrant)
        y.register_hook(lambda g: seen.append(g.tolist()))
        y.sum().backward()
        return seen, x.grad

    return _both(run)


def sequential_function(t):
    def run(reentrant):
        x = leaf(t)
        parts = [lambda v: v.sin(), lambda v: v * 2, lambda v: v.exp(), lambda v: v + 1, lambda v: v * v]
        y = t.utils.checkpoint.checkpoint_sequential(parts, 2, x, use_reentrant=reentrant)
        y.sum().backward()
        return y, x.grad

    return _both(run)


def sequential_of_modules(t):
    model = t.nn.Sequential(t.nn.ReLU(), t.nn.Tanh(), t.nn.ReLU())
    x = leaf(t)
    y = t.utils.checkpoint.checkpoint_sequential(model, 3, x, use_reentrant=False)
    y.sum().backward()
    return y, x.grad


def sequential_with_wrong_keywords(t):
    return refusal(
        lambda: t.utils.checkpoint.checkpoint_sequential([lambda v: v], 1, leaf(t), use_reentrant=False, other=1)
    )


def module_inside(t):
    def run(reentrant):
        layer = t.nn.Linear(3, 2)
        with t.no_grad():
            layer.weight.fill_(0.25)
            layer.bias.fill_(0.5)
        x = leaf(t)
        _checkpoint(t, lambda v: layer(v).tanh(), x, use_reentrant=reentrant).sum().backward()
        return x.grad, layer.weight.grad, layer.bias.grad

    return _both(run)


def saved_hooks_around(t):
    seen = []
    x = leaf(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: seen.append(v.tolist()) or v, lambda v: v):
        y = _checkpoint(t, lambda v: v.sin().exp(), x)
    y.sum().backward()
    return seen, x.grad


def output_names(t):
    x = leaf(t)
    a = _checkpoint(t, lambda v: v.exp(), x)
    b = _checkpoint(t, lambda v: v.exp(), x, use_reentrant=True)
    return type(a.grad_fn).__name__, type(b.grad_fn).__name__


def nothing_requires_grad(t):
    y = _checkpoint(t, lambda v: v.exp(), t.ones(3))
    return y.requires_grad


def output_detached_inside(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.exp().detach(), x)
    z = _checkpoint(t, lambda v: v.exp().detach(), x, use_reentrant=True)
    return y.requires_grad, refusal(z.sum().backward)


def input_is_returned(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v, x)
    z = _checkpoint(t, lambda v: (v, v * 2), x)[0]
    (y + z).sum().backward()
    return x.grad


def list_and_dict_arguments(t):
    x = leaf(t)
    y = _checkpoint(t, lambda items, table: items[0] * table["w"], [x], {"w": x})
    y.sum().backward()
    return x.grad


def saved_attribute_recomputes(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.exp(), x)
    return y.grad_fn._saved_result


def grad_mode_in_recomputation_with_no_grad_backward(t):
    x = leaf(t)
    y = _checkpoint(t, lambda v: v.sin().exp(), x).sum()
    with t.no_grad():
        y.backward()
    return x.grad
