"""Views share memory, and writes through them reach every other view: values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clarion as torch

from .view_programs import run_in_place, run_out_of_place

PROGRAMS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 7), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12
)
ORDERS = st.permutations([0, 1, 2]).map(tuple)
SHAPE = (3, 2, 4)


def leaf(*shape: int) -> torch.Tensor:
    return torch.arange(float(np.prod(shape))).reshape(*shape).clone().requires_grad_()


@settings(max_examples=300, deadline=None)
@given(PROGRAMS, ORDERS)
def test_random_programs(program, order):
    live, loss, a, c = run_in_place(torch, program, SHAPE, order)
    live2, loss2, a2, c2 = run_out_of_place(torch, program, SHAPE, order)
    for x, y in zip(live, live2, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-12, atol=1e-12)
    got = torch.autograd.grad(loss, (a, c), allow_unused=True)
    want = torch.autograd.grad(loss2, (a2, c2), allow_unused=True)
    for g, h in zip(got, want, strict=True):
        h = 0.0 if h is None else h.numpy()
        np.testing.assert_allclose(0.0 if g is None else g.numpy(), h, rtol=1e-9, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, ORDERS)
def test_random_programs_second_derivatives(program, order):
    results = []
    for run in (run_in_place, run_out_of_place):
        _, loss, a, c = run(torch, program, SHAPE, order)
        first = torch.autograd.grad((loss * loss) * 0.5, (a,), create_graph=True)[0]
        weights = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(SHAPE)
        second = torch.autograd.grad((first * weights).sum(), (a, c), allow_unused=True)
        results.append([0.0 if g is None else g.detach().numpy() for g in (first, *second)])
    for g, h in zip(*results, strict=True):
        np.testing.assert_allclose(g, h, rtol=1e-8, atol=1e-8)


# Single programs, by hand -------------------------------------------------------------------------------


def test_write_through_a_row():
    a = leaf(2, 3)
    x = a.clone()
    x[0].mul_(2)
    assert x.tolist() == [[0, 2, 4], [3, 4, 5]]
    assert type(x.grad_fn).__name__ == "CopySlices"
    x.sum().backward()
    assert a.grad.tolist() == [[2, 2, 2], [1, 1, 1]]


def test_view_of_a_view():
    a = leaf(2, 3)
    x = a.clone()
    row = x[1]
    row[1:].mul_(3)
    assert row.tolist() == [3, 12, 15]
    assert type(row.grad_fn).__name__ == "AsStridedBackward0"
    (row * row).sum().backward()
    assert a.grad.tolist() == [[0, 0, 0], [6, 72, 90]]


def test_transposed_view():
    a = leaf(2, 3)
    x = a.clone()
    x.t()[1].mul_(10)
    assert x.tolist() == [[0, 10, 2], [3, 40, 5]]
    (x * torch.arange(6.0).view(2, 3)).sum().backward()
    assert a.grad.tolist() == [[0, 10, 2], [3, 40, 5]]


def test_views_follow_a_write_to_the_base():
    a = leaf(2, 3)
    x = a.clone()
    v, w = x[0], x.t()
    x.mul_(2)
    assert v.tolist() == [0, 2, 4]
    assert w.tolist() == [[0, 6], [2, 8], [4, 10]]
    (v.sum() + w.sum()).backward()
    assert a.grad.tolist() == [[4, 4, 4], [2, 2, 2]]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_view_of_a_base_that_lies_otherwise_in_memory(order):
    """A base in column order can be viewed flat through its transpose; gradients must go back the same way."""
    a = leaf(2, 3)
    x = a.permute(order).contiguous().permute(order).clone()
    flat = (x.t() if order == (1, 0) else x).view(-1)
    x.mul_(2)
    weights = torch.arange(6.0)
    (flat * weights).sum().backward()
    want = np.arange(6.0).reshape(3, 2).T if order == (1, 0) else np.arange(6.0).reshape(2, 3)
    assert a.grad.tolist() == (2 * want).tolist()


def test_expanded_view_of_a_written_base_sums_its_gradient():
    a = leaf(3)
    x = a.clone()
    wide = x.expand(2, 3)
    x.mul_(2)
    (wide * torch.arange(6.0).view(2, 3)).sum().backward()
    assert a.grad.tolist() == [6, 10, 14]


def test_overlapping_windows_of_a_written_base_sum_their_gradient():
    a = leaf(4)
    x = a.clone()
    windows = x.unfold(0, 2, 1)
    x.mul_(3)
    windows.sum().backward()
    assert a.grad.tolist() == [3, 6, 6, 3]


def test_writing_to_an_expanded_tensor_is_refused():
    x = torch.ones(3).expand(2, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.mul_(2)


def test_multiple_views_refuse_writes():
    x = leaf(4).clone()
    for part in (x.split(2)[0], x.chunk(2)[0], x.unbind()[0], x.split([1, 3])[1]):
        with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
            part.mul_(2)
    x.tensor_split(2)[0].mul_(2)
    assert x.tolist() == [0, 2, 2, 3]


def test_view_of_a_leaf_refuses_writes():
    a = leaf(2, 3)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        a.t().mul_(2)
    base = torch.ones(3)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        base.view(3).requires_grad_().mul_(2)


def test_shape_change_in_place():
    a = leaf(2, 3)
    x = a.clone()
    row = x[1]
    x.t_()
    assert x.shape == (3, 2)
    assert row.tolist() == [3, 4, 5]
    x.mul_(2)
    assert row.tolist() == [6, 8, 10]
    row.mul_(5)
    assert x.tolist() == [[0, 30], [2, 40], [4, 50]]
    (x * torch.arange(6.0).view(3, 2)).sum().backward()
    assert a.grad.tolist() == [[0, 4, 8], [10, 30, 50]]


def test_shape_change_in_place_of_a_view_leaves_the_base():
    a = leaf(2, 3)
    x = a.clone()
    part = x[:, 1:]
    part.t_()
    assert part.shape == (2, 2)
    assert x.shape == (2, 3)
    assert type(part.grad_fn).__name__ == "TBackward1"
    part.mul_(2)
    x.sum().backward()
    assert a.grad.tolist() == [[1, 2, 2], [1, 2, 2]]


def test_a_failed_shape_change_leaves_the_tensor():
    a = leaf(2, 3)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        a.t_()
    assert a.shape == (2, 3)
    with torch.no_grad():
        a.t_()
    assert a.shape == (3, 2)
    assert a.is_leaf


def test_memory_is_shared():
    x = torch.zeros(2, 3)
    views = [
        x.view(6), x.t(), x.T, x.mT, x[0], x.select(1, 2), x.narrow(1, 1, 2), x.unsqueeze(0), x.squeeze(), x.flatten(),
        x.reshape(3, 2), x.permute(1, 0), x.diagonal(), x.unfold(1, 2, 1), x.expand(4, 2, 3), x.split(1)[0],
        x.unbind(1)[0], x.chunk(3, 1)[0], x.as_strided((2,), (3,)), x.swapaxes(0, 1), x.movedim(0, 1), x.detach(),
        x.view(torch.int32), x.ravel(), x.unflatten(1, (3, 1)), x.tensor_split(3, 1)[1], x.view_as(x),
    ]  # fmt: skip
    pointer = x.untyped_storage().data_ptr()
    assert all(v.untyped_storage().data_ptr() == pointer for v in views)
    assert x.clone().untyped_storage().data_ptr() != pointer
    assert x.contiguous() is x
    x.fill_(1)
    assert all((v != 0).all() for v in views)


def test_every_view_can_be_written():
    for take in (
        lambda x: x.t(), lambda x: x.diagonal(), lambda x: x.view(6), lambda x: x.unsqueeze(1), lambda x: x[0],
        lambda x: x.as_strided((2,), (3,)), lambda x: x.permute(1, 0), lambda x: x.expand(2, 3), lambda x: x.squeeze(),
    ):  # fmt: skip
        x = torch.zeros(2, 3)
        v = take(x)
        v.add_(1)
        assert x.sum().item() == v.numel()


def test_resize_and_set():
    x = torch.arange(6.0)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    y = torch.ones(1).set_(x)
    assert y.is_set_to(x)
    assert not y.is_set_to(x.t())
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(2).resize_(3)


def test_version_counters_are_shared():
    x = torch.zeros(2, 3)
    v = x.t()
    v.add_(1)
    assert x._version == v._version == 1
    x.unsqueeze_(0)
    assert v._version == 2
