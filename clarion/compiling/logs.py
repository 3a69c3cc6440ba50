"""What becomes of compiled functions, said on standard error where CLARION_LOGS asks for it: `recompiles`, `steps`, or `compile` for both."""

from __future__ import annotations

import sys
from typing import Any

from .. import config

KINDS = {"compile": ("recompiles", "steps")}
wanted = frozenset(kind for word in config.LOGS for kind in KINDS.get(word, (word,)))


def say(kind: str, name: str, text: str) -> None:
    """One line."""
    if kind in wanted:
        print(f"clarion.compile {name}: {text}", file=sys.stderr, flush=True)


def versions(name: str, count: int, changed: str | None) -> None:
    """A new version of a function is begun."""
    why = "the first of its kind of arguments" if changed is None else f"{changed} has changed"
    say("recompiles", name, f"version {count + 1}, {why}")


def ready(name: str, replay: Any) -> None:
    """A version can be replayed from now on."""
    if "steps" in wanted:
        for line in (f"is replayed in {len(replay.steps)} steps, {replay.made_of()}", *replay.description()):
            say("steps", name, line)
