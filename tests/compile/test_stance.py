"""torch.compiler.set_stance: a switch, a context and a decorator."""

from __future__ import annotations

import pytest

import clarion as torch


@pytest.fixture
def counted():
    """A compiled function, and how often its own lines have run."""
    runs = []

    def double(x):
        runs.append(None)
        return x * 2

    fast = torch.compile(double)
    for _ in range(4):
        fast(torch.ones(2))
    yield fast, runs
    torch.compiler.set_stance("default")


def test_eager_in_a_block_a_function_and_from_now_on(counted):
    fast, runs = counted

    def written():  # do its lines run?
        before = len(runs)
        assert fast(torch.ones(2)).tolist() == [2, 2]
        return len(runs) > before

    usual = written()
    with torch.compiler.set_stance("force_eager"):
        assert written()
    assert written() is usual
    assert torch.compiler.set_stance("force_eager")(written)()
    assert written() is usual
    torch.compiler.set_stance("force_eager")
    assert written()
    torch.compiler.set_stance("default")
    assert written() is usual


def test_refusals():
    with pytest.raises(RuntimeError, match="stance 'no'"):
        torch.compiler.set_stance("no")
    with pytest.raises(RuntimeError, match="non-default stance cannot have force_backend set"):
        torch.compiler.set_stance("force_eager", force_backend="eager")
    with pytest.raises(NotImplementedError, match="fail_on_recompile"):
        torch.compiler.set_stance("fail_on_recompile")
