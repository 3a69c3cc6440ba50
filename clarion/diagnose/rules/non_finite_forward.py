"""non-finite-forward"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import engine
from ..books.float_notes import notes
from ..books.history import all_finite
from ..books.preparation import Preparations, Prepared
from ..books.records import Update
from ..graph.births import COMPUTED, DATA, FINITE, LEAF, SUSPECT, Birth, find_birth, grade
from ..graph.float_words import at, explain, first_bad, fix_of, number, spoken
from ..graph.names import names_of
from ..graph.reach import operation, reachable
from ..graph.traits import having
from ..rule import Diagnosis
from ..source.places import Place, Where, here, text

_LOOKS = 4  # losses that are not finite and that nobody used, before they are looked into only now and then


class NonFiniteForward(Diagnosis):
    """The loss is NaN or infinite, and an update used it.

    From then on every parameter it reaches is NaN, and so is everything computed from them. What matters is the first
    operation that had finite inputs and gave a non-finite result: it is named, with its line and the values that it met.

    Broken:

        loss = -(onehot * torch.log(torch.softmax(logits, dim=1))).sum(1).mean()     # log(0) = -inf, 0 * -inf = nan

    Fixed:

        loss = F.cross_entropy(logits, target)

    Looked at is the value that `backward()` begins with; the graph is walked only if it is not finite. Masks of -inf are no
    fault, as long as a row is not masked entirely. Steps that a GradScaler (or you) leave out are silent.
    """

    name = "non-finite-forward"
    why = "one such update makes NaN of every parameter that the loss depends on; training cannot recover from it."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._pending: dict[str, Any] | None = None  # what to say as soon as an update uses it
        self._pass: Any = None
        self._scaled = False  # is the loss the product of another one and a number, for a GradScaler or the like?
        self._place: Where = None
        self._unheard = False  # was nobody listening to the step before?
        self._asked = False  # is the next step waited for, to learn what the last one was made of?
        self._unused = 0
        self._several: tuple[
            Prepared, ...
        ] = ()  # lines that may have made the data what it is: the next step will tell
        self._doubted = False  # is it waited for?
        self._why: str | None = None
        self._first: tuple[int, Place | None, str] | None = None  # passes so far; who made something non-finite first
        self._prepared = Preparations()
        self.near_applied = self._prepared.applied
        if session.thorough:
            self.on_applied = self._check

    def _check(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """Every operation, recorded or not: the first that makes something non-finite of finite inputs."""
        known = self._first is not None and self._first[0] == notes.passes
        if not known and not op.moves and grade(engine.array(outs[0])) != FINITE:
            values = [engine.array(t) if engine.is_tensor(t) else t for t in inputs]
            if all(value is None or grade(value) == FINITE for value in values):
                self._first = notes.passes, here(), op.name

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """Is the loss finite?"""
        if accumulates:
            notes.passes += 1
            if self._doubted:
                self._say(self._why)
            loss = tensors[0]
            if engine.is_tensor(loss) and engine.size(loss) == 1:
                value = engine.number(loss)
                if value - value != 0.0:
                    notes.broken_pass = notes.passes
                    self._look_back(value) if engine.late(loss) else self._look(loss, value)
                elif type(value) is not complex and value > self.ledger.loss_limit and not engine.late(loss):
                    self.ledger.loss_jumped(value)

    rest_backward_began = on_backward_began

    def _look_back(self, value: Any) -> None:
        """The loss of an earlier step: its graph is gone."""
        step = max(self.ledger.step, 1)
        self._place, self._pass = here(), None
        self._pending = {
            "what": f"The loss was {number(value)} by step {step}; which operation made it so is not recorded.",
            "fix": f"`--listen-at {step}` (or `watch(listen_at={step})`) in a second run names the operation.",
        }
        self.session.wake()
        self.session.listen("at_update", self, self._updated, True)

    def _look(self, root: Any, value: Any) -> None:
        if notes.told:
            return
        self._unused += 1
        if self._unused > _LOOKS and self._unused & (self._unused - 1):
            return
        birth = find_birth(root, {note.place for note in notes.of_forward(notes.passes) if note.place is not None})
        if birth is None or (birth.kind == LEAF and self._known(birth)):
            return
        self.session.wake()
        self._unheard = self._asked or (self.session.woke == self.ledger.step and not engine.knows_all_nodes)
        if birth.kind == LEAF and self._unheard and self._is_asked_again(root, birth, value):
            return
        before, self._several = self._place, ()
        self._place, self._pending = self._words(birth, value, root)
        self._scaled = _is_scaled(engine.node(root))
        recent = self.ledger.recent
        self._pass = recent[-1] if recent else None
        self.session.listen("at_update", self, self._updated, True)
        if before == self._place and not self.ledger.optimizers:
            self._say()

    def _is_asked_again(self, root: Any, birth: Birth, value: Any) -> bool:
        """An update made a parameter NaN, unheard. What the next step computes, as the step before did, is listened to: if one line of it
        alone has a slope without bounds, that is where the gradient broke."""
        backward = self.session.rules.get("non-finite-backward")
        leaf = birth.node.edges[birth.position]
        if backward is None or engine.story(leaf) is None or engine.story(leaf).owner is None:
            return False
        if not self._asked:
            self._asked = True
            self.session.begin_phase()
            self._place, self._pending = self._words(birth, value, root)
            return True
        steep = [node for node in reachable([root]) if _is_steep(node)]
        self._asked = False
        if len({node.place for node in steep}) != 1 or steep[0].place is None:
            return False
        notes.told, self._pending = True, None
        (name,) = names_of(self.ledger, [leaf])
        backward.report(
            steep[0].place,
            f"An update of step {self.session.woke} made `{name}` NaN, with a loss that was finite: its gradient broke. Nobody listened then; the "
            f"only operation on the way to it whose derivative has no bound is `{spoken(steep[0])}` here.",
            fix=fix_of(operation(steep[0]), False),
        )
        return True

    def _known(self, birth: Birth) -> bool:
        """A parameter that is NaN already: was it the gradient of the step before?"""
        leaf = birth.node.edges[birth.position]
        backward: Any = self.session.rules.get("non-finite-backward")
        if backward is None or engine.story(leaf) is None or engine.story(leaf).deposits == 0:
            return False
        return bool(backward.blamed(leaf))

    def _updated(self, update: Update) -> None:
        """An update used the gradients of that loss."""
        if self._pending is None:
            return
        stories = [
            engine.story(leaf)
            for leaf in update.leaves
            if engine.grad(leaf) is not None and engine.story(leaf) is not None
        ]
        known = [story.backward for story in stories if story.backward is not None]
        if stories and (not known or self._pass is None or self._pass in known):
            finite = all_finite(update.leaves)
            self._why = _FINITE_GRADIENTS if finite else None
            if finite and self._scaled:  # only its scale is too large, and the gradients are what was wanted
                self._pending = None
            elif self._several and not self._doubted:
                self._doubted = True
                self._prepared.ask(self._several)
            elif not self._doubted:
                self._say(self._why)

    def at_exit(self) -> None:
        """A program that only computes gradients."""
        if self._asked or self._doubted or (not self.ledger.updates and not self.ledger.optimizers):
            self._say(self._why)

    def _say(self, why: str | None = None) -> None:
        pending, self._pending = self._pending, None
        self.session.listen("at_update", self, self._updated, False)
        if pending is not None and not notes.told:
            notes.told = True
            found, self._doubted = self._prepared.found if self._doubted else None, False
            if found is not None:
                self._place = found.place
                pending["what"] = f"{pending['begins']}; {_computed(found)} from what is finite."
                pending["fix"] = _FIX_OF_MAKER
            self.report(self._place, pending["what"], fix=pending["fix"], why=why)

    # Words ---------------------------------------------------------------------------------------

    def _words(self, birth: Birth, value: Any, root: Any) -> tuple[Where, dict[str, Any]]:
        node = birth.node
        place: Where = node.place
        if birth.kind == LEAF:
            return self._words_of_leaf(birth, value)
        if birth.kind == DATA:
            return self._words_of_data(birth, value, root)
        what, overflow = explain(node, self._operands(birth), birth.output)
        if birth.kind == SUSPECT:
            noted = next((note for note in notes.of_forward(notes.passes)), None)
            what = f"`{spoken(node)}` is where it may begin (its values were not kept)"
            if self._first is not None and self._first[0] == notes.passes - 1:
                place, what = self._first[1], f"`{self._first[2]}` was the first to give something non-finite"
            elif noted is not None:
                place, what = noted.place, f"{_KINDS[noted.kind]} happened at {text(noted.place)}"
        elif birth.kind != COMPUTED:
            what = f"an infinity that was put in here (`{spoken(node)}`) was carried into it"
        if place is None:  # of a step that nobody listened to
            step = self.ledger.step + 1
            place, what = here(), f"{what} (its line is not recorded: run again with `--listen-at {step}`)"
        return place, {"what": f"The loss is {number(value)}: {what}.", "fix": fix_of(operation(node), overflow)}

    def _operands(self, birth: Birth) -> list[Any]:
        """What the operation was given; if it kept only its result, what was noted when it failed."""
        operands = birth.operands
        if len(operands) == 1 and operands[0] is None:
            for note in notes.of_forward(notes.passes):
                if note.place == birth.node.place and note.operand is not None:
                    return [note.operand]
        return operands

    def _words_of_leaf(self, birth: Birth, value: Any) -> tuple[Where, dict[str, Any]]:
        node = birth.node
        leaf = node.edges[birth.position]
        (name,) = names_of(self.ledger, [leaf])
        index = first_bad(engine.array(leaf)) or ()
        what = f"The loss is {number(value)}: `{name}` holds {number(engine.array(leaf)[index])}{at(index)} already"
        updated = self.ledger.last_update
        if engine.story(leaf) is None or engine.story(leaf).owner is None or updated is None:
            made = engine.story(leaf) and engine.story(leaf).made
            where = made or node.place
            return where, {"what": f"{what}, before any update.", "fix": "initialise it with finite values (nn.init)."}
        if self._unheard:  # whether its gradient was finite is not known
            step = self.session.woke
            return updated, {
                "what": f"{what}: an update gave it that, of which nothing is recorded: run again with `--listen-at {step}`.",
                "fix": f"`clarion run --engine torch --listen-at {step}` (or `watch(listen_at={step})`) names the operation.",
            }
        return updated, {
            "what": f"{what}: an update with finite gradients gave it a value beyond the range of its type.",
            "fix": "a smaller learning rate, and torch.nn.utils.clip_grad_norm_ before step().",
        }

    def _words_of_data(self, birth: Birth, value: Any, root: Any) -> tuple[Where, dict[str, Any]]:
        """The data was non-finite before it met a parameter."""
        node = birth.node
        data: Any = birth.operands[birth.position] if birth.position >= 0 else None
        index = first_bad(data)
        holds = "" if index is None else f" holds {number(data[index])}{at(index)}"
        what = f"The loss is {number(value)}: the data that `{spoken(node)}` at {text(node.place)} gets"
        what += holds or " is not finite"
        place, how = self._maker_of_data(node, root)
        if self._several:
            self.session.begin_phase()
        if place is not None:
            return place, {"begins": what, "what": f"{what}; {how}.", "fix": _FIX_OF_MAKER}
        return node.place, {
            "begins": what,
            "what": f"{what} before any parameter has touched it.",
            "fix": "clean the data first: x = torch.nan_to_num(x), or leave such rows out: x[torch.isfinite(x).all(1)]",
        }

    def _maker_of_data(self, node: Any, root: Any) -> tuple[Where, str]:
        """The line that made data non-finite, and what is known of it; None if the data came so."""
        recorded = {each.place for each in reachable([root])}
        lately = [note for note in notes.of_forward(notes.passes) if note.place not in recorded]
        for note in (*lately, *notes.lines.values()):
            if note in lately or note.passes == 0 or (self._first is not None and self._first[1] == note.place):
                return note.place, f"{_KINDS[note.kind]} happened at this line, where it was computed"
        prepared, at_hand = self._prepared.of(node.place)
        if not prepared:
            return None, ""
        self._several = prepared if len(prepared) > 1 or at_hand else ()
        return (None, "") if at_hand else (prepared[0].place, f"{_computed(prepared[0])}; variables at hand are finite")


def _computed(by: Prepared) -> str:
    return f"it is computed at this line (`{by.operation}`)"


def _is_steep(node: Any) -> bool:
    name = operation(node)
    if name not in _POWERS:
        return name in _STEEP
    operands = engine.operands(node)
    found = engine.compute(node, [np.array([_NEAR_ZERO]), *operands[1:]])
    return bool(found) and bool(np.all(np.abs(found[0]) > 100 * _NEAR_ZERO))  # a fractional power, or a negative one


def _is_scaled(node: Any) -> bool:
    return operation(node) in _SCALES and len([edge for edge in node.edges if edge is not None]) == 1


_FIX_OF_MAKER = "keep the denominator away from zero: (x - mean) / (std + 1e-8); then assert torch.isfinite(x).all()"
_NEAR_ZERO = 1e-8
_STEEP, _POWERS = having("root arc deviation"), having("power")
_SCALES = ("mul", "div")
_FINITE_GRADIENTS = (
    "the gradients of this step are finite, so the parameters are; but whatever reads the loss (logs, schedulers, early "
    "stopping) is misled, and the next step may not be as lucky."
)
_KINDS = {"divide by zero": "a division by zero", "overflow": "an overflow", "invalid value": "0 / 0 or the like"}
