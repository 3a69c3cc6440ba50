"""The short way through a replay: conditions as words of memory, the steps and the new tensors as one builtin function.

`Replay` (version.py) looks at everything, in Python. Once it has done so, what its conditions look at is noted as words (words.py); as long as none
of them changes, `quick(args)` need not look again: it runs the program (native/entry.py) and does what is left to do in Python. In any doubt it
gives MISS, with nothing done, and the call goes the long way, after which the words are noted anew. A word that changes again and again (a
module's dictionary, in a loop that stands in it) is given up: the conditions that depend on it are evaluated in Python each time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from numpy.lib.array_utils import byte_bounds

from ..amp.state import state as casting
from ..core import devices, dtypes, modes
from ..core.overriding import state as overriding
from ..core.tensor import Tensor, new_tensor
from ..core.versions import INFERENCE, VersionCounter
from ..errors import EngineError
from ..events import hub
from ..kernels.llvm.cards import addresses
from . import stance
from .leaving import Leaving
from .native.build import Native
from .native.entry import Argument, Entry, Made, Program, Prototypes
from .numbers import Number
from .signature import world
from .words import VERSION, Reading, Unreadable, known, slot_of, word

MISS = object()
RESTLESS = 3  # changes of a word after which it is given up
VAIN = 16  # times that words are noted, and no call takes the short way
LONG = 20_000  # nanoseconds of work during which other threads need not wait

_SLOTS = ("_array", "_edge", "_rg", "_vc")


class Conditions:
    """Those of a replay, divided: words that compiled code compares, and what Python evaluates each time."""

    def __init__(self, watch: Any, also: list[int]) -> None:
        self.watch, self.also = watch, dict.fromkeys(also, 0)
        self.readings: list[Reading | None] = []
        self.changes: dict[int, int] = {}

    def words(self) -> dict[int, int]:
        """The places to look at, with what must stand there; conditions of which one has changed are read anew."""
        if not self.readings:
            self.readings = [self._read(text) for text, _ in self.watch.conditions]
        else:
            changed = [each and each.changed() for each in self.readings]
            for place in {place for place in changed if place is not None}:
                self._count(place)
            for k, (text, _) in enumerate(self.watch.conditions):
                if changed[k] is not None:
                    self.readings[k] = self._read(text)
        for place, before in self.also.items():
            self.also[place] = now = word(place)
            if before not in (0, now):
                self._count(place)
        resting = [each.words for each in self.readings if each is not None and self.rests(each)]
        resting += [{place: now} for place, now in self.also.items() if self.changes.get(place, 0) < RESTLESS]
        found: dict[int, int] = {}
        for words in resting:
            if any(found.setdefault(place, now) != now for place, now in words.items()):
                raise EngineError("a word was written to while it was read")
        return found

    def _count(self, place: int) -> None:
        self.changes[place] = self.changes.get(place, 0) + 1

    def _read(self, text: str) -> Reading | None:
        try:
            return Reading(text, self.watch.scope)
        except Unreadable:
            return None

    def rests(self, reading: Reading) -> bool:
        """Has none of its words changed too often?"""
        return all(self.changes.get(place, 0) < RESTLESS for place in reading.words)

    def spoken(self) -> list[str]:
        """The conditions that stay Python's."""
        pairs = zip(self.readings, self.watch.conditions, strict=True)
        return [text for each, (text, _) in pairs if each is None or not self.rests(each)]


class Quick:
    """The short way of one replay."""

    def __init__(self, compiled: Any, ready: Any, here: Any, args: tuple[Any, ...]) -> None:
        self.compiled, self.ready, self.here = compiled, ready, here
        self.native: Native = ready.run
        self.given = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
        self.arguments = len(args)
        self.groups = [again.group for again in ready.refresh]
        self.conditions = Conditions(ready.watch, [id(group) + VERSION for group in self.groups])
        self.kinds = _kinds(ready)
        places = {number: place for number, place, _ in self.native.inputs}
        sources = {what: places.get(k) for k, (kind, what) in enumerate(ready.sources) if kind == "given"}
        expected = [
            Argument(each, True, sources.get(self.given.index(i))) if i in self.given else Argument(each, False)
            for i, each in enumerate(args)
        ]
        made = [self._made(slot) for slot in ready.results]
        bounds = [(each, places[each.x.buffer.source[1]]) for each in self.native.bounds]
        entry = Entry(self.native.program, made, expected, _prototypes(), self.native.work > LONG, bounds)
        self.program = Program(entry, ctypes.addressof(self.native.table))
        self.text: list[str] = []
        self.replays, self.vain = -1, 0
        self.call: Callable[..., Any] | None = None

    def _made(self, slot: int) -> Made:
        native, kind = self.native, self.kinds[slot]
        writes = {g.slot: g.writes for g in self.ready.effects.gradients}
        writes |= {r.slot: r.writes for r in self.ready.effects.results if r.kind == "new"}
        return Made(kind, native.views[slot], native.slots.get(slot), writes.get(slot, 0))

    # Words ------------------------------------------------------------------------------------------------

    def arm(self) -> bool:
        """Everything was right a moment ago: note the words, and take the short way from now on. (What changes between the two is
        seen by the conditions, which are evaluated once more.)"""
        self.vain = self.vain + 1 if self.compiled.replays == self.replays + 1 else 0
        self.replays = self.compiled.replays
        words = self.conditions.words()
        ready, native = self.ready, self.native
        with native.lock:
            if not self._is_placed():
                return False
            self.program.look_at(words, self._written())
            if not ready.holds():
                return False
            for again in ready.refresh:
                again.prepare()
                again.set_numbers()
        steady = [
            not again.optimizer.counters
            and id(again.group) + VERSION in words
            and all(name == "params" or _is_plain(each) for name, each in again.group.items())
            for again in ready.refresh
        ]
        text = [*self.conditions.spoken(), *map(str, steady)]
        if self.call is None or text != self.text:
            self.text, self.call = text, self._written_out(steady)
        return self.vain < VAIN

    def _is_placed(self) -> bool:
        """Stands the memory of all tensors that the function reaches in the table?"""
        native, sources = self.native, self.ready.sources
        return all(
            sources[number][0] == "given" or sources[number][1]._array is known
            for known, (number, _, _) in zip(native.known, native.inputs, strict=True)
        )

    def _written(self) -> list[tuple[int, int]]:
        """The memory that the program writes to."""
        return [byte_bounds(self.ready.sources[number][1]._array) for number in self.native.writes]

    # Text -------------------------------------------------------------------------------------------------

    def _written_out(self, steady: list[bool]) -> Any:
        ready, compiled = self.ready, self.compiled
        leaving = Leaving(ready.effects, ready.owners, ready.results, ready.saved, self.kinds)
        value, finite = leaving.body()
        k = leaving.constant
        leaving.scope.update(
            modes=modes, devices=devices, casting=casting, dtypes=dtypes, overriding=overriding, now=stance.now, hub=hub, MISS=MISS,
            run=self.program.call, ready=ready, compiled=compiled, keep=ready.beginnings.keep, acquire=self.native.lock.acquire,
            release=self.native.lock.release, world=world, NOTHING={},
            Gone=(AttributeError, KeyError, IndexError, ValueError, EngineError),
        )  # fmt: skip
        agains = [k(again) for again, rests in zip(ready.refresh, steady, strict=True) if not rests]
        lines = [
            f"if {self._elsewhere(k)} or len(args) != {self.arguments}: return MISS",
            "try:",
            *[f"    if args[{i}]._grad is not None or args[{i}]._hooks is not None: return MISS" for i in self.given],
            *[f"    if not {k(self._spoken())}(): return MISS"] * bool(self.conditions.spoken()),
            *[f"    {again}.prepare()" for again in agains],
            "    pass",
            "except Gone: return MISS",
            "heard = hub.float_error is not None",
            "if heard: keep(ready, args, NOTHING, args)",
            "if not acquire(False): return MISS",
            "try:",
            *[f"    {again}.set_numbers()" for again in agains],
            "    made = run(*args)",
            "finally: release()",
            "if made is None: return MISS",
            "compiled.replays += 1",
            *[f"{again}.count()" for again in agains],
            f"given = ({''.join(f'args[{i}], ' for i in self.given)})",
            *["node = ready._node(made, given)"] * (ready.backward is not None),
            *leaving.lines,
            *[f"if not ({finite}): compiled.not_finite(ready, args, NOTHING, args, heard)"] * (finite != "True"),
            f"return {value}",
        ]
        return leaving.function("quick(args)", lines)

    def _spoken(self) -> Any:
        lines = [f"    if not ({text}): return False" for text in self.conditions.spoken()]
        scope = dict(self.ready.watch.scope)
        exec(
            compile("\n".join(["def spoken():", *lines, "    return True"]), "<conditions of a replay>", "exec"), scope
        )
        return scope["spoken"]

    def _elsewhere(self, constant: Any) -> str:
        """Are the switches set in another way than they were?"""
        usual = len(self.here) == 3 and self.here[:2] == (True, False)
        if not usual:
            return f"now.eager or world() != {constant(self.here)}"
        return (
            f"modes.special != modes.watched or devices.elsewhere or now.eager or dtypes._default.char != {self.here[2]!r} "
            "or casting.casting or overriding.modes"
        )


def _is_plain(value: Any) -> bool:
    return (
        value is None or type(value) in (bool, int, float, str) or (type(value) is tuple and all(map(_is_plain, value)))
    )


def _kinds(ready: Any) -> dict[int, str]:
    """What the program makes of each slot of the results."""
    effects = ready.effects
    uses: dict[int, set[Any]] = {slot: {"saved"} for slot in ready.saved}
    for gradient in effects.gradients:
        uses.setdefault(gradient.slot, set()).add(("tensor", gradient.leaf))
    for result in effects.results:
        if result.kind == "new":
            uses.setdefault(result.slot, set()).add(("tensor", id(result)))
        elif result.kind == "read":
            for slot, number in _read(result.value):
                uses.setdefault(slot, set()).add("number" if number else "read")
    kinds = {}
    for slot in ready.results:
        array, found = effects.recording.arrays[slot], uses.get(slot, set())
        if found == {"number"} and array.ndim == 0 and array.dtype.char in "fd":
            kinds[slot] = "number"
        elif len(found) == 1 and type(next(iter(found))) is tuple:
            kinds[slot] = "tensor"
        else:
            kinds[slot] = "array"
    return kinds


def _read(value: Any) -> list[tuple[int, bool]]:
    """The slots that a value is read from, and whether as a number with a fraction."""
    if value.slot >= 0:
        return [(value.slot, type(value) is Number)]
    return [each for part in value.args if hasattr(part, "slots") for each in _read(part)]


def _prototypes() -> Prototypes:
    tensor = new_tensor(None)
    del tensor._array
    slots = {name: slot_of(Tensor.__dict__[name]) for name in _SLOTS}
    return Prototypes(tensor, _counted, slots, INFERENCE)


def _counted(writes: int) -> VersionCounter:
    counter = VersionCounter()
    counter.n = writes
    return counter


def _possible(ready: Any, args: tuple[Any, ...]) -> bool:
    """Is a short way known for calls like this one?"""
    native = getattr(ready, "run", None)
    if not isinstance(native, Native) or native.calls or len(native.parts) != 1 or not known() or not addresses():
        return False
    if ready.bare or ready.same or ready.given_grads or not native.whole():
        return False
    placed = {number for number, _, _ in native.inputs}
    if any(each.x.buffer.source[1] not in placed for each in native.bounds):
        return False
    for number, (kind, _) in enumerate(ready.sources):
        if kind not in ("tensor", "given") or (kind == "given" and number in native.writes):
            return False
    for each in args:
        if type(each) is Tensor:
            if each._edge is not None or each._grad is not None or each._hooks is not None or each._vc is INFERENCE:
                return False
        elif type(each) not in (bool, int, float, str, type(None)):
            return False
    counters = [id(each._vc or each) for each in args if type(each) is Tensor]
    return len(set(counters)) == len(counters)


def quick_way(compiled: Any, ready: Any, here: Any, args: tuple[Any, ...]) -> Quick | bool:
    """The short way of a replay; False where there is none."""
    return _possible(ready, args) and Quick(compiled, ready, here, args)
