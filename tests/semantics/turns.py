"""Which nodes have their turn in a pass, with what, and in which order users' code runs around them."""

from __future__ import annotations

from .programs import refusal


def _function(t, forward, backward):
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(t.autograd.Function)("Mine", (t.autograd.Function,), body)


def none_reaches_the_next_function_as_zeros(t):
    seen = []
    stop = _function(t, lambda ctx, x: x * 2, lambda ctx, g: None)

    def backward(ctx, g):
        seen.append(g.tolist())
        return g * 2

    behind = _function(t, lambda ctx, x: x * 2, backward)
    x = t.ones(2, requires_grad=True)
    stop.apply(behind.apply(x)).sum().backward()
    other = t.ones(2, requires_grad=True)
    stop.apply(behind.apply(other).exp()).sum().backward()
    return seen, x.grad, other.grad


def none_reaches_operations_as_nothing(t):
    stop = _function(t, lambda ctx, x: x * 2, lambda ctx, g: None)
    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    heard = []
    z = x**2
    z.register_hook(lambda g: heard.append(g))
    stop.apply(z).sum().backward()
    w = y * 3
    (stop.apply(w) + w).sum().backward()
    return heard, x.grad, y.grad


def once_differentiable_stands_in_the_graph(t):
    def names(node):
        return None if node is None else [type(node).__name__, *(names(n) for n, _ in node.next_functions)]

    def backward(ctx, g):
        return g * 2, None, g * 3

    once = t.autograd.function.once_differentiable(backward)
    f = _function(t, lambda ctx, x, k, y: x * 2 + y * 3, once)
    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    f.apply(x, 5, y).sum().backward(t.ones((), requires_grad=True), create_graph=True)
    found = names(x.grad.grad_fn), names(y.grad.grad_fn)
    x.grad = y.grad = None
    return found


def outputs_that_are_no_tensors_have_no_gradient(t):
    seen = []

    def backward(ctx, *grads):
        seen.append([g is None for g in grads])
        return grads[1] * 2, None

    f = _function(t, lambda ctx, x, k: (k, x * 2, None, "text", x * 3), backward)
    x = t.ones(2, requires_grad=True)
    out = f.apply(x, 5)
    out[1].sum().backward()
    return seen, x.grad, out[0], out[2], out[3]


def an_output_returned_twice_is_one_tensor(t):
    f = _function(t, lambda ctx, x: (x.exp(),) * 2, lambda ctx, a, b: a * 2 + b * 3)
    x = t.ones(2, requires_grad=True)
    a, b = f.apply(x)
    (a + b).sum().backward()
    return a is b, a.output_nr, x.grad


def prehooks_where_gradients_are_captured(t):
    log = []

    def tensor_hook(g):
        log.append(1)
        return g * 3

    def prehook(grads):
        log.append(2)
        return tuple(g * 2 for g in grads)

    a = t.tensor(1.0, requires_grad=True)
    b = a.clone()
    b.grad_fn.register_prehook(prehook)
    b.register_hook(tensor_hook)
    leaf = b.grad_fn.next_functions[0][0]
    a.register_hook(tensor_hook)
    leaf.register_prehook(prehook)
    found = []
    for run in (
        lambda: b.sum().backward(retain_graph=True),
        lambda: t.autograd.grad(b.sum(), (a,), retain_graph=True),
        lambda: b.sum().backward(inputs=(b,)),
    ):
        log.clear()
        run()
        found.append(list(log))
    return found, b.grad, a.grad


def posthooks_registered_while_the_node_runs(t):
    x = t.rand(3, requires_grad=True)
    seen = []

    def unpack(value):
        node = y.grad_fn
        node.register_hook(lambda inputs, outputs: (seen.append(outputs), tuple(g / 2 for g in inputs))[1])
        return value

    with t.autograd.graph.saved_tensors_hooks(lambda value: value, unpack):
        y = x.exp()
    y.sum().backward()
    return seen, (x.grad / y).tolist()


def hooks_entered_while_unpacking_end_with_the_pass(t):
    import weakref

    def scope():
        def unpack(value):
            context().__enter__()
            return value

        hooks = t.autograd.graph.saved_tensors_hooks(lambda value: value, unpack)
        context = weakref.ref(hooks)
        x = t.ones(3, requires_grad=True)
        with hooks:
            x.sin().sum().backward()
        return weakref.ref(unpack)

    gone = scope()() is None
    y = t.ones(2, requires_grad=True).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda value: value, lambda value: value)
    return gone


def delayed_errors(t):
    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    late = t._C._functions.DelayedError("not here", 1)
    spared = t.autograd.grad((late(y) + x).sum(), x)[0]
    return refusal(lambda: (late(y) * x).sum().backward()), spared


def calling_a_node(t):
    y = t.ones(2, requires_grad=True).exp()
    return refusal(lambda: y.grad_fn(), "expected 1 arguments, got 0"), y.grad_fn(t.ones(2))


def what_is_known_of_a_node(t):
    x = t.rand(3, 3, requires_grad=True)
    var, _ = t.var_mean(x, dim=0)
    metas = [*(x * x).grad_fn._input_metadata, *var.grad_fn._input_metadata]
    return [(list(meta.shape), str(meta.dtype).split(".")[-1]) for meta in metas]


def edges_as_inputs_and_outputs(t):
    edge_of = t.autograd.graph.get_gradient_edge
    x = t.tensor([1.0, 2.0], requires_grad=True)
    middle = x.sin().sum()
    out, edge = middle.exp(), edge_of(middle)
    (g,) = t.autograd.grad(out, (edge,), retain_graph=True)
    return (
        t.autograd.grad(edge, (x,), grad_outputs=(g,), retain_graph=True)[0],
        refusal(lambda: t.autograd.grad(edge, (x,), grad_outputs=t.ones(3)), "Mismatch in shape"),
        refusal(
            lambda: t.autograd.grad(x.sum(), (x, edge), allow_unused=True, materialize_grads=True),
            "materialize_grads cannot be used when the given input is a GradientEdge",
        ),
    )
