"""Custom Functions: everything `ctx` offers, every kind of output, and what is said when they are wrong."""

from __future__ import annotations

from .programs import leaf, refusal


def _make(t, forward, backward=None, setup=None, name="Mine", **extra):
    """A Function class from plain functions."""
    body = {"forward": staticmethod(forward), **{k: staticmethod(v) if callable(v) else v for k, v in extra.items()}}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    if setup is not None:
        body["setup_context"] = staticmethod(setup)
    return type(t.autograd.Function)(name, (t.autograd.Function,), body)


def square(t):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    f = _make(t, forward, backward)
    x = leaf(t)
    y = f.apply(x)
    y.sum().backward()
    return y, x.grad, type(y.grad_fn).__name__, y.grad_fn.name()


def setup_context_form(t):
    def setup(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.k, ctx.kinds = k, (type(inputs).__name__, type(output).__name__)

    f = _make(t, lambda x, k: x * x * k, lambda ctx, g: (2 * ctx.saved_tensors[0] * ctx.k * g, None), setup)
    x = leaf(t)
    y = f.apply(x, 3.0)
    y.sum().backward()
    return x.grad, y.grad_fn.kinds


def subclass_inherits(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2, name="Base")

    class Derived(f):
        pass

    x = leaf(t)
    y = Derived.apply(x)
    y.sum().backward()
    return type(y.grad_fn).__name__, x.grad


def class_syntax_names(t):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = Twice.apply(leaf(t))
    return type(y.grad_fn).__name__, y.grad_fn.name(), Twice.__name__, isinstance(y.grad_fn, t.autograd.graph.Node)


def ctx_is_the_node(t):
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        ctx.note = "hello"
        return x * 2

    f = _make(t, forward, lambda ctx, g: g * 2)
    y = f.apply(leaf(t))
    return kept[0] is y.grad_fn, y.grad_fn.note


def vjp_instead_of_backward(t):
    f = _make(t, lambda ctx, x: x * 2, vjp=lambda ctx, g: g * 2)
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad


def both_backward_and_vjp(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2, vjp=lambda ctx, g: g * 2)
    return refusal(lambda: f.apply(leaf(t)).sum().backward())


def needs_input_grad(t):
    seen = []

    def forward(ctx, x, k, y, z):
        seen.append(ctx.needs_input_grad)
        return x + y + z

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, None, g

    f = _make(t, forward, backward)
    f.apply(leaf(t), 3, t.ones(3), leaf(t)).sum().backward()
    with t.no_grad():
        f.apply(leaf(t), 3, t.ones(3), leaf(t))
    return seen


def no_grad_needed(t):
    saved = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        saved.append(ctx)
        return x * 2

    f = _make(t, forward, lambda ctx, g: g)
    y = f.apply(t.ones(2))
    return y.requires_grad, y.grad_fn is None, y.is_leaf


def under_no_grad(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g)
    with t.no_grad():
        y = f.apply(leaf(t))
    return y.requires_grad, y.grad_fn is None


def grad_mode_inside_forward(t):
    seen = []

    def forward(ctx, x):
        y = x * 2
        seen.append((t.is_grad_enabled(), x.requires_grad, y.requires_grad))
        return y

    _make(t, forward, lambda ctx, g: g).apply(leaf(t))
    return seen


def non_tensor_arguments(t):
    f = _make(
        t,
        lambda ctx, x, text, number, none, items: x * number,
        lambda ctx, g: (g * 2, None, None, None, None),
    )
    x = leaf(t)
    f.apply(x, "a", 2, None, [1, 2]).sum().backward()
    return x.grad


def tensors_in_lists_are_not_seen(t):
    f = _make(t, lambda ctx, x, others: x + others[0], lambda ctx, g: (g, None))
    x, o = leaf(t), leaf(t)
    f.apply(x, [o]).sum().backward()
    return x.grad, o.grad is None


def too_few_gradients(t):
    f = _make(t, lambda ctx, x, y: x + y, lambda ctx, g: g)
    return refusal(
        lambda: f.apply(leaf(t), leaf(t)).sum().backward(),
        "returned an incorrect number of gradients (expected 2, got 1)",
    )


def extra_none_gradients_are_fine(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: (g * 2, None, None))
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad


def gradient_for_non_tensor(t):
    f = _make(t, lambda ctx, x, k: x * k, lambda ctx, g: (g, g))
    return refusal(
        lambda: f.apply(leaf(t), 2.0).sum().backward(),
        "returned a gradient different than None at position 2, but the corresponding forward input was not a Variable",
    )


def gradient_is_no_tensor(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: 3.0)
    return refusal(lambda: f.apply(leaf(t)).sum().backward(), 0)


def none_gradient(t):
    f = _make(t, lambda ctx, x, y: x * y, lambda ctx, g: (None, g))
    x, y = leaf(t), leaf(t)
    f.apply(x, y).sum().backward()
    return x.grad is None, y.grad


def gradient_for_input_that_needs_none(t):
    f = _make(t, lambda ctx, x, y: x * y, lambda ctx, g: (g, g))
    x, y = leaf(t), t.ones(3)
    f.apply(x, y).sum().backward()
    return x.grad, y.grad is None


def gradient_is_summed_to_shape(t):
    f = _make(t, lambda ctx, x: x.expand(2, 3) * 1, lambda ctx, g: g)
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad


def gradient_of_wrong_shape(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g[:2])
    return refusal(
        lambda: f.apply(leaf(t)).sum().backward(),
        "returned an invalid gradient at index 0 - got [2] but expected shape compatible with [3]",
    )


def gradient_nobody_asks_for_may_have_any_shape(t):
    f = _make(t, lambda ctx, x, times: x * 2, lambda ctx, g: (g * 2, g[:2]))
    x = leaf(t)
    f.apply(x, t.ones(5)).sum().backward()
    return x.grad


def gradient_of_other_dtype_is_cast(t):
    f = _make(t, lambda ctx, x: x * 2, lambda ctx, g: g.double())
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad, str(x.grad.dtype)[-7:]


def several_outputs(t):
    f = _make(t, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    x = leaf(t)
    a, b = f.apply(x)
    (a.sum() + 10 * b.sum()).backward()
    return x.grad, a.output_nr, b.output_nr, a.grad_fn is b.grad_fn


def kinds_of_outputs(t):
    found = []
    for make in (lambda x: x * 2, lambda x: (x * 2,), lambda x: [x * 2, x * 3], lambda x: (x * 2, 3, "a", None)):
        f = _make(t, lambda ctx, x, make=make: make(x), lambda ctx, *g: g[0])
        y = f.apply(leaf(t))
        found.append((type(y).__name__, [type(v).__name__ for v in y] if isinstance(y, (tuple, list)) else None))
    return found


def unused_output_is_materialized(t):
    seen = []

    def backward(ctx, a, b):
        seen.append((a.tolist(), b.tolist()))
        return a * 2

    f = _make(t, lambda ctx, x: (x * 2, x[:2] * 3), backward)
    a, b = f.apply(leaf(t))
    a.sum().backward()
    return seen


def not_materialized(t):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return a * 2

    a, b = _make(t, forward, backward).apply(leaf(t))
    a.sum().backward()
    return seen


def not_materialized_in_setup_context(t):
    seen = []

    def setup(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return b * 3

    a, b = _make(t, lambda x: (x * 2, x * 3), backward, setup).apply(leaf(t))
    b.sum().backward()
    return seen


def non_differentiable_output(t):
    def forward(ctx, x):
        values, where = x.sort()
        mask = values > 1.5
        other = values * 0
        ctx.mark_non_differentiable(where, mask, other)
        ctx.save_for_backward(where)
        return values, where, mask, other

    def backward(ctx, g, a, b, c):
        kinds = [v is None or v.tolist() for v in (a, b, c)]
        (where,) = ctx.saved_tensors
        ctx.kinds = kinds
        return t.zeros(3).index_add_(0, where, g)

    x = leaf(t, 3.0, 1.0, 2.0)
    values, where, mask, other = _make(t, forward, backward).apply(x)
    (values * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return [v.requires_grad for v in (values, where, mask, other)], x.grad, values.grad_fn.kinds


def integer_output_does_not_require(t):
    f = _make(t, lambda ctx, x: (x * 2, x.long()), lambda ctx, a, b: a * 2)
    a, b = f.apply(leaf(t))
    return a.requires_grad, b.requires_grad, b.grad_fn is None


def all_outputs_non_differentiable(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    y = _make(t, forward, lambda ctx, g: g).apply(leaf(t))
    return y.requires_grad, y.grad_fn is None


def in_place(t):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    f = _make(t, forward, lambda ctx, g: g * 3)
    x = leaf(t)
    y = x * 1
    z = f.apply(y)
    z.sum().backward()
    return z is y, x.grad, y._version, type(y.grad_fn).__name__


def in_place_on_leaf(t):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    f = _make(t, forward, lambda ctx, g: g * 3)
    return refusal(lambda: f.apply(leaf(t)))


def in_place_on_plain_tensor(t):
    def forward(ctx, x, y):
        x.add_(y)
        ctx.mark_dirty(x)
        return x

    f = _make(t, forward, lambda ctx, g: (g, g))
    x, y = t.zeros(3), leaf(t)
    z = f.apply(x, y)
    z.sum().backward()
    return z is x, x.requires_grad, y.grad


def in_place_on_view(t):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    f = _make(t, forward, lambda ctx, g: g * 3)
    x = leaf(t)
    y = x * 1
    v = y[:2]
    f.apply(v)
    y.sum().backward()
    return y, x.grad, type(y.grad_fn).__name__


def in_place_not_marked(t):
    f = _make(t, lambda ctx, x: x.mul_(3), lambda ctx, g: g * 3)
    x = leaf(t)
    y = x * 1
    z = f.apply(y)
    return z is y, y._version


def dirty_not_an_input(t):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    return refusal(lambda: _make(t, forward, lambda ctx, g: g).apply(leaf(t)), 0)


def dirty_not_returned(t):
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x * 2

    return refusal(lambda: _make(t, forward, lambda ctx, g: g).apply(leaf(t) * 1))


def several_in_place(t):
    def forward(ctx, x, y):
        x.mul_(2)
        y.mul_(3)
        ctx.mark_dirty(x, y)
        return x, y

    f = _make(t, forward, lambda ctx, a, b: (a * 2, b * 3))
    x, y = leaf(t), leaf(t)
    a, b = f.apply(x * 1, y * 1)
    (a.sum() + b.sum()).backward()
    return x.grad, y.grad, a.output_nr, b.output_nr


def returns_its_input(t):
    f = _make(t, lambda ctx, x: x, lambda ctx, g: g * 5)
    x = leaf(t)
    y = f.apply(x)
    y.sum().backward()
    return y is x, x.grad, y.is_leaf, y._is_view(), y.data_ptr() == x.data_ptr()


def returns_input_and_result(t):
    f = _make(t, lambda ctx, x: (x, x * 2), lambda ctx, a, b: a * 5 + b * 2)
    x = leaf(t)
    a, b = f.apply(x)
    (a.sum() + b.sum()).backward()
    return x.grad


def returned_input_written_later(t):
    f = _make(t, lambda ctx, x: x.view_as(x), lambda ctx, g: g * 5)
    y = f.apply(leaf(t) * 1)
    return refusal(
        lambda: y.add_(1), "This view was created inside a custom Function (or because an input was returned as-is)"
    )


def returned_input_as_is_written_later(t):
    f = _make(t, lambda ctx, x: x, lambda ctx, g: g * 5)
    y = f.apply(leaf(t) * 1)
    return refusal(
        lambda: y.add_(1), "This view was created inside a custom Function (or because an input was returned as-is)"
    )


def returns_a_view_of_its_input(t):
    f = _make(t, lambda ctx, x: x[:2], lambda ctx, g: t.cat([g * 5, t.zeros(1)]))
    x = leaf(t)
    y = f.apply(x * 1)
    y.sum().backward()
    return y._is_view(), x.grad, type(y.grad_fn).__name__


def returned_view_and_base_written(t):
    f = _make(t, lambda ctx, x: x[:2], lambda ctx, g: t.cat([g * 5, t.zeros(1)]))
    b = leaf(t) * 1
    y = f.apply(b)
    return refusal(lambda: y.mul_(2), "This view was created inside a custom Function")


def returned_view_without_grad(t):
    f = _make(t, lambda ctx, x: x[:2], lambda ctx, g: g)
    b = t.ones(3)
    y = f.apply(b)
    y.add_(1)
    return b, y.requires_grad


def returns_global_tensor(t):
    w = t.ones(3)
    f = _make(t, lambda ctx, x: w, lambda ctx, g: g * 5)
    x = leaf(t)
    y = f.apply(x)
    y.sum().backward()
    return y is w, w.requires_grad, x.grad


def returns_tensor_that_requires_grad(t):
    w = leaf(t)
    f = _make(t, lambda ctx, x: w, lambda ctx, g: g * 5)
    x = leaf(t)
    y = f.apply(x)
    y.sum().backward()
    return x.grad, w.grad is None
