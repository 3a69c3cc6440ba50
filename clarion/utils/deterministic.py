"""`torch.utils.deterministic`: with deterministic algorithms, is memory that nobody initialised filled with a known value?"""

from __future__ import annotations

import sys
from types import ModuleType

from ..ops.creation.uninitialised import filling


class _Deterministic(ModuleType):
    """The switch is an attribute of the module."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Are `empty` and its kin filled (with NaN, or the largest integer) under `use_deterministic_algorithms(True)`?"""
        return filling.wanted

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode)}")
        filling.wanted = mode


sys.modules[__name__].__class__ = _Deterministic
