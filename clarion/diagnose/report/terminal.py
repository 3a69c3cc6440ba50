"""The summary that a program ends with, on standard error."""

from __future__ import annotations

from typing import Any


def summary(session: Any) -> str:
    """All findings, shortest form: one line each; empty if there are none."""
    told = [f for f in session.findings if f.level != "info"]
    notes = len(session.findings) - len(told)
    lines = []
    if told or notes:
        count = f"{len(told)} finding{'s' * (len(told) != 1)}"
        lines.append(f"clarion: {count}" + (f", {notes} note{'s' * (notes != 1)}" if notes else ""))
        lines += [f"  {f.level:5} {f.name} {f.where}  {f.what}" for f in session.findings]
        lines.append("  `clarion explain NAME` says more.")
    lines += [f"clarion: the diagnosis {name} failed and was taken out: {e!r}" for name, e in session.failures.items()]
    lines += [f"clarion: not heard of on this PyTorch: {lost[0]} ({name})" for name, lost in session.lacking.items()]
    return "\n".join(lines)
