"""Every program of `cases/`: a broken one gets its finding at its line and no other, a legitimate one gets none."""

from __future__ import annotations

import pytest

from tests.diagnose.harness import CASES, complaints, run

PROGRAMS = sorted(CASES.rglob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=[f"{p.parent.name}/{p.name.removesuffix('.py')}" for p in PROGRAMS])
def test_program(path) -> None:
    assert complaints(path, run(path, thorough=path.parent.name == "custom-backward-wrong")) == []
