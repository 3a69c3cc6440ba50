"""The graph as users see it: names of nodes, edges, metadata, saved attributes, gradient edges, anomaly mode."""

from __future__ import annotations

from .programs import double, leaf, refusal, warned


def _names(t, table):
    """Name of the node that each function of (x, w, m) makes."""
    found = {}
    for name, f in table.items():
        x = t.tensor([0.3, 0.6, 0.9], requires_grad=True)
        w = t.tensor([0.5, 0.5, 0.5], requires_grad=True)
        m = t.arange(9.0).reshape(3, 3).add(1).requires_grad_()
        y = f(x, w, m)
        y = y[0] if isinstance(y, (tuple, list)) else y
        found[name] = type(y.grad_fn).__name__
    return found


def names_of_arithmetic(t):
    return _names(
        t,
        {
            "add": lambda x, w, m: x + w,
            "add number": lambda x, w, m: x + 1,
            "radd": lambda x, w, m: 1 + x,
            "sub": lambda x, w, m: x - w,
            "rsub": lambda x, w, m: 1 - x,
            "mul": lambda x, w, m: x * w,
            "mul number": lambda x, w, m: x * 2,
            "rmul": lambda x, w, m: 2 * x,
            "div": lambda x, w, m: x / w,
            "div number": lambda x, w, m: x / 2,
            "rdiv": lambda x, w, m: 2 / x,
            "floor div": lambda x, w, m: t.div(x, w, rounding_mode="floor"),
            "pow number": lambda x, w, m: x**2,
            "pow tensor": lambda x, w, m: x**w,
            "rpow": lambda x, w, m: 2**x,
            "neg": lambda x, w, m: -x,
            "abs": lambda x, w, m: abs(x),
            "remainder": lambda x, w, m: x % w,
            "addcmul": lambda x, w, m: t.addcmul(x, w, w),
            "addcdiv": lambda x, w, m: t.addcdiv(x, w, w),
            "lerp": lambda x, w, m: t.lerp(x, w, 0.5),
            "lerp tensor": lambda x, w, m: t.lerp(x, w, w),
            "square": lambda x, w, m: x.square(),
            "reciprocal": lambda x, w, m: x.reciprocal(),
            "fmod": lambda x, w, m: t.fmod(x, w),
            "hypot": lambda x, w, m: t.hypot(x, w),
            "atan2": lambda x, w, m: t.atan2(x, w),
            "maximum": lambda x, w, m: t.maximum(x, w),
            "minimum": lambda x, w, m: t.minimum(x, w),
            "fmax": lambda x, w, m: t.fmax(x, w),
        },
    )


def names_of_functions(t):
    plain = (
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh sqrt rsqrt erf erfc "
        "erfinv sigmoid relu sign floor ceil round trunc frac lgamma digamma logit sinc abs"
    ).split()
    return _names(t, {name: (lambda x, w, m, name=name: getattr(x, name)()) for name in plain})


def names_of_reductions(t):
    return _names(
        t,
        {
            "sum": lambda x, w, m: m.sum(),
            "sum dim": lambda x, w, m: m.sum(0),
            "mean": lambda x, w, m: m.mean(),
            "mean dim": lambda x, w, m: m.mean(0),
            "prod": lambda x, w, m: m.prod(),
            "prod dim": lambda x, w, m: m.prod(0),
            "max": lambda x, w, m: m.max(),
            "max dim": lambda x, w, m: m.max(0),
            "min": lambda x, w, m: m.min(),
            "amax": lambda x, w, m: m.amax(0),
            "std": lambda x, w, m: m.std(),
            "var": lambda x, w, m: m.var(0),
            "norm": lambda x, w, m: m.norm(),
            "vector_norm": lambda x, w, m: t.linalg.vector_norm(m),
            "logsumexp": lambda x, w, m: m.logsumexp(0),
            "cumsum": lambda x, w, m: m.cumsum(0),
            "cumprod": lambda x, w, m: m.cumprod(0),
            "median": lambda x, w, m: m.median(),
            "nansum": lambda x, w, m: m.nansum(),
            "all": lambda x, w, m: x.sum() + m.all(),
        },
    )


def names_of_shapes(t):
    return _names(
        t,
        {
            "view": lambda x, w, m: m.view(9),
            "reshape": lambda x, w, m: m.reshape(9),
            "reshape copy": lambda x, w, m: m.t().reshape(9),
            "flatten": lambda x, w, m: m.flatten(),
            "t": lambda x, w, m: m.t(),
            "transpose": lambda x, w, m: m.transpose(0, 1),
            "permute": lambda x, w, m: m.permute(1, 0),
            "T": lambda x, w, m: m.T,
            "mT": lambda x, w, m: m.mT,
            "unsqueeze": lambda x, w, m: x.unsqueeze(0),
            "squeeze": lambda x, w, m: x.unsqueeze(0).squeeze(),
            "squeeze dim": lambda x, w, m: x.unsqueeze(0).squeeze(0),
            "expand": lambda x, w, m: x.expand(2, 3),
            "repeat": lambda x, w, m: x.repeat(2),
            "index int": lambda x, w, m: x[0],
            "index slice": lambda x, w, m: x[:2],
            "index full slice": lambda x, w, m: x[:],
            "index ellipsis": lambda x, w, m: x[...],
            "index none": lambda x, w, m: x[None],
            "index tensor": lambda x, w, m: x[t.tensor([0])],
            "index mask": lambda x, w, m: x[x > 0.5],
            "index list": lambda x, w, m: x[[0, 1]],
            "index two": lambda x, w, m: m[1, 2],
            "select": lambda x, w, m: m.select(0, 1),
            "narrow": lambda x, w, m: m.narrow(0, 0, 2),
            "diagonal": lambda x, w, m: m.diagonal(),
            "diag": lambda x, w, m: x.diag(),
            "tril": lambda x, w, m: m.tril(),
            "flip": lambda x, w, m: x.flip(0),
            "roll": lambda x, w, m: x.roll(1),
            "cat": lambda x, w, m: t.cat([x, w]),
            "stack": lambda x, w, m: t.stack([x, w]),
            "split": lambda x, w, m: x.split(1),
            "split sizes": lambda x, w, m: x.split([1, 2]),
            "chunk": lambda x, w, m: x.chunk(3),
            "unbind": lambda x, w, m: x.unbind(),
            "gather": lambda x, w, m: x.gather(0, t.tensor([0])),
            "scatter": lambda x, w, m: x.scatter(0, t.tensor([0]), w),
            "scatter_add": lambda x, w, m: x.scatter_add(0, t.tensor([0]), w),
            "index_select": lambda x, w, m: x.index_select(0, t.tensor([0])),
            "masked_fill": lambda x, w, m: x.masked_fill(x > 0.5, 0.0),
            "masked_select": lambda x, w, m: x.masked_select(x > 0.5),
            "where": lambda x, w, m: t.where(x > 0.5, x, w),
            "clone": lambda x, w, m: x.clone(),
            "contiguous": lambda x, w, m: m.t().contiguous(),
            "to": lambda x, w, m: x.to(t.float64),
            "double": lambda x, w, m: x.double(),
            "movedim": lambda x, w, m: m.movedim(0, 1),
            "unfold": lambda x, w, m: x.unfold(0, 2, 1),
            "as_strided": lambda x, w, m: x.as_strided((2,), (1,)),
            "sort": lambda x, w, m: x.sort(),
            "topk": lambda x, w, m: x.topk(2),
            "pad": lambda x, w, m: t.nn.functional.pad(x, (1, 1)),
        },
    )


def names_of_products_and_layers(t):
    f = t.nn.functional
    return _names(
        t,
        {
            "dot": lambda x, w, m: x @ w,
            "mv": lambda x, w, m: m @ x,
            "vm": lambda x, w, m: x @ m,
            "mm": lambda x, w, m: m @ m,
            "bmm": lambda x, w, m: t.bmm(m[None], m[None]),
            "matmul": lambda x, w, m: m[None] @ m[None],
            "outer": lambda x, w, m: t.outer(x, w),
            "addmm": lambda x, w, m: t.addmm(m, m, m),
            "linear": lambda x, w, m: f.linear(m, m, x),
            "linear without bias": lambda x, w, m: f.linear(m, m),
            "linear of vector": lambda x, w, m: f.linear(x, m, w),
            "einsum": lambda x, w, m: t.einsum("ij,jk->ik", m, m),
            "relu": lambda x, w, m: f.relu(x),
            "gelu": lambda x, w, m: f.gelu(x),
            "silu": lambda x, w, m: f.silu(x),
            "leaky_relu": lambda x, w, m: f.leaky_relu(x),
            "elu": lambda x, w, m: f.elu(x),
            "softplus": lambda x, w, m: f.softplus(x),
            "softmax": lambda x, w, m: f.softmax(x, 0),
            "log_softmax": lambda x, w, m: f.log_softmax(x, 0),
            "mse_loss": lambda x, w, m: f.mse_loss(x, w),
            "l1_loss": lambda x, w, m: f.l1_loss(x, w),
            "nll_loss": lambda x, w, m: f.nll_loss(m, t.tensor([0, 1, 2])),
            "cross_entropy": lambda x, w, m: f.cross_entropy(m, t.tensor([0, 1, 2])),
            "bce": lambda x, w, m: f.binary_cross_entropy(x, t.ones(3)),
            "bce logits": lambda x, w, m: f.binary_cross_entropy_with_logits(x, t.ones(3)),
            "dropout": lambda x, w, m: f.dropout(x, 0.5),
            "layer_norm": lambda x, w, m: f.layer_norm(m, (3,)),
            "embedding": lambda x, w, m: f.embedding(t.tensor([0]), m),
            "clamp": lambda x, w, m: x.clamp(0, 1),
            "clamp min": lambda x, w, m: x.clamp(min=0),
            "hardtanh": lambda x, w, m: f.hardtanh(x),
            "normalize": lambda x, w, m: f.normalize(x, dim=0),
            "cosine_similarity": lambda x, w, m: f.cosine_similarity(x, w, dim=0),
        },
    )


def names_of_in_place(t):
    return _names(
        t,
        {
            "add_": lambda x, w, m: (x * 1).add_(w),
            "mul_": lambda x, w, m: (x * 1).mul_(2),
            "exp_": lambda x, w, m: (x * 1).exp_(),
            "zero_": lambda x, w, m: (x * 1).zero_(),
            "fill_": lambda x, w, m: (x * 1).fill_(2),
            "copy_": lambda x, w, m: (x * 1).copy_(w),
            "relu_": lambda x, w, m: (x * 1).relu_(),
            "clamp_": lambda x, w, m: (x * 1).clamp_(0, 1),
            "masked_fill_": lambda x, w, m: (x * 1).masked_fill_(x > 0.5, 0.0),
            "t_": lambda x, w, m: (m * 1).t_(),
            "unsqueeze_": lambda x, w, m: (x * 1).unsqueeze_(0),
        },
    )


def names_of_complex(t):
    z = t.tensor([1 + 1j], requires_grad=True)
    x = t.tensor([1.0], requires_grad=True)
    made = [
        z.abs(), z.angle(), z.conj(), z.real, z.imag, t.view_as_real(z), z * z, z.exp(), t.complex(x, x), t.polar(x, x),
        z.sgn(),
    ]  # fmt: skip
    return [type(v.grad_fn).__name__ for v in made]


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
    return refusal(lambda: node._saved_nothing, 0)[0], hasattr(node, "_saved_result"), hasattr(node, "_raw_saved_result")


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
