"""A finding: one thing that is wrong in the user's program, with its lines, its reason and its remedy."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

ERROR, WARN, INFO = "error", "warn", "info"


@dataclass
class Finding:
    """What was found. `file` and `line` are the user's line at fault, `also` the other lines that take part in it."""

    name: str
    level: str
    file: str
    line: int
    what: str
    why: str
    fix: str
    step: int = 0
    also: list[dict[str, Any]] = field(default_factory=list)
    silence: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @property
    def where(self) -> str:
        """`train.py:41`"""
        return f"{shown(self.file)}:{self.line}"

    def __str__(self) -> str:
        lines = [f"{self.name} {self.where}. {self.what}", f"  Why it matters: {self.why}", f"  Fix: {self.fix}"]
        if self.also:
            lines.insert(1, "  See also: " + ", ".join(f"{shown(a['file'])}:{a['line']}" for a in self.also))
        if self.silence:
            lines.append(f"  Silence: {self.silence}")
        return "\n".join(lines)


def shell() -> Any:
    """The shell of IPython that runs this (of a notebook's kernel, say), or None."""
    ipython = sys.modules.get("IPython")
    ask = getattr(ipython, "get_ipython", None)  # not there yet while IPython itself is being imported
    return None if ask is None else ask()


def shown(file: str) -> str:
    """A file name as a person wants to read it: the cell of a notebook, or relative to the current folder, if that is shorter."""
    ipython = shell()
    cell = None if ipython is None else ipython.compile.format_code_name(file)
    if cell is not None:
        return " ".join(cell)  # Cell In[3]
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive; a folder that is gone
        return file
    return min(relative, file, key=len)
