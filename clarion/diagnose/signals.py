"""Exceptions that come from the program's signal handlers, in the midst of a diagnosis."""

from __future__ import annotations

import functools
import signal
from types import CodeType
from typing import Any


def of_the_program(error: BaseException) -> bool:
    """Did one of the program's signal handlers raise this, while code of ours ran? (An alarm that ends a loop, say.)"""
    codes = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code in codes:
            return True
        at = at.tb_next
    return False


def _code(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not hasattr(handler, "__code__") and not hasattr(handler, "__func__"):
        handler = type(handler).__call__ if callable(handler) else None
    return getattr(getattr(handler, "__func__", handler), "__code__", None)
