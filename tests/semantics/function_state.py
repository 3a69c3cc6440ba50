"""Custom Functions: what they save, higher derivatives, naming, wrong ones, and how they nest."""

from __future__ import annotations

from .function import _make
from .programs import double, leaf, refusal, warned


def saves_output(t):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y

    x = double(t, 0.5, 1.0)
    y = _make(t, forward, backward).apply(x)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g, h


def saved_output_is_joined_to_the_graph(t):
    found = []

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y, x)
        return y

    def backward(ctx, g):
        y, x = ctx.saved_tensors
        found.append((y.requires_grad, y.grad_fn is ctx, x.requires_grad, x.is_leaf))
        return g * y

    x = leaf(t)
    y = _make(t, forward, backward).apply(x)
    y.sum().backward()
    return found


def saves_intermediate(t):
    def forward(ctx, x):
        mid = x.sin()
        ctx.save_for_backward(x, mid)
        return mid * mid

    def backward(ctx, g):
        x, mid = ctx.saved_tensors
        return g * 2 * mid * x.cos()

    x = leaf(t)
    _make(t, forward, backward).apply(x).sum().backward()
    return x.grad


def saves_none(t):
    def forward(ctx, x):
        ctx.save_for_backward(None, x, None)
        return x * x

    def backward(ctx, g):
        a, x, b = ctx.saved_tensors
        return g * 2 * x if a is None and b is None else None

    x = leaf(t)
    _make(t, forward, backward).apply(x).sum().backward()
    return x.grad


def saves_nothing(t):
    def backward(ctx, g):
        return g * (2 + len(ctx.saved_tensors))

    x = leaf(t)
    y = _make(t, lambda ctx, x: x * 2, backward).apply(x)
    y.sum().backward()
    return x.grad, refusal(y.sum().backward)


def saving_twice_keeps_the_last(t):
    def forward(ctx, x):
        ctx.save_for_backward(x, x)
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx, g):
        return g * len(ctx.saved_tensors)

    x = leaf(t)
    _make(t, forward, backward).apply(x).sum().backward()
    return x.grad


def saved_tensors_outside_backward(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = _make(t, forward, lambda ctx, g: g * 2).apply(leaf(t))
    return y.grad_fn.saved_tensors, [type(v).__name__ for v in y.grad_fn._raw_saved_tensors]


def saved_tensor_overwritten(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    b = leaf(t) * 1
    y = _make(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(b)
    b.add_(1)
    return refusal(y.sum().backward), refusal(y.sum().backward, "is at version 1; expected version 0 instead.")


def saved_output_overwritten(t):
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(y)
        return y

    y = _make(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(t))
    y.add_(1)
    return refusal(y.sum().backward, "which is output 0 of Mine, is at version 1; expected version 0 instead.")


def second_backward(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = leaf(t)
    y = _make(t, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0]).apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad, refusal(y.sum().backward)


def attributes_survive_the_free(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.k = 7
        return x * x

    y = _make(t, forward, lambda ctx, g: g).apply(leaf(t))
    y.sum().backward()
    return y.grad_fn.k


def double_backward(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(3)

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x

    f = _make(t, forward, backward)
    x = double(t)
    (g,) = t.autograd.grad(f.apply(x).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = t.autograd.grad(h.sum(), x)
    return g, h, k


def backward_that_is_itself_a_function(t):
    def inner_backward(ctx, g):
        return g * 100

    inner = _make(t, lambda ctx, g: g * 3, inner_backward, name="Inner")
    f = _make(t, lambda ctx, x: x * 3, lambda ctx, g: inner.apply(g))
    x = double(t)
    (g,) = t.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    return g, t.autograd.grad(g.sum(), x)


def once_differentiable_first_order(t):
    backward = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = leaf(t)
    f = _make(t, lambda ctx, x: x * 2, backward)
    f.apply(x).sum().backward()
    return x.grad


def once_differentiable_with_create_graph(t):
    backward = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = leaf(t)
    f = _make(t, lambda ctx, x: x * 2, backward)
    (g,) = t.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    return g.requires_grad, refusal(lambda: g.sum().backward())


def once_differentiable_without_need(t):
    backward = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = leaf(t)
    f = _make(t, lambda ctx, x: x * 2, backward)
    (g,) = t.autograd.grad(f.apply(x).sum(), x, create_graph=True)
    return g.requires_grad


def no_backward_defined(t):
    f = _make(t, lambda ctx, x: x * 2)
    y = f.apply(leaf(t))
    return y.requires_grad, refusal(y.sum().backward)


def no_forward_defined(t):
    f = type("Empty", (t.autograd.Function,), {})
    return refusal(lambda: f.apply(leaf(t)))


def instantiating(t):
    f = _make(t, lambda ctx, x: x * 2)
    return warned(lambda: f(), "should not be instantiated"), refusal(lambda: f()(leaf(t)), 30)


def error_in_forward(t):
    def forward(ctx, x):
        raise LookupError("in forward")

    f = _make(t, forward)
    return refusal(lambda: f.apply(leaf(t))), t.is_grad_enabled()


def error_in_backward_of_two(t):
    def backward(ctx, g):
        raise LookupError("in backward")

    f = _make(t, lambda ctx, x: x * 2, backward)
    x = leaf(t)
    return refusal(f.apply(f.apply(x)).sum().backward), x.grad is None


def apply_with_no_tensors(t):
    f = _make(t, lambda ctx, a, b: a + b, lambda ctx, g: (None, None))
    return f.apply(1, 2)


def saves_a_non_tensor(t):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    return refusal(lambda: _make(t, forward, lambda ctx, g: g).apply(leaf(t)))


def save_for_forward_refuses_numbers(t):
    def forward(ctx, x):
        ctx.save_for_forward(3)
        return x

    return refusal(lambda: _make(t, forward, lambda ctx, g: g).apply(leaf(t)), 50)


def next_functions_of_node(t):
    f = _make(t, lambda ctx, x, k, y, z: x + y + z, lambda ctx, g: (g, None, g, g))
    y = f.apply(leaf(t), 3, t.ones(3), leaf(t) * 2)
    return [None if n is None else type(n).__name__ for n, _ in y.grad_fn.next_functions]


def metadata_and_hooks_of_node(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    y = f.apply(leaf(t))
    y.grad_fn.metadata["k"] = 1
    return y.grad_fn.metadata, y.grad_fn.requires_grad if hasattr(y.grad_fn, "requires_grad") else True


def straight_through(t):
    f = _make(t, lambda ctx, x: x.round(), lambda ctx, g: g, name="Round")
    x = leaf(t, 0.4, 1.6)
    y = f.apply(x)
    (y * y).sum().backward()
    return y, x.grad


def gradient_reversal(t):
    def forward(ctx, x, k):
        ctx.k = k
        return x.view_as(x)

    f = _make(t, forward, lambda ctx, g: (g.neg() * ctx.k, None))
    x = leaf(t)
    f.apply(x, 0.5).sum().backward()
    return x.grad


def inside_modules(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g * 20)

    class Layer(t.nn.Module):
        def forward(self, x):
            return f.apply(x)

    x = leaf(t)
    Layer()(x).sum().backward()
    return x.grad


def same_input_twice(t):
    f = _make(t, lambda ctx, x, y: x * y, lambda ctx, g: (g * 2, g * 3))
    x = leaf(t)
    f.apply(x, x).sum().backward()
    return x.grad


def generate_vmap_rule_attribute(t):
    f = _make(t, lambda ctx, x: x)
    return f.generate_vmap_rule


def complex_function(t):
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * (2 * z).conj()

    z = t.tensor([1 + 2j], requires_grad=True)
    y = _make(t, forward, backward).apply(z)
    (y * y.conj()).real.sum().backward()
    return z.grad


def half_and_double_in_one(t):
    f = _make(t, lambda ctx, x, y: x.double() + y, lambda ctx, g: (g, g))
    x, y = leaf(t), double(t)
    f.apply(x, y).sum().backward()
    return str(x.grad.dtype)[-7:], str(y.grad.dtype)[-7:]


def saved_tensors_are_the_same_objects(t):
    found = []

    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    def backward(ctx, g):
        x, w = ctx.saved_tensors
        found.append((x.data_ptr() == kept[0].data_ptr(), w.data_ptr() == kept[1].data_ptr(), w.requires_grad))
        return g * w, None

    kept = leaf(t), t.ones(3)
    _make(t, forward, backward).apply(*kept).sum().backward()
    return found


def is_leaf_inputs_and_outputs_shapes(t):
    f = _make(t, lambda ctx, x: (x.sum(), x.unsqueeze(0) * 1), lambda ctx, a, b: a + b.squeeze(0))
    x = leaf(t)
    a, b = f.apply(x)
    (a * 2).backward()
    return a.shape, b.shape, x.grad


def mark_methods_exist(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable()
        ctx.mark_dirty()
        ctx.save_for_backward()
        return y

    x = leaf(t)
    _make(t, forward, lambda ctx, g: g * 2).apply(x).sum().backward()
    return x.grad


def ctx_dict(t):
    def forward(ctx, x):
        ctx.a = 1
        ctx.b = [2]
        return x * 2

    y = _make(t, forward, lambda ctx, g: g).apply(leaf(t))
    node = y.grad_fn
    return node.a, node.b, hasattr(node, "c"), refusal(lambda: node.c, 0)[0]


def nested_apply_in_forward(t):
    inner = _make(t, lambda ctx, x: x * 3, lambda ctx, g: g * 1000, name="Inner")
    f = _make(t, lambda ctx, x: inner.apply(x) * 2, lambda ctx, g: g * 6)
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad


def enable_grad_in_forward(t):
    def forward(ctx, x):
        with t.enable_grad():
            inner = x.detach().requires_grad_()
            ctx.inner, ctx.out = inner, inner.exp()
        return ctx.out.detach()

    def backward(ctx, g):
        return t.autograd.grad(ctx.out, ctx.inner, g)

    x = leaf(t)
    _make(t, forward, backward).apply(x).sum().backward()
    return x.grad


def tuple_of_one(t):
    f = _make(t, lambda ctx, x: (x * 2,), lambda ctx, g: (g * 2,))
    x = leaf(t)
    (y,) = f.apply(x)
    y.sum().backward()
    return x.grad


def defaults_of_a_class_method(t):
    class Power(t.autograd.Function):
        @classmethod
        def forward(cls, x, n=3):
            return x**n

        @classmethod
        def setup_context(cls, ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @classmethod
        def backward(cls, ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = t.tensor(2.0, requires_grad=True)
    y = Power.apply(x)
    y.backward()
    return y.item(), x.grad.item()


def an_output_that_is_a_written_view_of_an_intermediate(t):
    class Front(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            part = x.clone()[:3]
            part += 2
            return part

        @staticmethod
        def backward(ctx, g):
            return t.cat([g, t.zeros(2)])

    x = t.arange(5.0, requires_grad=True)
    y = Front.apply(x)
    y.sum().backward()
    return type(y.grad_fn).__name__, y._is_view(), y, x.grad
