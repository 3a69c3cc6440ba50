"""Compiled objects, loaded without the compiler: a process that finds its kernels on disk never loads LLVM (0.1 s).

An object is a file of ELF's: sections, symbols, and places that want the address of a symbol. `load` lays the sections out in memory of
its own, code and constants first, writes the addresses, and asks the system to run the code. For Linux on x86-64; elsewhere, and where
the system refuses, LLVM does it (machine.py).
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from typing import NamedTuple

_ALLOCATED, _WRITTEN = 2, 1  # flags of sections
_NO_BITS, _SYMBOLS, _ADDENDS = 8, 2, 4  # types of sections
_PAGE = 4096
# How a place is written, by the type of relocation: bytes, and whether the address is counted from the place itself.
_ABSOLUTE, _RELATIVE = {1: 8}, {24: 8, 2: 4, 4: 4}
_FROM_TABLE, _TABLE_FROM_HERE, _ENTRY, _ENTRY_FROM_HERE = 25, 29, 27, (9, 41, 42)


class Section(NamedTuple):
    """A section of an object."""

    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


class Unloadable(Exception):
    """The object holds what this file does not know, or the system refuses to run it."""


class Loaded:
    """An object in memory. It stays there as long as this does."""

    def __init__(self, memory: mmap.mmap, addresses: dict[str, int]) -> None:
        self.memory, self.addresses = memory, addresses

    def get_function_address(self, name: str) -> int:
        """Where a function stands (the names are those of LLVM's engines)."""
        return self.addresses[name]

    get_global_value_address = get_function_address


def possible() -> bool:
    """Is this a machine whose objects are read here?"""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _sections(code: bytes) -> list[Section]:
    if code[:6] != b"\x7fELF\x02\x01":
        raise Unloadable("no object")
    start, count = struct.unpack_from("<Q", code, 40)[0], struct.unpack_from("<H", code, 60)[0]
    found = []
    for k in range(count):
        _, kind, flags, _, offset, size, link, info, align, _ = struct.unpack_from("<IIQQQQIIQQ", code, start + 64 * k)
        found.append(Section(kind, flags, offset, size, link, info, align))
    return found


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _laid_out(sections: list[Section]) -> tuple[dict[int, int], int, int]:
    """Where each section goes, where what may be written begins, and where all ends."""
    places, at = {}, 0
    for written in (False, True):
        for k, section in enumerate(sections):
            if section.flags & _ALLOCATED and bool(section.flags & _WRITTEN) == written:
                at = _up(at, max(section.alignment, 1))
                places[k] = at
                at += section.size
        if not written:
            writable = at = _up(at, _PAGE)
    return places, writable, _up(at, 16)


class _Symbols:
    """The symbols of an object: where they are, and the table of addresses that code reads."""

    def __init__(self, code: bytes, sections: list[Section], places: dict[int, int], base: int, table: int) -> None:
        self.base, self.table = base, table
        self.entries: dict[int, int] = {}
        (section,) = [section for section in sections if section.type == _SYMBOLS]
        names = sections[section.link].offset
        self.values: list[tuple[str, int | None]] = []
        for k in range(section.size // 24):
            at, _, _, home, value, _ = struct.unpack_from("<IBBHQQ", code, section.offset + 24 * k)
            name = code[names + at : code.index(b"\0", names + at)].decode()
            self.values.append((name, base + places[home] + value if home in places else None))

    def address(self, number: int) -> int:
        """Of this object, or of the process."""
        name, value = self.values[number]
        if value is None:
            try:
                value = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
            except AttributeError:
                raise Unloadable(f"{name} is not there") from None
        return int(value or 0)

    def entry(self, number: int, memory: mmap.mmap) -> int:
        """Where in the table the address of a symbol stands."""
        if number not in self.entries:
            self.entries[number] = self.table + 8 * len(self.entries)
            struct.pack_into("<Q", memory, self.entries[number] - self.base, self.address(number))
        return self.entries[number]


def _value(symbols: _Symbols, memory: mmap.mmap, kind: int, number: int, addend: int, here: int) -> tuple[int, int]:
    """What a place wants, and in how many bytes."""
    if kind in _ABSOLUTE:
        return symbols.address(number) + addend, 8
    if kind in _RELATIVE:
        return symbols.address(number) + addend - here, _RELATIVE[kind]
    if kind == _FROM_TABLE:
        return symbols.address(number) + addend - symbols.table, 8
    if kind == _TABLE_FROM_HERE:
        return symbols.table + addend - here, 8
    if kind == _ENTRY:
        return symbols.entry(number, memory) + addend - symbols.table, 8
    if kind in _ENTRY_FROM_HERE:
        return symbols.entry(number, memory) + addend - here, 4
    raise Unloadable(f"a relocation of type {kind}")


def load(code: bytes) -> Loaded:
    """An object as functions that can be called."""
    sections = _sections(code)
    places, writable, end = _laid_out(sections)
    entries = sum(section.size // 24 for section in sections if section.type == _ADDENDS)
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # not shared with forked processes
    memory = mmap.mmap(-1, _up(end + 8 * entries + 8, _PAGE), flags=own)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for k, at in places.items():
        if sections[k].type != _NO_BITS:
            memory[at : at + sections[k].size] = code[sections[k].offset : sections[k].offset + sections[k].size]
    symbols = _Symbols(code, sections, places, base, base + end)
    for section in sections:
        if section.type != _ADDENDS or section.info not in places:
            continue
        for k in range(section.size // 24):
            offset, kind, number, addend = struct.unpack_from("<QIIq", code, section.offset + 24 * k)
            here = places[section.info] + offset
            value, size = _value(symbols, memory, kind, number, addend, base + here)
            try:
                struct.pack_into("<q" if size == 8 else "<i", memory, here, value)
            except struct.error:
                raise Unloadable("too far") from None
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(base), ctypes.c_size_t(writable), 5):  # read, run
        raise Unloadable("the system does not let data be run")
    return Loaded(memory, {name: value for name, value in symbols.values if name and value is not None})
