"""What an editor knows of names that are registered: the stubs are up to date, and type checkers find them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import clarion as torch
import clarion.nn.functional as F
from clarion import nn

x = torch.randn(3, 4)
reveal_type(x.softmax(dim=1).sum())
reveal_type(F.relu(x))
reveal_type(torch.matmul(x, x.t()))
reveal_type(nn.Linear(2, 3).weight)
reveal_type(torch.optim.SGD([x], lr=0.1))
x.no_such_method()
F.no_such_function(x)
"""
KNOWN = ["Tensor", "Tensor", "Tensor", "Parameter", "SGD"]


def test_stubs_are_up_to_date():
    # In a process of its own: classes that override functions change how the functions look in this one.
    script = (
        "import json; from clarion.cli.stubs import stubs; print(json.dumps({str(p): t for p, t in stubs().items()}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    written = json.loads(done.stdout)
    stale = [Path(path).name for path, text in written.items() if Path(path).read_text() != text]
    assert written
    assert not stale, f"{stale}: run `python -m clarion.cli.stubs`"


def mypy(*arguments: str) -> str:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("needs mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=ROOT).stdout


def pyright(*arguments: str) -> list[dict[str, object]]:
    if shutil.which("pyright") is None:
        pytest.skip("needs pyright")
    done = subprocess.run(["pyright", "--outputjson", *arguments], capture_output=True, text=True, cwd=ROOT)
    return json.loads(done.stdout)["generalDiagnostics"]


def test_mypy_infers_tensors(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    found = mypy("--cache-dir", str(tmp_path / "cache"), str(tmp_path / "program.py")).splitlines()
    shown = [row.rpartition(".")[2].strip('"') for row in found if "Revealed type" in row]
    assert shown == KNOWN
    assert [row.rpartition("[")[2] for row in found if " error: " in row][:1] == ["attr-defined]"]


def test_pyright_infers_tensors(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    found = pyright("--pythonpath", sys.executable, str(tmp_path / "program.py"))
    messages = [str(each["message"]) for each in found]
    assert [text.split('"')[-2] for text in messages if text.startswith("Type of")] == KNOWN
    assert any("no_such_method" in text for text in messages)


def test_mypy_understands_the_examples(tmp_path):
    # The examples say no types: what is about their own variables is left out.
    own = [f"--disable-error-code={code}" for code in ("var-annotated", "assignment", "operator")]
    found = mypy("--cache-dir", str(tmp_path), *own, "examples")
    assert found.startswith("Success"), found


def test_pyright_understands_the_examples():
    found = pyright("--pythonpath", sys.executable, "examples")
    wrong = [f"{each['file']}: {each['message']}" for each in found if each["severity"] == "error"]
    assert not wrong
