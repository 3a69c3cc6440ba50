"""The ledger of a training: which backward deposited which gradients, which update used them, who cleared them.

Kept at the leaves themselves (`engine.story(leaf)`), so that it dies with them. Rules read it; it never judges.

An *update* is an optimizer's `step()`, or a write to a leaf by hand (under no_grad or through `.data`) after its gradient
was looked at. A *step* is counted at the first update after a backward pass, and whenever the same is updated again:
several optimizers that step one after another belong to one step only if no backward lies between. A *round* is one turn of the training loop, however many
optimizers it has: it begins at an update of somebody who was updated in the round before.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from time import thread_time
from typing import TYPE_CHECKING, Any

from .. import engine
from ..graph.names import names_of
from ..source.places import Place, here
from .alive import Alive
from .by_hand import ByHand
from .departures import Departures
from .glance import Glance
from .history import all_finite, sample
from .leaves import KnowsLeaves, has_gradient, story_of, use_others
from .passes import CountsPasses, in_closure
from .records import APPLIED, DENSE, UNUSED, Backward, Clear, OptimizerStory, Story, Update
from .resting import Pace
from .switches import Switches
from .unrecorded import Unrecorded
from .waking import Waking, until_waking

if TYPE_CHECKING:
    from ..session import Session


_JUMP = 10.0  # a loss so many times larger than any before is looked into at rest, too
_BY_HAND = 4  # steps without an optimizer that are listened to, if gradients are not cleared between them
_WAKES = 2  # passes that are heard at least after a rest
_PAUSE = 256  # steps at rest of which an engine tells one at least


class _Thread(threading.local):
    """What one thread is about: two may train at once."""

    def __init__(self) -> None:
        self.open: list[Backward] = []  # passes that run
        self.deposited: list[Any] = []  # leaves that got a gradient in them
        self.looked: dict[int, Any] = {}  # leaves whose gradient the user has read since
        self.stepping = 0  # inside an optimizer's step()
        self.began: dict[
            int, tuple[int, int, bool]
        ] = {}  # by optimizer (its id): passes and updates when it began, any gradient?


class Ledger(CountsPasses, KnowsLeaves):
    """The books of one process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step = 0  # steps so far
        self.updates = 0  # calls of an optimizer's step(), and writes to leaves by hand
        self.passes = 0
        self.round = 0
        self.round_marks: deque[int] = deque(maxlen=1024)  # sequence numbers (they fall) at which rounds began
        self.optimizers = Alive()
        self.stories: list[OptimizerStory] = []  # of all optimizers so far, the first 64
        self.modules = Alive()
        self.last_update: Place | None = None
        self.last_backward: Backward | None = None
        self.recent: deque[Backward] = deque(maxlen=64)  # the last passes, those of autograd.grad too
        self.switches = Switches(self)
        self.on_mode = self.switches.switched
        self.rest_mode = self.switches.switched_at_rest
        self.unrecorded = Unrecorded(self)
        self.near_applied = self.unrecorded.applied
        self.departures = Departures(self)
        self.by_hand = ByHand(self)
        self.pace = Pace(self)
        self.waking = Waking()
        self.glance = Glance(self)
        self._book = object()  # stands for these books in the stories of optimizers
        self._highest = 0.0  # of the losses so far
        self.loss_limit = math.inf  # at rest a loss beyond this is looked into
        self._hooked = False  # is the gradient of a value inside the graph wanted?
        self._counted_pass = -1  # the pass after which the last step was counted
        self._heard_to = (
            0  # the pass until which to stay awake: whoever woke in the midst of a step wants to hear its update
        )
        self._turn: set[int] = set()  # who was updated in this round
        self._thread = _Thread()
        KnowsLeaves.__init__(self)

    # Leaves, modules, optimizers -----------------------------------------------------------------

    def on_made(self, parameter: Any) -> None:
        """A Parameter was made."""
        story_of(parameter).made = here()

    def on_flagged(self, tensor: Any, requires_grad: bool) -> None:
        """requires_grad was set."""
        if engine.node(tensor) is None:
            story = story_of(tensor)
            story.flagged = (requires_grad, here())
            if not requires_grad:
                story.frozen = story.flagged[1]

    def on_module_made(self, module: Any) -> None:
        """A module was made."""
        self.modules.add(module)

    def on_optimizer_made(self, optimizer: Any) -> None:
        """An optimizer was built."""
        self.optimizers.add(optimizer)
        optimizer._story = OptimizerStory(here(), type(optimizer).__name__, self._book)
        self._own(optimizer)

    def _own(self, optimizer: Any) -> None:
        reference = weakref.ref(optimizer)
        for group in optimizer.param_groups:
            for leaf in group["params"]:
                story_of(leaf).owner = reference

    # Backward ------------------------------------------------------------------------------------

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """backward() or autograd.grad begins."""
        this = Backward(
            self.passes, self.step, here(), retained, create, APPLIED if self._thread.stepping > 0 else UNUSED
        )
        self.recent.append(this)
        self.loss_limit = math.inf
        root = tensors[0]
        if engine.is_tensor(root):  # not a GradientEdge
            if engine.size(root) == 1 and engine.kind(root) == "f":
                loss = this.loss = engine.number(root)
                if self._highest < loss < math.inf:
                    if loss > _JUMP * self._highest:
                        self.measure_soon()
                    self._highest = loss
            node = engine.node(root)
            if node is not None:
                this.root_place, this.kind = node.place, engine.operation(node)
                this.root = weakref.ref(node)
                this.born = node.seq
        if not accumulates:
            return
        self.passes += 1
        if self._thread.looked and not engine.knows_all_nodes:
            self._see_cleared_by_hand()
        this.looked_into, self._hooked = self._hooked, False
        self._thread.open.append(this)
        if gradients[0] is not None:
            self.session.tell("at_seeded", this, tensors, gradients)

    def _see_cleared_by_hand(self) -> None:
        """`p.grad.zero_()` may be heard of only while listening closely: who looked at a used gradient may have done that."""
        for leaf in self._thread.looked.values():
            story, grad = engine.story(leaf), engine.grad(leaf)
            if story is not None and story.consumed and not story.fresh and grad is not None:
                if engine.late(grad) or engine.squares([grad])[0] == 0.0:
                    story.consumed = False

    def on_accumulated(self, leaf: Any) -> None:
        """A leaf got a gradient."""
        self._thread.deposited.append(leaf)

    def on_backward_ended(self, roots: Any, retained: bool) -> None:
        """It ended: whoever got a gradient has one more deposit."""
        thread = self._thread
        if not thread.open:
            return
        this = thread.open.pop()
        deposited = thread.deposited
        if thread.open and not deposited:
            return
        for leaf in deposited:
            story = engine.story(leaf)
            if story is None:
                story = story_of(leaf)
            if story.deposits == 0:
                self._by_memory[engine.memory(leaf)] = weakref.ref(leaf)
                story.written = engine.writes(leaf)
            if story.fresh and story.backward is not None:
                story.others = [*(story.others or ()), story.backward]
            story.backward = this
            story.fresh = True
            story.looked = False
            story.deposits += 1
        if self.session.near:
            this.leaves = [weakref.ref(leaf) for leaf in deposited]
        deposited.clear()
        thread.looked.clear()
        self.last_backward = this
        if self.session.told["at_backward"]:
            self.session.tell("at_backward", this)
        if self.passes - self._counted_pass > engine.rest_after and self.passes >= self._heard_to:
            self.session.rest()

    # Looking, clearing, writing ------------------------------------------------------------------

    def on_looked(self, leaf: Any) -> None:
        """The user read `.grad`."""
        story = engine.story(leaf)
        if story is not None:
            story.looked = True
            if story.backward is not None:
                story.backward.look()
            looked = self._thread.looked
            if len(looked) < 10_000:
                looked[id(leaf)] = leaf
                self.session.hear_writes()
        elif self.last_backward is not None and engine.grad(leaf) is not None:
            self.last_backward.look()  # a leaf made just now (an adversarial input): its pass was for this

    def on_hooked(self, tensor: Any) -> None:
        """The next pass is there for the gradient of an activation, too (Grad-CAM)."""
        self._hooked = True

    def on_clipped(self, leaves: Any, limit: float) -> None:
        """A norm without a limit was asked for: the gradients were looked at, perhaps to leave a step out."""
        if limit == math.inf:
            for leaf in leaves:
                story = engine.story(leaf)
                if story is not None and story.backward is not None:
                    story.backward.look()

    def on_cleared(self, leaves: Any) -> None:
        """Gradients were set to None, to zero, or overwritten."""
        unused: list[Backward] = []
        for leaf in leaves:
            story = engine.story(leaf)
            if story is None:
                continue
            for this in (story.backward, *(story.others or ())) if story.fresh else ():
                if this is not None and not (this.used or this.missed or this.looked_into) and this not in unused:
                    unused.append(this)
            story.consumed = story.fresh = story.looked = False
            story.backward = story.others = None
        if unused:
            self.session.tell("at_discard", Clear(here(), leaves, unused, all_finite(leaves)))

    def on_wrote(self, tensor: Any, how: str) -> None:
        """Something was written in place: perhaps a gradient, perhaps a leaf, by hand."""
        looked = self._thread.looked
        if not looked:
            return
        memory = engine.memory(tensor)
        for leaf in looked.values():
            grad = engine.grad(leaf)
            if grad is not None and engine.memory(grad) == memory:
                story = engine.story(leaf)
                if story.backward is not None:
                    story.backward.look()
                story.consumed = story.fresh = False
                return
        replaced = how == "data" and engine.story(tensor) is not None  # `w.data = …`: its array is a new one
        if replaced:
            self._by_memory[memory] = weakref.ref(tensor)
        known = self._by_memory.get(memory)
        leaf = known() if known is not None else None
        if leaf is None or engine.memory(leaf) != memory or not engine.requires_grad(leaf):
            return
        story = engine.story(leaf)
        if self._thread.stepping and story.owner is not None:
            return  # the user's own optimizer writes: its step is told of as a whole
        if story.looked and (replaced or not (engine.recording() and tensor is leaf)):
            self._updated_by_hand(leaf, story)

    # Updates -------------------------------------------------------------------------------------

    def _updated_by_hand(self, leaf: Any, story: Story) -> None:
        self._count_step(id(leaf))
        self.count_round(id(leaf))
        self.updates += 1
        update = Update(self.step, here(), None, None)
        update.leaves = [leaf]
        update.with_gradient = 1
        if story.consumed and story.fresh:
            update.stale = [leaf]
            story.stale_run += 1
        elif story.fresh:
            story.stale_run = 0
        self._consume(story)
        story.looked = False
        self._tell_update(update)

    def on_step_began(self, optimizer: Any) -> None:
        """What a closure computes from here on is used by the step itself."""
        self._thread.stepping += 1
        self._thread.began[id(optimizer)] = self.passes, self.updates, has_gradient(optimizer)

    def on_step_skipped(self, optimizer: Any) -> None:
        """A GradScaler left a step out: the gradients were looked at, and are done with."""
        for group in optimizer.param_groups:
            for leaf in group["params"]:
                story = engine.story(leaf)
                if story is not None:
                    self._consume(story)
                    story.consumed = False

    def on_stepped(self, optimizer: Any) -> None:
        """An optimizer has written its parameters."""
        self._thread.stepping = 0
        before = self._thread.began.pop(id(optimizer), None)
        # One of the user's may clear what it has used, or call another one that does the work.
        worked = before is not None and (before[2] or before[:2] != (self.passes, self.updates))
        story = getattr(optimizer, "_story", None)
        if story is None or story.book is not self._book:  # built before the session began, or unpickled
            self.on_optimizer_made(optimizer)
            story = optimizer._story
            story.made = None
        self._count_step(id(optimizer))
        self.count_round(id(optimizer))
        self.updates += 1
        story.steps += 1
        update = Update(self.step, here(), optimizer, story)
        story.stepped = update.place
        groups = optimizer.param_groups
        leaves = update.leaves = groups[0]["params"] if len(groups) == 1 else [p for g in groups for p in g["params"]]
        for leaf in leaves:
            if engine.grad(leaf) is None:
                continue
            update.with_gradient += 1
            leaf_story = engine.story(leaf)
            if leaf_story is None:
                continue
            if leaf_story.fresh:
                if leaf_story.consumed:
                    update.stale.append(leaf)
                    leaf_story.stale_run += 1
                else:
                    leaf_story.stale_run = 0
            leaf_story.consumed |= leaf_story.fresh  # `_consume`, written out; not of what the step cleared itself
            leaf_story.fresh = False
            if leaf_story.backward is not None:
                leaf_story.backward.used = APPLIED
                if leaf_story.others is not None:
                    use_others(leaf_story)
        if update.with_gradient or worked:
            story.empty_run = 0
        else:
            story.empty_run += 1
            if self.last_backward is not None:
                self.last_backward.missed = True
            self.session.tell("at_empty_step", update)
        self._tell_update(update)
        if update.with_gradient and (self.session.near or story.track.is_due(story.steps)):
            self._measure(update, story)

    def _tell_update(self, update: Update) -> None:
        self.last_update = update.place
        told = self.session.told
        if update.stale:
            self.session.tell("at_stale", update)
        if told["at_update"]:
            self.session.tell("at_update", update)

    def _measure(self, update: Update, story: OptimizerStory) -> None:
        counts = story.steps >= DENSE  # before, every step is measured, however long that takes
        begin = thread_time() if counts else 0.0  # what else the machine does is not ours (to ask takes up to 3 µs)
        if len(story.names) != len(update.leaves):
            story.names = names_of(self, update.leaves)
            if story not in self.stories and len(self.stories) < 64:
                self.stories.append(story)
        measured = sample(update, self.last_backward)
        story.track.add(measured)
        if self.session.told["at_gradients"]:
            self.session.tell("at_gradients", update, measured)
        if counts:
            story.track.spent(begin, thread_time(), story.steps)

    # At rest (session.py) --------------------------------------------------------------------------

    def rest_stepped(self, optimizer: Any) -> None:
        """An optimizer stepped: count it, and measure its gradients where that is due."""
        story = optimizer.__dict__.get("_story")
        if story is None:
            self.session.wake()
            return
        before = self.step
        count, story.untold = story.untold or 1, 0
        self.step = before + count
        self.updates += count
        steps = story.steps = story.steps + count
        if steps >= story.track.due or steps <= DENSE:
            update = Update(self.step, here(), optimizer, story)
            update.leaves = [p for g in optimizer.param_groups for p in g["params"]]
            self._measure(update, story)
        if not engine.knows_all_nodes:  # it is told of some steps only
            story.pause = max(1, min(_PAUSE, story.track.due - steps, until_waking(self.step)))
        self.counted_since(before)

    def counted_since(self, before: int) -> None:
        """So many steps were known before. Is it time to look again?"""
        if self.waking.at_step(before, self.step):
            self.session.look_again()

    def count_untold(self) -> None:
        """The rest is over: steps that were only counted, as passes or by an engine."""
        self.pace.count()
        engine.count_steps()
        for optimizer in self.optimizers:
            story = optimizer.__dict__.get("_story")
            if story is not None:
                count, story.untold = story.untold, 0
                self.count_at_rest(story, count)

    def count_at_rest(self, story: OptimizerStory, count: int) -> None:
        """An optimizer stepped so many times, unheard."""
        self.step += count
        self.updates += count
        story.steps += count

    def rest_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """A pass begins. Updates by hand are not seen at rest: wake after some passes."""
        before = self.passes
        self.passes = before + engine.passes_untold()
        if accumulates and engine.is_tensor(tensors[0]):
            self.last_backward = Backward(self.passes, self.step, here(), retained, create, UNUSED)
            node = engine.node(tensors[0])
            if node is not None:
                self.last_backward.root_place, self.last_backward.kind = node.place, engine.operation(node)
        if self.waking.at_pass(before, self.passes):
            limit = self.loss_limit
            self.session.look_soon() if engine.knows_all_nodes else self.session.wake()
            if not engine.knows_all_nodes and not self.optimizers and self.is_added_to():
                self.session.look_again(_BY_HAND)  # whoever updates by hand is heard only while listening closely
            self.loss_limit = limit  # whoever hears of this pass after us may compare

    def begin_rest(self) -> None:
        """What is out of all proportion is to be told at rest, too."""
        self.loss_limit = _JUMP * self._highest or math.inf
        engine.expect_losses(self.loss_limit)
        self.waking.rest(self.passes)
        self.glance.rest()

    def loss_jumped(self, loss: float) -> None:
        """At rest, a loss beyond anything before: what does its gradient look like?"""
        self._highest = loss
        self.session.wake()
        if self.last_backward is not None:  # this pass
            self.last_backward.loss = loss
        self.measure_soon()

    def measure_soon(self) -> None:
        """Look at the gradients of the step that is under way."""
        for story in self.stories:
            story.track.due = 0

    def forget_gradients(self) -> None:
        """After a rest: what lies in `.grad` may be anything."""
        self.loss_limit = math.inf
        self._heard_to = self.passes + _WAKES
        self._thread.open.clear()
        self._thread.deposited.clear()
        self._thread.looked.clear()
        self._thread.stepping = int(in_closure())
        for known in tuple(self._by_memory.values()):
            leaf = known()
            if leaf is not None:
                story = engine.story(leaf)
                story.consumed = story.fresh = story.looked = False
                story.backward = None

    def _consume(self, story: Story) -> None:
        story.consumed = True
        story.fresh = False
        if story.backward is not None:
            story.backward.used = APPLIED
        if story.others is not None:
            use_others(story)

    def _count_step(self, updated: int) -> None:
        if self._counted_pass != self.passes or updated in self._turn:
            self._counted_pass = self.passes
            self.step += 1
            self.session.step_counted(self.step)

    def count_round(self, updated: int) -> None:
        """Something was updated: does a round begin?"""
        turn = self._turn
        if not turn or updated in turn:
            turn.clear()
            self.round += 1
            self.round_marks.append(engine.mark())
        turn.add(updated)
