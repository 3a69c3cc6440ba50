"""The programs of examples/: each runs, its losses are finite and fall, the diagnoses have nothing to say, and it is as short and plain as it claims."""

from __future__ import annotations

import re

import numpy as np
import pytest

from clarion.diagnose import watching
from tests.examples.loading import FOLDER, HELPERS, NAMES, load

# How many steps show that something is learned; those without a number do it in 20.
STEPS = {"checkpointing": 4, "maml_sinusoids": 60, "reinforce": 12}
# Their losses say who is ahead, not how well it goes.
NOT_FALLING = {"gan_gradient_penalty", "reinforce"}


@pytest.mark.parametrize("name", NAMES)
def test_runs_and_learns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    steps = STEPS.get(name, 20)
    with watching() as findings:
        losses = load(name).run(steps)
    assert findings == []  # an example has nothing that a diagnosis would speak of
    assert len(losses) == steps
    assert np.isfinite(losses).all()
    third = max(len(losses) // 3, 1)
    if name == "multitask_frozen_encoder":  # two tasks, one after the other
        losses, third = losses[steps // 2 :], third // 2
    if name not in NOT_FALLING:
        assert np.mean(losses[-third:]) < np.mean(losses[:third])
    assert "DIFFER" not in (said := capsys.readouterr().out)
    assert "CHANGED" not in said


def test_pole_stands_longer(capsys: pytest.CaptureFixture[str]) -> None:
    load("reinforce").run(20)
    first, second = map(float, re.findall(r"stands for +([\d.]+)", capsys.readouterr().out))
    assert second > first > 20


@pytest.mark.parametrize("name", NAMES)
def test_is_short_and_plain(name: str) -> None:
    lines = (FOLDER / f"{name}.py").read_text().splitlines()
    assert len(lines) < 120
    naming = [line for line in lines if "clarion" in line]
    assert naming[0] == "import clarion as torch"
    assert all(line == naming[0] or line.startswith("from clarion") for line in naming)


def test_readme_lists_every_example() -> None:
    listed = set(re.findall(r"^- `(\w+)\.py`", (FOLDER / "README.md").read_text(), flags=re.MULTILINE))
    assert listed == set(NAMES)
    assert all((FOLDER / f"{helper}.py").exists() for helper in HELPERS)
