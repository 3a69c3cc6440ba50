"""Calls whose kernel takes tensors as they are and gives one: NOTE [Held arrays] in kernels/held.py."""

from __future__ import annotations

import inspect
import sys
import threading

import numpy as np
import pytest

import clarion as torch
from clarion.core.overriding import own_form
from clarion.core.provenance import file_line
from clarion.kernels import registry
from clarion.kernels.llvm import cards, machine

pytestmark = pytest.mark.skipif(
    not machine.installed() or not cards.available(), reason="kernels cannot be called directly here"
)

WARM = 1300  # calls after which a kernel of every use below is compiled


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    for dtype in (torch.float32, torch.float64):
        x = torch.rand(4, 4, dtype=dtype, requires_grad=True)
        for _ in range(WARM):
            ((x + x) * 0.5 - 0.25).tanh()
            x / x, x > x, x.exp()


def _quick(function: object) -> bool:
    return own_form(function).__code__.co_filename.endswith(", quick>")


def test_the_quick_text_is_what_runs() -> None:
    for function in (torch.Tensor.__add__, torch.Tensor.__mul__, torch.Tensor.__sub__, torch.Tensor.__gt__):
        assert _quick(function), function


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_nodes_are_those_of_the_long_way(name: str, wanted: tuple[bool, bool], dtype: torch.dtype) -> None:
    values = np.random.default_rng(0).random((2, 4, 4))

    def run() -> list[object]:
        x, y = (torch.tensor(v, dtype=dtype, requires_grad=w) for v, w in zip(values, wanted, strict=True))
        operator = getattr(torch.Tensor, f"__{'true' * (name == 'div')}{name}__")
        found: list[object] = []
        for out, line in ((operator(x, y), _line()), (operator(x, 3), _line()), (operator(x, 0.3), _line())):
            node = out.grad_fn
            found += [out.tolist(), out.dtype, out.requires_grad, out._version, type(node).__name__]
            if node is not None:
                found += [len(node.edges), [edge is None for edge in node.edges], type(node.saved), node.fix, node.nrs]
                assert file_line(node.place) == (__file__, line)
                found += [
                    g.tolist() for g in torch.autograd.grad(out.sum(), [t for t in (x, y) if t.requires_grad][:1])
                ]
        return found

    quick = run()
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        assert not _quick(torch.Tensor.__add__)
        assert run() == quick
    finally:
        registry.surround(None)
    assert _quick(torch.Tensor.__add__)


def _line() -> int:
    return inspect.currentframe().f_back.f_lineno  # type: ignore[union-attr]


def test_what_is_unusual_goes_the_long_way() -> None:
    x, wide = torch.rand(4, 4), torch.rand(4, 4, dtype=torch.float64)
    assert (x + wide).dtype is torch.float64
    assert (x + torch.ones(4)).tolist() == (x + torch.ones(4, 4)).tolist()  # broadcast
    assert (x.t() + x).is_contiguous() is False  # as PyTorch lays it out
    assert (wide * 0.1).tolist() == [[v * 0.1 for v in row] for row in wide.tolist()]  # a number in float64
    assert (x * True).tolist() == x.tolist()
    assert (torch.arange(4) + 1).tolist() == [1, 2, 3, 4]
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        torch.tanh(np.zeros((), np.float32))  # type: ignore[arg-type]
    assert isinstance(x + np.float32(1), torch.Tensor)
    assert torch.rand(0, 4).tanh().shape == (0, 4)

    class Own(torch.Tensor):
        pass

    assert type(x.as_subclass(Own) + x) is Own
    assert type(torch.nn.Parameter(x) + x) is torch.Tensor


def test_views_follow_their_base_first() -> None:
    base = torch.rand(4, 4, requires_grad=True) * 1
    row = base[0]
    base.mul_(2)
    assert (row + row).grad_fn.next_functions[0][0] is row.grad_fn
    assert type(row.grad_fn).__name__ != "MulBackward0"


@pytest.mark.parametrize("recorded", [False, True])
def test_shapes_that_broadcast(recorded: bool) -> None:
    x, row, number = torch.rand(4, 4), torch.rand(4, requires_grad=recorded), torch.tensor(2.0, requires_grad=recorded)
    for other in (row, number, torch.rand(4, 1, requires_grad=recorded), torch.rand(2, 4, 4, requires_grad=recorded)):
        for left, right in ((x, other), (other, x)):
            out = left * right
            assert out.tolist() == (left.detach().numpy() * right.detach().numpy()).tolist()
            assert out.is_contiguous()
            if recorded:
                (given,) = torch.autograd.grad(out.sum(), other)
                assert given.shape == other.shape
    assert (torch.rand(4, 1) + torch.rand(1, 4)).shape == (4, 4)


def test_a_view_of_what_began_to_be_recorded() -> None:
    """A view that was taken before its base got a history has one, too, when it is used next: also where shapes differ."""
    base, leaf = torch.zeros(4, 4), torch.ones(4, 4, requires_grad=True)
    row = base[0]
    base.add_(leaf)
    out = torch.ones(4, 4) * row
    assert out.requires_grad
    (given,) = torch.autograd.grad(out.sum(), leaf)
    assert given.tolist() == [[4.0] * 4] + [[0.0] * 4] * 3


def test_inference_tensors_are_marked() -> None:
    x = torch.rand(4, 4)
    with torch.inference_mode():
        assert (x + x).is_inference()
        assert x.tanh().is_inference()


def test_references_are_counted() -> None:
    x, y = torch.rand(4, 4), torch.rand(4, 4)
    before = [sys.getrefcount(each) for each in (x._array, y._array, x._array.dtype)]
    for _ in range(1000):
        x + y, x.tanh(), x * 0.5, x + y[0], x > y
    after = [sys.getrefcount(each) for each in (x._array, y._array, x._array.dtype)]
    assert after[:2] == before[:2]
    assert abs(after[2] - before[2]) < 100
    out = x + y
    counts = sys.getrefcount(out), sys.getrefcount(out._array)
    assert counts == (2, 2)
    assert (out._edge, out._view, out._vc, out._nr, out._rg) == (None, None, None, 0, False)
    out.note = "its own"  # type: ignore[attr-defined]
    assert not hasattr(x + y, "note")


def test_another_thread_may_replace_the_data() -> None:
    """An array that is being read is not freed, whoever gives its tensor another one."""
    x, y, done = torch.rand(1 << 20), torch.rand(1 << 20), threading.Event()
    x.data = y.clone()

    def replace() -> None:
        while not done.is_set():
            x.data = y.clone()

    other = threading.Thread(target=replace)
    other.start()
    try:
        for _ in range(30):
            assert torch.equal(x + y, y + y)
    finally:
        done.set()
        other.join()


@pytest.fixture(scope="module")
def written() -> None:
    for dtype in (torch.float32, torch.float64):
        x = torch.zeros(4, 4, dtype=dtype)
        for _ in range(WARM):
            x.add_(x).mul_(0.5).sub_(0.25)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.usefixtures("written")
def test_writes_are_counted_and_know_their_line(dtype: torch.dtype) -> None:
    x, y = torch.ones(4, 4, dtype=dtype), torch.full((4, 4), 0.1, dtype=dtype)
    x.zero_()
    before, memory = x._version, x.data_ptr()
    assert x.add_(y) is x
    x.mul_(3).sub_(0.5)
    line = _line() - 1
    assert x._version == before + 3
    assert file_line(x._vc.place) == (__file__, line)  # type: ignore[union-attr]
    assert x.data_ptr() == memory
    expected = (np.zeros((4, 4)).astype(y.numpy().dtype) + y.numpy()) * y.numpy().dtype.type(3) - y.numpy().dtype.type(
        0.5
    )
    assert x.tolist() == expected.tolist()


@pytest.mark.usefixtures("written")
def test_a_saved_value_that_is_overwritten_is_noticed() -> None:
    x, leaf = torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)
    x.zero_()
    product = x * leaf
    x.add_(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


@pytest.mark.usefixtures("written")
def test_writes_that_are_recorded_or_refused_go_the_long_way() -> None:
    x, leaf = torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)
    x.zero_()
    x.add_(leaf)
    assert x.requires_grad
    assert type(x.grad_fn).__name__ == "AddBackward0"
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf.add_(1.0)
    spread = torch.ones(1, 4).expand(4, 4)
    with pytest.raises(RuntimeError):
        spread.add_(1.0)
    base = torch.ones(4, 4)
    base.zero_()
    base[0].add_(1.0)
    assert base.sum().item() == 4
    with pytest.raises(RuntimeError, match="broadcast"):
        torch.zeros(4).zero_().add_(torch.ones(4, 4))
    whole = torch.zeros(4, dtype=torch.int64).zero_()
    with pytest.raises(RuntimeError, match="can't be cast"):
        whole.add_(0.5)
