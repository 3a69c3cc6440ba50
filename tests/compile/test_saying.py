"""What is said of compiled functions: CLARION_LOGS, and diagnoses that name lines inside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

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
history = []


@torch.compile
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean() / x.mean()
    loss.backward()
    optimizer.step()
    history.append(float(loss))


for i in range(14):
    step(torch.full((3, 4), 0.0 if i == 9 else 1.0))
print(len(history), [float(h - h) for h in history[:3]])
"""


def _found(tmp_path, program, env=None):
    """What is said of a program that runs under `clarion run`."""
    path, found = tmp_path / "train.py", tmp_path / "found.json"
    path.write_text(program)
    command = [sys.executable, "-W", "ignore", "-m", "clarion", "run", "--json", str(found), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **(env or {})})
    return [each for each in json.loads(found.read_text()) if each["name"].startswith("non-finite")], done.stdout


def _line(program, text):
    return program[: program.index(text)].count("\n") + 1


@pytest.mark.parametrize("compiler", ["1", "0"])
def test_what_goes_wrong_in_a_replay_is_found_at_its_line(tmp_path, compiler):
    findings, out = _found(tmp_path, PROGRAM, {"CLARION_COMPILE": compiler})
    assert [each["line"] for each in findings] == [_line(PROGRAM, "loss = model")]
    assert "finite gradients" not in json.dumps(findings)
    assert out.split() == ["14", "[0.0,", "0.0,", "0.0]"]  # nothing is left of the second time


def test_what_goes_wrong_late_in_a_training_is_found_at_its_line(tmp_path):
    """There what a call began with is kept every few calls only."""
    program = PROGRAM.replace("range(14)", "range(1300)").replace("i == 9", "i == 1207")
    assert [each["line"] for each in _found(tmp_path, program)[0]] == [_line(program, "loss = model")]
    program = program.replace("if i == 1207 else 1.0", "+ i * i").replace("/ x.mean()", "* torch.exp(x.mean() / 16500)")
    findings, _ = _found(tmp_path, program.replace("lr=", "lr=0*"))
    assert [each["line"] for each in findings] == [_line(program, "loss = model")]


def test_a_gradient_that_goes_wrong_in_a_replay_is_found_at_its_line(tmp_path):
    program = PROGRAM.replace(
        "loss = model(x).square().mean() / x.mean()", "loss = (model(x) * x).square().sum().sqrt()"
    )
    findings, _ = _found(tmp_path, program)
    assert [(each["name"], each["line"]) for each in findings] == [
        ("non-finite-backward", _line(program, "loss = (model"))
    ]
