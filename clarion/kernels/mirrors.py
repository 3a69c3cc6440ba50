"""Arrays that hold the conjugates of another, as if they shared its memory.

NOTE [Mirrors]: PyTorch's `conj()` is a view: what is written to it is seen in its base, and the other way round. No array library
has such views, so the conjugates are computed into memory of their own, element for element where the originals lie in theirs,
and whoever counts writes (core/versions.py) lets the other side follow. So a view of conjugates is an ordinary view of that memory,
and the conjugate of conjugates is found where the originals lie.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy

from .layout import address, laid_out, memory_root, strided

_mirrors: dict[int, Mirror] = {}  # by the identity of the array that owns the conjugates


class Mirror:
    """Originals, and the array of their conjugates as long as anybody has it."""

    __slots__ = ("conjugates", "key", "originals")

    def __init__(self, originals: Any, conjugates: Any) -> None:
        root = memory_root(conjugates)
        self.originals, self.key = originals, id(root)
        self.conjugates = weakref.ref(root, self._gone)
        _mirrors[self.key] = self

    def _gone(self, _: object) -> None:
        _mirrors.pop(self.key, None)

    def seen(self, root: Any) -> Any:
        """The conjugates as they lie in their memory."""
        return strided(root, self.originals.shape, self.originals.strides)

    def twin(self, x: Any, root: Any) -> Any:
        """What `x`, a part of the conjugates, was computed from."""
        item = self.originals.itemsize
        element, half = divmod(address(x) - address(root), item)
        place = strided(self.originals, (1,), (item,), element * item).view(x.dtype)
        return strided(place, x.shape, x.strides, half)


def mirror_of(x: Any) -> Mirror | None:
    """The mirror that an array is a part of, on the side of the conjugates."""
    return _mirrors.get(id(memory_root(x))) if _mirrors and type(x) is numpy.ndarray else None


def where_it_lies(x: Any) -> Any:
    """The array whose memory `x` stands for: of conjugates their originals, of anything else itself."""
    mirror = mirror_of(x)
    return x if mirror is None else mirror.twin(x, memory_root(x))


def conjugated(x: Any) -> Any:
    """The conjugates of an array: the originals if it is a part of conjugates, else in new memory with its strides."""
    mirror = mirror_of(x)
    if mirror is not None:
        return mirror.twin(x, memory_root(x))
    if type(x) is not numpy.ndarray:
        return x.conj()
    return laid_out(numpy.conjugate(x), (x.shape, x.strides, x.dtype))


def is_negated(x: Any) -> bool:
    """Is it a part of the imaginary parts of conjugates?"""
    mirror = mirror_of(x)
    if mirror is None or x.dtype.kind == "c":
        return False
    return (address(x) - address(memory_root(x))) % (2 * x.itemsize) == x.itemsize


def follow(mirrors: list[Mirror], written: Any) -> list[Mirror]:
    """After a write to the array `written` (None: to originals): bring the other sides up to date; the mirrors that still are."""
    alive = [(mirror, root) for mirror in mirrors if (root := mirror.conjugates()) is not None]
    changed, waiting = [written], list(alive)
    while changed:
        now = changed.pop()
        for pair in list(waiting):
            mirror, root = pair
            originals, conjugates = mirror.originals, mirror.seen(root)
            if now is None or numpy.may_share_memory(now, originals):
                numpy.conjugate(originals, out=conjugates)
                changed.append(conjugates)
            elif numpy.may_share_memory(now, conjugates):
                numpy.conjugate(conjugates, out=originals)
                changed.append(originals)
            else:
                continue
            waiting.remove(pair)
    return [mirror for mirror, _ in alive]
