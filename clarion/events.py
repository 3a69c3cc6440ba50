"""What happened, in plain terms, for tools that listen: diagnoses, profiler, memory attribution.

An event is an attribute of `hub`: None while nobody listens (that test is all an event then costs),
otherwise a callable. Core emits with

    if hub.wrote is not None:
        hub.wrote(tensor)

and a tool subscribes with `subscribe("wrote", handler)`. A handler must not raise.

| event | arguments | when |
|---|---|---|
| recorded  | node, inputs, output        | an operation joined the graph |
| saved     | node, tensor                | a value was kept for the backward pass |
| will_write | tensor                     | a tensor is about to be written in place |
| wrote     | tensor, how                 | a tensor was written in place ("inplace", "data", "numpy") |
| left      | tensor, how                 | a value left the graph ("item", "numpy", "detach", "argmax", …) |
| mode      | name, entered               | a gradient mode was entered (True) or left (False) |
| backward_began | roots, create_graph    | a backward pass begins |
| backward_ended | roots, retained        | it ended; not retained: the graph's saved values are freed |
| accumulated | leaf                      | a gradient was added to `leaf.grad` |
| cleared   | leaf                        | `leaf.grad` was set to None or overwritten by the user |
| freed     | node                        | a node released its saved values |
| silently_overwritten | node, how, where | a saved value was changed behind the version counter's back |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Handler = Callable[..., None]


class Hub:
    """One attribute per event: None, or what to call."""

    __slots__ = (
        "accumulated",
        "backward_began",
        "backward_ended",
        "cleared",
        "freed",
        "left",
        "mode",
        "recorded",
        "saved",
        "silently_overwritten",
        "will_write",
        "wrote",
    )

    recorded: Handler | None
    saved: Handler | None
    will_write: Handler | None
    wrote: Handler | None
    left: Handler | None
    mode: Handler | None
    backward_began: Handler | None
    backward_ended: Handler | None
    accumulated: Handler | None
    cleared: Handler | None
    freed: Handler | None
    silently_overwritten: Handler | None

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, None)


hub = Hub()
_handlers: dict[str, list[Handler]] = {name: [] for name in Hub.__slots__}


def _rebind(name: str) -> None:
    setattr(hub, name, _fan_out(_handlers[name]))
    # Both of these are told from one place, which the hot path enters if `recorded` is there.
    hub.recorded = _fan_out(_handlers["recorded"]) or (_ignore if hub.saved is not None else None)


def _ignore(*_: Any) -> None:
    """Stands for `recorded` while only `saved` is listened to."""


def _fan_out(listening: list[Handler]) -> Handler | None:
    handlers = tuple(listening)
    if not handlers:
        return None
    if len(handlers) == 1:
        return handlers[0]

    def fan_out(*args: Any) -> None:
        for handler in handlers:
            handler(*args)

    return fan_out


def subscribe(name: str, handler: Handler) -> Callable[[], None]:
    """Call `handler` at every event `name`; returns the function that unsubscribes it."""
    if name not in _handlers:
        raise ValueError(f"unknown event {name!r}; there are: {', '.join(sorted(_handlers))}")
    _handlers[name].append(handler)
    _rebind(name)

    def unsubscribe() -> None:
        if handler in _handlers[name]:
            _handlers[name].remove(handler)
            _rebind(name)

    return unsubscribe
