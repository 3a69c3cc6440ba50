"""Tensors that carry a mask: functions of them, reductions, layouts, gradients, refusals."""

from __future__ import annotations

from .programs import refusal


def _made(t, **options):
    data = t.tensor([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]])
    mask = t.tensor([[True, False, False], [False, True, True]])
    return t.masked.masked_tensor(data, mask, **options)


def _seen(x):
    """What is there, and where."""
    data, mask = x.get_data().detach(), x.get_mask()
    if str(mask.layout) != "torch.strided":
        data, mask = data.to_dense(), mask.to_dense()
    return data.masked_fill(~mask, 0).tolist(), mask.tolist(), str(x.dtype), str(x.layout)


def printed(t):
    whole = t.masked.masked_tensor(t.tensor([1, 2]), t.tensor([True, False]))
    return (
        repr(_made(t)),
        repr(whole),
        repr(_made(t).sum()),
        repr(t.masked.masked_tensor(t.tensor(1.0), t.tensor(False))),
    )


def facts(t):
    x = _made(t, requires_grad=True)
    return (
        t.masked.is_masked_tensor(x), t.masked.is_masked_tensor(t.ones(2)), isinstance(x, t.Tensor), tuple(x.shape), x.dim(),
        x.requires_grad, x.is_leaf, x.is_contiguous(), x.to_tensor(9.0).tolist(), x.detach().requires_grad,
    )  # fmt: skip


def element_by_element(t):
    x = _made(t)
    return [
        _seen(each)
        for each in (
            t.sqrt(x), x.abs(), x * 2, x + x, x - t.ones(2, 3), x < 3, t.sigmoid(x), t.lgamma(x), x.clamp(1.0, 3.0),
            t.maximum(x, x * 0.5), t.softmax(x, 1), t.where(x.get_mask(), x, t.masked.masked_tensor(t.ones(2, 3), ~x.get_mask())),
        )
    ]  # fmt: skip


def in_place(t):
    x = _made(t)
    same = x.mul_(3)
    x.neg_()
    return same is x, _seen(x)


def reductions(t):
    x = _made(t)
    found = [
        x.sum(),
        x.sum(0),
        x.sum(1, keepdim=True),
        x.mean(1),
        x.amax(0),
        x.amin(),
        x.prod(1),
        x.argmax(),
        x.var(),
        x.std(1),
    ]
    return [_seen(each) for each in found]


def moved(t):
    x = _made(t)
    found = [
        x.t(),
        x[0],
        x[:, 1:],
        x.view(3, 2),
        x.transpose(0, 1),
        x.unsqueeze(0),
        t.cat([x, x]),
        t.stack([x, x], 1),
        *x.split(1),
    ]
    return [_seen(each) for each in found]


def layouts(t):
    x = _made(t)
    coo, csr = x.to_sparse(), x.to_sparse_csr()
    return [
        _seen(each)
        for each in (coo, csr, coo.to_dense(), csr.to_dense(), t.sin(coo), coo + coo, csr * csr, coo.sum(), csr.amax())
    ]


def gradients(t):
    found = []
    for loss in (
        lambda x: x.sum(), lambda x: x.mean(1).sum(), lambda x: x.prod(), lambda x: x.amax(), lambda x: (x * x).sum(),
        lambda x: t.softmax(x, 1).sum(0).amax(), lambda x: x.to_sparse().to_dense().sum(),
    ):  # fmt: skip
        x = _made(t, requires_grad=True)
        loss(x).backward()
        found.append(_seen(x.grad))
    return found


def refusals(t):
    data, mask = t.ones(2, 3), t.tensor([[True, False, False], [False, True, True]])
    make, x = t.masked.masked_tensor, _made(t)
    return (
        refusal(lambda: make(3, mask), "data must be a Tensor"),
        refusal(lambda: make(data, x), "mask must be a Tensor"),
        refusal(lambda: make(data, mask.to_sparse()), "must have the same layout"),
        refusal(lambda: make(data[0], mask), "data.dim() must equal mask.dim()"),
        refusal(lambda: make(data[:, :2], mask), "data.size() must equal mask.size()"),
        refusal(lambda: make(data, data), "mask must have dtype bool"),
        refusal(lambda: make(data.bfloat16(), mask), "is not supported in MaskedTensor"),
        refusal(lambda: x + make(data, ~mask), "Input masks must match"),
        refusal(lambda: x.max(), "aten.max.default"),
        refusal(lambda: x.to_sparse().contiguous(), "do not have is_contiguous"),
        refusal(lambda: make(data[0], mask[0]).to_sparse_csr(), "Only 2D tensors"),
    )
