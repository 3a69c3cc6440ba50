"""Writing in place: version counters, history, what is refused, what backward then finds."""

from __future__ import annotations

from .programs import double, leaf, refusal


def version_counts_writes(t):
    x = t.ones(3)
    seen = [x._version]
    x.add_(1)
    seen.append(x._version)
    x[0] = 2
    seen.append(x._version)
    x *= 2
    seen.append(x._version)
    x.zero_()
    seen.append(x._version)
    return seen


def version_shared_with_views(t):
    x = t.ones(4)
    v, w = x[:2], x.view(2, 2)
    v.add_(1)
    w[0, 0] = 3
    return x._version, v._version, w._version


def version_shared_with_detach(t):
    x = t.ones(3)
    d = x.detach()
    d.add_(1)
    x.add_(1)
    return x._version, d._version, x


def version_of_data_is_its_own(t):
    x = leaf(t)
    d = x.data
    d.add_(1)
    return x._version, d._version, x


def version_of_clone_and_results(t):
    x = t.ones(3)
    x.add_(1)
    return x.clone()._version, (x * 2)._version


def version_under_no_grad(t):
    x = leaf(t)
    with t.no_grad():
        x.add_(1)
    return x._version


def version_by_out(t):
    x = t.empty(3)
    t.add(t.ones(3), 1, out=x)
    return x._version


def version_of_copy_and_fill(t):
    x = t.empty(3)
    x.copy_(t.ones(3))
    x.fill_(2)
    x.normal_()
    return x._version


def increment_by_hand(t):
    x = leaf(t)
    y = x * x
    t.autograd.graph.increment_version(x)
    return x._version, refusal(y.sum().backward)


def history_of_non_leaf(t):
    x = leaf(t)
    y = x * 2
    y.add_(1)
    names = type(y.grad_fn).__name__, type(y.grad_fn.next_functions[0][0]).__name__
    y.mul_(3)
    y.sum().backward()
    return names, x.grad


def tensor_without_grad_gets_history(t):
    x, b = leaf(t), t.ones(3)
    b.mul_(x)
    names = type(b.grad_fn).__name__, [f and type(f).__name__ for f, _ in b.grad_fn.next_functions]
    b.sum().backward()
    return names, b.requires_grad, b.is_leaf, x.grad


def augmented_assignment_operators(t):
    x = leaf(t)
    y = x * 1
    same = y
    y += 1
    y -= 0.5
    y *= 2
    y /= 4
    y **= 2
    y.sum().backward()
    return same is y, x.grad


def augmented_assignment_of_python_number(t):
    x = leaf(t)
    k = 2
    k *= x
    k.sum().backward()
    return x.grad


def overwritten_but_not_needed(t):
    x = leaf(t)
    y = x * 2
    z = y + 1
    y.mul_(3)
    (y + z).sum().backward()
    return x.grad


def overwritten_and_needed(t):
    x = leaf(t)
    y = x * 2
    z = y * y
    y.add_(1)
    return refusal(z.sum().backward), refusal(z.sum().backward, "is at version 1; expected version 0 instead.")


def output_needed_by_sigmoid(t):
    x = leaf(t)
    y = x.sigmoid()
    y.mul_(2)
    return refusal(y.sum().backward, ", which is output 0 of")


def output_not_needed_by_add(t):
    x = leaf(t)
    y = x + 1
    y.exp_()
    y.sum().backward()
    return x.grad


def exp_in_place_saves_its_result(t):
    x = leaf(t)
    y = (x * 1).exp_()
    y.sum().backward()
    return x.grad


def exp_in_place_then_overwritten(t):
    x = leaf(t)
    y = (x * 1).exp_().add_(1)
    return refusal(y.sum().backward)


def sin_in_place(t):
    x = leaf(t)
    y = (x * 1).sin_()
    y.sum().backward()
    return x.grad


def relu_in_place(t):
    x = leaf(t, -1.0, 2.0)
    y = (x * 1).relu_()
    (y * y).sum().backward()
    return x.grad


def weight_changed_between_forward_and_backward(t):
    x, w = leaf(t), leaf(t)
    y = (x * w).sum()
    with t.no_grad():
        w.sub_(1)
    return refusal(y.backward)


def weight_changed_through_data_goes_unseen(t):
    x, w = leaf(t), leaf(t)
    y = (x * w).sum()
    w.data.mul_(10)
    y.backward()
    return x.grad, w.grad


def saved_before_and_after(t):
    x = double(t)
    y = x * 1
    z = y.exp() + y
    y.add_(1)
    return refusal(z.sum().backward)


def multiply_by_itself(t):
    x = leaf(t)
    y = x * 1
    y.mul_(y)
    return refusal(y.sum().backward, 40)


def add_itself(t):
    x = leaf(t)
    y = x * 1
    y.add_(y)
    y.sum().backward()
    return x.grad


def double_backward_through_inplace(t):
    x = double(t)
    y = x * 1
    y.mul_(x)
    (g,) = t.autograd.grad(y.pow(2).sum(), x, create_graph=True)
    return g, t.autograd.grad(g.sum(), x)


def leaf_refusals(t):
    x = leaf(t)
    return (
        refusal(lambda: x.add_(1)),
        refusal(lambda: x.zero_()),
        refusal(lambda: x.__setitem__(0, 1.0)),
        refusal(lambda: x[:2].add_(1)),
        refusal(lambda: x.view(3).mul_(2)),
        refusal(lambda: x.copy_(t.ones(3))),
        refusal(lambda: x.fill_(1)),
        refusal(lambda: x.t_()),
        x,
        x._version,
    )


def refused_write_changes_nothing(t):
    x = leaf(t)
    refusal(lambda: x.mul_(5))
    y = t.ones(3)
    a = refusal(lambda: y.add_(t.ones(4)), 30)
    b = refusal(lambda: y.add_(t.ones(2, 3)), 30)
    return a, b, y, y._version, x._version


def wrong_result_type(t):
    x = t.ones(3, dtype=t.int64)
    return refusal(lambda: x.add_(1.5)), refusal(lambda: x.div_(2)), x, x._version


def leaf_without_grad_may_be_written_then_requires(t):
    x = t.ones(3)
    x.mul_(3)
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad, x._version


def requires_grad_after_use(t):
    x = t.ones(3)
    y = x * 2
    x.requires_grad_()
    z = x * y
    z.sum().backward()
    return y.requires_grad, x.grad


def requires_grad_off_and_on(t):
    x = leaf(t)
    y = x * 2
    x.requires_grad_(False)
    z = x * 3
    x.requires_grad_(True)
    y.sum().backward()
    return x.grad, z.requires_grad


def requires_grad_of_view_of_leaf(t):
    x = t.ones(4)
    v = x[:2]
    v.requires_grad_()
    return v.is_leaf, x.requires_grad, (v * 2).requires_grad, refusal(lambda: v.add_(1)), refusal(lambda: x.add_(1))


def write_into_base_of_leaf_view(t):
    x = t.ones(4)
    v = x[:2].requires_grad_()
    y = v * v
    x.add_(1)
    return v.is_leaf, v, refusal(y.sum().backward)


def detach_in_place(t):
    x = leaf(t)
    y = x * 2
    y.detach_()
    return y.requires_grad, y.is_leaf, y.grad_fn is None, refusal(lambda: x.view(3).detach_())


def detach_in_place_of_leaf(t):
    x = leaf(t)
    x.detach_()
    return x.requires_grad


def detach_of_view_is_no_view(t):
    x = leaf(t).clone()
    d = x[:2].detach()
    d.zero_()
    return d._is_view(), d.requires_grad, x


def write_through_detach_is_seen(t):
    x = leaf(t)
    y = x * 1
    z = y * y
    y.detach().add_(1)
    return refusal(z.sum().backward)


def shapes_changed_in_place_unrecorded(t):
    found = []
    for change in (
        lambda y: y.t_(),
        lambda y: y.unsqueeze_(0),
        lambda y: y.unsqueeze_(1),
        lambda y: y.unsqueeze_(0).squeeze_(0),
    ):
        x = t.arange(6.0).reshape(2, 3).requires_grad_()
        y = x * 2
        with t.no_grad():
            change(y)
        try:
            (y * y).sum().backward()
            found.append((y.grad_fn.name(), x.grad))
        except RuntimeError as error:
            found.append((y.grad_fn.name(), str(error)[:102]))
    return found
