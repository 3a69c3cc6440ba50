"""docs/architecture.md tells the truth: the files it names are there, and core's table names all of core."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_files_that_are_named_exist():
    names = {path.name for path in ROOT.glob("clarion/**/*.py")} | {path.name for path in ROOT.glob("tests/**/*.py")}
    names |= {path.name for path in ROOT.glob("docs/*")}
    missing = [
        name for name in re.findall(r"([\w/]*\b\w+\.py)\b", PAGE) if name != "train.py" and not _exists(name, names)
    ]
    folders = re.findall(r"`((?:clarion/|tests/|docs/|diagnose/|kernels/|ops/|nn/|optim/)[\w/]*/)`", PAGE)
    missing += [
        name
        for name in folders
        if "NAME" not in name and not ((ROOT / name).is_dir() or (ROOT / "clarion" / name).is_dir())
    ]
    assert not missing
    assert len(folders) > 5


def _exists(name: str, names: set[str]) -> bool:
    if "/" not in name:
        return name in names
    return (ROOT / name).is_file() or (ROOT / "clarion" / name).is_file()


def test_every_file_of_core_is_in_the_table():
    table = PAGE[PAGE.index("Inside core:") : PAGE.index("## One training step")]
    named = set(re.findall(r"`(\w+)`", table))
    there = {path.stem for path in (ROOT / "clarion" / "core").glob("*.py")} - {"__init__"}
    assert there <= named, there - named
    assert named <= there, named - there


def test_every_note_that_is_cited_is_written():
    cited = {" ".join(name.split()) for name in re.findall(r"NOTE \[([^\]]+)\]", PAGE)} - {"Brackets"}
    written = set()
    for path in ROOT.glob("clarion/**/*.py"):
        written |= set(re.findall(r"NOTE \[([^\]]+)\]:", path.read_text()))
    assert cited <= written, cited - written
