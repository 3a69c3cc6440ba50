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
