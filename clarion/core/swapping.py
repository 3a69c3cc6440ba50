"""Two tensors exchanged: the objects stay, and what they stand for goes from one to the other."""

from __future__ import annotations

import itertools
from typing import Any

_NUMBERS = itertools.count(-1, -1)  # no address is one of them


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange two tensors: what one name stood for the other does now."""
    for slot in ("_array", "_edge", "_nr", "_rg", "_vc", "_view"):
        one, other = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, other)
        setattr(t2, slot, one)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    own = dict(t1.__dict__)
    t1.__dict__.clear()
    t1.__dict__.update(t2.__dict__)
    t2.__dict__.clear()
    t2.__dict__.update(own)
    t1.__dict__["_number"], t2.__dict__["_number"] = next(_NUMBERS), next(_NUMBERS)  # see Tensor._cdata
