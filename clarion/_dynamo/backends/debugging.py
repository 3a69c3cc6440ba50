"""`torch._dynamo.backends.debugging`: what `explain` gives."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ExplainOutput:
    """What became of a function that was to be compiled."""

    name: str
    compiled: bool
    reasons: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    graph_count: int = 0
    graph_break_count: int = 0

    def __str__(self) -> str:
        if not self.compiled:
            return "\n".join(self.reasons or [f"{self.name} runs as it is written: it was not called often enough"])
        return "\n".join(
            [f"{self.name} is replayed in {len(self.steps)} steps:", *[f"  {step}" for step in self.steps]]
        )
