"""The house keeps its own rules: short files and functions, and the checkers of pyproject.toml where they are installed."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import clarion

ROOT = Path(clarion.__file__).resolve().parent.parent
FILE_LIMIT = 500
FUNCTION_LIMIT = 60  # lines after the signature
# Spelled out for speed: one call of a helper costs as much as the rest of the line.
SPELLED_OUT = {("clarion/core/engine.py", "run")}


def sources(*folders: str) -> list[Path]:
    """All Python files below the folders, relative to the repository."""
    return [path.relative_to(ROOT) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body."""
    return (function.end_lineno or 0) - function.body[0].lineno + 1


def test_files_are_short():
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in sources("clarion", "tests")}
    assert {path: n for path, n in lengths.items() if n > FILE_LIMIT} == {}


def test_functions_are_short():
    long = []
    for path in sources("clarion"):
        tree = ast.parse((ROOT / path).read_text())
        exempt = {name for file, name in SPELLED_OUT if file == path.as_posix()}
        spared = {id(inner) for f in ast.walk(tree) if getattr(f, "name", None) in exempt for inner in ast.walk(f)}
        functions = [f for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]
        long += [f"{path}: {f.name}" for f in functions if id(f) not in spared and length(f) > FUNCTION_LIMIT]
    assert long == []


@pytest.mark.parametrize(
    ("package", "command"),
    [("ruff", "ruff check ."), ("ruff", "ruff format --check ."), ("mypy", "mypy"), ("import-linter", "lint-imports")],
)
def test_checkers_are_content(package: str, command: str):
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["lint"]
    try:
        installed = f"{package}=={metadata.version(package)}"
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    if installed not in pinned:
        pytest.skip(f"{installed} may judge otherwise than the version in pyproject.toml")
    tool, *arguments = command.split()
    tool = str(Path(sys.executable).with_name(tool))
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
