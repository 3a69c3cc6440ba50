"""Where memory is held during a training step: measured now and then, for the report."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .. import engine
from ..graph.reach import reachable
from ..source.places import file_line

_PAUSE = 4  # steps from one sample to the next, at least


class MemorySample:
    """Bytes at one step. `lines` are the lines whose operations saved values for the backward pass."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.parameters = self.gradients = self.optimizer = self.saved = 0
        self.lines: Counter[tuple[str, int]] = Counter()


class Memory:
    """Measures while the session listens closely, one step in some."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.samples: list[MemorySample] = []
        self._current: MemorySample | None = None
        self._due = 0  # the step from which on to measure again

    def near_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """The graph is complete: what does it hold?"""
        step = self.session.ledger.step
        if step < 1 or not accumulates or step < self._due:
            return
        self._due = step + _PAUSE
        this = self._current = MemorySample(step)
        optimizers = self.session.ledger.optimizers
        seen: set[Any] = {engine.memory(p) for o in optimizers for g in o.param_groups for p in g["params"]}
        for node in reachable(tensors):
            size = 0
            for key, count, _ in engine.saved_memory(node):
                if key not in seen:
                    seen.add(key)
                    size += count
            where = file_line(node.place) if size else None
            this.saved += size
            if where is not None:
                this.lines[where] += size

    def near_stepped(self, optimizer: Any) -> None:
        """Parameters, gradients and the optimizer's state."""
        this = self._current
        if this is None:
            return
        self._current = None
        for each in self.session.ledger.optimizers:
            for group in each.param_groups:
                for leaf in group["params"]:
                    this.parameters += engine.nbytes(leaf)
                    gradient = engine.grad(leaf)  # (another thread may clear it meanwhile)
                    this.gradients += engine.nbytes(gradient) if gradient is not None else 0
                    state = each.state.get(leaf) or {}
                    this.optimizer += sum(engine.nbytes(v) for v in state.values() if engine.is_tensor(v))
        self.samples.append(this)
        del self.samples[1:-31]  # the first one, and the latest
