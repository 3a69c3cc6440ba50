"""Portable kernels are portable: every kernel that a row of the table runs, forward and backward, runs on strict arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from clarion.kernels import registry
from clarion.kernels.batched.levels import Mapped

from ..opcases import ROWS, Row
from .calls import Call, Number, as_numpy, compare, keep, run, watching
from .strict import StrictArray, xp

# On the way into `vmap` and out of it: what all samples hold is NumPy's, and nothing else yet.
MAPPED = ("batch", "unbatch", "unbatch_view", "same_for_all", "sum_of_samples", "common_sample")


@pytest.fixture(scope="module")
def calls() -> Iterator[list[Call]]:
    registry.know("strict", StrictArray, xp)
    with watching() as made:
        yield made
    registry.forget("strict")


def as_strict(value: Any) -> Any:
    if isinstance(value, Number):
        return value.array[()]
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if type(value) in (tuple, list):
        return type(value)(map(as_strict, value))
    return {key: as_strict(each) for key, each in value.items()} if type(value) is dict else value


def inner(value: Any) -> Any:
    assert not isinstance(value, np.ndarray), "a NumPy array came out"
    if isinstance(value, StrictArray):
        return value._inner
    return list(map(inner, value)) if type(value) in (tuple, list) else value


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_portable(row: Row, calls: list[Call]) -> None:
    calls.clear()
    run(row)
    for name, args, kwargs in list(calls):
        if name in MAPPED or any(isinstance(each, Mapped) for each in args):
            continue
        with np.errstate(all="ignore"):
            expected = registry.portable(name)(*as_numpy(keep(args)), **keep(kwargs))
            got = inner(registry.portable(name, xp)(*as_strict(keep(args)), **as_strict(keep(kwargs))))
        compare(got, expected, name, 1e-10, 1e-12)
