"""A recorded write in place that is written out for its operation does what the general way does."""

from __future__ import annotations

from typing import Any

import pytest

import clarion as torch
from clarion.core import write_texts
from clarion.core.namespace import OPS

WHOLE = {
    "itself": lambda y: y,
    "row": lambda y: y[1],
    "column": lambda y: y[:, 2],
    "rows": lambda y: y[1:3],
    "every other": lambda y: y[::2, 1::2],
    "turned": lambda y: y.t()[1:],
    "view of a view": lambda y: y[1:][1],
    "element": lambda y: y[1, 2],
}
WRITES = {
    "mul_ number": lambda v, w: v.mul_(0.5),
    "mul_": lambda v, w: v.mul_(w),
    "add_": lambda v, w: v.add_(w),
    "sub_": lambda v, w: v.sub_(w),
    "div_": lambda v, w: v.div_(w),
    "copy_": lambda v, w: v.copy_(w),
    "fill_": lambda v, w: v.fill_(2.0),
    "fill_ a tensor": lambda v, w: v.fill_(w.sum()),
    "zero_": lambda v, w: v.zero_(),
    "exp_": lambda v, w: v.exp_(),
    "relu_": lambda v, w: v.relu_(),
    "sigmoid_": lambda v, w: v.sigmoid_(),
    "square_": lambda v, w: v.square_(),
    "neg_": lambda v, w: v.neg_(),
    "pow_": lambda v, w: v.pow_(3),
    "clamp_": lambda v, w: v.clamp_(0.2, 0.8),
    "masked_fill_": lambda v, w: v.masked_fill_(w > 0.5, 0.0),
    "masked_fill_ a tensor": lambda v, w: v.masked_fill_(w > 0.5, w.sum()),
    "addcmul_": lambda v, w: v.addcmul_(w, w.detach() + 1, value=2),
    "addcdiv_": lambda v, w: v.addcdiv_(w.detach(), w + 1),
    "lerp_": lambda v, w: v.lerp_(w, 0.25),
    "lerp_ by a tensor": lambda v, w: v.lerp_(w.detach(), w),
    "a mask": lambda v, w: v.__setitem__(w > 0.5, 0.5),
    "a mask, a tensor": lambda v, w: v.__setitem__(w > 0.5, w[w > 0.5]),
    "an index": lambda v, w: v.__setitem__(torch.tensor([1, 0, 1]), w[:1]) if v.ndim else None,
    "added by index": lambda v, w: (
        v.index_put_((torch.tensor([1, 0, 1]),), w[[0, 1, 1]], accumulate=True) if v.ndim else None
    ),
    "index_fill_": lambda v, w: v.index_fill_(0, torch.tensor([0]), 1.5) if v.ndim else None,
    "index_add_": lambda v, w: v.index_add_(0, torch.tensor([1, 0]), w[:2], alpha=2) if v.ndim else None,
    "index_copy_": lambda v, w: v.index_copy_(0, torch.tensor([1, 0]), w[:2]) if v.ndim else None,
    "scatter_": lambda v, w: v.scatter_(0, torch.zeros(w.shape, dtype=torch.long), w) if v.ndim else None,
    "addmm_": lambda v, w: v.addmm_(w, torch.rand(w.shape[-1], w.shape[-1])) if v.ndim == 2 else None,
    "broadcast": lambda v, w: v.add_(w.sum()),
    "another type": lambda v, w: v.copy_(w.double()),
    "twice": lambda v, w: v.mul_(w).add_(w),
    "of its own": lambda v, w: v.add_(v.clone() * w),
}


def _graph(node: Any, seen: dict[Any, int]) -> Any:
    if node is None:
        return None
    if node in seen:
        return seen[node]
    seen[node] = len(seen)
    return (node.name(), tuple((_graph(each, seen), nr) for each, nr in node.next_functions))


def _story(write: Any, place: Any, base: bool, operand: bool) -> Any:
    torch.manual_seed(0)
    x = torch.rand(4, 5, requires_grad=base)
    y = x * 1.0
    view = place(y)
    w = torch.rand(view.shape, requires_grad=operand)
    beside = y[0]
    write(view, w)
    found: list[Any] = [
        y.tolist(),
        y._version,
        view._version,
        y.requires_grad,
        view.requires_grad,
        beside.requires_grad,
    ]
    found += [None if t.grad_fn is None else _graph(t.grad_fn, {}) for t in (y, view, beside)]
    if not y.requires_grad:
        return found
    given = [t for t in (x, w) if t.requires_grad]
    loss = (y * y).sum() + (view * 3).sum() + beside.sum()
    first = torch.autograd.grad(loss, given, create_graph=True, allow_unused=True)
    found += [None if g is None else g.tolist() for g in first]
    total = sum((g * g).sum() for g in first if g is not None)
    if torch.is_tensor(total) and total.requires_grad:
        total.backward()
        found += [None if t.grad is None else t.grad.tolist() for t in given]
    return found


@pytest.mark.parametrize("place", WHOLE)
@pytest.mark.parametrize("write", WRITES)
def test_a_written_write_does_what_the_general_way_does(write, place, monkeypatch):
    ways = []
    for general in (False, True):
        for op in OPS.values():
            monkeypatch.setattr(op, "write", write_texts._never if general else None)
        for base, operand in ((True, False), (False, True), (True, True), (False, False)):
            ways.append((general, _story(WRITES[write], WHOLE[place], base, operand)))
    for number in range(4):
        assert ways[number][1] == ways[number + 4][1]


ITEMS = [
    0,
    -1,
    slice(1, 3),
    slice(None),
    ...,
    (0, 1),
    (slice(None), 2),
    (..., 1),
    (slice(1, None, 2), slice(0, 2)),
    (1, ...),
    (),
]


@pytest.mark.parametrize("item", ITEMS, ids=str)
@pytest.mark.parametrize("value", ["a number", "a tensor", "one element", "a leaf"])
@pytest.mark.parametrize("viewed", [False, True])
def test_an_assigned_part_gets_its_gradient(item, value, viewed):
    torch.manual_seed(0)
    x = torch.rand(5, 5, requires_grad=True)
    y = x * 2.0
    target = y[1:] if viewed else y
    shape = target.detach()[item].shape
    given: Any = {
        "a number": 0.5,
        "a tensor": torch.rand(shape),
        "one element": torch.rand(1)[0],
        "a leaf": torch.rand(shape, requires_grad=True),
    }[value]
    target[item] = given
    weights = torch.rand(5, 5)
    (y * weights).sum().backward()
    left = torch.ones(5, 5)
    (left[1:] if viewed else left)[item] = 0.0
    assert torch.equal(x.grad, 2.0 * left * weights)
    if value == "a leaf":
        assert torch.equal(given.grad, (weights[1:] if viewed else weights)[item])
    assert y._version == 1


def test_what_a_write_saves_is_guarded():
    x = torch.rand(3, requires_grad=True)
    y = x * 1.0
    y[:2].sigmoid_()
    y[:1].mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_write_of_what_lies_in_the_same_memory():
    x = torch.rand(4, 4, requires_grad=True)
    y = x * 1.0
    y[:, 0] += y[:, 1]
    y[0] = y[1]
    y.sum().backward()
    expected = torch.ones(4, 4)
    expected[:, 1] += 1
    expected[1] *= 2
    expected[0] = 0
    assert torch.equal(x.grad, expected)
