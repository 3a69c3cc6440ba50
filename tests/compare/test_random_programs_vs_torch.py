"""Random programs of views, writes, broadcasts and types show on clarion what they show on PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest

import clarion

from .random_programs import run, steps

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def alike(a: Any, b: Any) -> bool:
    """Equal, numbers up to rounding."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-3, abs_tol=2e-4)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + 50):
        theirs, ours = run(torch, seed), run(clarion, seed)
        for k, (a, b) in enumerate(zip(theirs, ours, strict=False)):
            if a == "RuntimeError" and b == "done":
                break  # overlapping memory, which only PyTorch refuses (docs/differences.md)
            at = steps(seed)[k] if k < len(steps(seed)) else "the end"
            assert alike(a, b), f"seed {seed}, {at}\nPyTorch {a}\nclarion {b}"
