"""A compiled function: which version a call takes, when it runs as it is written, and what is said about it."""

from __future__ import annotations

import functools
import threading
import warnings
from typing import Any

from ..core import provenance
from ..core.tensor import Tensor
from ..errors import EngineError
from ..events import hub
from ..forks import fork_safe
from . import checking, logs, stance
from .quick import MISS, VAIN, Quick, quick_way
from .replay import Unfit
from .signature import full_key, quick_key, world
from .version import Version

ARMED = 1  # replays after which a short way is looked for
WAYS = 4  # short ways that are tried
IDLE, SELDOM = 32, 16  # calls in a row that ran as written, and of how many one is looked at from then on
MOST = 8  # versions of one function, as PyTorch's recompile limit


class CompileWarning(UserWarning):
    """A compiled function runs as it is written: why, and at which line."""


class CompileError(RuntimeError):
    """`fullgraph=True`, and the function cannot be compiled; or `check=True`, and it computes something else."""


class Compiled:
    """What `compile` gives for a function: call it as the function itself."""

    def __init__(self, function: Any, name: str, fullgraph: bool = False, check: bool = False) -> None:
        self.function, self.name, self.fullgraph, self.check = function, name, fullgraph, check
        self.versions: dict[Any, list[Version]] = {}
        self.reasons: list[str] = []  # why it runs as it is written, if it does
        self.replays = 0
        self._lock = fork_safe(threading.RLock())
        self._given_up = self._watch_next = False
        self.vain = 0  # calls in a row that ran as they are written
        self.unseen = 0  # calls to come that nobody looks at: small functions would feel it
        self.quick: tuple[Quick, ...] = ()  # short ways, the last that was taken first

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._given_up or busy.now or stance.now.eager:
            return self.function(*args, **kwargs)
        here = world()
        if type(here) is str:
            self._say(here, None)
            return self.function(*args, **kwargs)
        key = None if kwargs else quick_key(args)
        if key is not None:
            leaves: list[Any] = list(args)
        else:
            leaves, _, key = full_key(args, kwargs)
        with self._lock:
            if self._watch_next:
                self._watch_next = False
                return self.function(*args, **kwargs)
            for version in self.versions.get((here, key), ()):
                ready = version.ready
                if ready is not None and ready.possible(leaves):
                    self.replays += 1
                    self.vain = 0
                    if self.check:
                        return checking.compared(self, ready, leaves, args, kwargs)
                    listened = hub.float_error is not None
                    if listened:
                        ready.beginnings.keep(ready, args, kwargs, leaves)
                    try:
                        result, finite = ready.call(leaves)
                    except Unfit:
                        break  # it fails, most likely: in its own words, at its own line
                    if not finite:
                        self.not_finite(ready, args, kwargs, leaves, listened)
                    elif not kwargs:
                        self._arm(ready, here, args)
                    return result
            else:
                return self._slowly((here, key), args, kwargs, leaves)
            return self.function(*args, **kwargs)

    def _arm(self, ready: Any, here: Any, args: Any) -> None:
        """The next call like this one may take the short way (quick.py)."""
        quick = ready.quick
        if quick is None:
            ready.seen += 1
            if ready.seen < ARMED:
                return
            quick = ready.quick = quick_way(self, ready, here, args)
        if quick is not False:
            others = tuple([each for each in self.quick if each is not quick][: WAYS - 1])
            try:
                armed = quick.arm()
            except (AttributeError, KeyError, IndexError, ValueError, EngineError):
                armed = False
            self.quick = (quick, *others) if armed else others
            if quick.vain > VAIN:
                ready.quick = False

    def not_finite(self, ready: Any, args: Any, kwargs: Any, leaves: Any, listened: bool) -> None:
        """A result was infinite, or no number: the next call runs as it is written, where diagnoses see its lines."""
        self._watch_next, self.quick = True, ()
        if listened:
            ready.beginnings.explain(self, ready, args, kwargs, leaves)

    def _slowly(self, key: Any, args: Any, kwargs: Any, leaves: list[Any]) -> Any:
        """No version fits: run the function as it is written, and watch or record it."""
        versions = self.versions.setdefault(key, [])
        version = versions[-1] if versions else None
        if version is None or version.ready is not None:
            if sum(map(len, self.versions.values())) >= MOST:
                why = version.ready.watch.broken() if version is not None and version.ready is not None else None
                self._given_up = True
                self._say(f"there are {MOST} versions of it already; last changed: {why or 'the arguments'}", None)
                return self.function(*args, **kwargs)
            changed = version.ready.watch.broken() if version is not None and version.ready is not None else None
            logs.versions(self.name, sum(map(len, self.versions.values())), changed)
            fresh = Version(self.function)
            if version is not None:
                fresh.codes, fresh.observed = version.codes, True
            versions.append(fresh)
            version = fresh
        if version.problem is None:
            self.vain = 0
            busy.now = True
            stance.now.busy += 1
            try:
                result = version.call(args, kwargs, leaves)
            finally:
                busy.now = False
                stance.now.busy -= 1
            if version.ready is not None:
                logs.ready(self.name, version.ready)
        else:
            self.vain += 1
            self.unseen = SELDOM - 1 if self.vain > IDLE else 0
            result = self.function(*args, **kwargs)
        if version.problem is not None and not version.said:
            version.said = True
            self._say(*version.problem)
        return result

    def _say(self, reason: str, place: Any) -> None:
        where = f" ({provenance.text(place)})" if place is not None else ""
        text = f"{self.name} runs as it is written: {reason}{where}"
        if self.fullgraph:
            raise _unsupported(text)
        logs.say("recompiles", self.name, f"runs as it is written: {reason}{where}")
        if text not in self.reasons:
            self.reasons.append(text)
            warnings.warn(text, CompileWarning, stacklevel=5)

    def reset(self) -> None:
        """Forget all versions."""
        with self._lock:
            self.versions.clear()
            self.quick = ()
            self.reasons.clear()
            self._given_up = False
            self.vain = self.unseen = 0


class _Busy(threading.local):
    """Is a compiled function being recorded in this thread? Others inside it are then part of it."""

    now = False


busy = _Busy()
_known: list[Any] = []  # weak references to all compiled functions, for reset()


def _unsupported(text: str) -> Exception:
    from .._dynamo.exc import Unsupported

    return Unsupported(text)


def compiled(function: Any, fullgraph: bool = False, check: bool = False) -> Any:
    """A function as a compiled one."""
    import weakref

    name, now = getattr(function, "__qualname__", type(function).__name__), stance.now
    made = Compiled(function, name, fullgraph, check)
    _known.append(weakref.ref(made))

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and not now.busy:
            for way in made.quick:
                result = way.call(args)
                if result is not MISS:
                    return result
        if made.unseen:
            made.unseen -= 1
            return function(*args, **kwargs)
        return made(*args, **kwargs)

    call._compiled = made  # type: ignore[attr-defined]
    call._again = compiled, fullgraph, check  # type: ignore[attr-defined]
    return call


def reset() -> None:
    """Forget all versions of all compiled functions."""
    for ref in list(_known):
        made = ref()
        if made is None:
            _known.remove(ref)
        else:
            made.reset()


def of(call: Any) -> Compiled:
    """The compiled function behind what `compile` gave."""
    while not isinstance(call, Compiled):
        call = call._compiled
    return call


__all__ = ["CompileError", "CompileWarning", "Compiled", "Tensor", "compiled", "of", "reset"]
