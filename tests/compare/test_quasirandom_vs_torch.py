"""Sobol' sequences: the points are PyTorch's, number for number."""

from __future__ import annotations

import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("scipy", reason="the direction numbers come with SciPy")


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 5, 300])
def test_points_are_pytorchs(dimension: int, scramble: bool) -> None:
    drawn = []
    for torch in (ours, theirs):
        engine = torch.quasirandom.SobolEngine(dimension, scramble=scramble, seed=7 if scramble else None)
        drawn.append([engine.draw(1), engine.draw(7), engine.fast_forward(5).draw(3, dtype=torch.float64)])
        drawn[-1] += [engine.reset().draw_base2(4), engine.reset().fast_forward(4).draw(2), repr(engine)]
    assert [str(each) for each in drawn[0]] == [str(each) for each in drawn[1]]
    assert drawn[0][1].tolist() == drawn[1][1].tolist()


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Supported range of dimensionality"):
        ours.quasirandom.SobolEngine(0)
    engine = ours.quasirandom.SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(2)
