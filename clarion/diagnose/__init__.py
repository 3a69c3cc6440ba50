"""What clarion says out loud: diagnoses of programs that run, and train, and are silently wrong.

On in every program that imports clarion. The session begins when the first module or tensor that requires a gradient is
made, so that programs without any pay nothing.

    clarion.diagnose.findings()        what was found so far
    clarion.diagnose.off("name", …)    silence some (all, without a name); also as `with off("name"):`
    clarion.diagnose.strict()          raise clarion.DiagnosisError instead of warning
    clarion.diagnose.thorough()        also the diagnoses that cost more
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import config
from ..errors import ArgumentValueError
from ..events import subscribe
from ..forks import fork_safe
from . import engine
from .finding import Finding as Finding

__all__ = ["Finding", "catalogue", "findings", "off", "on", "strict", "summary", "thorough", "watching"]

_session: Any = None
_beginning = fork_safe(threading.RLock())
_waiting: list[Any] = []  # what ends the wait for the first leaf
_silenced: set[str] = set(config.DIAGNOSE_ALLOW)
_strict = config.DIAGNOSE == "strict"
_thorough = False
_listen_at: int | None = None
_prepare: Callable[[Any], None] | None = None  # what another engine gives its sessions


def catalogue() -> dict[str, Any]:
    """All diagnoses by name: classes, whose docstrings are the pages that `clarion explain` shows."""
    from .rules import RULES

    return RULES


def findings() -> list[Finding]:
    """What was found so far, in order."""
    return [] if _session is None else list(_session.findings)


def summary() -> str:
    """What was found so far, for a terminal; empty if nothing was."""
    from .report import terminal

    return "" if _session is None else terminal.summary(_session)


class off:
    """Silence the named diagnoses from now on, or all of them. As a context, until it ends."""

    def __init__(self, *names: str) -> None:
        _check(names)
        self._everything = not names
        self._was_on = is_on()
        self._names = {name for name in names if name not in _silenced}
        if self._everything:
            _stop()
        self._silence(True)

    def _silence(self, silent: bool) -> None:
        for target in (_silenced, *(() if _session is None else (_session.silenced,))):
            target.update(self._names) if silent else target.difference_update(self._names)

    def __enter__(self) -> off:
        return self

    def __exit__(self, *_: object) -> None:
        if self._everything and self._was_on:
            on()
        self._silence(False)


def on(*names: str) -> None:
    """Take back `off`."""
    _check(names)
    for target in (_silenced, *(() if _session is None else (_session.silenced,))):
        target.difference_update(names)
    if not names and not is_on():
        _resume()


def is_on() -> bool:
    """Is the program being diagnosed (or waiting for its first leaf)?"""
    return (_session is not None and _session.mode != "off") or bool(_waiting)


class strict:
    """Raise what would be a warning, from now on. As a context, until it ends."""

    def __init__(self, on: bool = True) -> None:
        self._before = _strict
        _set_strict(on)

    def __enter__(self) -> strict:
        return self

    def __exit__(self, *_: object) -> None:
        _set_strict(self._before)


def thorough() -> None:
    """Also check every operation for non-finite values, and every custom backward against finite differences."""
    global _thorough
    _thorough = True
    if _session is not None:
        _stop()
        _wait()


def listen_at(step: int | None) -> None:
    """Listen closely around this step, where a first run could not name a line."""
    global _listen_at
    _listen_at = step
    if _session is not None:
        _session.listen_at = step


def _set_strict(value: bool) -> None:
    global _strict
    _strict = value
    if _session is not None:
        _session.strict = value


def _check(names: tuple[str, ...]) -> None:
    known = catalogue() if names else {}
    for name in names:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 3)
            hint = f"; did you mean {', '.join(near)}?" if near else f"; there are: {', '.join(known)}"
            raise ArgumentValueError(f"no diagnosis is called {name!r}{hint}")


@contextlib.contextmanager
def watching(thorough: bool = False) -> Iterator[list[Finding]]:
    """A session of its own for what runs inside; gives the list that its findings are put into."""
    global _session, _thorough
    from .books.float_notes import notes

    notes.clear()
    outer, was_on, was_thorough = _session, is_on(), _thorough
    _stop()
    _session, _thorough = None, thorough
    _begin()
    inner: Any = _session
    try:
        yield inner.findings
        inner.finish()
    finally:
        inner.stop()
        _session, _thorough = outer, was_thorough
        if was_on:
            _resume()


# The life of the session ---------------------------------------------------------------------------


def _wait() -> None:
    """Begin as soon as something can be differentiated."""
    if not _waiting:
        from .books.float_notes import notes

        _use_own_engine()

        _waiting.extend(subscribe(event, _begin) for event in ("made", "flagged", "module_made"))
        _waiting.append(subscribe("float_error", notes.on_float_error))  # data may be spoilt before the first leaf


def _use_own_engine() -> None:
    """Unless another one is being diagnosed."""
    if engine.current is None:
        importlib.import_module(
            "clarion.core"
        )  # with it comes all of clarion, which may begin to wait for the first leaf
        from .engines import clarion

        engine.use(clarion)


def _start() -> None:
    global _session
    _use_own_engine()
    while _waiting:
        _waiting.pop()()
    from .session import Session

    carried = [] if _session is None else _session.findings
    _session = Session(catalogue(), _thorough)
    _session.findings = carried
    _session.silenced |= _silenced
    _session.strict = _strict
    _session.listen_at = _listen_at
    if _prepare is not None and _session.engine is engine.current:
        _prepare(_session)
    _session.start()
    if "IPython" in sys.modules:
        from . import notebook

        notebook.attend()


def begin_session(strict: bool, thorough: bool, listen_at: int | None, prepare: Callable[[Any], None]) -> Any:
    """A session of another engine (`engine.use`) begins at once; `prepare` is called with it, and with those that follow it."""
    global _session, _thorough, _prepare
    from .books.float_notes import notes

    notes.clear()
    _session, _thorough = None, thorough
    _set_strict(strict or _strict)
    globals()["_listen_at"] = listen_at
    _prepare = prepare
    _start()
    return _session


def _begin(*first: Any) -> None:
    """Start the session; `first` is the event that began it."""
    with _beginning:
        if not first or _waiting:  # else another thread was quicker
            _start()
    # What began it is part of the story.
    if len(first) == 2:
        _session.ledger.on_flagged(*first)
    elif first and engine.is_tensor(first[0]):
        _session.ledger.on_made(*first)
    elif first:
        _session.ledger.on_module_made(*first)


def _resume() -> None:
    """Go on where `off()` stopped, or wait for the beginning."""
    _session.start() if _session is not None and _session.engine is engine.current else _wait()


def _stop() -> None:
    while _waiting:
        _waiting.pop()()
    if _session is not None:
        _session.stop()


def _at_exit() -> None:
    if _session is None or not is_on():
        return
    _session.finish()
    text = summary()
    if text and not _quiet_exit:
        print(text, file=sys.stderr)


_quiet_exit = False  # `clarion run` prints the summary itself


def _forked() -> None:
    """Workers of a DataLoader do not train: nothing is heard, until an optimizer takes a step. Then this process has its own books."""
    global _session
    was_heard = _session is not None and _session.mode != "off"
    _stop()
    _session = None  # what was found before is told where it was found
    if was_heard:
        _waiting.extend(subscribe(event, _begin_in_fork) for event in ("step_began", "stepped"))


def _begin_in_fork(optimizer: Any) -> None:
    with _beginning:
        if _waiting:
            _start()


os.register_at_fork(after_in_child=_forked)
atexit.register(_at_exit)


def begin_to_wait() -> None:
    """clarion's engine is there: wait for the first leaf, unless the environment says off or another engine is watched."""
    if config.DIAGNOSE not in ("off", "0", "no", "false") and engine.current is None:
        _wait()
