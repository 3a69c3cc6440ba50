"""`clarion explain`: a page for every diagnosis and every error."""

from __future__ import annotations

import pytest

from clarion.cli.explain import _fenced, error_classes
from clarion.cli.main import main
from clarion.diagnose import catalogue


def explained(capsys: pytest.CaptureFixture[str], *name: str) -> tuple[int, str, str]:
    status = main(["explain", *name])
    return status, *capsys.readouterr()


def test_table_has_a_line_for_each(capsys):
    status, out, _ = explained(capsys)
    assert status == 0
    lines = {words[0]: words[1] for line in out.splitlines() if len(words := line.strip().split(None, 1)) == 2}
    for name in [*catalogue(), *error_classes()]:
        assert lines[name]


@pytest.mark.parametrize("name", ["stale-gradient", "stale_gradient", "StaleGradient", "Stale gradient"])
def test_page_of_a_diagnosis_by_any_spelling(capsys, name):
    status, out, _ = explained(capsys, name)
    assert status == 0
    assert out.startswith("stale-gradient (a warning)\n\nGradients were used twice")
    assert "\nBroken:\n\n    for x, y in loader:\n        loss = " in out
    assert "\nFixed:\n\n    for x, y in loader:\n        optimizer.zero_grad()\n" in out
    assert "# clarion: allow stale-gradient" in out


def test_every_page_is_there(capsys):
    for name, kind in {**catalogue(), **error_classes()}.items():
        status, out, _ = explained(capsys, name)
        assert status == 0
        assert out.startswith(name)
        assert kind.__doc__.strip().splitlines()[0] in out


def test_page_of_an_error(capsys):
    _, out, _ = explained(capsys, "GraphFreedError")
    assert out.startswith(
        "GraphFreedError (an exception, in Python's terms a RuntimeError)\n\nThe graph was walked before"
    )
    assert explained(capsys, "ArgumentType")[1].startswith(
        "ArgumentTypeError (an exception, in Python's terms a TypeError)"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("stale-gradeint", "did you mean stale-gradient"),
        ("stail", "did you mean stale-gradient"),
        ("SavedValueOverwriten", "did you mean "),
        ("zzz", "`clarion explain` lists all."),
    ],
)
def test_a_near_miss_is_helped(capsys, name, hint):
    status, out, err = explained(capsys, name)
    assert (status, out) == (2, "")
    assert err.startswith(f"clarion explain: there is no diagnosis and no error called {name!r}; {hint}")
    assert len(err.splitlines()) == 1


def test_programs_keep_their_indentation_on_a_terminal():
    text = "Broken:\n\n    for x in y:\n        f(x)\n\n        g(x)\n\nWords.\n"
    assert _fenced(text).startswith("Broken:\n\n```python\nfor x in y:\n    f(x)\n\n    g(x)\n```\n")
    assert "Words." in _fenced(text)
