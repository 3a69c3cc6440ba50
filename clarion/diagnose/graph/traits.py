"""Operations by what they are: `op.name in having("product attention")`. The traits stand with their declarations."""

from __future__ import annotations

from .. import engine


class Having:
    """The names of all operations that have one of some traits.

    `also` names single operations; `but` takes away traits, or single operations.
    """

    every: list[Having] = []  # all that are ever asked for: a test looks whether they name what exists

    def __init__(self, traits: str, also: str = "", but: str = "") -> None:
        self.traits, self.also, self.but = frozenset(traits.split()), frozenset(also.split()), frozenset(but.split())
        self._known: dict[object, bool] = {}
        Having.every.append(self)

    def __contains__(self, name: object) -> bool:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._has(name)
        return found

    def _has(self, name: object) -> bool:
        if name in self.also:
            return True
        traits = engine.traits(name)
        return not traits.isdisjoint(self.traits) and traits.isdisjoint(self.but) and name not in self.but


def having(traits: str, also: str = "", but: str = "") -> Having:
    """The operations with one of these traits: `op.name in having("product attention")`."""
    return Having(traits, also, but)
