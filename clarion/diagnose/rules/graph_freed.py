"""graph-freed"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..books.records import Backward
from ..finding import ERROR
from ..rule import Diagnosis
from ..source.places import called, file_line, here, text


class GraphFreed(Diagnosis):
    """backward() walks a part of the graph that an earlier backward() has used up.

    `backward()` frees what the forward pass saved, as it goes. Walking the same part again fails. Either two losses share
    it, or something that was computed in an earlier step is still attached: a hidden state, a moving average, a value that
    was computed once before the loop.

    Broken:

        output, hidden = rnn(x, hidden)
        loss = criterion(output, y)
        loss.backward()

    Fixed:

        output, hidden = rnn(x, hidden.detach())
        loss = criterion(output, y)
        loss.backward()

    Two losses over one shared part: one backward() of their sum, `(loss_a + loss_b).backward()`. A GAN's discriminator
    is trained on `fake.detach()`. What depends on weights is computed in every step again.
    """

    name = "graph-freed"
    level = ERROR
    why = "its saved values are gone, so no gradient can be computed there any more."

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """PyTorch's own error."""
        node = facts.get("freed")
        if node is None:
            return
        running = engine.roots_running()
        roots = running if running is not None else [node]
        passes = list(self.ledger.recent)
        if self.session.resting:
            before, shared = _usual(passes), node
        else:
            if running is not None and passes:
                passes.pop()  # the one that fails
            before = _freed_by(node, passes)
            shared = node if before is None else _shared_part(roots, node, before)
        freed = f"`{_name(before)}()` at {text(before.place)}" if before is not None else "an earlier `backward()`"
        again = "backward() was called on it again" if shared in roots else f"{text(here())} walks it again"
        self.report(
            shared.place,
            f"What {text(shared.place)} computed was used up by {freed}, and {again}.",
            fix=self._remedy(shared, roots, before),
            also=[] if before is None else [before.place],
            error=error,
        )

    def _remedy(self, shared: Any, roots: list[Any], before: Backward | None) -> str:
        if before is None:
            return "add losses that share a part, and call backward() once; `detach()` what is carried over from an earlier step."
        if shared in roots:
            return f"differentiate it once, or `retain_graph=True` at {text(before.place)}."
        if file_line(before.place) == file_line(here()) and self.ledger.step > before.step:
            return (
                f"it was built in an earlier step: `detach()` it before this step uses it, or compute it anew in every "
                f"step (the computation at {text(shared.place)})."
            )
        if self.ledger.step > before.step:
            return f"`detach()` it in the loss that {text(before.place)} differentiates, or compute it anew after the update."
        if _name(before) == "autograd.grad":
            return f"`retain_graph=True` at {text(before.place)}: the graph is walked again afterwards."
        return (
            f"add the losses and call backward() once: `(loss_a + loss_b).backward()` instead of {text(before.place)}."
        )


def _name(this: Backward) -> str:
    """What the user called: `backward` or `autograd.grad`."""
    call = called(this.place)
    name = "" if call is None else getattr(call.func, "attr", getattr(call.func, "id", ""))
    return "autograd.grad" if name == "grad" else "backward"


def _usual(passes: list[Backward]) -> Backward | None:
    """At rest passes are not written down: the one that is usually made here, or else the last that was."""
    freeing = [this for this in passes if not this.retained]
    same = [this for this in freeing if file_line(this.place) == file_line(here())]
    return (same or freeing)[-1] if freeing else None


def _freed_by(node: Any, passes: list[Backward]) -> Backward | None:
    """The pass that released a node's values: the first one whose root is younger than it, and reaches it."""
    unknown = None
    for this in passes:
        if this.retained or this.root is None or this.born > node.seq:
            continue
        root = this.root()
        if root is None:
            unknown = unknown or this
        elif node in _reachable([root]):
            return this
    return unknown


def _shared_part(roots: list[Any], node: Any, before: Backward) -> Any:
    """The youngest node that both passes walk and that leads to the freed one.

    Where the root of the earlier pass is gone, what is older than that root counts as walked.
    """
    root = before.root() if before.root is not None else None
    walked = None if root is None else _reachable([root])
    found = node
    stack, seen = list(roots), set()
    while stack:
        target = stack.pop()
        if target in seen or not engine.is_node(target):
            continue
        seen.add(target)
        if target in walked if walked is not None else target.seq >= before.born:
            if target.seq < found.seq and node in _reachable([target]):
                found = target
            continue
        stack.extend(target.edges)
    return found


def _reachable(roots: list[Any]) -> set[Any]:
    seen: set[Any] = set()
    stack = list(roots)
    while stack:
        target = stack.pop()
        if engine.is_node(target) and target not in seen:
            seen.add(target)
            stack.extend(target.edges)
    return seen
