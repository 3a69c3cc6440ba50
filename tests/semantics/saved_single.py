"""Hooks on single saved values, the CPU, disabled hooks, and how saved-tensor hooks meet the rest."""

from __future__ import annotations

from .programs import double, leaf, refusal
from .saved import _hooks


def raw_saved_hooks(t):
    x = leaf(t)
    y = x.pow(2)
    y.grad_fn._raw_saved_self.register_hooks(lambda v: 2 * v, lambda v: v)
    y.sum().backward()
    return x.grad


def raw_saved_hooks_read(t):
    x = leaf(t)
    y = x.pow(2)
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda v: 2 * v, lambda v: 5 * v)
    return y.grad_fn._saved_self, type(raw).__name__


def raw_saved_hooks_twice(t):
    x = leaf(t)
    y = x.pow(2)
    y.grad_fn._raw_saved_self.register_hooks(lambda v: v, lambda v: v)
    return refusal(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda v: v, lambda v: v))


def raw_saved_hooks_over_default_hooks(t):
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: v):
        y = x.pow(2)
    return refusal(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda v: v, lambda v: v))


def raw_saved_hooks_on_output(t):
    x = leaf(t)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda v: v * 2, lambda v: v)
    y.sum().backward()
    return x.grad


def raw_saved_hooks_after_free(t):
    x = leaf(t)
    y = x.pow(2)
    y.sum().backward()
    return refusal(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda v: v, lambda v: v))


def raw_saved_hooks_with_wrong_arguments(t):
    x = leaf(t)
    y = x.pow(2)
    raw = y.grad_fn._raw_saved_self
    return (
        refusal(lambda: raw.register_hooks(lambda v: 1, lambda v: 1) or y.sum().backward()),
        refusal(lambda: x.pow(2).grad_fn._raw_saved_self.register_hooks(3, lambda v: v), 0)[0],
        refusal(lambda: x.pow(2).grad_fn._raw_saved_self.register_hooks(lambda v: v), 0)[0],
    )


def raw_saved_hooks_pack_in_place(t):
    x = leaf(t) * 1
    y = x.pow(2)
    return refusal(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda v: v.add_(1), lambda v: v))


def raw_saved_of_custom_function(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf(t)
    y = F.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda v: v * 10, lambda v: v)
    y.sum().backward()
    return x.grad


def save_on_cpu(t):
    x = leaf(t)
    with t.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


def save_on_cpu_and_write(t):
    x = leaf(t)
    y = x * 1
    with t.autograd.graph.save_on_cpu(pin_memory=False):
        z = y * y
    y.zero_()
    z.sum().backward()
    return x.grad


def disabled_hooks(t):
    def run():
        with t.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
            with _hooks(t, lambda v: v, lambda v: v):
                pass

    def after():
        with t.autograd.graph.disable_saved_tensors_hooks("first"):
            pass
        with _hooks(t, lambda v: v, lambda v: v):
            return "fine"

    return refusal(run), after()


def disabled_while_active(t):
    def run():
        with _hooks(t, lambda v: v, lambda v: v):
            with t.autograd.graph.disable_saved_tensors_hooks("not now"):
                pass

    return refusal(run)


def disabled_nested(t):
    def run():
        with t.autograd.graph.disable_saved_tensors_hooks("outer"):
            with t.autograd.graph.disable_saved_tensors_hooks("inner"):
                pass
            with _hooks(t, lambda v: v, lambda v: v):
                pass

    def inner():
        with t.autograd.graph.disable_saved_tensors_hooks("outer"):
            with t.autograd.graph.disable_saved_tensors_hooks("inner"):
                with _hooks(t, lambda v: v, lambda v: v):
                    pass

    return refusal(run), refusal(inner)


def hooks_and_views(t):
    seen = []
    x = leaf(t)
    with _hooks(t, lambda v: seen.append(tuple(v.shape)) or v, lambda v: v):
        y = (x[:2] * x[1:]).view(1, 2) * 3
    y.sum().backward()
    return seen, x.grad


def hooks_and_inplace(t):
    x = leaf(t)
    with _hooks(t, lambda v: v.clone(), lambda v: v):
        y = x * 1
        y.mul_(y.detach() + 1)
        y[0].mul_(3)
    y.sum().backward()
    return x.grad


def hooks_and_several_outputs(t):
    x = t.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    with _hooks(t, lambda v: v.clone(), lambda v: v):
        v, _ = x.max(dim=1)
    (v * v).sum().backward()
    return x.grad


def unpacked_leaf_is_joined_to_the_graph(t):
    x = double(t)
    with _hooks(t, lambda v: v.detach().clone(), lambda v: v):
        y = x.pow(3)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    return x.grad


def packed_value_requires_grad(t):
    seen = []
    x, w = leaf(t), t.ones(3)
    with _hooks(t, lambda v: seen.append((v.requires_grad, v.is_leaf)) or v, lambda v: v):
        _ = (x * 1) * w
        _ = x.sin()
    return seen


def identity_of_packed_input(t):
    seen = []
    x = leaf(t)
    with _hooks(t, lambda v: seen.append(v is x) or v, lambda v: v):
        _ = x.sin()
    return seen


def hooks_object_reused(t):
    hooks = _hooks(t, lambda v: v * 2, lambda v: v)
    x = leaf(t)
    with hooks:
        y = x.pow(2)
    with hooks:
        z = x.pow(2)
    (y + z).sum().backward()
    return x.grad


def scalar_operand_is_not_packed(t):
    seen = []
    x = leaf(t)
    with _hooks(t, lambda v: seen.append(v.tolist()) or v, lambda v: v):
        y = x / 2
        z = x**3
    (y + z).sum().backward()
    return x.grad


def matmul_saves_both(t):
    seen = []
    a, b = t.ones(2, 3, requires_grad=True), t.ones(3, 2, requires_grad=True)
    with _hooks(t, lambda v: seen.append(tuple(v.shape)) or v, lambda v: v):
        y = a @ b
    y.sum().backward()
    return sorted(seen), a.grad


def linear_layers(t):
    layer = t.nn.Linear(3, 2)
    with t.no_grad():
        layer.weight.fill_(0.5)
        layer.bias.zero_()
    x = leaf(t)
    with _hooks(t, lambda v: v.detach().clone(), lambda v: v):
        y = layer(x).relu().sum()
    y.backward()
    return x.grad, layer.weight.grad, layer.bias.grad
