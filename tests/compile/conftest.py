"""Recordings look through the memory for arrays they left behind: only through what a test has made itself."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_memory() -> Iterator[None]:
    """What was there before the test is not looked through: with all of pytest in it that takes a second each time."""
    gc.freeze()
    yield
    gc.unfreeze()
