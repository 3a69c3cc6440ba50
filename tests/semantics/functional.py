"""gradcheck, gradgradcheck, and torch.autograd.functional: values, flags, and what is refused."""

from __future__ import annotations

from .programs import double, leaf, refusal


def _f(t):
    return t.autograd.functional


def vjp(t):
    x = double(t)
    out, g = _f(t).vjp(lambda a: a * a, x, t.ones(3, dtype=t.float64))
    return out, g, out.requires_grad, g.requires_grad


def vjp_of_scalar_without_v(t):
    return _f(t).vjp(lambda a: (a * a).sum(), double(t))


def vjp_of_several(t):
    x, y = double(t), double(t)
    out, g = _f(t).vjp(lambda a, b: (a * b, a + b), (x, y), (t.ones(3, dtype=t.float64), t.ones(3, dtype=t.float64)))
    return out, g, type(out).__name__, type(g).__name__


def vjp_refusals(t):
    x = double(t)
    return (
        refusal(lambda: _f(t).vjp(lambda a: a * 2, x)),
        refusal(lambda: _f(t).vjp(lambda a: a * 2, x, t.ones(2, dtype=t.float64))),
        refusal(lambda: _f(t).vjp(lambda a: 3.0, x)),
        refusal(lambda: _f(t).vjp(lambda a: a * 2, 3.0)),
        refusal(lambda: _f(t).vjp(lambda a: (a * 2, 4), x, (t.ones(3, dtype=t.float64), 1))),
        refusal(lambda: _f(t).vjp(lambda a: (a, a), x, (t.ones(3, dtype=t.float64),))),
    )


def vjp_strict(t):
    x, y = double(t), double(t)
    one = t.ones(3, dtype=t.float64)
    return (
        refusal(lambda: _f(t).vjp(lambda a: a.detach(), x, one, strict=True)),
        refusal(lambda: _f(t).vjp(lambda a, b: a * 2, (x, y), one, strict=True)),
        refusal(lambda: _f(t).vjp(lambda a: t.ones(3, dtype=t.float64), x, one, strict=True)),
        _f(t).vjp(lambda a, b: a * 2, (x, y), one),
    )


def vjp_create_graph(t):
    x = double(t)
    out, g = _f(t).vjp(lambda a: (a**3).sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return out.requires_grad, g.requires_grad, h


def vjp_strict_with_create_graph(t):
    x = double(t)
    return (
        refusal(lambda: _f(t).vjp(lambda a: a.sum(), x, create_graph=True, strict=True)),
        refusal(lambda: _f(t).vjp(lambda a: a.detach().sum(), x, create_graph=True, strict=True)),
    )


def jvp(t):
    x = double(t)
    return _f(t).jvp(lambda a: a * a, x, t.ones(3, dtype=t.float64))


def jvp_of_several(t):
    x, y = double(t), double(t)
    one = t.ones(3, dtype=t.float64)
    return _f(t).jvp(lambda a, b: (a * b, a.sum()), (x, y), (one, 2 * one))


def jvp_refusals(t):
    x = double(t)
    return (
        refusal(lambda: _f(t).jvp(lambda a: a * 2, x)),
        refusal(lambda: _f(t).jvp(lambda a: a * 2, x, t.ones(2, dtype=t.float64))),
        refusal(lambda: _f(t).jvp(lambda a: a.detach(), x, t.ones(3, dtype=t.float64), strict=True)),
        refusal(lambda: _f(t).jvp(lambda a: 2, x, t.ones(3, dtype=t.float64))),
    )


def jvp_create_graph(t):
    x = double(t)
    out, g = _f(t).jvp(lambda a: a**3, x, t.ones(3, dtype=t.float64), create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return g, h, out.requires_grad


def jacobian(t):
    m = t.arange(6.0, dtype=t.float64).reshape(2, 3)
    return _f(t).jacobian(lambda a: m @ a, double(t))


def jacobian_shapes(t):
    x = t.ones(2, 3, dtype=t.float64)
    j = _f(t).jacobian(lambda a: a.sum(1), x)
    return j.shape, _f(t).jacobian(lambda a: a.sum(), x).shape, j.requires_grad


def jacobian_of_several(t):
    x, y = double(t), double(t, 1.0, 2.0)
    j = _f(t).jacobian(lambda a, b: (a.sum() * b, a * a), (x, y))
    return [list(row) for row in j], type(j).__name__, type(j[0]).__name__


def jacobian_one_input_tuple(t):
    x = double(t)
    j = _f(t).jacobian(lambda a: (a * 2, a.sum()), x)
    k = _f(t).jacobian(lambda a: a * 2, (x,))
    return list(j), type(k).__name__, k[0]


def jacobian_unused_input(t):
    x, y = double(t), double(t)
    return _f(t).jacobian(lambda a, b: a * 2, (x, y))


def jacobian_strict(t):
    x, y = double(t), double(t)
    return (
        refusal(lambda: _f(t).jacobian(lambda a, b: a * 2, (x, y), strict=True)),
        refusal(lambda: _f(t).jacobian(lambda a: a.detach() * 2, x, strict=True)),
        refusal(lambda: _f(t).jacobian(lambda a: a * 2, x, strict=True, create_graph=True)),
        refusal(lambda: _f(t).jacobian(lambda a: a * 2, x, strict=True, vectorize=True)),
    )


def jacobian_create_graph(t):
    x = double(t)
    j = _f(t).jacobian(lambda a: a**3, x, create_graph=True)
    (h,) = t.autograd.grad(j.sum(), x)
    return j, h


def jacobian_vectorized(t):
    x = double(t)
    return _f(t).jacobian(lambda a: a.sin() * a.sum(), x, vectorize=True)


def jacobian_forward_mode_needs_vectorize(t):
    return refusal(lambda: _f(t).jacobian(lambda a: a * 2, double(t), strategy="forward-mode"), 0)[0]


def jacobian_wrong_strategy(t):
    return refusal(lambda: _f(t).jacobian(lambda a: a * 2, double(t), strategy="sideways"), 0)[0]


def jacobian_input_is_not_changed(t):
    x = leaf(t)
    _f(t).jacobian(lambda a: a * 2, x)
    return x.grad is None, x.is_leaf


def jacobian_of_float32(t):
    x = t.ones(2)
    j = _f(t).jacobian(lambda a: a * a, x)
    return str(j.dtype)[-7:], j


def hessian(t):
    return _f(t).hessian(lambda a: (a**3).sum() + a[0] * a[1], double(t))


def hessian_of_several(t):
    x, y = double(t, 1.0, 2.0), double(t, 3.0)
    h = _f(t).hessian(lambda a, b: (a * a).sum() * b.sum(), (x, y))
    return [list(row) for row in h]


def hessian_refusals(t):
    x = double(t)
    return (
        refusal(lambda: _f(t).hessian(lambda a: a * 2, x)),
        refusal(lambda: _f(t).hessian(lambda a: 3, x)),
        refusal(lambda: _f(t).hessian(lambda a: (a.sum(), a.sum()), x)),
        refusal(lambda: _f(t).hessian(lambda a: a.detach().sum(), x, strict=True)),
        refusal(lambda: _f(t).hessian(lambda a: a.sum(), x, strict=True)),
    )


def hessian_create_graph(t):
    x = double(t)
    h = _f(t).hessian(lambda a: (a**3).sum(), x, create_graph=True)
    (g,) = t.autograd.grad(h.sum(), x)
    return h.requires_grad, g


def hessian_of_linear(t):
    return _f(t).hessian(lambda a: a.sum(), double(t))


def hessian_vectorized(t):
    return _f(t).hessian(lambda a: (a**3).sum(), double(t), vectorize=True)


def vhp(t):
    x = double(t)
    return _f(t).vhp(lambda a: (a**3).sum(), x, t.tensor([1.0, 10.0, 100.0], dtype=t.float64))


def hvp(t):
    x = double(t)
    return _f(t).hvp(lambda a: (a**3).sum(), x, t.tensor([1.0, 10.0, 100.0], dtype=t.float64))


def vhp_and_hvp_of_several(t):
    x, y = double(t, 1.0, 2.0), double(t, 3.0)
    v = t.tensor([1.0, 2.0], dtype=t.float64), t.tensor([3.0], dtype=t.float64)

    def f(a, b):
        return (a * a).sum() * b.sum()

    return _f(t).vhp(f, (x, y), v), _f(t).hvp(f, (x, y), v)


def vhp_refusals(t):
    x, one = double(t), t.ones(3, dtype=t.float64)
    return (
        refusal(lambda: _f(t).vhp(lambda a: a * 2, x, one)),
        refusal(lambda: _f(t).vhp(lambda a: (a * a).sum(), x)),
        refusal(lambda: _f(t).hvp(lambda a: (a * a).sum(), x, one[:2])),
        refusal(lambda: _f(t).vhp(lambda a: a.detach().sum(), x, one, strict=True)),
        refusal(lambda: _f(t).hvp(lambda a: a.sum(), x, one, strict=True)),
        _f(t).vhp(lambda a: a.sum(), x, one),
        _f(t).hvp(lambda a: a.sum(), x, one),
    )


def hvp_create_graph(t):
    x, one = double(t), t.ones(3, dtype=t.float64)
    _, h = _f(t).hvp(lambda a: (a**4).sum(), x, one, create_graph=True)
    (g,) = t.autograd.grad(h.sum(), x)
    _, v = _f(t).vhp(lambda a: (a**4).sum(), x, one, create_graph=True)
    return h, g, t.autograd.grad(v.sum(), x)


def under_no_grad(t):
    x = double(t)
    with t.no_grad():
        j = _f(t).jacobian(lambda a: a * a, x)
        out, g = _f(t).vjp(lambda a: (a * a).sum(), x)
    return j, g, out.requires_grad


def gradcheck_passes(t):
    x, w = double(t), double(t, 0.5, 0.25, 2.0)
    return (
        t.autograd.gradcheck(lambda a: a.exp(), x),
        t.autograd.gradcheck(lambda a, b: (a * b).sin(), (x, w)),
        t.autograd.gradcheck(lambda a: (a * 2, a.exp()), (x,)),
        t.autograd.gradcheck(lambda a, k: a * k, (x, 3)),
        t.autograd.gradcheck(lambda a, b: a * b, (x, t.ones(3, dtype=t.float64))),
    )


def gradcheck_fast_mode(t):
    x, w = double(t), double(t, 0.5, 0.25, 2.0)
    return t.autograd.gradcheck(lambda a, b: (a * b).sin(), (x, w), fast_mode=True)


def _wrong(t, factor=3.0):
    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * factor

    return Wrong.apply


def gradcheck_fails(t):
    x = double(t)
    return (
        refusal(lambda: t.autograd.gradcheck(_wrong(t), x), "Jacobian mismatch for output 0 with respect to input 0,"),
        t.autograd.gradcheck(_wrong(t), x, raise_exception=False),
        refusal(
            lambda: t.autograd.gradcheck(_wrong(t), x, fast_mode=True),
            "Jacobian mismatch for output 0 with respect to input 0,",
        ),
        t.autograd.gradcheck(_wrong(t, 2.0), x),
    )


def gradcheck_error_class(t):
    try:
        t.autograd.gradcheck(_wrong(t), double(t))
    except RuntimeError as error:
        return type(error).__name__
    return "none"


def gradcheck_tolerances(t):
    x = double(t)
    return (
        t.autograd.gradcheck(_wrong(t, 2.001), x, atol=0.1, rtol=0.1),
        t.autograd.gradcheck(_wrong(t, 2.001), x, raise_exception=False),
        t.autograd.gradcheck(lambda a: a.exp(), x, eps=1e-5, atol=1e-3),
    )


def gradcheck_of_single_precision(t):
    x = leaf(t)
    return t.autograd.gradcheck(lambda a: a * 2, x, raise_exception=False, eps=1e-2, atol=1e-1)


def gradcheck_without_grad_inputs(t):
    return refusal(lambda: t.autograd.gradcheck(lambda a: a, t.ones(2, dtype=t.float64)))


def gradcheck_outputs_without_grad(t):
    x = double(t)
    return t.autograd.gradcheck(lambda a: (a * 2, a.detach()), x), t.autograd.gradcheck(lambda a: a.detach() * 0, x)


def gradcheck_not_reentrant(t):
    state = [0]

    class Random(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            state[0] += 1
            return g * (2 + 1e-7 * state[0])

    return refusal(lambda: t.autograd.gradcheck(Random.apply, double(t)), "Backward is not reentrant")


def gradcheck_undefined_grads(t):
    class Needs(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2, b * 3

    x = double(t)
    return refusal(lambda: t.autograd.gradcheck(Needs.apply, (x, x)), 0)


def gradcheck_complex(t):
    z = t.tensor([1 + 2j, 0.5 - 1j], dtype=t.complex128, requires_grad=True)
    return (
        t.autograd.gradcheck(lambda a: a * a, z),
        t.autograd.gradcheck(lambda a: a.abs(), z),
        t.autograd.gradcheck(lambda a: (a * a.conj()).real, z),
        t.autograd.gradcheck(lambda a: a.exp(), z, fast_mode=True),
    )


def gradcheck_overlapping_input(t):
    x = double(t, 1.0).expand(3)
    return refusal(lambda: t.autograd.gradcheck(lambda a: a * 2, (x,)), 0)


def gradgradcheck_passes(t):
    x, w = double(t), double(t, 0.5, 0.25, 2.0)
    return (
        t.autograd.gradgradcheck(lambda a: a.exp(), x),
        t.autograd.gradgradcheck(lambda a, b: (a * b).sin(), (x, w)),
        t.autograd.gradgradcheck(lambda a: a * a, x, t.ones(3, dtype=t.float64, requires_grad=True)),
        t.autograd.gradgradcheck(lambda a: a * a, x, fast_mode=True),
    )


def checks_draw_from_the_generator(t):
    def drawn_after(check, **how):
        t.manual_seed(1)
        check(lambda a: a**3, double(t), **how)
        return t.rand(1).item()

    first, second = t.autograd.gradcheck, t.autograd.gradgradcheck
    return (
        drawn_after(first),
        drawn_after(first, fast_mode=True),
        drawn_after(first, check_batched_grad=True),
        drawn_after(second),
        drawn_after(second, fast_mode=True),
        drawn_after(second, gen_non_contig_grad_outputs=True),
    )


def gradgradcheck_fails(t):
    class Cut(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0].detach()

    x = double(t)
    return (
        t.autograd.gradcheck(Cut.apply, x),
        t.autograd.gradgradcheck(Cut.apply, x, raise_exception=False),
        refusal(lambda: t.autograd.gradgradcheck(Cut.apply, x), 0),
    )


def names_in_torch(t):
    return (
        hasattr(t.autograd.functional, "jacobian"),
        callable(t.autograd.gradcheck),
        callable(t.autograd.gradgradcheck),
    )
