"""Primitives of oneDNN: made once for shapes and strides, kept, and run on arrays by their addresses."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int64, c_void_p
from typing import Any

import numpy

from .library import Argument, library

F32, ANY = 3, 1
SRC, DST, WEIGHTS, BIAS, DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 1, 17, 33, 41, 129, 145, 161
# What a primitive's description is asked for, by the argument: the layout that it wants.
LAYOUT_OF = {SRC: 129, DIFF_SRC: 130, WEIGHTS: 131, DIFF_WEIGHTS: 132, DST: 133, DIFF_DST: 134}
WRITTEN = (DST, DIFF_SRC, DIFF_WEIGHTS)
KEPT = 512  # primitives that are remembered


def sizes(values: Any) -> Any:
    """Numbers for C."""
    return (c_int64 * len(values))(*values)


def layout(shape: Any, strides: Any = None) -> Any:
    """The description of an array: strides in elements, or None for any that suits the primitive."""
    made = c_void_p()
    if strides is None:
        library().memory_desc_create_with_tag(byref(made), len(shape), sizes(shape), F32, ANY)
    else:
        library().memory_desc_create_with_strides(byref(made), len(shape), sizes(shape), F32, sizes(strides))
    return made


def address(x: Any) -> int:
    """Where an array lies."""
    place: int = x.__array_interface__["data"][0]
    return place


def _memory(description: Any, handle: int | None = None) -> Any:
    made = c_void_p()
    library().memory_create(byref(made), description, library().engine, handle)
    return made


class Primitive:
    """One primitive and the memory of its arguments, whose addresses are set for every run."""

    def __init__(self, description: Any, layouts: dict[int, Any]) -> None:
        self.primitive = c_void_p()
        library().primitive_create(byref(self.primitive), description)
        self.memories = [_memory(each) for each in layouts.values()]
        self.count = len(layouts)
        pairs = [(which, memory) for which, memory in zip(layouts, self.memories, strict=True)]
        self.arguments = (Argument * self.count)(*[Argument(which, memory.value) for which, memory in pairs])

    def run(self, *places: int) -> None:
        """Run it on memory at these addresses, in the order of the layouts."""
        on = library()
        for memory, place in zip(self.memories, places, strict=True):
            on.memory_set_data_handle(memory, place)
        on.primitive_execute(self.primitive, on.stream, self.count, self.arguments)


class Reordered:
    """A primitive that chooses its own layouts: arrays are brought into them, and the result out of its own."""

    def __init__(self, description: Any, given: dict[int, Any]) -> None:
        """`given`: the layouts of the arrays as they lie."""
        on, wanted = library(), {}
        self.moves: list[tuple[Primitive, int] | None] = []
        for which, mine in given.items():
            theirs = mine if which == BIAS else c_void_p(on.query_md(description, LAYOUT_OF[which], 0))
            wanted[which] = theirs
            if on.same_md(mine, theirs):
                self.moves.append(None)
                continue
            pair = (theirs, mine) if which in WRITTEN else (mine, theirs)
            move = c_void_p()
            on.reorder_primitive_desc_create(byref(move), pair[0], on.engine, pair[1], on.engine, None)
            self.moves.append((Primitive(move, {SRC: pair[0], DST: pair[1]}), _bytes(theirs)))
        self.which = list(given)
        self.primitive = Primitive(description, wanted)

    def run(self, *places: int) -> None:
        """Run it on arrays at these addresses, in the order of the layouts that were given."""
        inside, rooms = list(places), []
        for i, move in enumerate(self.moves):
            if move is not None:
                rooms.append(numpy.empty(move[1] + 64, numpy.uint8))
                inside[i] = (address(rooms[-1]) + 63) & ~63
                if self.which[i] not in WRITTEN:
                    move[0].run(places[i], inside[i])
        self.primitive.run(*inside)
        for i, move in enumerate(self.moves):
            if move is not None and self.which[i] in WRITTEN:
                move[0].run(inside[i], places[i])


def _bytes(description: Any) -> int:
    size = library().file.dnnl_memory_desc_get_size
    size.argtypes, size.restype = (c_void_p,), ctypes.c_size_t
    return int(size(description))
