"""Which memory an array covers, known without keeping it alive."""

from __future__ import annotations

from typing import Any

from numpy import asarray, shares_memory
from numpy.exceptions import TooHardError

_WORK = 10_000  # that may be spent on strides that interlock


class Footprint:
    """Where an array lies: its address, shape and strides, as NumPy asks for them. Its memory is never read."""

    __slots__ = ("__array_interface__",)

    def __init__(self, facts: dict[str, Any]) -> None:
        self.__array_interface__ = facts

    @classmethod
    def of(cls, array: Any) -> Footprint | None:
        """Of a NumPy array; None of anything else."""
        facts = getattr(array, "__array_interface__", None)
        return None if facts is None else cls(facts)

    @classmethod
    def at(cls, address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Footprint:
        """Of memory that is described; strides in bytes."""
        facts = {"data": (address, True), "shape": shape, "strides": strides, "typestr": f"|V{itemsize}", "version": 3}
        return cls(facts)

    def meets(self, other: Any) -> bool:
        """Has it an element in common with an array, or with another footprint?"""
        try:
            return bool(shares_memory(asarray(self), asarray(other), _WORK))
        except TooHardError:
            return True
