"""Hooks on nodes, after accumulation and on several tensors; the order of all of them, and their modes."""

from __future__ import annotations

from .hooks import _twice
from .programs import double, leaf, refusal


def prehook_and_posthook_order(t):
    x, seen = leaf(t), []
    y = x * 2
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda gs: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    y.sum().backward()
    return seen


def prehooks_and_tensor_hooks_in_any_order_of_registration(t):
    x, seen = leaf(t), []
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: seen.append("pre 1"))
    y.register_hook(lambda g: seen.append("tensor 1"))
    y.grad_fn.register_prehook(lambda gs: seen.append("pre 2"))
    y.register_hook(lambda g: seen.append("tensor 2"))
    y.sum().backward()
    return seen


def prehook_changes_gradients(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 7,))
    y.sum().backward()
    return y.grad, x.grad


def prehook_arguments(t):
    x, seen = leaf(t), []
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: seen.append((type(gs).__name__, len(gs), gs[0].tolist())))
    y.sum().backward()
    return seen


def prehook_of_several_outputs(t):
    x, seen = leaf(t), []
    a, b, c = x.unbind()
    a.grad_fn.register_prehook(lambda gs: seen.append([None if g is None else g.tolist() for g in gs]))
    (a + 2 * c).backward()
    return seen, x.grad


def tensor_hooks_of_several_outputs(t):
    x, seen = leaf(t), []
    a, b, c = x.unbind()
    a.register_hook(lambda g: seen.append(("a", g.tolist())))
    b.register_hook(lambda g: seen.append(("b", g is None)))
    c.register_hook(lambda g: g * 10)
    (a + 2 * c).backward()
    return seen, x.grad


def posthook_arguments(t):
    x, w, seen = leaf(t), t.ones(3), []
    y = x * w
    y.grad_fn.register_hook(
        lambda gi, go: seen.append(([None if g is None else g.tolist() for g in gi], [g.tolist() for g in go]))
    )
    y.sum().backward()
    return seen


def posthook_changes_gradients(t):
    x = leaf(t)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * 9 for g in gi))
    y.sum().backward()
    return x.grad


def posthooks_in_order(t):
    x, seen = leaf(t), []
    y = x.exp()
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 0 + 1,))
    y.grad_fn.register_hook(lambda gi, go: seen.append(gi[0].tolist()))
    y.sum().backward()
    return seen, x.grad


def posthook_removed(t):
    x = leaf(t)
    y = x * 2
    handle = y.grad_fn.register_hook(lambda gi, go: (gi[0] * 9, *gi[1:]))
    handle.remove()
    y.sum().backward()
    return x.grad


def node_hooks_of_wrong_count(t):
    x = leaf(t)
    y = x.exp()
    y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
    z = x.exp()
    z.grad_fn.register_prehook(lambda go: (go[0], go[0]))
    return refusal(y.sum().backward, "incorrect number of values"), refusal(
        z.sum().backward, "incorrect number of values"
    )


def accumulate_grad_node_hooks(t):
    x, seen = leaf(t), []
    node = (x * 2).grad_fn.next_functions[0][0]
    node.register_prehook(lambda gs: seen.append(("pre", gs[0].tolist(), x.grad is None)))
    node.register_hook(lambda gi, go: seen.append(("post", len(gi), [g.tolist() for g in go], x.grad is None)))
    x.register_hook(lambda g: seen.append(("tensor", x.grad is None)))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("accumulated", p is x)))
    (x * 2).sum().backward()
    return seen, x.grad


def accumulate_grad_prehook_changes(t):
    x = leaf(t)
    node = t.autograd.graph.get_gradient_edge(x).node
    node.register_prehook(lambda gs: (gs[0] * 6,))
    x.sum().backward()
    return x.grad


def post_accumulate_sees_the_total(t):
    x, seen = leaf(t), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    return seen


def post_accumulate_order_across_leaves(t):
    x, y, z, seen = leaf(t), leaf(t), leaf(t), []
    for name, p in (("x", x), ("y", y), ("z", z)):
        p.register_post_accumulate_grad_hook(lambda p, name=name: seen.append(name))
    ((x * y).exp() * z).sum().backward()
    return seen


def post_accumulate_runs_while_backward_is_under_way(t):
    x, w, seen = leaf(t), leaf(t), []
    w.register_post_accumulate_grad_hook(lambda p: seen.append("w"))
    y = x * 2
    y.register_hook(lambda g: seen.append("y"))
    (y * w).sum().backward()
    return seen


def post_accumulate_clears_the_grad(t):
    x = leaf(t)

    def hook(p):
        with t.no_grad():
            p -= p.grad
        p.grad = None

    x.register_post_accumulate_grad_hook(hook)
    (x * x).sum().backward()
    return x, x.grad is None


def post_accumulate_must_return_none(t):
    x = leaf(t)
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    y = leaf(t)
    y.register_post_accumulate_grad_hook(lambda p: p)
    return refusal(x.sum().backward, "hooks should return None."), refusal(y.sum().backward)


def post_accumulate_multiple_and_removal(t):
    x, seen = leaf(t), []
    a = x.register_post_accumulate_grad_hook(lambda p: seen.append("a"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("b"))
    x.sum().backward()
    a.remove()
    x.sum().backward()
    return seen


def post_accumulate_not_called_by_grad(t):
    x, seen = leaf(t), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append("post"))
    x.register_hook(lambda g: seen.append("tensor"))
    t.autograd.grad((x * 2).sum(), x)
    return seen


def post_accumulate_with_tensor_hooks(t):
    x, seen = leaf(t), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    x.register_hook(lambda g: g * 4)
    x.sum().backward()
    return seen


def post_accumulate_without_grad(t):
    return refusal(lambda: t.ones(2).register_post_accumulate_grad_hook(lambda p: None))


def hooks_run_with_recording_off(t):
    x, seen = leaf(t), []
    x.register_hook(lambda g: seen.append((t.is_grad_enabled(), g.requires_grad)))
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: seen.append((t.is_grad_enabled(), go[0].requires_grad)))
    y.sum().backward()
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: seen.append((t.is_grad_enabled(), gi[0].requires_grad)))
    y.sum().backward(create_graph=True)
    return seen


def hook_result_is_differentiable_under_create_graph(t):
    x = double(t)
    y = x * x
    y.register_hook(lambda g: g * y.detach() * x)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g, h


def hook_of_leaf_with_create_graph(t):
    x = double(t)
    x.register_hook(lambda g: g * g)
    (x * x).sum().backward(create_graph=True)
    (h,) = t.autograd.grad(x.grad.sum(), x)
    return x.grad, h


def backward_inside_a_hook(t):
    x, w = leaf(t), leaf(t)
    y = x * 2
    y.register_hook(lambda g: (w * w).sum().backward() if t.is_grad_enabled() else None)

    def hook(g):
        with t.enable_grad():
            (w * w).sum().backward()

    y.register_hook(hook)
    y.sum().backward()
    return x.grad, w.grad


def multi_all(t):
    a, b, c, seen = leaf(t), leaf(t), leaf(t), []
    handle = t.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    (a * 2 + b * 3 + c * 4).sum().backward()
    (a * 2 + c * 4).sum().backward()
    (b * 7).sum().backward()
    handle.remove()
    (a + b + c).sum().backward()
    return seen


def multi_all_of_non_leaves(t):
    x, seen = leaf(t), []
    a, b = x * 2, x * 3
    t.autograd.graph.register_multi_grad_hook((a, b, x), lambda gs: seen.append([g.tolist() for g in gs]))
    (a * b).sum().backward()
    return seen


def multi_all_partial_with_inputs(t):
    x, seen = leaf(t), []
    a, b = x * 2, x * 3
    t.autograd.graph.register_multi_grad_hook(
        (a, b), lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    t.autograd.grad((a * b).sum(), a)
    return seen


def multi_any(t):
    a, b, c, seen = leaf(t), leaf(t), leaf(t), []
    t.autograd.graph.register_multi_grad_hook((a, b, c), lambda g: seen.append(g.tolist()), mode="any")
    (a * 2 + b * 2 + c * 2).sum().backward()
    (b * 5).sum().backward()
    return seen


def multi_wrong_mode(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.graph.register_multi_grad_hook((x,), lambda g: None, mode="some"))


def multi_with_gradients_of_one_only(t):
    a, b, seen = leaf(t), leaf(t), []
    t.autograd.graph.register_multi_grad_hook((a, b), lambda gs: seen.append([g is None for g in gs]))
    (a * 2).sum().backward()
    return seen


def hook_on_detached(t):
    x = leaf(t)
    return refusal(lambda: x.detach().register_hook(_twice)), refusal(lambda: x.detach().retain_grad())


def hook_after_backward_of_freed_graph(t):
    x = leaf(t)
    y = x.exp()
    y.sum().backward()
    y.register_hook(_twice)
    return refusal(y.sum().backward)


def hook_on_root(t):
    x = leaf(t)
    y = x.sum()
    y.register_hook(lambda g: g * 8)
    y.backward()
    return x.grad


def hook_on_root_that_is_a_leaf(t):
    x, seen = t.tensor(2.0, requires_grad=True), []
    x.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g * 3)
    x.backward()
    return seen, x.grad


def hook_with_grad_of_that_tensor(t):
    x = leaf(t)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    (gy,) = t.autograd.grad((y * y).sum(), y, retain_graph=True)
    (gx,) = t.autograd.grad((y * y).sum(), x)
    return gy, gx


def leaf_hook_with_grad(t):
    x = leaf(t)
    x.register_hook(lambda g: g * 3)
    return t.autograd.grad((x * 2).sum(), x)


def node_prehook_with_grad_capture(t):
    x = leaf(t)
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 3,))
    return t.autograd.grad((y * y).sum(), [y, x])


def posthook_of_captured_node_is_not_run(t):
    x, seen = leaf(t), []
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    y.grad_fn.register_prehook(lambda go: seen.append("pre"))
    t.autograd.grad((y * y).sum(), y)
    return seen


def hooks_of_custom_function_node(t):
    seen = []

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append("backward")
            return g * 2

    x = leaf(t)
    y = Twice.apply(x)
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda gs: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    y.sum().backward()
    return seen


def prehook_replaces_with_none(t):
    seen = []

    class Show(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g is None, h is None))
            return None if g is None else g * 2

    x = leaf(t)
    a, b = Show.apply(x)
    a.grad_fn.register_prehook(lambda gs: (gs[0], None))
    (a.sum() + b.sum()).backward()
    return seen, x.grad


def hook_called_with_positional_lambda_and_object(t):
    class Counter:
        def __init__(self):
            self.n = 0

        def __call__(self, g):
            self.n += 1
            return g * 2

    x, counter = leaf(t), Counter()
    x.register_hook(counter)
    x.sum().backward()
    x.sum().backward()
    return counter.n, x.grad


def hook_by_decorator_on_bound_method(t):
    class Owner:
        def __init__(self):
            self.seen = []

        def hook(self, g):
            self.seen.append(g.tolist())

    owner, x = Owner(), leaf(t)
    x.register_hook(owner.hook)
    x.sum().backward()
    return owner.seen


def hooks_survive_several_backwards(t):
    x, seen = leaf(t), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    loss = y.sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    return seen


def hook_on_parameter_shared_by_many_layers(t):
    w, seen = leaf(t), []
    w.register_hook(lambda g: seen.append(g.tolist()))
    h = t.ones(3)
    for _ in range(4):
        h = h * w
    h.sum().backward()
    return seen


def full_order(t):
    a, b, seen = leaf(t), leaf(t), []
    c = a * b
    d = c.exp()
    e = d + a
    for name, x in (("a", a), ("b", b), ("c", c), ("d", d), ("e", e)):
        x.register_hook(lambda g, name=name: seen.append(name))
    e.sum().backward()
    return seen


def a_gradient_asked_for_on_the_way(t):
    """Where the pass goes on, what came to the node; where it ends, what the hooks made of it."""
    x = t.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    z = (y * 3).sum()
    ends = t.autograd.grad(z, [y], retain_graph=True)
    return ends, t.autograd.grad(z, [x, y], retain_graph=True)


def an_accumulator_that_is_called(t):
    x = t.ones(2, requires_grad=True)
    node = t.autograd.graph.get_gradient_edge(x).node
    first = node(t.ones(2))
    node(t.full((2,), 3.0))
    return first, x.grad
