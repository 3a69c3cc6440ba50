"""How many backward passes there were."""

from __future__ import annotations

from ...events import unheard


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
