"""Calls that are written out at their first use: what they must not lose."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import clarion as torch
from clarion.core.overriding import own_form
from clarion.core.provenance import file_line


def line() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    return frame.f_back.f_lineno  # type: ignore[union-attr]


@pytest.mark.parametrize("expression", ["x * 10", "x + x", "x - -x", "torch.addcmul(x, x, x)", "x @ x", "x.exp()"])
def test_overflow_is_a_value_and_no_warning(expression: str) -> None:
    program = f"import clarion as torch\nx = torch.full((3,), 3e38)\nprint(({expression}).sum().item())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("inf", "")


def test_nodes_know_their_line_whoever_calls() -> None:
    x = torch.ones(2, requires_grad=True)

    def elsewhere() -> tuple[torch.Tensor, int]:
        return x * 2, line()

    for _ in range(3):  # the operation remembers who called last
        here, at = x * 2, line()
        there, at_there = elsewhere()
        inside, at_inside = torch.mul(x, 2), line()
        for made, expected in ((here, at), (there, at_there), (inside, at_inside)):
            assert file_line(made.grad_fn.place) == (__file__, expected)


def test_written_code_can_be_read() -> None:
    x = torch.ones(2)
    x.floor()
    text = inspect.getsource(own_form(torch.Tensor.floor))
    assert text.startswith("def call(x):")
    assert "kernel(a)" in text


def test_wrong_arguments_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"tanh\(\) takes 1 positional argument but 2 were given"):
        torch.ones(2).tanh(3)


def test_nodes_list_what_they_saved() -> None:
    x = torch.ones(2, requires_grad=True)
    node = (x * x).grad_fn
    listed = [name for name in dir(node) if name.startswith("_saved_")]
    assert {"_saved_self", "_saved_other"} <= set(listed)
    assert node._saved_self is x
    assert not hasattr(node, "_saved_exponent")
