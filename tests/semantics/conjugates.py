"""`conj()` is a view: writes go through it both ways, and so do gradients."""

from __future__ import annotations

from .programs import refusal


def _numbers(t):
    return t.tensor([[1 + 2j, 3 - 4j], [5j, 6 + 1j]])


def _leaf(t):
    return t.tensor([1 + 2j, 3 - 4j], requires_grad=True)


def writes_go_both_ways(t):
    x = _numbers(t)
    y = x.conj()
    y.mul_(2)
    first = x.clone()
    x.add_(1j)
    second = y.clone()
    y[0].zero_()
    y.imag[1] += 3
    y.real.sub_(1)
    x.t()[0] = 7 - 7j
    return first, second, x, y.resolve_conj(), x._version, y._version


def what_they_say_of_themselves(t):
    x = _numbers(t)
    y, plain = x.conj(), t.ones(2)
    return (
        [v.is_conj() for v in (x, y, y[0], y.t(), y.conj(), y.clone(), y * 2, y.detach(), x.mH, x.H, y.resolve_conj())],
        [v.is_neg() for v in (y.imag, y.real, x.imag, y.imag.resolve_neg(), y.conj().imag)],
        y._base is x, y._is_view(), y.stride(), y.data_ptr() == x.data_ptr(), y.conj().data_ptr() == x.data_ptr(),
        y[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr(), y.imag.data_ptr() == x.imag.data_ptr(),
        x.resolve_conj() is x, plain.conj() is plain, plain.is_conj(), plain.resolve_neg() is plain,
    )  # fmt: skip


def conjugates_of_parts(t):
    x = t.arange(12.0).view(3, 4) + 1j
    y = x[:, ::2].conj()
    z = y.t()[1].conj()
    z.mul_(10)
    y[0] = 1j
    x.mH.add_(2)
    return x, y.resolve_conj(), z, z.is_conj()


def several_conjugates_of_one(t):
    x = _numbers(t)
    first, second = x.conj(), x.mH
    first.add_(1 + 1j)
    second[0] = 0
    w = first.detach()
    w.mul_(2)
    return x, first.resolve_conj(), second.resolve_conj()


def refused_while_conjugated(t):
    y = _numbers(t).conj()
    return (
        refusal(y.numpy),
        refusal(y.imag.numpy),
        refusal(lambda: t.view_as_real(y)),
        refusal(lambda: y.view(t.float32)),
        y.resolve_conj().numpy().tolist() == y.tolist(),
    )


def gradients_through_a_written_conjugate(t):
    x = _leaf(t)
    z = x * 1
    y = z.conj()
    y.mul_(2j)
    name = y.grad_fn.name(), z.grad_fn.name()
    (z.real.sum() + 3 * z.imag.sum()).backward()
    return name, z, x.grad


def gradients_of_a_conjugate_of_what_was_written(t):
    x = _leaf(t)
    z = x * 1
    y = z.conj()[1:]
    z.mul_(2j)
    (y.real.sum() + 3 * y.imag.sum()).backward()
    return y.resolve_conj(), x.grad


def gradients_into_parts_of_conjugates(t):
    x = _leaf(t)
    z = x * x
    z.conj().imag[0] = 5
    (z * t.tensor([1j, 2.0])).abs().sum().backward()
    return z, x.grad


def second_derivatives_through_conjugates(t):
    x = _leaf(t)
    z = x * x
    y = z.conj()
    y.mul_(x.detach())
    (g,) = t.autograd.grad((z.abs() ** 2).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.abs().sum(), x)
    return g.resolve_conj(), h.resolve_conj()


def leaves_are_guarded(t):
    x = _leaf(t)
    return refusal(lambda: x.conj().mul_(2)), x.conj().grad_fn.name()


def a_saved_value_written_through_its_conjugate(t):
    x = _leaf(t)
    z = x * 1
    loss = (z * z).abs().sum()
    z.conj().mul_(2)
    return refusal(loss.backward)
