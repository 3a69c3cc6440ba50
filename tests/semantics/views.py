"""Views: bases, what shares memory, writing through every kind of view, and views that may not be written."""

from __future__ import annotations

from .programs import double, leaf, refusal


def view_facts(t):
    x = t.arange(6.0)
    v = x.view(2, 3)
    w = v[0]
    return x._is_view(), v._is_view(), w._is_view(), v._base is x, w._base is x, x._base is None


def what_is_a_view(t):
    x = t.arange(6.0).reshape(2, 3)
    z = t.zeros(2, dtype=t.complex64)
    made = {
        "select": x[0],
        "slice": x[:, 1:],
        "index": x[t.tensor([0])],
        "mask": x[x > 2],
        "transpose": x.transpose(0, 1),
        "permute": x.permute(1, 0),
        "t": x.t(),
        "mT": x.mT,
        "expand": x.unsqueeze(0).expand(2, 2, 3),
        "unsqueeze": x.unsqueeze(0),
        "squeeze": x.squeeze(),
        "diagonal": x.diagonal(),
        "unfold": x.unfold(1, 2, 1),
        "narrow": x.narrow(0, 0, 1),
        "reshape": x.reshape(3, 2),
        "reshape copy": x.t().reshape(6),
        "flatten": x.flatten(),
        "contiguous": x.contiguous(),
        "detach": x.detach(),
        "data": x.data,
        "clone": x.clone(),
        "unbind": x.unbind()[0],
        "split": x.split(1)[0],
        "chunk": x.chunk(2)[0],
        "as_strided": x.as_strided((2,), (1,)),
        "view_as_real": t.view_as_real(z),
        "real": z.real,
        "imag": z.imag,
        "movedim": x.movedim(0, 1),
        "to": x.to(t.float32),
        "ravel": x.ravel(),
        "swapaxes": x.swapaxes(0, 1),
        "ellipsis": x[...],
        "none": x[None],
        "unflatten": x.unflatten(1, (3, 1)),
        "expand_as": x.expand_as(x),
        "view_as": x.view_as(x),
        "hsplit": x.hsplit(3)[0],
        "alias": x.view(2, 3),
    }
    return {name: v._is_view() for name, v in made.items()}


def _written(t, take, n=6, shape=(2, 3)):
    """Write in place through a view, use base and view, and look at gradients."""
    x = t.arange(float(n)).reshape(shape).requires_grad_()
    y = x * 1
    v = take(y)
    v.mul_(10)
    weights = t.arange(1.0, n + 1).reshape(shape)
    ((y * weights).sum() + v.sum()).backward()
    return y, x.grad, type(y.grad_fn).__name__, type(v.grad_fn).__name__, v._base is y


def write_select(t):
    return _written(t, lambda y: y[0])


def write_select_last_dim(t):
    return _written(t, lambda y: y.select(1, 2))


def write_slice(t):
    return _written(t, lambda y: y[:, 1:])


def write_slice_step(t):
    return _written(t, lambda y: y[:, ::2])


def write_transpose(t):
    return _written(t, lambda y: y.t())


def write_permute(t):
    return _written(t, lambda y: y.permute(1, 0))


def write_diagonal(t):
    return _written(t, lambda y: y.diagonal())


def write_diagonal_offset(t):
    return _written(t, lambda y: y.diagonal(1))


def write_view(t):
    return _written(t, lambda y: y.view(3, 2))


def write_unsqueeze(t):
    return _written(t, lambda y: y.unsqueeze(0))


def write_squeeze(t):
    return _written(t, lambda y: y.squeeze(0), shape=(1, 6))


def write_narrow(t):
    return _written(t, lambda y: y.narrow(1, 1, 2))


def write_view_of_view(t):
    return _written(t, lambda y: y.t()[1:][:, 1])


def write_chunk_by_slices(t):
    return _written(t, lambda y: y.view(-1)[2:5])


def write_as_strided(t):
    return _written(t, lambda y: y.as_strided((2, 2), (3, 1)))


def write_unfold_without_overlap(t):
    return _written(t, lambda y: y.unfold(1, 1, 2))


def write_expand_of_same_size(t):
    return _written(t, lambda y: y.expand(2, 3))


def write_movedim(t):
    return _written(t, lambda y: y.movedim(0, 1))


def write_flatten(t):
    return _written(t, lambda y: y.flatten())


def write_real_part(t):
    z = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    t.view_as_real(y)[:, 0].mul_(10)
    (y * y.conj()).real.sum().backward()
    return y, z.grad


def write_imag(t):
    z = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    y.imag.mul_(10)
    (y * y.conj()).real.sum().backward()
    return y, z.grad


def write_view_as_complex(t):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    t.view_as_complex(y).mul_(1j)
    (y * t.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    return y, x.grad


def write_expanded(t):
    x = leaf(t, 1.0)
    y = (x * 1).expand(3)
    return refusal(lambda: y.add_(1)), refusal(lambda: y.zero_()), refusal(lambda: y.__setitem__(0, 1.0))


def write_two_views(t):
    x = leaf(t)
    y = x * 1
    a, b = y[:2], y[1:]
    a.mul_(2)
    b.mul_(3)
    (a.sum() + 10 * b.sum() + 100 * y.sum()).backward()
    return y, a, b, x.grad


def write_base_after_view(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    y.mul_(5)
    v.sum().backward()
    return v, x.grad, type(v.grad_fn).__name__


def write_view_after_base(t):
    x = leaf(t)
    y = x * 1
    v = y[:2]
    y.mul_(5)
    v.mul_(2)
    y.sum().backward()
    return y, x.grad


def write_view_of_plain_base_with_grad_value(t):
    x, b = leaf(t, 5.0, 6.0), t.zeros(4)
    v = b[:2]
    v.copy_(x)
    (b * t.arange(4.0)).sum().backward()
    return b.requires_grad, type(b.grad_fn).__name__, x.grad, v.requires_grad


def other_view_of_plain_base_follows(t):
    x, b = leaf(t, 5.0, 6.0), t.zeros(4)
    v, w = b[:2], b[1:3]
    before = w.requires_grad
    v.copy_(x)
    after = w.requires_grad, type(w.grad_fn).__name__
    w.sum().backward()
    return before, after, x.grad


def names_after_writing_view(t):
    x = leaf(t)
    y = x * 2
    v = y[:2]
    v.mul_(3)
    nexts = [[type(f).__name__ if f else None for f, _ in n.grad_fn.next_functions] for n in (y, v)]
    return type(y.grad_fn).__name__, type(v.grad_fn).__name__, nexts, y.grad_fn.name(), v.grad_fn.name()


def copy_slices_next_functions_with_operand(t):
    x, w = leaf(t), leaf(t, 1.0, 1.0)
    y = x * 2
    y[:2].mul_(w)
    return [type(f).__name__ if f else None for f, _ in y.grad_fn.next_functions]


def copy_slices_of_plain_base(t):
    w, y = leaf(t, 1.0, 1.0), t.ones(3)
    y[:2].mul_(w)
    found = [type(f).__name__ if f else None for f, _ in y.grad_fn.next_functions]
    y.sum().backward()
    return found, w.grad


def chain_of_writes_through_views(t):
    x = double(t, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[:2].mul_(2)
    y[1:3].mul_(3)
    y.view(2, 2)[1].mul_(5)
    y.add_(1)
    y.sum().backward()
    return y, x.grad


def double_backward_through_written_view(t):
    x = double(t)
    y = x * x
    y[1:].mul_(x[:2])
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return g, t.autograd.grad(g.sum(), x)


def a_view_whose_base_was_written_is_differentiated(t):
    r = t.ones(1, requires_grad=True)
    x = t.ones(5)
    v = x.select(0, 1)
    x.add_(r)
    asked = v.requires_grad
    (g,) = t.autograd.grad(v, r)
    return asked, g.tolist()


def a_rectifier_written_into_a_view_twice_differentiated(t):
    x = t.tensor([1.0, -2.0], requires_grad=True)
    y = t.relu_((x * 2).view(1, 2))
    (g,) = t.autograd.grad(y.pow(3).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g.tolist(), h.tolist()
