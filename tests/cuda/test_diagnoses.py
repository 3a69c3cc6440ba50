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


def test_the_operation_whose_gradient_is_not_finite(tmp_path: Path):
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    told = {name: value for name, value in os.environ.items() if name != "CLARION_DIAGNOSE"}
    told["PYTHONPATH"] = str(Path(clarion.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300, check=True, env=told
    )
    assert "non-finite-backward" in done.stderr
    assert "train.py:6" in done.stderr
    assert "sqrt" in done.stderr
