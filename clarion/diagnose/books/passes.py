"""How many backward passes there were, and whether a step is running them."""

from __future__ import annotations

import sys
from typing import Any

from ...events import unheard
from .. import engine


class CountsPasses:
    """A book that counts backward passes: those it was told of, and those that nobody heard."""

    _told = 0

    @property
    def passes(self) -> int:
        """Backward passes so far, told or not."""
        return self._told + unheard._end - unheard.left.__length_hint__()  # (`unheard.count`, written out)

    @passes.setter
    def passes(self, count: int) -> None:
        self._told = count - unheard.count


def in_closure() -> bool:
    """Is the user's code called by the step of an optimizer (LBFGS)? Asked when nobody has listened to how that began."""
    frame: Any = sys._getframe(1)
    own = False
    while frame is not None:
        code = frame.f_code
        if own and code.co_name == "step" and "closure" in code.co_varnames[: code.co_argcount]:
            return True
        own = own or not engine.is_library(code.co_filename)
        frame = frame.f_back
    return False
