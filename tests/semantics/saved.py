"""Saved-tensor hooks: what is packed and when, nesting, hooks on single values, the CPU, and their refusal."""

from __future__ import annotations

from .programs import double, leaf, refusal


def _hooks(t, pack, unpack):
    return t.autograd.graph.saved_tensors_hooks(pack, unpack)


def pack_and_unpack_order(t):
    seen = []

    def pack(x):
        seen.append(("pack", x.tolist()))
        return x

    def unpack(x):
        seen.append(("unpack", x.tolist()))
        return x

    x = leaf(t)
    with _hooks(t, pack, unpack):
        y = x.exp().sin()
    y.sum().backward()
    return seen, x.grad


def pack_called_once_per_saved_value(t):
    count = []
    x, w = leaf(t), leaf(t)
    with _hooks(t, lambda v: count.append(1) or v, lambda v: v):
        _ = x * w
        _ = x + w
        _ = x * 2
        _ = x.sum()
        _ = x * x
        _ = x.relu()
        _ = x.sigmoid()
    return len(count)


def pack_counts_by_operation(t):
    found = {}
    for name, f in {
        "mul": lambda x, w: x * w,
        "add": lambda x, w: x + w,
        "square": lambda x, w: x * x,
        "pow": lambda x, w: x**2,
        "div": lambda x, w: x / w,
        "exp": lambda x, w: x.exp(),
        "log": lambda x, w: x.log(),
        "sum": lambda x, w: x.sum(),
        "mean": lambda x, w: x.mean(),
        "tanh": lambda x, w: x.tanh(),
        "matmul": lambda x, w: x @ w,
        "softmax": lambda x, w: x.softmax(0),
        "where": lambda x, w: t.where(x > 1, x, w),
        "max": lambda x, w: x.max(),
        "sort": lambda x, w: x.sort()[0],
        "clone": lambda x, w: x.clone(),
        "view": lambda x, w: x.view(3, 1),
        "index": lambda x, w: x[t.tensor([0, 1])],
        "neg": lambda x, w: -x,
        "clamp": lambda x, w: x.clamp(0, 2),
        "abs": lambda x, w: x.abs(),
        "cat": lambda x, w: t.cat([x, w]),
        "sqrt": lambda x, w: x.sqrt(),
        "maximum": lambda x, w: t.maximum(x, w),
        "norm": lambda x, w: x.norm(),
    }.items():
        count = []
        with _hooks(t, lambda v, count=count: count.append(tuple(v.shape)) or v, lambda v: v):
            f(leaf(t), leaf(t))
        found[name] = count
    return found


def pack_sees_no_grad_mode(t):
    seen = []

    def pack(x):
        seen.append((t.is_grad_enabled(), (x * 2).requires_grad))
        return x

    def unpack(x):
        seen.append((t.is_grad_enabled(), (x * 2).requires_grad))
        return x

    x = leaf(t)
    with _hooks(t, pack, unpack):
        y = x * x
    y.sum().backward()
    return seen


def packed_values_can_be_anything(t):
    store = {}

    def pack(x):
        store[len(store)] = x.detach().clone()
        return len(store) - 1

    x = leaf(t)
    with _hooks(t, pack, lambda key: store[key]):
        y = x * x
    y.sum().backward()
    return x.grad, len(store)


def packing_to_numpy(t):
    x = leaf(t)
    with _hooks(t, lambda v: v.detach().numpy().copy(), lambda a: t.from_numpy(a)):
        y = x.exp() * x
    y.sum().backward()
    return x.grad


def packing_changes_the_gradient(t):
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: v * 10):
        y = x.pow(2)
    y.sum().backward()
    return x.grad


def saved_attribute_goes_through_unpack(t):
    x = leaf(t)
    with _hooks(t, lambda v: 2 * v, lambda v: 3 * v):
        y = x.pow(2)
    return y.grad_fn._saved_self


def saved_attribute_unpacks_each_time(t):
    count = []
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: count.append(1) or v):
        y = x.pow(2)
    _ = y.grad_fn._saved_self
    _ = y.grad_fn._saved_self
    y.sum().backward()
    return len(count)


def innermost_wins(t):
    seen = []
    x = leaf(t)
    with _hooks(t, lambda v: seen.append("outer") or v, lambda v: v):
        with _hooks(t, lambda v: seen.append("inner") or v, lambda v: v):
            _ = x * x
        _ = x.exp()
    _ = x.sin()
    return seen


def exception_in_the_block(t):
    x = leaf(t)
    try:
        with _hooks(t, lambda v: 1 / 0, lambda v: v):
            raise KeyError
    except KeyError:
        pass
    y = x * x
    y.sum().backward()
    return x.grad


def exception_in_pack(t):
    x = leaf(t)

    def run():
        with _hooks(t, lambda v: 1 / 0, lambda v: v):
            _ = x * x

    found = refusal(run)
    y = x * x
    y.sum().backward()
    return found, x.grad


def exception_in_unpack(t):
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: 1 / 0):
        y = x * x
    return refusal(y.sum().backward)


def unpack_returns_no_tensor(t):
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: None):
        y = x * x
    return refusal(y.sum().backward), refusal(lambda: y.grad_fn._saved_self)


def pack_modifies_its_input(t):
    x = leaf(t) * 1

    def run():
        with _hooks(t, lambda v: v.mul_(2), lambda v: v):
            _ = x * x

    return refusal(run)


def unpack_of_retained_graph_each_time(t):
    count = []
    x = leaf(t)
    with _hooks(t, lambda v: v, lambda v: count.append(1) or v):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    return len(count), x.grad


def overwritten_after_packing_goes_unseen(t):
    x = leaf(t)
    y = x * 1
    with _hooks(t, lambda v: v.clone(), lambda v: v):
        z = y * y
    y.zero_()
    z.sum().backward()
    return x.grad


def double_backward_through_hooks(t):
    x = double(t)
    with _hooks(t, lambda v: v.detach().clone(), lambda v: v):
        y = x.pow(3)
        z = y.exp() * 1e-3
    (g,) = t.autograd.grad(y.sum() + z[:1].sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g, h


def hooks_during_backward_with_create_graph(t):
    seen = []
    x = leaf(t)
    y = x.pow(3).sum()
    with _hooks(t, lambda v: seen.append(1) or v, lambda v: v):
        (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return len(seen) > 0, h


def nothing_is_packed_under_no_grad(t):
    seen = []
    x = leaf(t)
    with _hooks(t, lambda v: seen.append(1) or v, lambda v: v), t.no_grad():
        _ = x * x
    return seen


def nothing_is_packed_without_need(t):
    seen = []
    with _hooks(t, lambda v: seen.append(1) or v, lambda v: v):
        _ = t.ones(2) * t.ones(2)
    return seen


def custom_function_values_are_packed(t):
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (2 * x + 0 * y)

    x = leaf(t)
    with _hooks(t, lambda v: seen.append(("pack", v.tolist())) or v, lambda v: seen.append("unpack") or v):
        z = F.apply(x)
    z.sum().backward()
    return seen, x.grad
