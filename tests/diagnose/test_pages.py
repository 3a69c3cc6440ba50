"""Every diagnosis has a page, a row in docs/diagnoses.md, and what the documents say it prints is what it prints."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import clarion
from clarion.cli.main import main
from clarion.diagnose import Finding, catalogue

ROOT = Path(clarion.__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "diagnoses.md"
RULES = catalogue()


def rows() -> dict[str, list[str]]:
    """The table of the guide: name -> level, what, silent."""
    table = GUIDE.read_text(encoding="utf-8").partition("## The diagnoses")[2]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in cells}


def levels(rule: type) -> set[str]:
    """The levels that a rule reports at: its own, and those that its file names."""
    tree = ast.parse(Path(inspect.getfile(rule)).read_text(encoding="utf-8"))
    named = {node.id.lower() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {rule.level} | named & {"error", "warn", "info"}


def programs(page: str) -> dict[str, str]:
    """The indented programs after `Broken:` and `Fixed:`."""
    found = re.findall(r"^(Broken|Fixed):\n\n((?:(?: {4}.*)?\n)+)", page + "\n", re.MULTILINE)
    return {title: dedent(text) for title, text in found}


def test_the_table_is_the_catalogue() -> None:
    assert list(rows()) == sorted(RULES)


@pytest.mark.parametrize("name", RULES)
def test_row(name: str) -> None:
    level, what, _ = rows()[name]
    said = set(level.split(", "))
    assert ("thorough" in said) is RULES[name].thorough
    assert said - {"thorough"} == levels(RULES[name])
    assert 10 < len(what) < 130


@pytest.mark.parametrize("name", RULES)
def test_page(name: str) -> None:
    page = inspect.getdoc(RULES[name])
    assert page is not None
    assert re.match(r"\S.*[.:]", page), "the first line stands for the page where all are listed"
    shown = programs(page)
    assert list(shown) == ["Broken", "Fixed"]
    for text in shown.values():
        ast.parse(text.replace("…", "..."))
    assert shown["Broken"] != shown["Fixed"]
    assert RULES[name].why or "why=" in inspect.getsource(RULES[name]), "why it matters"


def test_the_page_is_shown(capsys) -> None:
    assert main(["explain", "stale-gradient"]) == 0
    printed = capsys.readouterr().out
    assert inspect.getdoc(RULES["stale-gradient"]) in printed


def test_the_guide_names_every_field_and_every_function() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for field in Finding.__dataclass_fields__:
        assert f"`{field}`" in text
    for function in ("findings", "off", "on", "strict", "summary", "thorough"):
        assert callable(getattr(clarion.diagnose, function))
        assert f"clarion.diagnose.{function}(" in text


def test_the_environment_is_as_the_guide_says() -> None:
    config = (ROOT / "clarion" / "config.py").read_text(encoding="utf-8")
    for variable in re.findall(r"`(CLARION_\w+)", GUIDE.read_text(encoding="utf-8")):
        assert f'"{variable}"' in config


@pytest.mark.smoke
def test_readme_says_out_loud_what_it_says(tmp_path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it says out loud")[2]
    program, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", text, re.S).groups()
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", "CLARION_DIAGNOSE": "on"}
    done = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, cwd=tmp_path, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert " ".join(printed.split()) in " ".join(done.stderr.split())
