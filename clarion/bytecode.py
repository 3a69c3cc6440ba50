"""The instructions of a function, one for each thing that is done: from Python 3.13 on two variables can be read or written by one."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

_FUSED = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}


def instructions(code: CodeType) -> Iterator[dis.Instruction]:
    """`dis.get_instructions`, with one variable in each."""
    for at in dis.get_instructions(code):
        if at.opname in _FUSED:
            for word, name in zip(_FUSED[at.opname], at.argval, strict=True):
                yield at._replace(opname=word, argval=name, argrepr=name)
        else:
            yield at
