"""Memory with whatever lies in it; with a known value where programs must do the same each time."""

from __future__ import annotations

from typing import Any


class Filling:
    """`on`: deterministic algorithms were asked for; `wanted`: then memory is filled, too."""

    on = False
    wanted = True


filling = Filling()


def uninitialised(xp: Any, shape: Any, kind: Any) -> Any:
    """An array that nobody has written to."""
    array = xp.empty(shape, kind)
    return known(array) if filling.on and filling.wanted else array


def known(array: Any) -> Any:
    """NaN everywhere, or the largest integer, or True."""
    if array.dtype.kind in "iu":
        array[...] = (1 << 8 * array.itemsize - (array.dtype.kind == "i")) - 1
    else:
        array[...] = True if array.dtype.kind == "b" else float("nan")
    return array
