"""parameter-not-optimized"""

from __future__ import annotations

import re
import weakref
from typing import Any

from .. import engine
from ..books.departures import leaves_of
from ..books.freezes import Freezes, Shared
from ..books.records import OptimizerStory, Story, Update
from ..graph.module_trees import Seat, is_in_a_list, is_one_of_many, is_past_a_hook, is_users, seats, weights_in
from ..graph.names import listed, names_of
from ..graph.relations import APPLIED, COMPILED, TERM, UPSTREAM, WEIGHT, relations
from ..graph.strangers import Copies, Written, is_owned
from ..rule import Diagnosis
from ..source.places import Place, here, source, text
from ..source.unfreezing import is_undone_somewhere

_DEPOSITS = 4  # gradients that a parameter got for nothing
_WATCHED = 32  # updates in which a parameter that came late is watched
_PHASES = 4  # that are listened to because parameters come late: some programs make new ones at every step
_PHASE = 1000  # updates after which no phase of the training is waited for that might reach it
_IDLE = 20  # updates in which a parameter was not reached
_RARE = (
    200  # the same for one of a list of layers: an expert may see its tokens seldom (or at the end, if there are fewer)
)
_SMALL = 0.25  # of the trained parameters: less than that is no backbone which is left as it is
_KEPT = r"(^|[._])(teacher|target|ema|momentum|frozen|reference|ref|old|fixed)(_?\w+)?([._]|$)"
_DUMMY = r"(^|[._])(dummy|device|dtype|placeholder|anchor)"


class ParameterNotOptimized(Diagnosis):
    """A parameter takes part in the loss and no optimizer owns it; or one owns it, and the loss never reaches it.

    An optimizer updates what it was given when it was built. A layer that is missing in its list, that was replaced or made
    afterwards, or that was frozen when the list was filtered, keeps its first values. So does a layer that `forward()`
    does not use.

    Broken:

        optimizer = torch.optim.Adam([*model.backbone.parameters(), *model.box.parameters()])
        box, identity = model(x)                    # model.identity is not in the list
        loss = box_loss(box) + identity_loss(identity)

    Fixed:

        optimizer = torch.optim.Adam(model.parameters())

    Layers that come later are added: `optimizer.add_param_group({"params": model.head.parameters()})`.

    Silent on teachers, targets and averages, on what is frozen or in eval mode, on a backbone below a probe, on loss
    networks, on experts that are rarely chosen, on what is updated by hand, and on inputs that are optimized themselves.
    """

    name = "parameter-not-optimized"
    why = "it keeps its first values, whatever its gradient says; the rest of the model trains around it."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._unowned: dict[int, weakref.ref[Any]] = {}
        self._differentiated: dict[
            int, weakref.ref[Any]
        ] = {}  # leaves of what `autograd.grad` differentiated to go on with it
        self._late: dict[int, weakref.ref[Any]] = {}  # unfrozen, or made when there was an optimizer
        self._until = 0  # how long these are watched
        self._phases = 0  # that began with one of them
        self._related: dict[int, set[str]] = {}
        self._written = Written()
        self._copies = Copies()
        self._loaded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._idle: dict[int, OptimizerStory] = {}
        self._pending: list[tuple[OptimizerStory, list[Story], list[str]]] = []  # not reached so far
        self._frozen: dict[int, tuple[weakref.ref[Any], Place | None, OptimizerStory]] = {}
        self._in_vain: list[tuple[Place | None, list[weakref.ref[Any]], int]] = []  # `module.requires_grad = True`
        self._freezes = Freezes(session, self.ledger)
        self._shared: dict[int, Shared] = {}  # by optimizer's story (its id)

    # Gradients that nobody uses ------------------------------------------------------------------

    def on_made(self, parameter: Any) -> None:
        """A Parameter that is made when there is an optimizer already."""
        if self.ledger.optimizers:
            self._watch_late(parameter)

    def on_flagged(self, tensor: Any, requires_grad: bool) -> None:
        """Frozen, or unfrozen."""
        story = engine.story(tensor)
        if story is None:
            return
        if requires_grad:
            if story.frozen is not None and self.ledger.optimizers and story.owner is None:
                self._watch_late(tensor)
            self._frozen.pop(id(tensor), None)
            self._freezes.thawed(tensor)
        elif story.owner is not None:
            optimizer = story.owner()
            if optimizer is not None and story.deposits:
                self._freezes.frozen(tensor, optimizer._story)
                self.session.listen("at_update", self, self._update, True)
            elif optimizer is not None:
                self._frozen[id(tensor)] = weakref.ref(tensor), story.frozen, optimizer._story

    def near_module_entered(self, module: Any) -> None:
        """Is it run while it is frozen?"""
        self._freezes.ran(module)
        for shared in self._shared.values():
            shared.ran = shared.ran or module in shared.models

    def on_attribute_set(self, module: Any, name: str, value: Any) -> None:
        """`module.requires_grad = True` makes an attribute that nobody reads."""
        if name == "requires_grad" and value is True and len(self._in_vain) < 64:
            if source(here()).startswith("self."):
                return  # a class that has such an attribute of its own
            frozen = [weakref.ref(p) for p in module.parameters() if not engine.requires_grad(p)]
            if frozen:
                self._in_vain.append((here(), frozen, self.ledger.updates))
                self.session.listen("at_update", self, self._update, True)

    def on_state_loaded(self, module: Any, state: Any) -> None:
        """What is loaded may be meant to stay as it is."""
        self._loaded.add(module)

    def _watch_late(self, leaf: Any) -> None:
        if not self._late and self._phases < _PHASES:  # gradients are counted only while somebody listens
            self._phases += 1
            self.session.begin_phase()
        self._late[id(leaf)] = weakref.ref(leaf)
        self._until = self.ledger.updates + _WATCHED
        self.session.listen("at_update", self, self._update, True)

    def near_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """How do those that nobody owns stand to the others?"""
        root = tensors[0]
        if create and not accumulates:  # the gradient of a sum does not know its last bias: nobody forgot it
            self._differentiated.update((id(leaf), weakref.ref(leaf)) for leaf in leaves_of(list(tensors)))
        asked = _alive(self._unowned)
        if asked and accumulates and engine.is_tensor(root) and engine.node(root) is not None:
            for key, found in relations(root, asked, lambda leaf: is_owned(leaf, self.ledger)).items():
                self._related.setdefault(key, set()).update(found)

    def near_step_began(self, optimizer: Any) -> None:
        """Before the first update, copies can still be told by their values."""
        if getattr(optimizer, "_story", None) is not None and optimizer._story.steps == 0:
            self._copies.look(optimizer, self.ledger)

    def near_stepped(self, optimizer: Any) -> None:
        """Judge, as far as it is known."""
        self._look_for_idle(optimizer)
        self._look_for_shared(optimizer, optimizer._story)
        last = self.ledger.last_backward
        for reference in last.leaves if last is not None else ():
            leaf = reference()
            if leaf is not None and engine.is_parameter(leaf) and not is_owned(leaf, self.ledger):
                self._unowned[id(leaf)] = reference
                self._written.has(leaf)
        self._judge(optimizer, [leaf for leaf in _alive(self._unowned).values() if self._related.get(id(leaf))])

    def _update(self, update: Update) -> None:
        if update.optimizer is not None:
            for leaf in _alive(self._late).values():
                if _deposits(leaf):
                    self._written.has(leaf)
            self._judge(update.optimizer, list(_alive(self._late).values()))
            self._judge_idle(update)
            self._say_idle(_PHASE)
            self._say_in_vain(_IDLE)
            if self.ledger.updates > self._until:
                self._late.clear()
        waiting = self._freezes.close() or self._late or self._in_vain or self._pending
        self._say_forgotten(_IDLE)
        if not waiting and not any(story.steps <= _RARE for story in list(self._idle.values())):
            self.session.listen("at_update", self, self._update, False)

    def _judge(self, optimizer: Any, leaves: list[Any]) -> None:
        leaves = [leaf for leaf in leaves if self._is_forgotten(leaf)]
        if not leaves or optimizer._story.empty_run:
            return
        table = seats(self.ledger)
        held = self._held_elsewhere()
        guilty: list[Any] = []
        for leaf in leaves:
            seat = table.get(id(leaf))
            if id(leaf) not in held and self._is_meant(leaf, leaves, seat, table):
                guilty.append(leaf)
        if guilty:
            self._report(self._optimizer_for(guilty[0], optimizer, table), guilty)
            for leaf in guilty:
                self._unowned.pop(id(leaf), None)
                self._late.pop(id(leaf), None)

    def _is_forgotten(self, leaf: Any) -> bool:
        story = engine.story(leaf)
        if not engine.requires_grad(leaf) or story is None or story.deposits < _DEPOSITS or self._written.has(leaf):
            return False
        return self._is_reached_now(leaf) and not is_owned(leaf, self.ledger)

    def _is_reached_now(self, leaf: Any) -> bool:
        """Did the passes of this step give it a gradient? (What was explained before another training began has its share.)"""
        story, last = engine.story(leaf), self.ledger.last_backward
        return (
            story is not None and story.backward is not None and last is not None and story.backward.step == last.step
        )

    def _is_meant(self, leaf: Any, leaves: list[Any], seat: Seat | None, table: dict[int, Seat]) -> bool:
        """Is it meant to be trained?"""
        related = self._related.get(id(leaf), set()) - {WEIGHT}
        related = related - {COMPILED} or related
        if seat is None:
            return engine.is_parameter(leaf) and related == {APPLIED}
        if not seat.module.training or re.search(_KEPT, seat.name) is not None:
            return False
        if engine.story(leaf).frozen is not None:  # and requires a gradient again: that was done on purpose
            return True
        owned = [p for p in seat.root.parameters() if is_owned(p, self.ledger)]
        if owned:
            unowned = sum(engine.size(p) for p in leaves if table.get(id(p)) and table[id(p)].root is seat.root)
            share = unowned / max(sum(engine.size(p) for p in owned), 1)
            if related == {COMPILED}:
                # Below what is trained, or beside it? It is registered in the order of use, mostly.
                beside = share < 1 and next(
                    p is not leaf for p in seat.root.parameters() if p is leaf or is_owned(p, self.ledger)
                )
            else:
                beside = related != {UPSTREAM} or (
                    id(leaf) in self._late and (self._has_owned_siblings(seat) or self._replaces(seat, table))
                )
            return bool(beside or share < _SMALL or self._is_beside_frozen(seat))
        return self._is_second_model(leaf, seat, related, table)

    def _has_owned_siblings(self, seat: Seat) -> bool:
        """Does an optimizer own a part of the module that it was put into? (The topmost holds everything: it tells nothing.)"""
        path = seat.name.split(".")[:-1]
        parts = [seat.root.get_submodule(".".join(path[:depth])) for depth in (len(path), len(path) - 1) if depth > 0]
        return any(is_owned(p, self.ledger) for part in parts for p in part.parameters())

    def _replaces(self, seat: Seat, table: dict[int, Seat]) -> bool:
        """Does an optimizer of its model own something, trained until then, that belongs to no model any more?"""
        owners = [engine.story(p).owner() for p in seat.root.parameters() if is_owned(p, self.ledger)]
        owned = [p for o in owners if o is not None for group in o.param_groups for p in group["params"]]
        return any(id(p) not in table and _deposits(p) for p in owned)

    def _is_beside_frozen(self, seat: Seat) -> bool:
        """Is what shall stay as it is frozen by name, in the only training there is? Then the rest is to be trained."""
        if len(self.ledger.optimizers) > 1 or any(seat.module in set(m.modules()) for m in self._loaded):
            return False
        return any(
            not engine.requires_grad(parameter)
            and engine.story(parameter) is not None
            and engine.story(parameter).frozen is not None
            and re.search(_KEPT, name) is None
            for name, parameter in seat.root.named_parameters()
        )

    def _is_second_model(self, leaf: Any, seat: Seat, related: set[str], table: dict[int, Seat]) -> bool:
        """A model of its own, all of which nobody owns: a part that was forgotten, or a network that only judges?"""
        below = UPSTREAM in related and APPLIED not in related  # the same size at most: a probe stands on a larger one
        if seat.root in self._loaded or engine.story(leaf).made is None:
            return False
        if related == {TERM}:
            return True  # a loss of its own (a critic's, beside the policy's): nothing else can be meant by it
        if not (below or related == {APPLIED}):
            return False
        if not below and (is_users(seat.module) or seat.module is seat.root):
            return True  # weights of a loss, or a single layer: a network that judges has several
        size = sum(engine.size(p) for p in seat.root.parameters())
        optimizers = list(self.ledger.optimizers)
        trained = [p for o in optimizers for g in o.param_groups for p in g["params"] if id(p) in table]
        trained = [
            p for p in trained if self._is_reached_now(p)
        ]  # (an earlier training, of another model, says nothing)
        return bool(size <= sum(engine.size(p) for p in trained))

    def _held_elsewhere(self) -> set[int]:
        """Parameters in lists and dictionaries of modules that have not registered them: that is another diagnosis."""
        found: set[int] = set()
        for module in list(self.ledger.modules):
            for name, value in list(vars(module).items()):
                if name in ("_parameters", "_buffers", "_modules"):
                    continue
                leaves = weights_in(value, self.ledger)
                if leaves:
                    found |= {id(leaf) for leaf in leaves} - {id(parameter) for parameter in module.parameters()}
        return found

    def _optimizer_for(self, leaf: Any, last: Any, table: dict[int, Seat]) -> Any:
        """The optimizer that most of its siblings belong to."""
        seat = table.get(id(leaf))
        if seat is None:
            return last
        counts: dict[int, tuple[int, Any]] = {}
        for parameter in seat.root.parameters():
            owner = (
                engine.story(parameter).owner()
                if engine.story(parameter) is not None and engine.story(parameter).owner
                else None
            )
            if owner is not None:
                counts[id(owner)] = counts.get(id(owner), (0, owner))[0] + 1, owner
        return max(counts.values(), key=lambda count: count[0])[1] if counts else last

    def _report(self, optimizer: Any, leaves: list[Any]) -> None:
        names = names_of(self.ledger, leaves)
        story = optimizer._story
        one = len(leaves) == 1
        frozen = [engine.story(leaf).frozen for leaf in leaves if engine.story(leaf).frozen is not None]
        made = [engine.story(leaf).made for leaf in leaves if engine.story(leaf).made is not None]
        if frozen:
            cause = f" ({'it was' if one else 'they were'} frozen at {text(frozen[0])} when the optimizer was built)"
        else:
            cause = ""
        self.report(
            story.made,
            f"{listed(names)} {'gets' if one else 'get'} gradients and {'is' if one else 'are'} owned by no optimizer{cause}: "
            f"{engine.story(leaves[0]).deposits} gradients so far, none of which was applied.",
            fix="give the optimizer everything that is to be trained (`model.parameters()`, built last), or "
            'add it: `optimizer.add_param_group({"params": ...})`. What is meant to stay: `requires_grad_(False)`.',
            also=_distinct(frozen or made),
        )

    # Parameters that are never reached -----------------------------------------------------------

    def _look_for_idle(self, optimizer: Any) -> None:
        story = optimizer._story
        if story.steps < _IDLE and id(story) not in self._idle and self._unreached(optimizer):
            self._idle[id(story)] = story
            self.session.listen("at_update", self, self._update, True)

    def _unreached(self, optimizer: Any) -> list[Any]:
        leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
        found = [
            leaf for leaf in leaves if engine.requires_grad(leaf) and engine.grad(leaf) is None and _deposits(leaf) == 0
        ]
        return found if len(found) < len(leaves) else []

    def _judge_idle(self, update: Update) -> None:
        story = update.story
        if story is not None and story.steps in (_IDLE, _RARE) and id(story) in self._idle:
            self._judge_unreached(update.optimizer, story, story.steps == _RARE)

    def _judge_unreached(self, optimizer: Any, story: OptimizerStory, late: bool) -> None:
        leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
        routed = {engine.shape(leaf) for leaf in leaves if 0 < _deposits(leaf) < 0.9 * _IDLE}
        cut = [d for d in self.ledger.departures if d.arrived or d.perhaps]
        # Does the model choose its ways itself? Then one of a list may never have been chosen.
        chosen = any(d.decides and d.arrived and d.carries_trained() for d in cut)
        table = seats(self.ledger)
        used = _alive(self._differentiated)
        idle = [
            leaf
            for leaf in self._unreached(optimizer)
            if engine.shape(leaf) not in routed
            and not self._written.has(leaf)
            and not self._copies.is_copy(leaf)
            and id(leaf) not in used
            and not any(d.carries([leaf]) for d in cut)
            and not _stands_in(leaf, table.get(id(leaf)))
            and not is_past_a_hook(table.get(id(leaf)))
            and not (is_one_of_many if late and not chosen else is_in_a_list)(table.get(id(leaf)), _is_reached)
        ]
        if idle:
            self._pending.append((story, [engine.story(leaf) for leaf in idle], names_of(self.ledger, idle)))

    def _say_idle(self, after: int) -> None:
        """What has never been reached so many updates later, or to the end: a term of the loss may begin in a later phase."""
        for entry in list(self._pending):
            story, leaves, names = entry
            if story.steps < after:
                continue
            self._pending.remove(entry)
            idle = [(leaf, name) for leaf, name in zip(leaves, names, strict=True) if not leaf.deposits]
            if idle:
                one = len(idle) == 1
                self.report(
                    story.made,
                    f"{listed([name for _, name in idle])} {'is' if one else 'are'} owned by this optimizer, and in {story.steps} "
                    "updates no loss was computed from "
                    f"{'it' if one else 'them'}: {'it has' if one else 'they have'} never had a gradient.",
                    fix="use the layer in `forward()` (is another one used twice, or a result left out of the loss?), or remove it.",
                    why="it keeps its first values: the model that is trained is not the one that was built.",
                    also=_distinct([leaf.made for leaf, _ in idle if leaf.made is not None]),
                )

    # Parameters that were to be unfrozen ---------------------------------------------------------

    def at_exit(self) -> None:
        """Members of lists that nothing reached. Frozen after the optimizer got them, never trained, and the line that would undo it was never run."""
        for optimizer in list(self.ledger.optimizers):
            idle = self._idle.get(id(optimizer._story))
            if idle is not None and _IDLE < idle.steps < _RARE:
                self._judge_unreached(optimizer, idle, late=True)
            self._judge_shared(self._shared.get(id(optimizer._story)), optimizer._story)
        self._say_idle(0)
        groups: dict[int, tuple[OptimizerStory, set[Any], int]] = {}
        for _, place, story in list(self._frozen.values()):
            if story.steps >= _IDLE:
                known = groups.get(id(story), (story, set(), 0))
                groups[id(story)] = story, known[1] | {place}, known[2] + 1
        for story, frozen, count in groups.values():
            places = [place for place in frozen if is_undone_somewhere(place)]
            if places:
                self.report(
                    story.made,
                    f"{count} parameter{'s' * (count != 1)} of this optimizer {'were' if count != 1 else 'was'} frozen at "
                    f"{text(places[0])} and never unfrozen, though the program has a line for that: none of the "
                    f"{story.steps} updates changed {'them' if count != 1 else 'it'}.",
                    fix="see that the condition for unfreezing comes true (does it count epochs or steps?).",
                    also=places,
                )
        self._say_in_vain(_DEPOSITS)
        self._say_forgotten(_DEPOSITS)

    def _look_for_shared(self, optimizer: Any, story: OptimizerStory) -> None:
        """Was a part of it frozen along with another model?"""
        shared = self._shared[id(story)] = self._shared.get(id(story)) or Shared(optimizer, self.ledger)
        self._judge_shared(shared, story)

    def _judge_shared(self, shared: Shared | None, story: OptimizerStory) -> None:
        if shared is None or not shared.ran or story.steps < _IDLE:
            return
        shared.ran, leaves = False, [leaf for leaf in shared.still() if not self._written.has(leaf)]
        if leaves and not any(m in self._loaded for model in shared.models for m in model.modules()):
            places = [engine.story(leaf).frozen for leaf in leaves]
            self.report(
                story.made,
                f"{listed(names_of(self.ledger, leaves))} of this optimizer {'is' if len(leaves) == 1 else 'are'} shared with "
                f"another model that was frozen as a whole at {text(places[0])}: none of the {story.steps} updates changed "
                f"{'it' if len(leaves) == 1 else 'them'}.",
                fix="give the other model a copy of its own: `copy.deepcopy(...)`, before it is frozen.",
                also=_distinct(places),
            )

    def _say_forgotten(self, steps: int) -> None:
        """Parameters that an evaluation froze, and that stayed so."""
        for spell in list(self._freezes.suspected):
            leaves = spell.forgotten(steps)
            if leaves:
                self._freezes.suspected.remove(spell)
                one = len(leaves) == 1
                some = "others were set free again afterwards" if spell.thawed is not None else "recording is on again"
                stories = [story for _, story, _ in spell.members.values()]
                self.report(
                    spell.place,
                    f"{listed(names_of(self.ledger, leaves))}, trained until then, {'was' if one else 'were'} frozen here while "
                    f"the model was evaluated, and {'is' if one else 'are'} frozen still, though {some}: no update has changed "
                    f"{'it' if one else 'them'} since.",
                    fix="evaluate under `with torch.no_grad():` and leave `requires_grad` alone, or set it back on everything.",
                    also=_distinct([*([spell.thawed] if spell.thawed is not None else []), *(s.made for s in stories)]),
                )

    def _say_in_vain(self, after: int) -> None:
        """Parameters that somebody meant to unfreeze, and that are frozen still, so many updates later."""
        for entry in list(self._in_vain):
            place, references, updates = entry
            if self.ledger.updates - updates < after:
                continue
            self._in_vain.remove(entry)
            leaves = [leaf for reference in references if (leaf := reference()) is not None]
            leaves = [leaf for leaf in leaves if not engine.requires_grad(leaf)]
            if leaves:
                one = len(leaves) == 1
                stories = [story for leaf in leaves if (story := engine.story(leaf)) is not None]
                owners = [
                    owner for story in stories if story.owner is not None and (owner := story.owner()) is not None
                ]
                self.report(
                    place,
                    "`requires_grad = True` on a module makes an attribute that nothing reads: "
                    f"{listed(names_of(self.ledger, leaves))} {'is' if one else 'are'} frozen still, and none of the "
                    f"{self.ledger.updates - updates} updates since changed {'it' if one else 'them'}.",
                    fix="`module.requires_grad_(True)`, which sets it on all of its parameters.",
                    also=_distinct([*(story.frozen for story in stories), *(owner._story.made for owner in owners)]),
                )


def _alive(references: dict[int, weakref.ref[Any]]) -> dict[int, Any]:
    found = {key: reference() for key, reference in list(references.items())}  # (another thread may add to them)
    for key in [key for key, leaf in found.items() if leaf is None]:
        references.pop(key, None)
    return {key: leaf for key, leaf in found.items() if leaf is not None}


def _deposits(leaf: Any) -> int:
    return engine.story(leaf).deposits if engine.story(leaf) is not None else 0


def _is_reached(leaf: Any) -> bool:
    return _deposits(leaf) > 0


def _stands_in(leaf: Any, seat: Seat | None) -> bool:
    """Is it there to be asked for its device and dtype: without any element, or with one and named so?"""
    size = engine.size(leaf)
    return size == 0 or (size == 1 and seat is not None and re.search(_DUMMY, seat.name) is not None)


def _distinct(places: list[Any], most: int = 6) -> list[Any]:
    return list(dict.fromkeys(places))[:most]
