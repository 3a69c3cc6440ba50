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
