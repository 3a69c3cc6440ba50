"""Sparse tensors with compressed rows or columns: of matrices, of batches of them, of blocks, of more than numbers."""

from __future__ import annotations

import io

from .programs import refusal


def _matrix(t):
    return t.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 5.0]])


def _all(t, batch):
    x = _matrix(t)
    x = t.stack([x, x.flip(0)]) if batch else x
    rows, columns = x.to_sparse_bsr((2, 2)), x.to_sparse_bsc((1, 2))
    return [x.to_sparse_csr(), x.to_sparse_csc(), rows, columns]


def _parts(x):
    rows = "csr" in str(x.layout) or "bsr" in str(x.layout)
    first, second = (x.crow_indices(), x.col_indices()) if rows else (x.ccol_indices(), x.row_indices())
    return str(x.layout), first.tolist(), second.tolist(), x.values().tolist(), str(first.dtype), tuple(x.shape)


def parts_and_numbers(t):
    found = [*_all(t, False), *_all(t, True)]
    return [(_parts(x), x._nnz(), x.sparse_dim(), x.dense_dim(), float(x.sum())) for x in found]


def printed(t):
    hybrid = t.sparse_csr_tensor(t.tensor([0, 1, 1]), t.tensor([0]), t.tensor([[1.0, 2.0]]), (2, 2, 2))
    return [repr(x) for x in (*_all(t, False), *_all(t, True), hybrid)]


def back_and_transposed(t):
    found = [*_all(t, False), *_all(t, True)]
    turned = [x.transpose(-2, -1) for x in found]
    return [x.to_dense().tolist() for x in found], [(str(x.layout), x.to_dense().tolist()) for x in turned]


def made_from_parts(t):
    begins, places = t.tensor([0, 1, 2], dtype=t.int32), t.tensor([1, 0], dtype=t.int32)
    blocks = t.sparse_bsr_tensor(begins, places, t.arange(8.0).view(2, 2, 2))
    pairs = t.sparse_csc_tensor(begins, places, t.arange(4.0).view(2, 2), (2, 2, 2))
    many = t.sparse_compressed_tensor(
        begins.expand(3, 3).contiguous(), places.expand(3, 2).contiguous(), t.arange(6).view(3, 2), layout=t.sparse_csr
    )
    return [(_parts(x), x.to_dense().tolist(), x.dense_dim()) for x in (blocks, pairs, many)]


def entry_by_entry(t):
    found = [*_all(t, False), *_all(t, True)]
    changed = [x.neg().to(t.float64) for x in found]
    empty = [t.zeros_like(x) for x in found]
    masked = [t.arange(16.0).view(4, 4).sparse_mask(x) for x in found[:4]]
    return (
        [_parts(x) for x in changed],
        [(x._nnz(), tuple(x.values().shape)) for x in empty],
        [_parts(x) for x in masked],
    )


def saved_and_loaded(t):
    file = io.BytesIO()
    t.save([*_all(t, False), *_all(t, True)], file)
    file.seek(0)
    return [_parts(x) for x in t.load(file)]


def gradients_of_entries(t):
    values = t.arange(1.0, 9.0).view(2, 2, 2).requires_grad_()
    x = t.sparse_bsr_tensor(t.tensor([0, 1, 2]), t.tensor([1, 0]), values, (4, 4))
    (x.to_dense() * t.arange(16.0).view(4, 4)).sum().backward()
    return values.grad.tolist()


def checked_by_small_steps(t):
    check = t.sparse.as_sparse_gradcheck(t.autograd.gradcheck)
    x = _matrix(t).double()
    given = [x.to_sparse_csr(), x.to_sparse_bsr((2, 2)), x.to_sparse()]
    return [
        check(f, each.requires_grad_(), masked=m) for each in given for m in (0, 1) for f in (t.Tensor.to_dense, t.sum)
    ]


def blocks_of_one_side(t):
    x = _matrix(t)
    made = x.to_sparse_bsr(2), x.to_sparse_bsc(2), x.to_sparse(layout=t.sparse_bsr, blocksize=2)
    return [y.values() for y in made]


def entries_without_history(t):
    x = _matrix(t).to_sparse().detach().requires_grad_()
    y = x * 2
    return x._values().requires_grad, y._values().requires_grad, y.coalesce().values().requires_grad


def switch(t):
    asked = t.sparse.check_sparse_tensor_invariants

    def broken(**options):
        return t.sparse_csr_tensor(t.tensor([0, 0, 1]), t.tensor([3]), t.tensor([1.0]), (2, 2), **options)

    before = asked.is_enabled()
    with asked():
        inside = asked.is_enabled(), refusal(broken), str(broken(check_invariants=False).layout)
    return before, inside, asked.is_enabled(), refusal(lambda: broken(check_invariants=True))


def what_does_not_fit_is_refused(t):
    x = _matrix(t)
    rows, many = x.to_sparse_csr(), x.expand(2, 4, 4).to_sparse_csr()
    uneven = t.stack([x, x * 0])
    return (
        refusal(lambda: x.crow_indices()),
        refusal(lambda: x.to_sparse().col_indices()),
        refusal(lambda: rows.ccol_indices()),
        refusal(lambda: rows.coalesce()),
        refusal(lambda: many.to_sparse_bsr((2, 2))),
        refusal(lambda: x.to_sparse_bsr((2, 2)).to_sparse_csr()),
        refusal(lambda: x.to_sparse(blocksize=(1,))),
        refusal(lambda: uneven.to_sparse_csr()),
        refusal(lambda: x.to_sparse().to_sparse(1)),
        refusal(lambda: many.t()),
        refusal(lambda: many.to_sparse().t()),
        refusal(lambda: x.to_sparse(1).t()),
        [str(each.t().layout) for each in _all(t, False)],
        [each.t().to_dense().tolist() for each in _all(t, False)],
        refusal(
            lambda: t.sparse_csr_tensor(t.tensor([0, 1]), t.tensor([0]), t.tensor([1.0]), (2, 2), check_invariants=True)
        ),
    )


def _entries(x):
    return x._indices().tolist(), x._values().tolist(), tuple(x.shape)


def masked_reductions(t):
    x = _matrix(t)
    mask = (t.arange(16).view(4, 4) % 3 == 0).to_sparse()
    found = [
        getattr(t.masked, name)(x.to_sparse(), dim, mask=each, keepdim=keep)
        for name in ("sum", "prod", "amax", "amin")
        for dim in (0, 1, None)
        for each in ((mask, None) if name == "sum" else (mask,))
        for keep in (False, True)
    ]
    rows = [t.masked.sum(x.to_sparse_csr(), dim, keepdim=True, mask=mask.to_sparse_csr()) for dim in (0, 1)]
    return [_entries(each) for each in found], [_parts(each) for each in rows], t.masked.sum(x, 0, mask=mask).tolist()


def written_and_made_anew(t):
    x = _matrix(t)[:2].to_sparse()
    turned = x.clone().transpose_(0, 1)
    half = t.zeros(2, 4, dtype=t.float16).to_sparse().copy_(x)
    kept = x.clone()
    single = t.sparse_coo_tensor(t.zeros(0, 1, dtype=t.int64), t.tensor([2.0]), ())
    made = [x.new(), x.new(2, 3), x.new(x._indices(), x._values()), x * single, t.zeros(2, 3, out=x.clone())]
    return _entries(turned), str(half.dtype), _entries(t.div(x, 2, out=kept)), [_entries(each) for each in made]


def sides_that_do_not_fit_are_refused(t):
    x = _matrix(t).to_sparse()
    other, hybrid = t.ones(3, 3).to_sparse(), _matrix(t).to_sparse(1)
    lines = t.ones(2, 3)
    return [
        refusal(each)
        for each in (
            lambda: t.cat([x, x.to_dense()]),
            lambda: t.cat([x, other]),
            lambda: t.cat([x, hybrid]),
            lambda: t.cat([x, x], 5),
            lambda: hybrid.transpose(0, 1),
            lambda: hybrid.permute(1, 0),
            lambda: x.narrow_copy(0, 1, 5),
            lambda: x.mv(t.ones(3)),
            lambda: t.sparse.mm(x, x.double()),
            lambda: t.sparse.sum(x, 5),
            lambda: t.sparse.sum(x, [0, 0]),
            lambda: x.norm(keepdim=True),
            lambda: x.norm(dim=0),
            lambda: x.expand(2, 4, 4),
            lambda: t.zeros_like(x, memory_format=t.preserve_format),
            lambda: t.sparse.spdiags(lines, t.tensor([0, 0]), (3, 3)),
            lambda: t.sparse.spdiags(lines, t.tensor([0]), (3, 3)),
            lambda: t.sparse.spdiags(lines, t.tensor([0, 1]), (3,)),
            lambda: x.__setitem__(0, 1),
            lambda: t.masked.prod(x, 0),
            lambda: t.masked.mean(x, 0, mask=x.bool()),
        )
    ]


def slices_keep_their_type(t):
    x = t.tensor([[0, 2, 0, 1], [3, 0, 0, 4]], dtype=t.int32)
    batch = t.stack([x, x * 2]).to_sparse_csr()
    found = [
        x.to_sparse_csr()[0],
        x.to_sparse_csc().select(1, 1),
        t.select_copy(x.to_sparse_csr(), 0, 1),
        x.to_sparse_csr()[1, 3],
        batch[1],
    ]
    return [(str(each.layout), str(each.dtype), each.to_dense().tolist()) for each in found], *(
        refusal(lambda d=d: batch.select(d, 0), "selecting sparse dimensions is not supported") for d in (1, -1)
    )  # fmt: skip


def matrices_times_vectors(t):
    x, v, c = t.tensor([[0.0, 2.0], [1.0, 3.0]]), t.tensor([1.0, -2.0]), t.tensor([5.0, float("nan")])
    found = []
    for s in (x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse_bsr((2, 2))):
        found.append((t.addmv(v, s, v, beta=0.5, alpha=2).tolist(), t.addmv(c, s, v, beta=0).tolist()))
    room = t.empty(2, 2)
    t.addmm(x, x.to_sparse_csr(), x, out=room)
    return found, room.tolist()


def without_entries(t):
    found = []
    for size in ((2, 3), (2, 2, 3), (0, 3)):
        for layout in (t.sparse_csr, t.sparse_csc):
            z = t.zeros(size, layout=layout)
            begins = z.crow_indices() if layout is t.sparse_csr else z.ccol_indices()
            found.append((tuple(z.shape), begins.tolist(), tuple(z.values().shape), str(z.dtype)))
    s = t.eye(2).to_sparse_csr()
    return found, *(
        refusal(run, text)
        for run, text in (
            (lambda: t.empty((5,), layout=t.sparse_csr), "Only batched sparse compressed (non-block) tensors are supported"),
            (lambda: t.empty_like(s, layout=t.sparse_csc), "empty_like with different sparse layout is not supported"),
            (lambda: s.clone().resize_(4), "Only batched sparse CSR matrices are supported"),
            (lambda: s.clone().resize_(2, 1), "Resizing columns of sparse CSR tensors to a smaller value is not supported"),
        )
    ), s.clone().resize_(3, 4).to_dense().tolist()  # fmt: skip


def reduced_to_one(t):
    """Of no entries it is what changes nothing in the reduction."""
    none, shown = t.zeros(3, 4).to_sparse(), t.zeros(3, 4, dtype=t.bool)
    whole = t.tensor([[0.0, 2.0], [1.0, 3.0]]).to_sparse()
    found = [t.masked.prod(none, (), mask=shown), t.masked.amax(none, (), mask=shown), t.masked.sum(none, ()), t.masked.sum(whole, ()),
             t.masked.sum(whole, (0, 1), keepdim=True), t.masked.sum(t.tensor(3.0).to_sparse(), 0)]  # fmt: skip
    return [(tuple(each.shape), each._nnz(), each.to_dense().tolist()) for each in found]


def reordered_by_name(t):
    return t.tensor([[0.0, 2.0, 5.0], [1.0, 0.0, 3.0]]).to_sparse().permute(dims=(1, 0)).to_dense().tolist()


def masked_inside_of_entries(t):
    x = t.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0], [0.0, 0.0, 0.0]]).to_sparse(1)
    shown = t.tensor([[True, False, True], [False, True, False], [False, True, False]])
    found = [t.masked.sum(x, dim, mask=mask) for dim in (0, 1, (0, 1)) for mask in (shown, shown.to_sparse(1))]
    return [each.to_dense().tolist() for each in (*found, t.masked.amax(x, 0, mask=shown))]


def masks_that_broadcast(t):
    x = t.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]]).to_sparse()
    masks = t.tensor(True), t.tensor([[True], [False]]), t.tensor([True, True, False])
    return [t.masked.sum(x, dim, mask=mask).to_dense().tolist() for mask in masks for dim in (0, 1, None)]


def zeros_in_another_layout(t):
    """Rows become columns, blocks stay blocks, and anything is listed place by place."""
    x = t.tensor([[1.0, 0, 2, 0], [0, 0, 0, 3]])
    found = []
    for given, asked in (("csr", "csc"), ("csc", "csr"), ("csr", "coo"), ("bsr", "bsc"), ("bsc", "coo")):
        s = x.to_sparse(layout=getattr(t, f"sparse_{given}"), blocksize=(1, 2) if given[0] == "b" else None)
        z = t.zeros_like(s, layout=getattr(t, f"sparse_{asked}"))
        found.append((str(z.layout), tuple(z.shape), z.to_dense().tolist()))
    s = x.to_sparse_csr()
    texts = (t.strided, "different sparse layout"), (t.sparse_bsr, "blocksize needs to be a tuple of size 2")
    return (
        found,
        [refusal(lambda asked=asked: t.zeros_like(s, layout=asked), text) for asked, text in texts],
        t.empty_like(s)._nnz(),
    )


def brought_to_a_device_without_memory(t):
    s = t.tensor([[1.0, 0, 2, 0], [0, 0, 0, 3]]).to_sparse()
    found = [each.to("meta") for each in (s, s.to_sparse_csr(), s.to_sparse_csc())] + [t.zeros_like(s, device="meta")]
    return [(str(each.device), each.is_meta, str(each.layout), tuple(each.shape), each._nnz()) for each in found]


def sums_of_whole_numbers(t):
    s = t.tensor([[1, 0, 2, 0], [0, 0, 0, 3]], dtype=t.uint8).to_sparse()
    found = [
        s.sum(),
        s.sum(0),
        s.sum(1, keepdim=True),
        s.to_sparse_csr().sum(1, keepdim=True),
        s.sum(0, dtype=t.float64),
    ]
    texts = "keepdim=False is unsupported", "Currently the only compressed sparse format supported"
    runs = [lambda: s.to_sparse_csr().sum(0), lambda: s.to_sparse_csc().sum(1, keepdim=True)]
    shown = [(str(each.dtype), str(each.layout), each.to_dense().tolist()) for each in found]
    return shown, [refusal(run, text) for run, text in zip(runs, texts, strict=True)]


def filled_at_the_same_places(t):
    """Compressed ones keep their places; they have no strides, and an absolute value that is complex cannot be written to them."""
    found = []
    t.manual_seed(0)
    for s in _all(t, False):
        found += [(str(z.layout), z.values().tolist()) for z in (t.ones_like(s), t.full_like(s, 2.5), t.randn_like(s))]
    s = _all(t, False)[0]
    texts = (
        (lambda: s.stride(), "Sparse CSR tensors do not have strides"),
        (lambda: s.is_contiguous(), "Sparse CSR tensors do not have is_contiguous"),
        (lambda: s.to(t.complex64).abs_(), "In-place abs is not supported for complex tensors."),
    )
    return found, [refusal(run, text) for run, text in texts]


def sizes_of_others(t):
    s, larger = t.eye(2).to_sparse_csr(), t.ones(3, 4).to_sparse_csr()
    s.resize_as_sparse_(larger)
    c = t.eye(2).to_sparse()
    c.resize_as_sparse_(t.ones(3, 4).to_sparse())
    return tuple(s.shape), tuple(s.values().shape), tuple(c.shape), c.to_dense().tolist()


def fewer_rows_and_batches(t):
    """Entries stay as long as there is room, and the last row takes what lay below it."""
    x, found = t.tensor([[1.0, 2, 3], [4, 5, 6]]), []
    for start, size in ((x, (4, 5)), (x, (1, 5)), (t.stack([x, x + 10]), (1, 5)), (t.stack([x, x + 10]), (1, 3, 4))):
        s = start.to_sparse_csr().resize_(size)
        found.append((tuple(s.shape), s.crow_indices().tolist(), s.col_indices().tolist(), s.values().tolist()))
    return found


def copied_to_the_same_form(t):
    x = t.tensor([[1.0, 0, 2, 0], [0, 3, 0, 4]])
    forms = {
        "d": x,
        "coo": x.to_sparse(),
        "csr": x.to_sparse_csr(),
        "csc": x.to_sparse_csc(),
        "bsr": x.to_sparse_bsr((1, 2)),
    }
    pairs = (
        ("csr", "d", "layouts"),
        ("csr", "csc", "layouts"),
        ("csr", "coo", "layouts"),
        ("coo", "csr", "expected sparse compressed"),
    )
    refused = [refusal(lambda a=a, b=b: forms[a].clone().copy_(forms[b]), text) for a, b, text in pairs]
    y, less = (x * 2).to_sparse_csr(), t.tensor([[1.0, 0, 0, 0], [0, 3, 0, 4]]).to_sparse_csr()
    refused.append(refusal(lambda: forms["csr"].clone().copy_(less), "the same number of specified elements"))
    c = t.eye(4).to_sparse().copy_(forms["coo"].to_dense().t().mm(x).to_sparse())
    source = t.eye(2).to_sparse()
    t.zeros_like(source).copy_(source)._values().mul_(3)  # of its own
    return refused, _parts(forms["csr"].clone().copy_(y.double())), c.to_dense().tolist(), source.to_dense().tolist()


def sampled_products_of_batches(t):
    c = t.tensor([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0]]).to_sparse_csr()
    a, b = t.arange(16.0).view(2, 2, 4) / 8, t.arange(24.0).view(2, 4, 3) / 8 - 1
    both = t.stack([c.to_dense(), c.to_dense() * 2]).to_sparse_csr()
    f = t.sparse.sampled_addmm
    results = [f(c, a[0], b[0], alpha=0.5, beta=2.0), f(c, a, b), f(both, a, b, beta=0.5)]
    out = results[0].clone()
    same = f(c, a[1], b[1], out=out) is out
    wrong = [
        (c, b[0], a[0]),
        (c, a[0, 0], b[0]),
        (c, a[0], b[0].double()),
        (both, a[0], b[0]),
        (c, a, b[0]),
        (c, a[0].mT, b[0, :2]),
    ]
    phrases = [
        "cannot be multiplied",
        "to be a matrix",
        "same dtype",
        "same batch size",
        "same batch size",
        "must match mat1",
    ]
    said = [refusal(lambda: f(*args), phrase) for args, phrase in zip(wrong, phrases, strict=True)]
    return (
        [(r.to_dense().tolist(), r.crow_indices().tolist(), str(r.layout)) for r in results],
        out.to_dense().tolist(),
        same,
        said,
    )


def compressed_beside_dense(t):
    """Added in either order; shapes, batches of none and parts that do not fit are refused."""
    eye, found = t.eye(2), []
    for layout in (t.sparse_csr, t.sparse_csc):
        x = eye.to_sparse(layout=layout)
        both = (x + t.ones(2, 2), t.ones(2, 2) + x)
        found.append([(str(z.layout), z.tolist()) for z in both])
        found.append(
            refusal(
                lambda x=x, layout=layout: x + t.ones(2, 1).to_sparse(layout=layout),
                "have the same shape, but got tensor `self`",
            )
        )
    x = eye.to_sparse_csr().requires_grad_()
    y = t.ones(2, 2, requires_grad=True)
    (y + x).sum().backward()
    for layout in (t.sparse_csr, t.sparse_csc, t.sparse_bsr, t.sparse_bsc):
        block = (1, 1) if layout in (t.sparse_bsr, t.sparse_bsc) else None
        found.append(
            refusal(lambda layout=layout, block=block: t.zeros(0, 2, 2).to_sparse(layout=layout, blocksize=block), 80)
        )
        held = t.tensor([1, 2, 3, 4]) if block is None else t.tensor([1, 2, 3, 4]).view(4, 1, 1)
        for begins, places in ((0, [0, 1, 0, 2]), ([[0, 2, 4]], [0, 1, 0, 2]), ([[0, 2, 4]], [[0, 1, 0, 2]])):
            parts = t.tensor(begins), t.tensor(places), held
            found.append(
                refusal(lambda parts=parts, layout=layout: t.sparse_compressed_tensor(*parts, layout=layout), 90)
            )
    return found, y.grad.tolist()


def triangular_systems(t):
    """A dense right side and a matrix of compressed rows."""
    a, b, found = t.tensor([[2.0, 3.0], [1.0, 4.0]]), t.ones(2, 3), []
    for x in (a.to_sparse_csr(), a.to_sparse_bsr((1, 1))):
        for options in ({}, {"upper": False}, {"upper": False, "transpose": True}):
            y, none = t.triangular_solve(b, x, **options)
            found.append((y.tolist(), str(y.layout), tuple(none.shape)))
    y = t.triangular_solve(b, a.to_sparse_csr(), unitriangular=True, out=(t.empty(2, 3), t.empty(0)))
    found.append(y[0].tolist())
    found.append(str(t.triangular_solve(b, t.zeros(2, 2).to_sparse_csr())[0].tolist()))
    found.append(refusal(lambda: t.triangular_solve(b, a.to_sparse_csc()), "unsupported sparse layout"))
    return found, refusal(lambda: t.triangular_solve(b, a.to_sparse()), "Could not run 'aten::triangular_solve'")


def sums_into_others(t):
    found = []
    for layout in (t.sparse_coo, t.sparse_csr):
        x, y = (each.to_sparse(layout=layout) for each in (t.eye(2), t.ones(2, 2)))
        out = x.clone()
        found.append(
            (t.add(x, y, alpha=2, out=out) is out, str(out.layout), out.to_dense().tolist(), x.to_dense().tolist())
        )
    return found


def orders_and_whether_they_are_coalesced(t):
    s = t.eye(3).reshape(3, 3, 1).expand(3, 3, 2).to_sparse().coalesce()
    orders = ((0, 1, 2), (1, 0, 2), (-3, -2, -1), (-3, -1, -2), (2, 0, 1), [0, 1, 2])
    like = t.empty_like(s, layout=t.strided, memory_format=t.contiguous_format)
    return [s.permute(order).is_coalesced() for order in orders], str(like.layout), tuple(like.shape)


def sums_keep_the_type_of_their_indices(t):
    places = t.tensor([0, 1, 2, 3], dtype=t.int32), t.tensor([0, 1, 2], dtype=t.int32)
    x = t.sparse_csr_tensor(*places, t.ones(3), (3, 3))
    parts = t.tensor([0, 2, 3, 4]), t.tensor([0, 1, 0, 1]), t.ones(4, 1, 1)
    told = refusal(lambda: t.sparse_compressed_tensor(*parts, (2, 2), layout=t.sparse_bsr, check_invariants=True), 80)
    return str((x + x).crow_indices().dtype), str((x + x).col_indices().dtype), told


def sums_with_sparse_zeros(t):
    """Which dimensions are sparse is what those of the one with entries are."""
    zeros, hybrid, full = t.sparse_coo_tensor((2, 3)), t.eye(2, 3).to_sparse(1), t.eye(2, 3).to_sparse()
    whole = t.sparse_coo_tensor((2, 3), dtype=t.int64)
    none = t.zeros(2, 3).to_sparse(1)
    written = zeros.clone()
    written.add_(hybrid)
    sums = (
        zeros + hybrid, hybrid + zeros, t.add(zeros, hybrid, alpha=2), zeros - hybrid, whole + hybrid, hybrid + whole, none + full,
        zeros + none, none + zeros, written,
    )  # fmt: skip
    found = [
        (z.sparse_dim(), z.dense_dim(), z._nnz(), z.is_coalesced(), str(z.dtype), z.to_dense().tolist()) for z in sums
    ]
    return found, refusal(lambda: hybrid + full, 110), refusal(lambda: full + hybrid, 110)


def parts_of_unlike_sizes(t):
    """A dense and a sparse tensor are not stretched to be added, a compressed one not to be multiplied, either."""
    found = []
    for dense, sparse in (
        ((3, 4), (3, 4, 4)),
        ((3, 4), (1, 4)),
        ((1, 4), (3, 4)),
        ((2, 3, 4), (3, 4)),
        ((3, 4), (3, 5)),
    ):
        x, y, rows = t.ones(dense), t.ones(sparse).to_sparse(), t.ones(sparse).to_sparse_csr()
        found.append(refusal(lambda x=x, y=y: x + y, 200))
        found.append(refusal(lambda x=x, y=y: x.sub_(y), 200))
        found.append(refusal(lambda x=x, rows=rows: x + rows, 200))
        if len(sparse) == 2:
            found.append(refusal(lambda x=x, rows=rows: x * rows, 120))
    return found, refusal(lambda: t.ones(3, 4) * t.ones(3, 5).to_sparse(), 80)
