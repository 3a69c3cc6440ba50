"""What is seen of a training at rest in passing: one pass in some (128 where a step takes 10 µs, later more) is compared with those before it.

Does a parameter still hold a gradient where it held none? Is the graph of a pass some time ago still there, or a part of it? Do the
same operations end in the loss? Does nobody write to the parameters of an optimizer any more, or at next to no learning rate? What
is new is a change, and is listened to closely, as another number of nodes is (widths.py).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .. import engine

if TYPE_CHECKING:
    from .ledger import Ledger

_CHANGES = 4  # that are listened to
_STRANGE = ("kept", "dwindled", "leaf", "retained")  # what is no way to begin with
_DWINDLED = 1e-4  # of the highest learning rate
_LEARNT = 4  # glances until graphs that end otherwise are a change: a loop may have several losses
_ENDS, _MANY = (
    2,
    8,
)  # changes of that kind that are listened to, and ends that a program may have if they are to mean something
_OTHERS = 3  # optimizers, beside the first, whose parameters are looked at


class Glance:
    """What is seen of a pass in passing: is it like those before?"""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._leaf: weakref.ref[Any] | None = None  # a parameter that stands for all,
        self._optimizer: weakref.ref[Any] | None = None  # and who updates it
        self._others: list[list[Any]] = []  # a parameter of each other optimizer (weakly), and writes to it
        self._rate = 0.0  # the highest learning rate
        self._nodes: list[weakref.ref[Any]] | None = None  # some of the pass that was looked at last
        self._writes = self._passes = -1  # to the parameter, and passes, until then
        self._known: dict[Any, set[Any]] = {}
        self._glances = self._ends = 0
        self._unlike = False
        self._changes = 0

    def rest(self) -> None:
        """A rest begins."""
        optimizers = list(self._ledger.optimizers)
        optimizer, leaf = next(iter(optimizers), None), None
        if optimizer is not None:
            leaf = _first(optimizer)
        leaf = leaf if leaf is not None else next(iter(self._ledger.some_leaves(1)), None)
        self._leaf = None if leaf is None else weakref.ref(leaf)
        self._optimizer = None if optimizer is None else weakref.ref(optimizer)
        others = [other for each in optimizers[1 : 1 + _OTHERS] if (other := _first(each)) is not None]
        self._others = [[weakref.ref(other), 0] for other in others]
        self._nodes, self._unlike = None, False
        self._dwindled()  # what is the rate before?
        last = self._ledger.last_backward
        if last is not None and last.retained:
            self._known.setdefault("retained", {False}).add(True)
        wanted = leaf is not None and self._changes < _CHANGES
        engine.glance(self.alike if wanted else None, self._ledger.waking.pause(self._ledger.passes))
        engine.expect_retained(not wanted or True in self._known.get("retained", ()))

    def alike(self, root: Any) -> bool:
        """A pass begins, from this node. NOTE [Never in the way] in session.py."""
        leaf = self._leaf() if self._leaf is not None else None
        try:
            return leaf is None or self._compare(root, leaf)
        except Exception as error:
            self._ledger.session.take_out("glance", error)
            return True

    def _compare(self, root: Any, leaf: Any) -> bool:
        before = self._nodes
        end, self._nodes = engine.sketch(root)
        writes, self._writes = self._writes, engine.writes(leaf)
        waking, count = self._ledger.waking, self._ledger.passes
        if before is None:
            waking.settled(count)
        elif engine.knows_all_nodes and waking.measure(count):
            engine.glance(self.alike, waking.pause(count))
        now = engine.width()[1]
        passes, self._passes = max(1, now - self._passes), now
        held = engine.grad(leaf) is not None and (self._optimizer is not None or self._ledger.is_added_to())
        seen: dict[Any, Any] = {"held": held, "dwindled": self._dwindled()}
        if before is not None:
            seen["kept"] = any(node() is not None for node in before)
            # Writes for four passes: accumulating begins, or ends.
            seen["pace"] = round(4 * (self._writes - writes) / passes)
        for number, other in enumerate(self._others):
            self._look_at_other(number, other, passes, before is not None, seen)
        return self._ends_as_ever(end) & self._is_known(seen)

    def _look_at_other(self, number: int, other: list[Any], passes: int, counted: bool, seen: dict[Any, Any]) -> None:
        """Another optimizer's parameter: is it written to as often, or at all?"""
        reference, before = other
        leaf = reference()
        if leaf is not None:
            other[1] = engine.writes(leaf)
            if counted:
                seen["other", number] = other[1] != before

    def _ends_as_ever(self, end: Any) -> bool:
        """Is the graph made of the same operations near its end as before?"""
        known = self._known.setdefault("end", set())
        self._glances += 1
        if end in known or len(known) > _MANY:
            return True
        known.add(end)
        if self._glances <= _LEARNT or self._ends >= _ENDS:
            return True
        self._ends += 1
        self._unlike = True
        return False

    def _dwindled(self) -> int:
        """Is the learning rate next to nothing (1), or even less (2)?"""
        optimizer = None if self._optimizer is None else self._optimizer()
        rate = None if optimizer is None else optimizer.param_groups[0].get("lr")
        if type(rate) is not float:
            return 0
        self._rate = max(self._rate, rate)
        return (rate < _DWINDLED * self._rate) + (rate < _DWINDLED**2 * self._rate)

    def _is_known(self, seen: dict[Any, Any]) -> bool:
        """Was all of this seen before? (What is seen first is usual, unless it is strange.)"""
        for what, value in seen.items():
            known = self._known.setdefault(what, {False} if what in _STRANGE else set())
            self._unlike = self._unlike or (value not in known and len(known) > 0)
            known.add(value)
        return not self._unlike

    def rest_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, *_: Any) -> None:
        """A pass is told: perhaps this is why, or it begins with a tensor that was not computed, or keeps its graph."""
        if engine.is_tensor(tensors[0]) and engine.node(tensors[0]) is None:
            self._is_known({"leaf": True})
        if retained and not create:
            self._is_known({"retained": True})
            engine.expect_retained(True)
        if self._unlike and self._changes < _CHANGES:
            self._unlike = False
            self._changes += 1
            self._ledger.session.begin_phase()


def _first(optimizer: Any) -> Any:
    """A parameter that it updates."""
    return next((leaf for group in optimizer.param_groups for leaf in group["params"]), None)
