"""The table of libraries in docs/coverage.md says what is there: programs, versions, figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .programs import FOLDER, LIBRARIES, SUITES, golden, path, table
from .suites import SUITES as FOLDERS
from .suites import version_of

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_every_program_is_in_the_table_and_has_pytorchs_numbers():
    files = {each.stem.removeprefix("with_") for each in FOLDER.glob("with_*.py")}
    assert files == set(LIBRARIES) == set(golden())
    assert set(re.findall(r"`with_(\w+)`", PAGE.read_text())) == files
    assert table() in PAGE.read_text(), "run `python -m tests.coverage.page`"


def test_programs_use_their_library_in_the_version_that_is_installed():
    for name, package in LIBRARIES.items():
        module = {"pytorch-ignite": "ignite", "pyro-ppl": "pyro"}.get(package, package.replace("-", "_"))
        assert re.search(rf"^\s*(import|from) {module}\b", path(name).read_text(), re.M), name
        assert golden()[name]["version"] == version_of(package.lower()), name


def test_figures_of_the_libraries_own_tests():
    for package, figures in json.loads(SUITES.read_text()).items():
        assert package in FOLDERS or package in LIBRARIES.values()
        assert figures["version"] == version_of(package)
        assert figures["clarion"] >= 0.95 * figures["pytorch"] > 0
