"""Checkpointing: early stop, contexts, errors of recomputation, sequences, what may stand inside a region."""

from __future__ import annotations

from .checkpoint import _both, _checkpoint
from .programs import leaf, refusal


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
    return x.grad, refusal(
        lambda: _checkpoint(t, lambda v: v.exp(), leaf(t), determinism_check="x").sum().backward(), 30
    )


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
        other = refusal(
            z.backward, "trying to save more tensors during recomputation than during the original forward pass."
        )
    return found, other


def other_shapes(t):
    calls = []

    def region(v):
        calls.append(1)
        return (v if len(calls) == 1 else v[:2]).sin()

    y = _checkpoint(t, region, leaf(t)).sum()
    return refusal(
        y.backward, "Recomputed values for the following tensors have different metadata than during the forward pass."
    )


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


def gradients_inside_a_region_that_runs_to_its_end(t):
    checkpoint = t.utils.checkpoint

    def inner(x):
        a = x.sin().exp().sin()
        (g,) = t.autograd.grad(a, x, create_graph=True)
        return g.sin()

    def region(x):
        with t.enable_grad():
            out = checkpoint.checkpoint(inner, x, use_reentrant=False)
            (g,) = t.autograd.grad(out, x, create_graph=True)
        return g

    x = t.tensor(0.5, requires_grad=True)
    with checkpoint.set_checkpoint_early_stop(False):
        y = checkpoint.checkpoint(region, x, use_reentrant=False)
        (g,) = t.autograd.grad(y, x)
    return y.item(), g.item()
