"""The summary that a program ends with, on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..finding import Finding


def summary(session: Any, findings: Sequence[Finding] | None = None) -> str:
    """All findings of a session (or these, if they are given), shortest form: one line each; empty if there are none."""
    if findings is None:
        findings = session.findings
    told = [f for f in findings if f.level != "info"]
    notes = len(findings) - len(told)
    lines = []
    if told or notes:
        count = f"{len(told)} finding{'s' * (len(told) != 1)}"
        lines.append(f"clarion: {count}" + (f", {notes} note{'s' * (notes != 1)}" if notes else ""))
        lines += [f"  {f.level:5} {f.name} {f.where}  {f.what}" for f in findings]
        lines.append("  `clarion explain NAME` says more.")
    if session is None:
        return "\n".join(lines)
    lines += [f"clarion: the diagnosis {name} failed and was taken out: {e!r}" for name, e in session.failures.items()]
    lines += [f"clarion: not heard of on this PyTorch: {lost[0]} ({name})" for name, lost in session.lacking.items()]
    return "\n".join(lines)
