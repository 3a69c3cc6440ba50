"""One version of a compiled function: for one kind of arguments. First it is watched and recorded, then it is replayed.

first call      runs as it is written; the code it runs is noted (source.py)
second, third   recorded; both recordings must agree
later calls     replayed, if everything that the function reads is as it was (watching.py); else it runs as it is written
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..amp.state import state as casting
from ..amp.weights import Weights
from ..core import provenance
from ..core.tensor import Tensor
from ..core.versions import INFERENCE
from ..errors import EngineError
from ..events import hub
from ..kernels.quiet import restore, silence
from ..pytree import tree_map
from . import captured, replay
from .appending import kept_elsewhere
from .arrays import Recorded
from .effects import Effects
from .explaining import Beginnings
from .gradients import CompiledFunctionBackward, Passage, entering
from .leaving import Leaving, Owner
from .numbers import is_read, plain
from .recording import Recording, Ref, Step, draws, reads
from .signature import world
from .source import Ran
from .stand_ins import standing_in
from .watching import Unwatchable, Watch

TRIES = 6  # recordings that may come to nothing because the function still builds something (an optimizer's state)


class Version:
    """What is known of calls of one kind."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.codes: dict[Any, Any] = {}
        self.observed = False
        self.tries = 0
        self.problem: tuple[str, Any] | None = None
        self.said = False
        # Recordings that the next ones must agree with, by which tensors had gradients before the call.
        self.before: dict[tuple[bool, ...], tuple[Recording, Any]] = {}
        self.ready: Replay | captured.Captured | None = None
        self.heard = False  # on a GPU: has a call been listened to, and nothing was said against it?

    def call(self, args: Any, kwargs: Any, leaves: list[Any]) -> Any:
        """An ordinary call, watched or recorded."""
        return self._record(args, kwargs, leaves) if self.observed else self._observe(args, kwargs)

    def _observe(self, args: Any, kwargs: Any) -> Any:
        recording = Recording()
        ran = Ran(recording, replaced=("print",))
        with ran.listening():
            result = self.function(*args, **kwargs)
        ran.judge()
        self.codes, self.problem, self.observed = ran.codes, recording.problem, True
        return result

    def _record(self, args: Any, kwargs: Any, leaves: list[Any]) -> Any:
        recording = Recording()
        watch = self._watch(recording, args, kwargs)
        if watch is None:
            self.problem = recording.problem
            return self.function(*args, **kwargs)
        ran = Ran(recording)
        recording.appended = list(watch.appended.values())
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        where = captured.device_of(watch, given)
        if where is not None:
            return self._on_a_gpu(recording, watch, ran, where, args, kwargs, leaves)
        before = world()
        with recording.running():
            try:
                self._track(recording, watch, given)
                if recording.problem is not None:
                    recording._clean()  # (tensors that are not tracked stand beside them)
                if any(tensor._edge is not None for tensor in given):
                    args, kwargs = _entered(recording, args, kwargs)
                with standing_in(self.codes), ran.listening(), _own_casts():
                    result = self.function(*args, **kwargs)
                    casting.casting = False  # autocast around the call is not around the backward pass
                    # (A custom Function's backward is the user's code, too.)
                    effects = None if recording.problem is not None else Effects(recording, result)
            finally:
                _forget_plans(watch)
                if recording.numbers:
                    for each in recording.appended:
                        each.settle()
        ran.judge()
        if world() != before:
            recording.refuse("it leaves a switch (grad mode, default type) in another state", _beginning(self.function))
        if recording.numbers:
            result = tree_map(plain, result)
            if kept_elsewhere(recording, [] if effects is None else effects.results):
                recording.refuse("a number that was read is kept somewhere", _beginning(self.function))
        if recording.problem is None and effects is not None:
            self._judge(recording, effects, watch, ran, given)
        self.problem = recording.problem
        return result

    def _on_a_gpu(
        self, recording: Recording, watch: Watch, ran: Ran, where: Any, args: Any, kwargs: Any, leaves: list[Any]
    ) -> Any:
        """A call that is listened to, or captured (captured.py)."""
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        before = world()
        if any(tensor._rg or tensor._edge is not None for tensor in given):
            recording.refuse(
                "an argument requires a gradient: on a GPU whole steps are captured", _beginning(self.function)
            )
        if recording.problem is not None or not self.heard:
            with captured.listening(recording, where), ran.listening():
                result = self.function(*args, **kwargs)
            made = None
        else:
            made = captured.Captured(recording, watch, where, given, leaves)
            result = self._captured(made, ran, args, kwargs)
        ran.judge()
        if world() != before:
            recording.refuse("it leaves a switch (grad mode, default type) in another state", _beginning(self.function))
        new = {code: space for code, space in ran.codes.items() if code not in self.codes}
        changed = watch.broken()
        if changed is not None or new:
            self.codes.update(new)
            self.tries += 1
            self.heard = False
            if self.tries > TRIES or ran.maybe:
                recording.refuse(
                    f"{changed or 'the code that runs'} is changed by the function", _beginning(self.function)
                )
        elif made is None:
            self.heard = True
        elif recording.problem is None:
            made.finish(result)
            if recording.problem is None:
                self.ready, result = made, made.result(given)
        self.problem = recording.problem
        return result

    def _captured(self, made: captured.Captured, ran: Ran, args: Any, kwargs: Any) -> Any:
        """Capture the work of a call, and do it."""
        capture, given = made.capture, captured.substituted(args, kwargs, made.given)
        capture.begin()
        try:
            with made.work.listening(), captured.listening(made.recording, made.where), ran.listening():
                result = self.function(*given[0], **given[1])
        except BaseException as error:
            capture.abandon()
            made.put_back()
            if not isinstance(error, Exception):
                raise
            made.recording.refuse(captured.why(error), provenance.of_error(error) or _beginning(self.function))
            return self.function(*args, **kwargs)
        capture.end()
        capture.replay(refresh=False)
        return result

    def _watch(self, recording: Recording, args: Any, kwargs: Any) -> Watch | None:
        watch = Watch(self.codes)
        try:
            watch.asked_for()
            watch.function(self.function, "the function")
            watch.globals()
            for value in (*args, *kwargs.values()):
                if not isinstance(value, Tensor):
                    watch.argument(value)
            watch.closed()
        except Unwatchable as error:
            recording.refuse(str(error), _beginning(self.function))
            return None
        return watch

    @staticmethod
    def _track(recording: Recording, watch: Watch, given: list[Tensor]) -> None:
        counters = watch.counters()
        for tensor in given:
            if not isinstance(tensor._array, (np.ndarray, Recorded)):
                recording.refuse("a tensor of another device is given")
            if watch.names & tensor.__dict__.keys():
                recording.refuse("attributes of a tensor that is given are read")
            recording.track(tensor)
        views = {id(tensor._vc): tensor for tensor in given if tensor._vc is not None and tensor._vc is not INFERENCE}
        for tensor, about in watch.tensors:
            if id(tensor) in counters:
                continue
            if views.get(id(tensor._vc), tensor) is not tensor:
                recording.refuse(f"an argument is a view of {about}, which the function reaches by itself")
            if type(tensor._array) is not np.ndarray and type(tensor._array) is not Recorded:
                recording.refuse(f"{about} lives on another device")
            elif tensor._edge is not None:
                recording.refuse(f"{about} has a graph of its own")
            elif tensor._hooks is not None:
                recording.refuse(f"there is a hook on {about}")
            else:
                recording.track(tensor)

    def _judge(self, recording: Recording, effects: Effects, watch: Watch, ran: Ran, given: list[Tensor]) -> None:
        """Is the recording whole, and does it agree with the one before?"""
        changed = watch.broken()
        if changed is not None and ran.maybe:
            recording.refuse(*ran.maybe[0])
            return
        new = {code: space for code, space in ran.codes.items() if code not in self.codes}
        if changed is not None or new:
            self.codes.update(new)
            self.tries += 1
            self.before.clear()
            if self.tries > TRIES:
                recording.refuse(
                    f"{changed or 'the code that runs'} is changed by the function", _beginning(self.function)
                )
            return
        looks = tuple([known.grad is None for known in recording.tracked.values()])
        if looks in self.before:
            earlier, left = self.before[looks]
            other = different(earlier.steps, recording.steps)
            if other is None and _same(left, effects.left()):
                self.ready = Replay(recording, effects, watch, given)
                self.before.clear()
                return
            self.tries += 1
            if self.tries > TRIES:
                place = _beginning(self.function) if other is None else other.place
                recording.refuse("what it computes differs from call to call", place)
                return
        self.before[looks] = (recording, effects.left())


@contextmanager
def _own_casts() -> Iterator[None]:
    """Where autocast is on around the call, weights that were cast before it are cast anew: a replay casts them, too."""
    before = casting.weights, casting.casting
    casting.weights = Weights()
    try:
        yield
    finally:
        casting.weights, casting.casting = before


def _entered(recording: Recording, args: Any, kwargs: Any) -> Any:
    """Arguments with a graph come through a passage."""
    known: dict[int, Tensor] = {}

    def one(value: Any) -> Any:
        if not isinstance(value, Tensor) or value._edge is None:
            return value
        if id(value) not in known:
            known[id(value)] = entering(value)
            recording.passages.append((known[id(value)]._edge, recording.tracked[id(value)].slot))
        return known[id(value)]

    return tree_map(one, (args, kwargs))


def _beginning(function: Any) -> Any:
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        code = getattr(getattr(type(function), "forward", None), "__code__", None)
    return None if code is None else (code, 0)


def _forget_plans(watch: Watch) -> None:
    """Optimizers gather parameters by plans, which now hold recorded arrays."""
    for optimizer in watch.optimizers:
        optimizer.__dict__.pop("_plans", None)


def different(first: list[Step], second: list[Step]) -> Step | None:
    """The first step of two recordings that is not the same in both."""
    for a, b in zip(first, second, strict=False):
        if a.function != b.function and getattr(a.function, "__code__", a) is not getattr(b.function, "__code__", b):
            return b
        if not _same(a.args, b.args) or not _same(a.options, b.options) or not _same(a.outs, b.outs):
            return b
    if len(first) != len(second):
        return (first if len(first) > len(second) else second)[min(len(first), len(second))]
    return None


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Ref):
        return a == b
    if is_read(a):
        return _same(a.form(), b.form())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, (np.ndarray, np.generic)):
        return _is_numbers(a, b) or (a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, float):
        return repr(a) == repr(b)
    return bool(a is b or a == b or callable(a))


def _is_numbers(a: Any, b: Any) -> bool:
    """The numbers of an optimizer's step: set anew before each replay."""
    return isinstance(a, np.ndarray) and a.dtype == np.float64 and a.ndim == 1 and a.shape == b.shape


class Replay:
    """A recording that is replayed."""

    def __init__(self, recording: Recording, effects: Effects, watch: Watch, given: list[Tensor]) -> None:
        self.effects, self.watch, self.refresh = effects, watch, recording.refresh
        self.backward = effects.backward
        self.new = effects.new_slots()
        self.saved: list[int] = [] if self.backward is None else self._saved(recording)
        self.results = list(dict.fromkeys([*self.new, *self.saved]))
        self.places = [self.results.index(slot) for slot in self.saved]
        self.steps = replay.needed(recording.steps, self.results)
        self._look(recording, given)
        self.holds = watch.compile()
        leaving = Leaving(effects, self.owners, self.results, self.saved)
        self.leave, self.arrays = leaving.written(), leaving.reading(self.sources)
        fixed = [i for i, (kind, _) in enumerate(self.sources) if kind == "tensor"]
        self.run = replay.prepared(self.steps, self.inputs, self.results, recording, fixed)
        if hasattr(self.run, "refuses"):
            self.run.refuses = True
        self.calls = getattr(self.run, "calls", 1)  # of NumPy's functions, which would warn
        self.beginnings = Beginnings()
        self.quick: Any = None  # the short way (quick.py); False where there is none
        self.seen = 0
        self.draws = any(map(draws, self.steps))
        self.only_computes = all(map(replay.only_computes, self.steps)) and not self.refresh
        self.writes_given = any(self.owners[slot][0] == "given" for slot, _ in effects.writes)

    def _look(self, recording: Recording, given: list[Tensor]) -> None:
        """Where each array comes from, and the conditions on the tensors."""
        watch = self.watch
        used = {slot for step in self.steps for slot in reads(step)} | set(self.results)
        positions = {id(tensor): i for i, tensor in reversed(list(enumerate(given)))}
        grads = {id(known.grad): known.tensor for known in recording.tracked.values() if known.grad is not None}
        self.sources: list[Owner] = []
        self.inputs: list[int] = []
        self.owners: dict[int, Owner] = {}  # slot -> whose memory it is
        outside = {id(tensor) for tensor, _ in watch.tensors}
        # Arguments that the function reaches in another way, too, must be the same tensors again.
        self.same = [(i, tensor) for i, tensor in enumerate(given) if id(tensor) in outside]
        self.bare = "hasattr" in watch.names  # tensors that are given must have no attributes
        self.given_grads: list[tuple[int, Any]] = []  # arguments whose gradients are read, and their forms
        for key, known in recording.tracked.items():
            if key in positions and key not in outside:
                source: Owner = ("given", positions[key])
            elif key in grads:
                leaf = grads[key]
                is_given = id(leaf) in positions and id(leaf) not in outside
                source = ("given grad", positions[id(leaf)]) if is_given else ("grad", leaf)
            else:
                watch.look(known)
                source = ("tensor", known.tensor)
            self.owners[known.slot] = source
            if known.slot in used:
                self.inputs.append(known.slot)
                self.sources.append(source)
                if source[0] == "grad":
                    watch.look_at_gradient(source[1], known.array)
                elif source[0] == "given grad":
                    self.given_grads.append((source[1], _form(known.array)))
        for tensor in watch.counting():
            watch.stays(tensor, tensor._array)

    def _saved(self, recording: Recording) -> list[int]:
        """What the backward pass reads of the forward one; its function; where its gradients go."""
        back = self.backward
        assert back is not None
        saved, self.run_backward = back.prepared(recording)
        by_array = {id(known.tensor): known.slot for known in recording.tracked.values()}
        self.ends: list[Any] = []
        passages = {id(node): slot for node, slot in recording.passages}
        for target in back.targets:
            node = target._edge
            self.ends.append(passages[id(node)] if isinstance(node, Passage) else by_array[id(target)])
        return saved

    def possible(self, leaves: list[Any]) -> bool:
        """Is everything as it was, and has each optimizer the form that was recorded?"""
        if self.bare and any(leaf.__dict__ for leaf in leaves if isinstance(leaf, Tensor)):
            return False
        if self.same:
            given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
            if any(given[i] is not tensor for i, tensor in self.same):
                return False
        if self.given_grads:
            given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
            for i, form in self.given_grads:
                grad = given[i]._grad
                if grad is None or grad._edge is not None or _form(grad._array) != form:
                    return False
        try:
            if not self.holds():
                self.beginnings.forget()
                if not (self.watch.moved() and self.holds()):
                    return False
            for again in self.refresh:
                again.prepare()
        except (AttributeError, KeyError, IndexError, ValueError, EngineError):
            return False
        return True

    def call(self, leaves: list[Any]) -> tuple[Any, bool]:
        """Replay: gives what the function would return, and whether the numbers among it are finite."""
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        for again in self.refresh:
            again.set_numbers()
        if self.calls:
            # Errors of its kernels are not told: nobody could say at which line. (explaining.py finds that.)
            quiet, heard, hub.float_error = silence(), hub.float_error, None
            try:
                made = self._run(given)
            finally:
                hub.float_error = heard
                restore(quiet)
        else:
            made = self._run(given)
        for again in self.refresh:
            again.count()
        node = None if self.backward is None else self._node(made, given)
        found: tuple[Any, bool] = self.leave(made, given, node)
        return found

    def _run(self, given: list[Tensor]) -> Any:
        """The steps. Where one of them fails, and nothing has been written, the function itself shall say what is wrong."""
        try:
            return self.run(*self.arrays(given))
        except Exception as error:
            if self.only_computes:
                raise replay.Unfit from error
            raise

    def _node(self, made: list[Any], given: list[Tensor]) -> Any:
        """The history of the results."""
        back = self.backward
        assert back is not None
        node: Any = CompiledFunctionBackward()
        node.blank()
        ends = [self._tensor(slot, given) for slot in self.ends]
        node.edges = tuple([end._edge or end for end in ends])
        if any(end._nr for end in ends):
            node.nrs = tuple([end._nr for end in ends])
        node.saved = tuple([made[place] for place in self.places])
        node.n_out, node.out_meta, node.run = len(back.results), tuple(back.meta), self.run_backward
        node.inner = back.inner
        kept = [self._tensor(slot, given) for slot in self.saved if slot in self.owners]
        node.watched = [(t._counter(), t._counter().n, t._array.shape) for t in kept if t._vc is not INFERENCE]
        return node

    def _tensor(self, slot: int, given: list[Tensor]) -> Tensor:
        return _owned(self.owners[slot], given)

    def made_of(self) -> str:
        """What runs them."""
        from .native.build import Native

        if not isinstance(self.run, Native):
            return "by Python"
        parts = len(self.run.items) - self.run.calls
        return f"{parts} native loops and products, {self.run.calls} calls of Python in between"

    def description(self) -> list[str]:
        """The steps in words, with the user's lines."""
        steps = [*self.steps, *(self.backward.ways[0].steps if self.backward is not None else ())]
        return [f"{getattr(step.function, '__name__', step.function)}  {provenance.text(step.place)}" for step in steps]


def _owned(owner: Owner, given: list[Tensor]) -> Any:
    """The tensor that stands now where `owner` says."""
    kind, what = owner
    found = given[what] if kind.startswith("given") else what
    return found._grad if kind.endswith("grad") else found


def _form(array: Any) -> tuple[Any, ...]:
    return array.shape, array.strides, array.dtype
