"""`pytest --clarion`: every test is watched on PyTorch's engine, and fails on what is found."""

from __future__ import annotations

from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest


def pytest_addoption(parser: Any) -> None:
    """The option, and a mark for single tests."""
    parser.getgroup("clarion").addoption(
        "--clarion", action="store_true", help="diagnose what tests train with PyTorch, and fail on findings"
    )


def pytest_configure(config: Any) -> None:
    """`@pytest.mark.clarion_allow("stale-gradient")` silences some for one test."""
    config.addinivalue_line(
        "markers", "clarion_allow(*names): findings of these names do not fail the test (--clarion)"
    )
    if config.getoption("--clarion") and find_spec("torch") is None:
        raise pytest.UsageError("--clarion diagnoses PyTorch, which is not installed here: pip install torch")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Watch one test."""
    if not item.config.getoption("--clarion"):
        yield
        return
    from . import watch

    allowed = {name for mark in item.iter_markers("clarion_allow") for name in mark.args}
    watched = watch()
    watched._session.silenced.update(allowed)
    try:
        outcome = yield
    finally:
        watched.stop()
    found = [finding for finding in watched.findings if finding.level != "info"]
    if found and outcome.excinfo is None:
        text = "\n\n".join(str(finding) for finding in found)
        outcome.force_exception(pytest.fail.Exception(f"clarion found:\n\n{text}", pytrace=False))
