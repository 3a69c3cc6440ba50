"""torch.func: derivatives of functions as functions, in any order; vmap; modules as functions of their parameters."""

from __future__ import annotations

import warnings

from .programs import refusal


def _filled(t, *shape):
    count = 1
    for n in shape:
        count *= n
    return t.tensor([i * 0.37 % 1.1 + 0.1 for i in range(count)], dtype=t.float64).reshape(shape)


def _x(t):
    return _filled(t, 3)


def _w(t):
    return _filled(t, 2, 3)


def _rows(t):
    return _filled(t, 4, 3)


def _watched(t):
    return _x(t).requires_grad_()


# Gradients ---------------------------------------------------------------------------------------------


def gradient(t):
    g = t.func.grad(lambda a: (a**3).sum())(_x(t))
    return g, g.requires_grad, type(g).__name__


def gradient_of_gradient(t):
    at = t.tensor(0.7, dtype=t.float64)
    once = t.func.grad(t.sin)
    return once(at), t.func.grad(once)(at), t.func.grad(t.func.grad(once))(at)


def gradient_with_aux(t):
    g, aux = t.func.grad(lambda a: ((a**3).sum(), a * 2), has_aux=True)(_x(t))
    return g, aux, aux.requires_grad


def gradient_of_several_arguments(t):
    return t.func.grad(lambda a, b: (a @ b).sum(), argnums=(0, -1))(_w(t), _x(t))


def gradient_of_a_tree(t):
    return t.func.grad(lambda p: (p["w"] @ p["x"][0]).sin().sum())({"w": _w(t), "x": [_x(t)]})


def gradient_of_what_is_unused(t):
    return t.func.grad(lambda a, b: b.sum())(_x(t), _w(t))


def gradient_and_value(t):
    g, value = t.func.grad_and_value(lambda a: (a**3).sum())(_x(t))
    return g, value, value.requires_grad


def gradient_with_keywords(t):
    return t.func.grad(lambda a, scale: (a * scale).sum())(_x(t), scale=_x(t))


def gradient_through_a_closure(t):
    v = _watched(t)
    g = t.func.grad(lambda a: (a * v**2).sum())(_x(t))
    g.sum().backward()
    return g, g.requires_grad, v.grad


def gradient_of_a_watched_input(t):
    v = _watched(t)
    g = t.func.grad(lambda a: (a**3).sum())(v)
    g.sum().backward()
    return g, g.requires_grad, v.grad


def gradient_leaves_the_input_alone(t):
    x = _x(t)
    t.func.grad(lambda a: (a**3).sum())(x)
    return x.requires_grad, x.grad is None


def gradient_under_no_grad(t):
    v = _watched(t)
    with t.no_grad():
        g = t.func.grad(lambda a: (a**3).sum())(v)
        h = t.func.grad(t.func.grad(lambda a: a**3))(t.tensor(2.0))
    return g, g.requires_grad, h


def no_grad_inside(t):
    def f(a):
        with t.no_grad():
            c = a**2
        return (a * c).sum()

    return t.func.grad(f)(_x(t))


# Products ----------------------------------------------------------------------------------------------


def vector_product(t):
    out, pull = t.func.vjp(lambda a, b: a @ b, _w(t), _x(t))
    return out, out.requires_grad, pull(t.ones(2, dtype=t.float64)), pull(out)


def vector_product_of_one(t):
    _, pull = t.func.vjp(t.sin, _x(t))
    found = pull(_x(t))
    return found, type(found).__name__


def vector_product_of_a_tree(t):
    x = _x(t)
    out, pull = t.func.vjp(lambda a: (a.sin(), {"k": a.cos()}), x)
    return out, pull((x, {"k": x * 2}))


def vector_product_with_aux(t):
    out, pull, aux = t.func.vjp(lambda a: (a.sin(), a * 3), _x(t), has_aux=True)
    return out, aux, pull(out)


def jacobian_product(t):
    out, tangent = t.func.jvp(lambda a, b: a @ b.sin(), (_w(t), _x(t)), (_w(t) * 2, _x(t) + 1))
    return out, tangent, tangent.requires_grad


def jacobian_product_with_aux(t):
    return t.func.jvp(lambda a: (a.exp(), a), (_x(t),), (_x(t),), has_aux=True)


def jacobian_product_of_constants(t):
    return t.func.jvp(lambda a: (a.exp(), t.ones(2)), (_x(t),), (_x(t),))


def jacobian_product_inside_another(t):
    x = _x(t)
    return t.func.jvp(lambda a: t.func.jvp(lambda b: b**3, (a,), (a,))[1], (x,), (x,))


def gradient_of_a_jacobian_product(t):
    x = _x(t)
    return t.func.grad(lambda a: t.func.jvp(t.sin, (a,), (x,))[1].sum())(x)


def linear_approximation(t):
    x = _x(t)
    out, push = t.func.linearize(t.sin, x)
    return out, push(x), push(2 * x)


# Jacobians ---------------------------------------------------------------------------------------------


def jacobian_by_rows(t):
    return t.func.jacrev(lambda a: a.outer(a).sin())(_x(t))


def jacobian_by_columns(t):
    return t.func.jacfwd(lambda a: a.outer(a).sin())(_x(t))


def jacobian_of_several(t):
    def f(a, b):
        return a @ b, {"s": b.sum()}

    both = (0, 1)
    return t.func.jacrev(f, argnums=both)(_w(t), _x(t)), t.func.jacfwd(f, argnums=both)(_w(t), _x(t))


def jacobian_of_a_tree(t):
    return t.func.jacrev(lambda p: p["a"] @ p["b"])({"a": _w(t), "b": _x(t)})


def jacobian_with_aux(t):
    def f(a):
        return a**2, a

    return t.func.jacrev(f, has_aux=True)(_x(t)), t.func.jacfwd(f, has_aux=True)(_x(t))


def hessian(t):
    return t.func.hessian(lambda a: (a**3).prod())(_x(t))


def hessian_of_several(t):
    return t.func.hessian(lambda a, b: (a @ b).sin().sum(), argnums=(0, 1))(_w(t), _x(t))


def jacobian_of_jacobian(t):
    f = t.func
    return f.jacrev(f.jacrev(lambda a: a**3))(_x(t)), f.jacfwd(f.jacfwd(lambda a: (a**3).sin()))(_x(t))


# vmap --------------------------------------------------------------------------------------------------


def map_over_rows(t):
    return t.func.vmap(t.dot)(_rows(t), _rows(t))


def map_over_other_dimensions(t):
    f = t.func.vmap(lambda a, b: a * b.sum(), in_dims=(1, None), out_dims=1)
    return f(_rows(t), _x(t)), t.vmap(lambda a: a * 2, in_dims=-1, out_dims=-1)(_w(t))


def map_inside_a_map(t):
    return t.func.vmap(t.func.vmap(lambda a: a**2))(_rows(t))


def map_over_a_tree(t):
    f = t.func.vmap(lambda d: {"s": d["a"] + 1, "t": (d["b"].sum(),)}, in_dims=({"a": 0, "b": None},))
    return f({"a": _rows(t), "b": _x(t)})


def map_that_gives_what_is_not_mapped(t):
    x = _x(t)
    return t.func.vmap(lambda a: (a * 2, x), out_dims=(0, None))(_rows(t))


def map_with_the_same_random_numbers(t):
    found = t.func.vmap(lambda a: a * 0 + t.randn(3, dtype=t.float64), randomness="same")(_rows(t))
    return found, t.randn(2)


def map_with_a_generator(t):
    source, rows = t.Generator().manual_seed(3), t.zeros(3, 2)
    same = t.func.vmap(lambda a: a + t.randn(2, generator=source), randomness="same")(rows)
    try:
        t.func.vmap(lambda a: a + t.randn(2, generator=source))(rows)
        refused = False
    except RuntimeError as error:
        refused = "randomness error mode" in str(error)
    return same, refused, t.rand(1, generator=source)


def map_over_nothing(t):
    return t.func.vmap(lambda a: a.sum())(_rows(t)[:0]).shape


def map_in_chunks(t):
    return t.vmap(t.sin, chunk_size=2)(_rows(t))


def gradients_of_each_sample(t):
    f = t.func
    return f.vmap(f.grad(lambda p, a: (p * a).sin().sum()), in_dims=(None, 0))(_x(t), _rows(t))


def gradient_of_a_map(t):
    f = t.func
    return f.grad(lambda a: f.vmap(lambda r: (r**2).sum())(a).sin().sum())(_rows(t))


def jacobians_of_each_sample(t):
    f = t.func
    return f.vmap(f.jacrev(lambda a: a**2))(_rows(t)), f.vmap(f.hessian(lambda a: (a**3).sum()))(_rows(t))


# Modules -----------------------------------------------------------------------------------------------


def gradients_of_a_module_for_each_sample(t):
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2)).double()
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(p, a, b):
        return ((t.func.functional_call(model, p, (a.unsqueeze(0),)) - b) ** 2).sum()

    return t.func.vmap(t.func.grad(loss), in_dims=(None, 0, 0))(parameters, _rows(t), _rows(t)[:, :2])


def ensemble(t):
    models = [t.nn.Linear(3, 2).double() for _ in range(3)]
    parameters, buffers = t.func.stack_module_state(models)
    f = t.func.vmap(lambda p, a: t.func.functional_call(models[0], p, (a,)), in_dims=(0, None))
    out = f(parameters, _rows(t))
    out.sum().backward()
    return out, {name: p.grad for name, p in parameters.items()}, buffers


def step_inside_a_step(t):
    model = t.nn.Linear(3, 1).double()
    parameters = dict(model.named_parameters())

    def loss(p):
        return (t.func.functional_call(model, p, (_rows(t),)) ** 2).mean()

    g = t.func.grad(loss)(parameters)
    after = loss({name: parameters[name] - 0.1 * g[name] for name in parameters})
    after.backward()
    return after, model.weight.grad, model.bias.grad


def call_with_two_dictionaries(t):
    model = t.nn.Linear(3, 1).double()
    one, two = {"weight": _filled(t, 1, 3)}, {"bias": _filled(t, 1)}
    return (
        t.func.functional_call(model, (one, two), (_rows(t),)),
        refusal(lambda: t.func.functional_call(model, [one, one], (_rows(t),))),
        refusal(lambda: t.func.functional_call(model, 3, (_rows(t),))),
    )


# Refusals ----------------------------------------------------------------------------------------------


def refusals_of_gradients(t):
    f, x = t.func, _x(t)
    return (
        refusal(lambda: f.grad(lambda a: a)(x), 90),
        refusal(lambda: f.grad(lambda a: 3)(x), 60),
        refusal(lambda: f.grad(lambda a: (a.sum(), 1, 2), has_aux=True)(x), 90),
        refusal(lambda: f.grad(lambda a: a.sum(), argnums=3)(x), 90),
        refusal(lambda: f.grad(lambda a: a.sum(), argnums=())(x), 90),
        refusal(lambda: f.grad(lambda a: a.sum())(t.ones(3, dtype=t.int64)), 50),
        refusal(lambda: f.grad(lambda a: a)(3), 50),
        refusal(lambda: f.jvp(lambda a: a, x, x), 90),
        refusal(lambda: f.jvp(lambda a: a, (x,), (x, x)), 90),
        refusal(lambda: f.vjp(t.sin, x)[1]((x, x)), 60),
        refusal(lambda: f.jacrev(lambda a: a)(x.to(t.complex128)), 90),
    )


def refusals_of_maps(t):
    f, x, y = t.func.vmap, _x(t), _rows(t)
    return (
        refusal(lambda: f(t.dot)(y, x), 90),
        refusal(lambda: f(lambda a: a + t.randn(3))(y), 90),
        refusal(lambda: f(lambda a: 3)(y), 60),
        refusal(lambda: f(lambda a: a, in_dims=(0, 0))(y), 60),
        refusal(lambda: f(lambda a: a, in_dims=2)(y), 60),
        refusal(lambda: f(lambda a: a, in_dims=(None,))(y), 60),
        refusal(lambda: f(lambda a: a, out_dims=(0, 0))(y), 60),
        refusal(lambda: f(lambda a: a, out_dims="no")(y), 60),
        refusal(lambda: f(lambda a: a * 2, out_dims=None)(y), 60),
        refusal(lambda: f(lambda a: a, randomness="maybe")(y), 60),
        refusal(lambda: f(lambda a: a)(), 60),
    )


def transforms_inside_inference_mode(t):
    x = t.tensor([1.0, 2.0])
    cube = lambda a: (a**3).sum()
    with t.inference_mode():
        inner = t.tensor([1.0, 2.0])
        return (
            t.func.grad(cube)(x),
            t.func.grad(cube)(inner),
            t.func.vjp(lambda a: a * a, x)[1](x)[0],
            t.func.jvp(lambda a: a * a, (x,), (x,))[1],
            t.func.jacrev(lambda a: a * a)(x),
            t.func.hessian(cube)(x),
            t.func.vmap(t.func.grad(lambda a: a**3))(x),
        )


def no_grad_ends_gradients_and_not_tangents(t):
    x = t.tensor([1.0, 2.0])

    def half_hidden(a):
        with t.no_grad():
            b = a * 3
        return (a * b).sum()

    return t.func.grad(half_hidden)(x), t.func.jvp(half_hidden, (x,), (x,)), t.func.jacfwd(half_hidden)(x)


def functions_that_write_to_their_inputs(t):
    def doubling(a):
        a.mul_(2)
        return (a * a).sum()

    x = t.tensor([1.0, 2.0])
    return t.func.jvp(doubling, (x,), (t.ones(2),)), x.tolist(), t.func.jacfwd(doubling)(x), x.tolist()


def refused_transforms(t):
    x = t.tensor([1.0, 2.0])
    return [
        refusal(act)
        for act in (
            lambda: t.func.grad(lambda a: (a.sum(), 1), has_aux=True)(x),
            lambda: t.func.vjp(lambda a: None, x),
            lambda: t.func.jvp(lambda a: None, (x,), (x,)),
            lambda: t.func.jvp(lambda a: a, (1.0,), (x,)),
            lambda: t.func.jvp(lambda a: a, (), ()),
        )
    ]


def arguments_turned_in_place_inside_vmap(t):
    x = t.arange(18.0).reshape(2, 3, 3)
    turned = t.func.vmap(lambda a: a.t_())(x.clone())
    flat = t.func.vmap(lambda a: a.unsqueeze_(0).squeeze_(0).transpose_(0, 1) * 2)(x.clone())
    written = t.func.vmap(lambda a: a.mul_(2))(same := x.clone())
    return turned, flat, written is same, written


def values_that_differ_between_samples(t):
    x, numbers = t.arange(6.0).reshape(2, 3), t.tensor([10.0, 20.0])
    vmap = t.func.vmap
    return (
        vmap(lambda a, i, v: a.index_fill(0, i, v))(x, t.tensor([0, 2]), numbers),
        vmap(lambda v: x[0].masked_fill(x[0] > 0, v))(numbers),
        vmap(lambda a, v: a.masked_fill(a > 1, v))(x, numbers),
        vmap(lambda share: t.quantile(x[1], share))(t.tensor([[0.2, 0.5], [0.1, 1.0]])),
        t.func.grad(lambda v: vmap(lambda a, n: a.masked_fill(a > 1, n))(x, v).sum())(numbers),
        t.func.grad(lambda v: vmap(lambda a, i, n: a.index_fill(0, i, n))(x, t.tensor([0, 2]), v).sum())(numbers),
    )


def mapped_functions_that_read_values(t):
    F, vmap = t.nn.functional, t.func.vmap
    x = t.arange(24.0).view(4, 6).sin()
    a, b = (t.arange(48.0).view(4, 4, 3) * 0.37).sin(), (t.arange(32.0).view(4, 4, 2) * 0.71).cos()
    steps = (t.arange(40.0).view(5, 2, 4) * 0.3).sin().log_softmax(-1)
    rows, in_line = t.tensor([[[1, 2], [2, 1]], [[3, 2], [1, 1]]]), t.tensor([[1, 2, 2], [3, 2, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch has no rule for some, and says so
        return (
            vmap(lambda v: t.histc(v, 5))(x),
            vmap(vmap(lambda v: t.histc(v, 3)))(x.view(2, 2, 6)),
            vmap(lambda v: t.nonzero_static(v > 0, size=4))(x),
            vmap(lambda m, v: t.linalg.lstsq(m, v, driver="gelsd").solution)(a, b),
            vmap(lambda g: F.ctc_loss(steps, g, (5, 5), (2, 1), reduction="none"))(rows),
            vmap(lambda g: F.ctc_loss(steps, g, (5, 5), (2, 1), reduction="sum"))(in_line),
        )
