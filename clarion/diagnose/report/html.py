"""The report: one self-contained page of HTML, without scripts, fonts or anything else from outside."""

from __future__ import annotations

import inspect
import linecache
import math
import os
import platform
import sys
import time
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ...version import __version__
from ..books.records import OptimizerStory
from ..finding import Finding, shown
from ..graph.reach import size_text
from .charts import curve, heat_map

_AROUND = 3  # lines of source before and after the line at fault
_LAYERS = 60  # rows of the map


def write(path: str, session: Any = None, status: int | str | None = None) -> None:
    """Write the page; whole or not at all."""
    from ...serialization.atomic import replacing
    from .. import _session

    text = page(session or _session, status)
    with replacing(path) as file:
        file.write(text.encode())


def page(session: Any, status: int | str | None = None, findings: list[Finding] | None = None) -> str:
    """The page of a session (or of a program in which nothing was differentiated: None); `findings`: others than its own."""
    if findings is None:
        findings = [] if session is None else session.findings
    parts = [_head(session, findings, status), _findings(findings)]
    if session is not None:
        found = [f.step for f in findings if f.level != "info"]
        stories = [story for story in session.ledger.stories if story.track.long]
        parts += [_charts(story, found, i, len(stories)) for i, story in enumerate(stories[:8])]
        parts.append(_memory(session))
        parts += [
            f'<p class="soft">The diagnosis {escape(name)} failed and was taken out: {escape(repr(error))}</p>'
            for name, error in session.failures.items()
        ]
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    title = escape(_script())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>clarion: {title}</title><style>\n{style}</style></head>\n<body>\n"
        + "\n".join(filter(None, parts))
        + f"\n<footer>clarion {__version__} · NumPy {np.__version__} · Python {platform.python_version()} · "
        "<code>clarion explain NAME</code> shows the page of a diagnosis.</footer>\n</body></html>\n"
    )


def _script() -> str:
    return os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "a program"


def _head(session: Any, findings: list[Finding], status: int | str | None) -> str:
    steps = 0 if session is None else session.steps()
    seconds = 0.0 if session is None else time.perf_counter() - session.began
    facts = [("steps", f"{steps:,}"), ("time", f"{seconds:,.1f} s"), ("written", time.strftime("%Y-%m-%d %H:%M"))]
    if status is not None:
        facts.append(("exit status", str(status)))
    for level, word in (("error", "errors"), ("warn", "warnings"), ("info", "notes")):
        count = sum(f.level == level for f in findings)
        if count:
            facts.insert(0, (word if count != 1 else word[:-1], str(count)))
    shown_facts = "".join(f"<span>{escape(name)} <b>{escape(value)}</b></span>" for name, value in facts)
    command = escape(" ".join(sys.argv))
    return f'<h1>{escape(_script())}</h1><code class="soft">{command}</code><div class="facts">{shown_facts}</div>'


# Findings ------------------------------------------------------------------------------------------


def _findings(findings: list[Finding]) -> str:
    if not findings:
        return '<h2>Findings</h2><div class="none">Nothing was found.</div>'
    order = {"error": 0, "warn": 1, "info": 2}
    return "<h2>Findings</h2>" + "".join(_finding(f) for f in sorted(findings, key=lambda f: order.get(f.level, 3)))


def _finding(finding: Finding) -> str:
    rows = [("Why it matters", finding.why), ("Fix", finding.fix), ("Silence", finding.silence)]
    listed = "".join(f"<dt>{name}</dt><dd>{_inline(text)}</dd>" for name, text in rows if text)
    return (
        f'<article class="finding {escape(finding.level)}" id="{escape(finding.name)}-{finding.line}"><header>'
        f'<span class="level">{escape(finding.level)}</span><b>{escape(finding.name)}</b>'
        f'<code>{escape(finding.where)}</code><span class="soft">step {finding.step}</span></header>'
        f'<p class="what">{_inline(finding.what)}</p>{_sources(finding)}<dl>{listed}</dl>{_explanation(finding.name)}</article>'
    )


def _inline(text: str) -> str:
    """Text with `code` in it."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))


def _sources(finding: Finding) -> str:
    """The lines around the line at fault, then those around the others that are not shown yet."""
    marks = {(finding.file, finding.line): "at"}
    for other in finding.also:
        marks.setdefault((other["file"], other["line"]), "also")
    done: set[tuple[str, int]] = set()
    return "".join(_source(file, line, marks, done) for file, line in marks)


def _source(file: str, line: int, marks: dict[tuple[str, int], str], done: set[tuple[str, int]]) -> str:
    if (file, line) in done:
        return ""
    rows = []
    for number in range(max(1, line - _AROUND), line + _AROUND + 1):
        text = linecache.getline(file, number)
        if text:
            done.add((file, number))
            kind = marks.get((file, number), "")
            rows.append(f'<span class="{kind}"><i>{number}</i>{escape(text.rstrip())}</span>')
    if not rows:
        return ""
    return f'<div class="source"><div class="file">{escape(shown(file))}</div><pre>{"".join(rows)}</pre></div>'


def _explanation(name: str) -> str:
    from .. import catalogue

    rule = catalogue().get(name)
    text = inspect.getdoc(rule) if rule is not None else None
    return f"<details><summary>More on {escape(name)}</summary><pre>{escape(text)}</pre></details>" if text else ""


# Loss and gradients --------------------------------------------------------------------------------


def _charts(story: OptimizerStory, found: list[int], number: int, count: int) -> str:
    samples = story.track.long
    name = f"{story.kind}" + (f", {number + 1} of {count}" if count > 1 else "")
    losses = [(s.step, s.loss) for s in samples if s.loss is not None]
    parts = [f"<h2>Training: {escape(name)}</h2>"]
    if losses:
        parts.append(_figure("Loss (the last one before each step)", curve(losses, found)))
    parts.append(_figure("Norm of the gradient", curve([(s.step, s.total) for s in samples], found, log=True)))
    rows = _layers(story)
    if rows:
        more = f" ({len(rows)} layers, {_LAYERS} shown)" if len(rows) > _LAYERS else ""
        legend = "dark is large; grey is exactly zero, red is not finite"
        drawing = heat_map(_spread(rows), [s.step for s in samples])
        parts.append(_figure(f"Norm of the gradient of each layer over the steps{more}: {legend}", drawing))
    return "".join(parts)


def _figure(caption: str, drawing: str) -> str:
    shown_drawing = f'<div class="scroll">{drawing}</div>'
    return f"<figure><figcaption>{escape(caption)}</figcaption>{shown_drawing}</figure>" if drawing else ""


def _layers(story: OptimizerStory) -> list[tuple[str, list[float | None]]]:
    """Per layer (parameters of one module together) its norm at each sample."""
    samples, names = story.track.long, story.names
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        groups.setdefault(name.rpartition(".")[0] or name, []).append(i)
    rows: list[tuple[str, list[float | None]]] = []
    for layer, members in groups.items():
        values: list[float | None] = []
        for sample in samples:
            squares = [sample.squares[i] for i in members if i < len(sample.squares)]
            known = [s for s in squares if s is not None]
            total = sum(known)
            values.append(None if not known else math.sqrt(total) if total >= 0.0 else math.nan)
        rows.append((layer, values))
    return rows


def _spread(rows: list[Any]) -> list[Any]:
    """At most `_LAYERS` of them, evenly chosen."""
    if len(rows) <= _LAYERS:
        return rows
    return [rows[round(i * (len(rows) - 1) / (_LAYERS - 1))] for i in range(_LAYERS)]


# Memory --------------------------------------------------------------------------------------------


def _memory(session: Any) -> str:
    samples = session.memory.samples
    if not samples:
        return ""
    largest = max(samples, key=lambda s: s.saved + s.parameters + s.gradients + s.optimizer)
    held = [
        ("parameters", largest.parameters),
        ("gradients", largest.gradients),
        ("the optimizer's state", largest.optimizer),
        ("values saved for the backward pass", largest.saved),
    ]
    text = f"<h2>Memory</h2><p class='soft'>What training holds at once, at step {largest.step}.</p>" + _table(held)
    lines = [
        (f"{shown(file)}:{line}", linecache.getline(file, line).strip(), size)
        for (file, line), size in largest.lines.most_common(10)
    ]
    if lines:
        text += "<h3>Lines whose operations save the most</h3>"
        text += _table([(where, size, source) for where, source, size in lines])
    return text


def _table(rows: list[Any]) -> str:
    most = max((row[1] for row in rows), default=0) or 1
    body = "".join(
        f"<tr><td>{escape(row[0])}{f'<br><code>{escape(row[2])}</code>' if len(row) > 2 else ''}</td>"
        f'<td class="n">{size_text(row[1])}</td><td style="width:38%"><div class="bar" style="width:{100 * row[1] / most:.1f}%"></div></td></tr>'
        for row in rows
    )
    return f'<div class="scroll"><table>{body}</table></div>'
