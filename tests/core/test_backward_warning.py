"""backward(create_graph=True) leaves a reference cycle on leaves: said once per process, at the user's line."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import clarion as torch

x = torch.ones(2, requires_grad=True)
for _ in range(3):
    (x * x).sum().backward(create_graph=True)
torch.autograd.grad((x * x).sum(), x, create_graph=True)
"""


def test_said_once_with_the_line() -> None:
    done = subprocess.run([sys.executable, "-W", "always", "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stderr.count("UserWarning: Using backward() with create_graph=True will create a reference cycle") == 1
    assert "<string>:6" in done.stderr
