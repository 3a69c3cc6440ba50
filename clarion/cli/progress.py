"""One line at the bottom of the terminal: how far a program has come, and what was found so far."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from typing import Any, TextIO

from ..events import subscribe

EVERY = 0.5  # seconds


class BottomLine:
    """Keeps the terminal's last row for one line of text; what the program prints scrolls above it.

    The row is taken out of the region that scrolls, as package managers do, so that neither the program's output nor its
    own progress bars meet it. It is taken when there is something to say for the first time, and given back at the end.
    The line is renewed after a backward pass, so that no thread is needed, which a program that forks would be warned of.
    """

    def __init__(self, terminal: TextIO, line: Callable[[], str]) -> None:
        self._terminal, self._line = terminal, line
        self._process = os.getpid()
        self._next = 0.0  # when the line may be renewed
        self._rows = 0  # of the terminal, when its last row was taken; 0 before that
        self._unsubscribe: Callable[[], None] | None = None

    @staticmethod
    def fits(terminal: TextIO) -> bool:
        """Is this a terminal that understands what is written to it here?"""
        return terminal.isatty() and os.name == "posix" and os.environ.get("TERM", "dumb") != "dumb"

    def start(self) -> None:
        """Show the line from now on."""
        self._next = time.monotonic() + EVERY
        self._unsubscribe = subscribe("backward_ended", self._renew)

    def stop(self) -> None:
        """Give the row back."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._rows:
            # All rows scroll again; the last is erased. Setting the region moves the cursor, which is put back.
            self._write(f"\x1b7\x1b[r\x1b[{self._rows};1H\x1b[2K\x1b8")
            self._rows = 0

    def _renew(self, *_: Any) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY
        text = self._line()
        size = shutil.get_terminal_size()
        if not text or size.lines < 4 or os.getpid() != self._process:
            return
        take = ""
        if size.lines != self._rows:  # the first time, or the window was resized
            # One row down (the screen scrolls where there is none) and up again: then the cursor is above the last row.
            take = f"\x1bD\x1b7\x1b[1;{size.lines - 1}r\x1b8\x1b[A"
            self._rows = size.lines
        self._write(f"{take}\x1b7\x1b[{size.lines};1H\x1b[2K\x1b[2m{text[: size.columns - 1]}\x1b[0m\x1b8")

    def _write(self, text: str) -> None:
        try:
            os.write(self._terminal.fileno(), text.encode(errors="replace"))
        except (OSError, ValueError):  # closed
            self._next = float("inf")
