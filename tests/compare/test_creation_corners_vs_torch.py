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
    "several dimensions of a product": lambda torch: torch.ones(2, 2).prod([0, 1]),
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
    "a capsule": lambda torch: torch.asarray(torch.utils.dlpack.to_dlpack(torch.arange(3.0))),
}


def _result(program: Callable[[Any], Any], torch: Any) -> Any:
    try:
        x = program(torch)
    except (ValueError, RuntimeError, TypeError) as error:
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
