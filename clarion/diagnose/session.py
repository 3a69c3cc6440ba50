"""The session: subscribes the rules to events, decides when to listen closely, and takes their findings.

NOTE [Listening closely]: telling rules of every operation would cost as much as the operations themselves. So `near_…`
methods hear of events only in the first steps (where most mistakes show), in two steps at each power of two after
that, after the first calls of `eval()`, and where steps are unlike those before (books/widths.py). What must not be missed uses `on_…` methods, on events that are rare: a few
per step, never one per operation (unless the session is to be thorough).

NOTE [Rest]: on the smallest models even a few events per step cost more than a tenth of it. So after `engine.rest_after` steps
the session rests: of the events in `_FREQUENT` it hears nothing, except to count steps and to measure gradients as often
as that is cheap; what is ordinary is told in as few words as can be (books/resting.py). It wakes for `_AWAKE` steps as often as
a share of the time allows, to listen closely (books/waking.py), and whenever something happens that may begin a new phase or a
failure: `wake()`. `rest_…` methods hear of events meanwhile. Rules must not count on hearing every
single event after the first hundreds of steps.

NOTE [Never in the way]: a rule that fails with an exception of its own is taken out and named in the summary; the user's
program goes on. Only findings under `strict` (or a warning filter "error") are raised, and what the program's own signal handlers raise in
the midst of a rule.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any

from ..errors import DiagnosisError, DiagnosisWarning, NoDataError
from ..events import replace, tidy
from ..forks import fork_safe
from . import engine, signals
from .books.float_notes import notes
from .books.ledger import Ledger
from .books.memory import Memory
from .books.resting import OF_STEPS, awake, passes_alone, shortened
from .books.widths import Widths
from .finding import WARN, Finding, shown
from .rule import Diagnosis
from .source import places

# Operations that are listened to closely without a step between, before the session leans back. One counts for
# several while nothing is being trained: programs that only evaluate have less to say.
_NEAR_LIMIT = 8_000
_IDLE = 4
# Steps at the beginning that are listened to closely.
_NEAR_STEPS = 8
_AWAKE = 8
_PHASE = 8  # the same where a new phase begins
_AROUND = 3  # steps before and after the one that the user names
_FREQUENT = frozenset(
    [
        "backward_began",
        "backward_ended",
        "accumulated",
        "cleared",
        "looked",
        "wrote",
        "step_began",
        "stepped",
        "clipped",
        "limited",
        "left",
        "mode",
    ]
)
_LEDGER_CALLS = (
    "at_update",
    "at_stale",
    "at_empty_step",
    "at_backward",
    "at_discard",
    "at_gradients",
    "at_seeded",
    "at_undone",
)


# How much is heard.
OFF, DEEP, REST, AWAKE, NEAR = "off", "deep", "rest", "awake", "near"


def _joined(*tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    joined: dict[str, list[Any]] = {}
    for table in tables:
        for event, heard in table.items():
            joined[event] = joined.get(event, []) + heard
    return joined


def _without_frames(error: BaseException) -> BaseException:
    """An exception that keeps nothing alive: frames hold tensors, and with them whole graphs."""
    at: BaseException | None = error
    while at is not None:
        at.__traceback__, at = None, at.__cause__ or at.__context__
    return error


class Session:
    """All that is on while a program is diagnosed."""

    def __init__(self, rules: dict[str, type[Diagnosis]], thorough: bool = False) -> None:
        self.findings: list[Finding] = []
        self.failures: dict[str, BaseException] = {}  # rules that broke, and how
        self.lacking: dict[str, Any] = {}  # what the engine does not have -> (what is not heard of, …)
        self.silenced: set[str] = set()
        self.strict = False
        self.thorough = thorough
        self.near = False
        self.audience: Any = None  # says who tells a finding, and in whose name
        self.listen_at: int | None = None  # a step that the user wants to be listened to closely
        self.engine = engine.current  # that feeds it
        self.began = time.perf_counter()
        self.ledger = Ledger(self)
        self.memory = Memory(self)
        self.widths = Widths(self)
        self.rules: dict[str, Diagnosis] = {
            name: rule(self) for name, rule in rules.items() if thorough or not rule.thorough
        }
        self._said: dict[tuple[str, str, int], Finding | None] = {}
        self.mode = OFF
        self.resting = False
        self._rest_from = engine.rest_after  # the step from which on to rest
        self.woke = -1  # the last step that passed at rest
        self._near_until = 0  # steps before this one are listened to closely
        self._switching = fork_safe(threading.RLock())
        self._tables = self._make_tables()
        self._bound: dict[str, Any] = {}  # event -> what is subscribed to it now
        self.told: dict[str, tuple[tuple[str, Any], ...]] = dict.fromkeys(_LEDGER_CALLS, ())
        self._heard = 0  # operations since the last step
        self._trains = False
        self._evaluations = 0
        self._looking = False  # has anybody read a gradient?

    # Listening -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to listen, or go on."""
        for name in _LEDGER_CALLS:
            self.told[name] = self._listeners(name)
        self.ledger.forget_gradients()
        self.ledger.waking.wake(self.ledger.passes)
        self._switch(NEAR if self.ledger.step < _NEAR_STEPS else AWAKE)

    def stop(self) -> None:
        """Stop listening: from now on nothing costs anything."""
        self._switch(OFF)
        self.ledger.waking.stop()

    def _listeners(self, name: str) -> tuple[tuple[str, Any], ...]:
        return tuple((key, getattr(rule, name)) for key, rule in self.rules.items() if hasattr(rule, name))

    def _switch(self, mode: str) -> None:
        """Subscribe what a mode listens to, in place of what was."""
        with self._switching:
            self._switch_now(mode)

    def _switch_now(self, mode: str) -> None:
        if mode == self.mode:
            return
        if self.mode == DEEP:
            self.ledger.count_untold()
        table = self._tables[mode]
        resting = mode in (REST, DEEP)
        if resting and self.resting:  # quickly: a measurement comes between every hundred steps
            for event in OF_STEPS:
                replace(event, self._bound.get(event), table.get(event))
            self._bound, self.mode = table, mode
            self.ledger.pace.spare()
            return
        self.ledger.pace.forget()
        for event in (*self._bound, *(set(table) - set(self._bound))):
            old, new = self._bound.get(event), table.get(event)
            if old is not new:
                replace(event, old, new)
        self._bound = table
        self._hush()
        if self.mode == NEAR and not engine.knows_all_nodes:
            self.ledger.forget_updates_by_hand()  # writes are not heard of from now on
        self.mode = mode
        self.near, self.resting = mode == NEAR, resting
        self._heard = 0
        watched = self.near or (self.thorough and mode != OFF)
        engine.watch(watched, self.resting)
        self.ledger.pace.spare() if resting else engine.leave_untold(0)
        tidy()

    def _hush(self) -> None:
        """Writes mean something to the ledger once a gradient was read. Before that, nobody has to be told of them."""
        if not self._looking and self._bound.get("wrote") is not None and self._writes_are_the_ledgers:
            replace("wrote", self._bound["wrote"], None)

    def hear_writes(self) -> None:
        """A gradient was read: from now on writes are heard of."""
        if not self._looking:
            with self._switching:
                self._looking, handler = True, self._bound.get("wrote")
                if handler is not None and self._writes_are_the_ledgers:
                    replace("wrote", None, handler)

    def hear_at_rest_no_more(self, event: str) -> None:
        """The one who listened to it at rest knows enough: what is told at every step costs, however little is done."""
        with self._switching:
            bound = self._bound.get(event) if self.resting else None
            for mode in (REST, DEEP):
                self._tables[mode].pop(event, None)
            if bound is not None:
                replace(event, bound, None)

    def _make_tables(self) -> dict[str, dict[str, Any]]:
        """For each mode and each event that it listens to, one handler for all who want to hear of it."""
        listeners = [
            ("the ledger", self.ledger),
            ("departures", self.ledger.departures),
            ("updates by hand", self.ledger.by_hand),
            ("memory", self.memory),
            ("widths", self.widths),
            ("glance", self.ledger.glance),
            ("float notes", notes),
        ]
        found: dict[str, dict[str, list[tuple[str, Any]]]] = {"on_": {}, "near_": {}, "rest_": {}}
        for key, listener in (*listeners, *self.rules.items()):
            for attribute in dir(listener):
                prefix, _, event = attribute.partition("_")
                if f"{prefix}_" in found and event and key not in self.failures:
                    found[f"{prefix}_"].setdefault(event, []).append((key, getattr(listener, attribute)))
        own = [("the session", each) for each in (self._training_set, self._optimizer_made, self._count_operation)]
        found["on_"].setdefault("training_set", []).append(own[0])
        found["on_"].setdefault("optimizer_made", []).append(own[1])
        found["near_"].setdefault("applied", []).append(own[2])
        writes = found["on_"].get("wrote", []) + found["near_"].get("wrote", [])
        self._writes_are_the_ledgers = [key for key, _ in writes] == ["the ledger"]
        rare = {event: heard for event, heard in found["on_"].items() if event not in _FREQUENT}
        rest = _joined(rare, found["rest_"])
        made: dict[Any, Any] = {}  # modes that hear the same of an event share the handler
        quiet = {event: self._handler(tuple(heard), made) for event, heard in rest.items()}
        resting = shortened(self.ledger, quiet)
        return {
            OFF: {},
            DEEP: passes_alone(resting),
            REST: resting,
            AWAKE: awake(
                self.ledger, {event: self._handler(tuple(heard), made) for event, heard in found["on_"].items()}
            ),
            NEAR: {
                event: self._handler(tuple(heard), made)
                for event, heard in _joined(found["on_"], found["near_"]).items()
            },
        }

    def _handler(self, heard: tuple[tuple[str, Any], ...], made: dict[Any, Any]) -> Any:
        """One function that calls all who listen. NOTE [Never in the way]."""
        if heard in made:
            return made[heard]
        if len(heard) == 1 and not hasattr(heard[0][1], "__func__"):  # built in: it cannot fail
            handler = heard[0][1]
        elif len(heard) == 1:
            handler = self.guarded(*heard[0])
        else:

            def handler(*args: Any) -> None:
                for key, method in heard:
                    try:
                        method(*args)
                    except (DiagnosisError, DiagnosisWarning):
                        raise
                    except Exception as error:
                        self.take_out(key, error)

        made[heard] = handler
        return handler

    def guarded(self, key: str, method: Any) -> Any:
        """A handler that cannot stand in the way. NOTE [Never in the way]."""

        def guarded(*args: Any) -> None:
            try:
                method(*args)
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self.take_out(key, error)

        return guarded

    def tell(self, name: str, *facts: Any) -> None:
        """Pass on what the ledger has found out."""
        for key, method in self.told[name]:
            try:
                method(*facts)
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self.take_out(key, error)

    def take_out(self, key: str, error: Exception) -> None:
        """A rule broke: silence it, and remember why. NOTE [Never in the way]."""
        if isinstance(error, NoDataError) or "MetaArray" in str(error):
            return  # it asked for values of a tensor on the meta device: there are none to judge
        if signals.of_the_program(error) or os.environ.get("CLARION_DIAGNOSE_DEBUG"):
            raise error
        self.failures.setdefault(key, _without_frames(error))
        self.silenced.add(key)
        self.told = {name: tuple((k, m) for k, m in told if k != key) for name, told in self.told.items()}
        self._tables = self._make_tables()
        mode, self.mode = self.mode, ""
        self._switch(mode)

    # Listening closely ---------------------------------------------------------------------------

    def listen_closely(self, on: bool) -> None:
        """Tell the `near_…` methods, too, or stop that."""
        if on is not self.near and self.mode != OFF:
            if on:
                self.wake()
            self._switch(NEAR if on else AWAKE)

    def _count_operation(self, *_: Any) -> None:
        self._heard += 1 if self._trains else _IDLE
        if self._heard > _NEAR_LIMIT:
            self.listen_closely(False)

    def _optimizer_made(self, optimizer: Any) -> None:
        """Training begins, or goes on otherwise."""
        self.wake()
        if not self._trains:
            self._trains, self._heard = True, 0
            self.listen_closely(True)

    def step_counted(self, step: int) -> None:
        """A step ended: is the next one to be heard closely?"""
        self._heard, self._trains = 0, True
        wanted = step < max(_NEAR_STEPS, self._near_until) or step & (step - 1) == 0 or (step - 1) & (step - 2) == 0
        wanted = wanted or (self.listen_at is not None and abs(step + 1 - self.listen_at) <= _AROUND)
        if wanted is not self.near:
            self.listen_closely(wanted)
        if step >= self._rest_from and (self.listen_at is None or step > self.listen_at + _AROUND):
            self.rest()

    # Rest ----------------------------------------------------------------------------------------

    def rest(self) -> None:
        """Hear less, unless something is being listened to closely."""
        if self.mode == AWAKE:
            self.ledger.begin_rest()
            self.widths.rest()
            self._switch(REST)

    def deepen(self) -> None:
        """Hear of passes alone."""
        self._switch(DEEP)

    def surface(self) -> None:
        """Hear of steps again."""
        if self.mode == DEEP:
            self._switch(REST)

    def steps(self) -> int:
        """Steps so far, those at rest with them."""
        self.surface()
        if self.resting:
            self.ledger.count_untold()
        return self.ledger.step

    def wake(self, *_: Any) -> None:
        """Hear everything again, for a while."""
        if self.resting:
            self.ledger.count_untold()
            self.ledger.waking.wake(self.ledger.passes)
            self.woke = self.ledger.step
        self._rest_from = max(self._rest_from, self.ledger.step + _AWAKE)
        if self.resting:
            self.ledger.forget_gradients()
            self._switch(AWAKE)

    def look_again(self, steps: int = 2) -> None:
        """A long rest is over: hear everything for a while, and the next steps closely."""
        self._near_until = self.ledger.step + steps
        self.listen_closely(True)

    def look_soon(self) -> None:
        """The same in the midst of a step: the two after it are heard closely."""
        self.wake()
        self._near_until = self.ledger.step + 3

    def begin_phase(self) -> None:
        """The program does something that it has not done before: hear the next steps closely."""
        self.wake()
        self._near_until = self.ledger.step + _PHASE

    def _training_set(self, module: Any, training: bool) -> None:
        if module.training is training:
            return  # many call train() at every step
        self.wake()
        if not training:
            self.attend(2_000)

    def attend(self, operations: int) -> None:
        """Something happens that is worth listening closely to, for so many operations. Not too often."""
        if not self.near and self._trains and self._evaluations < 200:
            self._evaluations += 1
            self.listen_closely(True)
            self._heard = _NEAR_LIMIT - operations

    def listen(self, call: str, rule: Diagnosis, method: Any, on: bool) -> None:
        """Have a rule's method told of a call of the ledger for a while: what listens always costs at every step."""
        others = tuple(entry for entry in self.told[call] if entry[0] != rule.name)
        self.told[call] = (*others, (rule.name, method)) if on else others

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
        step = self.steps()
        file, line = places.file_line(where) or places.file_line(engine.here()) or ("<unknown>", 0)
        key = (rule.name, file, line)
        if key in self._said:
            if error is not None:
                error.finding = self._said[key]
            return None
        lines = dict.fromkeys(filter(None, map(places.file_line, also)))
        others = [{"file": f, "line": n} for f, n in lines if (f, n) != (file, line)]
        finding = Finding(rule.name, level, file, line, what, why, fix, step, others)
        finding.silence = f"`# clarion: allow {rule.name}` on {shown(file)}:{line}"
        if error is not None:
            error.finding = finding
        silent = rule.name in self.silenced or places.allowed(file, line) & {rule.name, "all"}
        if not silent and self.audience is not None:  # several processes train together: one of them tells
            who = self.audience(key)
            silent = who is None
            finding.what = f"{who or ''}{what}"
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
        self.surface()
        for key, method in self._listeners("at_exit"):
            try:
                method()
            except (DiagnosisError, DiagnosisWarning):
                raise
            except Exception as error:
                self.take_out(key, error)
