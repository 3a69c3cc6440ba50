"""Who shares memory with whom: counters of writes, and what makes a tensor a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..events import hub
from ..footprint import Footprint
from ..kernels.mirrors import Mirror, follow
from . import provenance

if TYPE_CHECKING:
    from .tensor import Tensor


_PARTS = 32  # silent writes whose memory is remembered


class VersionCounter:
    """Counts writes in place; shared by a tensor, its views and what `detach()` gives.

    watched   somebody may write without being counted here: through `.data`, or NumPy
    silent    writes through `.data`, which PyTorch's counter does not see
    parts     the memory that the last of them wrote to: (number of the write, where); None: all of it
    exported  NumPy has this memory, too: it was handed over, or comes from there
    handed    (place, n, silent, which memory, digest of the values) when it was handed over, if somebody listened;
              (place, 0, 0, None, None) where it comes from there
    mirrors   conjugates that follow what is written, and the other way round: of a MirroredCounter alone
    """

    __slots__ = ("exported", "handed", "mirrors", "n", "parts", "place", "shadow_of", "silent", "watched")

    def __init__(self, shadow_of: VersionCounter | None = None) -> None:
        self.n = 0
        self.silent = 0
        self.exported = self.watched = False
        self.handed: tuple[Any, ...] | None = None
        self.place: provenance.Place | None = None
        self.parts: list[tuple[int, Footprint | None]] | None = None
        self.shadow_of = shadow_of

    def bump(self, written: Any = None) -> None:
        """Count a write (to the array `written`), and remember whose it was."""
        self.n += 1
        self.place = provenance.here(3)  # past `bump`, its caller, and that one's
        shadowed = self.shadow_of
        while shadowed is not None:
            shadowed.silent += 1
            shadowed.place = self.place
            if hub.silently_overwritten is not None:
                shadowed.note_part(written)
            if type(shadowed) is MirroredCounter:
                shadowed.mirrors = follow(shadowed.mirrors, written)
            shadowed = shadowed.shadow_of

    def note_part(self, written: Any) -> None:
        """Remember which memory a silent write has touched: a saved view may lie beside it."""
        if self.parts is None:
            self.parts = []
        self.parts.append((self.silent, Footprint.of(written)))
        if len(self.parts) > _PARTS:  # what is not known any more may have been anywhere
            self.parts[:2] = [(self.parts[1][0], None)]

    def was_touched(self, array: Any, since: int) -> bool:
        """May one of the silent writes after number `since` have changed this array?"""
        known = [part for number, part in self.parts or () if number > since]
        return len(known) < self.silent - since or any(part is None or part.meets(array) for part in known)

    def bump_silently(self, other: Any, theirs: VersionCounter | None = None) -> None:
        """Other memory was put in place (`x.data = y`), which PyTorch does not count: what was saved of the old is as it was."""
        self.watched = True
        self.exported, self.handed = theirs is not None and theirs.exported, None
        if theirs is not None and theirs.handed is not None and theirs.handed[-1] is None:
            self.handed = theirs.handed  # it comes from NumPy
        self.silent += 1
        self.place = provenance.here()
        if hub.silently_overwritten is not None:
            self.note_part(other)


class MirroredCounter(VersionCounter):
    """The counter of memory whose conjugates somebody has: they follow (NOTE [Mirrors] in kernels/mirrors.py)."""

    __slots__ = ()
    mirrors: list[Mirror]

    def bump(self, written: Any = None) -> None:
        super().bump(written)
        self.place = provenance.here(3)
        self.mirrors = follow(self.mirrors, written)


def mirrored(counter: VersionCounter, originals: Any, conjugates: Any) -> None:
    """From now on the conjugates follow what is written to the originals, and the other way round."""
    if type(counter) is not MirroredCounter:
        counter.__class__ = MirroredCounter
        counter.mirrors = []  # type: ignore[attr-defined]
    known = [mirror for mirror in counter.mirrors if mirror.conjugates() is not None]  # type: ignore[attr-defined]
    counter.mirrors = [*known, Mirror(originals, conjugates)]  # type: ignore[attr-defined]


# The counter of inference tensors: they have none.
INFERENCE = VersionCounter()
INFERENCE.watched = True


class View:
    """What makes a tensor a view: its base, and how to get from the base to it.

    version   the version its grad_fn belongs to; if the counter is ahead, the grad_fn is made anew
    creation  'normal', or why writing to it is refused ('no_grad', 'inference', 'multi', 'custom')
    """

    __slots__ = ("base", "chain", "creation", "version")

    def __init__(self, base: Tensor, chain: tuple[Any, ...], version: int, creation: str) -> None:
        self.base = base
        self.chain = chain
        self.version = version
        self.creation = creation


class Turned(View):
    """Of a tensor whose shape was changed in place (`x.t_()`): what lies under it is its own memory, for older views of it."""

    __slots__ = ()


class Claim(View):
    """Of a view without history whose base requires a gradient: it says that it does, too, and its own gradients vanish.

    It was taken under no_grad or in inference mode, or before its base began to require a gradient.
    """

    __slots__ = ()


class Part(View):
    """Of a view that is nobody's (`y[0] = v`): once it is written, it is gone."""

    __slots__ = ()
