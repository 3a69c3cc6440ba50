"""Which files belong to packages that are installed, wherever: what they do, they do on purpose."""

from __future__ import annotations

import contextlib
import functools
import os
import sys

FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@functools.cache
def is_installed(file: str) -> bool:
    """Does a file belong to a package that was installed?"""
    return any(part in file for part in FOLDERS) or _is_recorded(file)


def _is_recorded(file: str) -> bool:
    """Was it installed into a folder of another name (`pip install --target`)? Then a RECORD beside it lists it."""
    folders = [entry for entry in sys.path if entry and file.startswith(entry.rstrip(os.sep) + os.sep)]
    if not folders:
        return False
    folder = max(folders, key=len).rstrip(os.sep)
    return file[len(folder) + 1 :].split(os.sep)[0] in _recorded_in(folder)


@functools.cache
def _recorded_in(folder: str) -> frozenset[str]:
    """The names at the top of a folder that packages have installed there."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(".dist-info"):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(folder, name, "RECORD"), encoding="utf-8") as record,
                ):
                    found.update(line.split(",")[0].split("/")[0] for line in record)
    return frozenset(found)
