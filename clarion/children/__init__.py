"""Processes that a program starts begin as it did: there, too, `import torch` gives clarion, or PyTorch is watched.

Python imports a module `sitecustomize` when it starts. This folder has one, and PYTHONPATH, which such processes inherit,
names this folder first: so it does not matter who starts them (multiprocessing, subprocess, joblib, torchrun).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

VARIABLE = "CLARION_CHILDREN"
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def follow(begin: str, *, afterwards: bool = False, **arguments: Any) -> Callable[[], None]:
    """From now on such a process calls `begin`, a "module:function", when it imports torch; returns what undoes it.

    afterwards: when PyTorch is loaded, not in its place.
    """
    before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
    os.environ[VARIABLE] = json.dumps({"begin": begin, "afterwards": afterwards, "arguments": arguments})
    folders = [folder for folder in (before["PYTHONPATH"] or "").split(os.pathsep) if folder not in ("", _FOLDER)]
    os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, *folders])

    def undo() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return undo
