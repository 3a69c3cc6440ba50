"""The session: subscribes the rules to events, decides when to listen closely, and takes their findings.

NOTE [Listening closely]: telling rules of every operation would cost as much as the operations themselves. So `near_…`
methods hear of events only in the first steps (where most mistakes show), in two steps at each power of two after
that, and after the first calls of `eval()`. What must not be missed at any step uses `on_…` methods, on events that are
rare: a few per step, never one per operation.

NOTE [Never in the way]: a rule that fails with an exception of its own is taken out and named in the summary; the user's
program goes on. Only findings under `strict` (or a warning filter "error") are raised.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..errors import DiagnosisError, DiagnosisWarning
from ..events import subscribe
from . import places
from .finding import ERROR, INFO, WARN, Finding, shown
from .ledger import Ledger
from .rule import Diagnosis

# Operations that are listened to closely without a step between, before the session leans back.
_NEAR_LIMIT = 20_000
# Steps at the beginning that are listened to closely.
_NEAR_STEPS = 8
_LEDGER_CALLS = ("at_update", "at_stale", "at_empty_step", "at_backward", "at_discard", "at_gradients")


class Session:
    """All that is on while a program is diagnosed."""

    def __init__(self, rules: dict[str, type[Diagnosis]], thorough: bool = False) -> None:
        self.findings: list[Finding] = []
        self.failures: dict[str, BaseException] = {}  # rules that broke, and how
        self.silenced: set[str] = set()
        self.strict = False
        self.thorough = thorough
        self.near = False
        self.ledger = Ledger(self)
        self.rules: dict[str, Diagnosis] = {
            name: rule(self) for name, rule in rules.items() if thorough or not rule.thorough
        }
        self._said: dict[tuple[str, str, int], Finding | None] = {}
        self._always: list[Callable[[], None]] = []
        self._nearby: list[Callable[[], None]] = []
        self.told: dict[str, tuple[tuple[str, Any], ...]] = dict.fromkeys(_LEDGER_CALLS, ())
        self._heard = 0  # operations since the last step
        self._evaluations = 0
        self._reporting = threading.local()

    # Listening -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to listen, or go on."""
        for name in _LEDGER_CALLS:
            self.told[name] = self._listeners(name)
        self._always = self._subscribe("on_", [("the ledger", self.ledger), *self.rules.items()])
        self._always.append(subscribe("training_set", self._training_set))
        self.listen_closely(self.ledger.step < _NEAR_STEPS)

    def stop(self) -> None:
        """Stop listening: from now on nothing costs anything."""
        self.listen_closely(False)
        for unsubscribe in self._always:
            unsubscribe()
        self._always = []

    def _listeners(self, name: str) -> tuple[tuple[str, Any], ...]:
        return tuple((key, getattr(rule, name)) for key, rule in self.rules.items() if hasattr(rule, name))

    def _subscribe(self, prefix: str, listeners: list[tuple[str, Any]]) -> list[Callable[[], None]]:
        stops = []
        for key, listener in listeners:
            for attribute in dir(listener):
                if attribute.startswith(prefix):
                    handler = self._guarded(key, getattr(listener, attribute))
                    stops.append(subscribe(attribute.removeprefix(prefix), handler))
        return stops

    def _guarded(self, key: str, method: Any) -> Any:
        if not hasattr(method, "__func__"):  # built in: it cannot fail
            return method

        def guarded(*args: Any) -> None:
            try:
                method(*args)
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self._take_out(key, error)

        return guarded

    def tell(self, name: str, *facts: Any) -> None:
        """Pass on what the ledger has found out."""
        for key, method in self.told[name]:
            try:
                method(*facts)
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self._take_out(key, error)

    def _take_out(self, key: str, error: Exception) -> None:
        """A rule broke: silence it, and remember why. NOTE [Never in the way]."""
        if os.environ.get("CLARION_DIAGNOSE_DEBUG"):
            raise error
        self.failures.setdefault(key, error)
        self.silenced.add(key)
        self.told = {name: tuple((k, m) for k, m in told if k != key) for name, told in self.told.items()}

    # Listening closely ---------------------------------------------------------------------------

    def listen_closely(self, on: bool) -> None:
        """Subscribe the `near_…` methods, or take them away."""
        if on is self.near:
            return
        self.near = on
        self._heard = 0
        if on:
            self._nearby = self._subscribe("near_", list(self.rules.items()))
            self._nearby.append(subscribe("applied", self._count_operation))
        else:
            for unsubscribe in self._nearby:
                unsubscribe()
            self._nearby = []
        modes.watch(on)

    def _count_operation(self, *_: Any) -> None:
        self._heard += 1
        if self._heard > _NEAR_LIMIT:
            self.listen_closely(False)

    def step_counted(self, step: int) -> None:
        """A step ended: is the next one to be heard closely?"""
        self._heard = 0
        wanted = step < _NEAR_STEPS or step & (step - 1) == 0 or (step - 1) & (step - 2) == 0
        if wanted is not self.near:
            self.listen_closely(wanted)

    def _training_set(self, module: Any, training: bool) -> None:
        if not training and not self.near and self._evaluations < 200:
            self._evaluations += 1
            self.listen_closely(True)
            self._heard = _NEAR_LIMIT - 2_000

    # Findings ------------------------------------------------------------------------------------

    def report(
        self,
        rule: Diagnosis,
        where: places.Where,
        what: str,
        fix: str,
        why: str,
        also: tuple[places.Where, ...] | list[places.Where],
        level: str,
        error: Any,
    ) -> Finding | None:
        """Take a finding: once per line, unless it is silenced there."""
        file, line = places.file_line(where) or ("<unknown>", 0)
        key = (rule.name, file, line)
        if key in self._said:
            if error is not None:
                error.finding = self._said[key]
            return None
        others = [
            {"file": f, "line": n} for f, n in filter(None, map(places.file_line, also)) if (f, n) != (file, line)
        ]
        finding = Finding(rule.name, level, file, line, what, why, fix, self.ledger.step, others)
        finding.silence = f"`# clarion: allow {rule.name}` on {shown(file)}:{line}"
        if error is not None:
            error.finding = finding
        silent = rule.name in self.silenced or places.allowed(file, line) & {rule.name, "all"}
        self._said[key] = None if silent else finding
        if silent:
            return None
        self.findings.append(finding)
        if level == WARN:
            self._warn(finding)
        return finding

    def said(self, *names: str) -> bool:
        """Was any of these found already? (A rule that would only name a consequence then stays silent.)"""
        return any(finding.name in names for finding in self.findings)

    def _warn(self, finding: Finding) -> None:
        if self.strict:
            raise DiagnosisError(finding)
        warnings.warn_explicit(DiagnosisWarning(finding), None, finding.file, finding.line, registry={})  # type: ignore[arg-type]

    def finish(self) -> None:
        """The program ends: rules that wait for that may speak."""
        for key, method in self._listeners("at_exit"):
            try:
                method()
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self._take_out(key, error)


__all__ = ["ERROR", "INFO", "WARN", "Session"]
