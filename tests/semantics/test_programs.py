"""Every program of this folder gives on clarion what it gives on PyTorch (stored in golden/)."""

from __future__ import annotations

import pytest

from .programs import Program, all_programs, golden, load, observe, same


@pytest.mark.parametrize("program", all_programs(), ids=str)
def test_program(program: Program) -> None:
    expected = golden(program.area)[program.name]
    found = observe(program, load("clarion"))
    assert same(found, expected), f"clarion: {found}\nPyTorch: {expected}"
