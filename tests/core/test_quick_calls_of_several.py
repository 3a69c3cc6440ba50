"""Calls of several tensors, with several results, whose kernel is a builtin function: they give what the long way gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import clarion as torch
from clarion.core.namespace import OPS
from clarion.core.overriding import own_form
from clarion.kernels import registry
from clarion.kernels.llvm import cards, machine

pytestmark = pytest.mark.skipif(
    not machine.installed() or not cards.available(), reason="kernels cannot be called directly here"
)

_INDEX = [[0, 2, 1, 3]] * 4
_CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "where": lambda x, y, mask, index: torch.where(mask, x, y),
    "clamp": lambda x, y, mask, index: x.clamp(0.2, 0.8),
    "masked_fill": lambda x, y, mask, index: x.masked_fill(mask, 0.5),
    "gather": lambda x, y, mask, index: x.gather(1, index),
    "index1": lambda x, y, mask, index: x[index[0]],
    "scatter_add": lambda x, y, mask, index: x.scatter_add(1, index, y),
    "index_add": lambda x, y, mask, index: x.index_add(0, index[0], y),
    "topk": lambda x, y, mask, index: x.topk(2, 1),
    "sort": lambda x, y, mask, index: x.sort(1),
    "max_dim": lambda x, y, mask, index: x.max(1),
    "min_dim": lambda x, y, mask, index: x.min(0, keepdim=True),
    "index2": lambda x, y, mask, index: x[index[0], index[1]],
    "flip": lambda x, y, mask, index: x.flip(0),
    "constant_pad_nd": lambda x, y, mask, index: torch.nn.functional.pad(x, (1, 2), value=0.5),
    "cumsum": lambda x, y, mask, index: x.cumsum(1),
}
_OTHERS: list[Callable[[Any, Any, Any, Any], Any]] = [  # which go the long way, or fail
    lambda x, y, mask, index: torch.where(mask, x, 0.5),
    lambda x, y, mask, index: torch.where(mask, 0.5, x),
    lambda x, y, mask, index: torch.where(mask, x, 2),
    lambda x, y, mask, index: torch.where(mask, x, y[0]),
    lambda x, y, mask, index: torch.where(mask, x, y.double()),
    lambda x, y, mask, index: torch.where(mask, x, index),
    lambda x, y, mask, index: torch.where(mask, index, index),
    lambda x, y, mask, index: torch.where(mask.t(), x.t(), y),
    lambda x, y, mask, index: torch.where(mask, x.half(), y.half()),
    lambda x, y, mask, index: torch.where(mask, x, y[:3]),
    lambda x, y, mask, index: x.clamp(0.2),
    lambda x, y, mask, index: x.clamp(max=0.5),
    lambda x, y, mask, index: x.clamp(0.8, 0.2),
    lambda x, y, mask, index: x.clamp(0, 1),
    lambda x, y, mask, index: index.clamp(1, 2),
    lambda x, y, mask, index: index.clamp(0.5, 1.5),
    lambda x, y, mask, index: x.clamp(float("nan"), 1.0),
    lambda x, y, mask, index: x.clamp(0.2, y[0, 0]),
    lambda x, y, mask, index: (x * float("nan")).clamp(0.1, 0.2),
    lambda x, y, mask, index: x.masked_fill(mask[0], 0.5),
    lambda x, y, mask, index: x.gather(1, index + 1),
    lambda x, y, mask, index: x.gather(0, index[:2]),
    lambda x, y, mask, index: index.gather(1, index),
    lambda x, y, mask, index: x.t()[index[0]],
    lambda x, y, mask, index: x.scatter_add(1, index, y.double()),
    lambda x, y, mask, index: x.topk(9, 1),
    lambda x, y, mask, index: x.t().max(1),
    lambda x, y, mask, index: index.max(1),
    lambda x, y, mask, index: x[index[0], index[1] + 1],
    lambda x, y, mask, index: x[index[0], index[1] - 4],
    lambda x, y, mask, index: index.cumsum(0),
    lambda x, y, mask, index: x.t().cumsum(0, dtype=torch.float64),
]


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    for dtype in (torch.float32, torch.float64):
        x, y, mask, index = _operands((True, True), dtype)
        for _ in range(1300):
            for call in _CALLS.values():
                call(x, y, mask, index)


def _operands(wanted: tuple[bool, bool], dtype: Any) -> tuple[Any, Any, Any, Any]:
    torch.manual_seed(0)
    x, y = (torch.rand(4, 4, dtype=dtype).requires_grad_(wants) for wants in wanted)
    return x, y, torch.rand(4, 4) > 0.5, torch.tensor(_INDEX)


def _described(call: Callable[[Any, Any, Any, Any], Any], operands: tuple[Any, Any, Any, Any]) -> list[Any]:
    try:
        result = call(*operands)
    except Exception as error:
        return [type(error), str(error)]
    found: list[Any] = []
    for out in result if isinstance(result, tuple) else (result,):
        node = out.grad_fn
        found += [str(out.detach()), out.dtype, out.stride(), out.requires_grad, out.is_inference()]
        found.append(None if out.is_inference() else out._version)
        found += [type(node).__name__, out.output_nr]
        if node is not None:
            found += [[edge is None for edge in node.edges], type(node.saved), len(node.saved), node.nrs, node.versions]
            found += [g if g is None else str(g) for g in _grads(out, operands[:2])]
    return found


def _grads(out: Any, given: tuple[Any, ...]) -> Any:
    leaves = [each for each in given if each.requires_grad]
    return torch.autograd.grad((out * out).sum(), leaves, allow_unused=True) if leaves else ()


def _both(call: Callable[[Any, Any, Any, Any], Any], make: Callable[[], tuple[Any, Any, Any, Any]]) -> None:
    quick = _described(call, make())
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        assert _described(call, make()) == quick
    finally:
        registry.surround(None)


@pytest.mark.parametrize("name", _CALLS)
def test_the_quick_text_is_what_runs(name: str) -> None:
    assert own_form(OPS[name].call).__code__.co_filename.endswith(", quick>")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
def test_results_and_nodes_are_those_of_the_long_way(wanted: tuple[bool, bool], dtype: Any) -> None:
    for call in (*_CALLS.values(), *_OTHERS):
        _both(call, lambda: _operands(wanted, dtype))


def _parts(dtype: Any) -> tuple[Any, Any, Any, Any]:
    """A view that was written to, and one of several results."""
    x, y, mask, index = _operands((True, True), dtype)
    base, parts = x * 1, (y * 2).split(2)
    view = base[:]
    base.mul_(2)
    return view, torch.cat(parts).sort(1).values, mask, index


def test_histories_are_followed() -> None:
    for call in (*_CALLS.values(), *_OTHERS):
        _both(call, lambda: _parts(torch.float32))


def test_modes_are_asked() -> None:
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for call in _CALLS.values():
                _both(call, lambda: _operands((True, True), torch.float32))


def test_what_was_saved_and_written_is_noticed() -> None:
    x, y, mask, _ = _operands((True, True), torch.float32)
    out = torch.where(mask, x, y)
    mask.logical_not_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
