"""Corners of making tensors: `out=` of another shape, arrays inside of lists, lists inside of themselves, empty tensors joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def _into(make: Callable[..., Any]) -> Callable[[Any], Any]:
    def run(torch: Any) -> Any:
        x = torch.zeros(2, 3)
        make(torch, x.narrow(1, 1, 2))
        return x

    return run


def _in_itself(torch: Any) -> Any:
    data: list[Any] = []
    data.append(data)
    return torch.tensor(data)


def _behind_a_number() -> list[Any]:
    data: list[Any] = [0]
    data.append(data)
    return [[1, 2], data]


def _dropped(torch: Any, name: str, *shape: int) -> Any:
    torch.manual_seed(0)
    return getattr(torch.nn.functional, name)(torch.ones(shape))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "arange": _into(lambda torch, out: torch.arange(0, 4, out=out)),
    "linspace": _into(lambda torch, out: torch.linspace(0, 3, 4, out=out)),
    "logspace": _into(lambda torch, out: torch.logspace(0, 3, 4, base=2, out=out)),
    "out that requires a gradient": lambda torch: torch.zeros(2, out=torch.empty(2), requires_grad=True),
    "arrays of no dimension in lists": lambda torch: torch.tensor(((7, np.array(5)), (np.array(9), 5.0))),
    "arrays of double in lists": lambda torch: torch.tensor(((7, 5), (9, np.array(5.0)))),
    "a list in itself": _in_itself,
    "nothing joined along no dimension": lambda torch: torch.cat([torch.empty(0), torch.empty(0)], dim=1),
    "index_fill wraps": lambda torch: torch.tensor([1, 2], dtype=torch.uint8).index_fill(0, torch.tensor([0]), -1),
    "threshold wraps": lambda torch: torch.nn.functional.threshold(torch.tensor([1, 3], dtype=torch.uint8), 2, -9),
    "memory that NumPy sees does not grow": lambda torch: torch.from_numpy(np.ones(3)).resize_(10),
    "more elements than numbers count": lambda torch: torch.ones(3).resize_(2**40, 2**40),
    "a dimension twice": lambda torch: torch.logsumexp(torch.ones(2, 2), (0, -2)),
    "several dimensions of a place": lambda torch: torch.ones(2, 2).argmax([0, 1]),
    "out of another type than asked for": lambda torch: torch.sum(
        torch.ones(2), 0, dtype=torch.float64, out=torch.empty(())
    ),
    "the largest as integers": lambda torch: torch.amax(torch.ones(2), 0, out=torch.empty((), dtype=torch.int32)),
    "quantiles as integers": lambda torch: torch.quantile(torch.ones(2), 0.5, out=torch.empty((), dtype=torch.int32)),
    "tolerances as tensors": lambda torch: torch.isclose(torch.ones(2), torch.ones(2) * 1.1, torch.tensor(1.0)),
    "channels of two dimensions": lambda torch: _dropped(torch, "dropout2d", 3, 4),
    "channels of three": lambda torch: _dropped(torch, "dropout2d", 2, 3, 4),
    "channels of too few": lambda torch: _dropped(torch, "dropout3d", 2, 3, 2),
    "channels of one": lambda torch: _dropped(torch, "dropout1d", 3),
    "as many as a byte counts": lambda torch: torch.randperm(256, out=torch.empty(0, dtype=torch.uint8)).sort()[0],
    "steps of none": lambda torch: torch.nn.functional.max_pool2d(torch.ones(1, 1, 2, 2), 2, stride=0),
    "a list in itself behind a number": lambda torch: torch.tensor(_behind_a_number()),
    "an old type on another device": lambda torch: torch.FloatTensor((2, 3), device="meta"),
    "an old tensor on another device": lambda torch: torch.Tensor(2, 3, device="meta"),
    "an old tensor of a tensor": lambda torch: torch.Tensor(torch.ones(1), device="cpu"),
    "new() of a tensor": lambda torch: torch.ones(1).new(torch.ones(1), device="cpu"),
    "steps beyond all memory": lambda torch: torch.empty_strided([8, 8], [2**61, 1]),
    "nothing beyond all memory": lambda torch: torch.empty([0, 4, 2**61]),
    "a grid on two devices": lambda torch: torch.meshgrid(torch.ones(1), torch.ones(1, device="meta"), indexing="ij"),
    "polar as reals": lambda torch: torch.polar(torch.ones(2), torch.ones(2), out=torch.ones(2)),
    "zeros of another layout": lambda torch: torch.zeros(2, layout=torch.sparse_coo, out=torch.ones(2)).to_dense(),
    "a capsule": lambda torch: torch.asarray(torch.utils.dlpack.to_dlpack(torch.arange(3.0))),
    "a capsule of a leaf": lambda torch: torch.from_dlpack(
        torch.utils.dlpack.to_dlpack(torch.ones(2, requires_grad=True))
    ),
    "a leaf's memory": lambda torch: torch.ones(2, requires_grad=True).__dlpack__(),
    "conjugated memory": lambda torch: torch.ones(2, dtype=torch.complex64).conj().__dlpack__(),
    "sparse memory": lambda torch: torch.eye(2).to_sparse().__dlpack__(),
    "no memory": lambda torch: torch.ones(2, device="meta").__dlpack__(),
}


def _result(program: Callable[[Any], Any], torch: Any) -> Any:
    try:
        x = program(torch)
    except (ValueError, RuntimeError, TypeError, BufferError) as error:
        return type(error).__mro__[-3 if isinstance(error, ValueError) else 0].__name__, str(error)[:20]
    return str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, x.detach().tolist()


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list", "ignore:dropout")
@pytest.mark.parametrize("name", PROGRAMS)
def test_corners(name: str) -> None:
    expected, found = _result(PROGRAMS[name], theirs), _result(PROGRAMS[name], ours)
    assert found[1:] == expected[1:]


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")
def test_tensors_and_arrays_are_compared_by_their_elements() -> None:
    for torch in (theirs, ours):
        x, a = torch.tensor([1.0, 2.0]), np.array([1.0, 3.0], np.float32)
        for found in (x == a, a == x):
            assert isinstance(found, torch.Tensor)
            assert found.tolist() == [True, False]
        quotient: Any = a / x
        assert isinstance(quotient, torch.Tensor)
        assert quotient.tolist() == [1.0, 1.5]


OF_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "to": lambda torch, kind: torch.ones(2).to(kind),
    "to a device and a type": lambda torch, kind: torch.ones(2).to("cpu", kind),
    "to by name": lambda torch, kind: torch.ones(2).to(dtype=kind),
    "type": lambda torch, kind: torch.ones(2).type(kind),
    "as_tensor": lambda torch, kind: torch.as_tensor(torch.ones(2), dtype=kind),
    "full": lambda torch, kind: torch.full((2,), 1, dtype=kind),
    "sum": lambda torch, kind: torch.ones(2).sum(dtype=kind),
    "mean": lambda torch, kind: torch.ones(2).mean(dtype=kind),
    "prod": lambda torch, kind: torch.ones(2).prod(dtype=kind),
    "cumsum": lambda torch, kind: torch.ones(2).cumsum(0, dtype=kind),
    "softmax": lambda torch, kind: torch.zeros(2).softmax(0, dtype=kind),
    "vector_norm": lambda torch, kind: torch.linalg.vector_norm(torch.ones(4), dtype=kind),
    "view": lambda torch, kind: torch.ones(2, dtype=torch.float64).view(kind),
    "module": lambda torch, kind: torch.nn.Linear(1, 1).to(kind).bias * 0,
    "layer": lambda torch, kind: torch.nn.Linear(1, 1, dtype=kind).bias * 0,
    "promote_types": lambda torch, kind: torch.ones(1, dtype=torch.promote_types(kind, torch.int8)),
    "can_cast": lambda torch, kind: torch.tensor(torch.can_cast(kind, int)),
}


@pytest.mark.filterwarnings("ignore:Complex modules", "ignore:Casting complex")
@pytest.mark.parametrize("kind", [int, float, bool, complex, str])
@pytest.mark.parametrize("name", OF_PYTHON)
def test_pythons_types_stand_for_theirs(name: str, kind: Any) -> None:
    def program(torch: Any) -> Any:
        return OF_PYTHON[name](torch, kind)

    try:
        expected = _result(program, theirs)
    except NotImplementedError:
        expected = ("NotImplementedError", "")
    if isinstance(expected[1], str):  # refused: of the same kind, in words of our own
        with pytest.raises(Exception) as refused:
            program(ours)
        assert expected[0] in [base.__name__ for base in type(refused.value).__mro__]
    else:
        assert _result(program, ours)[1:] == expected[1:]
