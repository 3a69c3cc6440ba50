"""grad-mode-leaked"""

from __future__ import annotations

import weakref
from inspect import CO_GENERATOR
from typing import Any

from .. import engine
from ..books.records import OptimizerStory
from ..books.switches import Switch
from ..finding import ERROR, WARN
from ..rule import Diagnosis
from ..source.places import Place, here, text

_RUNS = 8  # of a model whose optimizer has not made a step


class GradModeLeaked(Diagnosis):
    """A gradient mode was entered for a while, and never left.

    `torch.set_grad_enabled(False)` as a statement, `no_grad().__enter__()` by hand, or a generator that yields from inside
    `with torch.no_grad():` switch recording off for everything that comes after, not only for the function that they stand
    in. Training then stops: with an error at the next `backward()`, or silently, where that is guarded by
    `if loss.requires_grad` or a handler that skips bad batches.

    Broken:

        def validate(model, loader):
            torch.set_grad_enabled(False)
            return sum(criterion(model(x), y).item() for x, y in loader)

    Fixed:

        @torch.no_grad()
        def validate(model, loader):
            return sum(criterion(model(x), y).item() for x, y in loader)

    Silent as long as nobody trains: switching recording off for the rest of a program is fine. So is one callback that
    enters a mode and another that leaves it.
    """

    name = "grad-mode-leaked"
    why = "nothing is recorded any more, so nothing that follows can be trained."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._losses: list[Place] = []  # lines whose results were differentiated
        self._kept: dict[int, _Kept] = {}  # by optimizer that has not made a step (its story's id)

    # Where PyTorch raises ------------------------------------------------------------------------

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """A root without history, or an inference tensor in a recorded operation, because of a mode that was not left."""
        value = facts.get("without_history", facts.get("inference"))
        if value is None:
            return
        found = self.ledger.unrecorded.blame(value)
        if found is not None and found[0] in self.ledger.switches.stack and found[0].is_leaked(self.ledger.passes):
            self._report(found[0], f"{text(here())} wants a gradient", error)

    # Where it goes on silently -------------------------------------------------------------------

    def on_training_set(self, module: Any, training: bool) -> None:
        """train(): whatever was entered for an evaluation should be over by the next step."""
        if training:
            for switch in self.ledger.switches.stack:
                switch.phase_over = True

    def near_cleared(self, leaves: Any) -> None:
        """zero_grad() begins a step of training."""
        if engine.switched() and not engine.recording() and any(engine.story(leaf) is not None for leaf in leaves):
            self._check("gradients are cleared for the next step")

    def near_stepped(self, optimizer: Any) -> None:
        """An optimizer steps: with gradients from before, or none."""
        if not engine.recording():
            self._check("the optimizer steps")

    def near_backward_began(self, tensors: Any, *_: Any) -> None:
        """Remember which lines compute losses."""
        node = engine.node_of(tensors[0])
        if node is not None and node.place not in self._losses and len(self._losses) < 8:
            self._losses.append(node.place)

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """A line whose loss was differentiated before runs again, unrecorded; or what an optimizer waits to train is computed so."""
        if not engine.switched() or engine.recording():
            return
        for leaf in inputs:
            if engine.is_tensor(leaf) and engine.is_parameter(leaf) and engine.requires_grad(leaf):
                self._see(leaf)
        if self._losses:
            place = here()
            if place in self._losses and any(
                getattr(module, "training", False) for module in list(self.ledger.modules)
            ):
                self._check(f"the loss at {text(place)} is computed as in training")

    def _see(self, leaf: Any) -> None:
        """A parameter is used, unrecorded: is its first update kept from coming by a mode that was not left?"""
        owner = None if engine.story(leaf) is None else engine.story(leaf).owner
        optimizer = None if owner is None else owner()
        story = getattr(optimizer, "_story", None)
        switch = self.ledger.switches.current
        if story is None or story.steps or switch is None:
            return
        kept = self._kept.get(id(story))
        if kept is not None and kept.leaf() is leaf:
            kept.times += 1
        elif kept is None and switch.is_orphan() and _is_training(self.ledger.modules, leaf):
            self._kept[id(story)] = _Kept(story, switch, leaf)

    def at_exit(self) -> None:
        """An optimizer never made a step, though its model ran again and again."""
        for kept in self._kept.values():
            if kept.times >= _RUNS and not kept.story.steps and not kept.switch.told:
                self._report(kept.switch, "an optimizer waits for gradients to the end of the program", None)

    def _check(self, doing: str) -> None:
        ledger = self.ledger
        switch = ledger.switches.current
        # No training before: this may be how the program begins. A backward since: recording is on where it matters.
        if switch is None or not 0 < switch.passes == ledger.passes:
            return
        if switch.is_orphan() or (switch.phase_over and not switch.is_block()):
            self._report(switch, doing, None)

    def _report(self, switch: Switch, doing: str, error: Any) -> None:
        gone = switch.is_orphan()
        suspended = switch.is_block() and switch.code.co_flags & CO_GENERATOR
        ended = "is suspended" if suspended else "has ended"
        since = f"`{switch.code.co_name}` {ended}" if gone else "the phase it was for is over"
        switch.told = True
        self.report(
            switch.where,
            f"`{switch}` at {text(switch.where)} was never undone: {since}, recording is still off, and {doing}.",
            fix=f"`with torch.no_grad():` around what needs no gradient, instead of `{switch}`"
            + (", closed before anything is yielded." if suspended else "."),
            also=[here()] if error is not None else [],
            level=WARN if error is None else ERROR,
            error=error,
        )

    # Recording left on ---------------------------------------------------------------------------

    def at_undone(self, switches: list[Switch]) -> None:
        """A block without recording ended; did a statement inside it switch recording on and leave it so?"""
        block, inner = switches[0], switches[-1]
        if block.recording or not inner.recording or inner.is_block() or not inner.is_orphan():
            return
        if inner.recorded_from == engine.count_nodes():
            return
        self.report(
            inner.where,
            f"`{inner}` at {text(inner.where)} switched recording on inside `{block}` of {text(block.where)}, and "
            f"`{inner.code.co_name}` returned without undoing it: the rest of the block was recorded.",
            why="graphs are built and kept where none are wanted: memory and time are lost.",
            fix="`with torch.enable_grad():` around what needs a gradient.",
            also=[block.where],
        )


class _Kept:
    """An optimizer without a step, what had switched recording off when a parameter of it was used, and how often that was used since."""

    def __init__(self, story: OptimizerStory, switch: Switch, leaf: Any) -> None:
        self.story, self.switch, self.leaf, self.times = story, switch, weakref.ref(leaf), 1


def _is_training(modules: Any, leaf: Any) -> bool:
    """Is the module of a parameter in train mode?"""
    owners = (module for module in list(modules) if any(leaf is each for each in module._parameters.values()))
    return any(getattr(module, "training", False) for module in owners)
