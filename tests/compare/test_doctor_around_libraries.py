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
