"""Memory that several processes see: arrays in a memory file without a name, whose descriptor travels between them."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from typing import Any

import numpy as np

from .layout import address, memory_root, strided

# The shared pieces of memory that this process sees: address -> (size, descriptor).
_pieces: dict[int, tuple[int, int]] = {}


def _memory_file(size: int) -> int:
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("clarion shared", os.MFD_CLOEXEC)
    else:
        handle, name = tempfile.mkstemp()
        os.unlink(name)
    os.ftruncate(handle, size)
    return handle


def attach(handle: int, size: int) -> Any:
    """The bytes of a shared piece, as an array; the descriptor belongs to it from now on."""
    memory = mmap.mmap(handle, size)
    piece = np.frombuffer(memory, np.uint8)
    place = address(piece)
    _pieces[place] = size, handle
    weakref.finalize(piece, _forget, place, handle)
    return piece


def _forget(place: int, handle: int) -> None:
    _pieces.pop(place, None)
    os.close(handle)


def share(array: Any) -> Any:
    """A copy of an array in shared memory, with the same strides."""
    root = np.empty_like(array)  # dense, in the same order of dimensions
    piece = attach(_memory_file(max(root.nbytes, 1)), max(root.nbytes, 1))
    shared = np.ndarray(root.shape, root.dtype, piece, strides=root.strides)
    shared[...] = array
    return shared


def share_both(whole: Any, part: Any) -> tuple[Any, Any] | None:
    """An array and a view of it, moved into shared memory; None where a third array sees their memory: it would stay behind."""
    root, lone = memory_root(whole), np.empty(0)
    count, one = sys.getrefcount, sys.getrefcount(lone)
    # Each tensor holds its own array, and both arrays hold the memory; a second name here counts once more.
    if count(part) - one != 1 or memory_root(part) is not root:
        return None
    if count(root) - one != 3 if root is whole else count(whole) - one != 1 or count(root) - one != 2:
        return None
    moved = share(whole)
    if moved.strides != whole.strides:
        return None
    return moved, strided(moved, part.shape, part.strides, address(part) - address(whole))


def find(array: Any) -> tuple[int, int, int] | None:
    """Where an array lies in shared memory: descriptor, size of the piece, offset; None if it does not."""
    root = memory_root(array)
    found = _pieces.get(address(root)) if root.dtype == np.uint8 else None
    return None if found is None else (found[1], found[0], address(array) - address(root))


def bytes_of_file(filename: Any, shared: bool, nbytes: int) -> Any:
    """The bytes of a file, read as they are needed; what is written reaches the file only if it is shared."""
    mode: Any = "r+" if shared else "c"
    return np.memmap(filename, np.uint8, mode, shape=(nbytes,) if nbytes else None)
