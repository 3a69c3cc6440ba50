"""The programs of tests/semantics, live against PyTorch: the stored outcomes are still its own."""

from __future__ import annotations

import pytest

from tests.semantics.programs import Program, all_programs, load, observe, same

pytest.importorskip("torch", reason="the comparison needs PyTorch")


@pytest.mark.parametrize("program", all_programs(), ids=str)
def test_program_vs_torch(program: Program) -> None:
    expected = observe(program, load("torch"))
    found = observe(program, load("clarion"))
    assert same(found, expected), f"clarion: {found}\nPyTorch: {expected}"
