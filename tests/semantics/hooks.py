"""Hooks on tensors: order, replacement, removal, retained gradients, in-place operations, errors."""

from __future__ import annotations

import pickle

from .programs import double, leaf, refusal


def sees_the_gradient(t):
    x, seen = leaf(t), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3).sum().backward()
    return seen, x.grad


def order_and_replacement(t):
    x, seen = leaf(t), []
    x.register_hook(lambda g: seen.append(("a", g.tolist())))
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(("b", g.tolist())))
    x.register_hook(lambda g: g + 1)
    x.sum().backward()
    return seen, x.grad


def on_non_leaf(t):
    x, seen = leaf(t), []
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * y).sum().backward()
    return seen, x.grad


def removed_by_handle(t):
    x = leaf(t)
    first = x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g * 5)
    x.sum().backward()
    first.remove()
    first.remove()
    x.sum().backward()
    return x.grad


def handle_as_context(t):
    x = leaf(t)
    with x.register_hook(lambda g: g * 2):
        x.sum().backward()
    x.sum().backward()
    return x.grad


def handle_removes_itself_during_backward(t):
    x, handles = leaf(t), []

    def hook(g):
        handles[0].remove()
        return g * 4

    handles.append(x.register_hook(hook))
    x.sum().backward()
    x.sum().backward()
    return x.grad


def hook_added_during_backward(t):
    x, seen = leaf(t), []

    def outer(g):
        seen.append("outer")
        if len(seen) == 1:
            x.register_hook(lambda g: seen.append("inner"))

    x.register_hook(outer)
    x.sum().backward()
    x.sum().backward()
    return seen


def handle_pickles(t):
    x = leaf(t)
    handle = x.register_hook(_twice)
    copy = pickle.loads(pickle.dumps(handle))
    copy.remove()
    x.sum().backward()
    return type(copy).__name__, x.grad


def _twice(g):
    return g * 2


def handle_has_an_id(t):
    x = leaf(t)
    a, b = x.register_hook(_twice), x.register_hook(_twice)
    return a.id != b.id, sorted([a.id in x._backward_hooks, b.id in x._backward_hooks]), len(x._backward_hooks)


def backward_hooks_attribute(t):
    x = leaf(t)
    before = x._backward_hooks
    x.register_hook(_twice)
    return before is None, [f is _twice for f in x._backward_hooks.values()]


def gradient_replaced_by_written_clone(t):
    x = leaf(t)
    (x * 2).sum().backward()
    y = x * 2
    y.register_hook(lambda g: g.clone().mul_(3))
    y.sum().backward()
    return x.grad


def hook_returning_the_same_tensor(t):
    x = leaf(t)
    x.register_hook(lambda g: g)
    x.sum().backward()
    return x.grad


def hook_returning_none_explicitly(t):
    x = leaf(t)
    x.register_hook(lambda g: None)
    x.sum().backward()
    return x.grad


def hook_returns_number(t):
    x = leaf(t)
    x.register_hook(lambda g: 3)
    return refusal(x.sum().backward), x.grad is None


def hook_changes_shape(t):
    x = leaf(t)

    def shrinks(g):
        return g[:1]

    x.register_hook(shrinks)
    return refusal(x.sum().backward)


def hook_changes_dtype(t):
    x = leaf(t)
    x.register_hook(lambda g: g.double())
    return refusal(x.sum().backward, "has changed the type of value")


def hook_that_raises(t):
    x, on = leaf(t), [True]

    def hook(g):
        if on[0]:
            raise KeyError("mine")

    y = x * 2
    y.register_hook(hook)
    found = refusal(y.sum().backward, "mine"), t.is_grad_enabled()
    on[0] = False
    z = (x * x).sum()
    z.backward()
    return found, x.grad


def leaf_hook_that_raises(t):
    x, w = leaf(t), leaf(t)

    def hook(g):
        raise ValueError("stop here")

    handle = x.register_hook(hook)
    found = refusal((x * w).sum().backward)
    handle.remove()
    x.grad = w.grad = None
    (x * w).sum().backward()
    return found, x.grad, w.grad


def hooks_on_two_names_of_one_tensor(t):
    x = leaf(t)
    y = x * 2
    z = y
    y.register_hook(lambda g: g + 1)
    z.register_hook(lambda g: g * 10)
    y.sum().backward()
    return x.grad


def hook_sees_the_sum_of_all_uses(t):
    x, seen = leaf(t), []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2 + y * 3 + y.sum()).sum().backward()
    return seen


def leaf_hook_runs_once_with_the_sum(t):
    x, seen = leaf(t), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2 + x * 3 + x.exp() * 0).sum().backward()
    return seen


def before_inplace_stays_on_the_old_value(t):
    x, seen = leaf(t), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("old", g.tolist())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("new", g.tolist())))
    y.sum().backward()
    return seen, x.grad


def retain_grad_moves_with_inplace(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()
    return y.retains_grad, y.grad, x.grad


def retain_grad_then_hook_then_inplace(t):
    x, seen = leaf(t), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    y.mul_(5)
    (y * 3).sum().backward()
    return seen, y.grad, x.grad


def retain_grad_sees_later_hooks(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 100)
    y.sum().backward()
    return y.grad, x.grad


def retain_grad_twice(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.sum().backward()
    return y.grad


def retain_grad_on_leaf(t):
    x = leaf(t)
    x.retain_grad()
    x.sum().backward()
    return x.retains_grad, x.grad


def retain_grad_accumulates(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return y.grad, x.grad


def retain_grad_of_view_then_inplace_on_base(t):
    x = leaf(t)
    y = x * 2
    v = y[:2]
    v.retain_grad()
    y.mul_(3)
    (v * 1).sum().backward()
    return v.grad, x.grad


def retain_grad_with_create_graph(t):
    x = double(t)
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    return y.grad, y.grad.requires_grad


def no_gradient_arrives_at_a_sparse_tensor(t):
    class Nothing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    x, heard = t.eye(2).to_sparse().requires_grad_(), []
    y = x * 2
    y.register_hook(lambda g: heard.append(g is None))
    Nothing.apply(y.to_dense()).sum().backward()
    return heard, x.grad is None
