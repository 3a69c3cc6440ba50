"""What a file would have to be allowed, without loading it."""

from __future__ import annotations

import pickletools
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from typing import Any

from .allowed import VALUES, by_user
from .api import opened
from .failures import FileDamagedError
from .zipreader import ZipReader, is_zip


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The classes and functions a file names that `load(weights_only=True)` would refuse. Nothing is loaded."""
    with opened(f) as file:
        if not is_zip(file):
            raise FileDamagedError(
                "get_unsafe_globals_in_checkpoint: only files of PyTorch 1.6 and later can be looked into"
            )
        data = ZipReader(file).read("data.pkl")
    allowed = VALUES.keys() | by_user().keys()
    return sorted(name for name in _names(data) if name not in allowed)


def _names(data: bytes) -> set[str]:
    found: set[str] = set()
    texts: list[str] = []  # STACK_GLOBAL takes its names from the stack: nearly always the last two texts
    try:
        for code, value, _ in pickletools.genops(data):
            if code.name in ("GLOBAL", "INST"):
                module, _, name = str(value).partition(" ")
                found.add(_full(module, name))
            elif code.name == "STACK_GLOBAL" and len(texts) > 1:
                found.add(_full(*texts[-2:]))
            elif isinstance(value, str):
                texts = [*texts[-1:], value]
    except ValueError as error:
        raise FileDamagedError(f"the pickle of the file is damaged: {str(error)[:200]}") from None
    return found


def _full(module: str, name: str) -> str:
    module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
    return f"{module}.{name}"
