"""What was computed while recording was off, from values that would have been recorded: known while listening closely."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import engine
from ..source.places import Place, assigned, here
from .switches import Switch

if TYPE_CHECKING:
    from .ledger import Ledger


class Origin(NamedTuple):
    """Where a value without history lost it.

    place    the line that computed it
    first    the line where what it comes from was first computed without recording
    switch   what had switched recording off when it, or what it comes from, was computed
    trained  does it come from what an optimizer trains, or from a recorded value?
    """

    tensor: weakref.ref[Any]
    place: Place | None
    first: Place | None
    switch: Switch
    trained: bool


class Unrecorded:
    """Follows values from operations that were not recorded."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._origins: dict[int, Origin] = {}

    def applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran (told while the session listens closely)."""
        off = self._ledger.switches.current if engine.switched() else None
        origins = self._origins
        if off is None and not origins:
            return
        switch, trained, first = None, False, None
        for t in inputs:
            if not engine.is_tensor(t):
                continue
            if off is not None and engine.requires_grad(t):
                switch = off
                trained = (
                    trained
                    or engine.node(t) is not None
                    or (engine.story(t) is not None and engine.story(t).owner is not None)
                )
            elif id(t) in origins and origins[id(t)].tensor() is t:
                switch = switch or origins[id(t)].switch
                if origins[id(t)].trained and not trained:
                    trained, first = True, origins[id(t)].first
        if switch is None and engine.inference():
            switch = off
        if switch is None or engine.requires_grad(outs[0]):
            return
        place = here()
        for out in outs:
            key = id(out)
            origins[key] = Origin(weakref.ref(out, partial(self._forget, key)), place, first or place, switch, trained)

    def _forget(self, key: int, gone: Any) -> None:
        if key in self._origins and self._origins[key].tensor is gone:
            del self._origins[key]

    def switch_of(self, value: Any) -> Switch | None:
        """What had switched recording off when `value` was computed; None if it is not known to be unrecorded."""
        origin = self._origins.get(id(value))
        return origin.switch if origin is not None and origin.tensor() is value else None

    def is_trained(self, value: Any) -> bool:
        """Was it computed without recording from what an optimizer trains, as far as is known?"""
        origin = self._origins.get(id(value))
        return origin is not None and origin.tensor() is value and origin.trained

    def first_of(self, value: Any) -> Place | None:
        """Where what `value` comes from was first computed without recording, as far as is known."""
        origin = self._origins.get(id(value))
        return origin.first if origin is not None and origin.tensor() is value else None

    def blame(self, value: Any) -> tuple[Switch, Place | None] | None:
        """Which switch is the reason that `value` has no history, and where it was computed; None if none is."""
        ledger = self._ledger
        origin = self._origins.get(id(value))
        inference = engine.is_inference(value)
        if origin is not None and value is origin.tensor():
            # A teacher's targets are unrecorded on purpose: then it is the student's side that was cut elsewhere.
            guilty = origin.trained or inference or not ledger.optimizers
            return (origin.switch, origin.place) if guilty else None
        switch = ledger.switches.current
        if switch is None and not ledger.session.near:
            switch = ledger.switches.ended_since(ledger.passes)
        return None if switch is None else (switch, assigned(here()))
