"""What keeps what alive: graphs, saved values and hooks go by reference counting alone, with the collector off."""

from __future__ import annotations

import gc
import weakref

from .programs import leaf


class _Token:
    """Something a weak reference can watch."""


def _without_collector(program):
    """Run with the garbage collector off; what `program` returns are weak references to ask at the end."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        return [reference() is None for reference in program()]
    finally:
        if enabled:
            gc.enable()


def graph_of_inputs(t):
    def run():
        x = leaf(t)
        y = (x * x).exp().sum()
        found = [weakref.ref(y), weakref.ref(x)]
        return found

    return _without_collector(run)


def graph_with_saved_outputs(t):
    def run():
        x = leaf(t)
        y = x.exp()
        z = y.sigmoid().tanh().softmax(0)
        return [weakref.ref(v) for v in (x, y, z)]

    return _without_collector(run)


def graph_after_backward(t):
    def run():
        x = leaf(t)
        y = x.exp() * x
        y.sum().backward()
        return [weakref.ref(v) for v in (x, y)]

    return _without_collector(run)


def graph_after_retained_backward(t):
    def run():
        x = leaf(t)
        y = x.exp() * x
        y.sum().backward(retain_graph=True)
        return [weakref.ref(v) for v in (x, y)]

    return _without_collector(run)


def intermediate_is_freed_by_backward(t):
    x = leaf(t)
    h = x * 2
    y = (h * h).sum()
    gone = weakref.ref(h)
    del h
    before = gone() is None
    y.backward()
    return before, gone() is None, x.grad


def intermediate_that_nobody_saved(t):
    x = leaf(t)
    h = x + 2
    y = (h + 1).sum()
    gone = weakref.ref(h)
    del h
    return gone() is None, y.requires_grad


def attributes_on_nodes(t):
    def run():
        x, token = leaf(t), _Token()
        y = x * 2
        y.grad_fn.metadata["token"] = token
        return [weakref.ref(token)]

    return _without_collector(run)


def closures_of_tensor_hooks(t):
    def run():
        x, token = leaf(t), _Token()
        y = x * 2
        y.register_hook(lambda g, token=token: None)
        y.sum().backward()
        return [weakref.ref(token), weakref.ref(y), weakref.ref(x)]

    return _without_collector(run)


def closures_of_leaf_hooks(t):
    def run():
        x, a, b = leaf(t), _Token(), _Token()
        x.register_hook(lambda g, token=a: None)
        x.register_post_accumulate_grad_hook(lambda p, token=b: None)
        x.sum().backward()
        return [weakref.ref(a), weakref.ref(b), weakref.ref(x)]

    return _without_collector(run)


def removed_hooks_are_dropped(t):
    x, token = leaf(t), _Token()
    gone = weakref.ref(token)
    handle = x.register_hook(lambda g, token=token: None)
    del token
    before = gone() is None
    handle.remove()
    return before, gone() is None


def handle_does_not_keep_the_tensor(t):
    x = leaf(t)
    handle = x.register_hook(lambda g: None)
    gone = weakref.ref(x)
    del x
    found = gone() is None
    handle.remove()
    return found


def retain_grad_makes_no_cycle(t):
    def run():
        x = leaf(t)
        y = x * 2
        y.retain_grad()
        y.sum().backward()
        return [weakref.ref(y), weakref.ref(x)]

    return _without_collector(run)


def node_hooks_make_no_cycle(t):
    def run():
        x, token = leaf(t), _Token()
        y = x.exp()
        y.grad_fn.register_hook(lambda a, b, token=token: None)
        y.grad_fn.register_prehook(lambda a, token=token: None)
        y.sum().backward()
        return [weakref.ref(token), weakref.ref(y)]

    return _without_collector(run)


def accumulate_grad_node(t):
    def run():
        x = leaf(t)
        node = (x * 2).grad_fn.next_functions[0][0]
        same = node.variable is x
        return [weakref.ref(x)] if same else []

    return _without_collector(run)


def custom_function_input_saved(t):
    def run():
        y, token = _custom(t, False)
        y.sum().backward()
        return [weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(token)]

    return _without_collector(run)


def custom_function_output_saved(t):
    def run():
        y, token = _custom(t, True)
        return [weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(token)]

    return _without_collector(run)


def _custom(t, output):
    token = _Token()

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, token):
            y = x * 2
            ctx.save_for_backward(y if output else x)
            ctx.token = token
            return y

        @staticmethod
        def backward(ctx, g):
            _ = ctx.saved_tensors
            return g * 2, None

    return F.apply(leaf(t), token), token


def views_and_bases(t):
    def run():
        x = leaf(t)
        y = x * 2
        v = y[:2]
        v.mul_(3)
        w = y.view(3, 1)
        return [weakref.ref(k) for k in (x, y, v, w)]

    return _without_collector(run)


def view_keeps_only_its_base(t):
    y = leaf(t) * 2
    v = y[:2]
    base, grandparent = weakref.ref(y), weakref.ref(y[:2])
    del y
    return base() is None, grandparent() is None, v


def in_place_chain(t):
    def run():
        x = leaf(t)
        y = x * 2
        for _ in range(5):
            y.mul_(2)
            y[0].add_(1)
        return [weakref.ref(y), weakref.ref(x)]

    return _without_collector(run)


def saved_tensor_hooks(t):
    def run():
        x, token = leaf(t), _Token()
        with t.autograd.graph.saved_tensors_hooks(lambda v, token=token: v.detach(), lambda v: v):
            y = x * x
        return [weakref.ref(token), weakref.ref(y), weakref.ref(x)]

    return _without_collector(run)


def checkpointed_without_backward(t):
    def run():
        x, token = leaf(t), _Token()
        y = t.utils.checkpoint.checkpoint(lambda v, k: (v * v).exp(), x, token, use_reentrant=False)
        return [weakref.ref(v) for v in (x, y, token)]

    return _without_collector(run)


def module_and_optimizer(t):
    def run():
        layer = t.nn.Linear(2, 2)
        optimizer = t.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        layer(t.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        weight = layer.weight
        return [weakref.ref(weight), weakref.ref(layer)]

    return _without_collector(run)


def grad_of_grad_graph(t):
    def run():
        x = leaf(t)
        (g,) = t.autograd.grad((x * x * x).sum(), x, create_graph=True)
        return [weakref.ref(x), weakref.ref(g)]

    return _without_collector(run)


def exception_in_backward_keeps_nothing(t):
    x, token = leaf(t), _Token()
    y = x * 2

    def hook(g, token=token):
        raise KeyError("x")

    y.register_hook(hook)
    try:
        y.sum().backward()
    except KeyError:
        pass
    gone = weakref.ref(token)
    del y, token, hook
    gc.collect()
    return gone() is None


def ctx_attribute_is_dropped_with_the_graph(t):
    y, token = _custom(t, False)
    gone = weakref.ref(token)
    del token
    before = gone() is None
    del y
    return before, gone() is None


def gradient_edge_keeps_its_node(t):
    x = leaf(t)
    y = x * 2
    edge = t.autograd.graph.get_gradient_edge(y)
    gone = weakref.ref(y)
    del y
    return gone() is None, type(edge.node).__name__


def deep_graph_is_freed_without_recursion(t):
    x = leaf(t)
    y = x
    for _ in range(50_000):
        y = y * 1.5
    start = weakref.ref(x)
    del x, y
    return start() is None


def queued_callbacks_are_dropped(t):
    def run():
        x, token = leaf(t), _Token()
        engine = t.autograd.Variable._execution_engine
        x.register_hook(lambda g, token=token: engine.queue_callback(lambda token=token: None))
        x.sum().backward()
        return [weakref.ref(token), weakref.ref(x)]

    return _without_collector(run)
