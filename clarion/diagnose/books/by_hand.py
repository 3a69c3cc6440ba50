"""Updates by hand with gradients that never lay in `.grad`: those of `autograd.grad`, where there is no optimizer.

Nobody reads a gradient there, so writes are not heard of. But where such a pass meets a leaf that was written to since an earlier
one met it, a round of training has begun. Weights may be replaced instead, by what is computed from them and their gradients
(`w = w - lr * g`): then each pass has more behind it than the one before, of which no pass will ever make use.
"""

from __future__ import annotations

import weakref
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import engine
from ..graph.reach import reachable
from ..source.places import Place, here

if TYPE_CHECKING:
    from .ledger import Ledger

_MOST = 5_000  # nodes that are looked at,
_VALUES = 64  # and values of a leaf
_CHAIN = 16  # passes in a row, each on top of the one before: some steps inside of another training are no leak


class ByHand:
    """The leaves that passes of `autograd.grad` have met and their states then; and, by line, on top of what passes come."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._met: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._chains: dict[
            Place | None, tuple[int, int, int]
        ] = {}  # where the last began, its oldest node, passes in a row

    def near_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """A pass begins: was one of its leaves written to?"""
        if accumulates or create or self._ledger.optimizers:
            return
        nodes = list(islice(reachable(tensors), _MOST))
        met: dict[int, tuple[weakref.ref[Any], Any]] = {}
        written = []
        for node in nodes:
            for leaf in node.edges:
                if engine.is_tensor(leaf) and id(leaf) not in met:
                    before, now = self._met.get(id(leaf)), _state_of(leaf)
                    if before is not None and before[0]() is leaf and before[1] != now:
                        written.append(id(leaf))
                    met[id(leaf)] = weakref.ref(leaf), now
        self._met = {**{key: known for key, known in self._met.items() if known[0]() is not None}, **met}
        if written:
            self._ledger.count_round(min(written))
        elif nodes and not retained and not self._ledger.passes:
            self._follow(here(), max(node.seq for node in nodes))

    def _follow(self, place: Place | None, oldest: int) -> None:
        """Does the pass come on top of all that came before it at its line?"""
        begin, same, times = self._chains.get(place, (oldest, 0, 0))
        times = times + 1 if oldest == same and oldest > begin else 0
        self._chains[place] = engine.mark(), oldest, times
        if times >= _CHAIN:
            self._ledger.count_round(id(place[0]) if place is not None else 0)


def _state_of(leaf: Any) -> Any:
    """What changes when it is written to; through `.data` an engine may not count that."""
    version = engine.version(leaf)
    return version if engine.knows_all_nodes else (version, engine.some(leaf, _VALUES).reshape(-1)[:_VALUES].tobytes())
