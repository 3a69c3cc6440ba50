"""What is said of compiled functions: CLARION_LOGS, and diagnoses that name lines inside them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

import clarion as torch
from clarion.compiling import logs

pytestmark = pytest.mark.filterwarnings("ignore::clarion.compiling.function.CompileWarning")


def test_logs_tell_versions_and_steps(monkeypatch, capsys):
    monkeypatch.setattr(logs, "wanted", frozenset(["recompiles", "steps"]))
    factor = 2.0

    def scaled(x):
        return (x * factor).sum()

    fast = torch.compile(scaled)
    for _ in range(4):
        fast(torch.ones(3))
    factor = 3.0
    for _ in range(2):
        fast(torch.ones(3))
    said = capsys.readouterr().err
    assert "scaled: version 1, the first of its kind of arguments" in said
    assert "scaled: version 2, factor has changed" in said
    assert "is replayed in 2 steps" in said
    assert "return (x * factor).sum()" in said
    refused = torch.compile(lambda x: x if x.sum() > 0 else -x)
    for _ in range(3):
        refused(torch.ones(3))
    assert "runs as it is written: a value is read on the host" in capsys.readouterr().err


def test_nothing_is_said_unasked(capsys):
    fast = torch.compile(lambda x: x * 2)
    for _ in range(4):
        fast(torch.ones(3))
    assert capsys.readouterr().err == ""


PROGRAM = """import clarion as torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean() / x.mean()
    loss.backward()
    optimizer.step()
    return loss


for i in range(14):
    step(torch.full((3, 4), 0.0 if i == 9 else 1.0))
"""


@pytest.mark.xfail(
    find_spec("llvmlite") is None,
    reason="a replay that is not native names the line that calls the function: errors of its kernels carry no other",
    strict=True,
)
def test_what_goes_wrong_in_a_replay_is_found_at_a_line_of_the_function(tmp_path):
    program, found = tmp_path / "train.py", tmp_path / "found.json"
    program.write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-m", "clarion", "run", "--json", str(found), str(program)]
    subprocess.run(command, check=True, capture_output=True)
    findings = [each for each in json.loads(found.read_text()) if each["name"].startswith("non-finite")]
    inside = range(
        PROGRAM[: PROGRAM.index("def step")].count("\n") + 2, PROGRAM[: PROGRAM.index("return")].count("\n") + 1
    )
    assert findings
    assert all(each["line"] in inside and each["file"] == str(program) for each in findings)
