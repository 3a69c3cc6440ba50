"""Private names of PyTorch that libraries stand on do what PyTorch's do."""

from __future__ import annotations

import pytest

import clarion as torch


def test_there_is_one_error_for_memory_that_ran_out() -> None:
    from clarion.errors import OutOfMemoryError

    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError is OutOfMemoryError
    assert issubclass(OutOfMemoryError, RuntimeError)


def test_larger_and_smaller_in_place() -> None:
    x = [torch.tensor([1.0, 5.0]), torch.tensor([3.0])]
    kept = x[0]
    torch._foreach_maximum_(x, [torch.tensor([2.0, 2.0]), torch.tensor([9.0])])
    assert [each.tolist() for each in x] == [[2, 5], [9]]
    torch._foreach_minimum_(x, 4)
    assert [each.tolist() for each in x] == [[2, 4], [4]]
    assert x[0] is kept


def test_tensors_are_grouped_by_type() -> None:
    from clarion.utils._foreach_utils import _group_tensors_by_device_and_dtype

    a, b, c = torch.ones(1), torch.ones(2).double(), torch.ones(3)
    groups = _group_tensors_by_device_and_dtype([[a, b, c], [None, None, a], []], with_indices=True)
    device = torch.device("cpu")
    assert groups[device, torch.float32] == ([[a, c], [None, a], []], [0, 2])
    assert groups[device, torch.float64] == ([[b], [None], []], [1])
    plain = torch.optim.Optimizer._group_tensors_by_device_and_dtype([[a, b]])
    assert [places for _, places in plain.values()] == [[], []]


def test_options_of_printing_hold_for_a_block() -> None:
    from clarion._tensor_str import printoptions

    x = torch.tensor([1.23456])
    before = repr(x)
    with printoptions(precision=2):
        assert repr(x) == "tensor([1.23])"
    assert repr(x) == before


def test_ranges_of_the_profiler_need_a_gpu() -> None:
    @torch.cuda.nvtx.range("work")
    def work() -> int:
        return 3

    if torch.cuda.is_available():
        assert work() == 3
    else:
        with pytest.raises(RuntimeError, match="NVTX functions not installed"):
            work()


def test_steps_of_foreign_optimizers_record_where_they_are_differentiable() -> None:
    from clarion.optim.optimizer import _use_grad_for_differentiable

    class Descent(torch.optim.Optimizer):
        def __init__(self, params: object, differentiable: bool) -> None:
            super().__init__(params, {"differentiable": differentiable})

        @_use_grad_for_differentiable
        def step(self, closure: object = None) -> bool:  # type: ignore[override]
            return torch.is_grad_enabled()

    w = torch.ones(1, requires_grad=True)
    assert Descent([w], True).step() is True
    assert Descent([w], False).step() is False
