"""What tensors say of themselves in odd cases: strides without elements, bits seen as another type; data that is none."""

from __future__ import annotations

import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare
EMPTY = [(0,), (2, 0), (0, 3), (2, 0, 3), (0, 0), (3, 0, 4, 5), (2, 3, 0)]


@pytest.mark.parametrize("shape", EMPTY, ids=str)
def test_strides_without_elements(shape):
    wanted, found = (
        [x.stride() for x in (t.zeros(shape), t.zeros(shape) + 1, t.zeros(shape).clone(), t.ones(4, *shape)[1:])]
        for t in (torch, clarion)
    )
    assert found == wanted
    assert clarion.zeros(shape).stride(-1) == torch.zeros(shape).stride(-1)


PAIRS = [
    ("float32", "int32"),
    ("float32", "float32"),
    ("float32", "int16"),
    ("complex64", "float32"),
    ("int32", "float64"),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_bits_as_another_type(first, second):
    def outcome(t):
        x = t.zeros(4, dtype=getattr(t, first))
        x = x.requires_grad_() if first != "int32" else x
        y = x.view(getattr(t, second))
        seen = [y._is_view(), y._base is None, y.requires_grad, y.is_leaf]
        with t.no_grad():
            y.add_(1)
        return [*seen, x._version, y._version, x.detach().abs().sum().item() > 0]

    assert outcome(clarion) == outcome(torch)


DATA = [
    [1, "a"], ["a", 1], ["a"], [[1, 2], [3, "b"]], [["ab"]], [1.0, "a"], [True, "a"], [b"a"], [1, b"a"], "abc", b"abc",
    [""], (1, "a"), [None], [1, None], [1, [2]], [[1], 2],
]  # fmt: skip


@pytest.mark.parametrize("data", DATA, ids=repr)
def test_data_that_is_none(data):
    with pytest.raises((TypeError, ValueError, RuntimeError)) as wanted:
        torch.tensor(data)
    with pytest.raises(wanted.type) as found:
        clarion.tensor(data)
    assert str(wanted.value) in str(found.value)


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool"])
def test_text_among_numbers_of_a_type(dtype):
    with pytest.raises((TypeError, ValueError, RuntimeError)) as wanted:
        torch.tensor([1, "a"], dtype=getattr(torch, dtype))
    with pytest.raises(wanted.type) as found:
        clarion.tensor([1, "a"], dtype=getattr(clarion, dtype))
    assert str(wanted.value) in str(found.value)


@pytest.mark.parametrize(
    "weights", [[-1.0, 2.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [[1.0, -1.0], [1, 1]]]
)
def test_weights_of_multinomial(weights):
    with pytest.raises(RuntimeError) as wanted:
        torch.multinomial(torch.tensor(weights), 1)
    with pytest.raises(RuntimeError) as found:
        clarion.multinomial(clarion.tensor(weights), 1)
    assert str(wanted.value) in str(found.value)
