"""gradient-vanishes"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

from .. import engine
from ..books.records import DENSE, PAUSE, Sample, Update
from ..books.resting import hurry
from ..graph.module_trees import is_in_a_list, seats
from ..graph.names import listed, names_of
from ..graph.traits import having
from ..rule import Diagnosis
from ..source.places import Place, text

_ZERO_STEPS = 20  # steps in a row with a gradient that is exactly zero
_PATIENCE = 200  # the same for one of a list of layers: an expert may see its tokens seldom
_MOST = 10_000  # leaves behind one line that are remembered
_SMALL_STEPS = 50  # steps in a row with a first layer that hardly learns
_SMALL = 1e-6  # the first layer's gradient over the last one's
_HURRIES = 3  # how often late gradients that are zero are waited for
_MASK = 2**14  # elements of what may be a mask, at most
_LIMITS = having("clamps activation")  # the derivative is zero beyond some value
# Steps, and samples that are drawn: their derivative is zero wherever there is one.
_FLAT = having("", also="round floor ceil trunc sign sgn bernoulli normal_mean normal_std normal_both")


class GradientVanishes(Diagnosis):
    """A parameter gets a gradient, but it is zero (or next to nothing) at every step, while others learn.

    An operation between the parameter and the loss passes no gradient: a saturated tanh or sigmoid, `round()`, a dead ReLU,
    a product with something that is zero; or so many layers shrink it that nothing arrives at the first ones.

    Broken:

        self.A = nn.Parameter(torch.zeros(rank, n))     # the gradient of each factor is
        self.B = nn.Parameter(torch.zeros(m, rank))     # multiplied by the other: zero for ever

    Fixed:

        self.A = nn.Parameter(torch.randn(rank, n) / n**0.5)
        self.B = nn.Parameter(torch.zeros(m, rank))

    Said after 20 steps of exactly zero, or 50 steps with a first layer a million times weaker than the last. A parameter
    without any gradient (`.grad` is None) is another matter: see path-cut and parameter-not-optimized. A term of the loss
    whose weight is 0 (for now) is switched off on purpose: what only it trains may wait; 200 steps, or till the end, if a mask
    that is 0 everywhere does it (labels that come later).
    """

    name = "gradient-vanishes"
    why = "these parameters stay where they were initialised; the rest of the model has to do without them."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._zero: dict[int, list[int]] = {}  # per optimizer: steps in a row, of each leaf
        self._last: dict[int, tuple[weakref.ref[Any], Sample]] = {}  # per optimizer: the last step with such a gradient
        self._hurried: dict[int, int] = {}  # per optimizer: how often it was waited for
        self._small: dict[int, _Ends] = {}  # per optimizer
        self._zeroed: list[weakref.ref[Any]] = []  # nodes of this step: a number times 0
        self._pending: list[tuple[Place | None, str]] = []  # findings that dead-units may explain
        self._flat: dict[Place, tuple[str, set[int]]] = {}  # lines of flat operations, and the leaves behind them (ids)
        self._limited: dict[int, tuple[Place, str]] = {}  # leaves (ids) that go straight into a clamp or an activation
        self._waiting: dict[int, weakref.ref[Any]] = {}  # by id: leaves that only such terms lead to
        self._masked: list[weakref.ref[Any]] = []  # nodes of this step: times a mask that is 0 everywhere
        self._hidden: dict[int, weakref.ref[Any]] = {}  # by id: leaves that only those lead to, or terms switched off
        # Per optimizer: which leaves of its that are, and what to say at the end unless they get a gradient.
        self._held: dict[int, tuple[list[int], Place | None, str]] = {}

    def near_recorded(self, node: Any, inputs: Any, output: Any) -> None:
        """Some operations never pass a gradient on."""
        name = engine.operation(node)
        if name in _FLAT and node.place is not None:
            leaves = self._flat.setdefault(node.place, (name.partition("_")[0], set()))[1]
            if len(leaves) < _MOST:
                leaves.update(map(id, _leaves([node], set())))
        elif name in _LIMITS and node.place is not None and len(self._limited) < _MOST:
            leaf = _alone_behind(node)
            if leaf is not None:
                self._limited[id(leaf)] = node.place, name.partition("_")[0]

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """A term of a loss may be switched off."""
        if op.name == "mul" and engine.node(outs[0]) is not None:
            if any(_is_zero(value) for value in inputs):
                self._zeroed.append(weakref.ref(engine.node(outs[0])))
            elif any(_is_empty_mask(value) for value in inputs):
                self._masked.append(weakref.ref(engine.node(outs[0])))

    def near_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """Which leaves do only such terms lead to?"""
        missed = [node for node in engine.missed(tensors) if engine.operation(node) in ("mul", "")]  # by anything
        if not (self._zeroed or self._masked or self._waiting or self._hidden or missed):
            return
        roots = [engine.node_of(root) for root in tensors]
        off = {node for node in (reference() for reference in self._zeroed) if node is not None}
        masked = off | {node for node in (reference() for reference in self._masked) if node is not None}
        masked.update(missed)
        self._zeroed.clear()
        self._masked.clear()
        _keep_behind(self._waiting, off, roots)
        _keep_behind(self._hidden, masked, roots)

    def at_gradients(self, update: Update, sample: Sample) -> None:
        """Count."""
        key = id(update.optimizer)
        squares = sample.squares
        if 0.0 in squares and sample.total > 0.0:
            runs = self._zero.get(key)
            if runs is None or len(runs) != len(squares):
                runs = self._zero[key] = [0] * len(squares)
            for i, square in enumerate(squares):
                runs[i] = runs[i] + 1 if square == 0.0 else 0
            if max(runs) in (_ZERO_STEPS, _PATIENCE):
                self._judge_zero(update.leaves, sample, runs)
                self._hold(key, update.leaves, sample, runs)
            elif key in self._held and 0 in [runs[i] for i in self._held[key][0]]:
                del self._held[key]
            self._look_soon(update, key, max(runs))
            self._last[key] = weakref.ref(update.optimizer), sample
        else:
            self._zero.pop(key, None)
            self._held.pop(key, None)
        ends = _ends(update, squares)
        if ends is not None and ends[0] > 0.0 and math.isfinite(ends[1]):
            small = self._small.setdefault(key, _Ends())
            if small.add(*ends) == _SMALL_STEPS:
                self._say_small(update, sample, math.sqrt(small.first / small.last))
        else:
            self._small.pop(key, None)

    def _look_soon(self, update: Update, key: int, run: int) -> None:
        """Late, gradients are measured seldom. If some become zero then, it is to be known in twenty steps whether they stay so."""
        story = update.story
        if story is None or story.steps <= DENSE:
            return
        if story.steps <= _PATIENCE:  # what has begun early is followed as long as anybody's patience lasts
            hurry(update.optimizer, 1)
        elif run == 1 and self._hurried.get(key, 0) < _HURRIES:
            self._hurried[key] = self._hurried.get(key, 0) + 1
            hurry(update.optimizer, 1)
        elif run == _ZERO_STEPS:
            story.track.pause = PAUSE

    def at_exit(self) -> None:
        """Members of lists that no gradient ever reached. Units that do not fire were suspected; were they named?"""
        for key, (reference, sample) in self._last.items():
            runs, optimizer = self._zero.get(key, [0]), reference()
            if optimizer is not None and _ZERO_STEPS < max(runs) == sample.number < _PATIENCE:
                leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
                self._judge_zero(leaves, sample, runs)
        if not self.session.said("dead-units"):
            for pending in self._pending:
                self._say_zero(*pending)
        if not self.session.said(self.name, "softmax-over-one"):
            for _, place, what in self._held.values():
                self._say_zero(place, what)

    def _hold(self, key: int, leaves: list[Any], sample: Sample, runs: list[int]) -> None:
        """Labels may come later: if they never do, it is said at the end, when nobody may have these leaves any more."""
        hidden = [i for i, run in enumerate(runs) if run >= _ZERO_STEPS and _holds(self._hidden, leaves[i])]
        hidden = [i for i in hidden if not _holds(self._waiting, leaves[i])]
        if any(len(engine.shape(leaves[i])) >= 2 for i in hidden):
            what = self._zero_for([leaves[i] for i in hidden], f"{_ZERO_STEPS} steps and ever since", sample)
            self._held[key] = hidden, _place(sample), what

    def _judge_zero(self, leaves: list[Any], sample: Sample, runs: list[int]) -> None:
        still = {id(leaf): run for leaf, run in zip(leaves, runs, strict=False) if run >= _ZERO_STEPS}
        patience = _PATIENCE if max(runs) == _ZERO_STEPS else min(_PATIENCE, sample.number)
        table = seats(self.ledger)
        zero = [leaf for leaf in leaves if id(leaf) in still and not _holds(self._waiting, leaf)]
        zero = [
            leaf
            for leaf in zero
            if still[id(leaf)] >= patience
            or not (_holds(self._hidden, leaf) or is_in_a_list(table.get(id(leaf)), lambda p: id(p) not in still))
        ]
        if any(engine.grad(leaf) is not None and engine.array(engine.grad(leaf)).any() for leaf in zero):
            return  # so small that its square is zero: not exactly zero
        if self.session.said("softmax-over-one"):
            return  # a constant passes no gradient, and makes other factors zero: the cause was named
        flat = [where for where, (_, behind) in self._flat.items() if any(id(leaf) in behind for leaf in zero)]
        if not flat and all(len(engine.shape(leaf)) < 2 and id(leaf) not in self._limited for leaf in zero):  # or none
            return  # a bias that cancels out: the last one of a Wasserstein critic, one before a normalisation
        what = self._zero_for(zero, f"{max(runs)} steps", sample)
        if flat:
            what += f" `{self._flat[flat[0]][0]}` at {text(flat[0])} passes none on: its derivative is zero."
        limits = [self._limited[id(leaf)] for leaf in zero if id(leaf) in self._limited]
        if limits and not flat:
            what += f" `{limits[0][1]}` at {text(limits[0][0])} passes none on where it has reached its limit."
        place = _place(sample)
        dead = self.session.rules.get("dead-units")
        if not flat and dead is not None and dead.suspects(_ZERO_STEPS // 2):  # type: ignore[attr-defined]
            self._pending.append((place, what))
        else:
            self._say_zero(place, what, flat, [where for where, _ in limits])

    def _zero_for(self, leaves: list[Any], times: str, sample: Sample) -> str:
        return (
            f"The gradient of {listed(names_of(self.ledger, leaves))} has been exactly zero for {times}, while the "
            f"norm of all gradients is {sample.total:.3g}."
        )

    def _say_zero(
        self, place: Place | None, what: str, flat: Sequence[Place] = (), limits: Sequence[Place] = ()
    ) -> None:
        self.report(
            place,
            what,
            fix="let the gradient pass: `x + (x.round() - x).detach()` for a step; for a sample, "
            "`mean + std * torch.randn_like(std)` or `rsample()`."
            if flat
            else "look at what lies between these parameters and the loss: a saturated activation (scale the inputs), "
            "round()/sign()/argmax (straight-through estimator), units that never fire, a factor that is zero.",
            also=[*flat, *limits],
        )

    def _say_small(self, update: Update, sample: Sample, ratio: float) -> None:
        if self.session.said("softmax-over-one"):
            return
        weights = [
            leaf for leaf, s in zip(update.leaves, sample.squares, strict=True) if s and len(engine.shape(leaf)) >= 2
        ]
        first, last = names_of(self.ledger, (weights[0], weights[-1]))
        self.report(
            _place(sample),
            f"The gradient of `{first}` is {ratio:.1g} times that of `{last}` at most, for {_SMALL_STEPS} steps: it vanishes on its way "
            f"through {len(weights)} layers.",
            fix="residual connections, normalisation layers, ReLU-like activations, or an initialisation that keeps the scale "
            "(nn.init.kaiming_normal_, xavier_normal_).",
        )


class _Ends:
    """The largest squares of the first and the last layer's gradient, and for how many steps the first is next to nothing.

    The largest: what lies behind may have learned all that can be learned without the first layers, and rest.
    """

    def __init__(self) -> None:
        self.first = self.last = 0.0
        self.steps = 0

    def add(self, first: float, last: float) -> int:
        self.first, self.last = max(self.first, first), max(self.last, last)
        self.steps = self.steps + 1 if self.first < self.last * _SMALL**2 else 0
        return self.steps


def _place(sample: Sample) -> Place | None:
    return sample.backward.place if sample.backward is not None else None


def _is_zero(value: Any) -> bool:
    if engine.is_tensor(value):
        return not engine.requires_grad(value) and engine.size(value) == 1 and not engine.array(value).any()
    return type(value) in (int, float) and value == 0


def _is_empty_mask(value: Any) -> bool:
    if not engine.is_tensor(value) or engine.requires_grad(value) or not 1 < engine.size(value) <= _MASK:
        return False
    return not engine.late(value) and not engine.array(value).any()


def _keep_behind(leaves: dict[int, weakref.ref[Any]], nodes: set[Any], roots: list[Any]) -> None:
    """Add the leaves behind some nodes, and take out those that a pass reaches in another way."""
    if nodes or leaves:
        leaves.update((id(leaf), weakref.ref(leaf)) for leaf in _leaves([*nodes], set()))
        for leaf in _leaves(roots, nodes):
            leaves.pop(id(leaf), None)


def _holds(leaves: dict[int, weakref.ref[Any]], leaf: Any) -> bool:
    known = leaves.get(id(leaf))
    return known is not None and known() is leaf


def _alone_behind(node: Any) -> Any:
    """The leaf that an operation was computed from and from nothing else, within a few operations; or None."""
    for _ in range(4):
        edges = [edge for edge in node.edges if edge is not None]
        if len(edges) != 1 or engine.is_tensor(edges[0]):
            return edges[0] if len(edges) == 1 else None
        node = edges[0]
    return None


def _leaves(roots: list[Any], without: set[Any]) -> list[Any]:
    """The leaves that nodes lead to, but not through some."""
    found: dict[int, Any] = {}
    stack, seen = [root for root in roots if root is not None], set(without)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            for edge in node.edges:
                if engine.is_tensor(edge):
                    found[id(edge)] = edge
                elif edge is not None:
                    stack.append(edge)
    return list(found.values())


def _ends(update: Update, squares: list[float | None]) -> tuple[float, float] | None:
    """Squared norms of the first and the last weight matrix's gradient."""
    first = last = None
    for leaf, square in zip(update.leaves, squares, strict=True):
        if square is not None and len(engine.shape(leaf)) >= 2:
            first = square
            break
    for leaf, square in zip(reversed(update.leaves), reversed(squares), strict=True):
        if square is not None and len(engine.shape(leaf)) >= 2:
            last = square
            break
    return None if first is None or last is None else (first, last)
