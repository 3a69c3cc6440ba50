"""One line at the bottom of the terminal: how far a program has come, and what was found so far."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from typing import TextIO

EVERY = 0.5  # seconds


class BottomLine:
    """Keeps the terminal's last row for one line of text; what the program prints scrolls above it.

    The row is taken out of the region that scrolls, as package managers do, so that neither the program's output nor its
    own progress bars meet it. It is taken when there is something to say for the first time, and given back at the end.
    """

    def __init__(self, terminal: TextIO, line: Callable[[], str]) -> None:
        self._terminal, self._line = terminal, line
        self._shown = ""
        self._rows = 0  # of the terminal, when its last row was taken; 0 before that
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_up, name="clarion-progress", daemon=True)

    @staticmethod
    def fits(terminal: TextIO) -> bool:
        """Is this a terminal that understands what is written to it here?"""
        return terminal.isatty() and os.name == "posix" and os.environ.get("TERM", "dumb") != "dumb"

    def start(self) -> None:
        """Show the line from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Give the row back."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._rows:
            # All rows scroll again; the last is erased. Setting the region moves the cursor, which is put back.
            self._write(f"\x1b7\x1b[r\x1b[{self._rows};1H\x1b[2K\x1b8")

    def _keep_up(self) -> None:
        while not self._ended.wait(EVERY):
            text = self._line()
            if text and text != self._shown:
                self._show(text)

    def _show(self, text: str) -> None:
        size = shutil.get_terminal_size()
        if size.lines < 4:
            return
        take = ""
        if size.lines != self._rows:  # the first time, or the window was resized
            # One row down (the screen scrolls where there is none) and up again: then the cursor is above the last row.
            take = f"\x1bD\x1b7\x1b[1;{size.lines - 1}r\x1b8\x1b[A"
            self._rows = size.lines
        self._shown = text
        self._write(f"{take}\x1b7\x1b[{size.lines};1H\x1b[2K\x1b[2m{text[: size.columns - 1]}\x1b[0m\x1b8")

    def _write(self, text: str) -> None:
        try:
            os.write(self._terminal.fileno(), text.encode(errors="replace"))
        except (OSError, ValueError):  # closed
            self._ended.set()
