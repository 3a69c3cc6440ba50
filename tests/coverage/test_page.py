"""docs/coverage.md tells the truth: what it calls there is there, and what is missing it names."""

from __future__ import annotations

import re

import pytest

from .page import PAGE, survey


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text()


def test_nothing_is_missing_that_the_page_does_not_name(page):
    modules, absent = survey()
    sections = dict(re.findall(r"^### (\S+): .*?\n\n(.*?)(?=\n\n|\Z)", page, re.M | re.S))
    told = {path: set(re.findall(r"`(\w+)`", section)) for path, section in sections.items()}
    lost = {
        f"{path}.{name}"
        for path, (_, missing) in modules.items()
        for names in missing.values()
        for name in names
        if name not in told.get(path, ())
    }
    assert not lost, "run `python -m tests.coverage.page` if this is meant"
    assert not {path for path in absent if f"`{path}`" not in page}


def test_every_gap_has_a_reason(page):
    for line in page.splitlines():
        if line.startswith("- "):
            assert re.match(r"- \S.+?: `", line), line
