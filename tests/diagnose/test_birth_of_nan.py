"""Where a NaN is born: the operation, its line and what it was given, in either direction."""

from __future__ import annotations

import inspect
import warnings

import clarion as torch
from clarion.diagnose import Finding, watching


def only_finding(program) -> tuple[Finding, str]:
    """What a program is told, and the text of the line it names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watching() as findings:
            program()
    (finding,) = findings
    lines, first = inspect.getsourcelines(program)
    return finding, lines[finding.line - first].strip()


def first_of_two_roots() -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = torch.sqrt(x - 2)
    y = torch.sqrt(y)
    y.sum().backward()


def second_of_two_roots() -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.sqrt(x - 2)
    z = torch.sqrt(y)
    z.sum().backward()


def logarithm() -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = torch.log(-x)
    (y * 2).sum().backward()


def test_forward_the_operation_that_made_it_and_not_the_one_that_passed_it_on() -> None:
    finding, line = only_finding(first_of_two_roots)
    assert (finding.name, line) == ("non-finite-forward", "y = torch.sqrt(x - 2)")
    assert "`sqrt` gives nan at [0], where its input is -1" in finding.what


def test_forward_where_anomaly_mode_says_nothing() -> None:
    finding, line = only_finding(logarithm)
    assert (finding.name, line) == ("non-finite-forward", "y = torch.log(-x)")
    assert "`log` gives nan at [0], where its input is -1" in finding.what


def test_backward_the_operation_whose_derivative_is_infinite() -> None:
    finding, line = only_finding(second_of_two_roots)
    assert (finding.name, line) == ("non-finite-backward", "z = torch.sqrt(y)")
    assert "the derivative of `sqrt` gives inf at [0], where its value is 0" in finding.what


def inside_of_vmap() -> None:
    weight = torch.ones(3, requires_grad=True)

    def share(row):
        total = row.sum()
        return (weight * row / total).sum()

    rows = torch.tensor([[1.0, 2.0, 3.0], [1.0, -1.0, 0.0], [2.0, 2.0, 2.0]])
    torch.func.vmap(share)(rows).mean().backward()


def test_forward_inside_of_vmap() -> None:
    finding, line = only_finding(inside_of_vmap)
    assert (finding.name, line) == ("non-finite-forward", "return (weight * row / total).sum()")
    assert "`div` gives" in finding.what
