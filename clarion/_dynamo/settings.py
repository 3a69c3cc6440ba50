"""Settings of a compiler that is not there: any can be read and set; nobody looks at them."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any


class Settings(types.ModuleType):
    """A module of settings. What was never set is None, and counts as off."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return (
            Settings(f"{self.__name__}.{name}") if name in ("triton", "cpp", "cuda", "trace", "aot_inductor") else None
        )

    @contextlib.contextmanager
    def patch(self, changes: Any = None, **more: Any) -> Iterator[None]:
        """Other settings inside the block."""
        changes = {changes: more.pop("value", None)} if isinstance(changes, str) else {**(changes or {}), **more}
        before = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        try:
            yield
        finally:
            vars(self).update(before)
