"""Who switched recording off, and is it left open?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import clarion as torch
from clarion import diagnose
from clarion.core import modes
from clarion.diagnose.books.switches import Switches
from clarion.diagnose.source.places import source


@pytest.fixture
def switches() -> Iterator[Switches]:
    before = modes.snapshot()
    with diagnose.watching():
        yield diagnose._session.ledger.switches
    modes.restore(before)


@torch.no_grad()
def decorated(switches: Switches) -> str:
    assert switches.current is not None
    assert switches.current.is_block()
    return source(switches.current.where)


def leave_off() -> None:
    torch.set_grad_enabled(False)


def test_a_block_is_named_by_its_line(switches: Switches) -> None:
    with torch.no_grad():
        assert source(switches.current.where) == "with torch.no_grad():"
        assert switches.current.is_block()
        assert not switches.current.is_orphan()
    assert switches.current is None


def test_a_decorator_is_named_by_its_line(switches: Switches) -> None:
    assert decorated(switches) == "@torch.no_grad()"


def test_a_statement_outlives_its_function(switches: Switches) -> None:
    leave_off()
    assert switches.current.is_orphan()
    assert source(switches.current.where) == "torch.set_grad_enabled(False)"
    with torch.enable_grad():
        assert switches.current is None
    assert switches.current.is_orphan()
    torch.set_grad_enabled(True)
    assert switches.current is None
    for _ in range(100):
        torch.set_grad_enabled(False)
        torch.set_grad_enabled(True)
    assert len(switches.stack) < 4


def test_what_changes_nothing_is_not_to_blame(switches: Switches) -> None:
    with torch.no_grad():
        leave_off()
        assert source(switches.current.where) == "with torch.no_grad():"
        torch.set_grad_enabled(True)
        assert switches.current is None
    assert switches.stack == []


def test_a_context_manager_belongs_to_its_with(switches: Switches) -> None:
    @contextlib.contextmanager
    def evaluating() -> Iterator[None]:
        with torch.no_grad():
            yield

    class Evaluating:
        def __enter__(self) -> None:
            self.mode = torch.no_grad()
            self.mode.__enter__()

        def __exit__(self, *error: object) -> None:
            self.mode.__exit__(None, None, None)

    for context in (evaluating(), Evaluating()):
        with context:
            assert not switches.current.is_orphan()
            assert switches.current.is_block()
        assert switches.current is None


def test_a_suspended_generator_leaves_it_open(switches: Switches) -> None:
    def batches() -> Iterator[int]:
        with torch.no_grad():
            yield 1
            yield 2

    for _ in batches():
        assert switches.current.is_orphan()
    assert switches.current is None


def test_a_block_that_comes_again_and_again_is_known_as_at_first(switches: Switches) -> None:
    session, seen = diagnose._session, []
    session.listen_closely(False)
    for passes in range(8):
        session.ledger.passes = passes
        with torch.no_grad() as entered:
            inside = switches.current
            seen.append((type(inside).__name__, vars(type(inside)).get("place") or inside.place))
            assert entered is None
            assert source(inside.where) == "with torch.no_grad() as entered:"
            assert (inside.passes, inside.name, inside.recording) == (passes, "no_grad", False)
            assert inside.is_block()
            assert not inside.is_orphan()
            assert not inside.is_leaked(passes)
            with torch.enable_grad():
                assert switches.current is None
            assert switches.current is inside
        assert not switches.stack
        assert switches.ended_since(passes) is inside
        assert switches.ended_since(passes + 1) is None
        session.listen_closely(False)
    assert len({place for _, place in seen}) == 1
    assert seen[0][0] == "Switch"
    assert seen[-1][0] == "Again"
