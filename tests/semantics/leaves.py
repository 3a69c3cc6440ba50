"""Leaves and their state: requires_grad, .grad and its rules, copies, pickles, Variable, numpy, printing of state."""

from __future__ import annotations

import copy
import pickle

from .programs import leaf, refusal, warned


def is_leaf(t):
    x = leaf(t)
    y = x * 2
    return x.is_leaf, y.is_leaf, y.detach().is_leaf, t.ones(2).is_leaf, (t.ones(2) * 2).is_leaf, x.clone().is_leaf


def requires_grad_spreads(t):
    x, c = leaf(t), t.ones(3)
    return (x + c).requires_grad, (c + c).requires_grad, (x > c).requires_grad, x.long().requires_grad


def requires_grad_setter(t):
    x = t.ones(2)
    x.requires_grad = True
    y = x * 2
    x.requires_grad = False
    return y.requires_grad, x.requires_grad, (x * 2).requires_grad


def requires_grad_of_non_leaf(t):
    y = leaf(t) * 2
    y.requires_grad_()

    def on():
        y.requires_grad = True

    def off():
        y.requires_grad = False

    return refusal(on, 40), refusal(off), refusal(lambda: y.requires_grad_(False)), y.requires_grad


def requires_grad_of_integers(t):
    i = t.arange(3)

    def on():
        i.requires_grad = True

    i.requires_grad = False
    return refusal(on), refusal(lambda: i.requires_grad_()), refusal(lambda: t.tensor([1], requires_grad=True))


def requires_grad_wrong_type(t):
    x = t.ones(2)

    def on():
        x.requires_grad = "yes"

    return refusal(on, 0), x.requires_grad


def requires_grad_returns_self(t):
    x = t.ones(2)
    return x.requires_grad_() is x, x.requires_grad_(requires_grad=False) is x


def retains_grad(t):
    x = leaf(t)
    y = x * 2
    before = y.retains_grad
    y.retain_grad()
    return x.retains_grad, before, y.retains_grad


def grad_of_non_leaf_warns(t):
    y = leaf(t) * 2
    found = warned(lambda: y.grad)
    y.retain_grad()
    return found, warned(lambda: y.grad), warned(lambda: leaf(t).grad)


def grad_none_at_first(t):
    return leaf(t).grad is None, t.ones(2).grad is None


def grad_assignment(t):
    x, g = leaf(t), t.ones(3)
    x.grad = g
    same = x.grad is g
    x.grad = None
    return same, x.grad is None


def grad_assignment_rules(t):
    x = leaf(t)

    def assign(value):
        def run():
            x.grad = value

        return refusal(run)

    return (
        assign(t.ones(2)),
        assign(t.ones(3, 1)),
        assign(t.ones(3, dtype=t.float64)),
        assign(1.0),
        assign([1.0]),
        assign(x),
        assign(t.ones(3, dtype=t.int64)),
    )


def grad_assignment_to_plain_and_non_leaf(t):
    x, y = t.ones(3), leaf(t) * 2
    x.grad = t.ones(3)
    y.grad = t.ones(3)
    return x.grad, y.grad


def grad_deletion(t):
    x = leaf(t)
    x.sum().backward()
    del x.grad
    return x.grad is None


def grad_shared_with_another(t):
    x, y = leaf(t), leaf(t)
    x.sum().backward()
    y.grad = x.grad
    y.sum().backward()
    return x.grad, y.grad is x.grad


def grad_that_requires_grad(t):
    x = leaf(t)
    g = leaf(t)
    x.grad = g * 2
    (x * 3).sum().backward()
    return x.grad, x.grad.requires_grad


def grad_in_place_by_user(t):
    x = leaf(t)
    (x * 2).sum().backward()
    x.grad.mul_(0.5)
    x.grad += 1
    x.grad.zero_()
    (x * 5).sum().backward()
    return x.grad


def grad_of_view_of_leaf(t):
    x = leaf(t)
    v = x[:2]
    v.retain_grad()
    v.sum().backward()
    return v.grad, x.grad


def noncontiguous_leaf(t):
    x = t.arange(6.0).reshape(2, 3).t().requires_grad_()
    (x * x).sum().backward()
    return x.grad.shape, x.grad


def deepcopy_of_leaf(t):
    x = leaf(t)
    x.sum().backward()
    y = copy.deepcopy(x)
    y.grad.add_(5)
    return y, y.requires_grad, y.grad, x.grad, y.is_leaf


def deepcopy_of_non_leaf(t):
    return refusal(lambda: copy.deepcopy(leaf(t) * 2))


def deepcopy_of_detached_and_plain(t):
    y = copy.deepcopy((leaf(t) * 2).detach())
    return y, y.requires_grad


def deepcopy_shares_within(t):
    x = leaf(t)
    a, b = copy.deepcopy([x, x])
    return a is b, a is x


def deepcopy_keeps_views_together(t):
    x = t.arange(4.0)
    a, b = copy.deepcopy([x, x[:2]])
    b.zero_()
    return a, x


def deepcopy_of_parameter(t):
    p = t.nn.Parameter(t.ones(2))
    q = copy.deepcopy(p)
    return type(q).__name__, q.requires_grad, q is p


def deepcopy_of_hooks(t):
    x = leaf(t)
    x.register_hook(lambda g: g * 10)
    y = copy.deepcopy(x)
    y.sum().backward()
    return y.grad


def shallow_copy(t):
    x = leaf(t)
    y = copy.copy(x)
    return y is x, y.requires_grad, y.data_ptr() == x.data_ptr()


def pickle_of_leaf(t):
    x = leaf(t)
    y = pickle.loads(pickle.dumps(x))
    return y, y.requires_grad, y.is_leaf


def pickle_drops_grad(t):
    x = leaf(t)
    x.sum().backward()
    return pickle.loads(pickle.dumps(x)).grad is None


def pickle_of_parameter(t):
    p = pickle.loads(pickle.dumps(t.nn.Parameter(t.ones(2), requires_grad=False)))
    return type(p).__name__, p.requires_grad, p


def pickle_of_non_leaf(t):
    y = leaf(t) * 2
    return refusal(lambda: pickle.loads(pickle.dumps(y)), 0)


def pickle_of_types(t):
    found = []
    for kind in ("float32", "float64", "int64", "bool", "float16", "bfloat16", "complex64", "uint8"):
        x = t.ones(2, dtype=getattr(t, kind))
        y = pickle.loads(pickle.dumps(x))
        found.append((str(y.dtype).split(".")[1], bool((x == y).all())))
    return found


def pickle_of_views(t):
    x = t.arange(6.0).reshape(2, 3)
    y = pickle.loads(pickle.dumps(x.t()))
    return y, y.shape, y.stride()


def variable(t):
    v = t.autograd.Variable(t.ones(2), requires_grad=True)
    return (
        v.requires_grad,
        type(v).__name__,
        isinstance(t.ones(1), t.autograd.Variable),
        isinstance(3, t.autograd.Variable),
        t.autograd.Variable(t.ones(2)).requires_grad,
    )


def variable_shares_memory(t):
    x = t.ones(2)
    v = t.autograd.Variable(x)
    v.add_(1)
    return x


def tensor_of_tensor(t):
    x = leaf(t)
    found = warned(lambda: t.tensor(x))
    y = t.tensor(x)
    return found, y.requires_grad, y.data_ptr() == x.data_ptr()


def as_tensor_keeps_the_graph(t):
    y = leaf(t) * 2
    return t.as_tensor(y) is y, t.as_tensor(y).requires_grad


def numpy_rules(t):
    x = leaf(t)
    return (
        refusal(lambda: x.numpy()),
        refusal(lambda: (x * 2).numpy()),
        x.detach().numpy().tolist(),
        x.numpy(force=True).tolist(),
        x.tolist(),
        x[0].item(),
        float(x[1]),
        int(x[2]),
        bool(x[0]),
    )


def conversion_of_leaf(t):
    x = leaf(t)
    y = x.double()
    z = x.to(t.float32)
    return y.is_leaf, y.requires_grad, z is x, type(y.grad_fn).__name__


def parameter_facts(t):
    p = t.nn.Parameter(t.ones(2))
    q = t.nn.Parameter(t.ones(2), requires_grad=False)
    return (
        p.is_leaf,
        p.requires_grad,
        q.requires_grad,
        isinstance(p, t.Tensor),
        type(p * 2).__name__,
        type(p.data).__name__,
        type(p.detach()).__name__,
        type(p[0]).__name__,
    )


def parameter_of_non_leaf(t):
    y = leaf(t) * 2
    p = t.nn.Parameter(y)
    return p.is_leaf, p.requires_grad, p.data_ptr() == y.data_ptr()


def repr_of_state(t):
    x = leaf(t)
    y = x * 2
    return repr(x), repr(y), repr(y.detach()), repr(y[0])


def hash_and_identity(t):
    x, y = leaf(t), leaf(t)
    return len({x, y, x}), x in [x], {x: 1}[x]


def like_factories_and_grad(t):
    x = leaf(t)
    return (
        t.zeros_like(x).requires_grad,
        t.ones_like(x, requires_grad=True).requires_grad,
        x.new_zeros(2).requires_grad,
        x.new_ones(2, requires_grad=True).requires_grad,
        t.empty_like(x).is_leaf,
        x.new_tensor([1.0]).requires_grad,
    )


def data_attribute(t):
    x = leaf(t)
    d = x.data
    return d.requires_grad, d.is_leaf, d.data_ptr() == x.data_ptr(), d._is_view()


def clone_and_detach(t):
    x = leaf(t)
    return (
        x.clone().requires_grad,
        x.detach().requires_grad,
        x.clone().detach().requires_grad,
        x.detach().clone().is_leaf,
    )


def detach_shares_memory_and_version(t):
    x = leaf(t)
    d = x.detach()
    d.add_(1)
    return x, d._version == x._version


def comparison_and_indices_do_not_record(t):
    x = leaf(t)
    return [
        v.requires_grad
        for v in (x > 1, x == x, x.argmax(), x.argsort(), t.isnan(x), x.sort()[1], x.nonzero(), x.bool(), t.sign(x))
    ]


def grad_dtype_attribute(t):
    x = leaf(t)
    return str(x.grad_dtype).split(".")[-1] if hasattr(x, "grad_dtype") else "float32"


def empty_leaf(t):
    x = t.empty(0, requires_grad=True)
    x.sum().backward()
    return x.grad, x.grad.shape


def zero_dim_leaf(t):
    x = t.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return x.grad, x.grad.shape


def leaf_used_as_index_source(t):
    x = leaf(t)
    y = x[t.tensor([0, 0, 2])]
    y.sum().backward()
    return x.grad


def unhashable_and_bool(t):
    return refusal(lambda: bool(leaf(t))), bool(t.tensor([1.0], requires_grad=True))


def state_dict_detaches(t):
    layer = t.nn.Linear(2, 1)
    state = layer.state_dict()
    return [v.requires_grad for v in state.values()], [v.requires_grad for v in layer.parameters()]


def requires_grad_of_module(t):
    layer = t.nn.Linear(2, 1)
    layer.requires_grad_(False)
    off = [p.requires_grad for p in layer.parameters()]
    layer.weight.requires_grad_()
    y = layer(t.ones(1, 2))
    y.sum().backward()
    return off, layer.weight.grad, layer.bias.grad is None


def contiguous_of_leaf_is_itself(t):
    x = leaf(t)
    return x.contiguous() is x, x.view(3) is x, x.reshape(3) is x, x.float() is x, x.cpu() is x, x.to("cpu") is x


def order_of_hooks_behind_a_linear_layer(t):
    def order(x):
        layer, told = t.nn.Linear(3, 2), []
        for name, value in (("weight", layer.weight), ("bias", layer.bias), ("input", x)):
            value.register_hook(lambda g, name=name: told.append(name))
        layer(x).sum().backward()
        return told

    return [order(t.ones(*shape, requires_grad=True)) for shape in ((4, 3), (5, 4, 3), (3,))]


def what_a_tensor_lists(t):
    x = t.ones(2, 2)
    x.note = 1
    listed = dir(x)
    asked = [hasattr(x, name) for name in listed if name != "imag"]
    return "note" in listed, "volatile" in listed, "__cuda_array_interface__" in listed, all(asked)


def identities_after_a_swap(t):
    import copy

    a, b = t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.zeros(3))
    was = [a._cdata, b._cdata]
    t.utils.swap_tensors(a, b)
    now, copied = [a._cdata, b._cdata], copy.deepcopy(a)
    layer = t.nn.Linear(2, 3)
    before = {name: (id(p), p._cdata) for name, p in layer.named_parameters()}
    t.__future__.set_swap_module_params_on_conversion(True)
    try:
        layer.to(t.float64)
    finally:
        t.__future__.set_swap_module_params_on_conversion(False)
    moved = [(id(p) == before[name][0], p._cdata == before[name][1]) for name, p in layer.named_parameters()]
    return len({*was, *now}) >= 2, now[0] != was[0], now[1] != was[1], copied._cdata in now, a.tolist(), moved
