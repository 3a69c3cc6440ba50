"""What happened, in plain terms, for tools that listen: diagnoses, profiler, memory attribution.

An event is an attribute of `hub`: None while nobody listens (that test is all an event then costs),
otherwise a callable. Core emits with

    if hub.wrote is not None:
        hub.wrote(tensor)

and a tool subscribes with `subscribe("wrote", handler)`. A handler must not raise.

| event | arguments | when |
|---|---|---|
| **the graph** | | |
| recorded  | node, inputs, output        | an operation joined the graph |
| applied   | op, inputs, params, outputs | an operation ran, recorded or not (told only while `modes.watch` is on) |
| customised | function, arguments, output | a custom Function was applied and recorded |
| declared  | name, args, kwargs, output  | an operation that a program declared (`torch.library`) ran |
| saved     | node, tensor                | a value was kept for the backward pass |
| freed     | node                        | a node released its saved values |
| left      | tensor, how                 | a value left the graph ("item", "numpy", "detach", "argmax", …) |
| aliased   | tensor, other               | `detach()` gave another tensor of the same memory |
| entered   | tensor, data                | a tensor was made of data: numbers, lists, an array, or (`.data`, `torch.tensor(t)`) another tensor |
| will_write | tensor                     | a tensor is about to be written in place |
| wrote     | tensor, how                 | a tensor was written in place ("inplace", "data", "numpy") |
| silently_overwritten | node, how, where | a saved value was changed behind the version counter's back |
| mode      | mode, entered               | `no_grad()` or another gradient mode (the object) was entered (True; again at `__enter__`) or left |
| float_error | kind                    | a kernel divided by zero, overflowed, or had no number to give ("invalid value") |
| refused   | error, facts                | the engine is about to raise; `facts` names what it knows, by word |
| **backward** | | |
| backward_began | tensors, gradients, retained, create_graph, accumulates | `backward()` (accumulates) or `autograd.grad` begins |
| backward_ended | roots, retained        | it ended; not retained: the graph's saved values are freed |
| ran       | node, gradient, result      | a node ran (told of passes that begin while somebody listens) |
| broke     | node, gradient, result      | one that an engine looks at, even if nobody listens closely, gave a gradient that is not finite |
| **leaves** | | |
| flagged   | tensor, requires_grad       | `requires_grad` was set by hand, or a tensor was made with it |
| made      | parameter                   | a Parameter was made |
| accumulated | leaf                      | a gradient was added to `leaf.grad` |
| cleared   | leaves                      | their `.grad` was set to None, to zero, or overwritten by the user |
| looked    | leaf                        | the user read `leaf.grad` |
| hooked    | tensor                      | the gradient of a tensor inside the graph is wanted: `register_hook`, `retain_grad` |
| clipped   | leaves, limit               | gradients were clipped (all that were given, with and without a gradient) |
| limited   | norm                        | the norm that they had before, where they are clipped by it (a tensor) |
| **training** | | |
| optimizer_made | optimizer              | an optimizer was built |
| step_began | optimizer                  | `step()` begins (before its closure) |
| stepped   | optimizer                   | `step()` has written the parameters |
| step_skipped | optimizer                | a GradScaler left a step out, because of an infinite gradient |
| module_made | module                    | a module was built |
| attribute_set | module, name, value     | something that is no parameter, buffer or module was assigned to a module |
| training_set | module, training         | `train()` or `eval()` was called on a module |
| module_entered | module                 | a module is called |
| module_left | module, output            | its forward has returned |
| dropped   | tensor, p                   | dropout drew a mask for a tensor |
| loss      | name, input, target         | a loss of class scores was called: cross entropy and its kin |
| stretched | input, target               | a loss function broadcast two shapes that differ |
| state_taken | module, state             | `state_dict()` was called |
| state_loaded | module, state            | `load_state_dict()` was called |
| state_written | object                  | `save()` was called |
| recomputed | function, facts            | activation checkpointing ran a region again; `facts` says what differed |
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import repeat
from typing import Any

Handler = Callable[..., None]


class Hub:
    """One attribute per event: None, or what to call."""

    __slots__ = (
        "accumulated",
        "aliased",
        "applied",
        "attribute_set",
        "backward_began",
        "backward_ended",
        "broke",
        "cleared",
        "clipped",
        "customised",
        "declared",
        "dropped",
        "entered",
        "flagged",
        "float_error",
        "freed",
        "hooked",
        "left",
        "limited",
        "looked",
        "loss",
        "made",
        "mode",
        "module_entered",
        "module_left",
        "module_made",
        "optimizer_made",
        "ran",
        "recomputed",
        "recorded",
        "refused",
        "saved",
        "silently_overwritten",
        "state_loaded",
        "state_taken",
        "state_written",
        "step_began",
        "step_skipped",
        "stepped",
        "stretched",
        "training_set",
        "will_write",
        "wrote",
    )

    recorded: Handler | None
    applied: Handler | None
    customised: Handler | None
    declared: Handler | None
    saved: Handler | None
    freed: Handler | None
    hooked: Handler | None
    left: Handler | None
    limited: Handler | None
    aliased: Handler | None
    entered: Handler | None
    will_write: Handler | None
    wrote: Handler | None
    silently_overwritten: Handler | None
    mode: Handler | None
    float_error: Handler | None
    refused: Handler | None
    backward_began: Handler | None
    backward_ended: Handler | None
    ran: Handler | None
    broke: Handler | None
    flagged: Handler | None
    made: Handler | None
    accumulated: Handler | None
    cleared: Handler | None
    looked: Handler | None
    clipped: Handler | None
    optimizer_made: Handler | None
    step_began: Handler | None
    stepped: Handler | None
    step_skipped: Handler | None
    module_made: Handler | None
    attribute_set: Handler | None
    training_set: Handler | None
    module_entered: Handler | None
    module_left: Handler | None
    dropped: Handler | None
    loss: Handler | None
    stretched: Handler | None
    state_taken: Handler | None
    state_loaded: Handler | None
    state_written: Handler | None
    recomputed: Handler | None

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, None)


hub = Hub()


ANY_WIDTH = range(-(1 << 60), 1 << 60)


class Unheard:
    """Backward passes that the one who listens to `backward_began` need not hear of: counted, and no more.

    They are ordinary: `backward()` of one finite number on the host, not above a limit, of a graph like those before: `widths`
    are the numbers of nodes that were made from one pass to the next. Where a step takes 10 µs that is felt, too: late, nothing
    is asked of most passes, which an iterator counts (`next(left, False)`), and of the others `glance`.
    """

    __slots__ = (
        "_end",
        "at",
        "due",
        "glance",
        "left",
        "limit",
        "looked",
        "pause",
        "retains",
        "settled",
        "told",
        "width",
        "widths",
    )

    def __init__(self) -> None:
        self.left = repeat(True, 0)  # of passes of whose graphs nothing is asked, those to come,
        self._end = 0  # and how many passes there will have been after them
        self.told = 0  # at this count the next one is told
        self.limit = 0.0
        self.at = 0  # the number of the root of the pass that was looked at last,
        self.looked = -2  # and its count
        self.width: int | None = None  # how many nodes a pass had made since the one before, if that is known
        self.widths: Any = ANY_WIDTH
        self.settled = 0  # the count from which on passes are looked at now and then
        self.pause = 0  # how many are not,
        self.glance: Callable[[Any], bool] | None = None  # and what is asked of the roots of the others,
        self.retains = True  # are passes that keep their graph ordinary?
        self.due = 0  # from this count on (passes that are told in between begin no pause anew)

    @property
    def count(self) -> int:
        """How many there were so far."""
        return self._end - self.left.__length_hint__()

    def counted(self) -> bool:
        """One more."""
        self._end += 1
        return True

    def _ask_nothing(self, passes: int) -> None:
        self._end = self.count + passes
        self.left = repeat(True, passes)

    def allow(self, passes: int) -> None:
        """So many more need not be told, unless somebody else listens."""
        self._ask_nothing(0)
        self.told = self.count + passes if len(_handlers["backward_began"]) < 2 else 0

    def alike(self, root: Any) -> bool:
        """A pass from this node is looked at. Need it not be told?"""
        count, at = self.count, root.seq
        since, made, width = count - self.looked, self.at - at, self.width
        if since == 1:
            width = made
        elif width is None or made != since * width:  # else all of them were alike
            width = None
        self.at, self.looked, self.width = at, count, width
        if count >= self.told or (width is not None and width not in self.widths):
            self.looked = count - 1  # it is told, and not counted
            return False
        if width is None or count < self.settled:
            return True
        if self.glance is not None and count >= self.due:
            if not self.glance(root):
                self.looked = count - 1
                return False
            self.due = count + self.pause
        self._ask_nothing(max(0, min(self.told - count - 1, self.pause)))
        return True

    def expect(self, widths: Any, settled: int = 0) -> None:
        """From now on a pass of another width than these is told (None: of none), until so many were counted each of them."""
        self.widths, self.settled = ANY_WIDTH if widths is None else widths, settled

    def last(self) -> tuple[int | None, int]:
        """The width of the last pass, if it is known, and how many were not told."""
        return self.width, self.count


unheard = Unheard()
_handlers: dict[str, list[Handler]] = {name: [] for name in Hub.__slots__}


def _rebind(name: str) -> None:
    handler = _fan_out(_handlers[name])
    if handler is None and name != "will_write" and getattr(hub, name) is not None and threading.active_count() > 1:
        handler = _ignore  # another thread may stand between the test for None and the call
    setattr(hub, name, handler)
    if name == "backward_began" and len(_handlers[name]) > 1:
        unheard.allow(0)
    # Both of these are told from one place, which the hot path enters if `recorded` is there.
    hub.recorded = _fan_out(_handlers["recorded"]) or (_ignore if hub.saved is not None else None)


def heard(name: str) -> bool:
    """Does anybody listen to an event? (`hub` may have one that ignores it, see `_rebind`: whoever does more for a listener asks here.)"""
    return bool(_handlers[name])


def tidy() -> None:
    """No other thread is left: what was kept for one (see `_rebind`) goes."""
    if threading.active_count() == 1:
        for name, handlers in _handlers.items():
            if not handlers and getattr(hub, name) is not None:
                _rebind(name)


def _ignore(*_: Any) -> None:
    """Stands for `recorded` while only `saved` is listened to, and for an event that nobody listens to any more."""


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


def replace(name: str, old: Handler | None, new: Handler | None) -> None:
    """Put one handler in another's place; None: there was none, or there is to be none."""
    handlers = _handlers[name]
    if old is not None and old in handlers:
        handlers.remove(old)
    if new is not None:
        handlers.append(new)
    _rebind(name)
