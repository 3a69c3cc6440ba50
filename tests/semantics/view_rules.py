"""Views made under no_grad, of several outputs, in chains; what is saved of them, and who follows whom."""

from __future__ import annotations

from .programs import leaf, refusal


def view_of_leaf_made_in_no_grad(t):
    x = leaf(t)
    with t.no_grad():
        v = x[:2]
        v.mul_(10)
    return x, v.requires_grad, x._version, v._version


def no_grad_view_then_write_outside(t):
    x = leaf(t)
    y = x * 1
    with t.no_grad():
        v = y[:2]
    return v.grad_fn is None, refusal(lambda: v.mul_(2))


def no_grad_view_of_plain_base(t):
    b = t.zeros(3)
    with t.no_grad():
        v = b[:2]
    v.add_(1)
    found = b.tolist()
    return found, refusal(lambda: v.mul_(leaf(t, 1.0, 2.0)))


def no_grad_view_after_base_is_written(t):
    x = leaf(t)
    y = x * 1
    with t.no_grad():
        v = y[:2]
    y.mul_(2)
    return v.requires_grad, v


def multi_output_views_may_be_read(t):
    x = leaf(t)
    y = x * 1
    a, b, c = y.unbind()
    (a * b).backward()
    return x.grad, a._is_view(), a._base is y, [v.output_nr for v in (a, b, c)]


def multi_output_views_refused(t):
    found = []
    for make in (
        lambda y: y.unbind()[0],
        lambda y: y.split(1)[1],
        lambda y: y.chunk(3)[2],
        lambda y: y.split([1, 2])[1],
        lambda y: t.tensor_split(y, 3)[0],
    ):
        y = leaf(t) * 1
        v = make(y)
        found.append(
            refusal(lambda v=v: v.mul_(2), "This view is the output of a function that returns multiple views.")
        )
    return found


def multi_output_views_without_grad_may_be_written(t):
    y = t.ones(3)
    y.unbind()[0].add_(5)
    a, b = y.split([1, 2])
    b.mul_(2)
    return y


def multi_output_view_with_grad_value(t):
    x, y = t.tensor(1.0, requires_grad=True), t.ones(3)
    a = y.unbind()[0]
    return refusal(lambda: a.add_(x), "Output 0 of Unbind") if a.requires_grad else refusal(lambda: a.add_(x), 0)[0]


def multi_output_under_no_grad(t):
    x = leaf(t)
    with t.no_grad():
        a = x.unbind()[0]
        a.add_(1)
    return x, a.requires_grad


def iterating_gives_views(t):
    x = t.ones(3, 2, requires_grad=True)
    y = x * 1
    rows = list(y)
    (rows[0] * rows[2]).sum().backward()
    return x.grad, type(rows[0].grad_fn).__name__, [r.output_nr for r in rows]


def view_of_detached_shares(t):
    x = leaf(t)
    d = x.detach()
    v = d[:2]
    v.zero_()
    return x, v._base is d, x._version


def view_keeps_its_base_alive(t):
    v = (t.arange(4.0) + 1)[1:]
    return v._base.tolist(), v


def requires_grad_of_view_of_leaf_is_not_leaf(t):
    x = leaf(t)
    v = x[:2]
    return v.is_leaf, v.requires_grad, type(v.grad_fn).__name__, v.grad_fn.next_functions[0][0].variable is x


def output_numbers(t):
    x = t.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    values, _ = x.max(dim=1)
    return x.output_nr, (x * 2).output_nr, values.output_nr, [p.output_nr for p in x.split(1)]


def view_then_requires_grad_on_base(t):
    b = t.ones(4)
    v = b[:2]
    b.requires_grad_()
    return v.is_leaf, b.is_leaf, refusal(lambda: v.add_(1))


def write_base_requires_grad_false_view_requires(t):
    b = t.ones(4)
    v = b[:2]
    x = t.tensor(2.0, requires_grad=True)
    b.mul_(x)
    return v.requires_grad, type(v.grad_fn).__name__, b.is_leaf


def assignment_through_view(t):
    x = t.zeros(2, 3, requires_grad=True)
    y = x * 1
    v = y.t()
    v[0] = t.tensor([5.0, 6.0])
    y.sum().backward()
    return y, x.grad


def masked_assignment_through_view(t):
    x = t.ones(2, 3, requires_grad=True)
    y = x * 1
    v = y[:, 1:]
    v[v > 0] = 4.0
    y.sum().backward()
    return y, x.grad


def view_written_by_its_own_base_values(t):
    x = leaf(t)
    y = x * 1
    y[0] = y[1] * y[2]
    return y, refusal(y.sum().backward, "[torch.FloatTensor []], which is output 0 of AsStrided, is at version 1")


def overlapping_copy(t):
    y = t.arange(5.0)
    y[1:] = y[:-1].clone()
    return y


def saved_view_overwritten_through_base(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    z = v * v
    y.add_(1)
    return refusal(z.sum().backward, "is at version 1; expected version 0 instead.")


def saved_base_overwritten_through_view(t):
    x = leaf(t)
    y = x * 1
    z = y * y
    y[:1].add_(1)
    return refusal(z.sum().backward, 40)


def unrelated_part_of_base_overwritten(t):
    x = leaf(t)
    y = x * 1
    z = y[:1] * y[:1]
    y[2:].add_(1)
    return refusal(z.sum().backward, 40)


def gradient_of_view_and_base(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    return t.autograd.grad((y * 2).sum() + (v * 3).sum(), [y, v, x])


def inplace_then_gradient_of_view(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    v.mul_(2)
    return t.autograd.grad((y * t.tensor([1.0, 10.0, 100.0])).sum(), [x, y])


def view_created_before_and_used_after(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    w = v * 1
    v.mul_(2)
    (w.sum() + v.sum()).backward()
    return x.grad


def transposed_view_as_matrix(t):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    y.t()[1].mul_(0)
    (y @ t.ones(3)).sum().backward()
    return x.grad


def deep_chain_of_views(t):
    x = t.arange(24.0).reshape(2, 3, 4).requires_grad_()
    y = x * 1
    v = y
    for step in (
        lambda a: a.transpose(0, 2),
        lambda a: a[1:],
        lambda a: a.unsqueeze(0),
        lambda a: a[..., 1],
        lambda a: a.squeeze(0),
    ):
        v = step(v)
    v.mul_(2)
    y.sum().backward()
    return x.grad, v._base is y


def noncontiguous_base(t):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x * 1).t().contiguous().t()
    y[0].mul_(3)
    y.sum().backward()
    return x.grad


def base_written_many_times_with_view_reads(t):
    x = leaf(t)
    h = x * 1
    total = 0
    for i in range(3):
        h[i].mul_(2)
        total = total + h.sum()
    total.backward()
    return x.grad


def rnn_style_buffer(t):
    w = t.tensor(0.5, requires_grad=True)
    buffer = t.zeros(4)
    buffer[0] = 1.0
    h = t.ones(())
    for i in range(1, 4):
        h = h * w
        buffer[i] = h
    buffer.sum().backward()
    return buffer, w.grad


def same_storage(t):
    x = t.ones(3)
    return (
        x.view(3).data_ptr() == x.data_ptr(),
        x[1:].storage_offset(),
        x.detach().data_ptr() == x.data_ptr(),
        x.clone().data_ptr() == x.data_ptr(),
    )


def is_view_after_in_place_of_shape(t):
    x = t.ones(2, 3)
    x.unsqueeze_(0)
    return x._is_view(), x.shape


def detach_of_view_in_place_refused(t):
    x = leaf(t)
    v = (x * 1)[:2]
    return refusal(lambda: v.detach_(), 60)


def function_view_and_write(t):
    x = leaf(t)
    y = (x * 1).view(3).view(1, 3).squeeze(0)
    y += 1
    y *= 2
    y.sum().backward()
    return x.grad, y._is_view()


def whole_numbers_of_a_view_without_history(t):
    x = t.ones(3, 3, requires_grad=True)
    with t.no_grad():
        view = x[..., :1]
    whole = view.long()
    return view.requires_grad, whole.requires_grad, (whole.float() * 2).requires_grad, (view > 0).requires_grad


def whole_numbers_of_an_outdated_view(t):
    x = t.ones(2, requires_grad=True)
    with t.no_grad():
        view = x[0].mul_(3)
    return view.long().float().requires_grad


def a_flag_of_its_own(t):
    x = t.ones(3, 3, requires_grad=True)
    with t.no_grad():
        view, other = x.diagonal(), x.diagonal()
    view.requires_grad_()
    before = view.requires_grad, other.requires_grad
    x.requires_grad_(False)
    return before, view.requires_grad, other.requires_grad, view.is_leaf


def a_base_that_lost_its_history(t):
    x = t.ones(2, 2, requires_grad=True)
    base = x * 2
    view, kept = base[:, 1:], base[:, :1]
    base.detach_()
    kept.sum().backward(retain_graph=True)
    first = x.grad.clone()
    base.zero_()
    (view * 3).sum().backward()
    return first, x.grad, view.requires_grad, view.is_leaf


def one_of_several_views_of_a_frozen_base(t):
    x = t.ones(3, 1, requires_grad=True)
    part = x.chunk(2)[0]
    x.requires_grad_(False)
    x.clamp_(-1, 1)
    return refusal(lambda: part.grad_fn)


def a_flag_for_an_outdated_view(t):
    x = t.ones(2, 2, requires_grad=True) * 1
    part = x.chunk(2)[0]
    x.div_(2.0)
    part.requires_grad_()
    return part.requires_grad


def detached_after_it_was_turned(t):
    x = t.ones(3, 2)
    x.div_(2.0)
    x.t_()
    total = x.cumsum(0)
    x.detach_()
    return x.shape, total, x.is_leaf


def a_leaf_that_became_a_result(t):
    w, x = t.ones(3, requires_grad=True), t.ones(3, requires_grad=True)
    mixed = t.lerp(w, x, 0.25)
    x.requires_grad_(False)
    x.copy_(mixed)
    return refusal(x.sum().backward)
