"""The report: any program gets a page, whatever happened in it."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser
from pathlib import Path

import pytest

import clarion as torch
from clarion import diagnose
from clarion.diagnose.report import charts, html

_VOID = {"meta", "line", "circle", "rect", "br", "polyline", "link", "img"}


class Balanced(HTMLParser):
    """Complains about tags that are not closed, or closed in the wrong order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in _VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.stack.pop() == tag


def train(steps: int, layers: int = 2, lr: float = 0.01, clear: bool = True) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(layers)])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    x = torch.randn(8, 4)
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def page_of(program) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with diagnose.watching():
            program()
            text = html.page(diagnose._session)
    Balanced(text)
    return text


def test_without_any_step() -> None:
    assert "Nothing was found." in page_of(lambda: None)
    assert "Nothing was found." in html.page(None)


def test_a_finding_with_its_source() -> None:
    text = page_of(lambda: train(12, clear=False))
    assert re.search(r'class="finding warn" id="stale-gradient-\d+"', text)
    assert re.search(r'<span class="at"><i>\d+</i>        optimizer.step\(\)</span>', text)
    assert "Training: SGD" in text
    assert "values saved for the backward pass" in text


def test_losses_that_are_not_finite() -> None:
    text = page_of(lambda: train(40, lr=1e30))
    assert "not finite" in text
    assert "nan</" not in charts.curve([(1, float("nan")), (2, float("inf"))])


@pytest.mark.parametrize("layers", [1, 200])
def test_many_layers(layers: int) -> None:
    text = page_of(lambda: train(6, layers=layers))
    rows = set(re.findall(r"<title>(\d+), step", text))
    assert len(rows) == min(layers, 60)


def test_thousands_of_steps_stay_small() -> None:
    text = page_of(lambda: train(1500, layers=1))
    assert len(text) < 400_000
    assert "1500" in text or "1,500" in text


def test_curves_of_one_point_and_of_constants() -> None:
    assert "<svg" in charts.curve([(3, 1.0)])
    assert "<svg" in charts.curve([(1, 0.0), (2, 0.0)])
    assert charts.curve([(1, 0.0)], log=True) == ""
    assert charts.curve([]) == ""


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="does not exist"):
        html.write(str(tmp_path / "nowhere" / "report.html"))
    html.write(str(target))
    assert target.read_text().startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
