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


def test_unique_under_its_private_names() -> None:
    x = torch.tensor([3.0, 1.0, 1.0, 2.0])
    values, places, times = torch._unique2(x, return_counts=True)
    assert (values.tolist(), places.numel(), times.tolist()) == ([1, 2, 3], 0, [2, 1, 1])
    assert [each.tolist() for each in torch._unique(x, return_inverse=True)] == [[1, 2, 3], [2, 0, 0, 1]]
    assert [each.tolist() for each in torch._VF.unique_dim(x, 0)] == [[1, 2, 3], [2, 0, 0, 1], [2, 1, 1]]
    assert not hasattr(torch, "unique_dim")
    assert torch._VF.lstm is torch.lstm


def test_a_function_asks_whether_the_pass_keeps_the_graph() -> None:
    from clarion._C._autograd import _get_current_graph_task_keep_graph as keeps

    heard = []

    class Listening(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: object, g: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            heard.append(keeps())
            return g

    out = Listening.apply(torch.ones(2, requires_grad=True)).sum()
    out.backward(retain_graph=True)
    out.backward()
    assert heard == [True, False]
    assert keeps()


def test_vmap_and_resize_under_their_oldest_names() -> None:
    from clarion._vmap_internals import _vmap, vmap
    from clarion.autograd._functions import Resize

    x = torch.arange(6.0).view(2, 3).requires_grad_()
    assert torch.equal(_vmap(lambda row: row.sum())(x), x.sum(1))
    with pytest.warns(FutureWarning, match=r"torch\.vmap"):
        assert torch.equal(vmap(lambda row: row * 2)(x), x * 2)
    (Resize.apply(x, (3, 2)) * torch.arange(6.0).view(3, 2)).sum().backward()
    assert torch.equal(x.grad, torch.arange(6.0).view(2, 3))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="requested resize to 4"):
        Resize.apply(x, (4,))


def test_rows_of_an_identity_for_several_tensors() -> None:
    from clarion.autograd.functional import _construct_standard_basis_for

    parts = _construct_standard_basis_for((torch.ones(2), torch.ones(())), (2, 1))
    assert torch.equal(torch.cat(parts, 1), torch.eye(3))


def test_modes_that_take_calls_over_are_counted() -> None:
    from clarion.overrides import TorchFunctionMode

    before = torch._C._len_torch_function_stack()
    with TorchFunctionMode() as mode:
        assert torch._C._len_torch_function_stack() == before + 1
    assert mode is not None
    assert torch._C._len_torch_function_stack() == before
    state = torch._C._TorchFunctionState
    with torch._C.DisableTorchFunctionSubclass():
        assert torch._C._get_torch_function_state() == state.SUBCLASSES_DISABLED
    assert torch._C._get_torch_function_state() == state.ENABLED
