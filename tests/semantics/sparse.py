"""Sparse tensors: making them, what they say of themselves, arithmetic, products, and gradients through all of it."""

from __future__ import annotations

from .programs import refusal


def _made(t, **options):
    """With one place twice."""
    at = t.tensor([[0, 1, 1, 2, 0], [2, 0, 2, 1, 2]])
    return t.sparse_coo_tensor(at, t.tensor([3.0, 4.0, 5.0, 1.0, 7.0]), (3, 4), **options)


def _values(x):
    return x.to_dense().tolist()


def facts(t):
    s = _made(t)
    c = s.coalesce()
    return (
        s.is_sparse, str(s.layout), s._nnz(), s.is_coalesced(), c.is_coalesced(), c._nnz(), tuple(s.shape), s.dim(), s.numel(),
        s.sparse_dim(), s.dense_dim(), c.indices().tolist(), c.values().tolist(), s.requires_grad, s.device.type, str(s.dtype),
    )  # fmt: skip


def printed(t):
    s = _made(t)
    half = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.arange(6.0).view(2, 3), (4, 3))
    return repr(s), repr(half), repr(s.to_dense().to_sparse_csr()), repr(_made(t, requires_grad=True)), repr(s.double())


def printed_in_several_lines(t):
    x = (t.arange(40.0) / 7).view(4, 10) * (t.arange(40) % 3 > 0).view(4, 10)
    return repr(x.to_sparse()), repr(x.to_sparse_csr()), repr(x.to_sparse_csc()), repr(t.zeros(3, 2).to_sparse_csr())


def products_of_two(t):
    """Their columns are in the order in which the terms of a row first meet them."""
    a = t.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    b = t.tensor([[0.0, 0.0, 5.0, 1.0], [0.0, 4.0, 0.0, 1.0], [6.0, 0.0, 7.0, 0.0]])
    found = []
    for x in (a.to_sparse_csr(), a.to_sparse_csc()):
        for y in (b.to_sparse_csr(), b.to_sparse_csc()):
            z = x @ y
            found.append((str(z.layout), z.crow_indices().tolist(), z.col_indices().tolist(), z.values().tolist()))
    left, right = a.to_sparse().requires_grad_(), b.to_sparse()
    t.sparse.sum(t.sparse.mm(left, right)).backward()
    return found, left.grad.to_dense().tolist(), *(
        refusal(lambda x=x, y=y: x @ y, "computation on CPU is not implemented")
        for x, y in ((a.to_sparse(), b.to_sparse_csr()), (a.to_sparse_csc(), b.to_sparse()))
    )  # fmt: skip


def conversions(t):
    x = t.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    c, d = x.to_sparse_csr(), x.to_sparse_csc()
    return (
        _values(x.to_sparse()), x.to_sparse(1).values().tolist(), c.crow_indices().tolist(), c.col_indices().tolist(),
        c.values().tolist(), d.ccol_indices().tolist(), d.row_indices().tolist(), d.values().tolist(), str(c.t().layout),
        _values(c.t()), _values(c.to_sparse()), c.is_sparse, c.is_sparse_csr, _values(d.to_sparse_csr()),
        _values(t.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0])), _values(t.sparse_coo_tensor((2, 3))),
    )  # fmt: skip


def arithmetic(t):
    s = _made(t)
    full = t.arange(12.0).view(3, 4)
    return (
        _values(s * 2), _values(s / 2), _values(-s), _values(s + s), _values(s - s * 3), (full + s).tolist(),
        t.add(full, s, alpha=3).tolist(), _values(s * full), _values(s * s.coalesce()), _values(s.coalesce().sin()),
        _values(s.pow(2)), _values(s.abs().sqrt()), _values(s.double()), _values(t.zeros_like(s)), s.coalesce().norm().item(),
        full.sparse_mask(s.coalesce()).coalesce().values().tolist(),
    )  # fmt: skip


def shapes(t):
    s = _made(t)
    return (
        _values(s.t()), _values(s.transpose(0, 1)), _values(s[1]), _values(s.index_select(0, t.tensor([2, 0]))),
        _values(t.cat([s, s])), _values(t.cat([s, s], 1)), _values(t.stack([s, s])), _values(s.unsqueeze(0)),
        _values(s.clone()), s.transpose(0, 1).coalesce().indices().tolist(),
    )  # fmt: skip


def sums(t):
    s = _made(t)
    half = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.arange(6.0).view(2, 3), (4, 3))
    return (
        t.sparse.sum(s).item(), _values(t.sparse.sum(s, 0)), _values(t.sparse.sum(s, 1)), t.sparse.sum(s, [0, 1]).item(),
        _values(t.sparse.sum(half, 1)), t.sparse.sum(half, 0).tolist(), _values(t.sparse.softmax(s, 1)),
        _values(t.sparse.log_softmax(s, 0)),
    )  # fmt: skip


def products(t):
    s = _made(t)
    right, left = t.arange(8.0).view(4, 2), t.arange(6.0).view(2, 3)
    return (
        t.sparse.mm(s, right).tolist(), (s @ right).tolist(), (left @ s).tolist(), t.mv(s, t.ones(4)).tolist(),
        _values(t.sparse.mm(s, s.t())), t.sparse.addmm(t.ones(3, 2), s, right, beta=2, alpha=3).tolist(),
        (s.to_dense().to_sparse_csr() @ right).tolist(), t.bmm(t.stack([s, s]), t.stack([right, right])).tolist(),
        _values(t.sparse.sampled_addmm(s.to_dense().to_sparse_csr(), right[:3], right.t())),
    )  # fmt: skip


def gradients_of_a_product(t):
    values = t.tensor([3.0, 4.0, 5.0], requires_grad=True)
    right = t.arange(8.0).view(4, 2).requires_grad_()
    s = t.sparse_coo_tensor(t.tensor([[0, 1, 2], [2, 0, 1]]), values, (3, 4))
    (t.sparse.mm(s, right) ** 2).sum().backward()
    return values.grad.tolist(), right.grad.tolist(), s.requires_grad, s.is_leaf


def gradient_of_a_leaf(t):
    s = t.sparse_coo_tensor(t.tensor([[0, 1, 2], [2, 0, 1]]), t.tensor([3.0, 4.0, 5.0]), (3, 4), requires_grad=True)
    t.sparse.mm(s, t.arange(8.0).view(4, 2)).sum().backward()
    return s.is_leaf, s.grad.is_sparse, _values(s.grad)


def gradient_through_conversions(t):
    x = t.tensor([[0.0, 2.0], [1.0, 0.0]], requires_grad=True)
    (x.to_sparse().to_dense() ** 2).sum().backward()
    return x.grad.tolist()


def gradient_of_a_sum(t):
    values = t.tensor([3.0, 4.0, 5.0], requires_grad=True)
    s = t.sparse_coo_tensor(t.tensor([[0, 0, 1]]), values, (3,))
    (s.coalesce().values() ** 2).sum().backward()
    return values.grad.tolist()


def gradient_of_an_embedding(t):
    table = t.arange(12.0).view(4, 3).requires_grad_()
    for _ in range(2):
        (t.nn.functional.embedding(t.tensor([1, 2, 1]), table, sparse=True) ** 2).sum().backward()
    grad = table.grad.coalesce()
    (found,) = t.autograd.grad(t.nn.functional.embedding(t.tensor([3]), table, sparse=True).sum(), table)
    return table.grad.is_sparse, grad.indices().tolist(), grad.values().tolist(), found.is_sparse, _values(found)


def sparse_and_dense_gradients_add_up(t):
    table = t.arange(6.0).view(2, 3).requires_grad_()
    (t.nn.functional.embedding(t.tensor([1]), table, sparse=True).sum() + table.sum()).backward()
    return table.grad.is_sparse, table.grad.tolist()


def steps(t):
    found = []
    makers = (
        lambda p: t.optim.SparseAdam(p, lr=0.1),
        lambda p: t.optim.SGD(p, lr=0.1),
        lambda p: t.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: t.optim.Adagrad(p, lr=0.1),
    )
    for make in makers:
        table = t.nn.Parameter(t.arange(12.0).view(4, 3))
        optimizer = make([table])
        for i in range(3):
            optimizer.zero_grad()
            (t.nn.functional.embedding(t.tensor([1, 2, 1, i]), table, sparse=True) ** 2).sum().backward()
            optimizer.step()
        found.append(table.tolist())
    return found


def bags(t):
    table = t.arange(12.0).view(4, 3).requires_grad_()
    (
        t.nn.functional.embedding_bag(t.tensor([1, 2, 1]), table, t.tensor([0, 2]), mode="sum", sparse=True) ** 2
    ).sum().backward()
    return table.grad.is_sparse, _values(table.grad.coalesce())


def refused(t):
    s = _made(t)
    table = t.nn.Parameter(t.ones(4, 3))
    t.nn.functional.embedding(t.tensor([1]), table, sparse=True).sum().backward()
    return (
        refusal(lambda: s.indices()), refusal(lambda: s.values()), refusal(lambda: s + t.ones(3, 4)),
        refusal(lambda: t.sparse_coo_tensor([[0, 1]], [1.0], (3,))),
        refusal(lambda: t.optim.Adam([table]).step()),
    )  # fmt: skip


def sparse_gradients_of_a_layer_add_up(t):
    layer = t.nn.Embedding(4, 3, sparse=True)
    for _ in range(3):
        layer(t.tensor([1, 2, 1])).sum().backward()
    return layer.weight.grad.is_sparse, layer.weight.grad.to_dense().tolist()


def sparse_gradients_are_added_in_place(t):
    def grads(*parts):
        x = t.ones(2).requires_grad_()
        x.grad = parts[0]
        x.backward(parts[1])
        return x.grad is parts[0], x.grad.is_sparse, x.grad.to_dense().tolist()

    def sparse():
        return t.sparse_coo_tensor(t.tensor([[1, 1]]), t.tensor([1.0, 2.0]), (2,))

    return grads(sparse(), sparse()), grads(sparse(), t.ones(2)), grads(t.ones(2), sparse())


def several_sparse_gradients_of_one_leaf(t):
    class Given(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, g):
            ctx.g = g
            return x.clone()

        @staticmethod
        def backward(ctx, _):
            return ctx.g, None

    first = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.tensor([1.0, 2.0]), (3,))
    second = t.sparse_coo_tensor(t.tensor([[1, 2]]), t.tensor([3.0, 4.0]), (3,))
    x = t.zeros(3, requires_grad=True)
    (Given.apply(x, first) + Given.apply(x, second)).sum().backward()
    y = t.zeros(3, requires_grad=True)
    (Given.apply(y, first) + Given.apply(y, t.ones(3)) + Given.apply(y, second)).sum().backward()
    return x.grad._indices().tolist(), x.grad._values().tolist(), y.grad.is_sparse, y.grad.tolist()


def added_in_place_to_a_dense_tensor(t):
    values = t.tensor([3.0, 4.0], requires_grad=True)
    s = t.sparse_coo_tensor(t.tensor([[0, 1], [1, 0]]), 2 * values, (2, 2))
    w = t.zeros(2, 2)
    w += s
    (w**2).sum().backward()
    u = t.ones(2, 2)
    u -= s.detach()
    u.add_(s.detach())
    return w.tolist(), w.requires_grad, values.grad.tolist(), u.tolist()


def gradients_with_respect_to_sparse_tensors(t):
    x = t.eye(2).to_sparse().requires_grad_()
    (g,) = t.autograd.grad((x.to_dense() * 2).sum(), x)
    dense = t.ones(2, 2)

    def put():
        dense.data = t.eye(2).to_sparse()

    try:
        put()
    except RuntimeError as error:
        refused = "incompatible tensor type" in str(error)
    made = t.sparse_coo_tensor(t.zeros(1, 1), t.ones(1))
    return g.is_sparse, _values(g), refused, made._indices().tolist()


def sums_of_sparse_tensors_are_merged(t):
    a = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.tensor([1.0, 2.0]), (3,))
    b = t.sparse_coo_tensor(t.tensor([[1, 2]]), t.tensor([3.0, 4.0]), (3,))
    total = a + b
    return total._indices().tolist(), total._values().tolist(), total.is_coalesced()


def sparse_results_in_the_place_of_others(t):
    x = t.tensor([[0.0, -5.0], [6.0, 0.0]]).to_sparse()
    out = t.sparse_coo_tensor(t.zeros(2, 0, dtype=t.int64), t.zeros(0), (2, 2))
    dense = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    dense *= x
    found = [t.abs(x, out=out) is out, out.to_dense(), dense]
    for program in (lambda: t.tensor([0, 3]).to_sparse().asin_(), lambda: dense.copy_(x), lambda: x.copy_(dense)):
        try:
            program()
        except RuntimeError as error:
            found.append(str(error)[:50])
    return found


def sparse_gradients_of_gather_without_dimensions(t):
    found = []
    for shape, index in (((), t.tensor(0)), ((3,), t.tensor(2)), ((), t.tensor([0, 0]))):
        x = t.ones(shape, requires_grad=True)
        t.gather(x, 0, index, sparse_grad=True).sum().backward()
        found.append((str(x.grad.layout), tuple(x.grad.shape), x.grad.to_dense()))
    return found


def sparse_gradients_meet_sparse_ones_under_create_graph(t):
    def gradient():
        return t.sparse_coo_tensor(t.tensor([[1, 1]]), t.tensor([1.0, 1.0]), (2,))

    x = t.ones(2, requires_grad=True)
    before = x.grad = gradient()
    x.backward(gradient(), create_graph=True)
    return x.grad is before, str(x.grad.layout), x.grad.to_dense()


def linear_layers_with_sparse_weights(t):
    found = []
    for change in ("to_sparse_coo", "to_sparse_csr", "to_sparse_csc"):
        for shape in ((3,), (2, 2, 3)):
            weight = getattr(t.arange(1.0, 7.0).reshape(2, 3), change)().requires_grad_()
            x, bias = t.ones(shape, requires_grad=True), t.ones(2, requires_grad=True)
            result = t.nn.functional.linear(x, weight, bias)
            found += [result, *(g.to_dense() for g in t.autograd.grad(result.sum(), [weight, x, bias]))]
    return found


def sparse_tensors_taken_apart(t):
    x = t.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()
    cleared = x.clone().sparse_resize_and_clear_((3, 3), 2, 0)
    return (
        [row.to_dense() for row in x],
        [row.to_dense() for row in x.unbind(1)],
        (x.is_contiguous(), x.stride(), x.clone().t_().to_dense()),
        (cleared._nnz(), tuple(cleared.shape)),
    )


def sparse_tensors_are_no_arrays(t):
    x = t.tensor([0.0, 1.0]).to_sparse()
    return refusal(x.numpy), refusal(lambda: x.numpy(force=True))


def types_of_sparse_tensors_written_in_place(t):
    def sparse(kind):
        return t.tensor([0, 2], dtype=kind).to_sparse()

    kept = (sparse(t.float32).add_(sparse(t.float64)), sparse(t.uint8).mul_(sparse(t.int64)))
    return (
        [str(each.dtype) for each in kept],
        refusal(lambda: sparse(t.int64).add_(sparse(t.float32)))[0],
        refusal(lambda: t.tensor([1, 2]).add_(sparse(t.float32)))[0],
        refusal(lambda: sparse(t.int64) - sparse(t.bool), "with a bool tensor"),
    )


def products_of_sparse_tensors_with_repeated_places(t):
    """Places and how often they are there come from one of the two; what the other has at a place is summed."""
    long = t.sparse_coo_tensor(t.tensor([[1, 1, 0, 1]]), t.tensor([1.0, 2.0, 3.0, 4.0]), (2,))
    short = t.sparse_coo_tensor(t.tensor([[0, 1, 1]]), t.tensor([1.0, 2.0, 3.0]), (2,))
    number = t.sparse_coo_tensor(t.zeros(0, 3, dtype=t.int64), t.tensor([1, 2, 3], dtype=t.int16), ())
    one = t.tensor(2).to_sparse()
    pairs = [(short, long), (long, short), (short, long.coalesce()), (long.coalesce(), short), (long, long.double())]
    pairs += [(number, one), (one, number)]
    products = [a * b for a, b in pairs]
    return [(p._indices().tolist(), p._values().tolist(), p.is_coalesced(), str(p.dtype)) for p in products]


def differences_with_sparse_tensors_of_unsigned_numbers(t):
    small = t.tensor([3, 1], dtype=t.uint8).to_sparse()
    of_two = t.tensor([0, 2], dtype=t.int16).to_sparse() - small
    mixed = t.tensor([0, 2], dtype=t.int8) - small
    flags = t.tensor([0, 2], dtype=t.int8) + t.tensor([True, True]).to_sparse()
    return of_two.to_dense(), str(of_two.dtype), mixed, str(mixed.dtype), flags, str(flags.dtype)


def gradients_of_repeated_places(t):
    def at_one_place(use):
        x = t.sparse_coo_tensor(t.tensor([[1, 1, 2]]), t.tensor([1.0, 3.0, 2.0]), (3,), check_invariants=False)
        x.requires_grad_()
        use(x).backward()
        return x.grad.to_dense()

    x = t.sparse_coo_tensor(t.tensor([[2, 0, 2]]), t.tensor([1.0, 3.0, 2.0]), (3,), check_invariants=False)
    x.requires_grad_()
    (taken,) = t.autograd.grad((x.to_dense() ** 2).sum(), x)
    return (
        at_one_place(lambda x: (x.to_dense() ** 2).sum()),
        at_one_place(lambda x: (x.coalesce().values() ** 2).sum()),
        at_one_place(lambda x: (x * x).to_dense().sum()),
        at_one_place(lambda x: t.sparse.sum(x * 3)),
        taken.to_dense(),
    )


def sparse_results_differentiated(t):
    dense, seed = t.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]), t.arange(6.0).view(2, 3) + 1
    x = dense.clone().requires_grad_()
    rows, places = (x * x).to_sparse_csr(), (x * x).to_sparse()
    taken = (
        t.autograd.grad(rows, x, seed.to_sparse_csr())[0],
        t.autograd.grad([places, x.sum()], x, [seed.to_sparse(), None])[0],
    )
    t.autograd.backward((x * x).to_sparse(), seed.to_sparse())
    return taken, x.grad, refusal(lambda: t.autograd.grad((x * x).to_sparse(), x))


def hooks_of_sparse_tensors(t):
    x, heard = t.tensor([[1.0, 0.0], [0.0, 3.0]]).to_sparse().requires_grad_(), []
    handle = x.register_hook(lambda g: heard.append((g.layout is t.sparse_coo, g.to_dense())))
    (x * 2).to_dense().sum().backward()
    handle.remove()
    x.register_hook(lambda g: g * 10)
    (x * 2).to_dense().sum().backward()
    return heard, x.grad.to_dense()


def _twice(t):
    """One place twice."""
    return t.sparse_coo_tensor(t.tensor([[0, 0, 2]]), t.tensor([1.0, 1.0, 3.0]), (3,))


def _entries(x):
    return x._indices().tolist(), x._values().tolist(), tuple(x.shape)


def rounding_of_repeated_places(t):
    x = _twice(t)
    written = ("sqrt_", "sin_", "abs_", "log1p_", "floor_", "relu_")
    return (
        [_entries(t.div(x, 2, rounding_mode=mode)) for mode in ("floor", "trunc", None)],
        _entries(x // 2),
        _entries(-x),
        _entries(x.abs()),
        _entries(_twice(t).neg_()),
        _entries(_twice(t).floor_divide_(2)),
        [refusal(lambda name=name: getattr(_twice(t), name)()) for name in written],
    )


def sums_that_keep_dimensions(t):
    x = _made(t).coalesce()
    line = t.tensor([1.0, 0.0, 2.0]).to_sparse()
    hybrid = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    return (
        x.sum((0, 1), keepdim=True),
        line.sum(0, keepdim=True),
        hybrid.sum(0, keepdim=True),
        hybrid.sum((0, 1), keepdim=True),
        hybrid.sum(0),
        _values(x.sum(0, keepdim=True)),
    )


def zeros_in_sparse_layouts(t):
    found = [t.zeros(2, 3, layout=t.sparse_coo), t.empty((2, 3), layout=t.sparse_coo, dtype=t.float64)]
    found += [_made(t).new_zeros(2), _made(t).new_zeros((2, 3), dtype=t.int64)]
    rows = t.zeros(2, 3, layout=t.sparse_csr)
    said = [(_entries(x), str(x.dtype), x.layout is t.sparse_coo, x.is_coalesced()) for x in found]
    return said, rows.layout is t.sparse_csr, _values(rows), rows.crow_indices().tolist()


def products_that_expand(t):
    line, other = t.tensor([1.0, 0.0, 2.0]).to_sparse(), t.arange(6.0).view(2, 3)
    pairs = t.arange(1.0, 7.0).view(3, 2).to_sparse(1)
    single = t.tensor([[2.0], [0.0], [3.0]]).to_sparse(1)
    return _entries(line * other), _entries(other * line), _entries(pairs * single), _entries(single * pairs)


def what_does_not_fit_is_refused(t):
    at = t.zeros(1, 2, dtype=t.int64)
    hybrid = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    flat = t.ones(3, 2).to_sparse()
    return (
        refusal(lambda: t.sparse_coo_tensor(at, t.zeros(2, 3), (4, 2))),
        refusal(lambda: t.sparse_coo_tensor(at, t.zeros(2, 3), (4,))),
        refusal(lambda: hybrid * flat),
        refusal(lambda: flat * flat[0]),
        refusal(lambda: flat.reshape(6)),
        refusal(lambda: flat.pow(0)),
    )


def side_by_side_along_dense_dimensions(t):
    x = t.sparse_coo_tensor(t.tensor([[0, 2]]), t.tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    return _entries(t.cat([x, x * 2], 1)), _values(t.cat([x, x, x], 1))


def gradients_of_tables_in_half_precision(t):
    found = []
    for kind in (t.float16, t.bfloat16):
        for at in (t.tensor([1, 1, 2]), t.tensor([1, 1, 2] * 60)):  # few entries, and many
            table = t.ones(500, 3, dtype=kind, requires_grad=True)
            t.nn.functional.embedding(at, table, sparse=True).sum().backward()
            found.append((str(table.grad.dtype), table.grad._nnz(), table.grad.to_dense()[:3].tolist()))
    return found


def indices_from_the_end_and_outside(t):
    s = _made(t)
    return (
        _values(s.index_select(0, t.tensor([-1, 0, -3]))), _values(s.index_select(1, t.tensor([-2, -2]))),
        refusal(lambda: s.index_select(0, t.tensor([3])), "out of range for tensor of size [3, 4] at dimension 0"),
        refusal(lambda: s.index_select(1, t.tensor([0, -5])), "index contains -5"),
        refusal(lambda: s.index_select(2, t.tensor([0])), "Dimension out of range"),
        refusal(lambda: s.unsqueeze(4), "[-3, 2], but got 4"), tuple(s.unsqueeze(-3).shape),
    )  # fmt: skip


def orders_of_dimensions_that_are_none(t):
    s = _made(t)
    return (
        refusal(lambda: s.permute(0), "does not match the length of the desired ordering"),
        refusal(lambda: s.permute(1, 1), "permute(): duplicate dims are not allowed."), refusal(lambda: s.permute(0, 2)),
    )  # fmt: skip
