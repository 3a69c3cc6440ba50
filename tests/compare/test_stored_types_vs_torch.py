"""Types that are for storing: complex32, and floating-point numbers of eight bits. They are made, converted, moved, saved."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")

FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
EDGES = [1.0, 2.5, -300.0, 448.0, 465.0, 500.0, 61440.0, 1e6, 1e-9, -0.0, float("inf"), float("-inf")]

needs_complex32 = pytest.mark.skipif(ours.core.dtypes.complex32 is None, reason="ml_dtypes is older than 0.6")


def _written(torch: Any) -> Any:
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex32)
    x.real[0] = 5
    x.add_(1)
    x[1] = 3
    return x, torch.view_as_real(x), x.imag


def _gradient(torch: Any) -> Any:
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex32, requires_grad=True)
    (x * 2).abs().sum().backward()
    return x.grad


def _drawn(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.rand(3, dtype=torch.chalf), torch.randn(3, dtype=torch.chalf)


def _types(torch: Any) -> Any:
    kinds = ("half", "bfloat16", "float32", "float64", "int64", "bool", "complex64", "complex128", "complex32")
    return [str(torch.promote_types(torch.chalf, getattr(torch, kind))) for kind in kinds]


COMPLEX32: dict[str, Callable[[Any], Any]] = {
    "made": lambda torch: torch.full((2, 2), 1 + 2j, dtype=torch.chalf),
    "written": _written,
    "gradient": _gradient,
    "drawn": _drawn,
    "promotion": _types,
    "arithmetic": lambda torch: (lambda x: [x + x, x * 2, x * x, -x, x.conj(), x + torch.ones(2)])(
        torch.tensor([1 + 2j, 3 - 1j], dtype=torch.chalf)
    ),
    "converted": lambda torch: [torch.tensor([1.5]).chalf(), torch.tensor([1 + 2j]).chalf().half()],
    "of two halves": lambda torch: torch.complex(torch.ones(2).half(), torch.ones(2).half()),
    "parts": lambda torch: (str(torch.half.to_complex()), str(torch.chalf.to_real()), str(torch.finfo(torch.chalf))),
}


def _said(torch: Any, program: Callable[[Any], Any]) -> str:
    try:
        return repr(program(torch)).replace("\n", " ")
    except Exception as error:
        known = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        return f"{known}: {str(error).splitlines()[0]}"


@needs_complex32
@pytest.mark.filterwarnings("ignore:ComplexHalf support", "ignore:Casting complex values")
@pytest.mark.parametrize("name", COMPLEX32)
def test_complex32_is_pytorchs(name: str) -> None:
    assert _said(ours, COMPLEX32[name]) == _said(theirs, COMPLEX32[name])


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize(
    "program",
    [
        lambda torch, kind: torch.tensor(EDGES).to(kind).float(),
        lambda torch, kind: torch.tensor(EDGES, dtype=kind).view(torch.uint8),
        lambda torch, kind: torch.tensor(EDGES).to(kind)[::2].clone().half(),
        lambda torch, kind: torch.zeros(2, dtype=kind).fill_(2).tolist(),
        lambda torch, kind: torch.tensor([1.0, 2.0], dtype=kind),
        lambda torch, kind: torch.ones(2, dtype=kind) == torch.ones(2, dtype=kind),
        lambda torch, kind: torch.ones(2, dtype=kind) + torch.ones(2),
        lambda torch, kind: torch.ones(2, dtype=kind).numpy(),
        lambda torch, kind: str(torch.finfo(kind)),
    ],
)
def test_eight_bits_are_pytorchs(kind: str, program: Callable[[Any, Any], Any]) -> None:
    here, there = (_said(torch, lambda torch: program(torch, getattr(torch, kind))) for torch in (ours, theirs))
    assert here == there


def test_eight_bits_are_not_computed_with() -> None:
    with pytest.raises(NotImplementedError, match=r"not implemented for 'Float8_e5m2'\nConvert it first"):
        ours.ones(2, dtype=ours.float8_e5m2) * 2


@pytest.mark.parametrize("kind", [*FLOAT8, pytest.param("complex32", marks=needs_complex32)])
def test_files_go_both_ways(kind: str) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        file = io.BytesIO()
        one.save(one.tensor([1.0, 2.5]).to(getattr(one, kind)), file)
        file.seek(0)
        read = other.load(file)
        assert str(read.dtype) == f"torch.{kind}"
        assert read.to(other.complex64).tolist() == [1, 2.5]
