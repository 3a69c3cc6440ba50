"""The diagnoses on PyTorch under what people train with: trainers, ranks, torch.compile, pytest. The same findings, nothing else changed.

The libraries are none of the project's requirements: what is not installed is skipped. All of them:
pip install lightning transformers accelerate pytorch-ignite
"""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from tests.diagnose.harness import marks_of

PROGRAMS = Path(__file__).parents[1] / "doctor" / "programs"


def _needs(*modules):
    """Skipped unless one of these is installed."""
    there = any(find_spec(name) is not None for name in modules)
    return pytest.mark.skipif(not there, reason=f"{modules[0]} is not installed")


def _python(*arguments, cwd):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300)


def _check(name, folder, *arguments):
    """Broken: the marked finding at the marked line. Right: none. The output is the program's own either way."""
    path = PROGRAMS / name
    expected = marks_of(path).expect
    for variant, wanted in (("broken", expected), ("clean", set())):
        alone = _python("-W", "ignore", path, variant, *arguments, cwd=folder)
        command = ("-m", "clarion", "run", "--engine", "torch", "--json", "found.json", path, variant, *arguments)
        watched = _python("-W", "ignore", *command, cwd=folder)
        assert (watched.returncode, watched.stdout) == (alone.returncode, alone.stdout), watched.stderr
        found = {(f["name"], f["line"]) for f in json.loads(Path(folder, "found.json").read_text())}
        assert found == wanted, (variant, watched.stderr)


@_needs("lightning", "pytorch_lightning")
def test_lightning(tmp_path):
    _check("lightning_module.py", tmp_path)


@_needs("transformers")
@_needs("accelerate")
def test_hugging_face_trainer(tmp_path):
    _check("huggingface_trainer.py", tmp_path)


@_needs("accelerate")
def test_accelerate(tmp_path):
    _check("with_accelerate.py", tmp_path)


@_needs("ignite")
def test_ignite(tmp_path):
    _check("with_ignite.py", tmp_path)


def test_compiled(tmp_path):
    _check("compiled_step.py", tmp_path)


@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="inductor needs a C++ compiler"
)
def test_compiled_by_inductor(tmp_path):
    _check("compiled_step.py", tmp_path, "inductor")


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
@pytest.mark.parametrize(("variant", "count"), [("broken", 1), ("clean", 0)])
def test_two_ranks_tell_once(tmp_path, variant, count):
    done = _python("-W", "ignore", PROGRAMS / "two_ranks.py", variant, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = next(iter(marks_of(PROGRAMS / "two_ranks.py").expect))[1]
    told = [text for text in done.stdout.splitlines() if text.startswith("FOUND")]
    assert len(told) == count, done.stdout
    assert all(text.startswith(f"FOUND stale-gradient {line} rank ") for text in told)


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_ranks_that_a_program_starts(tmp_path, method):
    _check("spawned_ranks.py", tmp_path, method)


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_ranks_that_torchrun_starts(tmp_path):
    path = PROGRAMS / "spawned_ranks.py"
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", path)
    done = _python("-m", "clarion", "run", "--engine", "torch", "--json", "found.json", *torchrun, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(Path(tmp_path, "found.json").read_text())
    assert {(f["name"], f["line"]) for f in found} == marks_of(path).expect
    assert [f["what"].partition(":")[0] for f in found] in (["rank 0"], ["rank 1"])


def test_processes_of_a_watched_program(tmp_path):
    """They are watched as long as the program is."""
    Path(tmp_path, "trainer.py").write_text(
        "import torch\n"
        "model = torch.nn.Linear(4, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
        "for _ in range(8):\n"
        "    model(torch.randn(8, 4)).pow(2).mean().backward()\n"
        "    optimizer.step()\n"
    )
    Path(tmp_path, "program.py").write_text(
        "import subprocess, sys, clarion.doctor\n"
        "command = [sys.executable, 'trainer.py']\n"
        "with clarion.doctor.watch():\n"
        "    print(subprocess.run(command, capture_output=True, text=True).stderr.count('warn  stale-gradient trainer.py:6'))\n"
        "print(subprocess.run(command, capture_output=True, text=True).stderr.count('stale-gradient'))\n"
    )
    done = _python("program.py", cwd=tmp_path)
    assert done.stdout == "1\n0\n", done.stderr


def test_pytest_fails_on_findings(tmp_path):
    Path(tmp_path, "test_training.py").write_text(
        "import pytest, torch\n"
        "def train(clear):\n"
        "    model = torch.nn.Linear(3, 1)\n"
        "    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
        "    for _ in range(6):\n"
        "        if clear:\n"
        "            optimizer.zero_grad()\n"
        "        model(torch.ones(4, 3)).mean().backward()\n"
        "        optimizer.step()\n"
        "def test_right(): train(True)\n"
        "def test_wrong(): train(False)\n"
        "@pytest.mark.clarion_allow('stale-gradient')\n"
        "def test_allowed(): train(False)\n"
        "def test_raises():\n"
        "    with pytest.raises(ZeroDivisionError):\n"
        "        1 / 0\n"
    )
    # The plugin is there by itself where clarion is installed; here it may only lie on the path.
    installed = any(found.name == "clarion" for found in _entry_points())
    plugin = () if installed else ("-p", "clarion.doctor.pytest_plugin")
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *plugin)
    plain = _python(*command, "test_training.py", cwd=tmp_path)
    assert plain.returncode == 0, plain.stdout + plain.stderr
    watched = _python(*command, "--clarion", "-W", "ignore", "test_training.py", cwd=tmp_path)
    assert "1 failed, 3 passed" in watched.stdout, watched.stdout + watched.stderr
    assert "stale-gradient" in watched.stdout
    assert "test_training.py:9" in watched.stdout


def _entry_points():
    from importlib.metadata import entry_points

    return entry_points(group="pytest11")
