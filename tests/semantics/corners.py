"""Corners where several rules meet: custom Functions, long chains, destructors, callbacks, hooks, writes through views."""

from __future__ import annotations

import gc

from .programs import double, leaf, refusal, warned


def _function(t, forward, backward):
    return type(t.autograd.Function)(
        "Mine", (t.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def function_returns_none_output(t):
    f = _function(t, lambda ctx, x: (x * 2, None), lambda ctx, g, n: g * 2)
    x = leaf(t)
    y, none = f.apply(x)
    y.sum().backward()
    return none, x.grad


def function_returns_none_gradient_for_all(t):
    f = _function(t, lambda ctx, x: x * 2, lambda ctx, g: None)
    x = leaf(t)
    f.apply(x).sum().backward()
    return x.grad is None


def function_returns_same_tensor_twice(t):
    def forward(ctx, x):
        y = x * 2
        return y, y

    f = _function(t, forward, lambda ctx, a, b: a + b)
    x = leaf(t)
    a, b = f.apply(x)
    (a * 3 + b).sum().backward()
    return x.grad


def function_with_unused_input(t):
    f = _function(t, lambda ctx, x, y: x * 2, lambda ctx, g: (g * 2, None))
    x, y = leaf(t), leaf(t)
    f.apply(x, y).sum().backward()
    return x.grad, y.grad is None


def function_without_inputs_requiring_grad_in_backward_of_other(t):
    f = _function(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    x, c = leaf(t), t.ones(3)
    (f.apply(c) * x).sum().backward()
    return x.grad


def long_chain_of_functions(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g.clone())
    x = leaf(t, 1.0)
    y = x
    for _ in range(5000):
        y = f.apply(y)
    y.backward()
    del y
    return x.grad


def long_chain_of_functions_dropped(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g.clone())
    y = leaf(t, 1.0)
    for _ in range(20_000):
        y = f.apply(y)
    del y
    return "dropped"


def long_chain_of_views_dropped(t):
    y = leaf(t, 1.0)
    for _ in range(20_000):
        y = y.view(1)
    y.backward()
    return "walked"


def long_chain_of_stacks(t):
    x = leaf(t, 1.0)
    y = x
    for _ in range(3000):
        y = t.stack([y, y]).mean(0)
    y.sum().backward()
    return x.grad


def graph_made_in_a_destructor(t):
    seen = []

    class Holder:
        def __init__(self):
            self.x = leaf(t)

        def __del__(self):
            (self.x * 2).sum().backward()
            seen.append(self.x.grad.tolist())

    holder = Holder()
    del holder
    gc.collect()
    return seen


def ctx_stashed_outside(t):
    kept = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        kept.append(ctx)
        return x * x

    f = _function(t, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0])
    x = leaf(t)
    y = f.apply(x)
    found = kept[0].saved_tensors[0].tolist()
    y.sum().backward()
    return found, x.grad, refusal(lambda: kept[0].saved_tensors)


def gradient_used_as_leaf(t):
    x = leaf(t)
    (x * x).sum().backward()
    g = x.grad
    g.requires_grad_()
    (g * g).sum().backward()
    return g.grad


def gradient_of_gradient_through_dot_grad(t):
    x = double(t)
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    x.grad = None
    g.sum().backward()
    return x.grad


def repeated_grad_grad(t):
    x = double(t)

    def mult(a):
        (g,) = t.autograd.grad((a**3).sum(), a, create_graph=True)
        return g

    y = mult(x)
    (z,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (w,) = t.autograd.grad((z * y).sum(), x)
    return y, z, w


def callback_raises(t):
    x = leaf(t)
    engine = t.autograd.Variable._execution_engine

    def fail():
        raise KeyError("in callback")

    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(fail))
    found = refusal(y.sum().backward)
    (x * 3).sum().backward()
    return found, x.grad


def callback_of_inner_backward(t):
    seen = []
    engine = t.autograd.Variable._execution_engine
    x, w = leaf(t), leaf(t)

    def inner(g):
        engine.queue_callback(lambda: seen.append("inner callback"))
        seen.append("inner hook")

    def outer(g):
        engine.queue_callback(lambda: seen.append("outer callback"))
        with t.enable_grad():
            v = w * 2
            v.register_hook(inner)
            v.sum().backward()
        seen.append("outer hook")

    y = x * 2
    y.register_hook(outer)
    y.sum().backward()
    return seen


def reentrant_on_same_graph(t):
    x = leaf(t)
    y = (x * x).exp() * 1e-3
    (shared := y.sum())

    class Again(t.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v * 1

        @staticmethod
        def backward(ctx, g):
            with t.enable_grad():
                t.autograd.grad(shared, x, retain_graph=True)
            return g

    Again.apply(shared).backward()
    return x.grad


def hook_that_changes_requires_grad(t):
    x = leaf(t)
    y = x * 2
    y.register_hook(lambda g: g.detach().clone().requires_grad_())
    y.sum().backward()
    return x.grad, x.grad.requires_grad


def hooks_on_output_of_in_place_function(t):
    seen = []
    x = leaf(t)
    y = x * 2
    y.register_hook(lambda g: seen.append("before"))
    y.exp_()
    y.register_hook(lambda g: seen.append("after"))
    y.sum().backward()
    return seen


def hooks_on_view_and_base(t):
    seen = []
    x = leaf(t)
    y = x * 2
    v = y[:2]
    y.register_hook(lambda g: seen.append(("base", g.tolist())))
    v.register_hook(lambda g: seen.append(("view", g.tolist())))
    v.mul_(3)
    y.register_hook(lambda g: seen.append(("new base", g.tolist())))
    v.register_hook(lambda g: seen.append(("new view", g.tolist())))
    (y.sum() + v.sum()).backward()
    return seen, x.grad


def retain_grad_of_base_and_write_through_view(t):
    x = leaf(t)
    y = x * 2
    y.retain_grad()
    y[:2].mul_(3)
    y.sum().backward()
    return y.grad, x.grad


def retain_grad_of_view_and_write(t):
    x = leaf(t)
    y = x * 2
    v = y[:2]
    v.retain_grad()
    v.mul_(3)
    (v.sum() + y.sum()).backward()
    return v.grad, x.grad


def gradient_of_both_old_and_new_value(t):
    x = leaf(t)
    y = x * 2
    old = t.autograd.graph.get_gradient_edge(y)
    y.mul_(5)
    return t.autograd.grad(y.sum(), [y, old, x])


def split_and_write_to_base(t):
    x = leaf(t)
    y = x * 1
    y[0] = 0
    a, b = y.split([1, 2])
    (a.sum() + 2 * b.sum()).backward()
    return x.grad


def in_place_on_view_of_no_grad_base(t):
    x, b = leaf(t, 1.0, 2.0), t.zeros(2, 2)
    b[0].add_(x)
    b[1].mul_(3)
    b.t()[0].mul_(2)
    b.sum().backward()
    return b, x.grad


def in_place_function_on_non_first_view(t):
    def forward(ctx, a, b):
        b.mul_(2)
        ctx.mark_dirty(b)
        return b

    f = _function(t, forward, lambda ctx, g: (None, g * 2))
    x = leaf(t)
    y = x * 1
    f.apply(t.ones(3), y)
    y.sum().backward()
    return x.grad


def data_of_view(t):
    x = leaf(t).clone()
    v = x[:2]
    v.data.zero_()
    return x, x._version


def resize_refused_with_grad(t):
    x = leaf(t)
    return refusal(lambda: x.resize_(2), 0), refusal(lambda: (x * 2).resize_(2), 0)


def set_of_sizes_after_expand(t):
    x = leaf(t, 2.0)
    y = x.expand(4).sum() + x.expand(2, 2).sum()
    y.backward()
    return x.grad


def assignment_to_data_of_other_type(t):
    x = leaf(t)

    def assign():
        x.data = t.ones(3, dtype=t.float64)

    found = refusal(assign, 0)
    return found, str(x.dtype)[-7:]


def types_of_out(t):
    """Most of linear algebra writes to its own type alone."""
    a = t.tensor([[4.0, 1.0], [1.0, 3.0]])
    exact, safe = "Expected out tensor to have dtype", "safely castable"
    calls = (
        (lambda out: t.linalg.inv(a, out=out), exact), (lambda out: t.linalg.det(a, out=out), exact),
        (lambda out: t.linalg.cholesky(a, out=out), exact), (lambda out: t.mm(a, a, out=out), exact),
        (lambda out: t.linalg.multi_dot([a, a], out=out), "expected out tensor to have dtype"),
        (lambda out: t.linalg.norm(a, out=out), "expected out tensor dtype"), (lambda out: t.linalg.pinv(a, out=out), safe),
        (lambda out: t.linalg.cond(a, out=out), safe), (lambda out: t.cholesky_inverse(a, out=out), safe),
    )  # fmt: skip
    whole = [refusal(lambda run=run: run(t.empty(0, dtype=t.int32)), text) for run, text in calls]
    wide = [refusal(lambda run=run: run(t.empty(0, dtype=t.float64)), text) for run, text in calls[:6]]
    return whole, wide, [tuple(run(t.empty(0, dtype=t.float64)).shape) for run, _ in calls[6:]]


def pivots_that_are_none(t):
    a, b = t.eye(2), t.ones(2, 1)
    none, beyond = t.tensor([0, 1], dtype=t.int32), t.tensor([3, 1], dtype=t.int32)
    return (
        refusal(lambda: t.linalg.lu_solve(a, none, b), "must all be greater or equal to 1"),
        refusal(lambda: t.linalg.lu_solve(a, beyond, b), "must all be smaller or equal to LU.size(-2)"),
        refusal(lambda: t.lu_unpack(a, beyond), "must be between 1 and LU.size(-2) inclusive"),
    )


def limits_and_zeros_of_linear_algebra(t):
    a, unreal = t.eye(2), t.tensor(1j)
    broken = t.tensor([[1.0, 0.0], [2.0, 0.0]])
    complex_text, zero_text = "tensor of complex type is not supported", "The diagonal element 2 is zero"
    return (
        *[refusal(lambda name=name: t.linalg.pinv(a, **{name: unreal}), f"{name} {complex_text}") for name in ("rcond", "atol", "rtol")],
        refusal(lambda: t.linalg.matrix_rank(a, rtol=unreal), f"rtol {complex_text}"),
        refusal(lambda: t.cholesky_inverse(broken), zero_text),
        refusal(lambda: t.cholesky_inverse(t.stack([a, broken])), f"(Batch element 1): {zero_text}"),
        refusal(lambda: t.linalg.pinv(a[0]), "expected a tensor with 2 or more dimensions"),
        refusal(lambda: t.linalg.multi_dot([a, a.double()]), "all tensors must have be the same dtype"),
    )  # fmt: skip


def _raised(action):
    try:
        return action()
    except AssertionError as error:
        return str(error)


def comparing_sparse_tensors(t):
    """Of one layout the parts are compared, of two the values."""
    x = t.tensor([[1.0, 0, 2, 0], [0, 0, 3, 4]])
    other, more = x.clone(), x.clone()
    other[0, 2], more[0, 1] = 5.0, 9.0
    found = []
    for name, given in (("to_sparse", ()), ("to_sparse_csr", ()), ("to_sparse_csc", ()), ("to_sparse_bsr", ((1, 2),))):
        make = lambda y: getattr(y, name)(*given)
        check = t.testing.assert_close
        for a, b, options in (
            (make(x), make(x), {}), (make(x), make(other), {}), (make(x), make(more), {}), (make(x), x, {}),
            (make(x), x, {"check_layout": False}), (make(x), other, {"check_layout": False}), (make(x), make(x.double()), {}),
            (make(x), make(x.double()), {"check_dtype": False}), ({"a": make(x)}, {"a": make(other)}, {}),
        ):  # fmt: skip
            found.append(_raised(lambda: check(a, b, **options)))
    parts = t.sparse_coo_tensor(t.tensor([[0, 0]]), t.tensor([1.0, 2.0]), (2,))
    return found, refusal(lambda: check(parts, parts.clone())), _raised(lambda: check(parts, parts.coalesce()))


def made_tensors(t):
    make = t.testing.make_tensor
    shape = (2, 3, 4, 5)
    t.manual_seed(1)
    plainly = make((3, 2), dtype=t.float32, device="cpu")
    t.manual_seed(1)
    apart = make((3, 2), dtype=t.float32, device="cpu", noncontiguous=True)
    last = make(shape, dtype=t.int8, device="cpu", memory_format=t.channels_last)
    return (
        t.equal(plainly, apart), apart.tolist(), apart.stride(), last.stride(), warned(lambda: make((2,), dtype=t.float64, device="cpu", low=1, high=1)),
        refusal(lambda: make((2,), dtype=t.int8, device="cpu", low=1, high=1)),
        refusal(lambda: make((2,), dtype=t.int8, device="cpu", requires_grad=True)),
        refusal(lambda: make(shape, dtype=t.int8, device="cpu", noncontiguous=True, memory_format=t.channels_last)),
    )  # fmt: skip
