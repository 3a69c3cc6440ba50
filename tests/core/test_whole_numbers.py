"""Whole numbers and masks take the written-out calls, and say what they say on the general way."""

from __future__ import annotations

import numpy
import pytest

import clarion as torch
from clarion.core.general_call import general_call
from clarion.core.namespace import OPS

TYPES = (torch.int64, torch.int32, torch.uint8, torch.bool)
TWO = "add sub mul floor_divide remainder eq lt bitwise_and bitwise_xor bitwise_left_shift maximum logical_and pow".split()
ONE = "neg abs bitwise_not square relu sign logical_not".split()


def _said(run):
    try:
        out = run()
    except Exception as error:
        return type(error), str(error)
    return out.dtype, out.stride(), out.tolist()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_quick_way_gives_what_the_general_way_gives(dtype):
    x, y = torch.tensor([[1, 2, 3], [4, 5, 6]]).to(dtype), torch.tensor([[3, 1, 2], [1, 2, 1]]).to(dtype)
    for name in TWO:
        op = OPS[name]
        for a, b in ((x, y), (x, y[0]), (x, 2), (x, 2.5), (x, True), (x.t(), y.t()), (x, y.long()), (x, y.float())):
            assert _said(lambda: op.call(a, b)) == _said(lambda: general_call(op, (a, b))), (name, b)
    for name in ONE:
        op = OPS[name]
        assert _said(lambda: op.call(x)) == _said(lambda: general_call(op, (x,))), name


def test_numbers_at_the_edge_of_int64():
    x = torch.tensor([1, -2])
    top = 2**63 - 1
    assert (x + (2**62)).tolist() == [2**62 + 1, 2**62 - 2]
    assert (x == top).tolist() == [False, False]
    assert (torch.tensor([top]) == top).item()
    assert (x * 0).tolist() == [0, 0]
    assert (x + 0).dtype == torch.int64
    with pytest.raises((RuntimeError, OverflowError)):
        x + 2**70


def test_a_number_is_not_taken_for_one_of_another_type():
    """1, 1.0 and True are one key of a dictionary."""
    k, x = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    for number in (1, 1.0, True, 0, 0.0, -0.0):
        assert (k + number).dtype == (torch.float32 if type(number) is float else torch.int64)
        assert (x + number).dtype == torch.float32
    assert numpy.signbit((torch.zeros(2) * -0.0).numpy()).all()


def test_several_inputs_of_whole_numbers():
    k, mask = torch.tensor([[5, 1], [-7, 3]]), torch.tensor([[True, False], [False, True]])
    assert k.clamp(0, 4).tolist() == [[4, 1], [0, 3]]
    assert k.clamp(0.5, 4).dtype == torch.float32
    assert torch.where(mask, k, k * 2).tolist() == [[5, 2], [-14, 3]]
    assert torch.where(mask, k, 0).dtype == torch.int64
    assert torch.where(mask, k, 0.5).dtype == torch.float32
    assert k.gather(1, torch.tensor([[1], [0]])).tolist() == [[1], [-7]]
    assert torch.cat([k, k]).dtype == torch.int64
    assert torch.cat([k, k.float()]).dtype == torch.float32
    with pytest.raises(NotImplementedError):
        torch.lerp(k, k, k)


@pytest.mark.parametrize("other", ["a mask", "whole numbers", "bytes", "a column", "one number"])
@pytest.mark.parametrize("name", ["add", "mul", "div", "sub", "gt", "maximum"])
@pytest.mark.parametrize("turned", [False, True])
def test_floats_beside_masks_and_whole_numbers(name, other, turned):
    torch.manual_seed(0)
    x = (torch.rand(3, 4) + 0.5).requires_grad_()
    y = {
        "a mask": torch.rand(3, 4) > 0.5,
        "whole numbers": torch.randint(1, 9, (3, 4)),
        "bytes": torch.randint(1, 9, (4,), dtype=torch.uint8),
        "a column": torch.randint(1, 9, (3, 1)),
        "one number": torch.tensor(3),
    }[other]
    f = getattr(torch, name)
    if name == "sub" and other == "a mask":
        with pytest.raises(RuntimeError, match="bool tensor is not supported"):
            f(x, y)
        return
    found, expected = (f(b, x) if turned else f(x, b) for b in (y, y.float()))
    assert found.dtype == expected.dtype
    assert torch.equal(found, expected)
    if found.requires_grad:
        one, two = (torch.autograd.grad(each.sum(), x, create_graph=True)[0] for each in (found, expected))
        assert one.dtype == torch.float32
        assert torch.allclose(one, two, rtol=1e-6)


def test_a_float_without_dimensions_decides_the_type():
    whole, number = torch.arange(3), torch.tensor(1.5, dtype=torch.float64)
    assert (whole * number).dtype == (number * whole).dtype == torch.float64
    assert (torch.tensor(1.5) * whole).dtype == (torch.ones(3) * whole).dtype == torch.float32
