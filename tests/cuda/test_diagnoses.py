"""Diagnoses on the GPU: what is found out there is told, a step later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clarion

if not clarion.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

PROGRAM = """import clarion as torch
w = torch.nn.Parameter(torch.zeros(3, device="cuda"))
optimizer = torch.optim.SGD([w], lr=0.1)
for i in range(4):
    optimizer.zero_grad()
    root = torch.sqrt(w * w)
    root.sum().backward()
    optimizer.step()
"""


def said(tmp_path: Path, text: str) -> str:
    """What is said of a program."""
    program = tmp_path / "train.py"
    program.write_text(text)
    told = {name: value for name, value in os.environ.items() if name != "CLARION_DIAGNOSE"}
    told["PYTHONPATH"] = str(Path(clarion.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300, check=True, env=told
    )
    assert "was taken out" not in done.stderr
    return done.stderr


def test_the_operation_whose_gradient_is_not_finite(tmp_path: Path):
    found = said(tmp_path, PROGRAM)
    assert "non-finite-backward" in found
    assert "train.py:6" in found
    assert "sqrt" in found


BIRTHS = {
    "torch.log(w - 1)": "`log` gives -inf at [0], where its input is 0",
    "torch.log(w - 2) * w": "`log` gives nan at [0], where its input is -1",
    "w / (w - 1).detach()": "`div` gives inf at [0]",
    "torch.exp(w * 200)": "`exp` gives inf at [0], where its input is 200",
    "torch.softmax(w * 0 - float('inf'), 0) * w": "softmax",
    "(w - 2) ** 0.5": "`pow` gives nan at [0], where its input is -1",
}


@pytest.mark.parametrize("expression", BIRTHS)
def test_the_operation_whose_value_is_not_finite(expression: str, tmp_path: Path):
    text = PROGRAM.replace("torch.zeros(3,", "torch.ones(3,").replace("torch.sqrt(w * w)", expression)
    found = said(tmp_path, text)
    assert "non-finite-forward" in found
    assert "train.py:6" in found
    assert BIRTHS[expression] in found
