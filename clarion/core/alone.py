"""Is a saved value seen by nobody but the node that saved it? Then its memory may become that of a gradient.

References are counted: of the tensor, of the one it is a view of, of their arrays and of the memory itself. How many there are of a
tensor that nobody else has depends on Python's version and the array library, so a specimen is made and counted the same way.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from .namespace import lifted
from .node import FREED
from .passes import running
from .saved import PACKED
from .tensor import Tensor, new_tensor


class _Holder:
    """Holds a specimen as a node does."""

    saved: tuple[Any, ...]


def only_saved(node: Any, position: int) -> bool:
    """Will the value at this position of what the node saved die when the node has run, seen by nobody else? (Not for NumPy's arrays.)"""
    this, saved = running.this, node.saved
    if this is None or this.retain or saved is FREED or node.versions is PACKED or type(saved) is not tuple:
        return False
    del saved
    tensor = node.saved[position]
    if type(tensor) is not Tensor or tensor._edge is None or tensor._array.flags.c_contiguous is not True:
        return False
    kind = type(tensor._array), tensor._view is not None
    del tensor
    known = _specimens.get(kind)
    if known is None:
        known = _specimens[kind] = _specimen(node.saved[position]._array, kind[1])
    return _counts(node, position) == known


def _counts(holder: Any, position: int) -> tuple[int, ...]:
    tensor = holder.saved[position]
    view, array = tensor._view, tensor._array
    counts = [sys.getrefcount(x) for x in (tensor, array, array.data, array.data.mem)] + [_weak(tensor)]
    if view is not None:
        counts += [sys.getrefcount(x) for x in (view, view.base, view.base._array)] + [_weak(view.base)]
        if view.base._view is not None:  # as all views of a base, it knows the base itself
            return ()
    return tuple(counts)


def _weak(tensor: Any) -> int:
    return weakref.getweakrefcount(tensor)


_specimens: dict[Any, tuple[int, ...]] = {}


def _specimen(like: Any, is_view: bool) -> tuple[int, ...]:
    holder = _Holder()
    tensor = new_tensor(type(like)((4,), like.dtype))
    if is_view:
        tensor = lifted.view(tensor, (2, 2))
    holder.saved = (tensor,)
    del tensor
    return _counts(holder, 0)
