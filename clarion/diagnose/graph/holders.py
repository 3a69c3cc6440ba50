"""Who keeps a graph alive: the variable, attribute, container or closure of the user's program.

Asked only when something is about to be reported: it looks at every object there is (tens of milliseconds).

NOTE [Looking without touching]: `frame.f_locals` of a function is a copy that Python keeps with the frame, so that looking
at it would keep tensors alive until the function returns. `first_in` empties the copy again. Whatever the search itself
holds is wrapped in `_Found`, so that it does not take its own lists for holders.
"""

from __future__ import annotations

import gc
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from typing import Any

from .. import engine
from ..engine import Node, Tensor

_CONTAINERS = (list, tuple, set, frozenset, dict, deque)
_DEPTH = 6  # containers in containers in … that the search goes up
_BREADTH = 2_000  # objects that it looks at


@dataclass
class Holder:
    """Somebody who keeps a tensor: a variable of a running function, a global, an attribute, a closure."""

    name: str
    scope: types.CodeType | None = None  # the function (or module) whose variable it is
    owner: Any = None  # the type of the object whose attribute it is
    container: Any = None  # the type of the outermost container between the name and the tensor
    function: str = ""  # the function whose closure it is
    limit: int | None = None  # of a deque between the name and the tensor: it never has more elements

    @property
    def text(self) -> str:
        """`the list `losses` in train()`"""
        kind = f"the {self.container.__name__} " if self.container is not None else ""
        if self.owner is not None:
            return f"{kind}`{self.name}` of {self.owner.__name__}"
        if self.function:
            return f"{kind}`{self.name}` in a closure of {self.function}()"
        if self.scope is None or self.scope.co_name == "<module>":
            return f"{kind}`{self.name}` at module level"
        return f"{kind}`{self.name}` in {self.scope.co_name}()"


@dataclass(eq=False)
class _Found:
    """An object on the way up, and the outermost container so far. NOTE [Looking without touching]."""

    thing: Any
    container: Any = None
    limit: int | None = None


class Live:
    """All nodes there are now: what was computed from each, and the tensors that stand for it."""

    def __init__(self) -> None:
        self.nodes: list[Node]
        self._consumers: dict[int, list[Node]] = {}
        self._tensors: dict[int, list[_Found]] = {}
        self.nodes, tensors = engine.live()
        for found in tensors:
            self._tensors.setdefault(id(engine.node(found)), []).append(_Found(found))
        del tensors
        for node in self.nodes:
            for edge in node.edges:
                if engine.is_node(edge):
                    self._consumers.setdefault(id(edge), []).append(node)

    def consumers(self, node: Node) -> list[Node]:
        """The nodes that were computed from this one."""
        return self._consumers.get(id(node), [])

    def tensors(self, node: Node) -> list[Tensor]:
        """The tensors whose `grad_fn` it is."""
        return [found.thing for found in self._tensors.get(id(node), ())]

    def top(self, node: Node) -> Node:
        """The youngest node that was computed from this one: whoever holds its tensor holds all of them."""
        while True:
            above = self.consumers(node)
            if not above:
                return node
            node = min(above, key=lambda n: n.seq)

    def holder(self, node: Node) -> Holder | None:
        """Who keeps this node alive."""
        return next(holders(self.tensors(self.top(node))), None)


def holders(things: Iterable[Any]) -> Iterator[Holder]:
    """Everybody who keeps one of these objects by a name, nearest first."""
    frontier = [_Found(thing) for thing in things]
    del things
    seen = {id(found.thing) for found in frontier}
    frames = _user_frames()
    for _ in range(_DEPTH):
        above: list[_Found] = []
        for found in frontier:
            yield from _variables(found, frames)
            for referrer in gc.get_referrers(found.thing):
                if type(referrer) is _Found or id(referrer) in seen or len(seen) > _BREADTH:
                    continue
                seen.add(id(referrer))
                named = list(_named(found, referrer, frames))
                yield from named
                if not named and isinstance(referrer, _CONTAINERS):
                    limit = referrer.maxlen if isinstance(referrer, deque) else found.limit
                    above.append(_Found(referrer, type(referrer), limit))
        frontier = above


def _user_frames() -> list[types.FrameType]:
    """The frames of the user's code in every thread, innermost first."""
    found = []
    for innermost in sys._current_frames().values():
        frame: types.FrameType | None = innermost
        while frame is not None:
            if not engine.is_library(frame.f_code.co_filename):
                found.append(frame)
            frame = frame.f_back
    innermost = None  # type: ignore[assignment]  # a frame that holds itself keeps its callers, and what they look at
    return found


def _variables(found: _Found, frames: list[types.FrameType]) -> Iterator[Holder]:
    for frame in frames:
        name = _name_in(frame, found.thing)
        if name is not None:
            yield Holder(name, scope=frame.f_code, container=found.container, limit=found.limit)


def _name_in(frame: types.FrameType, thing: Any) -> str | None:
    """The variable of a frame that is this object."""
    return first_in(frame, lambda value: value is thing)


def first_in(frame: types.FrameType, accepts: Callable[[Any], bool]) -> str | None:
    """The first variable of a frame whose value is accepted. NOTE [Looking without touching]."""
    variables = frame.f_locals
    name = next((key for key, value in list(variables.items()) if accepts(value)), None)
    is_copy = frame.f_code.co_flags & CO_OPTIMIZED and type(variables) is dict
    if is_copy and sys.getrefcount(variables) <= 3:  # nobody else has it: the frame, this name, the argument
        variables.clear()
    return name


def _key(mapping: Any, thing: Any) -> Any:
    return next((key for key, value in list(mapping.items()) if value is thing), None)


def _named(found: _Found, referrer: Any, frames: list[types.FrameType]) -> Iterator[Holder]:
    """The names under which a referrer holds an object, if it is something with names."""
    thing, known = found.thing, {"container": found.container, "limit": found.limit}
    if isinstance(referrer, dict):
        yield from _in_dict(found, referrer, frames)
    elif isinstance(referrer, types.CellType):
        yield from _in_closure(found, referrer)
    elif isinstance(referrer, types.GeneratorType):
        if referrer.gi_frame is not None:
            name = _name_in(referrer.gi_frame, thing)
            if name is not None:
                yield Holder(name, scope=referrer.gi_code, **known)
    elif isinstance(referrer, types.FrameType):
        name = None if engine.is_library(referrer.f_code.co_filename) else _name_in(referrer, thing)
        if name is not None:
            yield Holder(name, scope=referrer.f_code, **known)
    elif not _is_plain(referrer):
        attributes = getattr(referrer, "__dict__", None)
        if isinstance(attributes, dict):
            name = _key(attributes, thing)
            if isinstance(name, str):
                yield Holder(name, owner=type(referrer), **known)


def _is_plain(thing: Any) -> bool:
    """Has it no attributes that a user gave names to?"""
    if isinstance(thing, (*_CONTAINERS, type, types.ModuleType, types.FunctionType)):
        return True
    return engine.is_node(thing) or engine.is_tensor(thing) or (type(thing).__module__ or "").startswith("clarion.core")


def _in_dict(found: _Found, referrer: dict[Any, Any], frames: list[types.FrameType]) -> Iterator[Holder]:
    name = _key(referrer, found.thing)
    module = sys.modules.get(str(referrer.get("__name__")))
    running = next((f for f in frames if f.f_globals is referrer), None)
    if running is not None or (module is not None and vars(module) is referrer):
        yield Holder(str(name), container=found.container, limit=found.limit)
        return
    for owner in gc.get_referrers(referrer):
        if type(owner) is not _Found and hasattr(type(owner), "__dictoffset__"):
            if getattr(owner, "__dict__", None) is referrer and isinstance(name, str):
                yield Holder(name, owner=type(owner), container=found.container, limit=found.limit)


def _in_closure(found: _Found, cell: types.CellType) -> Iterator[Holder]:
    for closure in gc.get_referrers(cell):
        if isinstance(closure, tuple):
            for function in gc.get_referrers(closure):
                if isinstance(function, types.FunctionType) and function.__closure__ is closure:
                    index = next(i for i, other in enumerate(closure) if other is cell)  # == would compare contents
                    name = function.__code__.co_freevars[index]
                    yield Holder(name, container=found.container, limit=found.limit, function=function.__name__)


def user_files() -> set[str]:
    """The files of the user's functions that are running."""
    return {frame.f_code.co_filename for frame in _user_frames()}
