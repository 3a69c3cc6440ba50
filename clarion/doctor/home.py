"""The thread that is diagnosed: the one that began the session, or, if that only waits for another to train, the other.

Of other threads nothing is told, and their parameters are left alone: PyTorch's engine writes gradients while no lock keeps us
from reading them.
"""

from __future__ import annotations

import linecache
import os
import queue
import re
import selectors
import sys
import threading
import time
from itertools import islice
from threading import get_ident
from typing import Any

from .nodes import held

_thread: threading.Thread | None = None
number = 0  # of that thread: quicker to compare
_trained = False  # has it run a backward pass? Then it stays, as long as it lives
lock = threading.RLock()  # held while something is told: what another thread begins meanwhile has to wait
_MOMENT = 0.002  # seconds
_SLEEP = re.compile(rb"(\w+\.)*sleep\(")
_WAITING = (threading.__file__, queue.__file__, selectors.__file__)


def _unlocked() -> None:
    global lock
    lock = threading.RLock()  # whoever held it stayed behind


os.register_at_fork(after_in_child=_unlocked)


def at_home(trains: bool = False) -> bool:
    """Is this the thread that is diagnosed? `trains`: it begins to train, so it would be the one."""
    if get_ident() == number:
        return True
    if _thread is None or not _thread.is_alive() or (trains and _waits()):
        move()
    elif not held.elsewhere:
        held.elsewhere, held.aside = True, held.aside + 1
    return get_ident() == number


def pass_begins() -> bool:
    """A backward pass begins: is it one of the thread that is diagnosed?"""
    global _trained
    if _trained and get_ident() == number:
        return True
    with lock:  # nobody moves meanwhile
        found = at_home(True)
        _trained = _trained or found
    return found


def move() -> None:
    """From now on this thread is diagnosed."""
    global _thread, number, _trained
    with lock:
        _thread, number, _trained = threading.current_thread(), get_ident(), False
    if held.elsewhere:
        held.elsewhere, held.aside = False, held.aside - 1
    moved()


def _waits() -> bool:
    """Has the thread that is diagnosed never trained, and does it only wait for others?"""
    calls = _standard_calls()
    while "start" in calls and held.patience > 0:  # it has just started one, perhaps this: what will it do next?
        held.patience -= 1
        time.sleep(_MOMENT)
        calls = _standard_calls()
    return bool(calls) and "start" not in calls


def _standard_calls() -> list[str]:
    """The functions that the thread which is diagnosed is in, as far as they are Python's own for waiting; none if it has trained."""
    frame: Any = None if _trained else sys._current_frames().get(number)
    if frame is not None and _sleeps(frame):
        return ["sleep"]
    calls = []
    while frame is not None and frame.f_code.co_filename in _WAITING:
        calls.append(frame.f_code.co_name)
        frame = frame.f_back
    return calls


def _sleeps(frame: Any) -> bool:
    """Is a frame in a call of `sleep`, as one that looks now and then whether the others are done? (C's functions have no frames.)"""
    first, last, begin, end = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    if first is None or begin is None:
        return False
    line = linecache.getline(frame.f_code.co_filename, first).encode()
    return _SLEEP.match(line[begin : end if first == last else None]) is not None


def moved() -> None:
    """Replaced by `listening`: another thread is to be heard."""
