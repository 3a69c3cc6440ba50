"""`torch.cond` and `torch.while_loop`."""

from __future__ import annotations

import importlib

import pytest

import clarion as torch


def test_cond_takes_one_way_and_its_gradient():
    for sign in (1.0, -1.0):
        x = torch.tensor([sign, 2 * sign], requires_grad=True)
        y = torch.cond(x.sum() > 0, lambda x: x * 3, lambda x: x.square(), (x,))
        y.sum().backward()
        assert x.grad.tolist() == ([3.0, 3.0] if sign > 0 else [-2.0, -4.0])
    assert torch.cond(False, lambda: 1, lambda: 2) == 2
    assert torch.cond(torch.tensor([1]), lambda t: t["a"], lambda t: t["b"], ({"a": x, "b": y},)) is x


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: torch.cond(x > 0, torch.sin, torch.cos, (x,)), "single-element tensor"),
        (lambda x: torch.cond(True, 3, torch.cos, (x,)), "both branches to be callable"),
        (lambda x: torch.cond(True, torch.sin, torch.cos, (x, "a")), "Expect operands to be a tuple"),
        (lambda x: torch.while_loop(3, torch.sin, (x,)), "cond_fn and body_fn to be callable"),
        (
            lambda x: torch.while_loop(lambda x: x > 0, lambda x: (x - 1,), (x,)),
            "scalar tensor or a bool but got \\[2\\]",
        ),
        (lambda x: torch.while_loop(lambda x: True, lambda x: (x, x), (x,)), "look like its arguments"),
        (lambda x: torch.while_loop(lambda x: True, lambda x: (x.double(),), (x,)), "look like its arguments"),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(RuntimeError, match=said):
        call(torch.ones(2))


def test_while_loop_carries_tensors_and_numbers():
    i, x = torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2)))
    assert (i.item(), x.tolist()) == (3, [8.0, 8.0])
    count, x = torch.while_loop(lambda i, x: i < len(x), lambda i, x: (i + 1, x + i), (0, torch.zeros(3)))
    assert (count, x.tolist()) == (3, [3.0, 3.0, 3.0])
    w = torch.tensor(2.0, requires_grad=True)
    _, y = torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, torch.tensor(1.0)))
    y.backward()
    assert w.grad.item() == 12.0
    start = (torch.ones(1),)
    assert torch.while_loop(lambda x: False, lambda x: (x + 1,), start)[0] is start[0]


def test_map_goes_along_the_first_dimension():
    control_flow = importlib.import_module("clarion.functorch.experimental.control_flow")
    x, w = torch.arange(6.0).view(3, 2).requires_grad_(), torch.ones(2, requires_grad=True)
    found = control_flow.map(lambda part, w: {"a": part["p"] * w, "b": (part["q"].sum(),)}, {"p": x, "q": x + 1}, w)
    assert found["a"].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert found["b"][0].tolist() == [3.0, 7.0, 11.0]
    found["a"].sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([[1.0, 1.0]] * 3, [6.0, 9.0])
    assert control_flow.map(lambda part: None, x) is None
    assert control_flow.cond is torch.cond


@pytest.mark.parametrize(
    ("mapped", "said"),
    [
        ([3, [1.0]], "Mapped xs can only consist of tensors"),
        (torch.ones(0, 2), "Leading dimensions of mapped xs cannot be 0"),
        ([torch.ones(2, 2), torch.ones(3, 2)], "Leading dimensions of mapped xs must be consistent"),
    ],
)
def test_what_cannot_be_mapped_is_refused(mapped, said):
    control_flow = importlib.import_module("clarion.functorch.experimental.control_flow")
    with pytest.raises(RuntimeError, match=said):
        control_flow.map(lambda part: part, mapped)
