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


def mask_assignment_of_number(t):
    x = leaf(t, -1.0, 2.0, -3.0)
    y = x * 2
    y[y < 0] = 0.0
    (y * y).sum().backward()
    return y, x.grad, type(y.grad_fn).__name__


def mask_assignment_of_tensor(t):
    x, v = leaf(t), leaf(t, 7.0, 8.0)
    y = x * 2
    y[t.tensor([True, False, True])] = v
    (y * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return y, x.grad, v.grad


def index_assignment(t):
    x, v = leaf(t), leaf(t, 7.0, 8.0)
    y = x * 2
    y[t.tensor([0, 2])] = v
    (y * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return x.grad, v.grad, type(y.grad_fn).__name__


def slice_assignment(t):
    x, v = leaf(t), t.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1:] = v
    (y * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return x.grad, v.grad, type(y.grad_fn).__name__, y


def slice_assignment_of_broadcast_row(t):
    x, v = t.zeros(2, 3, requires_grad=True), leaf(t)
    y = x * 1
    y[:, :] = v
    y.sum().backward()
    return x.grad, v.grad


def assignment_of_number_cuts_the_gradient(t):
    x = leaf(t)
    y = x * 2
    y[0] = 0
    y.sum().backward()
    return x.grad


def assignment_into_plain_tensor(t):
    x, out = leaf(t), t.zeros(2, 3)
    for i in range(2):
        out[i] = x * (i + 1)
    out.sum().backward()
    return x.grad, out.requires_grad


def augmented_item(t):
    x = leaf(t)
    y = x * 2
    y[1] += 10
    y[0] *= 3
    found = y.tolist()
    y[0] *= y[2].detach()
    return found, refusal(y.sum().backward, "[torch.FloatTensor []] is at version"), x.grad is None


def nested_item_assignment(t):
    x = t.ones(2, 3, requires_grad=True)
    y = x * 2
    y[0][1] = 9
    y.sum().backward()
    return y, x.grad


def assigning_to_itself(t):
    x = leaf(t)
    y = x * 1
    y[:2] = y[1:].clone()
    (y * t.tensor([1.0, 10.0, 100.0])).sum().backward()
    return x.grad, y


def zero_in_place(t):
    x = leaf(t)
    y = x * 2
    y.zero_()
    y.sum().backward()
    return x.grad, type(y.grad_fn).__name__


def fill_in_place(t):
    x, v = leaf(t), t.tensor(3.0, requires_grad=True)
    y = x * 2
    y.fill_(v)
    y.sum().backward()
    return x.grad, v.grad, type(y.grad_fn).__name__


def copy_in_place(t):
    x, w = leaf(t), leaf(t)
    y = x * 2
    y.copy_(w)
    (y * y).sum().backward()
    return x.grad, w.grad, type(y.grad_fn).__name__


def copy_in_place_of_other_type(t):
    w, y = double(t), t.zeros(3)
    y.copy_(w)
    (y * y).sum().backward()
    return w.grad, str(w.grad.dtype)[-7:]


def copy_in_place_broadcast(t):
    w, y = t.tensor(2.0, requires_grad=True), t.zeros(2, 2)
    y.copy_(w)
    y.sum().backward()
    return w.grad


def masked_fill_in_place(t):
    x = leaf(t)
    y = (x * 2).masked_fill_(t.tensor([True, False, False]), 0.0)
    y.sum().backward()
    return x.grad


def index_add_in_place(t):
    x, s = leaf(t), leaf(t, 1.0, 1.0)
    y = (x * 2).index_add_(0, t.tensor([0, 0]), s)
    y.sum().backward()
    return y, x.grad, s.grad


def scatter_in_place(t):
    x, s = leaf(t), leaf(t, 5.0)
    y = (x * 2).scatter_(0, t.tensor([1]), s)
    y.sum().backward()
    return x.grad, s.grad


def addcmul_in_place(t):
    x, a, b = leaf(t), leaf(t), leaf(t)
    y = (x * 1).addcmul_(a, b, value=0.5)
    y.sum().backward()
    return x.grad, a.grad, b.grad


def in_place_keeps_id_and_data(t):
    y = leaf(t) * 2
    p, i = y.data_ptr(), id(y)
    z = y.add_(1)
    return z is y, id(z) == i, z.data_ptr() == p


def in_place_broadcast_operand(t):
    x, b = t.ones(2, 3, requires_grad=True), leaf(t)
    y = (x * 1).mul_(b)
    y.sum().backward()
    return x.grad, b.grad


def in_place_promotes_nothing(t):
    y = t.ones(2)
    y.add_(t.ones(2, dtype=t.float64))
    return str(y.dtype)[-7:], y


def in_place_on_output_of_reduction(t):
    x = leaf(t)
    y = x.sum()
    y.mul_(3)
    y.backward()
    return x.grad


def in_place_on_clone_of_leaf(t):
    x = leaf(t)
    y = x.clone()
    y.mul_(y.detach().clone())
    y.sum().backward()
    return x.grad


def in_place_inside_no_grad_on_non_leaf(t):
    x = leaf(t)
    y = x * 2
    with t.no_grad():
        y.mul_(10)
    y.sum().backward()
    return x.grad, type(y.grad_fn).__name__, y


def in_place_inside_no_grad_with_grad_operand(t):
    x, y = leaf(t), t.ones(3)
    with t.no_grad():
        y.mul_(x)
    return y.requires_grad, y


def optimizer_like_update(t):
    w = leaf(t)
    for _ in range(3):
        (w * w).sum().backward()
        with t.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return w, w.is_leaf, w.requires_grad


def data_assignment(t):
    x = leaf(t)
    y = x * x
    x.data = t.tensor([5.0, 5.0, 5.0])
    y.sum().backward()
    return x, x.grad, x.requires_grad


def data_assignment_of_other_shape(t):
    x = leaf(t)
    x.data = t.ones(2, 2)
    (x * x).sum().backward()
    return x.shape, x.grad


def data_assignment_of_number(t):
    x = leaf(t)

    def assign():
        x.data = 3

    return refusal(assign, 0)[0]


def resize_and_transpose_in_place(t):
    x = t.arange(6.0).reshape(2, 3)
    y = (x.requires_grad_() * 1).t_()
    y.unsqueeze_(0)
    (y * t.arange(6.0).reshape(1, 3, 2)).sum().backward()
    return y.shape, x.grad, type(y.grad_fn).__name__


def squeeze_in_place(t):
    x = t.ones(1, 3, requires_grad=True)
    y = (x * 2).squeeze_()
    y.sum().backward()
    return y.shape, x.grad


def set_requires_grad_on_written_tensor(t):
    x, y = leaf(t), t.ones(3)
    y.mul_(x)

    def off():
        y.requires_grad = False

    return refusal(off), y.requires_grad


def dropout_in_place(t):
    x = leaf(t)
    y = t.nn.functional.dropout(x * 1, 0.0, True, inplace=True)
    y.sum().backward()
    return x.grad


def relu_functional_in_place(t):
    x = leaf(t, -1.0, 1.0)
    y = t.nn.functional.relu(x * 1, inplace=True)
    y.sum().backward()
    return x.grad, refusal(lambda: t.nn.functional.relu(x, inplace=True))


def write_after_backward(t):
    x = leaf(t)
    y = x * 2
    (y * y).sum().backward()
    y.mul_(3)
    return refusal(y.sum().backward, 40), y


def integers_in_place_do_not_record(t):
    i, x = t.arange(3), leaf(t)
    i.add_(1)
    y = x[i - 1]
    y.sum().backward()
    return x.grad


def saved_index_overwritten(t):
    x, i = leaf(t), t.tensor([0, 1])
    y = x[i]
    i.add_(1)
    return refusal(y.sum().backward, 40)


def saved_mask_overwritten(t):
    x, m = leaf(t), t.tensor([True, False, True])
    y = t.where(m, x, x * 2)
    m.logical_not_()
    return refusal(y.sum().backward, 40)
