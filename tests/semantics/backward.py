"""backward() and grad(): accumulation, roots, inputs, edges, unused tensors, long and deep graphs, callbacks."""

from __future__ import annotations

from .programs import double, leaf, refusal


def grad_keeps_its_identity(t):
    x = leaf(t)
    x.sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    return first is x.grad, first


def grad_is_new_under_create_graph(t):
    x = leaf(t)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    return first is x.grad, first, x.grad, x.grad.requires_grad


def grad_assigned_by_user_is_kept(t):
    x, mine = leaf(t), t.ones(3)
    x.grad = mine
    x.sum().backward()
    return x.grad is mine, mine


def seed_is_not_changed_nor_shared(t):
    x, seed = leaf(t), t.ones(3)
    y = x * 1
    y.backward(seed)
    x.grad.add_(5)
    z = x.view(3)
    z.backward(seed)
    return seed, x.grad


def seed_of_leaf_is_not_stolen(t):
    x, seed = leaf(t), t.ones(3)
    x.backward(seed)
    x.grad.mul_(7)
    return seed, x.grad


def two_leaves_do_not_share_a_grad(t):
    x, y = leaf(t), leaf(t)
    (x + y).sum().backward()
    x.grad.mul_(7)
    return x.grad, y.grad


def expanded_gradient_is_made_whole(t):
    x = leaf(t)
    x.sum().backward()
    return x.grad.stride(), x.grad.is_contiguous()


def grads_of_grad_do_not_share(t):
    x, y = leaf(t), leaf(t)
    gx, gy = t.autograd.grad((x + y).sum(), [x, y])
    return gx, gy


def backward_on_leaf(t):
    x = t.tensor(3.0, requires_grad=True)
    x.backward()
    x.backward()
    return x.grad


def backward_on_one_element_of_any_shape(t):
    x = t.ones(1, 1, requires_grad=True)
    (x * 3).backward()
    return x.grad


def returns_none(t):
    x = leaf(t)
    return x.sum().backward(), t.autograd.backward(x.sum()), type(t.autograd.grad(x.sum(), x)).__name__


def several_roots(t):
    x = leaf(t)
    y, z = x * 2, x * x
    t.autograd.backward([y, z], [t.ones(3), t.full((3,), 10.0)])
    return x.grad


def several_roots_scalar_without_seeds(t):
    x = leaf(t)
    t.autograd.backward([x.sum(), (x * x).sum()])
    return x.grad


def several_roots_some_none(t):
    x = leaf(t)
    t.autograd.backward([x.sum(), x * x], [None, t.ones(3)])
    return x.grad


def same_root_twice(t):
    x = leaf(t)
    y = (x * x).sum()
    t.autograd.backward([y, y])
    return x.grad


def root_that_is_an_ancestor_of_another(t):
    x = leaf(t)
    y = x * x
    z = y.exp()
    t.autograd.backward([z.sum(), y.sum()])
    return x.grad


def roots_with_leaf_among_them(t):
    x = leaf(t)
    t.autograd.backward([x.sum(), x], [None, t.ones(3)])
    return x.grad


def root_without_grad_among_roots(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.backward([x.sum(), t.ones(1)]))


def root_list_is_empty(t):
    return refusal(lambda: t.autograd.backward([])), refusal(lambda: t.autograd.grad([], [leaf(t)]))


def retain_graph_allows_a_second_pass(t):
    x = leaf(t)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, refusal(y.backward)


def nothing_saved_can_be_walked_again(t):
    x = leaf(t)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    return x.grad


def create_graph_retains(t):
    x = leaf(t)
    y = x.exp().sum()
    t.autograd.grad(y, x, create_graph=True)
    t.autograd.grad(y, x)
    return refusal(lambda: t.autograd.grad(y, x))


def create_graph_without_retain(t):
    x = leaf(t)
    y = x.exp().sum()
    t.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return refusal(lambda: t.autograd.grad(y, x))


def third_derivative(t):
    x = double(t)
    g = x.pow(4).sum()
    found = []
    for _ in range(4):
        (g,) = t.autograd.grad(g.sum(), x, create_graph=True)
        found.append(g.tolist())
    return found


def grad_of_grad_with_respect_to_seed(t):
    x, v = double(t), double(t, 1.0, 1.0, 1.0)
    (g,) = t.autograd.grad(x * x, x, v, create_graph=True)
    return t.autograd.grad(g.sum(), [x, v])


def gradient_penalty(t):
    x, w = double(t), double(t, 0.5, -1.0, 2.0)
    y = (x * w).tanh().sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (y + g.pow(2).sum()).backward()
    return x.grad, w.grad


def inputs_limits_accumulation(t):
    x, y = leaf(t), leaf(t)
    (x * y).sum().backward(inputs=[x])
    return x.grad, y.grad is None


def inputs_as_one_tensor(t):
    x, y = leaf(t), leaf(t)
    (x * y).sum().backward(inputs=x)
    return x.grad, y.grad is None


def inputs_non_leaf(t):
    x = leaf(t)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    return y.grad, x.grad is None


def inputs_non_leaf_and_leaf(t):
    x = leaf(t)
    y = x * 2
    (y * y).sum().backward(inputs=(y, x))
    return y.grad, x.grad


def inputs_without_grad(t):
    x = leaf(t)
    return refusal(lambda: x.sum().backward(inputs=[t.ones(3)]))


def inputs_not_reached(t):
    x, y = leaf(t), leaf(t)
    (x * 2).sum().backward(inputs=[y])
    return x.grad is None, y.grad is None


def inputs_prune_what_is_not_needed(t):
    ran = []

    class Noted(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ran.append(ctx.name)
            return g * 2, None

    x, y = leaf(t), leaf(t)
    (Noted.apply(x, "x") + Noted.apply(y, "y")).sum().backward(inputs=[y])
    return ran


def grad_prunes_below_its_inputs(t):
    ran = []

    class Noted(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ran.append(1)
            return g * 2

    x = leaf(t)
    y = Noted.apply(x)
    z = Noted.apply(y)
    g = t.autograd.grad(z.sum(), y)
    return ran, g


def grad_input_twice(t):
    x = leaf(t)
    return t.autograd.grad((x * x).sum(), [x, x])


def grad_of_itself(t):
    x = leaf(t)
    y = (x * 2).sum()
    return t.autograd.grad(y, y), t.autograd.grad(y, [y, x])


def grad_of_leaf_root(t):
    x = t.tensor(2.0, requires_grad=True)
    return t.autograd.grad(x, x)


def grad_leaves_dot_grad_alone(t):
    x = leaf(t)
    t.autograd.grad(x.sum(), x)
    return x.grad is None


def grad_of_intermediate_and_leaf(t):
    x = leaf(t)
    y = x * 3
    z = (y * y).sum()
    return t.autograd.grad(z, [y, x])


def grad_of_one_input_is_a_tuple(t):
    x = leaf(t)
    found = t.autograd.grad(x.sum(), x)
    return type(found).__name__, len(found)


def grad_dict_inputs(t):
    x, y = leaf(t), leaf(t)
    found = t.autograd.grad((x * y).sum(), {"x": x, "y": y})
    return type(found).__name__, found


def grad_allow_unused(t):
    x, y = leaf(t), leaf(t)
    found = t.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)
    return found[0], found[1] is None


def grad_materialize(t):
    x, y = leaf(t), t.ones(2, 2, dtype=t.float64, requires_grad=True)
    found = t.autograd.grad((x * 2).sum(), [x, y], materialize_grads=True)
    return found, str(found[1].dtype)[-7:]


def grad_unused_index_in_message(t):
    x, y = leaf(t), leaf(t)
    return refusal(lambda: t.autograd.grad((x * 2).sum(), [y, x]), "The differentiated Tensor at index 0 appears")


def grad_of_several_outputs(t):
    x = leaf(t)
    return t.autograd.grad([(x * 2).sum(), (x * x).sum()], x)


def grad_with_seeds(t):
    x = leaf(t)
    return t.autograd.grad(x * x, x, grad_outputs=t.tensor([1.0, 10.0, 100.0]))


def grad_with_seeds_in_a_list(t):
    x = leaf(t)
    return t.autograd.grad([x * x, x.sum()], [x], grad_outputs=[t.ones(3), None])


def grad_seed_that_requires_grad_but_no_create_graph(t):
    x = leaf(t)
    seed = t.ones(3, requires_grad=True)
    (g,) = t.autograd.grad(x * x, x, seed)
    return g.requires_grad, g


def grad_outputs_shape(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.grad(x * 2, x, t.ones(3, 1)), "Mismatch in shape: grad_output[0] has a shape of")


def grad_outputs_scalar_for_vector(t):
    x = leaf(t)
    return refusal(lambda: t.autograd.grad(x * 2, x, t.tensor(1.0)), "Mismatch in shape: grad_output[0] has a shape of")


def grad_of_non_tensor(t):
    return refusal(lambda: t.autograd.grad(3.0, leaf(t)), 0)[0], refusal(lambda: t.autograd.backward(3.0), 0)[0]


def grad_of_input_made_after(t):
    x = leaf(t)
    y = x.sum()
    z = y * 2
    return refusal(lambda: t.autograd.grad(y, z))


def grad_after_backward_freed_by_other(t):
    x = leaf(t)
    a = x.exp()
    t.autograd.grad(a.sum(), x)
    return refusal(lambda: t.autograd.grad(a.sum(), x))


def grad_to_node_does_not_free_below(t):
    x = leaf(t)
    a = x.exp()
    b = a.exp()
    t.autograd.grad(b.sum(), a)
    return t.autograd.grad(a.sum(), x)


def gradient_edge_as_input(t):
    x = leaf(t)
    y = x * 2
    edge = t.autograd.graph.get_gradient_edge(y)
    leaf_edge = t.autograd.graph.get_gradient_edge(x)
    return t.autograd.grad((y * y).sum(), [edge, leaf_edge])


def gradient_edge_as_root(t):
    x = leaf(t)
    y = (x * x).sum()
    edge = t.autograd.graph.get_gradient_edge(y)
    t.autograd.backward(edge, retain_graph=True)
    found = t.autograd.grad(edge, x, retain_graph=True)
    t.autograd.backward((edge,), t.tensor(3.0))
    return x.grad, found


def gradient_edge_as_root_of_vector(t):
    x = leaf(t)
    edge = t.autograd.graph.get_gradient_edge(x * x)
    return t.autograd.grad(edge, x, t.tensor([1.0, 10.0, 100.0]))


def gradient_edge_backward_inputs(t):
    x, w = leaf(t), leaf(t)
    edge = t.autograd.graph.get_gradient_edge(x)
    (x * w).sum().backward(inputs=[edge])
    return x.grad, w.grad is None


def gradient_edge_of_several_outputs(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    edges = [t.autograd.graph.get_gradient_edge(v) for v in (a, b, c)]
    return [e.output_nr for e in edges], t.autograd.grad(a * b * c, edges)
