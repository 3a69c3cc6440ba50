"""Programs as people write them with `torch.compile` do what they do without: as they are, checked at each call, and after `reset()`."""

from __future__ import annotations

import functools
import warnings

import pytest

import clarion as torch
from clarion.compiling.function import CompileWarning

from .users import PROGRAMS
from .worlds import assert_same, look


def _as_written(function=None, **_):
    return _as_written if function is None else function


def _run(name, compile):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return [look(each) for each in PROGRAMS[name](torch, compile)]


@pytest.mark.parametrize("options", [{}, {"check": True, "dynamic": True, "mode": "reduce-overhead"}])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_see_what_they_see_without(name, options):
    assert_same(_run(name, _as_written), _run(name, functools.partial(torch.compile, **options)))
