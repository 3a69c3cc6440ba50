"""Classes that take calls over without being tensors: nobody is told of them, and they are asked all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import clarion

ROOT = Path(clarion.__file__).resolve().parent.parent

CLASS = """
class Constant:
    def __init__(self, n, value):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return HANDLED[func](*args, **(kwargs or {})) if func in HANDLED else NotImplemented

HANDLED = {torch.trace: lambda x: x.n * x.value, torch.add: lambda x, y: "added"}
"""
USE = """
print(torch.trace(Constant(3, 2.0)), torch.add(torch.ones(1), Constant(3, 2.0)))
try:
    torch.exp(Constant(3, 2.0))
except TypeError as error:
    print("no implementation" in str(error) or "NotImplemented" in str(error))
"""
SAID = "6.0 added\nTrue\n"


@pytest.mark.parametrize("where", ["the program", "a module"])
def test_a_program_as_it_was_written(tmp_path, where):
    own, module = ("import torch\n" + CLASS + USE, "") if where == "the program" else (
        "import torch\nfrom constants import Constant\n" + USE, "import torch\n" + CLASS)  # fmt: skip
    (tmp_path / "constants.py").write_text(module)
    (tmp_path / "program.py").write_text(own)
    assert _output("-m", "clarion", "run", "--engine", "clarion", str(tmp_path / "program.py")) == SAID


def test_a_program_that_imports_clarion(tmp_path):
    (tmp_path / "program.py").write_text("import clarion as torch\n" + CLASS + USE)
    assert _output(str(tmp_path / "program.py")) == SAID


def test_a_program_without_such_classes_runs_the_functions_themselves(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch, torch.nn, torch.optim, torch.utils.data, torch.distributions\n"
        "import sys\nprint(bool(sys.modules['clarion.core.overriding']._below))\n"
    )
    assert _output("-m", "clarion", "run", "--engine", "clarion", str(tmp_path / "program.py")) == "False\n"


def _output(*command):
    env = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=env, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_of_arguments_are_known_to_functions_that_look_first(tmp_path):
    (tmp_path / "program.py").write_text(
        "import clarion as torch\n" + CLASS + "print(torch.ones(2, 3).nanmean().item())\n"
    )
    assert _output(str(tmp_path / "program.py")) == "1.0\n"
