"""The plan of a kernel: what the loops around its body (runtime.py) need to know, as memory that compiled code reads.

Where the body is, how many operands there are, their sizes, how many elements a vector has, and from how many elements on a thread
is worth its while (`GRAIN`).
"""

from __future__ import annotations

import ctypes
from typing import Any

from .text import Function

BODY, INPUTS, OPERANDS, LANES, GRAIN, SIZES = range(6)  # the places in a plan, of eight bytes each
MOST = 16  # operands of a kernel


def plan(body: int, inputs: int, sizes: list[int], lanes: int, grain: int) -> Any:
    """A plan."""
    assert len(sizes) <= MOST
    return (ctypes.c_int64 * (SIZES + MOST))(body, inputs, len(sizes), lanes, grain, *sizes)


def field(f: Function, plan: str, number: int) -> str:
    """A field of a plan."""
    return f.load("i64", f.element(plan, str(number), "i64"))


def at(f: Function, array: str, index: str) -> str:
    """A word of an array of words."""
    return f.load("i64", f.element(array, index, "i64"))
