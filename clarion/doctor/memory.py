"""Who wrote to which memory: known while listening closely, and asked when a saved value has changed.

PyTorch counts writes (`_version`), but not where they were made; writes through `.data` and NumPy it does not count at all.
"""

from __future__ import annotations

import weakref
import zlib
from collections import deque
from typing import Any

import torch
from torch._C import DisableTorchFunction

from ..footprint import Footprint
from . import nodes, values
from .lines import Place
from .nodes import View

_MOST = 4096  # writes that are kept


class Write:
    """One write: the memory (from, to), where it was made, and how many nodes there were."""

    __slots__ = ("begin", "end", "mark", "part", "place", "shape", "silent")

    def __init__(self, t: Any, place: Place | None, silent: bool, index: Any = None) -> None:
        self.begin, self.end = span(t)
        self.part = footprint(_indexed(t, index)) if silent else None
        self.place, self.silent, self.shape = place, silent, tuple(t.shape)
        self.mark = 0.5 - torch.autograd._get_sequence_nr()

    def meets(self, begin: int, end: int) -> bool:
        """Does it touch this memory?"""
        return self.begin < end and begin < self.end


class Export:
    """Memory (from, to) that NumPy may write to, as long as the array is there: the one that `numpy()` gave or `from_numpy` took."""

    __slots__ = ("array", "begin", "end", "how", "place")

    def __init__(self, t: Any, array: Any, how: str, place: Place | None) -> None:
        self.begin, self.end = span(t)
        self.how, self.place, self.array = how, place, weakref.ref(array)


_writes: deque[Write] = deque(maxlen=_MOST)
_rebound: deque[tuple[weakref.ref[Any], float, Place | None]] = deque(
    maxlen=256
)  # tensors that `x.data = y` gave other memory
_shadows: dict[int, weakref.ref[Any]] = {}  # tensors that `.data` gave, by id
_exported: deque[Export] = deque(maxlen=64)
_recent: deque[weakref.ref[Any]] = deque(maxlen=256)  # tensors that were computed lately, in the graph
followed: Any = None  # the departures of the session: a value that left may become a number


def forget() -> None:
    """A new session begins."""
    _writes.clear()
    _shadows.clear()
    _rebound.clear()
    _exported.clear()
    _recent.clear()
    _fingerprints.clear()


def is_followed(t: Any) -> bool:
    """Does the session follow this value, though it is outside the graph?"""
    return followed is not None and bool(followed(t))


def span(t: Any) -> tuple[int, int]:
    """The memory that a tensor covers."""
    if not values.is_plain(t) or not t.numel():
        return 0, 0
    begin = t.data_ptr()
    last = sum((n - 1) * abs(s) for n, s in zip(t.shape, t.stride(), strict=True))
    return begin, begin + (last + 1) * t.element_size()


def footprint(t: Any) -> Footprint | None:
    """The same, element by element; None if it has no memory to speak of."""
    if not values.is_plain(t) or not t.numel():
        return None
    size = t.element_size()
    return Footprint.at(t.data_ptr(), tuple(t.shape), tuple(s * size for s in t.stride()), size)


def _indexed(t: Any, index: Any) -> Any:
    """The part of a tensor that an index of numbers and slices means; with tensors in it, all of it."""
    items = index if isinstance(index, tuple) else (index,)
    if index is None or not all(type(item) in _BASIC for item in items):
        return t
    with DisableTorchFunction(), torch.no_grad():
        return t[index]


_BASIC = (int, slice, type(Ellipsis), type(None))


def shadowed(t: Any) -> None:
    """`.data` gave this tensor: writes to it are not counted."""
    key = id(t)
    _shadows[key] = weakref.ref(t, lambda _: _shadows.pop(key, None))


def rebound(t: Any, place: Place | None) -> None:
    """`t.data = other`: who saved this very tensor (an input, not a result) will find the other's values."""
    _rebound.append((weakref.ref(t), 0.5 - torch.autograd._get_sequence_nr(), place))


def written(t: Any, place: Place | None, index: Any = None) -> None:
    """A tensor (or what the index says of it) was written in place."""
    known = _shadows.get(id(t))
    _writes.append(Write(t, place, known is not None and known() is t, index))


def exported(t: Any, array: Any, how: str, place: Place | None) -> None:
    """NumPy shares this memory from now on."""
    if values.is_plain(t) and t.device.type == "cpu" and t.numel():
        _exported.append(Export(t, array, how, place))
        for view in nodes.in_order([made for ref in _recent if (made := ref()) is not None]):
            note_saved(view)


def computed(t: Any, views: list[View]) -> None:
    """An operation of the graph gave this tensor, and made these nodes."""
    _recent.append(weakref.ref(t))
    if _exported:
        for view in views:
            note_saved(view)


def write_since(view: View, sizes: tuple[int, ...], times: int) -> Place | None:
    """Where a value of this shape that a node saved was first written to since, so many times. What it saved cannot be read any more."""
    later = [write for write in _writes if write.mark < view.seq]
    same = [write for write in later if write.shape == sizes]
    touched = ([w for w in later if w is write or w.meets(write.begin, write.end)] for write in same)
    as_often = next((writes for writes in touched if len(writes) == times), None)
    if as_often is not None:
        return as_often[0].place
    spans = [(write.begin, write.end) for write in same]
    around = [w for w in later if w in same or any(w.meets(b, e) for b, e in spans)] or later
    return around[0].place if around else None


# Silent writes ---------------------------------------------------------------------------------------

_fingerprints: dict[int, tuple[weakref.ref[Any], dict[str, tuple[int, Export]]]] = {}


def note_saved(view: View) -> None:
    """What a node saved of memory that NumPy may write to is looked at now, and once more before it is used."""
    shared = [export for export in _exported if export.array() is not None]
    if not shared or id(view) in _fingerprints:
        return
    found = {}
    try:
        for name, t in values.saved_tensors(view):
            begin, end = span(t)
            export = next((e for e in shared if e.begin < end and begin < e.end), None)
            if export is not None and t.numel() <= 1 << 20:
                found[name] = _print(t), export
    except RuntimeError:
        return
    if found:
        key = id(view)
        _fingerprints[key] = weakref.ref(view, lambda _: _fingerprints.pop(key, None)), found


def arrays_of(view: View) -> list[Any]:
    """The arrays that share memory with what a node saved."""
    known = _fingerprints.get(id(view))
    exports = known[1].values() if known is not None else ()
    return [array for _, export in exports if (array := export.array()) is not None]


def _print(t: Any) -> int:
    return zlib.crc32(values.array(t).tobytes())


def silently_overwritten(view: View) -> tuple[str, Place | None] | None:
    """Was a value that a node saved changed without being counted? How, and where."""
    silent = [write for write in _writes if write.silent]
    if not silent and not _rebound and id(view) not in _fingerprints:
        return None
    known = _fingerprints.get(id(view))
    prints = known[1] if known is not None else {}
    try:
        for name, t in values.saved_tensors(view):
            for reference, mark, place in _rebound:
                if reference() is t and mark < view.seq:
                    return "data", place
            kept = footprint(t) if silent else None
            for write in silent:
                if kept is not None and write.mark < view.seq and write.part is not None and write.part.meets(kept):
                    return "data", write.place
            if name in prints and prints[name][0] != _print(t):
                return prints[name][1].how, prints[name][1].place
    except RuntimeError:
        pass
    return None
