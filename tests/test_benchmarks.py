"""What the README says of speed is what was measured, and the benchmarks run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

import clarion
from benchmarks import compiled, engine, growth, operations, optimizers, picture, small, stored, table, training
from benchmarks.harness import WORKLOADS, Time, alternating, measure

PARTS = (engine, operations, optimizers, small, training)  # they register the workloads


def test_the_readme_shows_the_figures_that_are_kept():
    text = table.README.read_text()
    assert table.written(text, stored.load()) == text, "python -m benchmarks.table"


def test_the_picture_shows_the_figures_that_are_kept():
    assert picture.FILE.read_text() == picture.picture(stored.load()), "python -m benchmarks.picture"
    ET.fromstring(picture.FILE.read_text())


def test_everything_that_is_shown_is_measured():
    assert set(table.SHOWN) <= set(WORKLOADS)
    assert set(table.ratios(stored.load())) == set(table.SHOWN)
    assert set(compiled.NAMES) <= set(WORKLOADS)


def test_figures_are_kept_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FILE", tmp_path / "results.json")
    stored.save("workloads", {"a": 1})
    stored.save("footprint", {"b": 2})
    stored.save("workloads", {"c": 3})
    kept = json.loads((tmp_path / "results.json").read_text())
    assert (kept["workloads"], kept["footprint"]) == ({"a": 1, "c": 3}, {"b": 2})
    assert kept["machine"]["threads"] >= 1


def test_the_mean_of_ratios_is_geometric():
    assert table.mean([0.5, 2.0, 8.0]) == pytest.approx(2.0)


def test_measuring_alternates_and_takes_the_best():
    calls = []
    times = alternating({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert set(times) == {"a", "b"}
    assert all(isinstance(time, Time) and 0 < time.wall < 1 for time in times.values())
    assert {"a", "b"} == set(calls)


@pytest.mark.parametrize("name", compiled.NAMES)
def test_compiled_steps_run(name):
    if name == "mlp_large_training":
        pytest.skip("half a second a step")
    steps = compiled.compiled_steps(name, clarion, None)
    assert "clarion compiled" in steps


@pytest.mark.parametrize("kind", growth.SIZES)
def test_steps_that_grow_run(kind):
    growth._prepared(clarion, kind, growth.SIZES[kind][0])()


def test_others_are_measured_beside():
    result = measure("small_add", clarion, None, 1, {"nothing": lambda: None})
    assert result.others["nothing"].wall < result.clarion.wall
    assert result.ratio is None
