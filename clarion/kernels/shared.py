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


class _Lone:
    _array = np.empty(0)


def share_both(whole: Any, part: Any) -> tuple[Any, Any] | None:
    """The arrays of a tensor and of a view of it, moved into shared memory; None where a third array sees their memory: it would stay behind."""
    # Each tensor holds its own array, and both arrays hold the memory. (They are counted where they are held: how many references
    # a call holds depends on who evaluates frames, a debugger for one.)
    count, one = sys.getrefcount, sys.getrefcount(_Lone._array)
    if count(part._array) != one or memory_root(part._array) is not memory_root(whole._array):
        return None
    root = memory_root(whole._array)  # (which counts once more)
    if root is whole._array:
        if count(whole._array) - one != 2:
            return None
    elif count(whole._array) != one or count(root) - one != 2:
        return None
    moved = share(whole._array)
    if moved.strides != whole._array.strides:
        return None
    offset = address(part._array) - address(whole._array)
    return moved, strided(moved, part._array.shape, part._array.strides, offset)


def find(array: Any) -> tuple[int, int, int] | None:
    """Where an array lies in shared memory: descriptor, size of the piece, offset; None if it does not."""
    root = memory_root(array)
    found = _pieces.get(address(root)) if root.dtype == np.uint8 else None
    return None if found is None else (found[1], found[0], address(array) - address(root))


def bytes_of_file(filename: Any, shared: bool, nbytes: int) -> Any:
    """The bytes of a file, read as they are needed; what is written reaches the file only if it is shared."""
    mode: Any = "r+" if shared else "c"
    return np.memmap(filename, np.uint8, mode, shape=(nbytes,) if nbytes else None)
