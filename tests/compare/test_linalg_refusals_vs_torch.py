"""What linear algebra refuses, in PyTorch's words: which matrix of a batch, and where in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def _eye(torch: Any, last: float, batch: int = 0) -> Any:
    x = torch.eye(3)
    x[2, 2] = last
    return x if not batch else torch.stack([torch.eye(3)] * batch + [x])


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "inv": lambda torch: torch.linalg.inv(_eye(torch, 0)),
    "inv of a batch": lambda torch: torch.linalg.inv(_eye(torch, 0, 2)),
    "inv_ex": lambda torch: torch.linalg.inv_ex(_eye(torch, 0), check_errors=True),
    "cholesky": lambda torch: torch.linalg.cholesky(_eye(torch, -1)),
    "cholesky of a batch": lambda torch: torch.linalg.cholesky(_eye(torch, -1, 1), upper=True),
    "cholesky_ex": lambda torch: torch.linalg.cholesky_ex(_eye(torch, -1), check_errors=True),
    "cholesky of NaN": lambda torch: torch.linalg.cholesky(_eye(torch, float("nan"))),
    "cholesky of NaN in a batch": lambda torch: torch.linalg.cholesky(_eye(torch, float("nan"), 2)),
    "solve": lambda torch: torch.linalg.solve(_eye(torch, 0), torch.ones(3)),
    "solve of a batch": lambda torch: torch.linalg.solve(_eye(torch, 0, 1), torch.ones(2, 3, 1)),
    "tensorsolve": lambda torch: torch.linalg.tensorsolve(torch.ones(4, 6, 8, 3), torch.ones(8, 4)),
    "tensorsolve of a smaller one": lambda torch: torch.linalg.tensorsolve(torch.ones(2, 3, 6), torch.ones(2, 4)),
    "addr": lambda torch: torch.addr(torch.ones(2, 2).long(), torch.ones(2).long(), torch.ones(2).long(), beta=2.0),
    "addr of floats": lambda torch: torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), alpha=True),
    "norm of a vector": lambda torch: torch.linalg.norm(torch.ones(3), "fro"),
    "norm of rows": lambda torch: torch.linalg.norm(torch.ones(3, 2), "nuc", dim=0),
    "norm of a number": lambda torch: torch.linalg.matrix_norm(torch.ones(()), dim=(0,)),
    "eig's vectors": lambda torch: torch.linalg.eig(
        torch.eye(2), out=(torch.empty(2, dtype=torch.complex64), torch.empty(2, 2, dtype=torch.int32))
    ),
    "eig's values": lambda torch: torch.linalg.eig(torch.eye(2), out=(torch.empty(2), torch.empty(2, 2))),
    "lstsq": lambda torch: torch.lstsq(torch.eye(2), torch.eye(2)),
}


def _said(torch: Any, program: Callable[[Any], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        program(torch)
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_words(name: str) -> None:
    assert _said(ours, PROGRAMS[name]) == _said(theirs, PROGRAMS[name])


def test_integers_are_multiplied_in_int32() -> None:
    a = [[100, -100], [7, 3]]
    for torch in (ours, theirs):
        x = torch.tensor(a, dtype=torch.int8)
        product = torch._int_mm(x, x)
        assert (str(product.dtype), product.tolist()) == ("torch.int32", [[9300, -10300], [721, -691]])


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (2, 2), (0, 2)])
@pytest.mark.parametrize("upper", [False, True])
def test_nan_is_not_positive(upper: bool, place: tuple[int, int]) -> None:
    def told(torch: Any) -> list[int]:
        x = torch.stack([torch.eye(3)] * 2)
        x[1][place] = float("nan")
        return torch.linalg.cholesky_ex(x, upper=upper).info.tolist()  # type: ignore[no-any-return]

    assert told(ours) == told(theirs)


@pytest.mark.parametrize("upper", [False, True])
def test_a_matrix_that_only_rounding_keeps_from_a_factor_is_told_and_not_raised(upper: bool) -> None:
    x = ours.linspace(0, 1, 80)
    for jitter in (0.0, 5e-7, 1e-6, 2e-6):
        nearly_singular = ours.exp(-((x[:, None] - x) ** 2) / 2) + jitter * ours.eye(80)
        factor, info = ours.linalg.cholesky_ex(nearly_singular, upper=upper)
        assert 0 <= info <= 80
        assert bool(info > 0) == bool(factor.isnan().any())
