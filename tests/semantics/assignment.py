"""Assignment through masks, indices and slices; in-place operations one by one; .data; shapes in place."""

from __future__ import annotations

from .programs import double, leaf, refusal


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


def index_put_refuses_in_kind(t):
    def kind(program):
        return refusal(program)[0]

    x, far = t.zeros(2, 3), t.tensor([7])
    return (
        [kind(lambda: t.ones(()).index_put([], t.ones(1), each)) for each in (True, False)],
        [kind(lambda: x.index_add(dim, far, t.ones(1, 3) if dim == 0 else t.ones(2, 1))) for dim in (0, 1)],
        [
            kind(lambda: t.zeros(2, 3, 2).index_add(1, far, t.ones(2, 1, 2))),
            kind(lambda: x[0].index_add(0, far, t.ones(1))),
        ],
        [
            kind(lambda: x.index_add(0, far.int(), t.ones(1, 3))),
            kind(lambda: x.index_add(0, far, t.ones(1, 3), alpha=2)),
        ],
    )
