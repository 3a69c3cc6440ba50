"""Nodes as users see them: edges, metadata, saved attributes, gradient edges, anomaly mode."""

from __future__ import annotations

from .programs import double, leaf, refusal, warned


def names_and_classes(t):
    y = leaf(t) * 2
    node = y.grad_fn
    acc = node.next_functions[0][0]
    return (
        node.name(),
        type(node).__name__,
        acc.name(),
        type(acc).__name__,
        isinstance(node, t.autograd.graph.Node),
        isinstance(acc, t.autograd.graph.Node),
    )


def base_of_nodes(t):
    Node, functions = t.autograd.graph.Node, t._C._functions
    node = (leaf(t) * 2).grad_fn
    return (
        [
            issubclass(each, Node)
            for each in (type(node), functions.AccumulateGrad, functions.DelayedError, t.Tensor, dict)
        ],
        [isinstance(each, Node) for each in (node, node.next_functions[0][0], functions.AccumulateGrad, None)],
        Node in type(node).mro(),
    )


def text_of_nodes(t):
    x = leaf(t)
    y = x * 2
    return repr(y.grad_fn).split(" object at ")[0], repr(y).split("grad_fn=")[1], repr(x).split("]")[1]


def next_functions(t):
    x, w = leaf(t), t.ones(3)
    y = (x * w) + x.exp()
    first = [(type(f).__name__, n) for f, n in y.grad_fn.next_functions]
    mul = y.grad_fn.next_functions[0][0]
    return first, [(f and type(f).__name__, n) for f, n in mul.next_functions]


def next_functions_with_output_numbers(t):
    a, b, c = leaf(t).unbind()
    y = b * c
    return [(type(f).__name__, n) for f, n in y.grad_fn.next_functions]


def next_functions_are_the_same_objects(t):
    x = leaf(t)
    y = x * 2
    z = y + y
    (a, _), (b, _) = z.grad_fn.next_functions
    return a is b, a is y.grad_fn, y.grad_fn is y.grad_fn


def walk_the_graph(t):
    x, w = leaf(t), leaf(t)
    y = ((x * w).exp() + x).sum()
    seen, stack = [], [y.grad_fn]
    while stack:
        node = stack.pop()
        seen.append(type(node).__name__)
        stack += [f for f, _ in node.next_functions if f is not None]
    return seen


def accumulate_grad_variable(t):
    x = leaf(t)
    acc = (x * 2).grad_fn.next_functions[0][0]
    other = (x * 3).grad_fn.next_functions[0][0]
    return acc.variable is x, acc is other, acc.next_functions


def metadata_is_a_dictionary(t):
    y = leaf(t) * 2
    y.grad_fn.metadata["key"] = "value"
    return y.grad_fn.metadata, (y * 1).grad_fn.next_functions[0][0].metadata["key"]


def sequence_numbers_grow(t):
    x = leaf(t)
    a = x * 2
    b = x * 3
    c = a + b
    return a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr() < c.grad_fn._sequence_nr()


def saved_attributes_of_arithmetic(t):
    x, w = leaf(t), leaf(t, 4.0, 5.0, 6.0)
    return (
        (x * w).grad_fn._saved_self,
        (x * w).grad_fn._saved_other,
        (x / w).grad_fn._saved_other,
        (x**3).grad_fn._saved_exponent,
        (x**3).grad_fn._saved_self,
        (x**w).grad_fn._saved_result,
        (x + w).grad_fn._saved_alpha,
        t.sub(x, w, alpha=3).grad_fn._saved_alpha,
    )


def saved_attributes_of_functions(t):
    x = leaf(t, 0.25, 0.5)
    return (
        x.exp().grad_fn._saved_result,
        x.log().grad_fn._saved_self,
        x.sin().grad_fn._saved_self,
        x.sqrt().grad_fn._saved_result,
        x.tanh().grad_fn._saved_result,
        x.sigmoid().grad_fn._saved_result,
        x.relu().grad_fn._saved_result,
        x.abs().grad_fn._saved_self,
    )


def saved_attributes_of_shapes(t):
    m = t.ones(2, 3, requires_grad=True)
    return (
        m.sum().grad_fn._saved_self_sym_sizes,
        m.sum(1).grad_fn._saved_dim,
        m.sum(1, keepdim=True).grad_fn._saved_keepdim,
        m.view(6).grad_fn._saved_self_sym_sizes,
        m.transpose(0, 1).grad_fn._saved_dim0,
        m.transpose(0, 1).grad_fn._saved_dim1,
        t.stack([m, m], 1).grad_fn._saved_dim,
        m.split(1)[0].grad_fn._saved_split_size,
        m[:, 1:3].grad_fn._saved_start,
        m[:, 1:3].grad_fn._saved_end,
        m.clamp(0.5, 2).grad_fn._saved_min,
        m.expand(2, 2, 3).grad_fn._saved_self_sym_sizes,
        m.permute(1, 0).grad_fn._saved_dims,
        m.unsqueeze(0).grad_fn._saved_dim,
        m[0].grad_fn._saved_index,
        m[0].grad_fn._saved_dim,
        m.softmax(1).grad_fn._saved_dim,
        t.cat([m, m], 1).grad_fn._saved_dim,
    )


def names_of_what_is_saved(t):
    x, w, m = leaf(t), leaf(t, 4.0, 5.0, 6.0), t.ones(2, 3, requires_grad=True)
    results = (x * w, x / w, x + w, x.exp(), x.relu(), x.tanh(), x.log(), x.sum(), m.sum(1), m.t(), m[0], m.softmax(1))
    return tuple([sorted(name for name in dir(y.grad_fn) if name.startswith("_saved_")) for y in results])


def saved_attributes_of_matrices(t):
    a, b = t.ones(2, 3, requires_grad=True), t.full((3, 2), 2.0, requires_grad=True)
    node = (a @ b).grad_fn
    return node._saved_self, node._saved_mat2


def saved_none(t):
    x, w = leaf(t), t.ones(3)
    return (x * w).grad_fn._saved_self is None, (x * w).grad_fn._saved_other


def saved_identity(t):
    x, w = leaf(t), leaf(t)
    node = (x * w).grad_fn
    y = x.exp()
    return (
        node._saved_self is x,
        node._saved_other is w,
        y.grad_fn._saved_result is y,
        y.grad_fn._saved_result.grad_fn is y.grad_fn,
    )


def saved_unknown_attribute(t):
    node = leaf(t).exp().grad_fn
    return (
        refusal(lambda: node._saved_nothing, 0)[0],
        hasattr(node, "_saved_result"),
        hasattr(node, "_raw_saved_result"),
    )


def saved_after_free(t):
    y = leaf(t).exp()
    y.sum().backward()
    return refusal(lambda: y.grad_fn._saved_result), refusal(lambda: y.grad_fn._raw_saved_result, 0)


def saved_shapes_survive_the_free(t):
    x = leaf(t)
    y = x.sum()
    y.backward()
    return y.grad_fn._saved_self_sym_sizes


def gradient_edges(t):
    x = leaf(t)
    y = x * 2
    edge, of_leaf = t.autograd.graph.get_gradient_edge(y), t.autograd.graph.get_gradient_edge(x)
    return (
        edge.node is y.grad_fn,
        edge.output_nr,
        type(of_leaf.node).__name__,
        type(edge).__name__,
        isinstance(edge, tuple),
        refusal(lambda: t.autograd.graph.get_gradient_edge(t.ones(1))),
    )


def gradient_edge_outlives_the_tensor(t):
    x = leaf(t)
    y = x * 2
    edge = t.autograd.graph.get_gradient_edge(y)
    z = (y * y).sum()
    del y
    return t.autograd.grad(z, edge)


def names_of_gradient_graphs(t):
    x = double(t)
    (g,) = t.autograd.grad((x * x).sum(), x, create_graph=True)
    return g.requires_grad, g.grad_fn is not None


def anomaly_finds_nan(t):
    x = leaf(t, 0.0)

    def run():
        with t.autograd.detect_anomaly():
            y = x.sqrt() * 0
            y.sum().backward()

    return refusal(run, "Function 'SqrtBackward0' returned nan values in its 0th output.")


def anomaly_warns_at_entry(t):
    def run():
        with t.autograd.detect_anomaly():
            pass

    return warned(run)


def anomaly_warning_shows_the_forward_line(t):
    x = leaf(t, 0.0)

    def run():
        with t.autograd.detect_anomaly():
            y = x.sqrt() * 0  # the line to be found
            refusal(y.sum().backward)

    found = warned(run, "y = x.sqrt() * 0")
    return found[1:]


def anomaly_with_error(t):
    class Fails(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("failing on purpose")

    def run():
        with t.autograd.detect_anomaly():
            y = Fails.apply(leaf(t))
            found.append(refusal(y.sum().backward))

    found = []
    texts = warned(run, "Error detected in FailsBackward. Traceback of forward call that caused the error:")
    return found, texts[1:]


def anomaly_without_forward(t):
    x = leaf(t, 0.0)
    y = (x.sqrt() * 0).sum()

    def run():
        with t.autograd.detect_anomaly():
            refusal(y.backward)

    return warned(run, "No forward pass information available.")[1:]


def anomaly_without_nan_check(t):
    x = leaf(t, 0.0)
    with t.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    return x.grad


def anomaly_nested(t):
    seen = []
    with t.autograd.detect_anomaly(check_nan=False):
        seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
        with t.autograd.set_detect_anomaly(True, check_nan=True):
            seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
        with t.autograd.set_detect_anomaly(False):
            seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
        seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
    seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
    return seen


def anomaly_as_function(t):
    t.autograd.set_detect_anomaly(True)
    on = t.is_anomaly_enabled()
    t.autograd.set_detect_anomaly(False)
    return on, t.is_anomaly_enabled()


def anomaly_is_fine_without_nan(t):
    x = leaf(t)
    with t.autograd.detect_anomaly():
        (x * x).sum().backward()
    return x.grad


def anomaly_in_custom_function(t):
    class Bad(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g * float("nan")

    def run():
        with t.autograd.detect_anomaly():
            Bad.apply(leaf(t), leaf(t)).sum().backward()

    return refusal(run, "Function 'BadBackward' returned nan values in its 1th output.")


def anomaly_metadata(t):
    with t.autograd.detect_anomaly():
        y = leaf(t) * 2
    return sorted(k for k in y.grad_fn.metadata if k == "traceback_"), type(y.grad_fn.metadata["traceback_"]).__name__


def increment_version(t):
    a, b = t.ones(1), t.ones(1)
    t.autograd.graph.increment_version(a)
    t.autograd.graph.increment_version([a, b])
    with t.inference_mode():
        c = t.ones(1)
    return a._version, b._version, refusal(lambda: t.autograd.graph.increment_version(c))


def public_names_of_graph_module(t):
    return [
        hasattr(t.autograd.graph, name)
        for name in (
            "saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook",
            "allow_mutation_on_saved_tensors", "Node", "GradientEdge", "get_gradient_edge", "increment_version",
        )
    ]  # fmt: skip


def public_names_of_autograd(t):
    return [
        hasattr(t.autograd, name)
        for name in (
            "Variable", "Function", "backward", "grad", "grad_mode", "gradcheck", "gradgradcheck", "detect_anomaly",
            "set_detect_anomaly", "enable_grad", "no_grad", "inference_mode", "set_grad_enabled", "functional", "graph",
            "function", "anomaly_mode", "variable",
        )
    ]  # fmt: skip


def public_names_of_function_module(t):
    return [
        hasattr(t.autograd.function, name)
        for name in ("Function", "FunctionCtx", "once_differentiable", "InplaceFunction", "BackwardCFunction")
    ]
