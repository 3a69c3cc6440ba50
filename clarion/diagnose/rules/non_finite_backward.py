"""non-finite-backward"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...events import subscribe
from .. import engine
from ..books.float_notes import Note, notes
from ..books.records import Sample, Update
from ..graph.births import hidden_behind_selection
from ..graph.float_words import all_finite, at, first_bad, fix_of, number, spoken, value_at
from ..graph.names import listed, names_of
from ..graph.reach import operation
from ..rule import Diagnosis
from ..source.places import Place, text

_HARMLESS = 3  # times that an error on a line did no harm, before it no longer counts
_PASSES = 8  # for so many passes what was found is kept: gradients may be accumulated


class _Birth(NamedTuple):
    place: Place | None
    what: str
    fix: str
    number: int  # of the pass


class NonFiniteBackward(Diagnosis):
    """The loss is finite, but the gradient of a parameter is NaN or infinite, and an update used it.

    Mostly the derivative of an operation is infinite at a point where its value is harmless: the root, the norm or a
    fractional power of 0, acos(1). Or a value is NaN or infinite in a branch that `where` does not take: the gradient that
    arrives there is 0, and 0 times infinity is NaN. Hiding the value afterwards does not help; the argument has to be safe.

    Broken:

        y = torch.where(x > 0, torch.sqrt(x), 0)

    Fixed:

        safe = torch.where(x > 0, x, 1)
        y = torch.where(x > 0, torch.sqrt(safe), 0)

    Named is the operation that got a finite gradient and gave a non-finite one. Steps that a GradScaler (or you) leave out,
    and gradients that are repaired before the update, are silent.
    """

    name = "non-finite-backward"
    why = "the update writes NaN into these parameters; from then on the loss is NaN, and the cause is one step back."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._births: deque[_Birth] = deque(maxlen=_PASSES)
        self._flags: list[
            tuple[Any, Place | None, Any]
        ] = []  # of this pass, on a device: (is it finite?, where, the fix and the words)
        self._late: tuple[Any, list[Any], int] | None = None  # those of the last pass, on their way to the host
        self._armed = False  # look at every node of the next pass
        self._stop: Callable[[], None] | None = None
        self._clean = 0  # the last pass after which all was well
        self._harmless: Counter[Place | None] = Counter()
        if session.thorough:
            self.on_ran = self.near_ran

    # What happens --------------------------------------------------------------------------------

    def on_float_error(self, kind: str) -> None:
        """Something happened that may end as a NaN gradient: be awake."""
        note = notes.last
        if note is None or self._harmless[note.place] >= _HARMLESS:
            return
        self.session.wake()
        self.session.listen("at_update", self, self._updated, True)
        self._armed = self._armed or not note.in_backward

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """If the forward pass had errors, look at every node of this pass."""
        self._hear()
        if self._armed:
            self._armed = False
            if self._stop is None:
                self._stop = subscribe("ran", self.session.guarded(self.name, self.near_ran))

    def on_backward_ended(self, roots: Any, retained: bool) -> None:
        """Back to normal."""
        if self._stop is not None:
            self._stop()
            self._stop = None
        if self._flags:
            flags, self._flags = self._flags, []
            self._late = engine.letter([flag for flag, _, _ in flags]), [each[1:] for each in flags], notes.passes

    def _hear(self) -> None:
        """What a device has found out in the last pass: the first node, in their order, whose result was not finite."""
        if self._late is None:
            return
        letter, about, number = self._late
        self._late = None
        for finite, (place, (name, fix)) in zip(letter.read(), about, strict=True):
            if not finite:
                if notes.broken_pass != number:
                    what = f"the gradient that `{name}` passes on is the first that is not finite"
                    self._births.append(_Birth(place, what, fix, number))
                    self.session.listen("at_update", self, self._updated, True)
                return

    def near_ran(self, node: Any, gradient: Any, result: Any) -> None:
        """Did this node make a non-finite gradient of a finite one?"""
        births = self._births
        if notes.broken_pass == notes.passes or (births and births[-1].number == notes.passes):
            return
        for position, part in enumerate(result):
            soon = None if part is None else engine.finite_soon(part)
            if soon is True:
                continue
            if soon is not None:  # nobody waits for a device
                self._flags.append((soon, node.place, (spoken(node), fix_of(operation(node)))))
                continue
            array = engine.array(part) if engine.is_tensor(part) else part
            if array is None or all_finite(array):
                continue
            arrived = [engine.array(g) if engine.is_tensor(g) else g for g in _parts(gradient) if g is not None]
            if all(all_finite(g) for g in arrived):
                births.append(
                    _Birth(node.place, _explain(node, position, array, arrived), fix_of(operation(node)), notes.passes)
                )
                self.session.listen("at_update", self, self._updated, True)
            return

    def on_broke(self, node: Any, gradient: Any, result: Any) -> None:
        """The same, told of a few nodes by an engine that looks at them by itself."""
        self.near_ran(node, gradient, result)

    # What an update does with it -----------------------------------------------------------------

    def _updated(self, update: Update) -> None:
        if self._judge(update):
            return
        for note in {note.place: note for note in notes.of_backward(notes.passes) + notes.of_forward(notes.passes)}:
            self._harmless[note] += 1
        while self._births and self._births[0].number <= notes.passes - _PASSES:
            self._births.popleft()
        if not self._births:
            self._clean = notes.passes
            self.session.listen("at_update", self, self._updated, False)

    def at_gradients(self, update: Update, sample: Sample) -> None:
        """The norm of all gradients was measured."""
        if not sample.finite:
            self._judge(update)

    def _judge(self, update: Update) -> bool:
        """Speak, if a gradient that was used is not finite and the loss was."""
        self._hear()
        broken = [
            leaf
            for leaf in update.leaves
            if engine.grad(leaf) is not None and not np.isfinite(engine.array(engine.grad(leaf))).all()
        ]
        if not broken:
            return False
        if notes.broken_pass <= notes.passes - _PASSES:
            self._say(broken, update)
        return True

    def at_exit(self) -> None:
        """A program that only computes gradients."""
        self._hear()
        if self._births and not self.ledger.updates and not self.ledger.optimizers:
            self._say([], None)

    def blamed(self, leaf: Any) -> bool:
        """A parameter was found to be NaN in the next forward pass: say why, if that is known."""
        self._hear()
        if self._births or self._note() is not None:
            self._say([leaf], None)
            return True
        return False

    def _say(self, broken: list[Any], update: Update | None) -> None:
        if notes.told:
            return
        notes.told = True
        backward = self.ledger.last_backward
        whose = f"the gradient of {listed(names_of(self.ledger, broken))} is not" if broken else "its gradient is not"
        loss = backward.loss if backward is not None else None
        head = (
            f"The loss is finite{f' ({loss:.4g})' if loss is not None and math.isfinite(loss) else ''}, but {whose}: "
        )
        note = self._note()
        if self._births:
            birth = self._births[0]
            self.report(birth.place, f"{head}{birth.what}.", fix=birth.fix)
        elif note is not None:
            fix = fix_of(note.operation) if note.in_backward else _FIX
            self.report(note.place, f"{head}{_KINDS[note.kind]}{_where(note)}.", fix=fix)
        else:
            # No operation was given anything that it could not do: something NaN came in, and was left out too late.
            root = backward.root() if backward is not None and backward.root is not None else None
            if not engine.knows_all_nodes:  # no error of an operation is heard of, outside of close listening
                step = self.ledger.step
                self.report(
                    backward.place if backward is not None else None,
                    f"{head}which operation made it so is not recorded: run again with `--listen-at {step}`.",
                    fix=f"`clarion run --engine torch --listen-at {step}` (or `watch(listen_at={step})`) names the operation.",
                )
                return
            node = None if root is None else hidden_behind_selection(root)
            name = "" if node is None else f", in `{spoken(node)}`"
            place = node.place if node is not None else backward.place if backward is not None else None
            self.report(
                place,
                f"{head}a value that is NaN or infinite was left out of the loss, but not of its derivative{name}: 0 times "
                "NaN is NaN.",
                fix=_FIX,
            )

    def _note(self) -> Note | None:
        """The error since all was well that did it, as far as one can tell without having looked."""
        for which in range(max(self._clean + 1, notes.passes - _PASSES), notes.passes + 1):
            for note in notes.of_backward(which) + notes.of_forward(which):
                if self._harmless[note.place] < _HARMLESS:
                    return note
        return None


_FIX = (
    "make the argument safe before the operation, not its result afterwards: torch.sqrt(torch.where(x > 0, x, 1)); "
    "torch.autograd.set_detect_anomaly(True) names the operation."
)
_KINDS = {
    "divide by zero": "there was a division by zero",
    "overflow": "there was an overflow",
    "invalid value": "there was 0 / 0, 0 * inf or the like",
}


def _where(note: Note) -> str:
    return (
        f" in the derivative of `{note.operation}` ({text(note.place)})"
        if note.in_backward
        else f" at {text(note.place)}"
    )


def _parts(gradient: Any) -> tuple[Any, ...]:
    return gradient if type(gradient) is tuple else (gradient,)


def _explain(node: Any, position: int, result: Any, arrived: list[Any]) -> str:
    """`sqrt` was given a gradient of 0.02 at [3], where its input is 0, and passes on inf."""
    index = first_bad(result) or ()
    name = spoken(node)
    given = [value_at(g, index, result.shape) for g in arrived]
    made = number(result[index])
    what = f"the derivative of `{name}` gives {made}{at(index)}"
    op = engine.op(node)
    if op is None or not (op.elementwise or op.broadcast):
        return what
    values = [(label, value_at(v, index, result.shape)) for label, v in engine.saved_values(node)]
    numbers = [(label, value) for label, value in values if value is not None]
    inputs = [number(v) for label, v in numbers if label == "input"]
    outs = [number(v) for label, v in numbers if label == "output"]
    if inputs:
        what += f", where its input is {', '.join(inputs)}"
    elif outs:
        what += f", where its value is {outs[0]}"
    if given and given[0] is not None:
        what += f", and the gradient that arrives is {number(given[0])}"
        if given[0] == 0.0:
            known = [value for _, value in numbers]
            what += " (0 times nan is nan)" if any(map(math.isnan, known)) else " (0 times infinity is nan)"
    return what
