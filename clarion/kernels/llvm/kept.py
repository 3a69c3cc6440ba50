"""Compiled objects on disk, between processes: named by what they were compiled of, and for which processor."""

from __future__ import annotations

import functools
import os

from ... import config


@functools.cache
def keeps() -> bool:
    """Is there a folder to keep objects in? (If not, every process compiles anew, and only what is worth it.)"""
    folder = config.CACHE
    while not os.path.exists(folder):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return False
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def read(name: str) -> bytes | None:
    """An object, if it is there and whole."""
    import hashlib

    try:
        with open(os.path.join(config.CACHE, f"{name}.o"), "rb") as file:
            content = file.read()
    except OSError:
        return None
    code, digest = content[:-32], content[-32:]
    return code if hashlib.sha256(code).digest() == digest else None  # cut short, or of somebody else


def write(name: str, code: bytes) -> None:
    """Whole or not at all: a reader never sees a part. A folder that cannot be written to is no error."""
    import hashlib
    import tempfile

    try:
        os.makedirs(config.CACHE, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=config.CACHE, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(code + hashlib.sha256(code).digest())
            os.replace(path, os.path.join(config.CACHE, f"{name}.o"))
        except OSError:
            os.unlink(path)
    except OSError:
        return
