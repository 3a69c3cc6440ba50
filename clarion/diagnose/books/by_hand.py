"""Updates by hand with gradients that never lay in `.grad`: those of `autograd.grad`, where there is no optimizer.

Nobody reads a gradient there, so writes are not heard of. But where such a pass meets a leaf that was written to since an earlier
one met it, a round of training has begun.
"""

from __future__ import annotations

import weakref
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import engine
from ..graph.reach import reachable

if TYPE_CHECKING:
    from .ledger import Ledger

_MOST = 2_000  # nodes that are looked at, from the youngest on,
_VALUES = 64  # and values of a leaf


class ByHand:
    """The leaves that passes of `autograd.grad` have met, and their states then."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._met: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def near_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """A pass begins: was one of its leaves written to?"""
        if accumulates or create or self._ledger.optimizers:
            return
        met = {}
        written = []
        for node in islice(reachable(tensors), _MOST):
            for leaf in node.edges:
                if engine.is_tensor(leaf) and id(leaf) not in met:
                    before, now = self._met.get(id(leaf)), _state_of(leaf)
                    if before is not None and before[0]() is leaf and before[1] != now:
                        written.append(id(leaf))
                    met[id(leaf)] = weakref.ref(leaf), now
        self._met = {**{key: known for key, known in self._met.items() if known[0]() is not None}, **met}
        if written:
            self._ledger.count_round(min(written))


def _state_of(leaf: Any) -> Any:
    """What changes when it is written to; through `.data` an engine may not count that."""
    version = engine.version(leaf)
    return version if engine.knows_all_nodes else (version, engine.some(leaf, _VALUES).reshape(-1)[:_VALUES].tobytes())
