"""Where arrays come from that no recorded operation has made: the user's lines that made them or brought them to a device.

They are noted once there is another device than the host: then an error may have to say why a tensor is where it is.
"""

from __future__ import annotations

import weakref
from typing import Any

from . import provenance
from .devices import HALVES, ndarray

_places: dict[int, tuple[Any, provenance.Place | None]] = {}


def noted(array: Any) -> Any:
    """The array, whose line is remembered as long as it lives."""
    if HALVES and (type(array) is ndarray or type(array) in HALVES):
        key = id(array)
        _places[key] = weakref.ref(array, lambda _: _places.pop(key, None)), provenance.here(2)
    return array


def place_of(array: Any) -> provenance.Place | None:
    """The line that made an array or brought it here, if it was noted."""
    found = _places.get(id(array))
    return found[1] if found is not None and found[0]() is array else None
