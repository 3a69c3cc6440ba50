"""Processes that a program starts: there, too, `import torch` gives clarion; what is found in them is told with the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import clarion

ROOT = Path(clarion.__file__).resolve().parent.parent

TRAINER = """
    import torch

    def train(rank, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(8):
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
"""
METHODS = ["fork", "spawn", "forkserver"]
BY_MULTIPROCESSING = """
import multiprocessing
import sys
from trainer import *

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1).share_memory()
    mp = multiprocessing.get_context("METHOD")
    workers = [mp.Process(target=train, args=(rank, model)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
"""
BY_SUBPROCESS = """
import subprocess, sys
done = subprocess.run([sys.executable, "alone.py"], stdout=subprocess.PIPE, stderr=subprocess.{stderr}, text=True)
print(done.stdout, end="")
"""
ALONE = "import sys\nfrom trainer import *\nprint(torch.__version__.endswith('+clarion'), len(sys.path))\ntrain(0, torch.nn.Linear(4, 1))\n"


@pytest.fixture
def python(tmp_path):
    """`python(*arguments)` in a folder where `trainer.py` never clears its gradients."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("PYTHONWARNINGS", "CLARION_DIAGNOSE", "CLARION_DIAGNOSE_ALLOW"):
        env.pop(name, None)
    (tmp_path / "trainer.py").write_text(textwrap.dedent(TRAINER))

    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env | more, timeout=120)

    return run


@pytest.fixture
def run(python, tmp_path):
    """`run(text, *options)`: the program under `clarion run`, and where something was found."""

    def run(text: str, *options: str) -> tuple[subprocess.CompletedProcess[str], list[tuple[str, str, int]]]:
        (tmp_path / "program.py").write_text(text)
        done = python("-m", "clarion", "run", "--engine", "clarion", "--json", "found.json", *options, "program.py")
        found = json.loads((tmp_path / "found.json").read_text())
        return done, [(f["name"], Path(f["file"]).name, f["line"]) for f in found]

    return run


@pytest.mark.parametrize("method", METHODS)
def test_two_that_train_are_diagnosed(run, method):
    done, found = run(BY_MULTIPROCESSING.replace("METHOD", method))
    assert done.stdout == "[0, 0]\n", done.stderr
    assert found == [("stale-gradient", "trainer.py", 8)]  # both have it: it is told once
    assert "clarion: 1 finding\n" in done.stderr


def test_strict_stops_them_and_says_so(run):
    text = BY_MULTIPROCESSING.replace("METHOD", "spawn") + "    sys.exit(any(worker.exitcode for worker in workers))\n"
    done, found = run(text, "--strict")
    assert done.stdout == "[1, 1]\n", done.stderr
    assert done.returncode == 3
    assert found == [("stale-gradient", "trainer.py", 8)]


def test_nothing_is_said_where_nothing_was_found(run):
    text = BY_MULTIPROCESSING.replace("METHOD", "fork")
    done, found = run(text.replace("target=train, args=(rank, model)", "target=len, args=('x',)"))
    assert (done.stdout, found) == ("[0, 0]\n", [])
    assert "clarion" not in done.stderr


@pytest.mark.parametrize("stderr", ["PIPE", "STDOUT"])
def test_another_program_whose_errors_are_read(run, python, tmp_path, stderr):
    (tmp_path / "alone.py").write_text(ALONE)
    done, found = run(BY_SUBPROCESS.format(stderr=stderr))
    plain = python("-c", "import sys; print(len(sys.path))").stdout
    assert done.stdout == f"True {plain}"  # nothing of ours is in it, nor in sys.path
    assert found == [("stale-gradient", "trainer.py", 8)]
    assert done.stderr.count("stale-gradient") == 1  # in the summary


def test_what_lies_between_is_passed_through(run, tmp_path):
    (tmp_path / "alone.py").write_text(ALONE)
    (tmp_path / "between.py").write_text(BY_SUBPROCESS.format(stderr="DEVNULL"))
    _, found = run(BY_SUBPROCESS.format(stderr="DEVNULL").replace("alone.py", "between.py"))
    assert found == [("stale-gradient", "trainer.py", 8)]


def test_the_environments_own_sitecustomize_is_still_imported(python, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins; builtins.mine = 'mine'\n")
    (tmp_path / "program.py").write_text(
        "import subprocess, sys\n"
        "text = 'import sitecustomize; print(mine, sitecustomize.__file__.count(\"/own/\"))'\n"
        "print(subprocess.run([sys.executable, '-c', text], stdout=subprocess.PIPE, text=True).stdout)\n"
    )
    done = python("-m", "clarion", "run", "program.py", PYTHONPATH=os.pathsep.join([str(ROOT), str(tmp_path / "own")]))
    assert done.stdout.split() == ["mine", "1"], done.stderr


def test_alias_reaches_them_until_it_ends():
    before = dict(os.environ)
    command = [sys.executable, "-c", "import torch; print(torch.__version__.endswith('+clarion'))"]
    from clarion.torch_alias import alias

    with alias():
        assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout == "True\n"
    assert dict(os.environ) == before


def test_without_clarions_libraries_it_goes_on(python, tmp_path):
    """Another environment, say, in which NumPy is not installed."""
    (tmp_path / "program.py").write_text(
        "import subprocess, sys\n"
        "text = 'import sys; sys.modules[\"numpy\"] = None\\ntry: import torch\\nexcept ImportError: print(1)\\nelse: print(0)'\n"
        "done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True)\n"
        "print(done.stdout, done.stderr.count('goes on without it'))\n"
    )
    done = python("-m", "clarion", "run", "--engine", "clarion", "program.py")
    assert done.stdout.split()[1] == "1", done.stderr
