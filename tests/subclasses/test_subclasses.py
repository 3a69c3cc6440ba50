"""Classes that compute for themselves give what they give on PyTorch (golden.json), and cost nobody else anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).with_name("golden.json")


def told(library: str) -> dict[str, object]:
    """What the programs say in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.subclasses.programs", library], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _close(a: object, b: object) -> bool:
    if isinstance(a, float):
        return a == pytest.approx(b, abs=2e-4)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def test_programs() -> None:
    golden, found = json.loads(GOLDEN.read_text()), told("clarion")
    for name, values in golden.items():
        assert _close(values, found[name]), f"{name}\n{values}\n{found[name]}"


def test_diagnoses_ask_them_nothing() -> None:
    """What a class is asked its program sees; so diagnoses ask for no values, and none fails."""
    watched = {**os.environ, "CLARION_DIAGNOSE": "on", "CLARION_DIAGNOSE_DEBUG": "1"}
    command = [sys.executable, "-m", "tests.subclasses.programs", "clarion"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=watched)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.compare
def test_golden_is_pytorchs() -> None:
    pytest.importorskip("torch", reason="the comparison needs PyTorch")
    golden, found = json.loads(GOLDEN.read_text()), told("torch")
    assert _close([*golden.values()], [*found.values()])


def test_a_class_that_is_only_defined_changes_nothing() -> None:
    code = (
        "import sys, clarion as torch\n"
        "class Own(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_dispatch__(cls, func, types, args=(), kwargs=None): return NotImplemented\n"
        "before = torch.ops.aten.add, torch.Tensor.__add__.__code__.co_filename\n"
        "(torch.ones(2, requires_grad=True) * 2).sum().backward()\n"
        "sys.exit('clarion.core.wrapped' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_class_must_compute() -> None:
    import clarion as torch

    class Bare(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Bare, (2,))
