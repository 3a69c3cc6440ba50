"""`clarion explain NAME`: the page of a diagnosis, or of an error class."""

from __future__ import annotations

import inspect
import os
import re
import sys
from difflib import SequenceMatcher
from textwrap import dedent
from typing import Any

from .. import errors
from ..diagnose import catalogue

_LEVELS = {"error": "an error", "warn": "a warning", "info": "a note, in the report only"}


def explain(name: str | None = None) -> int:
    """Print one page, or the table of all; returns the exit status."""
    try:
        return _explain(name)
    except BrokenPipeError:  # `| head` has seen enough; nothing is left to be written at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _explain(name: str | None) -> int:
    if name is None:
        _print_table()
        return 0
    found = find(name)
    if found is None:
        near = _near(name)
        hint = f"did you mean {' or '.join(near)}?" if near else "`clarion explain` lists all."
        print(f"clarion explain: there is no diagnosis and no error called {name!r}; {hint}", file=sys.stderr)
        return 2
    _print_page(*page(found))
    return 0


def error_classes() -> dict[str, type[Exception]]:
    """The exceptions and warnings of clarion by name."""
    return {
        name: value
        for name, value in sorted(vars(errors).items())
        if isinstance(value, type) and issubclass(value, Exception) and value is not errors.Explained
    }


def find(name: str) -> Any:
    """The class of a diagnosis or an error, by any spelling: `graph-freed`, `graph_freed`, `GraphFreedError`."""
    classes = error_classes()
    spellings = {_kebab(key): kind for key, kind in classes.items()} | catalogue()
    return classes.get(name) or spellings.get(_kebab(name))


def page(subject: Any) -> tuple[str, str, str]:
    """Title, what kind of thing it is, and the text in Markdown."""
    text = inspect.getdoc(subject) or ""
    if issubclass(subject, Exception):
        base = next(base.__name__ for base in subject.__mro__ if base.__module__ == "builtins")
        diagnosis = catalogue().get(_kebab(subject.__name__))
        if diagnosis is not None:
            text += f"\n\nIts diagnosis is `{diagnosis.name}`. {inspect.getdoc(diagnosis)}"
        kind = "a warning" if issubclass(subject, Warning) else "an exception"
        return subject.__name__, f"{kind}, in Python's terms a {base}", text
    kind = _LEVELS[subject.level] + ("; only with `clarion run --thorough`" if subject.thorough else "")
    silence = (
        f"Silence: `# clarion: allow {subject.name}` on the line, `clarion run --allow {subject.name}`, "
        f'or `clarion.diagnose.off("{subject.name}")`.'
    )
    return subject.name, kind, f"{text}\n\n{silence}"


def _kebab(name: str) -> str:
    """`GraphFreedError` as `graph-freed`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name.strip())
    return re.sub(r"[\s_]+", "-", words).lower().removesuffix("-error").removesuffix("-warning")


def _near(name: str) -> list[str]:
    """Names that may have been meant: alike as a whole, or in one of their words."""
    wanted = _kebab(name)

    def likeness(known: str) -> float:
        spelling = _kebab(known)
        return max(SequenceMatcher(None, wanted, part).ratio() for part in (spelling, *spelling.split("-")))

    best = sorted([*catalogue(), *error_classes()], key=likeness, reverse=True)
    return [known for known in best[:3] if likeness(known) >= 0.65]


# Printing: well set on a terminal, otherwise plain text ------------------------------------------------------


def _print_page(title: str, kind: str, text: str) -> None:
    if not sys.stdout.isatty():
        print(f"{title} ({kind})\n\n{text}")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(f"\n[bold]{title}[/bold]  [dim]{kind.replace('`', '')}[/dim]\n", highlight=False)
    console.print(Markdown(_fenced(text), code_theme="ansi_dark"), width=min(console.width, 100))


def _fenced(text: str) -> str:
    """Indented programs as fenced ones, which are set in colour."""
    block = r"(?:^ {4}.*\n(?:[ \t]*\n(?= {4}))*)+"
    fence = "```python\n{}\n```\n".format
    return re.sub(block, lambda found: fence(dedent(found[0]).rstrip()), text + "\n", flags=re.MULTILINE)


def _print_table() -> None:
    """One line for every page."""
    sections: dict[str, dict[str, Any]] = {"Diagnoses": catalogue(), "Errors": dict(error_classes())}
    first_lines = {
        section: [(name, (inspect.getdoc(kind) or "").partition("\n")[0]) for name, kind in kinds.items()]
        for section, kinds in sections.items()
    }
    end = "`clarion explain NAME` shows a page."
    if not sys.stdout.isatty():
        width = max(len(name) for rows in first_lines.values() for name, _ in rows)
        for section, rows in first_lines.items():
            print(f"{section}:", *(f"  {name:{width}}  {line}" for name, line in rows), "", sep="\n")
        print(end)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for section, rows in first_lines.items():
        table.add_row(f"[bold]{section}[/bold]")
        for name, line in rows:
            table.add_row(f"  [cyan]{name}[/cyan]", escape(line))
        table.add_row()
    console = Console()
    console.print(table)
    console.print(end, highlight=False)
