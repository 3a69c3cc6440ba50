"""The house itself: import, command line, package data, public names, benchmarks, README."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import clarion

ROOT = Path(clarion.__file__).resolve().parent.parent
IMPORT_LIMIT = 0.25  # seconds of processor time beyond a bare interpreter


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """`python(*arguments)` runs a fresh interpreter, whose bytecode is kept even where none is to be written."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
    env |= {"PYTHONWARNINGS": "error", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "160"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=cwd, env=env, timeout=120)

    return run


# Import ----------------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_import_is_quick(python):
    def cost(statement: str) -> float:
        """Processor time from the start of an interpreter to the end of a statement: the best of several."""
        script = f"import time; {statement}; print(time.process_time())"
        return min(float(python("-c", script).stdout) for _ in range(5))

    python("-c", "import clarion")  # compiles
    bare, numpy, ours = cost("pass"), cost("import numpy"), cost("import clarion")
    assert ours - bare < IMPORT_LIMIT, (
        f"import clarion takes {ours - bare:.3f} s, of which NumPy alone {numpy - bare:.3f} s (limit {IMPORT_LIMIT} s)"
    )


@pytest.mark.smoke
def test_import_leaves_heavy_packages_alone(python):
    done = python("-c", "import sys, clarion; print([m for m in ('scipy', 'rich', 'torch') if m in sys.modules])")
    assert done.stdout.strip() == "[]"


def modules() -> list[str]:
    """All modules of the package."""
    found = [module.name for module in pkgutil.walk_packages(clarion.__path__, "clarion.")]
    return [name for name in found if not name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_module_imports(name):
    if name.startswith("clarion.utils.tensorboard"):
        pytest.importorskip("tensorboard", reason="its files are read by tensorboard")
    if name.startswith(
        ("clarion.kernels.cuda", "clarion.kernels.triton", "clarion.cuda.present", "clarion.cuda.graph")
    ):
        pytest.importorskip("cupy", reason="needs cupy")
    if name.startswith("clarion.doctor."):
        pytest.importorskip("torch", reason="the comparison needs PyTorch")
    if name == "clarion.doctor.transformers":
        pytest.importorskip("transformers", reason="a callback of the Trainer")
    if name == "clarion.doctor.lightning" and importlib.util.find_spec("pytorch_lightning") is None:
        pytest.importorskip("lightning", reason="a callback of Lightning")  # either of the two names will do
    importlib.import_module(name)


@pytest.mark.parametrize(
    "name", ["clarion.nn", "clarion.optim", "clarion.autograd", "clarion.utils.checkpoint", "clarion.cli.main"]
)
def test_modules_import_first(python, name):
    done = python("-c", f"import {name}")
    assert done.returncode == 0, done.stderr


# Names -----------------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_every_public_name_is_there():
    for name in [*dir(clarion), *getattr(clarion, "__all__", ())]:
        getattr(clarion, name)
    for module in ("nn", "nn.functional", "optim", "autograd", "linalg", "special", "cuda", "utils", "testing"):
        owner = importlib.import_module(f"clarion.{module}")
        for name in [*dir(owner), *getattr(owner, "__all__", ())]:
            getattr(owner, name)


def test_a_missing_name_is_named():
    with pytest.raises(AttributeError, match=r"clarion does not have torch\.AliasDb yet"):
        clarion.AliasDb
    with pytest.raises(AttributeError, match=r"module 'clarion' has no attribute 'no_such_thing'"):
        clarion.no_such_thing  # which PyTorch does not have either


def test_a_function_is_not_hidden_by_its_module(python):
    done = python("-c", "import clarion.autograd.gradcheck; print(callable(clarion.autograd.gradcheck))")
    assert done.stdout.strip() == "True", done.stderr


def test_functions_are_documented():
    from clarion.ops.faces.api import FUNCTIONS, METHODS, NN_FUNCTIONAL

    tables = (FUNCTIONS, METHODS, NN_FUNCTIONAL)
    documented = {name for table in tables for name, f in table.items() if f.__doc__}
    bare = sorted(
        name for name in {**FUNCTIONS, **NN_FUNCTIONAL} if name not in documented and not name.endswith("Tensor")
    )
    assert not bare, f"functions without a word of help: {bare}"


def test_version():
    from clarion.version import __version__

    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^version = "(.+)"', text, re.M)[1] == __version__ == clarion.__version__


def test_typing_information_is_shipped():
    assert (ROOT / "clarion" / "py.typed").exists()
    assert "py.typed" in (ROOT / "pyproject.toml").read_text()


# Command line ----------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_help(python):
    done = python("-m", "clarion", "--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert python("-m", "clarion").stdout == done.stdout
    assert python("-m", "clarion", "--version").stdout.strip() == f"clarion {clarion.__version__}"


@pytest.mark.smoke
def test_demo_learns(python):
    done = python("-m", "clarion", "demo", "--epochs", "1")
    assert done.returncode == 0, done.stderr
    epoch = re.search(r"epoch 1 +loss (\d\.\d+) +test accuracy (\d+\.\d)% +gradient norms: 0\.weight \d", done.stdout)
    assert epoch, done.stdout
    assert float(epoch[1]) < 2.3  # better than guessing
    assert float(epoch[2]) > 30


@pytest.mark.parametrize("value", ["0", "-1", "two"])
def test_demo_refuses_senseless_epochs(python, value):
    done = python("-m", "clarion", "demo", "--epochs", value)
    assert done.returncode == 2
    assert f"a whole number from 1 was expected, not '{value}'" in done.stderr
    assert "Traceback" not in done.stderr


# Benchmarks and README -------------------------------------------------------------------------------------


def test_benchmarks_run_without_torch(python):
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "sys.argv = ['benchmarks', 'chain_forward', '--rounds', '1']\n"
        "import runpy; runpy.run_module('benchmarks', run_name='__main__')"
    )
    done = python("-c", script)
    assert done.returncode == 0, done.stderr
    assert "PyTorch is not installed: only clarion is measured" in done.stderr
    assert re.search(r"^chain_forward +\d+\.\d µs", done.stdout, re.M)


def readme_blocks() -> tuple[str, str]:
    """The README's program and what it is said to print."""
    text = (ROOT / "README.md").read_text().partition("## What it says when it raises")[2]
    program, printed = re.search(r"```python\n(.*?)```\s*```\n(.*?)```", text, re.S).groups()
    return program, printed


def flat(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())


@pytest.mark.smoke
def test_readme_prints_what_it_prints(python, tmp_path):
    program, printed = readme_blocks()
    # The README starts counting at its import.
    (tmp_path / "train.py").write_text(program)
    done = python("train.py", cwd=tmp_path)
    assert done.returncode == 1
    shown = flat(done.stderr)
    for part in printed.split("…"):
        assert flat(part) in shown, done.stderr
