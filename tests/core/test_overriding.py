"""`__torch_function__`: programs that take calls over give what they give on PyTorch; plain tensors pay nothing for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .overriding_programs import main as run_programs  # noqa: F401  (importable without PyTorch)

GOLDEN = json.loads(Path(__file__).with_name("overriding.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, object]:
    """What the programs give here, in a process of their own."""
    command = [sys.executable, "-m", "tests.core.overriding_programs", "clarion"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("program", sorted(GOLDEN))
def test_program(program: str, outcomes: dict[str, object]) -> None:
    assert outcomes[program] == GOLDEN[program]


def test_nothing_is_installed_before_somebody_takes_calls_over() -> None:
    text = "import clarion, clarion.nn; from clarion.core import overriding; assert not overriding._below"
    subprocess.run([sys.executable, "-c", text], check=True)
