"""In a notebook: the beginning of a cell is listened to closely, and what waits for the end of a program is said at its end.

A cell that trains is a program of its own, and its kernel may live on for days: rules that wait for the end judge after each
cell that has updated something. Findings that Python's warnings do not show (of errors that PyTorch raises too, and remarks)
are written below the cell, once. Lines are named by their cells: `finding.shown`.
"""

from __future__ import annotations

import sys
from typing import Any

from .. import diagnose
from .finding import WARN, shell

_UPDATES = 3  # in a cell that trains
_LISTENED = 2_000  # operations at the beginning of a cell


class _Seen:
    """What was there at the end of the last cell."""

    session: Any = None
    updates = 0
    findings = 0


def attend() -> None:
    """Listen to the beginnings and the ends of cells, where there are any."""
    ipython = shell()
    if ipython is not None and _ended not in ipython.events.callbacks["post_run_cell"]:
        ipython.events.register("pre_run_cell", _begins)
        ipython.events.register("post_run_cell", _ended)


def _begins(*_: Any) -> None:
    session = diagnose._session
    if session is not None and session.mode != "off":
        session.attend(_LISTENED)


def _ended(*_: Any) -> None:
    session = diagnose._session
    if session is None:
        return
    if session is not _Seen.session:
        _Seen.session, _Seen.updates, _Seen.findings = session, 0, 0
    session.surface()
    updates = session.ledger.updates
    if updates - _Seen.updates >= _UPDATES and session.mode != "off":
        session.finish()
    _Seen.updates = updates
    for finding in session.findings[_Seen.findings :]:
        if finding.level != WARN:
            print(f"clarion: {finding}", file=sys.stderr)
    _Seen.findings = len(session.findings)
